// Kills the server under a mixed load, again and again, and checks what is left:
//     node crash.mjs [kills]        or CRASH_KILLS; CRASH_SEED repeats a run
// After each reopen every acknowledged write is there, no transaction is there by half, every index equals
// what its table implies, and stream order is commit order.
// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkAll } from './lib/check.mjs';
import { Client } from './lib/client.mjs';
import { Load } from './lib/load.mjs';
import { Model } from './lib/model.mjs';
import { Random } from './lib/random.mjs';
import { report } from './lib/report.mjs';
import { Server, verify } from './lib/server.mjs';
import { setUp } from './lib/tables.mjs';

const KILLS = Number(process.argv[2] ?? process.env.CRASH_KILLS ?? 12);
const SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1e9);
// Each kind has directories of its own, again and again until all rounds are done. Not more rounds, because
// streams are read from their beginning each time.
const KINDS = [
  { name: '', rounds: 16, ms: [20, 400] },
  { name: ' (heavy)', rounds: 4, ms: [400, 1500], isHeavy: true },
  { name: ' (relaxed)', rounds: 2, ms: [20, 400], isRelaxed: true, args: ['--durability', 'relaxed'] },
];

const inUse = new Set(); // directories to be removed at the end, whatever happens
process.on('exit', () => {
  for (const path of inUse) rmSync(path, { recursive: true, force: true });
});

class Directory {
  constructor(rng, kind) {
    this.rng = rng;
    this.kind = kind;
    this.path = mkdtempSync(join(tmpdir(), 'thorpe-crash-'));
    this.model = new Model();
    inUse.add(this.path);
  }

  async open() {
    this.server = await Server.start(this.path, { args: this.kind.args });
    this.client = new Client(this.server.port);
  }

  async stop() {
    this.client.close();
    await this.server.stop();
  }

  async loadAndKill() {
    const load = new Load(this.client, this.model, this.rng, this.kind);
    const ms = this.rng.between(...this.kind.ms);
    const loaded = load.run();
    await new Promise((resume) => { setTimeout(resume, ms); });
    if (!this.server.alive) this.model.violated(`the server died by itself: ${this.server.log.slice(-2000)}`);
    await this.server.kill();
    load.stop();
    this.client.close();
    await loaded;
    return `${ms} ms of load, ${load.answered} answers`;
  }

  async killWhileStarting() {
    const times = this.rng.between(1, 3);
    for (let i = 0; i < times; i++) {
      await Server.startAndKill(this.path, this.rng.between(1, 60), { args: this.kind.args });
    }
    return `, ${times} kills while starting`;
  }

  /** One round; the server runs before and after it. */
  async round(n) {
    let line = await this.loadAndKill();
    if (this.rng.chance(25)) line += await this.killWhileStarting();
    await this.open();
    line += `, opened in ${this.server.openMs.toFixed(0)} ms`;
    await checkAll(this.client, this.model, this.rng, { strict: !this.kind.isRelaxed });
    if (n % 4 === 3) {
      await this.stop();
      await verify(this.path);
      await this.open();
      line += ', verified';
    }
    return line + this.kind.name;
  }
}

async function runDirectory(tally, rounds, rng, kind) {
  const directory = new Directory(rng, kind);
  await directory.open();
  await setUp(directory.client, directory.model, rng);
  for (let n = 0; n < rounds; n++) {
    const line = await tally.run(() => directory.round(n), directory.model);
    if (line !== undefined) continue;
    inUse.delete(directory.path);
    tally.say(`    the data is kept in ${directory.path}; the server's last lines:`);
    tally.say(directory.server.log.slice(-1500));
    await directory.server.kill();
    return;
  }
  await directory.stop();
  await verify(directory.path);
  rmSync(directory.path, { recursive: true, force: true });
  inUse.delete(directory.path);
}

await report(`crash: ${KILLS} kills, seed ${SEED}`, async (tally) => {
  const rng = new Random(SEED);
  // A short run has a part of each kind.
  const share = Math.min(1, KILLS / KINDS.reduce((sum, kind) => sum + kind.rounds, 0));
  for (let turn = 0; tally.total < KILLS && tally.failed < 3; turn++) {
    const kind = KINDS[turn % KINDS.length];
    const rounds = Math.min(Math.max(1, Math.round(kind.rounds * share)), KILLS - tally.total);
    await runDirectory(tally, rounds, rng, kind);
  }
});
