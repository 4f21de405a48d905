// The debugger, driven by the Debug Adapter Protocol client of package @vscode/debugadapter-testsupport, over
// standard streams and over TCP.
//
// usage: node debugger.mjs PELLUCID; DAP_MODULE: where the package is
import assert from 'node:assert';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const { DebugClient } = require(process.env.DAP_MODULE ?? '@vscode/debugadapter-testsupport');
const here = path.dirname(fileURLToPath(import.meta.url));
const pellucid = path.resolve(process.argv[2] ?? 'target/release/pellucid');
const planted = path.join(here, '..', 'planted');
const flag = path.join(planted, 'message_passing', 'buffer.no-make-visible.spv');
const sum = path.join(here, '..', '..', 'cli', 'src', 'demo', 'reduce.spv');

// A Vulkan program, which `cargo test` builds beside the command.
const blur = path.join(path.dirname(pellucid), 'examples', 'blur');

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

async function started() {
    const client = new DebugClient(`${quoted(pellucid)} debug`, '--dap', 'pellucid', { shell: true });
    await client.start();
    client.defaultTimeout = 30000;
    return client;
}

// Launches and configures; the first stop.
async function launched(client, args, configure = async () => {}) {
    const stopped = client.waitForEvent('stopped', 30000);
    const ready = client.waitForEvent('initialized', 30000).then(async () => {
        await configure();
        await client.configurationDoneRequest();
    });
    await client.initializeRequest();
    const launch = client.launchRequest(args);
    await Promise.all([ready, launch]);
    return (await stopped).body;
}

// Sends a request after which the program runs, and waits until it stops.
async function moved(client, request, args) {
    const stopped = client.waitForEvent('stopped', 30000);
    await client.send(request, args);
    return (await stopped).body;
}

async function line(client, threadId) {
    const { body } = await client.stackTraceRequest({ threadId });
    return body.stackFrames[0].line;
}

async function variables(client, threadId, scope) {
    const { body } = await client.stackTraceRequest({ threadId });
    const { scopes } = (await client.scopesRequest({ frameId: body.stackFrames[0].id })).body;
    const { variablesReference } = scopes.find((one) => one.name === scope);
    return { of: (await client.variablesRequest({ variablesReference })).body.variables, variablesReference };
}

const evaluate = async (client, expression, context = 'repl') =>
    (await client.evaluateRequest({ expression, context })).body.result;

