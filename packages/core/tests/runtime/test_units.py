import pytest
from realta.errors import ArgumentError
from realta.runtime import format_bytes, parse_bytes


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (40_000_000, "38.1 MiB"),
        (3 << 40, "3.0 TiB"),
    ],
)
def test_sizes_are_written_with_a_unit(count, text):
    assert format_bytes(count) == text


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1000", 1000),
        ("2GB", 2_000_000_000),
        ("512MiB", 512 << 20),
        ("1.5k", 1500),
        (" 4 gib ", 4 << 30),
    ],
)
def test_sizes_are_read(text, count):
    assert parse_bytes(text, "here") == count


@pytest.mark.parametrize("text", ["", "many", "2XB", "-1", "1 2"])
def test_what_is_no_size_is_refused_with_its_place(text):
    with pytest.raises(ArgumentError, match="is not a size in bytes") as caught:
        parse_bytes(text, "variable REALTA_MEMORY_LIMIT")
    assert caught.value.where == "variable REALTA_MEMORY_LIMIT"
