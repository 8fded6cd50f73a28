// Scheduler: runs the threads of a block as fibers, each until it has to wait for others.
//
// A fiber takes thread after thread for as long as none of them waits, so that a block without a
// barrier costs one call a thread. Whoever waits chooses who goes on: the order is part of the
// launch. What CUDA leaves undefined - barriers that some threads never reach or reach elsewhere,
// lanes that are missing from a warp's exchange - ends the launch with a message.
//
// The sanitizers are told of fibers with EMU_ADDRESS or EMU_THREAD; only kernels are instrumented.
// ThreadSanitizer sees each CUDA thread as a fiber of its own. Barriers release and acquire two
// objects in turn, since with one a late leaver would acquire what an early thread released at the
// next barrier. Blocks are ordered one after the other, which leaves races inside of blocks, or
// unordered, with shared memory exempt, which leaves those between blocks.

#include "runtime.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#if defined(EMU_THREAD)
#include <sanitizer/tsan_interface.h>
extern "C" void AnnotateBenignRaceSized(const char *, int, const volatile void *, long,
                                        const char *);
#define THREAD_SANITIZER(...) __VA_ARGS__
#else
#define THREAD_SANITIZER(...)
#endif
#if defined(EMU_ADDRESS)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define ADDRESS_SANITIZER(...) __VA_ARGS__
#else
#define ADDRESS_SANITIZER(...)
#endif

extern "C" __attribute__((visibility("default"))) emu_place emu_here;
emu_place emu_here;

namespace emu {

Now now;

namespace {

// -- switching stacks ------------------------------------------------------------------------------

#if defined(__x86_64__)
struct Stack {
    void *pointer = nullptr;
};
extern "C" void emu_switch(void **save, void *to);
asm(".text\n.globl emu_switch\n.hidden emu_switch\n.type emu_switch,@function\nemu_switch:\n"
    " push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
    " mov %rsp,(%rdi)\n mov %rsi,%rsp\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
    ".size emu_switch,.-emu_switch\n");
void switch_stack(Stack &from, Stack &to) { emu_switch(&from.pointer, to.pointer); }
void prepare_stack(Stack &stack, char *top, void (*start)()) {
    void **at = (void **)((uintptr_t)top & ~(uintptr_t)15);
    *--at = nullptr;  // what `start` would return to
    *--at = (void *)start;
    for (int saved = 0; saved < 6; ++saved) *--at = nullptr;
    stack.pointer = at;
}
#else
struct Stack {
    ucontext_t context;
};
void switch_stack(Stack &from, Stack &to) { swapcontext(&from.context, &to.context); }
void prepare_stack(Stack &stack, char *top, void (*start)()) {
    constexpr size_t size = 192 * 1024;
    getcontext(&stack.context);
    stack.context.uc_stack.ss_sp = top - size;
    stack.context.uc_stack.ss_size = size;
    stack.context.uc_link = nullptr;
    makecontext(&stack.context, start, 0);
}
#endif

constexpr size_t stack_size = 256 * 1024;

struct Fiber {
    Stack stack;
    char *memory = nullptr;
    void *fake = nullptr;  // of AddressSanitizer
};

enum State : unsigned char { fresh, ready, at_barrier, in_warp, done };

struct Thread {
    State state;
    short fiber;
    int line;
    emu_uint3 index;
    void *sanitizer = nullptr;
};

// Lanes of a warp that wait for each other: those of one mask.
struct Group {
    unsigned mask, arrived;
    int line;
};

struct Lane {
    uint64_t value, result;
    uint64_t *all;
    unsigned *present;
    int source;
};

struct Warp {
    Group groups[warp_size];
    int count;
    uint32_t completed;
    Lane lanes[warp_size];
};

Thread threads[most_threads];
Warp warps[most_threads / warp_size];
Fiber fibers[most_threads + 1];
int fibers_made, unused[most_threads + 1], unused_count;
int order[most_threads];
// Those who can go on, in a ring: ThreadSanitizer sees memmove, and takes it for the threads' own.
constexpr unsigned ring = most_threads - 1;
int queue[most_threads];
unsigned queue_begin, queue_end;
int count, live, arrived, next_fresh, current, current_fiber;
unsigned predicate_count, predicate_result;
const Launch *launch;
Outcome outcome;
Stack main_stack;
uint64_t random_state;
sigjmp_buf broken;
std::vector<char> dynamic_memory;
THREAD_SANITIZER(void *main_sanitizer; char barrier_objects[2]; char launch_object;
                 std::vector<void *> used_sanitizers;)
ADDRESS_SANITIZER(const void *main_bottom; size_t main_size;)

unsigned random_below(unsigned limit) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)((random_state >> 32) * limit >> 32);
}

