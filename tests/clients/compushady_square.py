"""One dispatch over 1,000 values through compushady, from HLSL."""

import struct

import compushady
from compushady import HEAP_READBACK, HEAP_UPLOAD, Buffer, Compute
from compushady.shaders import hlsl

device = compushady.get_best_device()
print("adapter:", device.name)
assert device.name.startswith("Pellucid")
shader = hlsl.compile("""
StructuredBuffer<uint> a : register(t0);
RWStructuredBuffer<uint> b : register(u0);

[numthreads(50, 1, 1)]
void main(uint3 id : SV_DispatchThreadID)
{
    b[id.x] = a[id.x] * a[id.x] + 1;
}
""")
count = 1000
upload = Buffer(count * 4, HEAP_UPLOAD, stride=4)
source = Buffer(count * 4, stride=4)
target = Buffer(count * 4, stride=4)
download = Buffer(count * 4, HEAP_READBACK)
upload.upload(struct.pack(f"<{count}I", *range(count)))
upload.copy_to(source)
Compute(shader, srv=[source], uav=[target]).dispatch(count // 50, 1, 1)
target.copy_to(download)
result = struct.unpack(f"<{count}I", download.readback())
assert list(result) == [n * n + 1 for n in range(count)], result[:10]
print("compushady: ok")
