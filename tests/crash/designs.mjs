// Fifty clients of the five designs at once; the server is killed again and again, and what is left is recounted from outside:
//     node designs.mjs [rounds]        or CRASH_ROUNDS; CRASH_SEED repeats the choices of a run, DESIGNS="blog fus" restricts it
//
// The clients share a few identities, so that they create, change and delete the same things. After each kill the server is
// started again (now and then it is killed while it catches up, too), the processors come to rest, and raw Scans of the
// tables are compared with themselves (counters, guards, copies, parents, feeds) and with what clients were told.
// `thorpe verify --design` must find nothing, either.
// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, NoAnswer } from './lib/client.mjs';
import { blog } from './lib/designs/blog.mjs';
import { plainItem } from './lib/designs/common.mjs';
import { fus } from './lib/designs/fus.mjs';
import { perfectit } from './lib/designs/perfectit.mjs';
import { social } from './lib/designs/social.mjs';
import { wavyblog } from './lib/designs/wavyblog.mjs';
import { Ledger } from './lib/ledger.mjs';
import { Random } from './lib/random.mjs';
import { report } from './lib/report.mjs';
import { Rest } from './lib/rest.mjs';
import { BIN, Server, verify } from './lib/server.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const ROUNDS = Number(process.argv[2] ?? process.env.CRASH_ROUNDS ?? 3);
const SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1e9);
const CLIENTS = 50;
const LOAD_MS = [150, 2500];
const SETTLE_MS = 120_000;
const VERIFY_EACH = 5; // rounds
const ALL = [blog, wavyblog, fus, social, perfectit];
const TABLES = { blog: 'thorpe-dev-blog', wavyblog: 'WavyBlog', fus: 'fus-main', social: 'SocialMediaApp', perfectit: 'perfectit-main' };
const DESIGNS = process.env.DESIGNS ? ALL.filter(({ name }) => process.env.DESIGNS.split(' ').includes(name)) : ALL;
const fileOf = ({ name }) => join(ROOT, 'designs', `${name}.yaml`);
const pause = (ms) => new Promise((resume) => { setTimeout(resume, ms); });

/** One design of the server: its callers, what they were told, and the things they remember. */
class World {
  constructor(design, dir, rng, violated) {
    this.design = design;
    this.dir = dir;
    this.rng = rng;
    this.violated = violated;
    this.ledger = new Ledger();
    this.tokens = new Map();
    this.memory = new Map();
    this.statuses = {};
    this.serials = 0;
    this.checks = 0;
    this.names = Object.entries(design.flows).flatMap(([name]) => Array(design.weights[name] ?? 1).fill(name));
  }

  serial() {
    this.serials += 1;
    return this.serials;
  }

  text(word) {
    return `${word}${this.serial()}`;
  }

  pickPost(authors) {
    return `${this.rng.pick(authors)}-${this.rng.below(3)}`;
  }

  /** The last few of a kind: what is older has lost its charm. */
  remember(kind, thing) {
    const list = this.memory.get(kind) ?? [];
    list.push(thing);
    this.memory.set(kind, list.slice(-12));
  }

  recent(kind) {
    const list = this.memory.get(kind) ?? [];
    return list.length ? this.rng.pick(list) : undefined;
  }

  token(subject) {
    if (!this.tokens.has(subject)) {
      const roles = this.design.subjects().find(([name]) => name === subject)?.[1] ?? [];
      const flags = subject === 'operator' ? ['--operator'] : ['--subject', subject, ...roles.flatMap((role) => ['--role', role])];
      this.tokens.set(subject, execFileSync(BIN, ['token', this.design.name, '--data', this.dir, ...flags], { encoding: 'utf8' }).trim());
    }
    return this.tokens.get(subject);
  }

  async send(who, method, path, body) {
    const reply = await this.rest.request(this.token(who), method, `/api/${this.design.name}${path}`, body);
    this.statuses[reply.status] = (this.statuses[reply.status] ?? 0) + 1;
    if (reply.status === 500) this.violated(`${this.design.name}: ${method} ${path} gave 500: ${JSON.stringify(reply.body)}`);
    return reply;
  }

  /** A request that may have no answer; then, or after an answer, the ledger knows of it. */
  act(who, method, path, body, effects) {
    return this.ledger.act(effects, () => this.send(who, method, path, body).catch((error) => {
      if (error instanceof NoAnswer) return undefined;
      throw error;
    }));
  }

  async must(who, method, path, body, effects) {
    const reply = await this.act(who, method, path, body, effects);
    if (!(reply?.status < 300)) throw new Error(`${method} ${path}: ${JSON.stringify(reply)}`);
  }

  async step() {
    await this.design.flows[this.rng.pick(this.names)](this, this.rng.pick(this.design.people));
  }

  /** An operator stops a processor in the middle, or lets it go on. */
  async toggleProcessor() {
    const { body } = await this.send('operator', 'GET', '/processors');
    const all = body?.processors ?? [];
    if (all.length === 0) return;
    const { name, paused } = this.rng.pick(all);
    await this.send('operator', 'POST', `/processors/${encodeURIComponent(name)}/${paused ? 'resume' : 'pause'}`, {});
  }

