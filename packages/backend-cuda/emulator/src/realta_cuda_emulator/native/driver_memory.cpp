// Memory of the stand-in driver: allocation, pools, copies.

#include <stdlib.h>
#include <string.h>

#include <map>

#include "driver.h"

namespace emu {
namespace {

auto &host_blocks = *new std::map<uintptr_t, size_t>;  // memory that is pinned

CUmemoryPool pool_of(int device) { return (CUmemoryPool)(uintptr_t)(0x2000 + 16 * device); }

CUresult allocate_now(CUdeviceptr *address, size_t size) {
    if (current_device < 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (!size) return CUDA_ERROR_INVALID_VALUE;
    Allocation *made = allocate(size, 0, false);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    *address = made->begin;
    return CUDA_SUCCESS;
}

CUresult allocate_on(CUdeviceptr *address, size_t size, Stream &stream) {
    if (stream.capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (!size) return CUDA_ERROR_INVALID_VALUE;
    Allocation *made = allocate(size, stream.id, settings.lazy);
    if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
    *address = made->begin;
    if (!settings.lazy) return CUDA_SUCCESS;
    return enqueue(stream, [made] {
        made->pending = false;
        return CUDA_SUCCESS;
    });
}

std::string guard_message(const Allocation &allocation, ptrdiff_t where) {
    return "something wrote past an allocation of " + std::to_string(allocation.size) +
           " bytes, at byte " + std::to_string(where);
}

CUresult release_at(CUdeviceptr address) {
    Allocation *found = find(address);
    if (!found || found->begin != address || found->freed)
        return poison(CUDA_ERROR_INVALID_VALUE, "memory is freed that is not allocated");
    ptrdiff_t where;
    const bool intact = guards_intact(*found, &where);
    const std::string message = intact ? "" : guard_message(*found, where);
    release(found);
    return intact ? CUDA_SUCCESS : poison(CUDA_ERROR_ILLEGAL_ADDRESS, message);
}

CUresult do_cuMemAlloc(CUdeviceptr *address, size_t size) { return allocate_now(address, size); }
CUresult do_cuMemFree(CUdeviceptr address) {
    if (!address) return CUDA_SUCCESS;
    synchronize_all();
    return release_at(address);
}
CUresult do_cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream) {
    return allocate_on(address, size, stream_of(stream));
}
CUresult do_cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, CUmemoryPool,
                                    CUstream stream) {
    return allocate_on(address, size, stream_of(stream));
}
CUresult do_cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    if (!address) return CUDA_SUCCESS;
    return enqueue(stream_of(stream), [address] { return release_at(address); });
}
CUresult do_cuMemHostAlloc(void **memory, size_t size, unsigned) {
    void *made;
    if (posix_memalign(&made, 4096, size ? size : 1)) return CUDA_ERROR_OUT_OF_MEMORY;
    memset(made, 0xff, size);
    host_blocks[(uintptr_t)made] = size;
    *memory = made;
    return CUDA_SUCCESS;
}
CUresult do_cuMemAllocHost(void **memory, size_t size) {
    return do_cuMemHostAlloc(memory, size, 0);
}
CUresult do_cuMemFreeHost(void *memory) {
    if (!host_blocks.erase((uintptr_t)memory)) return CUDA_ERROR_INVALID_VALUE;
    synchronize_all();
    free(memory);
    return CUDA_SUCCESS;
}
CUresult do_cuMemHostGetDevicePointer(CUdeviceptr *address, void *memory, unsigned) {
    *address = (CUdeviceptr)memory;
    return CUDA_SUCCESS;
}
CUresult do_cuMemHostRegister(void *memory, size_t size, unsigned) {
    host_blocks[(uintptr_t)memory] = size;
    return CUDA_SUCCESS;
}
CUresult do_cuMemHostUnregister(void *memory) {
    return host_blocks.erase((uintptr_t)memory) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult do_cuMemGetInfo(size_t *available, size_t *total) {
    const size_t limit = memory_use.limit < settings.memory_total ? memory_use.limit
                                                                  : settings.memory_total;
    *available = limit - memory_use.live;
    *total = settings.memory_total;
    return CUDA_SUCCESS;
}
CUresult do_cuMemGetAddressRange(CUdeviceptr *begin, size_t *size, CUdeviceptr address) {
    Allocation *found = find_range(address, 1);
    if (!found) return CUDA_ERROR_NOT_FOUND;
    if (begin) *begin = found->begin;
    if (size) *size = found->size;
    return CUDA_SUCCESS;
}

// -- pools: every pool is the same one -------------------------------------------------------------

CUresult do_cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    *pool = pool_of(device);
    return CUDA_SUCCESS;
}
CUresult do_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
    *pool = pool_of(device);
    return CUDA_SUCCESS;
}
CUresult do_cuDeviceSetMemPool(CUdevice, CUmemoryPool) { return CUDA_SUCCESS; }
CUresult do_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *) {
    *pool = pool_of(current_device < 0 ? 0 : current_device);
    return CUDA_SUCCESS;
}
CUresult do_cuMemPoolDestroy(CUmemoryPool) { return CUDA_SUCCESS; }
CUresult do_cuMemPoolTrimTo(CUmemoryPool, size_t) { return CUDA_SUCCESS; }
CUresult do_cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void *) {
    return CUDA_SUCCESS;
}
CUresult do_cuMemPoolGetAttribute(CUmemoryPool, CUmemPool_attribute attribute, void *value) {
    switch (attribute) {
        case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: *(int *)value = 1; break;
        case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: *(cuuint64_t *)value = ~(cuuint64_t)0; break;
        case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
        case CU_MEMPOOL_ATTR_USED_MEM_HIGH: *(cuuint64_t *)value = memory_use.peak; break;
        default: *(cuuint64_t *)value = memory_use.live;
    }
    return CUDA_SUCCESS;
}
CUresult do_cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool, CUmemLocation *) {
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return CUDA_SUCCESS;
}
CUresult do_cuMemPoolSetAccess(CUmemoryPool, const CUmemAccessDesc *, size_t) {
    return CUDA_SUCCESS;
}