void become(int thread) {
    current = thread;
    now.thread = (unsigned)thread;
    emu_here.thread = threads[thread].index;
}

std::string shown(const emu_uint3 &at) {
    char text[64];
    if (at.y || at.z)
        snprintf(text, sizeof text, "(%u, %u, %u)", at.x, at.y, at.z);
    else
        snprintf(text, sizeof text, "%u", at.x);
    return text;
}

// -- who goes on -----------------------------------------------------------------------------------

void to_main() {
    Fiber &from = fibers[current_fiber];
    (void)from;
    ADDRESS_SANITIZER(__sanitizer_start_switch_fiber(&from.fake, main_bottom, main_size);)
    THREAD_SANITIZER(__tsan_switch_to_fiber(main_sanitizer, 1);)
    switch_stack(from.stack, main_stack);
    ADDRESS_SANITIZER(
        __sanitizer_finish_switch_fiber(fibers[current_fiber].fake, nullptr, nullptr);)
}

void to_fiber(int to, int thread) {
    Fiber &from = fibers[current_fiber];
    if (to == current_fiber) return;
    current_fiber = to;
    ADDRESS_SANITIZER(
        __sanitizer_start_switch_fiber(&from.fake, fibers[to].memory, stack_size);)
    THREAD_SANITIZER(if (thread >= 0) __tsan_switch_to_fiber(threads[thread].sanitizer, 1);)
    (void)thread;
    switch_stack(from.stack, fibers[to].stack);
    ADDRESS_SANITIZER(
        __sanitizer_finish_switch_fiber(fibers[current_fiber].fake, nullptr, nullptr);)
}

void fiber_main();

int take_fiber() {
    if (unused_count) return unused[--unused_count];
    Fiber &fiber = fibers[fibers_made];
    if (!fiber.memory) {
        char *memory = (char *)mmap(nullptr, stack_size + 4096, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) fail(Fault::launch, "no memory for the stack of a thread");
        mprotect(memory, 4096, PROT_NONE);
        fiber.memory = memory + 4096;
        THREAD_SANITIZER(
            AnnotateBenignRaceSized(__FILE__, __LINE__, fiber.memory, stack_size, "a stack");)
    }
    // Stacks that all begin at the same place in a page would share few lines of the cache.
    const size_t apart = (size_t)fibers_made * 320 % 8192;
    prepare_stack(fiber.stack, fiber.memory + stack_size - 64 - apart, fiber_main);
    return fibers_made++;
}

void stuck() {
    int barrier = 0, warp = 0, line = 0;
    for (int t = 0; t < count; ++t) {
        barrier += threads[t].state == at_barrier;
        warp += threads[t].state == in_warp;
        if (threads[t].state == at_barrier || threads[t].state == in_warp) line = threads[t].line;
    }
    fail(Fault::launch,
         "threads wait for ever: " + std::to_string(barrier) + " at __syncthreads and " +
             std::to_string(warp) + " in a warp's exchange (one at line " + std::to_string(line) +
             "), " + std::to_string(count - live) + " have returned");
}

