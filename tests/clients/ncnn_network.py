"""ncnn: a small convolutional network through its Vulkan back end, compared with its CPU back end."""

import pathlib
import sys
import tempfile

import ncnn
import numpy as np

PARAM = """7767517
7 7
Input        data   0 1 data 0=16 1=16 2=3
Convolution  conv1  1 1 data conv1 0=8 1=3 4=1 5=1 6=216
ReLU         relu1  1 1 conv1 relu1
Pooling      pool1  1 1 relu1 pool1 0=0 1=2 2=2
Convolution  conv2  1 1 pool1 conv2 0=12 1=3 4=1 5=1 6=864
Pooling      pool2  1 1 conv2 pool2 0=1 4=1
InnerProduct fc     1 1 pool2 prob 0=10 1=1 2=120
"""


def weights(path):
    """One flag word before each convolution's and inner product's weights (0: float32), then its biases."""
    random = np.random.default_rng(7)
    with open(path, "wb") as file:
        for count, biases in ((216, 8), (864, 12), (120, 10)):
            file.write(np.zeros(1, np.uint32).tobytes())
            file.write((random.standard_normal(count) * 0.2).astype(np.float32).tobytes())
            file.write((random.standard_normal(biases) * 0.1).astype(np.float32).tobytes())


def forward(folder, vulkan):
    net = ncnn.Net()
    net.opt.use_vulkan_compute = vulkan
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
    net.opt.num_threads = 1
    assert net.load_param(str(folder / "net.param")) == 0
    assert net.load_model(str(folder / "net.bin")) == 0
    image = np.random.default_rng(3).random((3, 16, 16), dtype=np.float32)
    extractor = net.create_extractor()
    extractor.input("data", ncnn.Mat(image).clone())
    status, out = extractor.extract("prob")
    assert status == 0, status
    result = np.array(out).copy()
    # ncnn's allocators belong to the network: everything made with it goes first.
    del out, extractor
    net.clear()
    return result


ncnn.create_gpu_instance()
count = ncnn.get_gpu_count()
print("devices:", count, *(ncnn.get_gpu_info(i).device_name() for i in range(count)))
if count == 0:
    sys.exit("ncnn sees no Vulkan device")
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "net.param").write_text(PARAM)
    weights(folder / "net.bin")
    cpu, gpu = forward(folder, False), forward(folder, True)
ncnn.destroy_gpu_instance()
print("cpu:   ", *(f"{v:.5f}" for v in cpu[:5]))
print("vulkan:", *(f"{v:.5f}" for v in gpu[:5]))
assert cpu.shape == (10,) and np.abs(cpu).max() > 0.01
assert np.allclose(cpu, gpu, rtol=1e-4, atol=1e-5), np.abs(cpu - gpu).max()
print("ncnn: ok")
