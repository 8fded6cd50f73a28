"""The runtime: buffers, pools, programs and their runs, fallback, wrappers, the profiler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from realta.on_demand import on_demand
from realta.runtime.resolver import set_device_resolver
from realta.runtime.spec import SPEC
from realta.runtime.storage import Storage, poisoned_storage, references, uniquely_held

if TYPE_CHECKING:
    from realta.runtime.bounds import bounds_error
    from realta.runtime.cache import CacheStats, ExecutableCache
    from realta.runtime.compiling import (
        by_core,
        compile_program,
        graph_device,
        normal_form,
        program_for,
        run_graph,
        run_program,
    )
    from realta.runtime.contract import (
        EMPTY,
        Backend,
        Capabilities,
        DeviceInfo,
        Executable,
        Handle,
        KernelReport,
        Limits,
        Numerics,
        Options,
        Refusal,
        Session,
        Unavailable,
    )
    from realta.runtime.custom import CustomFunction, custom_function, register_custom
    from realta.runtime.device import (
        OpenDevice,
        add_pass,
        memory_stats,
        open_devices,
        resolve_device,
        synchronize,
    )
    from realta.runtime.fallback import (
        FallbackWarning,
        Policy,
        fallback_policy,
        set_fallback_policy,
    )
    from realta.runtime.hooks import (
        CompileEvent,
        ExecuteEvent,
        add_compile_wrapper,
        add_execute_wrapper,
        execute_wrappers,
        remove_wrapper,
    )
    from realta.runtime.host import array_from_bytes, as_bytes, empty_array, writable_bytes
    from realta.runtime.host_blas import one_thread
    from realta.runtime.host_contraction import contract_arrays, contraction_tiles, matrix_product
    from realta.runtime.host_memory import allocate_block
    from realta.runtime.host_workers import Workers, workers
    from realta.runtime.kernel_cache import (
        CacheInfo,
        KernelCache,
        cache_directory,
        cache_enabled,
        shared_kernel_cache,
    )
    from realta.runtime.launch import Launch, raise_again
    from realta.runtime.open_program import OpenProgram
    from realta.runtime.places import Places
    from realta.runtime.planning import plan_for
    from realta.runtime.pool import Block, MemoryStats, Pool, size_class
    from realta.runtime.profiler import KernelTime, Profile, RunRecord, profile
    from realta.runtime.program import Program
    from realta.runtime.steps import Fallback
    from realta.runtime.support import data_dtype, refusal
    from realta.runtime.threads import num_threads, on_thread_count, set_num_threads
    from realta.runtime.units import format_bytes, parse_bytes

__all__ = [
    "EMPTY",
    "SPEC",
    "Backend",
    "Block",
    "CacheInfo",
    "CacheStats",
    "Capabilities",
    "CompileEvent",
    "CustomFunction",
    "DeviceInfo",
    "Executable",
    "ExecutableCache",
    "ExecuteEvent",
    "Fallback",
    "FallbackWarning",
    "Handle",
    "KernelCache",
    "KernelReport",
    "KernelTime",
    "Launch",
    "Limits",
    "MemoryStats",
    "Numerics",
    "OpenDevice",
    "OpenProgram",
    "Options",
    "Places",
    "Policy",
    "Pool",
    "Profile",
    "Program",
    "Refusal",
    "RunRecord",
    "Session",
    "Storage",
    "Unavailable",
    "Workers",
    "add_compile_wrapper",
    "add_execute_wrapper",
    "add_pass",
    "allocate_block",
    "array_from_bytes",
    "as_bytes",
    "bounds_error",
    "by_core",
    "cache_directory",
    "cache_enabled",
    "compile_program",
    "contract_arrays",
    "contraction_tiles",
    "custom_function",
    "data_dtype",
    "empty_array",
    "execute_wrappers",
    "fallback_policy",
    "format_bytes",
    "graph_device",
    "matrix_product",
    "memory_stats",
    "normal_form",
    "num_threads",
    "on_thread_count",
    "one_thread",
    "open_devices",
    "parse_bytes",
    "plan_for",
    "poisoned_storage",
    "profile",
    "program_for",
    "raise_again",
    "references",
    "refusal",
    "register_custom",
    "remove_wrapper",
    "resolve_device",
    "run_graph",
    "run_program",
    "set_device_resolver",
    "set_fallback_policy",
    "set_num_threads",
    "shared_kernel_cache",
    "size_class",
    "synchronize",
    "uniquely_held",
    "workers",
    "writable_bytes",
]

__getattr__ = on_demand(
    __name__,
    {
        "bounds": ("bounds_error",),
        "cache": (
            "CacheStats",
            "ExecutableCache",
        ),
        "open_program": ("OpenProgram",),
        "compiling": (
            "by_core",
            "compile_program",
            "graph_device",
            "normal_form",
            "program_for",
            "run_graph",
            "run_program",
        ),
        "contract": (
            "EMPTY",
            "Backend",
            "Capabilities",
            "DeviceInfo",
            "Executable",
            "Handle",
            "KernelReport",
            "Limits",
            "Numerics",
            "Options",
            "Refusal",
            "Session",
            "Unavailable",
        ),
        "custom": (
            "CustomFunction",
            "custom_function",
            "register_custom",
        ),
        "device": (
            "OpenDevice",
            "add_pass",
            "memory_stats",
            "open_devices",
            "resolve_device",
            "synchronize",
        ),
        "fallback": (
            "FallbackWarning",
            "Policy",
            "fallback_policy",
            "set_fallback_policy",
        ),
        "hooks": (
            "CompileEvent",
            "ExecuteEvent",
            "add_compile_wrapper",
            "add_execute_wrapper",
            "execute_wrappers",
            "remove_wrapper",
        ),
        "host": (
            "array_from_bytes",
            "as_bytes",
            "empty_array",
            "writable_bytes",
        ),
        "host_blas": ("one_thread",),
        "host_contraction": (
            "contract_arrays",
            "contraction_tiles",
            "matrix_product",
        ),
        "host_memory": ("allocate_block",),
        "host_workers": (
            "Workers",
            "workers",
        ),
        "kernel_cache": (
            "CacheInfo",
            "KernelCache",
            "cache_directory",
            "cache_enabled",
            "shared_kernel_cache",
        ),
        "launch": (
            "Launch",
            "raise_again",
        ),
        "places": ("Places",),
        "planning": ("plan_for",),
        "pool": (
            "Block",
            "MemoryStats",
            "Pool",
            "size_class",
        ),
        "profiler": (
            "KernelTime",
            "Profile",
            "RunRecord",
            "profile",
        ),
        "program": ("Program",),
        "steps": ("Fallback",),
        "support": (
            "data_dtype",
            "refusal",
        ),
        "threads": (
            "num_threads",
            "on_thread_count",
            "set_num_threads",
        ),
        "units": (
            "format_bytes",
            "parse_bytes",
        ),
    },
)
