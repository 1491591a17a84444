// Processes, directories and ports of a benchmark run; whatever happens, nothing of it is left behind.
// SPDX-License-Identifier: Apache-2.0
import { spawn, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const BUILD = resolve(ROOT, process.env.BENCH_BUILD ?? 'build');
export const THORPE = join(BUILD, 'thorpe');
export const program = (name) => join(BUILD, 'bench', 'load', `bench_${name}`);

const began = Date.now();
export const elapsed = () => (Date.now() - began) / 1000;
export const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
const clock = (s) => `${String(Math.floor(s / 60)).padStart(2)}:${String(Math.floor(s % 60)).padStart(2, '0')}`;

/** One line of progress. */
export const say = (text) => console.error(`[${clock(elapsed())}] ${text}`);

/** The path of a tool, also of one that only root has in its PATH; undefined when there is none. */
export function tool(name) {
  const places = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin', '/sbin'];
  return places.map((place) => join(place, name)).find((path) => existsSync(path));
}

/** What a command prints, or undefined. */
export function output(command, ...args) {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  } catch {
    return undefined;
  }
}

// ---------------------------------------------------------------- directories

// A file system in memory has nothing to sync, and would make a disk of it.
const isMemory = (dir) => output('stat', '-f', '-c', '%T', dir) === 'tmpfs';
const base = () => {
  const wanted = process.env.BENCH_DIR ?? tmpdir();
  if (!isMemory(wanted)) return wanted;
  mkdirSync(BUILD, { recursive: true });
  return BUILD;
};

export const SCRATCH = mkdtempSync(join(base(), 'thorpe-bench-'));
let directories = 0;
/** A path for a directory that is not there yet. */
export const freshPath = (name = 'dir') => join(SCRATCH, `${name}-${directories += 1}`);
export const remove = (path) => rmSync(path, { recursive: true, force: true });

// ---------------------------------------------------------------- processes

const running = new Map(); // child -> what happens when it ends

function signal(child, name) {
  try { process.kill(child.pid, name); } catch { /* it has ended */ }
}

/** The processes that a process has started (nginx's workers, which outlive a master that is killed). */
function childrenOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function cleanUp() {
  for (const child of running.keys()) {
    for (const one of [child, ...childrenOf(child.pid).map((pid) => ({ pid }))]) signal(one, 'SIGKILL');
  }
  rmSync(SCRATCH, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
process.on('exit', cleanUp);
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => process.exit(130));

/** Starts a command; `done` resolves to its exit code or signal, `text` is what it has printed so far. */
export function start(command, args, options = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const run = { child, stdout: '', stderr: '', ended: undefined };
  const done = new Promise((settle) => {
    const end = (how) => { running.delete(child); run.ended ??= how; settle(run.ended); };
    child.on('error', (error) => end(error.message));
    child.on('close', (code, name) => end(code ?? name));
  });
  running.set(child, done);
  run.done = done;
  const keep = (which) => (data) => { run[which] = (run[which] + data).slice(-1_000_000); };
  child.stdout.on('data', keep('stdout'));
  child.stderr.on('data', keep('stderr'));
  return run;
}

/** Ends a process: SIGTERM, and SIGKILL after `seconds`. */
export async function stop(run, seconds = 30) {
  if (run.ended !== undefined) return;
  signal(run.child, 'SIGCONT');
  signal(run.child, 'SIGTERM');
  const timer = setTimeout(() => signal(run.child, 'SIGKILL'), seconds * 1000);
  await run.done;
  clearTimeout(timer);
}

export async function kill(run) {
  if (run.ended !== undefined) return;
  signal(run.child, 'SIGKILL');
  signal(run.child, 'SIGCONT');
  await run.done;
}

export const freeze = (run) => signal(run.child, 'SIGSTOP');
export const thaw = (run) => signal(run.child, 'SIGCONT');

/** Runs a command to its end and returns what it printed; an error says what went wrong. */
export async function complete(command, args, seconds = 60) {
  const run = start(command, args);
  const timer = setTimeout(() => signal(run.child, 'SIGKILL'), seconds * 1000);
  const code = await run.done;
  clearTimeout(timer);
  if (code !== 0) throw new Error(`${command.split('/').at(-1)} ended with ${code}: ${(run.stderr || run.stdout).trim().slice(-300)}`);
  return run;
}

/** Calls probe every few milliseconds until it gives something truthy. */
export async function until(what, probe, { seconds = 30, every = 5 } = {}) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const found = await probe();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`waited ${seconds} s in vain for ${what}`);
    await pause(every);
  }
}

export const freePort = () => new Promise((done, failed) => {
  const server = createServer();
  server.on('error', failed);
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => done(port));
  });
});

// ---------------------------------------------------------------- looking at a process

/** Kilobytes of a field of /proc/PID/status: VmRSS now, VmHWM at most so far. */
export function memory(run, field = 'VmRSS') {
  const found = new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${run.child.pid}/status`, 'utf8'));
  return found ? Number(found[1]) : undefined;
}

const timeOf = (pid) => {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13);
  return (Number(user) + Number(system)) / 100;
};

/** Seconds of processor time so far, those of its children (nginx's workers) included. */
export function processorTime({ child: { pid } }) {
  return [pid, ...childrenOf(pid)].reduce((sum, one) => sum + timeOf(one), 0);
}

/** Waits until a process has nothing more to do in the background (RocksDB's compactions). */
export async function settled(run, seconds = 300) {
  const deadline = Date.now() + seconds * 1000;
  for (let quiet = 0; quiet < 3 && Date.now() < deadline;) {
    const before = processorTime(run);
    await pause(700);
    quiet = processorTime(run) - before <= 0.03 ? quiet + 1 : 0;
  }
}

/** Waits, not for long, until a server has dealt with what clients have asked who are gone. */
export async function drained(run, seconds = 15) {
  const deadline = Date.now() + seconds * 1000;
  for (let busy = true; busy && Date.now() < deadline;) {
    const before = processorTime(run);
    await pause(100);
    busy = processorTime(run) - before > 0.02;
  }
}

/** Bytes that a directory takes on disk. */
export const diskBytes = (dir) => Number(output('du', '-s', '--block-size=1', dir).split('\t')[0]);
