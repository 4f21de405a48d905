#!/usr/bin/env bash
# Runs programs that nobody here wrote on the driver, each in run and in check mode, and checks what they
# compute. `setup.sh` installs them.
#
# usage: run.sh [FOLDER [PELLUCID]]
# FOLDER: where setup.sh put them (default: target/clients). PELLUCID: the command (default:
# target/release/pellucid).
set -uo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"
folder="$(cd "${1:-$root/target/clients}" && pwd)"
pellucid="${2:-$root/target/release/pellucid}"
python="$folder/venv/bin/python"
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
failed=0

# client NAME MODE EXPECTED-TEXT COMMAND...: the command ends well, without findings, and prints the text.
# PROFILE: the client that the device is shown to (--for).
client() {
    local name="$1" mode="$2" expected="$3"
    shift 3
    if timeout 300 "$pellucid" run --mode "$mode" ${PROFILE:+--for "$PROFILE"} -- "$@" >"$log" 2>&1 &&
        grep -q -- "$expected" "$log"; then
        echo "ok      $name ($mode): $(grep -m1 -- "$expected" "$log" | tr -s ' \t' ' ')"
    else
        echo "FAILED  $name ($mode):"
        tail -n 25 "$log" | sed 's/^/        /'
        failed=1
    fi
}

# finds NAME IDS COMMAND...: check mode finds that, and nothing of another kind; warnings are named, too.
# PROFILE: as above.
finds() {
    local name="$1" ids
    ids="$(tr ' ' '\n' <<<"$2" | sort)"
    shift 2
    timeout 300 "$pellucid" run ${PROFILE:+--for "$PROFILE"} -- "$@" >"$log" 2>&1
    local status=$?
    if [ $status -eq 66 ] &&
        [ "$(sed -n 's/^\(error\|warning\)\[\([^]]*\)\].*/\2/p' "$log" | sort -u)" = "$ids" ]; then
        echo "ok      $name (check):" $ids
    else
        echo "FAILED  $name (check), status $status, expected $ids:"
        tail -n 25 "$log" | sed 's/^/        /'
        failed=1
    fi
}

# silent NAME COMMAND...: the validation layer says nothing.
silent() {
    local name="$1"
    shift
    timeout 300 "$pellucid" run --mode run -- env VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation "$@" >"$log" 2>&1
    local status=$?
    # The layer of Debian 12 does not know what was specified after it: structures of extensions for which
    # vulkano asks any driver that has them.
    sed -i '/pNext chain includes a structure with unknown VkStructureType/d' "$log"
    if [ $status -eq 0 ] && ! grep -qiE "validation (error|warning)|VUID-|loader.*(error|warning)" "$log"; then
        echo "ok      $name: silent under the validation layer"
    else
        echo "FAILED  $name under the validation layer (status $status):"
        grep -iE -m5 "validation|VUID-|error" "$log" | sed 's/^/        /'
        failed=1
    fi
}

llama=(env LLAMA_MODULE="$folder/llama/node_modules/node-llama-cpp/dist/index.js"
    node "$here/llama.mjs" "$folder/llama/random.gguf")
for mode in run check; do
    client "vulkaninfo" "$mode" "deviceType *= PHYSICAL_DEVICE_TYPE_CPU" vulkaninfo
    client "vulkaninfo --summary" "$mode" "deviceName *= .*Pellucid" vulkaninfo --summary
    client "python vulkan" "$mode" "python vulkan: ok" "$python" "$here/python_vulkan.py"
    client "kompute" "$mode" "kompute: ok" env PYTHONPATH="$folder/kompute/build/lib" "$python" "$here/kompute.py"
    client "ncnn" "$mode" "ncnn: ok" "$python" "$here/ncnn_network.py"
    client "vulkano" "$mode" "vulkano: ok" "$folder/vulkano/debug/vulkano-client"
    PROFILE=wgpu client "wgpu" "$mode" "wgpu: ok" "$python" "$here/wgpu_square.py"
    PROFILE=deno client "deno" "$mode" "webgpu: ok" "$folder/node_modules/@deno/linux-x64-glibc/deno" run --allow-env --unstable-webgpu "$here/webgpu.mjs"
    PROFILE=dawn client "dawn" "$mode" "webgpu: ok" env WEBGPU_MODULE="$folder/node_modules/webgpu/index.js" node "$here/webgpu.mjs"
    PROFILE=onnxruntime-webgpu client "onnxruntime" "$mode" "onnxruntime-webgpu: ok" "$folder/onnx/bin/python" "$here/onnx_network.py"
    # It takes a variable of this name for its own.
    PROFILE=dawn client "tinygrad" "$mode" "tinygrad: ok" env --unset PROFILE \
        "$folder/onnx/bin/python" "$here/tinygrad_tensors.py"
    PROFILE=taichi client "taichi" "$mode" "taichi: .*ok" "$python" "$here/taichi_fields.py"
    if "$python" -c "import compushady" 2>/dev/null; then
        PROFILE=compushady client "compushady" "$mode" "compushady: ok" "$python" "$here/compushady_square.py"
    else
        echo "skipped compushady ($mode): CLIENTS=all setup.sh installs it"
    fi
    if [ -x "$folder/burn/debug/burn-client" ]; then
        PROFILE=burn client "burn" "$mode" "burn: ok" "$folder/burn/debug/burn-client"
    else
        echo "skipped burn ($mode): CLIENTS=all setup.sh installs it"
    fi
    PROFILE=ggml client "llama.cpp" "$mode" "llama.cpp: .*: ok" "${llama[@]}"
