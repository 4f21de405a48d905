#!/usr/bin/env bash
# Puts the command and its driver under a prefix: packages/prefix.sh PREFIX [--from FOLDER]
prefix=$(realpath -m "${1:?which prefix?}")
shift
. "$(dirname "$0")/files.sh"
install -Ds -m 755 "$built/pellucid" "$prefix/bin/pellucid"
install -Ds -m 644 "$driver" "$prefix/lib/libvulkan_pellucid.so"
echo "$prefix/bin/pellucid"
