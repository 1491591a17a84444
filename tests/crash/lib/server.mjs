// The server as a process: started, killed, stopped, verified.
// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

export const BIN = resolve(process.env.THORPE_BIN ?? 'build/thorpe');
const PATIENCE_MS = 30_000;

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${ms / 1000} s for ${what}`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function launch(args, env = {}) {
  const child = spawn(BIN, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const run = { child, output: '', ended: undefined };
  running.add(child);
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => { run.output += data; });
  run.done = new Promise((done) => {
    child.on('error', (error) => { run.output += error.message; running.delete(child); done(run.ended = error.code); });
    child.on('close', (code, signal) => { running.delete(child); done(run.ended = signal ?? code); });
  });
  return run;
}

function listening(run) {
  return new Promise((found, failed) => {
    const look = () => {
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(run.output)?.[1];
      if (port) found(Number(port));
    };
    run.child.stdout.on('data', look);
    run.child.stderr.on('data', look);
    run.done.then((how) => {
      const error = new Error(`the server ended with ${how} before it listened: ${run.output.slice(-2000)}`);
      failed(Object.assign(error, { endedWith: how }));
    });
  });
}

const serveArgs = (dir, args) => ['serve', '--listen', '127.0.0.1:0', ...(dir ? ['--data', dir] : ['--in-memory']), ...args];

export class Server {
  /** Starts a server on `dir` (none: it keeps nothing) and waits until it listens; `openMs` is how long that took. */
  static async start(dir, { args = [], env } = {}) {
    const server = new Server();
    const began = performance.now();
    server.run = launch(serveArgs(dir, args), env);
    server.port = await within(PATIENCE_MS, 'the server to listen', listening(server.run));
    server.openMs = performance.now() - began;
    return server;
  }

  /** Starts a server on `dir` and kills it `ms` later, wherever it is by then. */
  static async startAndKill(dir, ms, { args = [] } = {}) {
    const run = launch(serveArgs(dir, args));
    await new Promise((resume) => { setTimeout(resume, ms); });
    run.child.kill('SIGKILL');
    return within(PATIENCE_MS, 'the server to die', run.done);
  }

  get log() {
    return this.run.output;
  }

  get alive() {
    return this.run.ended === undefined;
  }

  /** Resolves to the exit code, or to the name of the signal, when the process has ended by itself. */
  get ended() {
    return this.run.done;
  }

  /** As a machine that is too busy, or a virtual one that is moved: it is there, and does nothing. */
  hang() {
    this.run.child.kill('SIGSTOP');
  }

  wake() {
    this.run.child.kill('SIGCONT');
  }

  async kill() {
    this.run.child.kill('SIGKILL');
    const how = await within(PATIENCE_MS, 'the server to die', this.run.done);
    this.checkLog();
    return how;
  }

  /** Built with sanitizers, the server says there what they found. */
  checkLog() {
    if (/Sanitizer|runtime error:/.test(this.log)) throw new Error(this.log.slice(0, 4000));
  }

  async stop() {
    this.run.child.kill('SIGTERM');
    const how = await within(PATIENCE_MS, 'the server to exit after SIGTERM', this.run.done);
    this.checkLog();
    if (how !== 0) throw new Error(`the server ended with ${how} after SIGTERM: ${this.log.slice(-2000)}`);
  }
}

/** `thorpe verify` recounts every index and counter of a directory that no server has open. */
export async function verify(dir) {
  const run = launch(['verify', '--data', dir]);
  const how = await within(PATIENCE_MS, 'thorpe verify', run.done);
  if (how !== 0) throw new Error(`thorpe verify ended with ${how}: ${run.output.slice(-2000)}`);
}
