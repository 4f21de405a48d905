"""Debian's ffmpeg: one of its Vulkan filters over three frames, compared with the bytes that another driver gave.

usage: ffmpeg_filters.py FILTER REFERENCE    makes REFERENCE where it is not there yet: run it on the other driver first
"""

import pathlib
import subprocess
import sys

# With odd sizes, so that the last workgroups are not full.
SOURCE = "testsrc2=size=98x66:rate=5"
# Texels that may differ by more than rounding: chromaber_vulkan normalizes the zero vector at the centre.
UNDEFINED = 8

name, reference = sys.argv[1], pathlib.Path(sys.argv[2])
process = subprocess.run(
    ["ffmpeg", "-nostdin", "-v", "error", "-init_hw_device", "vulkan=vk:0", "-filter_hw_device", "vk"]
    + ["-f", "lavfi", "-i", SOURCE, "-frames:v", "3", "-f", "rawvideo"]
    + ["-vf", f"format=yuv420p,hwupload,{name},hwdownload,format=yuv420p", "-"],
    check=True,
    stdout=subprocess.PIPE,
)
frames = process.stdout
assert frames, "no frames"
if not reference.exists():
    reference.write_bytes(frames)
expected = reference.read_bytes()
assert len(frames) == len(expected), (len(frames), len(expected))
apart = [abs(a - b) for a, b in zip(frames, expected)]
beyond = sum(by > 2 for by in apart)
assert beyond <= UNDEFINED, f"{beyond} of {len(apart)} bytes differ by more than 2"
print(f"ffmpeg {name}: {sum(by > 0 for by in apart)} of {len(apart)} bytes rounded otherwise: ok")
