// Kernel header: lets a C++ compiler of the host read CUDA C++ as NVRTC does.
//
// It includes nothing, so that a kernel compiles fast and finds no name that NVRTC lacks. What
// makes threads wait is a call into the scheduler (scheduler.cpp) that is given the source line.
#pragma once

#define REALTA_CUDA_EMULATED 1

// -- words of the language -------------------------------------------------------------------------

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static __attribute__((section("emu_shared")))
#define emu_inline static inline __attribute__((always_inline, unused))

typedef unsigned int emu_u32;
typedef unsigned long long emu_u64;

struct uint3 { unsigned int x, y, z; };
struct dim3 { unsigned int x, y, z; };
struct emu_place { uint3 thread, block; dim3 block_size, grid_size; };

extern "C" {
extern emu_place emu_here;  // of the thread that runs: the scheduler sets it at each switch
void emu_barrier(int line);
unsigned emu_barrier_count(int predicate, int line);
void emu_exchange(unsigned mask, emu_u64 value, emu_u64 *all, unsigned *present, int line);
emu_u64 emu_shuffle(unsigned mask, emu_u64 value, int lane, int line);
void emu_sync_warp(unsigned mask, int line);
void *emu_dynamic_shared(void);
void emu_trap(const char *what, int line) __attribute__((noreturn));
void emu_misaligned(const void *address, unsigned bytes, int line) __attribute__((noreturn));
}

#define threadIdx (emu_here.thread)
#define blockIdx (emu_here.block)
#define blockDim (emu_here.block_size)
#define gridDim (emu_here.grid_size)
#define warpSize 32

// -- waiting for other threads ---------------------------------------------------------------------

#define __syncthreads() emu_barrier(__LINE__)
#define __syncthreads_count(p) ((int)emu_barrier_count(!!(p), __LINE__))
#define __syncthreads_or(p) (emu_barrier_count(!!(p), __LINE__) != 0)
#define __syncthreads_and(p) (emu_barrier_count(!(p), __LINE__) == 0)
#define __syncwarp(...) emu_syncwarp(__LINE__, ##__VA_ARGS__)
#define __ballot_sync(m, p) emu_ballot(__LINE__, m, !!(p))
#define __any_sync(m, p) (emu_ballot(__LINE__, m, !!(p)) != 0)
#define __all_sync(m, p) (emu_ballot(__LINE__, m, !(p)) == 0)
#define __activemask() emu_trap("__activemask() has no defined value", __LINE__)
#define __shfl_sync(...) emu_shfl(__LINE__, __VA_ARGS__)
#define __shfl_up_sync(...) emu_shfl_up(__LINE__, __VA_ARGS__)
#define __shfl_down_sync(...) emu_shfl_down(__LINE__, __VA_ARGS__)
#define __shfl_xor_sync(...) emu_shfl_xor(__LINE__, __VA_ARGS__)
#define __match_any_sync(m, v) emu_match(__LINE__, m, v)
#define __reduce_add_sync(m, v) emu_reduce(__LINE__, m, v, [](auto a, auto b) { return a + b; })
#define __reduce_min_sync(m, v) \
    emu_reduce(__LINE__, m, v, [](auto a, auto b) { return a < b ? a : b; })
#define __reduce_max_sync(m, v) \
    emu_reduce(__LINE__, m, v, [](auto a, auto b) { return a > b ? a : b; })
#define __reduce_and_sync(m, v) emu_reduce(__LINE__, m, v, [](auto a, auto b) { return a & b; })
#define __reduce_or_sync(m, v) emu_reduce(__LINE__, m, v, [](auto a, auto b) { return a | b; })
#define __reduce_xor_sync(m, v) emu_reduce(__LINE__, m, v, [](auto a, auto b) { return a ^ b; })
#define __trap() emu_trap("__trap()", __LINE__)
#define __threadfence() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __threadfence_block() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __nanosleep(n) ((void)(n))

