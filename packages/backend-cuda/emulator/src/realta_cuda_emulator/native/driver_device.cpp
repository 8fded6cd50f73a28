// Devices, contexts and errors of the stand-in driver.

#include <stdio.h>
#include <string.h>

#include "driver.h"

namespace emu {

Settings settings;
Counters counters;
std::recursive_mutex &mutex = *new std::recursive_mutex;
CUresult sticky;
std::string &last_message = *new std::string;
thread_local int current_device = -1;

CUresult poison(CUresult result, const std::string &message) {
    if (sticky) return sticky;
    sticky = result;
    last_message = message;
    fprintf(stderr, "realta-cuda-emulator: %s\n", message.c_str());
    return result;
}

namespace {

thread_local std::vector<int> pushed;

CUcontext context_of(int device) { return (CUcontext)(uintptr_t)(0x1000 + 16 * (device + 1)); }
int device_of(CUcontext context) {
    return context ? (int)(((uintptr_t)context - 0x1000) / 16) - 1 : -1;
}
bool valid(CUdevice device) { return device >= 0 && device < settings.devices; }

CUresult do_cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult do_cuDriverGetVersion(int *version) {
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}
CUresult do_cuDeviceGetCount(int *count) {
    *count = settings.devices;
    return CUDA_SUCCESS;
}
CUresult do_cuDeviceGet(CUdevice *device, int ordinal) {
    if (!valid(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}
CUresult do_cuDeviceGetName(char *name, int size, CUdevice device) {
    if (!valid(device)) return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)size, "emulated sm_%d%d", settings.major, settings.minor);
    return CUDA_SUCCESS;
}
CUresult do_cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    if (!valid(device)) return CUDA_ERROR_INVALID_DEVICE;
    memset(uuid, 7 + device, sizeof *uuid);
    return CUDA_SUCCESS;
}
CUresult do_cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    if (!valid(device)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = settings.memory_total;
    return CUDA_SUCCESS;
}
CUresult do_cuDeviceGetPCIBusId(char *text, int size, CUdevice device) {
    if (!valid(device)) return CUDA_ERROR_INVALID_DEVICE;
    snprintf(text, (size_t)size, "0000:%02x:00.0", device + 1);
    return CUDA_SUCCESS;
}

// Those of an H100, as far as anything here asks for them.
CUresult do_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    if (!valid(device)) return CUDA_ERROR_INVALID_DEVICE;
    switch (attribute) {
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = settings.major; break;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = settings.minor; break;
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: *value = (int)most_threads; break;
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: *value = 64; break;
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *value = 0x7fffffff; break;
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: *value = 65535; break;
        case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = (int)warp_size; break;
        case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 132; break;
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: *value = 2048; break;
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: *value = 32; break;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = 48 * 1024; break;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 227 * 1024; break;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: *value = 228 * 1024; break;
        case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: *value = 1024; break;
        case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: *value = 64 * 1024; break;
        case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
        case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: *value = 65536; break;
        case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: *value = 1980000; break;
        case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: *value = 2619000; break;
        case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: *value = 5120; break;
        case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = 50 << 20; break;
        case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: *value = device + 1; break;
        case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: *value = 3; break;
        case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
        case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
        case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
        case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
        case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED: *value = 1; break;
        default: *value = 0;
    }
    return CUDA_SUCCESS;
}

