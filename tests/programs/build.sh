#!/usr/bin/env bash
# Compiles every program of this folder twice: as it stands, and with FIXED defined. Needs glslangValidator.
set -euo pipefail
cd "$(dirname "$0")"
for source in *.comp; do
    name="${source%.comp}"
    glslangValidator --quiet -g --target-env vulkan1.2 -o "$name.bug.spv" "$source"
    glslangValidator --quiet -g --target-env vulkan1.2 -DFIXED -o "$name.fixed.spv" "$source"
done
