// Runtime: what the scheduler, the checks, the driver and the runner know of each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

struct emu_uint3 {
    unsigned x, y, z;
};

// The same as emu_place in kernel.h.
struct emu_place {
    emu_uint3 thread, block, block_size, grid_size;
};
struct emu_kernel {
    void (*entry)(void **arguments);
    unsigned count;
    const unsigned *sizes;
    unsigned most_threads;
};
struct emu_image {
    char *shared_begin, *shared_end;
    int checked;      // whether its accesses call checks.cpp
    const char *key;  // of the source that it is made from
};

namespace emu {

constexpr unsigned most_threads = 1024;
constexpr unsigned warp_size = 32;

// In which order blocks, and threads that could all go on, take their turns.
struct Order {
    enum Kind { forward, reversed, seeded } kind = forward;
    uint64_t seed = 0;
};

// What kind of error a launch ends with: the driver has a number for each.
enum class Fault { none, launch, address, misaligned, assertion };

struct Launch {
    std::string name;
    const emu_kernel *kernel;
    const emu_image *image;
    emu_uint3 grid, block;
    size_t dynamic_shared = 0;
    void **arguments = nullptr;
    char *arguments_begin = nullptr, *arguments_end = nullptr;  // they and what they point to
    Order order;
    bool blocks_unordered = false;  // for ThreadSanitizer: see scheduler.cpp
};

struct Outcome {
    Fault fault = Fault::none;
    std::string message;
    void *where = nullptr;  // an address in the kernel's code, if known
};

// What a runner that a sanitizer watches exits with where the scheduler finds an error.
constexpr int fault_exit_code = 5;

// Runs all threads of all blocks of a launch, on this thread of the host.
Outcome run(const Launch &launch);

// Ends the launch that runs, from inside of one of its threads.
[[noreturn]] void fail(Fault fault, const std::string &message, void *where = nullptr);

// The thread that runs, for checks.
struct Now {
    bool running = false;
    unsigned thread = 0;             // its number in the block
    uint64_t interval = 0;           // counts the stretches between barriers, of all blocks
    uint64_t first_of_block = 0;     // the first interval of this block
    uint64_t first_of_launch = 0;    // and of this launch
    uint32_t warp_epoch[most_threads / warp_size] = {};  // counts __syncwarp of each warp
    char *shared_begin = nullptr, *shared_end = nullptr;
    char *dynamic_begin = nullptr, *dynamic_end = nullptr;
    char *arguments_begin = nullptr, *arguments_end = nullptr;
};
extern Now now;

// Whether an address lies in the stack of a thread, which no other may touch.
bool in_stack(const void *address);

}  // namespace emu
