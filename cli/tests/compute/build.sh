#!/usr/bin/env bash
# Compiles the shaders of this folder. Needs glslangValidator.
set -euo pipefail
cd "$(dirname "$0")"
for source in *.comp; do
    [ "$source" = derivatives.comp ] && continue
    glslangValidator --quiet -g --target-env vulkan1.2 -o "${source%.comp}.spv" "$source"
done
for group in LINEAR QUADS; do
    glslangValidator --quiet -g --target-env vulkan1.2 -D"$group" -o "derivatives_${group,,}.spv" derivatives.comp
done
# As an optimizer leaves it: every function inlined, which DebugInlinedAt tells. Where it puts DebugNoLine
# between variables the module is not valid.
whole=$(mktemp)
glslangValidator --quiet -gVS --target-env vulkan1.2 -o "$whole" inlined.comp
spirv-opt --inline-entry-points-exhaustive --eliminate-dead-functions --eliminate-local-single-block \
    --eliminate-local-single-store "$whole" -o "$whole"
spirv-dis "$whole" | grep -v DebugNoLine | spirv-as --target-env spv1.5 --preserve-numeric-ids - -o inlined.spv
# As an optimizer leaves it: values in place of variables.
glslangValidator --quiet -V --target-env vulkan1.2 -o "$whole" disabled.comp
spirv-opt -O --target-env=vulkan1.2 "$whole" -o disabled.spv
rm "$whole"