template <class To, class From> emu_inline To emu_bits(From from) {
    static_assert(sizeof(To) >= sizeof(From), "a value of at most 8 bytes");
    To to = To();
    __builtin_memcpy(&to, &from, sizeof from);
    return to;
}
template <class To> emu_inline To emu_low(emu_u64 from) {
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
emu_inline int emu_lane() {
    const uint3 &t = emu_here.thread;
    const dim3 &n = emu_here.block_size;
    return (int)((t.x + n.x * (t.y + n.y * t.z)) & 31u);
}
emu_inline void emu_syncwarp(int line, unsigned mask = 0xffffffffu) { emu_sync_warp(mask, line); }
emu_inline unsigned emu_ballot(int line, unsigned mask, int predicate) {
    emu_u64 all[32];
    unsigned present, found = 0;
    emu_exchange(mask, (emu_u64)predicate, all, &present, line);
    for (int lane = 0; lane < 32; ++lane)
        if ((present >> lane & 1u) && all[lane]) found |= 1u << lane;
    return found;
}
template <class T> emu_inline unsigned emu_match(int line, unsigned mask, T value) {
    emu_u64 all[32], mine = emu_bits<emu_u64>(value);
    unsigned present, found = 0;
    emu_exchange(mask, mine, all, &present, line);
    for (int lane = 0; lane < 32; ++lane)
        if ((present >> lane & 1u) && all[lane] == mine) found |= 1u << lane;
    return found;
}
template <class T, class F> emu_inline T emu_reduce(int line, unsigned mask, T value, F combine) {
    emu_u64 all[32];
    unsigned present;
    bool any = false;
    T found = value;
    emu_exchange(mask, emu_bits<emu_u64>(value), all, &present, line);
    for (int lane = 0; lane < 32; ++lane)
        if (present >> lane & 1u) {
            found = any ? combine(found, emu_low<T>(all[lane])) : emu_low<T>(all[lane]);
            any = true;
        }
    return found;
}
template <class T> emu_inline T emu_from(int line, unsigned mask, T value, int lane) {
    return emu_low<T>(emu_shuffle(mask, emu_bits<emu_u64>(value), lane, line));
}
template <class T>
emu_inline T emu_shfl(int line, unsigned mask, T value, int source, int width = 32) {
    return emu_from(line, mask, value, (emu_lane() & ~(width - 1)) | (source & (width - 1)));
}
template <class T>
emu_inline T emu_shfl_up(int line, unsigned mask, T value, unsigned by, int width = 32) {
    const int lane = emu_lane(), inside = lane & (width - 1);
    return emu_from(line, mask, value, inside >= (int)by ? lane - (int)by : lane);
}
template <class T>
emu_inline T emu_shfl_down(int line, unsigned mask, T value, unsigned by, int width = 32) {
    const int lane = emu_lane(), inside = lane & (width - 1);
    return emu_from(line, mask, value, inside + (int)by < width ? lane + (int)by : lane);
}
template <class T>
emu_inline T emu_shfl_xor(int line, unsigned mask, T value, int bits, int width = 32) {
    const int lane = emu_lane(), other = lane ^ bits;
    return emu_from(line, mask, value, other <= (lane | (width - 1)) ? other : lane);
}

// -- vectors ---------------------------------------------------------------------------------------

#define emu_vectors(type, name, two, four) \
    struct name##1 { type x; }; \
    struct alignas(two) name##2 { type x, y; }; \
    struct name##3 { type x, y, z; }; \
    struct alignas(four) name##4 { type x, y, z, w; }; \
    emu_inline name##2 make_##name##2(type x, type y) { return {x, y}; } \
    emu_inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
struct uint1 { unsigned int x; };
struct alignas(8) uint2 { unsigned int x, y; };
struct alignas(16) uint4 { unsigned int x, y, z, w; };
emu_inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
emu_inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
emu_vectors(signed char, char, 2, 4)
emu_vectors(unsigned char, uchar, 2, 4)
emu_vectors(short, short, 4, 8)
emu_vectors(unsigned short, ushort, 4, 8)
emu_vectors(int, int, 8, 16)
emu_vectors(float, float, 8, 16)
emu_vectors(long long, longlong, 16, 16)
emu_vectors(unsigned long long, ulonglong, 16, 16)
emu_vectors(double, double, 16, 16)
#undef emu_vectors

// -- bits and integers -----------------------------------------------------------------------------

emu_inline int __float_as_int(float x) { return emu_bits<int>(x); }
emu_inline unsigned __float_as_uint(float x) { return emu_bits<unsigned>(x); }
emu_inline float __int_as_float(int x) { return emu_bits<float>(x); }
emu_inline float __uint_as_float(unsigned x) { return emu_bits<float>(x); }
emu_inline long long __double_as_longlong(double x) { return emu_bits<long long>(x); }
emu_inline double __longlong_as_double(long long x) { return emu_bits<double>(x); }
emu_inline int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
emu_inline int __double2loint(double x) { return (int)__double_as_longlong(x); }
emu_inline double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)((emu_u64)(emu_u32)high << 32 | (emu_u32)low));
}
emu_inline int __popc(unsigned x) { return __builtin_popcount(x); }
emu_inline int __popcll(emu_u64 x) { return __builtin_popcountll(x); }
emu_inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
emu_inline int __clzll(long long x) { return x ? __builtin_clzll((emu_u64)x) : 64; }
emu_inline int __ffs(int x) { return __builtin_ffs(x); }
emu_inline int __ffsll(long long x) { return __builtin_ffsll(x); }
emu_inline unsigned __brev(unsigned x) {
    unsigned found = 0;
    for (int bit = 0; bit < 32; ++bit) found |= (x >> bit & 1u) << (31 - bit);
    return found;
}
emu_inline unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((emu_u64)x * y >> 32); }
emu_inline int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
emu_inline emu_u64 __umul64hi(emu_u64 x, emu_u64 y) {
    return (emu_u64)((unsigned __int128)x * y >> 64);
}
emu_inline long long __mul64hi(long long x, long long y) {
    return (long long)((__int128)x * y >> 64);
}
emu_inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return (unsigned)(((emu_u64)high << 32 | low) << (by & 31u) >> 32);
}
emu_inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return (unsigned)(((emu_u64)high << 32 | low) >> (by & 31u));
}
emu_inline unsigned __byte_perm(unsigned x, unsigned y, unsigned select) {
    const emu_u64 both = (emu_u64)y << 32 | x;
    unsigned found = 0;
    for (int byte = 0; byte < 4; ++byte)
        found |= (unsigned)(both >> (8 * (select >> (4 * byte) & 7u)) & 255u) << (8 * byte);
    return found;
}

