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
# The command without the driver that it carries for `cargo install`: a package has the driver as a file.
command_to() { strip -R .pellucid_driver -o "$1" "$built/pellucid"; chmod 755 "$1"; }
# Completions and manual pages below a share folder; Debian has another folder for zsh.
pages_to() {
    local share=$1 zsh=${2:-zsh/site-functions}
    mkdir -p "$share/bash-completion/completions" "$share/$zsh" "$share/fish/vendor_completions.d"
    "$built/pellucid" completions bash > "$share/bash-completion/completions/pellucid"
    "$built/pellucid" completions zsh > "$share/$zsh/_pellucid"
    "$built/pellucid" completions fish > "$share/fish/vendor_completions.d/pellucid.fish"
    "$built/pellucid" man "$share/man/man1"
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