// Gives way to whoever is next; comes back when this fiber is chosen.
void give_way() {
    if (!live) return to_main();
    const bool some_fresh = next_fresh < count, some_ready = queue_begin != queue_end;
    bool start = some_fresh;
    if (some_fresh && some_ready && launch->order.kind != Order::forward)
        start = launch->order.kind == Order::seeded && random_below(2);
    if (start) return to_fiber(take_fiber(), -1);
    if (!some_ready) stuck();
    if (launch->order.kind == Order::seeded) {
        const unsigned chosen = queue_begin + random_below(queue_end - queue_begin);
        std::swap(queue[queue_begin & ring], queue[chosen & ring]);
    }
    const int thread = queue[queue_begin++ & ring];
    to_fiber(threads[thread].fiber, thread);
}

void may_go_on(int thread) {
    threads[thread].state = ready;
    queue[queue_end++ & ring] = thread;
}

// Waits until someone lets this thread go on, or already has.
void wait_here() {
    const int me = current;
    give_way();
    become(me);
}

void release_barrier() {
    int line = -1;
    for (int n = 0; n < count; ++n) {
        const Thread &thread = threads[order[n]];
        if (thread.state != at_barrier) continue;
        if (line >= 0 && thread.line != line)
            fail(Fault::launch, "threads of a block are at different barriers: __syncthreads at line " +
                                    std::to_string(line) + " and at line " +
                                    std::to_string(thread.line));
        line = thread.line;
    }
    if (live != count)
        fail(Fault::launch, "__syncthreads at line " + std::to_string(line) +
                                " is not reached by all threads: " + std::to_string(count - live) +
                                " of " + std::to_string(count) + " have returned");
    arrived = 0;
    predicate_result = predicate_count;
    predicate_count = 0;
    now.interval++;
    for (int n = 0; n < count; ++n) may_go_on(order[n]);
}

void thread_ends() {
    threads[current].state = done;
    --live;
    if (arrived && arrived == live) release_barrier();
}

void fiber_main() {
    ADDRESS_SANITIZER(__sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);)
    for (;;) {
        while (next_fresh < count) {
            const int thread = order[next_fresh++];
            threads[thread].fiber = (short)current_fiber;
            become(thread);
            THREAD_SANITIZER(if (!threads[thread].sanitizer) threads[thread].sanitizer =
                                 __tsan_create_fiber(0);
                             __tsan_switch_to_fiber(threads[thread].sanitizer, 1);)
            launch->kernel->entry(launch->arguments);
            thread_ends();
            THREAD_SANITIZER(__tsan_release(&launch_object);
                             __tsan_switch_to_fiber(main_sanitizer, 1);)
            // Those who can go on come first in some orders.
            if (queue_begin != queue_end && launch->order.kind != Order::forward) break;
        }
        unused[unused_count++] = current_fiber;
        give_way();
    }
}

// -- faults of the processor -----------------------------------------------------------------------

struct sigaction former[4];
const int signals[4] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
int broken_signal;
void *broken_address, *broken_code;

void on_signal(int signal, siginfo_t *info, void *context) {
    broken_signal = signal;
    broken_address = info->si_addr;
#if defined(__x86_64__)
    broken_code = (void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
    broken_code = nullptr;
    (void)context;
#endif
    siglongjmp(broken, 1);
}

void watch_signals() {
    static char alternate[64 * 1024];
    stack_t stack = {};
    stack.ss_sp = alternate;
    stack.ss_size = sizeof alternate;
    stack_t present;
    if (!sigaltstack(nullptr, &present) && (present.ss_flags & SS_DISABLE))
        sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int n = 0; n < 4; ++n) sigaction(signals[n], &action, &former[n]);
}

void leave_signals() {
    for (int n = 0; n < 4; ++n) sigaction(signals[n], &former[n], nullptr);
}

void explain_signal() {
    char text[200];
    if (broken_signal == SIGFPE) {
        snprintf(text, sizeof text, "an integer is divided by zero, or a quotient overflows");
        outcome.fault = Fault::launch;
    } else if (!broken_address && broken_signal == SIGSEGV) {
        snprintf(text, sizeof text, "an address is misaligned for a vector, or no address at all");
        outcome.fault = Fault::misaligned;
    } else {
        snprintf(text, sizeof text, "no memory can be accessed at %p (a stack has %zu KB)",
                 broken_address, stack_size / 1024);
        outcome.fault = Fault::address;
    }
    outcome.message = text;
    outcome.where = broken_code;
}

