#!/usr/bin/env bash
# Makes a Python wheel of the command and its driver in target/packages: packages/wheel.sh [--from FOLDER]
. "$(dirname "$0")/files.sh"
tag=py3-none-manylinux_${glibc/./_}_$machine
name=pellucid-$version
mkdir -p "$work/$name.data/scripts" "$work/$name.data/data/lib" "$work/$name.dist-info"
command_to "$work/$name.data/scripts/pellucid"
strip -o "$work/$name.data/data/lib/libvulkan_pellucid.so" "$driver"
pages_to "$work/$name.data/data/share"
cp LICENSE-MIT LICENSE-APACHE "$work/$name.dist-info/"
cat > "$work/$name.dist-info/METADATA" <<EOF
Metadata-Version: 2.1
Name: pellucid
Version: $version
Summary: A software Vulkan device that you can see through
License: MIT OR Apache-2.0
Requires-Python: >=3.8
EOF
printf 'Wheel-Version: 1.0\nGenerator: packages/wheel.sh\nRoot-Is-Purelib: false\nTag: %s\n' "$tag" \
    > "$work/$name.dist-info/WHEEL"
python3 - "$work" "$name" "$out/$name-$tag.whl" <<'EOF'
import base64, hashlib, os, sys, zipfile
root, name, wheel = sys.argv[1:]
files = sorted(os.path.relpath(os.path.join(at, f), root) for at, _, fs in os.walk(root) for f in fs)
record = f"{name}.dist-info/RECORD"
lines = []
with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as out:
    def put(path, data):
        entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if "/scripts/" in path else 0o100644) << 16
        out.writestr(entry, data)
    for path in files:
        data = open(os.path.join(root, path), "rb").read()
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")
        put(path, data)
    put(record, "".join(lines) + f"{record},,\n")
print(wheel)
EOF