// -- copies ----------------------------------------------------------------------------------------

struct End {
    uintptr_t at;
    bool device;
};

bool reachable(const End &end, size_t size) { return !end.device || find_range(end.at, size); }

bool on_device(uintptr_t at) {
    const Allocation *found = find(at);
    return found && found->holds(at, 1);
}

CUresult copy(End to, End from, size_t size, Stream &stream) {
    if (!size) return CUDA_SUCCESS;
    counters.copies++;
    // What is freed on the stream before the copy gets its turn shows then.
    for (const End &end : {to, from})
        if (end.device && (!find(end.at) || !find(end.at)->holds(end.at, size)))
            return CUDA_ERROR_INVALID_VALUE;
    return enqueue(stream, [=]() -> CUresult {
        if (!reachable(to, size) || !reachable(from, size))
            return poison(CUDA_ERROR_ILLEGAL_ADDRESS, "a copy uses memory that is freed");
        memmove((void *)to.at, (const void *)from.at, size);
        if (to.device) note_written(to.at, size);
        return CUDA_SUCCESS;
    });
}

CUresult copy_now(End to, End from, size_t size) {
    if (capturing()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    const CUresult result = copy(to, from, size, legacy);
    return result ? result : synchronize(legacy);
}

CUresult do_cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size, CUstream stream) {
    return copy({to, true}, {(uintptr_t)from, false}, size, stream_of(stream));
}
CUresult do_cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size, CUstream stream) {
    return copy({(uintptr_t)to, false}, {from, true}, size, stream_of(stream));
}
CUresult do_cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    return copy({to, true}, {from, true}, size, stream_of(stream));
}
CUresult do_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    return copy({to, on_device(to)}, {from, on_device(from)}, size, stream_of(stream));
}
CUresult do_cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size) {
    return copy_now({to, true}, {(uintptr_t)from, false}, size);
}
CUresult do_cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size) {
    return copy_now({(uintptr_t)to, false}, {from, true}, size);
}
CUresult do_cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t size) {
    return copy_now({to, true}, {from, true}, size);
}
CUresult do_cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) {
    return copy_now({to, on_device(to)}, {from, on_device(from)}, size);
}

