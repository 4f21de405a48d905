#!/usr/bin/env bash
# Runs a program under `pellucid hunt` and writes its findings as SARIF, which code hosts show beside the
# code: packages/hunt.sh FINDINGS.sarif [options of hunt] -- PROGRAM [arguments]. The exit status is that of
# hunt; where hunt has none to tell (0) and the SARIF cannot be written, that of writing it.
set -euo pipefail
sarif=$1
shift
report=$(mktemp)
trap 'rm -f "$report"' EXIT
status=0
"${PELLUCID:-pellucid}" hunt --report "$report" "$@" || status=$?
"${PELLUCID:-pellucid}" report "$report" --format sarif > "$sarif" || {
    written=$?
    [ $status -ne 0 ] || status=$written
}
exit $status