async function message() {
    const client = await started();
    const first = await launched(client, { program: flag, args: ['--groups', '2'] });
    assert.equal(first.reason, 'exception');
    assert.equal(await line(client, first.threadId), 54);
    const info = (await client.send('exceptionInfo', { threadId: first.threadId })).body;
    assert.equal(info.exceptionId, 'race-not-visible');
    assert.match(info.details.message, /missing: a visibility operation/);

    const { threads } = (await client.threadsRequest()).body;
    assert.match(threads.find((one) => one.id === first.threadId).name, /workgroup \(1,0,0\) subgroup 0 invocation 0/);
    const buffers = await variables(client, first.threadId, 'Buffers');
    const block = buffers.of.find((one) => one.name === 'Message');
    const members = (await client.variablesRequest({ variablesReference: block.variablesReference })).body.variables;
    assert.deepEqual(members.map((one) => [one.name, one.type, one.value]), [['data', 'u32', '42'], ['flag', 'u32', '1']]);
    assert.match(await evaluate(client, 'sees data'), /#1 42 by invocation 0 of workgroup \(0,0,0\)/);
    assert.match(await evaluate(client, 'sees data'), /may read 0 or 42 now/);
    assert.match(await evaluate(client, 'before data #1 now'), /not location-ordered before/);

    // Back to the write.
    const data = (await client.dataBreakpointInfoRequest({
        variablesReference: block.variablesReference, name: 'data',
    })).body;
    await client.setDataBreakpointsRequest({ breakpoints: [{ dataId: data.dataId, accessType: 'write' }] });
    const written = await moved(client, 'reverseContinue', { threadId: first.threadId });
    assert.equal(written.reason, 'data breakpoint');
    assert.equal(await line(client, written.threadId), 49);
    assert.equal(await evaluate(client, 'data', 'watch'), '0');
    await client.setDataBreakpointsRequest({ breakpoints: [] });

    // Forward again: what the read returns is ours to choose.
    for (const value of ['42', '0']) {
        const again = await moved(client, 'continue', { threadId: written.threadId });
        assert.equal(again.reason, 'exception');
        assert.match(await evaluate(client, `choose ${value}`), /the memory model allows 0, 42/);
        await assert.rejects(evaluate(client, 'choose 7'), /does not allow 7/);
        const end = await moved(client, 'continue', { threadId: again.threadId });
        assert.match(end.text, /the dispatch has ended/);
        assert.equal(await evaluate(client, 'received'), value);
        await moved(client, 'reverseContinue', { threadId: 1 });
        await moved(client, 'reverseContinue', { threadId: 1 });
    }
    await assert.rejects(client.restartRequest({}), /not implemented in Pellucid: restart/);
    await client.disconnectRequest();
    client.stopAdapter();
}

async function steps() {
    const client = await started();
    let bound;
    const first = await launched(
        client,
        { program: sum, args: ['--buffer', '0:0=u32x64=iota'] },
        async () => {
            await client.setExceptionBreakpointsRequest({ filters: [] });
            bound = (await client.setBreakpointsRequest({
                source: { path: path.join(here, 'reduce.comp') },
                breakpoints: [
                    { line: 13, condition: 'me == 5' },
                    { line: 13, logMessage: 'here' },
                    { line: 13, condition: 'me == 5 || me' },
                ],
            })).body.breakpoints;
        },
    );
    assert.ok(bound[0].verified);
    assert.match(bound[1].message, /not implemented in Pellucid: logMessage/);
    assert.ok(!bound[2].verified);
    assert.match(bound[2].message, /no other operator: "\|\| me"/);
    assert.equal(first.reason, 'breakpoint');
    assert.deepEqual(first.hitBreakpointIds, [bound[0].id]);
    assert.equal(await evaluate(client, 'gl_WorkGroupID'), '(0, 0, 0)');
    assert.equal(await evaluate(client, 'gl_LocalInvocationIndex', 'hover'), '5');
    const locals = await variables(client, first.threadId, 'Locals');
    const me = locals.of.find((one) => one.name === 'me');
    assert.deepEqual([me.type, me.value], ['u32', '5']);
    assert.equal(await evaluate(client, 'values[me]'), '5');
    const set = { variablesReference: locals.variablesReference, name: 'me', value: '40' };
    assert.equal((await client.setVariableRequest(set)).body.value, '40');
    assert.equal(await evaluate(client, 'values[me]'), '40');
    const at = await line(client, first.threadId);
    const next = await moved(client, 'next', { threadId: first.threadId });
    assert.equal(next.threadId, first.threadId);
    const after = await line(client, first.threadId);
    assert.notEqual(after, at);
    await moved(client, 'stepIn', { threadId: first.threadId });
    await moved(client, 'stepBack', { threadId: first.threadId });
    assert.equal(await line(client, first.threadId), after);
    const start = await moved(client, 'reverseContinue', { threadId: first.threadId });
    assert.match(start.text, /nothing earlier/);
    await client.disconnectRequest();
    client.stopAdapter();
}

// A dispatch of a program, with an image; then the program goes on.
async function dispatch() {
    const client = await started();
    let printed = '';
    client.on('output', ({ body }) => { printed += body.output; });
    const first = await launched(client, { program: blur, dispatch: 1, options: ['--seed', '3'] });
    assert.equal(first.reason, 'exception');
    assert.equal(await line(client, first.threadId), 9);
    const images = await variables(client, first.threadId, 'Images');
    assert.deepEqual(images.of.map((one) => [one.name, one.type, one.indexedVariables]), [['picture', '2D image', 32]]);
    const { variablesReference } = images.of[0];
    const texels = (await client.variablesRequest({ variablesReference, start: 9, count: 2 })).body.variables;
    assert.deepEqual(texels.map((one) => one.name), ['[1,1]', '[2,1]']);
    assert.match(await evaluate(client, 'picture[7,3]', 'hover'), /^(37|36)$/);
    // Back to the beginning: the texel as the first dispatch left it.
    await client.setExceptionBreakpointsRequest({ filters: [] });
    const start = await moved(client, 'reverseContinue', { threadId: first.threadId });
    assert.match(start.text, /nothing earlier/);
    assert.equal(await evaluate(client, 'picture[7,3]', 'watch'), '37');
    const again = (await variables(client, first.threadId, 'Images')).of[0].variablesReference;
    const info = (await client.dataBreakpointInfoRequest({ variablesReference: again, name: '[7,3]' })).body;
    assert.equal(info.description, 'picture[7,3], 4 bytes');
    await client.setDataBreakpointsRequest({ breakpoints: [{ dataId: info.dataId, accessType: 'write' }] });
    const written = await moved(client, 'continue', { threadId: first.threadId });
    assert.equal(written.reason, 'data breakpoint');
    await client.setDataBreakpointsRequest({ breakpoints: [] });
    const end = await moved(client, 'continue', { threadId: written.threadId });
    assert.match(end.text, /the dispatch has ended/);
    const terminated = client.waitForEvent('terminated', 30000);
    await client.send('continue', { threadId: 1 });
    await terminated;
    assert.match(printed, /\[0, \d+, \d+, /);
    assert.match(printed, /2 dispatches checked/);
    await client.disconnectRequest();
    client.stopAdapter();
}

// A finding of a program's report; what is not there.
async function finding() {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pellucid-'));
    const report = path.join(folder, 'report.json');
    assert.equal(spawnSync(pellucid, ['run', '--report', report, '--', blur]).status, 66);
    const client = await started();
    const first = await launched(client, { finding: `${report}:1`, program: blur });
    fs.rmSync(folder, { recursive: true });
    assert.equal(first.reason, 'exception');
    const info = (await client.send('exceptionInfo', { threadId: first.threadId })).body;
    assert.match(info.exceptionId, /^race-/);
    await client.disconnectRequest();
    client.stopAdapter();

    const other = await started();
    await other.initializeRequest();
    await assert.rejects(other.launchRequest({ program: blur, dispatch: 9 }), /no dispatch 9: the program ended after 2/);
    other.stopAdapter();
}

async function tcp() {
    const server = spawn(pellucid, ['debug', '--listen', '127.0.0.1:0']);
    const port = await new Promise((resolve, reject) => {
        server.on('error', reject);
        let said = '';
        server.stderr.on('data', (text) => {
            said += text;
            const found = /127\.0\.0\.1:(\d+)\n/.exec(said);
            if (found) resolve(Number(found[1]));
        });
    });
    const client = new DebugClient('', '', 'pellucid');
    await client.start(port);
    await client.initializeRequest();
    await assert.rejects(client.launchRequest({ program: '/nonexistent.spv' }), /nonexistent/);
    const ready = client.waitForEvent('initialized').then(() => client.configurationDoneRequest());
    const stopped = client.waitForEvent('stopped');
    await Promise.all([client.launchRequest({ program: flag, args: ['--groups', '2'], stopOnEntry: true }), ready]);
    assert.equal((await stopped).body.reason, 'entry');
    const terminated = client.waitForEvent('terminated');
    await client.send('terminate', {});
    await terminated;
    client.stopAdapter();
}

await message();
await steps();
await dispatch();
await finding();
await tcp();
console.log('debugger: ok');
process.exit(0);