// -- blocks ----------------------------------------------------------------------------------------

void order_threads() {
    for (int n = 0; n < count; ++n)
        order[n] = launch->order.kind == Order::reversed ? count - 1 - n : n;
    if (launch->order.kind == Order::seeded)
        for (int n = count - 1; n > 0; --n)
            std::swap(order[n], order[random_below((unsigned)n + 1)]);
}

__attribute__((no_sanitize("address", "thread"))) void poison(char *begin, char *end) {
    for (volatile char *at = begin; at < end; ++at) *at = (char)0xff;
}

void run_block(uint64_t number) {
    const emu_uint3 &grid = launch->grid;
    emu_here.block = {(unsigned)(number % grid.x), (unsigned)(number / grid.x % grid.y),
                      (unsigned)(number / grid.x / grid.y)};
    order_threads();
    for (int t = 0; t < count; ++t) threads[t].state = fresh;
    for (int w = 0; w < (count + 31) / 32; ++w) warps[w].count = 0;
    live = count;
    arrived = next_fresh = 0;
    queue_begin = queue_end = 0;
    predicate_count = 0;
    now.first_of_block = ++now.interval;
#if defined(EMU_ADDRESS) || defined(EMU_THREAD)
    poison(now.shared_begin, now.shared_end);
#else
    if (now.shared_begin) memset(now.shared_begin, 0xff, (size_t)(now.shared_end - now.shared_begin));
#endif
    if (now.dynamic_begin)
        poison(now.dynamic_begin, now.dynamic_end);
    THREAD_SANITIZER(if (!launch->blocks_unordered) __tsan_acquire(&launch_object);)
    current_fiber = take_fiber();
    ADDRESS_SANITIZER(void *fake; __sanitizer_start_switch_fiber(
                          &fake, fibers[current_fiber].memory, stack_size);)
    switch_stack(main_stack, fibers[current_fiber].stack);
    ADDRESS_SANITIZER(__sanitizer_finish_switch_fiber(fake, nullptr, nullptr);)
    // ThreadSanitizer uses the id of a fiber that ended again, and then misses races with it.
    THREAD_SANITIZER(for (int t = 0; t < count; ++t) {
        used_sanitizers.push_back(threads[t].sanitizer);
        threads[t].sanitizer = nullptr;
    })
}

void run_blocks() {
    const emu_uint3 &grid = launch->grid;
    const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    // A permutation of the blocks that needs no memory: start anywhere, step by a coprime.
    uint64_t at = 0, step = 1;
    if (launch->order.kind == Order::seeded) {
        at = random_below((unsigned)(blocks > 0xffffffffu ? 0xffffffffu : blocks));
        auto common = [](uint64_t a, uint64_t b) {
            while (b) {
                const uint64_t rest = a % b;
                a = b;
                b = rest;
            }
            return a;
        };
        for (step = 1 + random_below(997); common(step, blocks) != 1;) ++step;
    }
    uint64_t most = blocks;
    // It keeps much for each fiber, and races between two blocks are those between all.
    THREAD_SANITIZER(most = std::min<uint64_t>(blocks, std::max(2, 512 / count));)
    for (uint64_t n = 0; n < most && outcome.fault == Fault::none; ++n) {
        run_block(launch->order.kind == Order::reversed ? blocks - 1 - n : at);
        at = (at + step) % blocks;
    }
}

