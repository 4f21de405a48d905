# What every package has: sourced by the others. `--from FOLDER` takes a build that is there; else one is
# made.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
machine=$(uname -m)
out=target/packages
if [ "${1:-}" = --from ]; then
    built=$2
else
    cargo build --release --locked -p pellucid -p pellucid-icd
    built=target/release
fi
driver=$built/libvulkan_pellucid.so
[ -e "$driver" ] || driver=$built/deps/libvulkan_pellucid.so
for file in "$built/pellucid" "$driver"; do
    [ -f "$file" ] || { echo "$file is not there" >&2; exit 1; }
done
# The newest version of the C library that the files ask for.
glibc=$(objdump -T "$built/pellucid" "$driver" | sed -n 's/.*GLIBC_\([0-9]*\.[0-9]*\).*/\1/p' | sort -Vu | tail -1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
