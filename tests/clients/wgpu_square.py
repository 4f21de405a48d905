"""One dispatch over 1,000 values through wgpu."""

import os

os.environ.setdefault("WGPU_BACKEND_TYPE", "Vulkan")

import numpy as np
import wgpu

adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
print("adapter:", adapter.info["device"], adapter.info["backend_type"], adapter.info["adapter_type"])
device = adapter.request_device_sync()
shader = device.create_shader_module(code="""
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&a)) { b[id.x] = a[id.x] * a[id.x] + 1u; }
}
""")
values = np.arange(1000, dtype=np.uint32)
source = device.create_buffer_with_data(data=values, usage=wgpu.BufferUsage.STORAGE)
target = device.create_buffer(size=values.nbytes, usage=wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC)
pipeline = device.create_compute_pipeline(layout="auto", compute={"module": shader, "entry_point": "main"})
group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=[
    {"binding": 0, "resource": {"buffer": source, "offset": 0, "size": source.size}},
    {"binding": 1, "resource": {"buffer": target, "offset": 0, "size": target.size}}])
encoder = device.create_command_encoder()
p = encoder.begin_compute_pass()
p.set_pipeline(pipeline)
p.set_bind_group(0, group)
p.dispatch_workgroups((len(values) + 63) // 64)
p.end()
device.queue.submit([encoder.finish()])
result = np.frombuffer(device.queue.read_buffer(target), dtype=np.uint32)
assert (result == values * values + 1).all(), result
assert adapter.info["device"].startswith("Pellucid"), adapter.info
print("wgpu: ok")
