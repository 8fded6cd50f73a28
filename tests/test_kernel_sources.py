"""The page of kernel sources is what the generator writes, in both languages."""

from tools import gen_kernels
from tools.kernel_patterns import PATTERNS


def test_the_page_is_what_is_generated():
    assert gen_kernels.PAGE.read_text(encoding="utf-8") == gen_kernels.page()


def test_there_are_ten_patterns_in_two_languages():
    text = gen_kernels.page()
    assert len(PATTERNS) == 10
    assert text.count("```c\n") == text.count("```cpp\n") == 10
    assert text.count("__kernel ") == text.count('extern "C" __global__ void')
