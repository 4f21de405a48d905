#!/usr/bin/env bash
# Puts the command and its driver under a prefix: packages/prefix.sh PREFIX [--from FOLDER]
prefix=$(realpath -m "${1:?which prefix?}")
shift
. "$(dirname "$0")/files.sh"
mkdir -p "$prefix/bin"
command_to "$prefix/bin/pellucid"
install -Ds -m 644 "$driver" "$prefix/lib/libvulkan_pellucid.so"
pages_to "$prefix/share"
echo "$prefix/bin/pellucid"
