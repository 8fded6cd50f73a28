// Checks: what every load and store of a kernel is held against, where it was compiled for that.
//
// The compiler's instrumentation for ThreadSanitizer calls a function at each access. These are not
// ThreadSanitizer's: blocks run one after the other and threads one at a time, so races are found
// exactly, from who touched each byte last and between which barriers. The instrumentation for
// UndefinedBehaviorSanitizer gives misaligned pointers and indices past an array, with the line.
//
// A stretch between barriers of one block is an interval. Two accesses to a byte, one of them a
// write, race if they are of different blocks of a launch, or of different threads in one interval
// and, for threads of a warp, with no __syncwarp between them. Atomics do not race with each other.

#include "memory.h"
#include "runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <vector>

extern "C" emu_place emu_here;

namespace emu {
namespace {

// -- packed accesses -------------------------------------------------------------------------------

// interval:38 | warp epoch:13 | thread:10 | atomic:1 | several lanes:1 | several warps:1
constexpr uint64_t several_warps = 1, several_lanes = 2, atomic_access = 4;

uint64_t interval_of(uint64_t access) { return access >> 26; }
unsigned epoch_of(uint64_t access) { return (unsigned)(access >> 13) & 0x1fffu; }
unsigned thread_of(uint64_t access) { return (unsigned)(access >> 3) & 0x3ffu; }

uint64_t this_access(bool atomic) {
    const uint64_t epoch = now.warp_epoch[now.thread / warp_size] & 0x1fffu;
    return now.interval << 26 | epoch << 13 | (uint64_t)now.thread << 3 |
           (atomic ? atomic_access : 0);
}

// Whether nothing orders an earlier access before this one.
bool unordered(uint64_t before, uint64_t mine) {
    const uint64_t interval = interval_of(before);
    if (interval < now.first_of_launch) return false;
    if (interval < now.first_of_block) return true;
    if (interval != now.interval) return false;
    if (before & several_warps) return true;
    if (thread_of(before) / warp_size != now.thread / warp_size) return true;
    if (epoch_of(before) != epoch_of(mine)) return false;
    return (before & several_lanes) || thread_of(before) != now.thread;
}

// What a byte remembers of its readers, with one more.
uint64_t joined(uint64_t before, uint64_t mine) {
    if (interval_of(before) != now.interval) return mine;
    if (before & several_warps) return before;
    if (thread_of(before) / warp_size != now.thread / warp_size) return mine | several_warps;
    if (epoch_of(before) != epoch_of(mine)) return mine;
    if (thread_of(before) != now.thread) return mine | several_lanes;
    return mine | (before & several_lanes);
}

// -- messages --------------------------------------------------------------------------------------

struct Place {
    uintptr_t at;
    size_t nbytes;
    void *code;
    const Allocation *allocation;  // null in shared memory
};

std::string text_of(const Place &place) {
    char text[200];
    if (!place.allocation) {
        if (shared_variables)
            for (const Variable &variable : *shared_variables)
                if (place.at >= variable.begin && place.at < variable.begin + variable.size) {
                    snprintf(text, sizeof text, "byte %zu of the shared array %s",
                             (size_t)(place.at - variable.begin), variable.name.c_str());
                    return text;
                }
        snprintf(text, sizeof text, "byte %zu of shared memory",
                 (size_t)(place.at - (uintptr_t)now.shared_begin));
        return text;
    }
    const Allocation &found = *place.allocation;
    const char *state = found.freed ? "a freed allocation" : "an allocation";
    if (place.at < found.begin)
        snprintf(text, sizeof text, "%zu bytes before %s of %zu bytes",
                 (size_t)(found.begin - place.at), state, found.size);
    else if (place.at >= found.begin + found.size)
        snprintf(text, sizeof text, "%zu bytes past the end of %s of %zu bytes",
                 (size_t)(place.at - found.begin - found.size), state, found.size);
    else
        snprintf(text, sizeof text, "byte %zu of %s of %zu bytes",
                 (size_t)(place.at - found.begin), state, found.size);
    return text;
}

[[noreturn]] void report(Fault fault, const char *what, const Place &place) {
    fail(fault, std::string(what) + " " + std::to_string(place.nbytes) + " bytes at " +
                    text_of(place), place.code);
}

[[noreturn]] void report_race(const char *what, uint64_t before, const Place &place) {
    const bool block = interval_of(before) < now.first_of_block;
    std::string message = std::string("a race: it ") + what + " " + text_of(place) + ", which ";
    if (block)
        message += "another block";
    else if (before & (several_warps | several_lanes))
        message += "other threads";
    else
        message += "thread " + std::to_string(thread_of(before));
    fail(Fault::launch, message + (block ? " of the launch" : "") +
                            " accessed with nothing to order the two", place.code);
}

// -- accesses --------------------------------------------------------------------------------------

auto &shared_cells = *new std::vector<Cell>;

Cell *shared_cell(uintptr_t at, size_t nbytes) {
    const uintptr_t begin = (uintptr_t)now.shared_begin, end = (uintptr_t)now.shared_end;
    const uintptr_t dynamic = (uintptr_t)now.dynamic_begin, last = (uintptr_t)now.dynamic_end;
    const size_t fixed = end - begin, all = fixed + (last - dynamic);
    if (shared_cells.size() < all) shared_cells.resize(all);
    if (at >= begin && at + nbytes <= end) return &shared_cells[at - begin];
    if (at >= dynamic && at + nbytes <= last) return &shared_cells[fixed + (at - dynamic)];
    return nullptr;
}

// Whether memory belongs to the program and not to the device: globals, constants, arguments.
bool beside(uintptr_t at) {
    static uintptr_t known = 0;
    if (at - (uintptr_t)&emu_here < sizeof emu_here || at >> 6 == known) return true;
    if (in_stack((const void *)at)) return true;
    Dl_info info;
    const bool argument = at >= (uintptr_t)now.arguments_begin && at < (uintptr_t)now.arguments_end;
    if (!argument && !dladdr((const void *)at, &info)) return false;
    known = at >> 6;
    return true;
}

// The cell of the first byte of an access to memory that threads share; null for other memory.
Cell *cell_of(uintptr_t at, size_t nbytes, bool write, Place &place) {
    if (Cell *cell = shared_cell(at, nbytes)) return cell;
    if (at - (uintptr_t)&emu_here < sizeof emu_here) return nullptr;
    if (Allocation *found = find(at)) {
        place.allocation = found;
        if (found->freed || !found->holds(at, nbytes))
            report(Fault::address, write ? "it writes" : "it reads", place);
        if (found->pending)
            report(Fault::address, write ? "before the stream gets there, it writes"
                                         : "before the stream gets there, it reads", place);
        return cells_of(*found) + (at - found->begin);
    }
    if (beside(at)) return nullptr;
    char text[100];
    snprintf(text, sizeof text, "it %s %zu bytes at %p, which is no memory of the device",
             write ? "writes" : "reads", nbytes, (void *)at);
    fail(Fault::address, text, place.code);
}

// Shared memory of a block that ended is fresh for the next one.
void refresh(Cell &cell) {
    if (interval_of(cell.write) < now.first_of_block) cell.write = 0;
    if (interval_of(cell.read) < now.first_of_block) cell.read = cell.first_read = 0;
}

void check_read(uintptr_t at, size_t nbytes, void *code, bool atomic) {
    if (!now.running) return;
    Place place = {at, nbytes, code, nullptr};
    Cell *cell = cell_of(at, nbytes, false, place);
    if (!cell) return;
    const uint64_t mine = this_access(atomic);
    const bool known = place.allocation && place.allocation->initialized;
    for (size_t n = 0; n < nbytes; ++n, ++cell) {
        if (!place.allocation) refresh(*cell);
        const uint64_t written = cell->write;
        place.at = at + n;
        if (!written && !known)
            report(Fault::launch, "uninitialised memory: it reads", place);
        if (unordered(written, mine) && !(atomic && (written & atomic_access)))
            report_race("reads", written, place);
        if (atomic) continue;
        if (cell->first_read < now.first_of_launch) cell->first_read = now.interval;
        cell->read = joined(cell->read, mine);
    }
}

void check_write(uintptr_t at, size_t nbytes, void *code, bool atomic) {
    if (!now.running) return;
    Place place = {at, nbytes, code, nullptr};
    Cell *cell = cell_of(at, nbytes, true, place);
    if (!cell) return;
    const uint64_t mine = this_access(atomic);
    for (size_t n = 0; n < nbytes; ++n, ++cell) {
        if (!place.allocation) refresh(*cell);
        const uint64_t written = cell->write, read = cell->read;
        place.at = at + n;
        if (unordered(written, mine) && !(atomic && (written & atomic_access)))
            report_race("writes", written, place);
        const uint64_t first = cell->first_read;
        if (first >= now.first_of_launch && first < now.first_of_block)
            report_race("writes", first << 26, place);
        if (unordered(read, mine)) report_race("writes", read, place);
        cell->write = mine;
    }
}

// -- what the instrumentation for undefined behaviour passes ---------------------------------------

struct SourceLocation {
    const char *file;
    unsigned line, column;
};
struct TypeDescriptor {
    unsigned short kind, info;
    char name[1];
};
struct TypeMismatch {
    SourceLocation location;
    const TypeDescriptor *type;
    unsigned char log_alignment, kind;
};
struct OutOfBounds {
    SourceLocation location;
    const TypeDescriptor *array, *index;
};

}  // namespace
}  // namespace emu

