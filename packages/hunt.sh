#!/usr/bin/env bash
# Runs a program under `pellucid hunt` and writes its findings as SARIF, which code hosts show beside the
# code: packages/hunt.sh FINDINGS.sarif [options of hunt] -- PROGRAM [arguments]. The exit status is that of
# hunt; where hunt has none to tell (0) and the SARIF cannot be written, that of writing it.
set -euo pipefail
sarif=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
"${PELLUCID:-pellucid}" hunt --report "$folder/report.json" "$@" || status=$?
# A shard of a hunt, as in a job array, has a name of its own for its report.
reports=("$folder"/report*.json)
"${PELLUCID:-pellucid}" report "${reports[0]}" --format sarif > "$sarif" || {
    written=$?
    [ $status -ne 0 ] || status=$written
}
exit $status
