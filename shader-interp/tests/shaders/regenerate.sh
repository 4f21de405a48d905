#!/bin/sh
# Compiles the shaders of these tests again; needs glslangValidator and spirv-as.
set -e
cd "$(dirname "$0")"
for source in control/*.comp; do
    glslangValidator -V --target-env vulkan1.2 "$source" -o "${source%.comp}.spv"
done
for source in images image_array texel_shapes texel_samples texel_compares texel_levels texel_cubes texel_arrays; do
    glslangValidator -V --target-env vulkan1.2 "$source.comp" -o "$source.spv"
done
for source in lowering/*.comp; do
    glslangValidator -V --target-env vulkan1.3 -g "$source" -o "${source%.comp}.spv"
done
for source in lowering/*.spvasm; do
    spirv-as --preserve-numeric-ids --target-env spv1.3 "$source" -o "${source%asm}"
done
for kind in 'f vec4 image2D sampler2D' 'i ivec4 iimage2D isampler2D' 'u uvec4 uimage2D usampler2D'; do
    set -- $kind
    glslangValidator -V --target-env vulkan1.3 -DTYPE="$2" -DIMAGE="$3" -DFETCHED="$4" texels.comp -o "texels_$1.spv"
done
