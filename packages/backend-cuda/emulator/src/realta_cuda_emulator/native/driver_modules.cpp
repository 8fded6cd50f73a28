// Images, kernels and launches of the stand-in driver.
//
// An image is a shared object of the host (see compiling.py); a real cubin is refused, as one for
// another architecture would be.

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <memory>

#include "driver.h"

namespace emu {
namespace {

size_t image_size(const char *image) {
    const auto *header = (const Elf64_Ehdr *)image;
    return header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
}

std::string temporary_file(const std::string &image) {
    const char *folder = getenv("TMPDIR");
    std::string path = std::string(folder && *folder ? folder : "/tmp") + "/realta-cuda-XXXXXX";
    const int file = mkstemp(path.data());
    if (file < 0) return "";
    const bool written = write(file, image.data(), image.size()) == (ssize_t)image.size();
    close(file);
    if (!written) unlink(path.c_str());
    return written ? path : "";
}

// Where the local variables of kernels are that are in shared memory, from the symbol table.
void read_variables(Library &library) {
    const char *image = library.image.data();
    const auto *header = (const Elf64_Ehdr *)image;
    const auto *sections = (const Elf64_Shdr *)(image + header->e_shoff);
    for (int n = 0; n < header->e_shnum; ++n) {
        if (sections[n].sh_type != SHT_SYMTAB) continue;
        const auto *symbols = (const Elf64_Sym *)(image + sections[n].sh_offset);
        const char *names = image + sections[sections[n].sh_link].sh_offset;
        for (size_t s = 0; s < sections[n].sh_size / sizeof(Elf64_Sym); ++s) {
            const uintptr_t at = library.base + symbols[s].st_value;
            if (ELF64_ST_TYPE(symbols[s].st_info) != STT_OBJECT || !symbols[s].st_size ||
                at < (uintptr_t)library.info->shared_begin ||
                at >= (uintptr_t)library.info->shared_end)
                continue;
            library.variables.push_back({names + symbols[s].st_name, at, symbols[s].st_size});
        }
    }
}

// `_ZZ4rowsE7blocks0` is the variable `blocks0` of the kernel `rows`.
bool local_to(const std::string &symbol, const std::string &kernel, std::string *name) {
    const std::string prefix = "_ZZ" + std::to_string(kernel.size()) + kernel + "E";
    if (symbol.compare(0, prefix.size(), prefix)) return false;
    char *end;
    const unsigned long length = strtoul(symbol.c_str() + prefix.size(), &end, 10);
    *name = std::string(end).substr(0, length);
    return true;
}

CUresult load(Library &library, const void *image) {
    const auto *header = (const Elf64_Ehdr *)image;
    constexpr int cuda_machine = 190;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_machine == cuda_machine) {
        last_message = "a kernel is loaded that is not compiled for the emulator";
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    library.image.assign((const char *)image, image_size((const char *)image));
    const std::string path = temporary_file(library.image);
    if (path.empty()) return CUDA_ERROR_OUT_OF_MEMORY;
    library.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    unlink(path.c_str());
    if (!library.handle) {
        last_message = dlerror();
        fprintf(stderr, "realta-cuda-emulator: %s\n", last_message.c_str());
        return CUDA_ERROR_INVALID_IMAGE;
    }
    library.info = (const emu_image *)dlsym(library.handle, "emu_image_info");
    if (!library.info) return CUDA_ERROR_INVALID_IMAGE;
    link_map *map;
    dlinfo(library.handle, RTLD_DI_LINKMAP, &map);
    library.base = map->l_addr;
    library.checked = library.info->checked != 0;
    keep_cells = keep_cells || library.checked;
    read_variables(library);
    return CUDA_SUCCESS;
}

CUresult open(Library **library, const void *image) {
    auto made = std::make_unique<Library>();
    const CUresult result = load(*made, image);
    if (!result) *library = made.release();
    return result;
}

void close(Library *library) {
    for (auto &[name, kernel] : library->kernels) delete kernel;
    dlclose(library->handle);
    delete library;
}

CUresult kernel_of(Kernel **kernel, Library *library, const char *name) {
    auto known = library->kernels.find(name);
    if (known != library->kernels.end()) {
        *kernel = known->second;
        return CUDA_SUCCESS;
    }
    const auto *entry =
        (const emu_kernel *)dlsym(library->handle, (std::string(name) + "__emu").c_str());
    if (!entry) return CUDA_ERROR_NOT_FOUND;
    auto *made = new Kernel{library, name, entry, 0};
    for (Variable &variable : library->variables) {
        std::string shown;
        if (!local_to(variable.name, name, &shown)) continue;
        made->shared_bytes += variable.size;
        variable.name = shown;
    }
    *kernel = library->kernels[name] = made;
    return CUDA_SUCCESS;
}

CUresult do_cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *, void **,
                              unsigned, CUlibraryOption *, void **, unsigned) {
    return open((Library **)library, image);
}
CUresult do_cuLibraryUnload(CUlibrary library) {
    close((Library *)library);
    return CUDA_SUCCESS;
}
CUresult do_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
    return kernel_of((Kernel **)kernel, (Library *)library, name);
}
CUresult do_cuLibraryGetModule(CUmodule *module, CUlibrary library) {
    *module = (CUmodule)library;
    return CUDA_SUCCESS;
}
CUresult do_cuLibraryGetKernelCount(unsigned *count, CUlibrary library) {
    *count = (unsigned)((Library *)library)->kernels.size();
    return CUDA_SUCCESS;
}
CUresult do_cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
    *function = (CUfunction)kernel;
    return CUDA_SUCCESS;
}
CUresult do_cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) {
    *library = (CUlibrary)((Kernel *)kernel)->library;
    return CUDA_SUCCESS;
}
CUresult do_cuKernelGetName(const char **name, CUkernel kernel) {
    *name = ((Kernel *)kernel)->name.c_str();
    return CUDA_SUCCESS;
}
CUresult do_cuModuleLoadData(CUmodule *module, const void *image) {
    return open((Library **)module, image);
}
CUresult do_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned, CUjit_option *,
                               void **) {
    return open((Library **)module, image);
}
CUresult do_cuModuleUnload(CUmodule module) {
    close((Library *)module);
    return CUDA_SUCCESS;
}
CUresult do_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    return kernel_of((Kernel **)function, (Library *)module, name);
}

