"""tinygrad on Dawn: a matrix product, a convolution, a running sum and gradients, compared with numpy.

`dawn-python` brings Dawn's library, which tinygrad finds by WEBGPU_PATH."""

import os
import platform
from pathlib import Path

import numpy
import pydawn

library = f"libwebgpu_dawn_{platform.machine()}.so"
os.environ["WEBGPU_PATH"] = str(Path(pydawn.__file__).parent / "lib" / library)
os.environ["DEV"] = "WEBGPU"

from tinygrad import Device, Tensor  # noqa: E402

assert Device.DEFAULT == "WEBGPU", Device.DEFAULT
random = numpy.random.default_rng(1)


def values(*shape):
    return random.standard_normal(shape, dtype=numpy.float32)


a, b = values(64, 96), values(96, 48)
product = (Tensor(a) @ Tensor(b)).relu().numpy()
assert numpy.allclose(product, numpy.maximum(a @ b, 0), atol=1e-3)

assert numpy.allclose(Tensor(a).cumsum(1).numpy(), a.cumsum(1), atol=1e-3)
assert (Tensor(a).argmax(1).numpy() == a.argmax(1)).all()

image, weights = values(2, 3, 12, 12), values(4, 3, 3, 3)
windows = numpy.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(2, 3))
expected = numpy.einsum("ncijkl,ockl->noij", windows, weights)
assert numpy.allclose(Tensor(image).conv2d(Tensor(weights)).numpy(), expected, atol=1e-3)

# The gradient of a sum of squares.
x = Tensor(a)
(gradient,) = (x * x).sum().gradient(x)
assert numpy.allclose(gradient.numpy(), 2 * a, atol=1e-5)

print("tinygrad: ok")
