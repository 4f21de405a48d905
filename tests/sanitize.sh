#!/usr/bin/env bash
# usage: tests/sanitize.sh [address|thread]...   (default: both)
# Builds the driver with a sanitizer and runs tests/c/driver.c against it, in run and in check mode, by itself
# and through the Vulkan loader where that is installed. Needs a C compiler, the Vulkan headers, and for
# `thread` the toolchain's component rust-src, because the standard library has to be built with that
# sanitizer, too.
set -euo pipefail
cd "$(dirname "$0")/.."
target=x86_64-unknown-linux-gnu
# Unstable flags on the pinned toolchain: no second one is needed.
export RUSTC_BOOTSTRAP=1
# What an application leaves to the end of the process is no leak of the driver's. A report is an error.
export ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=halt_on_error=1

[ $# -gt 0 ] || set -- address thread
for sanitizer in "$@"; do
    folder=$PWD/target/sanitize/$sanitizer
    build=(--profile sanitize --target $target --target-dir "$folder" -p pellucid-icd)
    if [ "$sanitizer" = thread ]; then
        build+=(-Zbuild-std)
        [ -d "$(rustc --print sysroot)/lib/rustlib/src/rust/library" ] || rustup component add rust-src
    fi
    export RUSTFLAGS="-Zsanitizer=$sanitizer --cfg one_instruction_set"
    cargo build --quiet "${build[@]}" --lib
    library=$folder/$target/sanitize/libvulkan_pellucid.so
    # The driver takes the sanitizer's runtime from the program: the one that the compiler brings.
    runtime=("$(rustc --print sysroot)/lib/rustlib/$target/lib/librustc-"*"_rt.${sanitizer:0:1}san.a")
    cc -g -O1 -Wall -Werror "-fsanitize=$sanitizer" -c tests/c/driver.c -o "$folder/driver.o"
    cc "$folder/driver.o" -o "$folder/driver" -Wl,--whole-archive "${runtime[0]}" -Wl,--no-whole-archive \
        -Wl,--export-dynamic -lpthread -ldl -lm -lrt -lresolv
    sed "s|\"library_path\": *\"[^\"]*\"|\"library_path\": \"$library\"|" json/pellucid_icd.json >"$folder/icd.json"
    ways=("$library")
    if [ -n "$(/sbin/ldconfig -p | grep libvulkan.so.1)" ]; then ways+=(libvulkan.so.1); fi
    for mode in run check; do
        for way in "${ways[@]}"; do
            for case in buffers copies images events queues threads wrong-order racing; do
                name="$sanitizer sanitizer, $mode mode, ${way##*/}: $case"
                if PELLUCID_MODE=$mode VK_ICD_FILENAMES=$folder/icd.json VK_DRIVER_FILES=$folder/icd.json \
                    timeout 120 "$folder/driver" "$way" tests/clients/square.spv $case >"$folder/output" 2>&1; then
                    echo "$name: ok"
                else
                    cat "$folder/output"
                    echo "$name: failed"
                    exit 1
                fi
            done
        done
    done
done
