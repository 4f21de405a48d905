// The steps of the GitHub Action and of the GitLab template, as their files have them, in a clean folder each:
// the command is installed into a prefix, hunts a planted bug and its fixed twin, and what it writes is SARIF by
// the schema of package @microsoft/jest-sarif.
//
// usage: node templates.mjs FOLDER; FOLDER: where the packages are. Needs the release build.
import assert from 'node:assert';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(path.resolve(process.argv[2], 'node_modules', 'x.js'));
const yaml = require('yaml');
const Ajv = require('ajv');
const schema = require('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json');
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
const planted = path.join(root, 'tests', 'planted', 'message_passing');
const valid = new Ajv({ schemaId: 'auto', allErrors: true, format: false })
    .addMetaSchema(require('ajv/lib/refs/json-schema-draft-04.json'))
    .compile(schema);

// A step's shell and nothing of this environment but what finds programs.
function step(script, folder, variables) {
    const { HOME, PATH, CARGO_HOME, RUSTUP_HOME } = process.env;
    const env = { HOME, PATH, CARGO_HOME, RUSTUP_HOME, ...variables };
    for (const name in env) if (env[name] === undefined) delete env[name];
    const ran = spawnSync('bash', ['-eo', 'pipefail', '-c', script], { cwd: folder, env, encoding: 'utf8' });
    return { status: ran.status, said: ran.stdout + ran.stderr };
}

// The findings of a SARIF file, which is one.
function findings(file) {
    const sarif = JSON.parse(fs.readFileSync(file, 'utf8'));
    assert.ok(valid(sarif), `${file}: ${JSON.stringify(valid.errors, null, 1)}`);
    return sarif.runs.flatMap((run) => run.results);
}

// Installs and hunts with `hunt`, which has the program in PROGRAM and options in OPTIONS.
function tried(name, install, hunt, artifact) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pellucid-template-'));
    const path_of = install(folder);
    for (const [shader, status, rules] of [
        ['buffer.no-make-visible', 66, ['race-not-visible']],
        ['buffer.fixed', 0, []],
    ]) {
        // Its name has a space, as folders of people have.
        const file = path.join(folder, `a ${shader}.spv`);
        fs.copyFileSync(path.join(planted, `${shader}.spv`), file);
        const ran = hunt(folder, path_of, { PROGRAM: `"${file}" --groups 2`, OPTIONS: '--runs 4' });
        assert.equal(ran.status, status, `${name}, ${shader}: ${ran.said}`);
        assert.deepEqual(findings(artifact(folder)).map((one) => one.ruleId), rules, `${name}, ${shader}`);
    }
    fs.rmSync(folder, { recursive: true });
}

const prefixed = `--from "${path.join(root, 'target', 'release')}"`;

// The action: `runs.steps` in order; the last one is another action, which takes the file that `sarif` names.
const action = yaml.parse(fs.readFileSync(path.join(root, 'action.yml'), 'utf8'));
const [install, hunt, upload] = action.runs.steps;
assert.equal(action.runs.using, 'composite');
assert.match(upload.uses, /^github\/codeql-action\/upload-sarif@/);
assert.equal(upload.if, 'always()');
const inputs = (text, given) =>
    text.replace(/\$\{\{ inputs\.(\w+) \}\}/g, (_, name) => given[name] ?? action.inputs[name].default);
tried(
    'action.yml',
    (folder) => {
        const runner = { GITHUB_ACTION_PATH: root, RUNNER_TEMP: folder, GITHUB_PATH: path.join(folder, 'path') };
        // The one difference: the build that is there is installed, instead of a new one.
        const script = install.run.replace('"$RUNNER_TEMP/pellucid"\n', `"$RUNNER_TEMP/pellucid" ${prefixed}\n`);
        assert.notEqual(script, install.run);
        const ran = step(script, folder, runner);
        assert.equal(ran.status, 0, ran.said);
        return fs.readFileSync(runner.GITHUB_PATH, 'utf8').trim();
    },
    (folder, bin, given) => {
        const asked = { program: given.PROGRAM, options: given.OPTIONS };
        const env = Object.fromEntries(Object.entries(hunt.env).map(([name, text]) => [name, inputs(text, asked)]));
        return step(hunt.run, folder, { GITHUB_ACTION_PATH: root, ...env, PATH: `${bin}:${process.env.PATH}` });
    },
    (folder) => path.join(folder, inputs(upload.with.sarif_file, {})),
);

// The template: `before_script` but for Debian's packages, then `script`.
const { '.pellucid': job } = yaml.parse(fs.readFileSync(path.join(root, 'packages', 'gitlab.yml'), 'utf8'));
assert.equal(job.artifacts.when, 'always');
const [debian, prefix] = job.before_script;
assert.match(debian, /^apt-get /);
tried(
    'gitlab.yml',
    (folder) => {
        const script = prefix.replace('/usr/local', `${folder}/local ${prefixed}`);
        assert.notEqual(script, prefix);
        const ran = step(script, folder, { ...job.variables, SOURCE_OF_PELLUCID: root });
        assert.equal(ran.status, 0, ran.said);
        return `${folder}/local/bin`;
    },
    (folder, bin, given) =>
        step(job.script.join('\n'), folder, {
            ...job.variables,
            ...given,
            SOURCE_OF_PELLUCID: root,
            PATH: `${bin}:${process.env.PATH}`,
        }),
    (folder) => path.join(folder, job.artifacts.paths[0]),
);
console.log('templates: ok');
