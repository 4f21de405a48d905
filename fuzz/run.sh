#!/usr/bin/env bash
# Fuzzes. run.sh SECONDS [TARGET...]: each target for that long; without names all of them.
# Seeds are the repository's own shaders, litmus tests and reports; what is found stands in fuzz/corpus,
# crashes in fuzz/artifacts. `cargo fuzz run TARGET` works as well; this needs nothing but a C++ compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?seconds for each target}
shift
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(spirv assembly litmus report api)

export RUSTFLAGS="--cfg fuzzing --cfg one_instruction_set -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares"
triple=$(rustc -vV | sed -n 's/^host: //p')
profile=release
[ "$seconds" -ge 120 ] || profile=short
cargo build --quiet --profile $profile --manifest-path fuzz/Cargo.toml --target "$triple" --bins

for target in "${targets[@]}"; do
    case $target in
    spirv) seeds=(cli/tests/compute tests/planted) length=4096 ;;
    assembly) seeds=(cli/tests/compute tests/planted/spirv shader-interp/tests/shaders) length=4096 ;;
    litmus) seeds=(tests/litmus tests/model) length=2048 ;;
    report) seeds=(fuzz/seeds/report) length=8192 ;;
    api) seeds=(fuzz/seeds/api) length=400 ;;
    *) echo "no target $target" >&2 && exit 2 ;;
    esac
    corpus=fuzz/corpus/$target artifacts=fuzz/artifacts/$target/
    mkdir -p "$corpus" "$artifacts"
    echo "fuzz: $target for $seconds s"
    "fuzz/target/$triple/$profile/$target" "$corpus" "${seeds[@]}" -artifact_prefix="$artifacts" -max_len=$length \
        -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -close_fd_mask=3 -print_final_stats=1 \
        2>&1 | grep -E "^stat::number_of_executed|ERROR|SUMMARY|Test unit|panicked|DONE|Done"
done