void prepare(const Launch &wanted) {
    static emu_uint3 numbered;
    launch = &wanted;
    outcome = Outcome();
    const emu_uint3 &block = wanted.block;
    count = (int)(block.x * block.y * block.z);
    emu_here.block_size = block;
    emu_here.grid_size = wanted.grid;
    if (memcmp(&numbered, &block, sizeof block)) {
        for (unsigned t = 0; t < (unsigned)count; ++t)
            threads[t].index = {t % block.x, t / block.x % block.y, t / block.x / block.y};
        numbered = block;
    }
    random_state = 88172645463325252ull ^ (wanted.order.seed * 0x9e3779b97f4a7c15ull);
    now.first_of_launch = now.interval + 1;
    now.arguments_begin = wanted.arguments_begin;
    now.arguments_end = wanted.arguments_end;
    now.shared_begin = wanted.image->shared_begin;
    now.shared_end = wanted.image->shared_end;
    if (dynamic_memory.size() < wanted.dynamic_shared + 16)
        dynamic_memory.resize(wanted.dynamic_shared + 16);
    char *aligned = (char *)(((uintptr_t)dynamic_memory.data() + 15) & ~(uintptr_t)15);
    now.dynamic_begin = wanted.dynamic_shared ? aligned : nullptr;
    now.dynamic_end = wanted.dynamic_shared ? aligned + wanted.dynamic_shared : nullptr;
}

void complete(Warp &warp, int first, Group group, unsigned needed) {
    for (unsigned lane = 0; lane < warp_size; ++lane) {
        if (!(needed >> lane & 1u)) continue;
        Lane &mine = warp.lanes[lane];
        if (mine.all) {
            for (unsigned from = 0; from < warp_size; ++from)
                mine.all[from] = needed >> from & 1u ? warp.lanes[from].value : 0;
            *mine.present = needed;
        } else if (mine.source >= 0) {
            if (mine.source >= (int)warp_size || !(needed >> mine.source & 1u)) {
                become(first + (int)lane);
                fail(Fault::launch, "a shuffle at line " + std::to_string(group.line) +
                                        " reads lane " + std::to_string(mine.source) +
                                        ", which is not in its mask or not in the block");
            }
            mine.result = warp.lanes[mine.source].value;
        }
    }
}

// Waits for the lanes of a mask; the last one to arrive gives all of them what they asked for.
void meet(unsigned mask, Lane wanted, int line, bool orders_memory) {
    const int me = current, first = me & ~31;
    const unsigned lane = (unsigned)me & 31u;
    Warp &warp = warps[me >> 5];
    const unsigned inside = count - first >= 32 ? ~0u : (1u << (count - first)) - 1u;
    const unsigned needed = mask & inside;
    if (!(mask >> lane & 1u))
        fail(Fault::launch, "a lane is missing from its own mask at line " + std::to_string(line));
    Group *group = nullptr;
    for (int n = 0; n < warp.count; ++n) {
        Group &other = warp.groups[n];
        if (other.mask == mask && other.line == line)
            group = &other;
        else if (other.mask & mask)
            fail(Fault::launch, "lanes of a warp are in different exchanges: at line " +
                                    std::to_string(other.line) + " and at line " +
                                    std::to_string(line));
    }
    if (!group) {
        warp.groups[warp.count] = {mask, 0, line};
        group = &warp.groups[warp.count++];
    }
    warp.lanes[lane] = wanted;
    group->arrived |= 1u << lane;
    THREAD_SANITIZER(char *object = (char *)&warp.completed + (warp.completed & 1);
                     if (orders_memory) __tsan_release(object);)
    if ((group->arrived & needed) == needed) {
        complete(warp, first, *group, needed);
        *group = warp.groups[--warp.count];
        warp.completed++;
        if (orders_memory) now.warp_epoch[me >> 5]++;
        for (int n = 0; n < (int)warp_size; ++n) {
            const int other = launch->order.kind == Order::reversed ? 31 - n : n;
            if ((needed >> other & 1u) && other != (int)lane) may_go_on(first + other);
        }
    } else {
        threads[me].state = in_warp;
        threads[me].line = line;
        wait_here();
    }
    THREAD_SANITIZER(if (orders_memory) __tsan_acquire(object);)
    (void)orders_memory;
}

}  // namespace

bool in_stack(const void *address) {
    // The fiber that runs, most of the time.
    const char *at = (const char *)address, *memory = fibers[current_fiber].memory;
    if (at >= memory && at < memory + stack_size) return true;
    for (int n = 0; n < fibers_made; ++n)
        if (at >= fibers[n].memory && at < fibers[n].memory + stack_size) return true;
    return false;
}