// -- what instrumented kernels call ----------------------------------------------------------------

#define KERNEL_CALL extern "C" __attribute__((visibility("default")))
#define CODE __builtin_return_address(0)

using namespace emu;

KERNEL_CALL void __ubsan_handle_type_mismatch_v1(TypeMismatch *data, uintptr_t at) {
    char text[200];
    const unsigned alignment = 1u << data->log_alignment;
    if (!at)
        snprintf(text, sizeof text, "a null pointer is accessed at line %u", data->location.line);
    else
        snprintf(text, sizeof text,
                 "a misaligned access at line %u: %s needs %u bytes, %p is aligned to %u",
                 data->location.line, data->type->name, alignment, (void *)at,
                 1u << __builtin_ctzll(at));
    fail(at ? Fault::misaligned : Fault::address, text);
}

KERNEL_CALL void __ubsan_handle_out_of_bounds(OutOfBounds *data, uintptr_t index) {
    char text[200];
    snprintf(text, sizeof text, "an index out of bounds at line %u: %lld in an array of type %s",
             data->location.line, (long long)(data->index->info >> 1 <= 5 ? (int)index
                                                                         : (long long)index),
             data->array->name);
    fail(Fault::address, text);
}

KERNEL_CALL void __tsan_init(void) {}
KERNEL_CALL void __tsan_func_entry(void *) {}
KERNEL_CALL void __tsan_func_exit(void) {}

