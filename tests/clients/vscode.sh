#!/bin/bash
# Loads the extension of packages/vscode into Visual Studio Code and debugs a planted bug with it: the
# server of the npm package code-server, with its own extension host, and its window in headless Chromium.
# Not part of .ci/run: it installs 500 MB. Needs node 20, its headers (Debian: libnode-dev), a C++ compiler
# and chromium.
#
# usage: vscode.sh FOLDER PELLUCID
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
pellucid=$(realpath "$2")
cd "$folder"
vscode=$folder/node_modules/code-server/lib/vscode
if [ ! -d "$vscode/node_modules/node-pty/build" ]; then
    npm install --no-save --ignore-scripts code-server@4.100.3
    cd "$vscode"
    npm install --omit=dev --ignore-scripts
    npm rebuild --nodedir=/usr node-pty @vscode/spdlog native-watchdog
    cd "$folder"
fi
rm -rf data extensions window work told
mkdir -p data extensions bin home work/.vscode
cp -r "$here/../../packages/vscode" extensions/pellucid.pellucid-debug-0.1.0
cp -r "$here/vscode" extensions/pellucid.driver-0.0.1
cp "$here/../planted/message_passing/buffer.no-make-visible.spv" work/
cat > work/.vscode/launch.json <<'JSON'
{ "version": "0.2.0", "configurations": [{ "type": "pellucid", "request": "launch", "name": "flag",
  "cwd": "${workspaceFolder}", "program": "buffer.no-make-visible.spv", "args": ["--groups", "2"] }] }
JSON
ln -sfn "$pellucid" bin/pellucid
# The extension host has the path of a login shell.
echo "export PATH=$folder/bin:\$PATH" | tee home/.profile > home/.bashrc
export HOME=$folder/home SHELL=/bin/bash PATH=$folder/bin:$PATH TOLD=$folder/told
port=8127
node "$vscode/out/server-main.js" --port $port --host 127.0.0.1 --without-connection-token \
    --disable-workspace-trust --extensions-dir "$folder/extensions" --server-data-dir "$folder/data" \
    --user-data-dir "$folder/data" --accept-server-license-terms --telemetry-level off > server.log 2>&1 &
server=$!
trap 'kill $server ${window:-} 2> /dev/null || true' EXIT
for _ in $(seq 60); do grep -q 'Extension host agent started' server.log && break; sleep 1; done
chromium --headless --no-sandbox --disable-gpu --user-data-dir="$folder/window" --window-size=1600,1000 \
    --remote-debugging-port=0 "http://127.0.0.1:$port/?folder=$folder/work" > window.log 2>&1 &
window=$!
for _ in $(seq 90); do grep -q stackFrames told 2> /dev/null && break; sleep 1; done
node - "$TOLD" <<'JS'
const assert = require('assert');
const told = require('fs').readFileSync(process.argv[2], 'utf8').trim().split('\n').map(line => JSON.parse(line));
assert.ok(told[0].loaded, 'the extension is loaded');
const stopped = told.find(one => one.event === 'stopped');
assert.equal(stopped?.body.reason, 'exception');
const frame = told.find(one => one.command === 'stackTrace').body.stackFrames[0];
assert.deepEqual([frame.source.name, frame.line], ['buffer.comp', 54]);
console.log(`Visual Studio Code ${told[0].version}: ${stopped.body.description}`);
JS
