// Names of the stand-in driver: what a program finds in it, and how tests steer it.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unordered_map>

#include "driver.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace emu {
// Written by building.py from cuda.h: a function for each name, which says that it is missing.
extern const Entry missing_entries[];

namespace {

const std::unordered_map<std::string, void *> &entries() {
    static const auto *found = [] {
        auto *made = new std::unordered_map<std::string, void *>;
        for (const auto &part : {device_entries(), stream_entries(), memory_entries(),
                                 module_entries(), graph_entries()})
            for (const Entry &entry : part) (*made)[entry.name] = entry.function;
        for (const Entry *entry = missing_entries; entry->name; ++entry)
            made->insert({entry->name, entry->function});
        return made;
    }();
    return *found;
}

CUresult look_up(const char *name, void **function);

// Functions have the form that the newest version asked for gives them. Where an older form has
// fewer arguments it can be the same function, but for this one.
const char *in_version(const char *name, int version) {
    return version >= 12050 && !strcmp(name, "cuStreamGetCtx") ? "cuStreamGetCtx_v2" : name;
}

CUresult get_proc_address(const char *name, void **function, int version, cuuint64_t,
                          CUdriverProcAddressQueryResult *status) {
    const CUresult result = look_up(in_version(name, version), function);
    if (status)
        *status = result ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND : CU_GET_PROC_ADDRESS_SUCCESS;
    return result;
}

CUresult look_up(const char *name, void **function) {
    std::string plain = name;
    auto exact = entries().find(plain);
    if (exact != entries().end()) {
        *function = exact->second;
        return CUDA_SUCCESS;
    }
    const size_t suffix = plain.find("_v", plain.size() < 4 ? 0 : plain.size() - 4);
    if (suffix != std::string::npos) plain.resize(suffix);
    *function = nullptr;
    if (plain == "cuGetProcAddress") {
        *function = (void *)get_proc_address;
        return CUDA_SUCCESS;
    }
    auto found = entries().find(plain);
    if (found == entries().end()) return CUDA_ERROR_NOT_FOUND;
    *function = found->second;
    return CUDA_SUCCESS;
}

template <class F, class... A> CUresult call(const char *name, A... a) {
    void *function;
    const CUresult result = look_up(name, &function);
    return result ? result : ((F)function)(a...);
}

}  // namespace
}  // namespace emu

using namespace emu;

#undef cuGetProcAddress
EXPORT CUresult cuGetProcAddress_v2(const char *name, void **function, int version,
                                    cuuint64_t flags, CUdriverProcAddressQueryResult *status) {
    return get_proc_address(name, function, version, flags, status);
}
EXPORT CUresult cuGetProcAddress(const char *name, void **function, int version,
                                 cuuint64_t flags) {
    return get_proc_address(name, function, version, flags, nullptr);
}
EXPORT CUresult cuInit(unsigned flags) { return call<decltype(&cuInit)>("cuInit", flags); }
EXPORT CUresult cuDriverGetVersion(int *version) {
    return call<decltype(&cuDriverGetVersion)>("cuDriverGetVersion", version);
}
EXPORT CUresult cuDeviceGetCount(int *count) {
    return call<decltype(&cuDeviceGetCount)>("cuDeviceGetCount", count);
}
EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    return call<decltype(&cuDeviceGet)>("cuDeviceGet", device, ordinal);
}
EXPORT CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
    return call<decltype(&cuDeviceGetName)>("cuDeviceGetName", name, size, device);
}
EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    return call<decltype(&cuDeviceGetAttribute)>("cuDeviceGetAttribute", value, attribute, device);
}
// NVRTC asks for a table of its own and calls through null where the name is missing.
EXPORT CUresult cuGetExportTable(const void **table, const CUuuid *) {
    *table = nullptr;
    return CUDA_ERROR_NOT_FOUND;
}

// -- how tests steer it ----------------------------------------------------------------------------

EXPORT int realta_emulator_configure(const char *name, long long value) {
    std::lock_guard<std::recursive_mutex> held(mutex);
    const std::string key = name;
    if (key == "lazy") {
        synchronize_all();
        settings.lazy = value != 0;
    } else if (key == "skip") {
        settings.skip = value != 0;
    } else if (key == "order") {
        settings.order.kind = value == 0   ? Order::forward
                              : value == 1 ? Order::reversed
                                           : Order::seeded;
        settings.order.seed = (uint64_t)value;
    } else if (key == "fail_launch") {
        settings.fail_launch = value;
    } else if (key == "memory_limit") {
        memory_use.limit = (size_t)value;
    } else if (key == "memory_total") {
        memory_use.limit = settings.memory_total = (size_t)value;
    } else if (key == "devices") {
        settings.devices = (int)value;
    } else if (key == "architecture") {
        settings.major = (int)value / 10;
        settings.minor = (int)value % 10;
    } else {
        return 1;
    }
    return 0;
}

EXPORT void realta_emulator_record(const char *folder) {
    std::lock_guard<std::recursive_mutex> held(mutex);
    record_folder = folder;
}

EXPORT long long realta_emulator_statistic(const char *name) {
    std::lock_guard<std::recursive_mutex> held(mutex);
    const std::string key = name;
    if (key == "launches") return (long long)counters.launches;
    if (key == "graph_launches") return (long long)counters.graph_launches;
    if (key == "copies") return (long long)counters.copies;
    if (key == "synchronizations") return (long long)counters.synchronizations;
    if (key == "allocations") return (long long)memory_use.allocations;
    if (key == "live_bytes") return (long long)memory_use.live;
    if (key == "peak_bytes") return (long long)memory_use.peak;
    return -1;
}

EXPORT const char *realta_emulator_message(void) { return last_message.c_str(); }

EXPORT void realta_emulator_reset(void) {
    std::lock_guard<std::recursive_mutex> held(mutex);
    sticky = CUDA_SUCCESS;
    last_message.clear();
    settings.fail_launch = 0;
    memory_use.limit = settings.memory_total;
    forget_streams();
}
