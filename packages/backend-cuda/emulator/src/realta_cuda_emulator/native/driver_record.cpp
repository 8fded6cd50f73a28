// Recording of launches by the stand-in driver: the first of each kernel, for runners.
//
// Memory that an argument points to is written from there to the end of its allocation.

#include <stdio.h>
#include <unistd.h>

#include "driver.h"

namespace emu {

std::string &record_folder = *new std::string;

namespace {

constexpr size_t most_bytes = (size_t)8 << 20;

struct Argument {
    char kind;
    const void *memory;
    size_t size;
};

}  // namespace

void record(const Given &given) {
    const std::string path = record_folder + "/" + given.kernel->library->info->key + "-" +
                             given.kernel->name + ".launch";
    if (!access(path.c_str(), F_OK)) return;
    std::vector<Argument> arguments;
    size_t bytes = 0;
    for (size_t n = 0; n < given.places.size(); ++n) {
        const uint64_t *value = &given.values[given.places[n]];
        const size_t size = given.kernel->entry->sizes[n];
        const Allocation *found = size == sizeof(uintptr_t) ? find_range(*value, 1) : nullptr;
        if (found)
            arguments.push_back({'b', (void *)*value, found->begin + found->size - *value});
        else
            arguments.push_back({'s', value, size});
        bytes += arguments.back().size;
    }
    if (bytes > most_bytes) return;
    FILE *file = fopen(path.c_str(), "wb");
    if (!file) return;
    fprintf(file, "%u %u %u %u %u %u %u 0 0 %zu\n", given.grid.x, given.grid.y, given.grid.z,
            given.block.x, given.block.y, given.block.z, given.dynamic_shared, arguments.size());
    for (const Argument &argument : arguments) {
        fwrite(&argument.kind, 1, 1, file);
        fwrite(&argument.size, 8, 1, file);
        fwrite(argument.memory, 1, argument.size, file);
    }
    fclose(file);
}

}  // namespace emu
