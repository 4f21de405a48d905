#!/usr/bin/env bash
# Compiles the shaders of this folder. Needs glslangValidator.
set -euo pipefail
cd "$(dirname "$0")"
for source in *.comp; do
    glslangValidator --quiet --target-env vulkan1.2 -o "${source%.comp}.spv" "$source"
done
