"""Fields of integers and floats, a sum, and their way back to the host, in taichi."""

import numpy as np
import taichi as ti

ti.init(arch=ti.vulkan, log_level=ti.WARN)
n = 40000
x = ti.field(ti.i32, shape=n)
y = ti.field(ti.f32, shape=n)
total = ti.field(ti.i32, shape=())


@ti.kernel
def fill():
    for i in x:
        x[i] = i % 1000 * 3 + 1
        y[i] = ti.sqrt(ti.cast(i, ti.f32))


@ti.kernel
def add():
    for i in x:
        total[None] += x[i]


fill()
add()
want = np.arange(n, dtype=np.int32) % 1000 * 3 + 1
assert (x.to_numpy() == want).all(), x.to_numpy()[:10]
assert np.allclose(y.to_numpy(), np.sqrt(np.arange(n, dtype=np.float32)), rtol=1e-6)
assert total[None] == want.sum(), (total[None], want.sum())
print("taichi:", ti.cfg.arch, "ok")
