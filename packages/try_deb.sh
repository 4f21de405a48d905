#!/usr/bin/env bash
# Tries the Debian package where nothing else is: a new Debian with vulkaninfo. It is installed, demonstrates
# itself, is a device of the Vulkan loader, and leaves nothing behind: packages/try_deb.sh PACKAGE.deb
#
# Needs root and debootstrap. The root is made once for each release of Debian (1 to 2 minutes, from Debian's
# archive: MIRROR names another) and kept as target/packages/root-RELEASE.tar.
set -euo pipefail
package=$(realpath "$1")
cd "$(dirname "$0")/.."
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
tar=target/packages/root-$release.tar
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
if [ ! -e "$tar" ]; then
    debootstrap --variant=minbase --include=vulkan-tools "$release" "$root" "${MIRROR:-http://deb.debian.org/debian}" \
        >"$work/log" || { tail -20 "$work/log"; exit 1; }
    rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
    tar -C "$root" --exclude=./dev -cf "$tar.new" .
    mv "$tar.new" "$tar"
    rm -rf "$root"
fi
mkdir -p "$root"
tar -C "$root" -xf "$tar"
mkdir -p "$root/dev" "$root/root/try"
cp "$package" "$root/root/try/pellucid.deb"

# What is there outside of dpkg's own records is listed before and after.
cat > "$root/root/try/inside" <<'INSIDE'
set -eu
export HOME=/root LC_ALL=C
list() { find / -xdev \( -path /proc -o -path /dev -o -path /root/try -o -path /var/lib/dpkg -o -path /var/log \) -prune -o -print | sort; }
# Everybody's, wherever it comes from.
mkdir -p /root/.local/share /root/.cache
list > /root/try/before
dpkg -i /root/try/pellucid.deb >/dev/null
pellucid demo > /root/try/demo 2>/dev/null
grep -q 85344 /root/try/demo
pellucid run -- vulkaninfo --summary > /root/try/info 2>/root/try/errors || { cat /root/try/errors; exit 1; }
grep -q 'deviceName *= Pellucid' /root/try/info
test -s /usr/share/man/man1/pellucid.1.gz
# Nothing uses the device that does not ask for it, before it is made a device of the user's, and after.
devices() { vulkaninfo --summary 2>/dev/null | grep -c 'deviceName *= Pellucid' || true; }
test "$(devices)" = 0
pellucid install >/dev/null
test "$(devices)" = 1
pellucid uninstall >/dev/null
test "$(devices)" = 0
dpkg -P pellucid >/dev/null
list > /root/try/after
diff /root/try/before /root/try/after
echo "the package: installed, demonstrated, a device of vulkaninfo, removed; nothing is left"
INSIDE
# A namespace of its own: what it mounts goes with it.
unshare --mount --pid --fork sh -c \
    "mount -t proc proc '$root/proc' && mknod -m 666 '$root/dev/null' c 1 3 && mknod -m 444 '$root/dev/urandom' c 1 9 &&
     exec chroot '$root' /bin/sh /root/try/inside"