template <class T> CUresult fill(CUdeviceptr to, T value, size_t count, Stream &stream) {
    const size_t size = count * sizeof(T);
    if (!count) return CUDA_SUCCESS;
    if (to % sizeof(T) || !find(to) || !find(to)->holds(to, size))
        return CUDA_ERROR_INVALID_VALUE;
    counters.copies++;
    return enqueue(stream, [=]() -> CUresult {
        if (!find_range(to, size))
            return poison(CUDA_ERROR_ILLEGAL_ADDRESS, "memory is filled that is freed");
        for (size_t n = 0; n < count; ++n) ((T *)to)[n] = value;
        note_written(to, size);
        return CUDA_SUCCESS;
    });
}
template <class T> CUresult fill_now(CUdeviceptr to, T value, size_t count) {
    const CUresult result = fill(to, value, count, legacy);
    return result ? result : synchronize(legacy);
}

CUresult do_cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    return fill(to, value, count, stream_of(stream));
}
CUresult do_cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count,
                             CUstream stream) {
    return fill(to, value, count, stream_of(stream));
}
CUresult do_cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    return fill(to, value, count, stream_of(stream));
}
CUresult do_cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
    return fill_now(to, value, count);
}
CUresult do_cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
    return fill_now(to, value, count);
}

// -- questions about pointers ----------------------------------------------------------------------

bool pinned(uintptr_t at) {
    auto after = host_blocks.upper_bound(at);
    return after != host_blocks.begin() && at < std::prev(after)->first + std::prev(after)->second;
}

CUresult ask(void *value, CUpointer_attribute attribute, CUdeviceptr address, bool strict) {
    const bool device = find_range(address, 1) != nullptr, host = pinned(address);
    if (!device && !host && strict) return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            *(unsigned *)value = device ? (unsigned)CU_MEMORYTYPE_DEVICE
                                 : host ? (unsigned)CU_MEMORYTYPE_HOST
                                        : 0u;
            break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)value = device || host ? 0 : -2; break;
        case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)value = 0; break;
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            *(CUdeviceptr *)value = device || host ? address : 0;
            break;
        case CU_POINTER_ATTRIBUTE_HOST_POINTER: *(void **)value = host ? (void *)address : nullptr;
            break;
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        case CU_POINTER_ATTRIBUTE_MAPPED: *(unsigned char *)value = 0; break;
        default: *(uint64_t *)value = 0;
    }
    return CUDA_SUCCESS;
}

CUresult do_cuPointerGetAttribute(void *value, CUpointer_attribute attribute,
                                  CUdeviceptr address) {
    return ask(value, attribute, address, true);
}
CUresult do_cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **values,
                                   CUdeviceptr address) {
    for (unsigned n = 0; n < count; ++n) ask(values[n], attributes[n], address, false);
    return CUDA_SUCCESS;
}

}  // namespace

std::vector<Entry> memory_entries() {
    return {STRICT(cuMemAlloc), ALWAYS(cuMemFree), STRICT(cuMemAllocAsync),
            STRICT(cuMemAllocFromPoolAsync), ALWAYS(cuMemFreeAsync), STRICT(cuMemHostAlloc),
            STRICT(cuMemAllocHost), ALWAYS(cuMemFreeHost), STRICT(cuMemHostGetDevicePointer),
            STRICT(cuMemHostRegister), ALWAYS(cuMemHostUnregister), STRICT(cuMemGetInfo),
            STRICT(cuMemGetAddressRange), ALWAYS(cuDeviceGetDefaultMemPool),
            ALWAYS(cuDeviceGetMemPool), ALWAYS(cuDeviceSetMemPool), STRICT(cuMemPoolCreate),
            ALWAYS(cuMemPoolDestroy), STRICT(cuMemPoolTrimTo), STRICT(cuMemPoolSetAttribute),
            STRICT(cuMemPoolGetAttribute), STRICT(cuMemPoolGetAccess),
            STRICT(cuMemPoolSetAccess), STRICT(cuMemcpyHtoDAsync), STRICT(cuMemcpyDtoHAsync),
            STRICT(cuMemcpyDtoDAsync), STRICT(cuMemcpyAsync), STRICT(cuMemcpyHtoD),
            STRICT(cuMemcpyDtoH), STRICT(cuMemcpyDtoD), STRICT(cuMemcpy),
            STRICT(cuMemsetD8Async), STRICT(cuMemsetD16Async), STRICT(cuMemsetD32Async),
            STRICT(cuMemsetD8), STRICT(cuMemsetD32), STRICT(cuPointerGetAttribute),
            STRICT(cuPointerGetAttributes)};
}

}  // namespace emu
