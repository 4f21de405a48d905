#!/usr/bin/env bash
# Makes a Debian package of the command and its driver in target/packages: packages/deb.sh [--from FOLDER]
#
# Installing it makes no program use the device: the manifest is not where the Vulkan loader looks.
. "$(dirname "$0")/files.sh"
name=pellucid_${version}_$(dpkg --print-architecture)
root=$work/$name
mkdir -p "$root/DEBIAN" "$root/usr/bin" "$root/usr/lib/pellucid" "$root/usr/share/doc/pellucid"
command_to "$root/usr/lib/pellucid/pellucid"
strip -o "$root/usr/lib/pellucid/libvulkan_pellucid.so" "$driver"
ln -s ../lib/pellucid/pellucid "$root/usr/bin/pellucid"
cat LICENSE-MIT LICENSE-APACHE > "$root/usr/share/doc/pellucid/copyright"
pages_to "$root/usr/share" zsh/vendor-completions
gzip -9n "$root"/usr/share/man/man1/*
chmod 644 "$root/usr/share/doc/pellucid/copyright" "$root/usr/lib/pellucid/libvulkan_pellucid.so"
chmod -R g-w "$root"
cat > "$root/DEBIAN/control" <<EOF
Package: pellucid
Version: $version
Architecture: $(dpkg --print-architecture)
Section: devel
Priority: optional
Depends: libc6 (>= $glibc), libgcc-s1
Recommends: libvulkan1
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Maintainer: The Pellucid project <noreply@pellucid.invalid>
Description: software Vulkan device that you can see through
 A Vulkan driver whose compute shaders run on the CPU, and which says what the
 memory model does not order. "pellucid run -- PROGRAM" and "pellucid env" use
 it; "pellucid install" makes it a device of all programs of the user.
EOF
dpkg-deb --root-owner-group --build "$root" "$out/$name.deb" >/dev/null
echo "$out/$name.deb"