done
# Its flash attention lets several invocations store each sum; operations in place bind a buffer twice.
PROFILE=ggml finds "llama.cpp, flash attention" "race-private race-same-invocation host-no-barrier" \
    "${llama[@]}" flash
# A workgroup's barriers that name storage buffers alone, between accesses to its own memory.
if [ -x "$folder/vello/debug/vello-client" ]; then
    PROFILE=wgpu client "vello" run "vello: ok" "$folder/vello/debug/vello-client"
    PROFILE=wgpu finds "vello" "race-private race-storage-class out-of-bounds host-no-barrier" \
        "$folder/vello/debug/vello-client" once
else
    echo "skipped vello: CLIENTS=all setup.sh installs it"
fi
# Networks of earlier releases of ncnn, which want a graphics queue. Its matrix products with workgroup memory
# read columns beyond the last one, which are behind the end of the last channel, before they leave them out.
for network in waifu2x realcugan srmd realesrgan; do
    if "$python" -c "import ${network}_ncnn_py" 2>/dev/null; then
        PROFILE=ncnn client "$network" run "$network: ok" "$python" "$here/upscale.py" "$network" 32
        PROFILE=ncnn finds "$network" out-of-bounds "$python" "$here/upscale.py" "$network" 32
    else
        echo "skipped $network: CLIENTS=all setup.sh installs it"
    fi
done
# FFmpeg's filters beside the same ones on lavapipe. gblur and avgblur have bugs, of values alone avgblur.
lavapipe="$(ls /usr/share/vulkan/icd.d/lvp_icd*.json 2>/dev/null | head -n 1)"
if command -v ffmpeg >/dev/null && [ -n "$lavapipe" ]; then
    for filter in gblur_vulkan chromaber_vulkan=dist_x=3:dist_y=2 scale_vulkan=w=64:h=48 flip_vulkan transpose_vulkan; do
        of_lavapipe="$folder/ffmpeg-${filter%%=*}.yuv"
        rm -f "$of_lavapipe"
        env VK_ICD_FILENAMES="$lavapipe" VK_DRIVER_FILES="$lavapipe" \
            "$python" "$here/ffmpeg_filters.py" "$filter" "$of_lavapipe" >/dev/null
        command=("$python" "$here/ffmpeg_filters.py" "$filter" "$of_lavapipe")
        client "ffmpeg, ${filter%%=*}" run ": ok" "${command[@]}"
        if [ "$filter" = gblur_vulkan ]; then
            finds "ffmpeg, gblur_vulkan" "hazard-layout-transition hazard-read-after-write" "${command[@]}"
        else
            client "ffmpeg, ${filter%%=*}" check ": ok" "${command[@]}"
        fi
    done
    finds "ffmpeg, avgblur_vulkan" "barrier-divergence hazard-layout-transition hazard-read-after-write out-of-bounds race-unordered uninitialised-read" \
        sh -c 'rm -f "$2"; "$0" "$1" avgblur_vulkan "$2"' "$python" "$here/ffmpeg_filters.py" "$folder/ffmpeg-avgblur.yuv"
else
    echo "skipped ffmpeg: CLIENTS=all setup.sh installs it"
fi
PROFILE=slangpy client "slangpy" run "slangpy: ok" "$python" "$here/slangpy_square.py"
# After an upload its barrier makes the copy visible to INPUT_ATTACHMENT_READ, not to the shader's reads.
PROFILE=slangpy finds "slangpy" hazard-read-after-write "$python" "$here/slangpy_square.py"
# Without its profile it reads what it never invalidated, and ends with an assertion.
finds "taichi by itself" host-not-invalidated env PELLUCID_QUEUES=pretend-graphics \
    sh -c '"$0" "$1" || true' "$python" "$here/taichi_fields.py"
for way in numpy ctypes numba; do
    client "host access by $way" check "right: ok" "$python" "$here/host_access.py" "$way" right
    finds "host access by $way" host-in-flight "$python" "$here/host_access.py" "$way" wrong
done
silent "vulkaninfo" vulkaninfo
silent "vulkaninfo --summary" vulkaninfo --summary
silent "vulkaninfo --summary, as slangpy sees it" env PELLUCID_FOR=slangpy vulkaninfo --summary
silent "python vulkan" "$python" "$here/python_vulkan.py"
silent "vulkano" "$folder/vulkano/debug/vulkano-client"
silent "pellucid exec" "$pellucid" exec-here "$here/square.spv" --groups 4 --buffer 0:0=u32x256=iota \
    --library libvulkan.so.1
if DAP_MODULE="$folder/node_modules/@vscode/debugadapter-testsupport" timeout 300 \
    node "$here/debugger.mjs" "$pellucid" >"$log" 2>&1 && grep -q "debugger: ok" "$log"; then
    echo "ok      debugger: driven by @vscode/debugadapter-testsupport"
else
    echo "FAILED  debugger:"
    tail -n 25 "$log" | sed 's/^/        /'
    failed=1
fi
if timeout 300 node "$here/templates.mjs" "$folder" >"$log" 2>&1 && grep -q "templates: ok" "$log"; then
    echo "ok      GitHub Action and GitLab template: their steps, and SARIF by its schema"
else
    echo "FAILED  templates:"
    tail -n 25 "$log" | sed 's/^/        /'
    failed=1
fi
exit $failed
