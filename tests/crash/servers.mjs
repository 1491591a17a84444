// Three servers, one database, many followers; one of the servers is killed every ten seconds, others hang or are cut off, and
// clients go on through all three:
//     FOLLOWERS=50000 KILLS=12 node servers.mjs
//
//   FOLLOWERS    in each of two designs: of social, spread over authors below its limit, and all of one star above it, whose posts
//                are pulled; of lib/designs/crowd.yaml, all of one author, with every entry written and counted
//   LIMIT        of followers in designs/social.yaml (10000) above which posts are pulled
//   KILLS, KILL_EVERY (seconds), POSTS (of each author), CLIENTS, CRASH_SEED
//   THORPE_BACKEND=http://127.0.0.1:8001   another database than a Thorpe
//   THORPE_FAULT=throttle=1%,…             faults of that Thorpe (docs/faults.md)
//
// In the end everything settles, and Scans of the tables are compared with themselves and with what clients were told: each feed
// has each post once, each counter is right, nothing is parked, `thorpe verify --design` finds nothing.
// SPDX-License-Identifier: Apache-2.0
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from './lib/client.mjs';
import { Recount, groupBy, plainItem } from './lib/designs/common.mjs';
import { social } from './lib/designs/social.mjs';
import { copyFans, fan, setNumbers } from './lib/fleet/crowds.mjs';
import { Fleet } from './lib/fleet/fleet.mjs';
import { Patient } from './lib/fleet/patient.mjs';
import { Ledger } from './lib/ledger.mjs';
import { Random } from './lib/random.mjs';
import { report } from './lib/report.mjs';
import { BIN, Server, verify } from './lib/server.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const number = (name, otherwise) => Number(process.env[name] ?? otherwise);
const FOLLOWERS = number('FOLLOWERS', 300);
const LIMIT = number('LIMIT', FOLLOWERS > 10_000 ? 10_000 : Math.floor(FOLLOWERS / 2));
const KILLS = number('KILLS', 2);
const KILL_EVERY_MS = 1000 * number('KILL_EVERY', FOLLOWERS < 1000 ? 5 : 10);
const HANG_MS = Math.max(8000, KILL_EVERY_MS * 1.5); // longer than leases last
const POSTS = number('POSTS', 2);
const CLIENTS = number('CLIENTS', 12);
const SEED = number('CRASH_SEED', Date.now() % 1e9);
const SETTLE_MS = 900_000;
const QUIET_MS = 2500; // everybody says that nothing is left to do, for so long
const EACH = Math.max(1, Math.floor(LIMIT * 0.85));
const AUTHORS = Array.from({ length: Math.max(2, Math.ceil(FOLLOWERS / EACH)) }, (_, i) => `author${i}`);
const STAR = 'star';
const TABLE = { social: 'SocialMediaApp', crowd: 'Crowd' };
const pause = (ms) => new Promise((resume) => { setTimeout(resume, ms); });
const run = promisify(execFile);
const followersOf = (k) => Math.floor((FOLLOWERS - k + AUTHORS.length - 1) / AUTHORS.length);

const user = (id) => `user ${id}`;
const edge = (a, b) => `edge ${a} ${b}`;

/** What people do with the authors of many, beside what they do among themselves. */
const withAuthors = {
  async followAuthor(w, me) {
    const author = w.rng.pick(AUTHORS);
    await w.act(me, 'PUT', `/users/${me}/following/${author}`, {}, [{ put: edge(me, author), under: [user(me), user(author)] }]);
  },
  async unfollowAuthor(w, me) {
    const author = w.rng.pick(AUTHORS);
    await w.act(me, 'DELETE', `/users/${me}/following/${author}`, undefined, [{ gone: edge(me, author) }]);
  },
  async likeAuthor(w, me) {
    const { post_id } = w.recent('widely read') ?? {};
    const kind = w.rng.pick(['likes', 'shares']);
    if (!post_id) return;
    if (w.rng.chance(70)) await w.act(me, 'PUT', `/posts/${post_id}/${kind}/${me}`, {}, [{ put: `${kind} ${post_id} ${me}`, under: [user(me)] }]);
    else await w.act(me, 'DELETE', `/posts/${post_id}/${kind}/${me}`, undefined, [{ gone: `${kind} ${post_id} ${me}` }]);
  },
};

