// Memory: what stands for a device's memory, and a table of it.
//
// Fresh and freed memory is filled with 0xff, which is NaN in every floating type and -1 in
// integers. Guards around each allocation show writes past its ends.

#include "memory.h"

#include <stdlib.h>
#include <string.h>

#include <deque>
#include <map>

namespace emu {

MemoryUse memory_use = {0, 0, (size_t)16 << 30, 0};
const std::vector<Variable> *shared_variables;
bool keep_cells;

namespace {

constexpr unsigned char guard_byte = 0xfb;
constexpr size_t most_kept = (size_t)16 << 20;  // bytes of freed memory that is remembered

// Not destroyed when the process ends: other libraries free memory even later.
auto &table = *new std::map<uintptr_t, Allocation *>;
auto &kept = *new std::deque<Allocation *>;
size_t kept_bytes;
Allocation *recent;

void forget_oldest() {
    Allocation *oldest = kept.front();
    kept.pop_front();
    kept_bytes -= oldest->size;
    table.erase(oldest->begin);
    if (recent == oldest) recent = nullptr;
    free(oldest->cells);
    free(oldest->block);
    delete oldest;
}

}  // namespace

Allocation *allocate(size_t size, unsigned long long stream, bool pending) {
    if (size > memory_use.limit || memory_use.live > memory_use.limit - size) return nullptr;
    void *block;
    const size_t rounded = (size + 255) / 256 * 256;
    if (posix_memalign(&block, 256, rounded + 2 * guard)) return nullptr;
    auto *made = new Allocation{(uintptr_t)block + guard, size, stream, pending, false};
    made->block = (char *)block;
    memset((void *)made->begin, 0xff, size);
    restore_guards(*made);
    table[made->begin] = made;
    memory_use.live += size;
    memory_use.allocations++;
    if (memory_use.live > memory_use.peak) memory_use.peak = memory_use.live;
    return made;
}

void release(Allocation *allocation) {
    memory_use.live -= allocation->size;
    allocation->freed = true;
    memset((void *)allocation->begin, 0xff, allocation->size);
    free(allocation->cells);
    allocation->cells = nullptr;
    kept.push_back(allocation);
    kept_bytes += allocation->size;
    while (kept.size() > 1 && (kept_bytes > most_kept || kept.size() > 4096)) forget_oldest();
}

Allocation *find(uintptr_t at) {
    if (recent && at + guard >= recent->begin && at < recent->begin + recent->size + guard)
        return recent;
    auto after = table.upper_bound(at + guard);
    if (after == table.begin()) return nullptr;
    Allocation *found = std::prev(after)->second;
    if (at >= found->begin + found->size + guard) return nullptr;
    recent = found;
    return found;
}

Allocation *find_range(uintptr_t at, size_t nbytes) {
    Allocation *found = find(at);
    return found && !found->freed && found->holds(at, nbytes) ? found : nullptr;
}

bool guards_intact(const Allocation &allocation, ptrdiff_t *where) {
    static const std::vector<unsigned char> sample(2 * guard, guard_byte);
    const char *end = (const char *)allocation.begin + allocation.size;
    const size_t after = (size_t)(allocation.block + 2 * guard +
                                  (allocation.size + 255) / 256 * 256 - end);
    if (!memcmp(allocation.block, sample.data(), guard) &&
        !memcmp(end, sample.data(), after < 2 * guard ? after : 2 * guard))
        return true;
    for (size_t n = 0; n < guard; ++n)
        if ((unsigned char)allocation.block[guard - 1 - n] != guard_byte) {
            *where = -(ptrdiff_t)n - 1;
            return false;
        }
    for (size_t n = 0; n < after; ++n)
        if ((unsigned char)end[n] != guard_byte) {
            *where = (ptrdiff_t)(allocation.size + n);
            return false;
        }
    return true;
}

void restore_guards(Allocation &allocation) {
    char *end = (char *)allocation.begin + allocation.size;
    memset(allocation.block, guard_byte, guard);
    memset(end, guard_byte, (size_t)(allocation.block + 2 * guard +
                                     (allocation.size + 255) / 256 * 256 - end));
}

Cell *cells_of(Allocation &allocation) {
    if (!allocation.cells) allocation.cells = (Cell *)calloc(allocation.size + 1, sizeof(Cell));
    return allocation.cells;
}

void note_written(uintptr_t at, size_t nbytes) {
    Allocation *found = find_range(at, nbytes);
    if (!found) return;
    if (!keep_cells || (at == found->begin && nbytes == found->size)) {
        found->initialized = true;
        return;
    }
    Cell *cells = cells_of(*found) + (at - found->begin);
    for (size_t n = 0; n < nbytes; ++n) cells[n].write = 1;  // written, long ago
}

}  // namespace emu