// -- numbers ---------------------------------------------------------------------------------------

#define emu_float1(name) \
    extern "C" double name(double) noexcept; \
    extern "C" float name##f(float) noexcept; \
    emu_inline float name(float x) { return name##f(x); }
#define emu_float2(name) \
    extern "C" double name(double, double) noexcept; \
    extern "C" float name##f(float, float) noexcept; \
    emu_inline float name(float x, float y) { return name##f(x, y); }
emu_float1(acos) emu_float1(acosh) emu_float1(asin) emu_float1(asinh) emu_float1(atan)
emu_float1(atanh) emu_float1(cbrt) emu_float1(ceil) emu_float1(cos) emu_float1(cosh)
emu_float1(erf) emu_float1(erfc) emu_float1(exp) emu_float1(exp2) emu_float1(expm1)
emu_float1(fabs) emu_float1(floor) emu_float1(log) emu_float1(log10) emu_float1(log1p)
emu_float1(log2) emu_float1(lgamma) emu_float1(nearbyint) emu_float1(rint) emu_float1(round)
emu_float1(sin) emu_float1(sinh) emu_float1(sqrt) emu_float1(tan) emu_float1(tanh)
emu_float1(tgamma) emu_float1(trunc)
emu_float2(atan2) emu_float2(copysign) emu_float2(fdim) emu_float2(fmax) emu_float2(fmin)
emu_float2(fmod) emu_float2(hypot) emu_float2(nextafter) emu_float2(pow) emu_float2(remainder)
#undef emu_float1
#undef emu_float2
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
extern "C" double ldexp(double, int) noexcept;
extern "C" float ldexpf(float, int) noexcept;
extern "C" double frexp(double, int *) noexcept;
extern "C" float frexpf(float, int *) noexcept;
extern "C" int abs(int) noexcept;
extern "C" long long llabs(long long) noexcept;
emu_inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
emu_inline double rsqrt(double x) { return 1.0 / sqrt(x); }
#define __expf(x) expf(x)
#define __logf(x) logf(x)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __powf(x, y) powf(x, y)
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)
emu_inline float __fdividef(float x, float y) { return x / y; }
emu_inline float __fadd_rn(float x, float y) { return x + y; }
emu_inline float __fsub_rn(float x, float y) { return x - y; }
emu_inline float __fmul_rn(float x, float y) { return x * y; }
emu_inline float __fdiv_rn(float x, float y) { return x / y; }
emu_inline float __fsqrt_rn(float x) { return sqrtf(x); }
emu_inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
emu_inline double __dadd_rn(double x, double y) { return x + y; }
emu_inline double __dmul_rn(double x, double y) { return x * y; }
emu_inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
#define emu_order(type) \
    emu_inline type min(type x, type y) { return y < x ? y : x; } \
    emu_inline type max(type x, type y) { return x < y ? y : x; }
emu_order(int) emu_order(unsigned int) emu_order(long long) emu_order(unsigned long long)
#undef emu_order
emu_inline float min(float x, float y) { return fminf(x, y); }
emu_inline float max(float x, float y) { return fmaxf(x, y); }
emu_inline double min(double x, double y) { return fmin(x, y); }
emu_inline double max(double x, double y) { return fmax(x, y); }

// Conversions saturate and NaN becomes 0, where the host's instructions give the least integer.
template <class To, class From> emu_inline To emu_saturated(From x, To low, To high, double end) {
    return x != x ? To(0) : (double)x >= end ? high : (double)x <= (double)low ? low : (To)x;
}
emu_inline int __float2int_rz(float x) {
    return emu_saturated<int>(x, -2147483647 - 1, 2147483647, 2147483648.0);
}
emu_inline unsigned __float2uint_rz(float x) {
    return emu_saturated<unsigned>(x, 0u, 4294967295u, 4294967296.0);
}
emu_inline int __float2int_rn(float x) { return __float2int_rz(rintf(x)); }
emu_inline int __double2int_rz(double x) {
    return emu_saturated<int>(x, -2147483647 - 1, 2147483647, 2147483648.0);
}
emu_inline long long __float2ll_rz(float x) {
    return emu_saturated<long long>(x, -9223372036854775807LL - 1, 9223372036854775807LL, 0x1p63);
}
emu_inline long long __double2ll_rz(double x) {
    return emu_saturated<long long>(x, -9223372036854775807LL - 1, 9223372036854775807LL, 0x1p63);
}
emu_inline float __int2float_rn(int x) { return (float)x; }
emu_inline float __uint2float_rn(unsigned x) { return (float)x; }

// -- memory ----------------------------------------------------------------------------------------

// What a kernel says of a pointer is held against what it is.
emu_inline void *emu_aligned(const void *address, unsigned bytes, int line) {
    if ((emu_u64)address % bytes) emu_misaligned(address, bytes, line);
    return (void *)address;
}
#define __builtin_assume_aligned(address, bytes) emu_aligned(address, bytes, __LINE__)

template <class T> emu_inline T __ldg(const T *from) { return *from; }
template <class T> emu_inline T __ldcs(const T *from) { return *from; }
template <class T> emu_inline T __ldcg(const T *from) { return *from; }
template <class T> emu_inline void __stcs(T *to, T value) { *to = value; }
template <class T> emu_inline void __stcg(T *to, T value) { *to = value; }

template <class T> struct emu_same { using type = T; };
#define emu_value typename emu_same<T>::type
template <class T> emu_inline T atomicCAS(T *at, emu_value expected, emu_value wanted) {
    T found = expected;
    __atomic_compare_exchange(at, &found, &wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return found;
}
template <class T, class F> emu_inline T emu_atomic(T *at, F change) {
    T old, wanted;
    __atomic_load(at, &old, __ATOMIC_RELAXED);
    do wanted = change(old);
    while (!__atomic_compare_exchange(at, &old, &wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}
#define emu_atomics(name, expression) \
    template <class T> emu_inline T name(T *at, emu_value value) { \
        return emu_atomic(at, [value](T old) { return (T)(expression); }); \
    }
emu_atomics(atomicAdd, old + value)
emu_atomics(atomicSub, old - value)
emu_atomics(atomicMin, value < old ? value : old)
emu_atomics(atomicMax, old < value ? value : old)
emu_atomics(atomicAnd, old & value)
emu_atomics(atomicOr, old | value)
emu_atomics(atomicXor, old ^ value)
emu_atomics(atomicExch, (void(old), value))
#undef emu_atomics
#undef emu_value

// -- the entry of a kernel -------------------------------------------------------------------------

// As cuLaunchKernel has it, arguments are pointers to values.
struct emu_kernel {
    void (*entry)(void **arguments);
    unsigned count;
    const unsigned *sizes;
    unsigned most_threads;
};
template <unsigned... I> struct emu_numbers {};
template <unsigned N, unsigned... I> struct emu_count : emu_count<N - 1, N - 1, I...> {};
template <unsigned... I> struct emu_count<0, I...> { using type = emu_numbers<I...>; };
template <class... A> struct emu_arguments {
    static constexpr unsigned sizes[sizeof...(A) + 1] = {sizeof(A)..., 0};
    template <unsigned... I>
    emu_inline void call(void (*kernel)(A...), void **a, emu_numbers<I...>) {
        kernel(*(A *)a[I]...);
    }
};
template <class... A> emu_inline void emu_apply(void (*kernel)(A...), void **a) {
    emu_arguments<A...>::call(kernel, a, typename emu_count<sizeof...(A)>::type());
}
template <class... A>
constexpr emu_kernel emu_describe(void (*)(A...), void (*entry)(void **), unsigned most) {
    return {entry, sizeof...(A), emu_arguments<A...>::sizes, most};
}
#define EMU_KERNEL(name, most) \
    static void name##_emu_entry(void **a) { emu_apply(name, a); } \
    extern "C" __attribute__((visibility("default"))) const emu_kernel name##__emu = \
        emu_describe(name, name##_emu_entry, most);
extern "C" char __start_emu_shared[] __attribute__((weak, visibility("hidden")));
extern "C" char __stop_emu_shared[] __attribute__((weak, visibility("hidden")));
struct emu_image {
    char *shared_begin, *shared_end;
    int checked;
    const char *key;
};
#define EMU_IMAGE(checked, key) \
    extern "C" __attribute__((visibility("default"))) const emu_image emu_image_info = { \
        __start_emu_shared, __stop_emu_shared, checked, key};