void fail(Fault fault, const std::string &message, void *where) {
    if (!now.running) {
        fprintf(stderr, "realta-cuda-emulator: %s\n", message.c_str());
        abort();
    }
    outcome.fault = fault;
    outcome.message = message;
    outcome.where = where;
#if defined(EMU_ADDRESS) || defined(EMU_THREAD)
    // Sanitizers do not follow jumps from one stack to another.
    fprintf(stderr, "realta-cuda-emulator: kernel %s, block %s, thread %s: %s\n",
            launch->name.c_str(), shown(emu_here.block).c_str(), shown(emu_here.thread).c_str(),
            message.c_str());
    _exit(fault_exit_code);
#endif
    siglongjmp(broken, 2);
}

Outcome run(const Launch &wanted) {
    prepare(wanted);
    THREAD_SANITIZER(
        main_sanitizer = __tsan_get_current_fiber();
        if (wanted.blocks_unordered && now.shared_begin) AnnotateBenignRaceSized(
            __FILE__, __LINE__, now.shared_begin, now.shared_end - now.shared_begin, "shared");)
    ADDRESS_SANITIZER(if (0)) THREAD_SANITIZER(if (0)) watch_signals();
    now.running = true;
    const int reason = sigsetjmp(broken, 0);
    if (!reason)
        run_blocks();
    else if (reason == 1)
        explain_signal();
    now.running = false;
    ADDRESS_SANITIZER(if (0)) THREAD_SANITIZER(if (0)) leave_signals();
    if (outcome.fault != Fault::none) {
        // Fibers that wait are not resumed; their stacks are used again.
        fibers_made = unused_count = 0;
        outcome.message = "kernel " + wanted.name + ", block " + shown(emu_here.block) +
                          ", thread " + shown(emu_here.thread) + ": " + outcome.message;
    }
    THREAD_SANITIZER(__tsan_acquire(&launch_object); for (void *fiber : used_sanitizers)
                         __tsan_destroy_fiber(fiber);
                     used_sanitizers.clear();)
    return outcome;
}

}  // namespace emu

// -- what kernels call -----------------------------------------------------------------------------

#define KERNEL_CALL extern "C" __attribute__((visibility("default")))

using namespace emu;

static void barrier(int line) {
    threads[current].state = at_barrier;
    threads[current].line = line;
    THREAD_SANITIZER(char *object = &barrier_objects[now.interval & 1]; __tsan_release(object);)
    if (++arrived == live) release_barrier();
    wait_here();
    THREAD_SANITIZER(__tsan_acquire(object);)
}

KERNEL_CALL void emu_barrier(int line) { barrier(line); }

KERNEL_CALL unsigned emu_barrier_count(int predicate, int line) {
    predicate_count += predicate ? 1 : 0;
    barrier(line);
    return predicate_result;
}

KERNEL_CALL uint64_t emu_shuffle(unsigned mask, uint64_t value, int source, int line) {
    meet(mask, {value, 0, nullptr, nullptr, source}, line, false);
    return warps[current >> 5].lanes[current & 31].result;
}

KERNEL_CALL void emu_exchange(unsigned mask, uint64_t value, uint64_t *all, unsigned *present,
                              int line) {
    meet(mask, {value, 0, all, present, -1}, line, false);
}

KERNEL_CALL void emu_sync_warp(unsigned mask, int line) {
    meet(mask, {0, 0, nullptr, nullptr, -1}, line, true);
}

KERNEL_CALL void *emu_dynamic_shared(void) {
    if (!now.dynamic_begin)
        fail(Fault::launch, "the kernel has `extern __shared__` memory but is launched without");
    return now.dynamic_begin;
}

KERNEL_CALL void emu_trap(const char *what, int line) {
    fail(Fault::assertion, std::string(what) + " at line " + std::to_string(line));
}

KERNEL_CALL void emu_misaligned(const void *address, unsigned bytes, int line) {
    char text[160];
    snprintf(text, sizeof text, "line %d says that %p is aligned to %u bytes, which it is not", line,
             address, bytes);
    fail(Fault::misaligned, text);
}