  async settle() {
    const deadline = Date.now() + SETTLE_MS;
    const { body } = await this.send('operator', 'GET', '/processors');
    for (const { name, paused } of body.processors) {
      if (paused) await this.send('operator', 'POST', `/processors/${encodeURIComponent(name)}/resume`, {});
    }
    for (;;) {
      const { body: now } = await this.send('operator', 'GET', '/processors');
      if (now.idle) {
        for (const each of now.processors) if (each.parked) this.violated(`${this.design.name}: ${each.name} has parked ${each.parked}: ${each.last_problem}`);
        return;
      }
      if (Date.now() > deadline) throw new Error(`${this.design.name} is not at rest after ${SETTLE_MS / 1000} s: ${JSON.stringify(now).slice(0, 2000)}`);
      await pause(20);
    }
  }

  async recount(client) {
    const items = (await client.scan(TABLES[this.design.name])).map(plainItem);
    const { r, there } = this.design.recount(items, this.ledger);
    const wrong = [...r.wrong, ...this.ledger.settle(there)];
    for (const each of wrong) this.violated(`${this.design.name}: ${each}`);
    this.checks += r.checks;
    return items.length;
  }
}

class Run {
  constructor(rng) {
    this.rng = rng;
    this.violations = [];
    this.kills = 0;
    this.dir = mkdtempSync(join(tmpdir(), 'thorpe-designs-'));
    this.worlds = DESIGNS.map((design) => new World(design, this.dir, rng.fork(), (what) => this.violations.push(what)));
  }

  async open() {
    this.server = await Server.start(this.dir, { args: DESIGNS.flatMap((design) => ['--design', fileOf(design)]) });
    this.rest = new Rest(this.server.port, CLIENTS + 8);
    for (const world of this.worlds) world.rest = this.rest;
  }

  async die() {
    if (!this.server.alive) this.violations.push(`the server died by itself: ${this.server.log.slice(-2000)}`);
    await this.server.kill();
    this.isDead = true;
    this.rest.close();
  }

  async client() {
    while (!this.isDead) {
      const world = this.rng.pick(this.worlds);
      try {
        if (this.rng.chance(1)) await world.toggleProcessor();
        else await world.step();
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
      }
    }
  }

  async loadAndKill() {
    this.isDead = false;
    const ms = this.rng.between(...LOAD_MS);
    const clients = Promise.all(Array.from({ length: CLIENTS }, () => this.client()));
    await Promise.race([pause(ms), clients]);
    await this.die();
    await clients;
    return ms;
  }

  /** Kills it again while the processors have not caught up, some times. */
  async killWhileCatchingUp() {
    let times = 0;
    while (this.rng.chance(35)) {
      await this.open();
      await pause(this.rng.between(0, 150));
      await this.die();
      times += 1;
    }
    return times;
  }

  async consult() {
    await this.server.stop();
    this.rest.close();
    await verify(this.dir);
    for (const design of DESIGNS) {
      try {
        execFileSync(BIN, ['verify', '--design', fileOf(design), '--data', this.dir, '--json'], { encoding: 'utf8', stdio: 'pipe' });
      } catch (error) {
        this.violations.push(`thorpe verify --design ${design.name}: ${error.stdout}${error.stderr}`);
      }
    }
    await this.open();
  }

  async round(n) {
    const answered = () => this.worlds.reduce((sum, { statuses }) => sum + Object.values(statuses).reduce((a, b) => a + b, 0), 0);
    const before = answered();
    const ms = await this.loadAndKill();
    const line = `${ms} ms of ${CLIENTS} clients, ${answered() - before} answers`;
    const again = await this.killWhileCatchingUp();
    this.kills += 1 + again;
    await this.open();
    const began = performance.now();
    for (const world of this.worlds) await world.settle();
    const rested = performance.now() - began;
    const client = new Client(this.server.port);
    let items = 0;
    for (const world of this.worlds) items += await world.recount(client);
    client.close();
    if (n % VERIFY_EACH === VERIFY_EACH - 1 || n === ROUNDS - 1) await this.consult();
    return `${line}, ${again} more kills, at rest after ${rested.toFixed(0)} ms, ${items} items`;
  }
}

await report(`crash of designs: ${ROUNDS} rounds, seed ${SEED}`, async (tally) => {
  const run = new Run(new Random(SEED));
  try {
    await run.open();
    for (const world of run.worlds) await world.design.setUp(world);
    for (let n = 0; n < ROUNDS; n++) {
      if (await tally.run(() => run.round(n), run) !== undefined) continue;
      tally.say(`    the data is in ${run.dir}; the server's last lines:\n${run.server.log.slice(-1500)}`);
      run.isKept = true;
      break;
    }
  } finally {
    await run.server.kill();
    if (!run.isKept) rmSync(run.dir, { recursive: true, force: true });
  }
  for (const { design, statuses, ledger, checks } of run.worlds) {
    tally.say(`    ${design.name}: ${JSON.stringify(statuses)}; acknowledged ${ledger.puts} puts, ${ledger.deletions} deletions, ${ledger.inDoubt} in doubt; ${checks} checks`);
  }
  tally.say(`    ${run.kills} kills`);
});
