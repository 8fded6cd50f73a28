// Runner: one launch in a process of its own, which a sanitizer of the compiler watches.
//
// arguments: an image, the name of a kernel, and a file with the launch, to which what the kernel
// left in its buffers is written: a line `gx gy gz bx by bz shared order unordered arguments`, and
// for each argument `b` (a buffer) or `s` (a value), its length in 8 bytes, and its bytes.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

#include "runtime.h"

using namespace emu;

static int refuse(const char *what) {
    fprintf(stderr, "realta-cuda-emulator: %s\n", what);
    return 3;
}

int main(int count, char **words) {
    if (count != 4) return refuse("usage: runner IMAGE KERNEL LAUNCH");
    void *image = dlopen(words[1], RTLD_NOW);
    if (!image) return refuse(dlerror());
    Launch launch;
    launch.name = words[2];
    launch.kernel = (const emu_kernel *)dlsym(image, (launch.name + "__emu").c_str());
    launch.image = (const emu_image *)dlsym(image, "emu_image_info");
    FILE *file = fopen(words[3], "r+b");
    if (!launch.kernel || !launch.image || !file) return refuse("no such kernel or launch");
    unsigned order, unordered, arguments;
    emu_uint3 &g = launch.grid, &b = launch.block;
    if (fscanf(file, "%u %u %u %u %u %u %zu %u %u %u", &g.x, &g.y, &g.z, &b.x, &b.y, &b.z,
               &launch.dynamic_shared, &order, &unordered, &arguments) != 10 ||
        fgetc(file) != '\n' || arguments != launch.kernel->count)
        return refuse("the launch does not fit the kernel");
    launch.order.kind = order == 0 ? Order::forward : order == 1 ? Order::reversed : Order::seeded;
    launch.order.seed = order;
    launch.blocks_unordered = unordered != 0;
    struct Argument {
        char kind;
        size_t size;
        long offset;
        void *memory;
    };
    std::vector<Argument> given(arguments);
    std::vector<void *> pointers(arguments + 1);
    for (unsigned n = 0; n < arguments; ++n) {
        Argument &argument = given[n];
        if (fread(&argument.kind, 1, 1, file) != 1 || fread(&argument.size, 8, 1, file) != 1)
            return refuse("the launch is cut short");
        argument.offset = ftell(file);
        // Exactly as large, so that AddressSanitizer sees what lies outside.
        if (posix_memalign(&argument.memory, 256, argument.size ? argument.size : 1)) return 3;
        if (fread(argument.memory, 1, argument.size, file) != argument.size)
            return refuse("the launch is cut short");
        pointers[n] = argument.kind == 'b' ? (void *)&argument.memory : argument.memory;
    }
    launch.arguments = pointers.data();
    const Outcome outcome = run(launch);
    if (outcome.fault != Fault::none) {
        fprintf(stderr, "realta-cuda-emulator: %s\n", outcome.message.c_str());
        return fault_exit_code;
    }
    for (const Argument &argument : given)
        if (argument.kind == 'b') {
            fseek(file, argument.offset, SEEK_SET);
            fwrite(argument.memory, 1, argument.size, file);
        }
    return fclose(file) ? 3 : 0;
}
