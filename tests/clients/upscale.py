"""waifu2x, Real-CUGAN, SRMD and Real-ESRGAN as their packages bring them: one image, compared with lavapipe."""

import glob
import importlib
import os
import subprocess
import sys

import numpy as np
from PIL import Image

# What each package calls it, and its options.
NETWORKS = {
    "waifu2x": ("Waifu2x", {"scale": 2, "noise": 1, "tilesize": 64}),
    "realcugan": ("Realcugan", {"scale": 2, "noise": 0, "tilesize": 64}),
    "srmd": ("SRMD", {"scale": 2, "noise": 3, "tilesize": 64}),
    "realesrgan": ("Realesrgan", {"model": 0}),
}


def upscale(package, size):
    y, x = np.mgrid[0:size, 0:size]
    channels = [np.sin(x / 5) * 60 + 128, np.cos(y / 7) * 60 + 128, (x + y) % 32 * 4 + 60]
    image = Image.fromarray(np.stack(channels, 2).astype(np.uint8))
    name, options = NETWORKS[package]
    network = getattr(importlib.import_module(package + "_ncnn_py"), name)(gpuid=0, **options)
    return np.asarray(network.process_pil(image)).astype(np.int32)


package, size = sys.argv[1], int(sys.argv[2])
out = upscale(package, size)
if len(sys.argv) > 3:
    np.save(sys.argv[3], out)
else:
    lavapipe = glob.glob("/usr/share/vulkan/icd.d/lvp*.json")[0]
    other = os.environ | {"VK_ICD_FILENAMES": lavapipe, "VK_DRIVER_FILES": lavapipe}
    expected = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"{package}.{os.getpid()}.npy")
    subprocess.run([sys.executable, __file__, package, str(size), expected], env=other, check=True)
    difference = np.abs(out - np.load(expected)).max()
    os.remove(expected)
    assert difference <= 2, difference
    print(f"{package}: ok, {out.shape[1]} x {out.shape[0]}, at most {difference} from lavapipe")
