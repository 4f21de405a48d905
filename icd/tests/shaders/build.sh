#!/usr/bin/env bash
# Compiles the shaders of these tests again.
set -euo pipefail
cd "$(dirname "$0")"
for shader in *.comp; do
    glslangValidator -g --target-env vulkan1.2 -o "${shader%.comp}.spv" "$shader"
done
for shader in *.spvasm; do
    spirv-as --target-env spv1.5 -o "${shader%.spvasm}.spv" "$shader"
done
