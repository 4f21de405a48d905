"""Writes into mapped memory from Python and from code that is compiled while it runs.

usage: host_access.py numpy|ctypes|numba right|wrong

The right program waits before it writes the words of the next dispatch; the wrong one writes while the device
still works on them.
"""

import ctypes
import sys

import numpy

from square import Square

COUNT = 4096
way, kind = sys.argv[1:]


def fill(words, first):
    for i in range(len(words)):
        words[i] = first + i


if way == "numba":
    import numba

    fill = numba.njit("void(uint32[::1], uint32)")(fill)

program = Square(COUNT)
if way == "ctypes":
    words = (ctypes.c_uint32 * COUNT).from_buffer(program.mapped)
else:
    words = numpy.frombuffer(program.mapped, dtype=numpy.uint32)


def write(first):
    if way == "numpy":
        words[:] = numpy.arange(first, first + COUNT, dtype=numpy.uint32)
    else:
        fill(words, first)


write(0)
program.submit()
if kind == "wrong":
    write(7)
    program.wait()
else:
    program.wait()
    assert words[9] == 9 * 9 + 1, words[9]
    write(7)
program.submit()
program.wait()
if kind == "right":
    assert words[9] == 16 * 16 + 1, words[9]
program.close()
print(f"host access by {way}, {kind}: ok")
