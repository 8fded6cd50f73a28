"""Plugins: which backends are installed, loading one by name, devices, and the defaults."""

from realta.plugins.backends import (
    BackendEntry,
    backends,
    forget_plugins,
    load_backend,
    probe_backend,
    register_backend,
    unregister_backend,
)
from realta.plugins.defaults import (
    chosen_defaults,
    current_device,
    current_dtype,
    default_device,
    default_dtype,
    defaults,
    defaults_like,
    set_default_device,
    set_default_dtype,
)
from realta.plugins.device import CPU, Accelerator, Device, device_of, devices
from realta.plugins.opening import (
    accelerators,
    close_devices,
    device_info,
    is_host,
    on_device_change,
    open_device,
    resolve_device_name,
)

__all__ = [
    "CPU", "Accelerator", "BackendEntry", "Device", "accelerators", "backends", "chosen_defaults",
    "close_devices", "current_device", "current_dtype", "default_device", "default_dtype",
    "defaults", "defaults_like", "device_info", "device_of", "devices", "forget_plugins", "is_host",
    "load_backend", "on_device_change", "open_device", "probe_backend", "register_backend",
    "resolve_device_name", "set_default_device", "set_default_dtype", "unregister_backend",
]  # fmt: skip
