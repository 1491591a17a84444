// Starting and stopping the program, waiting for conditions, and clients for an endpoint. Starts nothing by itself.
//
// THORPE_BIN  the program (default: build/thorpe)
//
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreams } from '@aws-sdk/client-dynamodb-streams';
import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';

const here = dirname(fileURLToPath(import.meta.url));

export const BIN = process.env.THORPE_BIN ?? join(here, '..', '..', 'build', 'thorpe');

// ---------------------------------------------------------------- designs that ship

const folders = [join(here, '..', '..', 'designs'), join(here, '..', '..', 'designs', 'examples')];
const namesIn = (dir) => readdirSync(dir).filter((name) => name.endsWith('.yaml')).map((name) => name.slice(0, -5)).sort();
/** Their names: the five of designs/, and those of designs/examples. */
export const FIVE = namesIn(folders[0]);
export const EXAMPLES = namesIn(folders[1]);
export const SHIPPED = [...FIVE, ...EXAMPLES];
/** The file of one of them. */
export const designFile = (name) => folders.map((dir) => join(dir, `${name}.yaml`)).find((path) => existsSync(path)) ?? join(folders[0], `${name}.yaml`);

// ---------------------------------------------------------------- waiting

/** Calls probe until it returns something truthy, and returns that. */
export async function until(what, probe, seconds = 30) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`waited ${seconds} s in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The promise's result, or an error that says what did not happen in time. */
export async function within(seconds, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${seconds} s in vain for: ${what}`)), seconds * 1000);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

// ---------------------------------------------------------------- processes

const running = new Set();
export const killAll = () => { for (const child of running) child.kill('SIGKILL'); };
process.on('exit', killAll);

// A server that hangs must fail the file, not the patience of whoever runs the tests. A database elsewhere takes longer.
const FILE_MINUTES = process.env.THORPE_BACKEND ? 10 : 3;
setTimeout(() => {
  console.error(`this file took more than ${FILE_MINUTES} minutes`);
  killAll();
  process.exit(1);
}, FILE_MINUTES * 60_000).unref();

/** A fresh directory, removed when the test file has ended. */
export function freshDirectory() {
  const dir = mkdtempSync(join(tmpdir(), 'thorpe-wire-'));
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Starts the program, allowed so many open files; `done` resolves to its exit code, or to the signal that ended it. */
export function launch(args, { env = {}, cwd, files, input = false } = {}) {
  const [command, ...rest] = files ? ['sh', '-c', 'ulimit -n "$0" && exec "$@"', `${files}`, BIN, ...args] : [BIN, ...args];
  const child = spawn(command, rest, { stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'], env: { ...process.env, ...env }, cwd });
  const run = { child, stdout: '', stderr: '' };
  running.add(child);
  child.stdout.on('data', (data) => { run.stdout += data; });
  child.stderr.on('data', (data) => { run.stderr += data; });
  run.done = new Promise((resolve) => {
    child.on('error', (error) => { run.stderr += error.message; running.delete(child); resolve(error.code); });
    child.on('close', (code, signal) => { running.delete(child); resolve(code ?? signal); });
  });
  return run;
}

/** Runs the program to its end. */
export async function runToEnd(args, options) {
  const run = launch(args, options);
  try {
    const code = await within(30, `thorpe ${args.join(' ')} to end`, run.done);
    return { code, stdout: run.stdout, stderr: run.stderr };
  } finally {
    run.child.kill('SIGKILL');
  }
}

/** A server that has said where it listens. */
export async function startServer({ data = freshDirectory(), listen = '127.0.0.1:0', args = [], env, files } = {}) {
  const run = launch(['serve', '--listen', listen, ...(data ? ['--data', data] : ['--in-memory']), ...args], { env, files });
  let ended;
  run.done.then((code) => { ended = code ?? 'ended'; });
  const endpoint = await until('the server to say where it listens', () => {
    if (ended !== undefined) throw new Error(`the server ended with ${ended}: ${run.stderr}`);
    return /https?:\/\/[\d.]+:\d+/.exec(run.stderr)?.[0];
  });
  return {
    ...run,
    endpoint,
    data,
    port: Number(new URL(endpoint).port),
    log: () => run.stderr,
    /** SIGTERM; the server must drain and exit with 0. */
    async stop() {
      run.child.kill('SIGTERM');
      const code = await within(30, 'the server to exit after SIGTERM', run.done);
      assert.equal(code, 0, `exit code after SIGTERM; its log:\n${run.stderr.slice(-4000)}`);
    },
    async kill() {
      run.child.kill('SIGKILL');
      await within(30, 'the server to die', run.done);
    },
  };
}

/** Whatever was done to it: every index of a data directory must agree with its table. */
export async function verify(data) {
  const { code, stdout, stderr } = await runToEnd(['verify', '--data', data]);
  assert.equal(code, 0, `thorpe verify found:\n${stdout.slice(-4000)}${stderr}`);
}

// ---------------------------------------------------------------- clients

export const CREDENTIALS = { accessKeyId: 'fakeMyKeyId', secretAccessKey: 'fakeSecretAccessKey' };

export function clientsFor(endpoint, options = {}) {
  const config = { endpoint, region: 'us-east-1', credentials: CREDENTIALS, maxAttempts: 1, ...options };
  const ddb = new DynamoDB(config);
  return { ddb, doc: DynamoDBDocument.from(ddb), streams: new DynamoDBStreams(config) };
}
