// Memory: what stands for a device's memory, and a table of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace emu {

// Who last touched a byte: a packed Access of checks.cpp each, 0 if nobody.
struct Cell {
    uint64_t write, read;
    uint64_t first_read;  // the interval in which it was first read by the launch that read it last
};

struct Allocation {
    uintptr_t begin;
    size_t size;
    unsigned long long stream;  // on which it was allocated
    bool pending;               // the stream has not come to its allocation yet
    bool freed;
    bool initialized = false;   // written by something that keeps no cells
    Cell *cells = nullptr;
    char *block = nullptr;

    bool holds(uintptr_t at, size_t nbytes) const {
        return at >= begin && at - begin <= size && nbytes <= size - (at - begin);
    }
};

// Bytes around each allocation that belong to nobody.
constexpr size_t guard = 256;

struct MemoryUse {
    size_t live, peak, limit;
    unsigned long long allocations;
};
extern MemoryUse memory_use;

// An allocation of `size` bytes at a multiple of 256; null where the limit is reached.
Allocation *allocate(size_t size, unsigned long long stream, bool pending);
// Fills it with 0xff: it is no memory any more for kernels. Its address is used again much later.
void release(Allocation *allocation);
// The allocation that holds an address or in whose guards it lies; freed ones for a while, too.
Allocation *find(uintptr_t at);
// The live allocation that holds all of a range; null if there is none.
Allocation *find_range(uintptr_t at, size_t nbytes);
// Whether all bytes around an allocation are as they were; if not, where the first change is.
bool guards_intact(const Allocation &allocation, ptrdiff_t *where);
void restore_guards(Allocation &allocation);
Cell *cells_of(Allocation &allocation);
// Whether it is noted who touches which byte; from the first kernel on whose accesses are checked.
extern bool keep_cells;
// Notes that a range is written by something that is no kernel.
void note_written(uintptr_t at, size_t nbytes);

// A name for an address in shared memory, such as `blocks0`, if it is known.
struct Variable {
    std::string name;
    uintptr_t begin;
    size_t size;
};
extern const std::vector<Variable> *shared_variables;

}  // namespace emu
