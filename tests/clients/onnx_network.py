"""A small network in ONNX Runtime's WebGPU provider (Dawn), compared with its CPU provider."""

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

rng = np.random.default_rng(7)
w1 = rng.standard_normal((8, 3, 3, 3)).astype(np.float32)
w2 = rng.standard_normal((8 * 16 * 16, 10)).astype(np.float32) * 0.1
graph = helper.make_graph(
    [
        helper.make_node("Conv", ["x", "w1"], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Flatten", ["r"], ["f"]),
        helper.make_node("MatMul", ["f", "w2"], ["m"]),
        helper.make_node("Softmax", ["m"], ["y"], axis=1),
    ],
    "net",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])],
    [onnx.numpy_helper.from_array(w1, "w1"), onnx.numpy_helper.from_array(w2, "w2")],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
model.ir_version = 9
data = model.SerializeToString()
x = rng.standard_normal((1, 3, 16, 16)).astype(np.float32)
cpu = ort.InferenceSession(data, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
print(ort.get_available_providers())
options = ort.SessionOptions()
options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
gpu = ort.InferenceSession(data, options, providers=[("WebGpuExecutionProvider", {})])
print(gpu.get_providers())
assert gpu.get_providers()[0] == "WebGpuExecutionProvider"
y = gpu.run(None, {"x": x})[0]
print("cpu:   ", *(f"{v:.5f}" for v in cpu[0][:5]))
print("webgpu:", *(f"{v:.5f}" for v in y[0][:5]))
assert np.allclose(cpu, y, atol=1e-4), (cpu, y)
print("onnxruntime-webgpu: ok")