CUresult do_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    if (!valid(device)) return CUDA_ERROR_INVALID_DEVICE;
    *context = context_of(device);
    return CUDA_SUCCESS;
}
CUresult do_cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }
CUresult do_cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    if (!valid(device)) return CUDA_ERROR_INVALID_DEVICE;
    *flags = 0;
    *active = 1;
    return CUDA_SUCCESS;
}
CUresult do_cuCtxSetCurrent(CUcontext context) {
    current_device = device_of(context);
    return CUDA_SUCCESS;
}
CUresult do_cuCtxGetCurrent(CUcontext *context) {
    *context = current_device < 0 ? nullptr : context_of(current_device);
    return CUDA_SUCCESS;
}
CUresult do_cuCtxPushCurrent(CUcontext context) {
    pushed.push_back(current_device);
    current_device = device_of(context);
    return CUDA_SUCCESS;
}
CUresult do_cuCtxPopCurrent(CUcontext *context) {
    if (context) do_cuCtxGetCurrent(context);
    current_device = pushed.empty() ? -1 : pushed.back();
    if (!pushed.empty()) pushed.pop_back();
    return CUDA_SUCCESS;
}
CUresult do_cuCtxGetDevice(CUdevice *device) {
    if (current_device < 0) return CUDA_ERROR_INVALID_CONTEXT;
    *device = current_device;
    return CUDA_SUCCESS;
}
CUresult do_cuCtxGetId(CUcontext context, unsigned long long *id) {
    *id = (unsigned long long)(context ? device_of(context) : current_device) + 1;
    return CUDA_SUCCESS;
}
CUresult do_cuCtxGetFlags(unsigned *flags) {
    *flags = 0;
    return CUDA_SUCCESS;
}
CUresult do_cuCtxSynchronize() {
    counters.synchronizations++;
    return capturing() ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : synchronize_all();
}
CUresult do_cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return CUDA_SUCCESS;
}
CUresult do_cuDeviceCanAccessPeer(int *can, CUdevice, CUdevice) {
    *can = 0;
    return CUDA_SUCCESS;
}

struct ErrorText {
    CUresult result;
    const char *name, *text;
};
#define ERROR_TEXT(name, text) {name, #name, text}
const ErrorText error_texts[] = {
    ERROR_TEXT(CUDA_SUCCESS, "no error"),
    ERROR_TEXT(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    ERROR_TEXT(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    ERROR_TEXT(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    ERROR_TEXT(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    ERROR_TEXT(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    ERROR_TEXT(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution"),
    ERROR_TEXT(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    ERROR_TEXT(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    ERROR_TEXT(CUDA_ERROR_NOT_READY, "device not ready"),
    ERROR_TEXT(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    ERROR_TEXT(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    ERROR_TEXT(CUDA_ERROR_ASSERT, "device-side assert triggered"),
    ERROR_TEXT(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    ERROR_TEXT(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    ERROR_TEXT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
               "operation not permitted when stream is capturing"),
    ERROR_TEXT(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
               "capturing stream has unjoined work"),
};

const ErrorText *find_text(CUresult result) {
    for (const ErrorText &entry : error_texts)
        if (entry.result == result) return &entry;
    return nullptr;
}

CUresult do_cuGetErrorName(CUresult result, const char **name) {
    const ErrorText *found = find_text(result);
    *name = found ? found->name : "CUDA_ERROR_UNKNOWN";
    return CUDA_SUCCESS;
}
CUresult do_cuGetErrorString(CUresult result, const char **text) {
    const ErrorText *found = find_text(result);
    *text = found ? found->text : "unknown error";
    return CUDA_SUCCESS;
}

}  // namespace

std::vector<Entry> device_entries() {
    return {ALWAYS(cuInit), ALWAYS(cuDriverGetVersion), ALWAYS(cuDeviceGetCount),
            ALWAYS(cuDeviceGet), ALWAYS(cuDeviceGetName), ALWAYS(cuDeviceGetUuid),
            ALWAYS(cuDeviceTotalMem), ALWAYS(cuDeviceGetPCIBusId), ALWAYS(cuDeviceGetAttribute),
            ALWAYS(cuDevicePrimaryCtxRetain), ALWAYS(cuDevicePrimaryCtxRelease),
            ALWAYS(cuDevicePrimaryCtxGetState), ALWAYS(cuCtxSetCurrent),
            ALWAYS(cuCtxGetCurrent), ALWAYS(cuCtxPushCurrent), ALWAYS(cuCtxPopCurrent),
            ALWAYS(cuCtxGetDevice), ALWAYS(cuCtxGetId), ALWAYS(cuCtxGetFlags),
            STRICT(cuCtxSynchronize), ALWAYS(cuCtxGetStreamPriorityRange),
            ALWAYS(cuDeviceCanAccessPeer), ALWAYS(cuGetErrorName), ALWAYS(cuGetErrorString)};
}

}  // namespace emu
