"""The Python package `vulkan` (cffi bindings): one dispatch of square.spv, its result checked."""

import struct

from square import Square

COUNT = 1000

program = Square(COUNT)
print("device:", program.name)
program.mapped[:] = struct.pack(f"{COUNT}I", *range(COUNT))
program.submit()
program.wait()
result = struct.unpack(f"{COUNT}I", bytes(program.mapped))
assert result == tuple(i * i + 1 for i in range(COUNT)), result[:8]
print("first results:", *result[:6])
program.close()
print("python vulkan: ok")
