#!/bin/sh
# Compiles the shaders of these tests again; needs glslangValidator and spirv-as.
set -e
cd "$(dirname "$0")"
for source in control/*.comp; do
    glslangValidator -V --target-env vulkan1.2 "$source" -o "${source%.comp}.spv"
done
for source in lowering/*.comp; do
    glslangValidator -V --target-env vulkan1.3 -g "$source" -o "${source%.comp}.spv"
done
for source in lowering/*.spvasm; do
    spirv-as --preserve-numeric-ids --target-env spv1.3 "$source" -o "${source%asm}"
done