CUresult attribute_of(int *value, CUfunction_attribute attribute, const Kernel &kernel) {
    switch (attribute) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            *value = (int)kernel.entry->most_threads;
            break;
        case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)kernel.shared_bytes; break;
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            *value = kernel.dynamic_shared_limit;
            break;
        case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 32; break;
        case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = 10 * settings.major + settings.minor; break;
        default: *value = 0;
    }
    return CUDA_SUCCESS;
}
CUresult set_attribute(CUfunction_attribute attribute, int value, Kernel &kernel) {
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        if (value < 0 || (size_t)value + kernel.shared_bytes > 227 * 1024)
            return CUDA_ERROR_INVALID_VALUE;
        kernel.dynamic_shared_limit = value;
    }
    return CUDA_SUCCESS;
}
CUresult do_cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                                 CUdevice) {
    return attribute_of(value, attribute, *(Kernel *)kernel);
}
CUresult do_cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                 CUdevice) {
    return set_attribute(attribute, value, *(Kernel *)kernel);
}
CUresult do_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    return attribute_of(value, attribute, *(Kernel *)function);
}
CUresult do_cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    return set_attribute(attribute, value, *(Kernel *)function);
}
CUresult do_cuFuncGetModule(CUmodule *module, CUfunction function) {
    *module = (CUmodule)((Kernel *)function)->library;
    return CUDA_SUCCESS;
}
CUresult do_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction, int threads,
                                                        size_t) {
    *blocks = threads > 0 ? 2048 / threads : 0;
    return CUDA_SUCCESS;
}

CUresult do_cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size) {
    const emu_kernel &entry = *((Kernel *)kernel)->entry;
    if (index >= entry.count) return CUDA_ERROR_INVALID_VALUE;
    size_t at = 0;
    for (size_t n = 0; n <= index; ++n) {
        const size_t bytes = entry.sizes[n], alignment = bytes & (~bytes + 1);
        at = (at + alignment - 1) / alignment * alignment;
        if (n == index) {
            *offset = at;
            if (size) *size = bytes;
        }
        at += bytes;
    }
    return CUDA_SUCCESS;
}

// -- launches --------------------------------------------------------------------------------------

std::string line_of(const Library &library, const void *code) {
    if (!code || (uintptr_t)code < library.base) return "";
    const std::string path = temporary_file(library.image);
    char command[300], text[300] = "";
    snprintf(command, sizeof command, "env -u LD_PRELOAD addr2line -e '%s' 0x%zx 2>/dev/null",
             path.c_str(), (size_t)((uintptr_t)code - library.base - 1));
    FILE *found = popen(command, "r");
    if (found) {
        if (!fgets(text, sizeof text, found)) text[0] = 0;
        pclose(found);
    }
    unlink(path.c_str());
    const char *colon = strrchr(text, ':');
    if (!colon || colon[1] < '1' || colon[1] > '9') return "";
    return " (line " + std::to_string(atoi(colon + 1)) + ")";
}

CUresult result_of(Fault fault) {
    switch (fault) {
        case Fault::none: return CUDA_SUCCESS;
        case Fault::address: return CUDA_ERROR_ILLEGAL_ADDRESS;
        case Fault::misaligned: return CUDA_ERROR_MISALIGNED_ADDRESS;
        case Fault::assertion: return CUDA_ERROR_ASSERT;
        case Fault::launch: break;
    }
    return CUDA_ERROR_LAUNCH_FAILED;
}