/** Clients of a design, through any of the servers; the interface that the flows of lib/designs take. */
class World {
  constructor(name, file, backend, patient, rng) {
    Object.assign(this, { name, file, backend, patient, rng });
    this.ledger = new Ledger();
    this.tokens = new Map();
    this.memory = new Map();
    this.serials = 0;
    const flows = { ...social.flows, ...withAuthors };
    this.flows = Object.entries(flows).flatMap(([each, flow]) => Array(social.weights[each] ?? 2).fill(flow));
  }

  serial() {
    this.serials += 1;
    return this.serials;
  }

  text(word) {
    return `${word}${this.serial()}`;
  }

  remember(kind, thing) {
    this.memory.set(kind, [...(this.memory.get(kind) ?? []), thing].slice(-12));
  }

  recent(kind) {
    const list = this.memory.get(kind) ?? [];
    return list.length ? this.rng.pick(list) : undefined;
  }

  token(subject) {
    if (!this.tokens.has(subject)) {
      const flags = subject === 'operator' ? ['--operator'] : ['--subject', subject, '--role', subject === 'root' ? 'admin' : 'user'];
      this.tokens.set(subject, run(BIN, ['token', this.file, '--backend', this.backend, ...flags], { encoding: 'utf8' }).then(({ stdout }) => stdout.trim()));
    }
    return this.tokens.get(subject);
  }

  async send(who, method, path, body) {
    return this.patient.request(await this.token(who), method, `/api/${this.name}${path}`, body);
  }

  act(who, method, path, body, effects) {
    const told = (reply) => {
      const list = typeof effects === 'function' ? effects(reply) : effects;
      return reply?.isFoundDone ? list.map((each) => ({ ...each, may: true })) : list; // it may have made the thing: nobody can say
    };
    return this.ledger.act(told, () => this.send(who, method, path, body));
  }

  async must(who, method, path, body, effects = []) {
    const reply = await this.act(who, method, path, body, effects);
    if (!(reply?.status < 300)) throw new Error(`${method} ${path}: ${JSON.stringify(reply)}`);
    return reply;
  }

  async step() {
    await this.rng.pick(this.flows)(this, this.rng.pick(social.people));
  }
}

/** Of rows that there are very many of, what is compared. */
function slim(item) {
  const { PK, SK, user_id, post_id, author_id, type, notification_id, actor_id, created_at } = item;
  return /^FEED#/.test(PK) || /^NOTIFICATION#/.test(SK) ? { PK, SK, user_id, post_id, author_id, type, notification_id, actor_id, created_at } : item;
}

class Run {
  constructor(rng) {
    this.rng = rng;
    this.violations = [];
    this.dir = mkdtempSync(join(tmpdir(), 'thorpe-servers-'));
    this.files = { social: join(this.dir, 'social.yaml'), crowd: join(ROOT, 'tests/crash/lib/designs/crowd.yaml') };
    const text = readFileSync(join(ROOT, 'designs/social.yaml'), 'utf8');
    if (!text.includes('followers_count > 10000')) throw new Error('designs/social.yaml has another limit than this test knows');
    writeFileSync(this.files.social, text.replace('followers_count > 10000', `followers_count > ${LIMIT}`));
    this.views = 0;
  }

  async open() {
    this.data = join(this.dir, 'data');
    if (process.env.THORPE_BACKEND) {
      this.port = Number(new URL(process.env.THORPE_BACKEND).port);
    } else {
      this.database = await Server.start(this.data, { args: process.env.THORPE_FAULT ? ['--fault', process.env.THORPE_FAULT] : [] });
      this.port = this.database.port;
    }
    this.backend = `http://127.0.0.1:${this.port}`;
    this.env = { AWS_ACCESS_KEY_ID: 'crash', AWS_SECRET_ACCESS_KEY: 'crash', AWS_REGION: 'us-east-1' };
    Object.assign(process.env, this.env);
    this.client = new Client(this.port);
    this.args = Object.values(this.files).flatMap((file) => ['--design', file]);
    this.fleet = await Fleet.open(1, { port: this.port }, this.args, this.env);
    this.patient = new Patient(() => this.fleet.ports, this.rng.fork());
    this.world = new World('social', this.files.social, this.backend, this.patient, this.rng.fork());
    this.crowd = new World('crowd', this.files.crowd, this.backend, this.patient, this.rng.fork());
  }