#define ACCESSES(size) \
    KERNEL_CALL void __tsan_read##size(void *at) { check_read((uintptr_t)at, size, CODE, false); } \
    KERNEL_CALL void __tsan_write##size(void *at) { check_write((uintptr_t)at, size, CODE, false); } \
    KERNEL_CALL void __tsan_unaligned_read##size(void *at) { \
        check_read((uintptr_t)at, size, CODE, false); \
    } \
    KERNEL_CALL void __tsan_unaligned_write##size(void *at) { \
        check_write((uintptr_t)at, size, CODE, false); \
    } \
    KERNEL_CALL void __tsan_volatile_read##size(void *at) { \
        check_read((uintptr_t)at, size, CODE, true); \
    } \
    KERNEL_CALL void __tsan_volatile_write##size(void *at) { \
        check_write((uintptr_t)at, size, CODE, true); \
    }
ACCESSES(1) ACCESSES(2) ACCESSES(4) ACCESSES(8) ACCESSES(16)

KERNEL_CALL void __tsan_read_range(void *at, size_t nbytes) {
    check_read((uintptr_t)at, nbytes, CODE, false);
}
KERNEL_CALL void __tsan_write_range(void *at, size_t nbytes) {
    check_write((uintptr_t)at, nbytes, CODE, false);
}

#define CHANGE(bits, type, name, builtin) \
    KERNEL_CALL type __tsan_atomic##bits##_##name(volatile type *at, type value, int) { \
        check_write((uintptr_t)at, sizeof(type), CODE, true); \
        return builtin(at, value, __ATOMIC_SEQ_CST); \
    }
#define COMPARE(bits, type, name) \
    KERNEL_CALL int __tsan_atomic##bits##_compare_exchange_##name( \
        volatile type *at, type *expected, type value, int, int) { \
        check_write((uintptr_t)at, sizeof(type), CODE, true); \
        return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, \
                                           __ATOMIC_SEQ_CST); \
    }
#define ATOMICS(bits, type) \
    KERNEL_CALL type __tsan_atomic##bits##_load(const volatile type *at, int) { \
        check_read((uintptr_t)at, sizeof(type), CODE, true); \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST); \
    } \
    KERNEL_CALL void __tsan_atomic##bits##_store(volatile type *at, type value, int) { \
        check_write((uintptr_t)at, sizeof(type), CODE, true); \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST); \
    } \
    CHANGE(bits, type, exchange, __atomic_exchange_n) \
    CHANGE(bits, type, fetch_add, __atomic_fetch_add) \
    CHANGE(bits, type, fetch_sub, __atomic_fetch_sub) \
    CHANGE(bits, type, fetch_and, __atomic_fetch_and) \
    CHANGE(bits, type, fetch_or, __atomic_fetch_or) \
    CHANGE(bits, type, fetch_xor, __atomic_fetch_xor) \
    CHANGE(bits, type, fetch_nand, __atomic_fetch_nand) \
    COMPARE(bits, type, strong) \
    COMPARE(bits, type, weak)
ATOMICS(8, unsigned char)
ATOMICS(16, unsigned short)
ATOMICS(32, unsigned int)
ATOMICS(64, unsigned long long)
KERNEL_CALL void __tsan_atomic_thread_fence(int) {}
KERNEL_CALL void __tsan_atomic_signal_fence(int) {}
