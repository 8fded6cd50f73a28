// Driver: what the parts of the stand-in driver library share.
#pragma once

#include <cuda.h>

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "memory.h"
#include "runtime.h"

namespace emu {

using Work = std::function<CUresult()>;

struct Graph {
    std::vector<Work> work;
    std::vector<std::function<void()>> owned;  // what to call when it goes
    int launches = 0;                          // nodes that are kernels
};

// A queue of work. Lazy streams run it only where something waits for it.
struct Stream {
    Stream(unsigned long long id, bool blocking) : id(id), blocking(blocking) {}
    unsigned long long id;
    bool blocking;  // takes part in what the legacy stream orders
    std::deque<Work> queue;
    uint64_t issued = 0, completed = 0;
    Graph *capture = nullptr;
    bool origin = false;  // where the capture began
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    int device = 0;
};

struct Event {
    Stream *stream = nullptr;
    uint64_t position = 0;
    Graph *capture = nullptr;
    bool timed = true;
    double milliseconds = 0;
};

struct Library {
    void *handle = nullptr;
    std::string image;
    const emu_image *info = nullptr;
    std::vector<Variable> variables;  // in shared memory
    std::map<std::string, struct Kernel *> kernels;
    uintptr_t base = 0;
    bool checked = false;  // its accesses are
};

struct Kernel {
    Library *library;
    std::string name;
    const emu_kernel *entry;
    size_t shared_bytes;
    int dynamic_shared_limit = 48 * 1024;
};

// What a launch was given, with a copy of the values of its arguments.
struct Given {
    Kernel *kernel;
    emu_uint3 grid, block;
    unsigned dynamic_shared;
    std::vector<uint64_t> values;
    std::vector<size_t> places;  // where in the values each argument begins
};

struct Settings {
    bool lazy = false;       // streams wait until somebody waits for them
    bool skip = false;       // launches do nothing, for measurements of what calls them
    Order order;
    long long fail_launch = 0;  // how many launches from now the one that fails is; 0 is never
    int devices = 1, major = 9, minor = 0;
    size_t memory_total = (size_t)16 << 30;
};

struct Counters {
    unsigned long long launches, graph_launches, copies, synchronizations;
};

extern Settings settings;
extern Counters counters;
// What has a destructor is never destroyed: other libraries call this one even later.
extern std::recursive_mutex &mutex;
extern CUresult sticky;           // the error that ended the context
extern std::string &last_message;  // what the emulator says of it
extern Stream &legacy;
extern thread_local int current_device;  // -1: no context is current

// The stream of a handle; 0, 1 and 2 are the default ones.
Stream &stream_of(CUstream handle);
// Runs a piece of work on a stream: now, when somebody waits, or whenever a captured graph runs.
CUresult enqueue(Stream &stream, Work work);
// Runs what was enqueued before a position.
CUresult advance(Stream &stream, uint64_t position);
CUresult synchronize(Stream &stream);
CUresult synchronize_all();
// Ends the context with an error and says why on standard error.
CUresult poison(CUresult result, const std::string &message);
bool capturing();
// Writes a launch into a file for a runner, if a folder for that is set (driver_record.cpp).
void record(const Given &given);
extern std::string &record_folder;
void leave_capture(const Graph *graph);  // takes all streams out of it
void forget_streams();

// A function of the driver under its name in cuda.h, with the type that it has there.
struct Entry {
    const char *name;
    void *function;
};
std::vector<Entry> device_entries(), stream_entries(), memory_entries(), module_entries(),
    graph_entries();

template <auto F> struct Guarded;
template <class... A, CUresult (*F)(A...)> struct Guarded<F> {
    // Fails once an error has ended the context, as all of a real driver's functions do.
    static CUresult strictly(A... a) {
        std::lock_guard<std::recursive_mutex> held(mutex);
        if (sticky) return sticky;
        return F(a...);
    }
    static CUresult always(A... a) {
        std::lock_guard<std::recursive_mutex> held(mutex);
        return F(a...);
    }
};

#define EMU_ENTRY(text, function, declared, how) \
    Entry { \
        [] { \
            static_assert(std::is_same<decltype(&function), decltype(&declared)>::value, \
                          "not the type of cuda.h"); \
            return text; \
        }(), \
            (void *)&Guarded<&function>::how \
    }
#define STRICT(name) EMU_ENTRY(#name, do_##name, name, strictly)
#define ALWAYS(name) EMU_ENTRY(#name, do_##name, name, always)

}  // namespace emu
