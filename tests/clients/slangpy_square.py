"""One dispatch over 1,000 values through slangpy."""

import pathlib
import numpy as np
import slangpy as spy

here = pathlib.Path(__file__).parent
device = spy.Device(type=spy.DeviceType.vulkan, compiler_options={"include_paths": [here]})
print("adapter:", device.info.adapter_name)
assert device.info.adapter_name.startswith("Pellucid")
program = device.load_program("square.slang", ["main"])
kernel = device.create_compute_kernel(program)
values = np.arange(1000, dtype=np.uint32)
usage = spy.BufferUsage.shader_resource | spy.BufferUsage.unordered_access
source = device.create_buffer(element_count=1000, struct_size=4, usage=usage, data=values)
target = device.create_buffer(element_count=1000, struct_size=4, usage=usage, data=np.zeros_like(values))
kernel.dispatch(thread_count=[1000, 1, 1], vars={"a": source, "b": target})
result = target.to_numpy().view(np.uint32)
assert (result == values * values + 1).all(), result[:10]
print("slangpy: ok")