// Looks at memory that the arguments point to: writes next to it, and, without checks, into it.
CUresult look_around(const Given &given) {
    for (size_t n = 0; n < given.kernel->entry->count; ++n) {
        if (given.kernel->entry->sizes[n] != sizeof(uintptr_t)) continue;
        Allocation *found = find(given.values[given.places[n]]);
        if (!found || found->freed) continue;
        if (!given.kernel->library->checked) found->initialized = true;
        ptrdiff_t where;
        if (guards_intact(*found, &where)) continue;
        restore_guards(*found);
        return poison(CUDA_ERROR_ILLEGAL_ADDRESS,
                      "kernel " + given.kernel->name + " wrote to byte " + std::to_string(where) +
                          " of an allocation of " + std::to_string(found->size) +
                          " bytes (argument " + std::to_string(n) + ")");
    }
    return CUDA_SUCCESS;
}

CUresult execute(Given &given) {
    counters.launches++;
    if (settings.skip) return CUDA_SUCCESS;
    if (settings.fail_launch && --settings.fail_launch == 0)
        return poison(CUDA_ERROR_LAUNCH_FAILED,
                      "kernel " + given.kernel->name + ": this launch was asked to fail");
    if (!record_folder.empty()) record(given);
    // Pointers to the values follow the values.
    const size_t values = given.values.size();
    std::vector<uint64_t> both(values + given.places.size() + 1);
    memcpy(both.data(), given.values.data(), values * 8);
    for (size_t n = 0; n < given.places.size(); ++n)
        both[values + n] = (uint64_t)&both[given.places[n]];
    Launch launch;
    launch.name = given.kernel->name;
    launch.kernel = given.kernel->entry;
    launch.image = given.kernel->library->info;
    launch.grid = given.grid;
    launch.block = given.block;
    launch.dynamic_shared = given.dynamic_shared;
    launch.arguments = (void **)&both[values];
    launch.arguments_begin = (char *)both.data();
    launch.arguments_end = (char *)(both.data() + both.size());
    launch.order = settings.order;
    shared_variables = &given.kernel->library->variables;
    const Outcome outcome = run(launch);
    if (outcome.fault == Fault::none) return look_around(given);
    return poison(result_of(outcome.fault),
                  outcome.message + line_of(*given.kernel->library, outcome.where));
}

CUresult do_cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                           unsigned by, unsigned bz, unsigned dynamic_shared, CUstream stream,
                           void **arguments, void **) {
    auto *kernel = (Kernel *)function;
    const uint64_t threads = (uint64_t)bx * by * bz;
    if (!gx || !gy || !gz || gx > 0x7fffffffu || gy > 65535 || gz > 65535 || !threads ||
        bz > 64 || threads > kernel->entry->most_threads ||
        dynamic_shared > (unsigned)kernel->dynamic_shared_limit ||
        (kernel->dynamic_shared_limit <= 48 * 1024 &&
         kernel->shared_bytes + dynamic_shared > 48 * 1024)) {
        last_message = "kernel " + kernel->name + " cannot be launched with blocks of " +
                       std::to_string(threads) + " threads (it is compiled for at most " +
                       std::to_string(kernel->entry->most_threads) + ") and " +
                       std::to_string(kernel->shared_bytes + dynamic_shared) +
                       " bytes of shared memory";
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (settings.skip && !stream_of(stream).capture) {
        counters.launches++;
        return CUDA_SUCCESS;
    }
    Given given{kernel, {gx, gy, gz}, {bx, by, bz}, dynamic_shared, {}, {}};
    for (unsigned n = 0; n < kernel->entry->count; ++n) {
        const size_t bytes = kernel->entry->sizes[n], at = (given.values.size() + 1) & ~(size_t)1;
        given.places.push_back(at);
        given.values.resize(at + (bytes + 7) / 8);
        memcpy(&given.values[at], arguments[n], bytes);
    }
    if (Graph *graph = stream_of(stream).capture) graph->launches++;
    return enqueue(stream_of(stream), [given]() mutable { return execute(given); });
}

CUresult do_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments,
                             void **extra) {
    return do_cuLaunchKernel(function, config->gridDimX, config->gridDimY, config->gridDimZ,
                             config->blockDimX, config->blockDimY, config->blockDimZ,
                             config->sharedMemBytes, config->hStream, arguments, extra);
}

}  // namespace

std::vector<Entry> module_entries() {
    return {STRICT(cuLibraryLoadData), ALWAYS(cuLibraryUnload), STRICT(cuLibraryGetKernel),
            STRICT(cuLibraryGetModule), STRICT(cuLibraryGetKernelCount),
            STRICT(cuKernelGetFunction), STRICT(cuKernelGetLibrary), STRICT(cuKernelGetName),
            STRICT(cuModuleLoadData), STRICT(cuModuleLoadDataEx), ALWAYS(cuModuleUnload),
            STRICT(cuModuleGetFunction), STRICT(cuKernelGetAttribute),
            STRICT(cuKernelSetAttribute), STRICT(cuFuncGetAttribute), STRICT(cuFuncSetAttribute),
            STRICT(cuFuncGetModule), STRICT(cuOccupancyMaxActiveBlocksPerMultiprocessor),
            STRICT(cuKernelGetParamInfo), STRICT(cuLaunchKernel), STRICT(cuLaunchKernelEx)};
}

}  // namespace emu
