"""Dense kernels: loops over all elements of a shape, for ops with index maps of their own."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from realta.codegen.ir import Expr
from realta.codegen.lower_frame import Frame, IndexMap, Place, make_frame
from realta.codegen.lower_loops import At, ElementLoops, element_loops, write_element_loops
from realta.codegen.lower_members import zero
from realta.codegen.lowered import Argument, Launch, Temporary
from realta.codegen.profile import DeviceProfile
from realta.codegen.writer import KernelWriter
from realta.fusion import Group

__all__ = ["DenseKernel", "copy_launch"]


class DenseKernel:
    """A kernel that visits every element of a shape.

    Args:
        shape: the loops; no extent is 0.
        maps: where all that is read and written lies along them.
        profile: the device.

    Attributes:
        writer: for arguments.
        frame: the loops, merged.
    """

    def __init__(
        self, shape: tuple[int, ...], maps: Mapping[Hashable, IndexMap], profile: DeviceProfile
    ) -> None:
        # Only a shape is asked of the group: its ops are none that a group of another kind holds.
        around = Group("movement", (), (), (), None, shape, (), {})
        self.frame: Frame = make_frame(around, maps)
        self.profile = profile
        self.loops: ElementLoops = element_loops(self.frame, profile)
        self.writer = KernelWriter(self.loops.groups, profile.lanes)

    def place(self, key: Hashable) -> Place:
        """Where something lies."""
        return self.frame.places[key]

    def is_steady(self, key: Hashable) -> bool:
        """Whether it is the same all along the inner loop."""
        strides = self.place(key).strides
        outer = len(self.frame.kept) - 1 if self.loops.rows > 1 else 0
        return strides is not None and not any(strides[outer:])

    def write(self, before: Callable[[At], None], emit: Callable[[At, Expr | None], None]) -> None:
        """Writes the loops; see `write_element_loops`."""
        write_element_loops(self.writer, self.frame, self.loops, self.profile, before, emit)


def copy_launch(source: Argument, target: Argument, profile: DeviceProfile) -> Launch:
    """Copies all elements, cast where the types differ."""
    size = source.size if isinstance(source, Temporary) else int(source.type.size)
    kernel = DenseKernel((size,), {"element": lambda full: full[0]}, profile)
    read = kernel.writer.argument(source, "input", "source")
    write = kernel.writer.argument(target, "output", "target")

    def emit(at: At, where: Expr | None) -> None:
        index = at(kernel.place("element"))
        default = None if where is None else zero(read.dtype)
        value = kernel.writer.load(read, index, where, default)
        kernel.writer.store(write, index, value, where)

    kernel.write(lambda at: None, emit)
    return kernel.writer.launch("copy")
