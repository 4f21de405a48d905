"""Kompute (`kp`): two input tensors, a push constant, one output tensor, its values checked."""

import pathlib

import kp
import numpy as np

spirv = (pathlib.Path(__file__).parent / "multiply.spv").read_bytes()
manager = kp.Manager()
print("device:", manager.get_device_properties()["device_name"])
count = 257
a = np.arange(count, dtype=np.float32)
b = np.linspace(-3, 5, count, dtype=np.float32)
tensor_a, tensor_b = manager.tensor(a), manager.tensor(b)
tensor_out = manager.tensor(np.zeros(count, dtype=np.float32))
parameters = [tensor_a, tensor_b, tensor_out]
algorithm = manager.algorithm(parameters, spirv, (count, 1, 1), [], [2.5])
(
    manager.sequence()
    .record(kp.OpTensorSyncDevice(parameters))
    .record(kp.OpAlgoDispatch(algorithm))
    .record(kp.OpTensorSyncLocal([tensor_out]))
    .eval()
)
expected = a * b + np.float32(2.5)
assert np.allclose(tensor_out.data(), expected, rtol=1e-6), tensor_out.data()[:8]
print("first results:", *tensor_out.data()[:4])
print("kompute: ok")