  // ---- before ----

  async seedSocial() {
    const { world, client } = this;
    await social.setUp(world);
    for (const id of [...AUTHORS, STAR]) await world.must('operator', 'POST', '/users', { user_id: id, username: id, email: `${id}@example.com` }, [{ put: user(id) }]);
    const profile = (id) => ({ PK: { S: `USER#${id}` }, SK: { S: 'PROFILE' } });
    for (const [k, id] of AUTHORS.entries()) await setNumbers(client, TABLE.social, profile(id), { followers_count: followersOf(k) - 1 });
    await setNumbers(client, TABLE.social, profile(STAR), { followers_count: FOLLOWERS - AUTHORS.length, is_popular: FOLLOWERS > LIMIT });
    for (const [k, author] of AUTHORS.entries()) {
      await world.must('operator', 'POST', '/users', { user_id: fan(k), username: fan(k), email: `${fan(k)}@example.com` });
      for (const followed of [author, STAR]) await world.must('operator', 'PUT', `/users/${fan(k)}/following/${followed}`, {});
    }
    return () => copyFans(client, TABLE.social, AUTHORS.length, FOLLOWERS);
  }

  async seedCrowd() {
    const { crowd, client } = this;
    await crowd.must('operator', 'PUT', `/users/${STAR}`, {});
    await crowd.must('operator', 'PUT', `/users/${fan(0)}`, {});
    await crowd.must('operator', 'PUT', `/users/${fan(0)}/following/${STAR}`, {});
    return () => copyFans(client, TABLE.crowd, 1, FOLLOWERS);
  }

  /** A stream that begins now: the followers have been there for long, and nothing follows from that they came. */
  async withoutStream(TableName, write) {
    const { client } = this;
    const set = async (StreamSpecification) => {
      await client.call('UpdateTable', { TableName, StreamSpecification });
      while ((await client.describe(TableName)).TableStatus !== 'ACTIVE') await pause(50);
    };
    await set({ StreamEnabled: false });
    const written = await write();
    await set({ StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' });
    return written;
  }

  async seed() {
    const copies = { crowd: await this.seedCrowd(), social: await this.seedSocial() };
    await this.settle(QUIET_MS);
    await this.fleet.stop();
    let written = 0;
    for (const [name, copy] of Object.entries(copies)) written += await this.withoutStream(TABLE[name], copy);
    this.fleet = await Fleet.open(3, { port: this.port }, this.args, this.env);
    return written;
  }

  // ---- meanwhile ----

  /** Each author posts now and then; the last but one post of the first author is taken back again. */
  async publish(author, n) {
    const post_id = `${author}-${author === STAR ? 's' : 'w'}${n}`;
    const content = this.world.text('words');
    await this.world.act(author, 'POST', '/posts', { post_id, content }, [{ put: `post ${post_id}`, value: content, under: [user(author)] }]);
    this.world.remember('widely read', { post_id });
    return post_id;
  }

  async publishAll() {
    for (let n = 0; n < POSTS; n += 1) {
      for (const author of [STAR, ...AUTHORS]) await this.publish(author, n);
      await this.crowd.must('operator', 'PUT', `/posts/p${n}`, { author_id: STAR });
    }
    const taken = await this.publish(AUTHORS[0], 'back');
    await this.world.act(AUTHORS[0], 'DELETE', `/posts/${encodeURIComponent(taken)}`, undefined, [{ gone: `post ${taken}` }]);
    this.isPublished = true;
  }

  async goOn() {
    while (!this.isEnough) {
      if (this.rng.chance(15)) {
        this.views += 1;
        await this.crowd.send('operator', 'POST', '/posts/p0/view', {});
      } else {
        await this.world.step();
      }
      await pause(30);
    }
  }

  /** One is killed every ten seconds, and other things happen to those that are well. */
  async trouble() {
    const { fleet, rng } = this;
    const under = new Set();
    const start = (what) => {
      const job = what.catch((error) => this.violations.push(error.message)).finally(() => under.delete(job));
      under.add(job);
    };
    for (let n = 0; !this.isOver; n += 1) {
      const well = fleet.places.filter((place) => fleet.isWell(place));
      if (well.length) start(fleet.kill(rng.pick(well), rng.pick([0, 0, 1000, 8000])));
      await pause(KILL_EVERY_MS / 2);
      const rest = fleet.places.filter((place) => fleet.isWell(place));
      if (this.isOver || rest.length < 2) { await pause(KILL_EVERY_MS / 2); continue; }
      const place = rng.pick(rest);
      switch (n % 5) {
        case 0: start(fleet.hang(place, HANG_MS)); break;
        case 1: fleet.loseReplies(place); break;
        case 2: start(fleet.cut(place, rng.between(2000, 12_000))); break;
        case 3: start(fleet.slow(place, rng.between(20, 200), 8000)); break;
        default: if (this.database) start(this.hangDatabase(3000)); break;
      }
      await pause(KILL_EVERY_MS / 2);
    }
    await Promise.all(under);
  }

  async hangDatabase(ms) {
    this.fleet.isDatabaseAway = true;
    this.fleet.note('database hung');
    this.database.hang();
    await pause(ms);
    this.database.wake();
    await pause(2000);
    this.fleet.isDatabaseAway = false;
  }

  async untilKills(n) {
    while ((this.fleet.troubles.kills ?? 0) < n || !this.isPublished) {
      if (this.failure) throw this.failure;
      await pause(200);
    }
  }

  // ---- after ----

  /** Whether all servers say that nothing is left to do; and what is parked. */
  async look() {
    let isIdle = true;
    const parked = [];
    for (const { server, isHung, isBusy } of this.fleet.places) {
      if (isHung || isBusy || !server?.alive) return { isIdle: false, parked };
      for (const world of [this.world, this.crowd]) {
        try {
          const reply = await fetch(`http://127.0.0.1:${server.port}/api/${world.name}/processors`, {
            headers: { authorization: `Bearer ${await world.token('operator')}` }, signal: AbortSignal.timeout(3000),
          });
          const body = await reply.json();
          isIdle &&= reply.status === 200 && body.idle;
          for (const each of body.processors ?? []) if (each.parked) parked.push(`${world.name}: ${each.name} has parked ${each.parked}: ${each.last_problem}`);
        } catch {
          isIdle = false;
        }
      }
    }
    return { isIdle, parked };
  }

  /** Whether the last follower of each author has everything: a fan-out goes through them in their order. */
  async isDelivered() {
    const rows = async (TableName, id) => (await this.client.call('Query', {
      TableName, KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': { S: `FEED#${id}` } }, Select: 'COUNT', ConsistentRead: true,
    })).Count;
    const last = (k) => fan(FOLLOWERS - 1 - ((FOLLOWERS - 1 - k) % AUTHORS.length));
    const Key = { PK: { S: `USER#${fan(FOLLOWERS - 1)}` }, SK: { S: 'PROFILE' } };
    const { Item } = await this.client.call('GetItem', { TableName: TABLE.crowd, Key, ConsistentRead: true });
    if (Number(Item.deliveries?.N ?? 0) < POSTS || await rows(TABLE.crowd, fan(FOLLOWERS - 1)) < POSTS) return false;
    for (const k of AUTHORS.keys()) if (await rows(TABLE.social, last(k)) < POSTS) return false;
    return true;
  }

  async untilDelivered() {
    const began = Date.now();
    while (!await this.isDelivered().catch(() => false)) {
      if (Date.now() - began > SETTLE_MS) throw new Error(`not everything is delivered after ${SETTLE_MS / 1000} s`);
      await pause(200);
    }
  }

  async settle(quietMs) {
    const began = Date.now();
    let since = 0;
    for (;;) {
      const { isIdle, parked } = await this.look();
      if (!isIdle) since = 0;
      else if (!since) since = Date.now();
      else if (Date.now() - since > quietMs) return parked;
      if (Date.now() - began > SETTLE_MS) throw new Error(`not at rest after ${SETTLE_MS / 1000} s`);
      await pause(100);
    }
  }

  /** Views that no killed server has gathered are all counted. */
  async countViews() {
    const read = async () => (await this.client.call('GetItem', { TableName: TABLE.crowd, Key: { PK: { S: 'POST#p0' }, SK: { S: 'POST' } }, ConsistentRead: true })).Item.views;
    const number_ = async () => Number((await read())?.N ?? 0);
    await pause(3000); // what is still gathered
    const before = await number_();
    if (before > this.views) this.violations.push(`${before} views were counted, of ${this.views} that were asked for`);
    for (let i = 0; i < 60; i += 1) await this.crowd.send('operator', 'POST', '/posts/p0/view', {});
    const deadline = Date.now() + 30_000;
    while (await number_() < before + 60 && Date.now() < deadline) await pause(100);
    await pause(3000);
    const added = await number_() - before;
    if (added !== 60) this.violations.push(`of 60 views, while nothing happened to any server, ${added} were counted`);
    return `${before} of ${this.views} views outlived the kills`;
  }

  async recountSocial() {
    const items = (await this.client.scan(TABLE.social)).map((item) => slim(plainItem(item)));
    const { r, there } = social.recount(items);
    for (const key of there.keys()) if (/ fan\d/.test(key)) there.delete(key);
    const rows = groupBy(items.filter(({ PK }) => PK.startsWith('FEED#fan')), ({ user_id }) => user_id);
    const posts = groupBy(items.filter(({ PK, is_deleted }) => PK.startsWith('POST#') && is_deleted === false), ({ author_id }) => author_id);
    const told = groupBy(items.filter(({ SK, user_id }) => SK.startsWith('NOTIFICATION#') && user_id.startsWith('fan')), ({ user_id }) => user_id);
    for (let i = 0; i < FOLLOWERS; i += 1) {
      const authors = [AUTHORS[i % AUTHORS.length], ...(FOLLOWERS > LIMIT ? [] : [STAR])];
      const wanted = authors.flatMap((author) => posts.get(author) ?? []).map(({ post_id }) => post_id).sort();
      r.equal((rows.get(fan(i)) ?? []).map(({ post_id }) => post_id).sort(), wanted, `the feed of ${fan(i)}`);
      r.equal((told.get(fan(i)) ?? []).map(({ post_id }) => post_id).sort(), wanted, `what ${fan(i)} was told`);
    }
    this.violations.push(...r.wrong, ...this.world.ledger.settle(there));
    return { items: items.length, checks: r.checks, rows: [...rows.values()].reduce((sum, { length }) => sum + length, 0) };
  }

  async recountCrowd() {
    const items = (await this.client.scan(TABLE.crowd)).map(plainItem);
    const r = new Recount(items);
    const rows = groupBy(r.where(/^FEED#/, /./), ({ user_id }) => user_id);
    const posts = r.where(/^POST#/, /^POST$/).map(({ post_id }) => post_id).sort();
    r.equal(posts.length, POSTS, 'posts');
    for (let i = 0; i < FOLLOWERS; i += 1) {
      r.equal((rows.get(fan(i)) ?? []).map(({ post_id }) => post_id).sort(), posts, `the feed of ${fan(i)}`);
      r.equal(r.get(`USER#${fan(i)}`, 'PROFILE')?.deliveries, POSTS, `the deliveries to ${fan(i)}`);
    }
    this.violations.push(...r.wrong);
    return { items: items.length, checks: r.checks, rows: [...rows.values()].reduce((sum, { length }) => sum + length, 0) };
  }

  /** What the star has posted is read by each follower, once: as the document wants it, and as clients see it. */
  async readHomes() {
    const posts = Array.from({ length: POSTS }, (_, n) => `${STAR}-s${n}`).sort();
    let next = 0;
    const reader = async () => {
      while (next < FOLLOWERS) {
        const i = next;
        next += 1;
        const reply = await this.world.send('operator', 'GET', `/users/${fan(i)}/home?limit=100`);
        const seen = (reply?.body?.items ?? []).map(({ post_id }) => post_id).filter((id) => id.startsWith(`${STAR}-`)).sort();
        if (JSON.stringify(seen) !== JSON.stringify(posts)) this.violations.push(`${fan(i)} sees of the star ${JSON.stringify(seen)} (${reply?.status}), it should be ${JSON.stringify(posts)}`);
      }
    };
    await Promise.all(Array.from({ length: 24 }, reader));
    return FOLLOWERS;
  }

  async consult() {
    for (const file of Object.values(this.files)) {
      try {
        execFileSync(BIN, ['verify', '--design', file, '--backend', this.backend, '--json'], { encoding: 'utf8', stdio: 'pipe', maxBuffer: 1 << 28 });
      } catch (error) {
        this.violations.push(`thorpe verify --design ${file}: ${error.stdout?.slice(0, 2000)}${error.stderr?.slice(0, 1000)}`);
      }
    }
  }
}

const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(0)} s`;

await report(`crash of servers: ${FOLLOWERS} followers (a limit of ${LIMIT}, ${AUTHORS.length} authors and a star), ${KILLS} kills, seed ${SEED}`, async (tally) => {
  const it = new Run(new Random(SEED));
  const began = Date.now();
  try {
    await it.open();
    const isSeeded = await tally.run(async () => {
      const since = Date.now();
      const written = await it.seed();
      return `${written} items of followers were put in ${seconds(since)}`;
    }, it);
    const done = isSeeded && await tally.run(async () => {
      const since = Date.now();
      const failed = (error) => { it.failure = error; };
      const trouble = it.trouble();
      const clients = [it.publishAll(), ...Array.from({ length: CLIENTS }, () => it.goOn())].map((each) => each.catch(failed));
      await it.untilKills(KILLS);
      it.isEnough = true;
      await Promise.all(clients);
      const stopped = Date.now();
      await it.untilDelivered();
      const line = `${seconds(since)} of clients and kills, the last ${seconds(stopped)} until everything was delivered; `;
      it.isOver = true;
      await trouble;
      it.violations.push(...await it.settle(QUIET_MS), ...it.fleet.violations, ...it.patient.surprises);
      return line + JSON.stringify(it.fleet.troubles);
    }, it);
    if (done) {
      await tally.run(() => it.countViews(), it);
      await tally.run(async () => {
        const a = await it.recountSocial();
        const b = await it.recountCrowd();
        return `${a.rows} + ${b.rows} entries of feeds among ${a.items} + ${b.items} items, ${a.checks + b.checks} checks`;
      }, it);
      await tally.run(async () => {
        const since = Date.now();
        return `${await it.readHomes()} homes were read in ${seconds(since)}`;
      }, it);
      await tally.run(async () => {
        await it.consult();
        return 'thorpe verify --design finds nothing';
      }, it);
    }
    const { tries, repeated, replayed, foundDone, longestMs, statuses } = it.patient;
    tally.say(`    ${tries} requests, ${repeated} of them repeated, ${replayed} answered from memory, ${foundDone} found done; the longest took ${(longestMs / 1000).toFixed(1)} s; ${JSON.stringify(statuses)}; ${seconds(began)} in all`);
    if (tally.failed) {
      it.isKept = true;
      tally.say(`${it.fleet.logs}\n    the data is in ${it.dir}`);
      await it.fleet.kill9();
      await it.database?.kill();
    } else {
      await it.fleet.stop();
      await it.database?.stop();
      if (it.database) await verify(it.data);
    }
  } finally {
    it.isOver = it.isEnough = true;
    await it.fleet?.kill9();
    if (it.database?.alive) await it.database.kill();
    if (!it.isKept) rmSync(it.dir, { recursive: true, force: true });
  }
});
