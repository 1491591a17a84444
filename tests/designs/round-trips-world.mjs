// A design whose table is elsewhere, and how many round trips its requests make, one after the other.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Caller, ROOT, designFile, freshDirectory, runToEnd, startServer } from './harness.mjs';

/** A design whose table is elsewhere. `cold`: the first request of a kind is sent to a server that has just begun. */
export async function start(name, { cold: begins = false, design = designFile(name) } = {}) {
  const tables = await startServer({ data: freshDirectory() });
  let server;
  /** Another server, which knows nothing of the table. */
  const begin = async () => {
    await server?.kill();
    server = await startServer({ data: null, args: ['--design', design, '--backend', tables.endpoint] });
  };
  await begin();
  after(async () => {
    await server.stop();
    await tables.stop();
  });
  const tokens = new Map();
  const as = async (subject, roles = [], claims = {}) => {
    const key = JSON.stringify([subject, roles, claims]);
    if (!tokens.has(key)) {
      const flags = subject ? ['--subject', subject, ...roles.flatMap((role) => ['--role', role]),
        ...Object.entries(claims).flatMap(([claim, value]) => ['--claim', `${claim}=${value}`])] : ['--operator'];
      const { code, stdout, stderr } = await runToEnd(['token', design, '--backend', tables.endpoint, ...flags]);
      assert.equal(code, 0, stderr);
      tokens.set(key, stdout.trim());
    }
    return new Caller(`${server.endpoint}/api/${name}`, tokens.get(key));
  };
  const operator = await as();
  const background = new Set(['', 'processors', 'keeper', ...(await operator.get('/processors')).body.processors.map((each) => each.name)]);
  /** Round trips so far that were made for requests. */
  const trips = async () => {
    const text = await (await fetch(`${server.endpoint}/metrics`)).text();
    let sum = 0;
    for (const [, pattern, n] of text.matchAll(/^thorpe_backend_round_trips_total\{[^}]*pattern="([^"]*)"[^}]*\} (\d+)/gm))
      if (!background.has(pattern)) sum += Number(n);
    return sum;
  };
  const counts = new Map(); // kind → { cold, warm: [], … }
  /** One request; its round trips are counted under `kind` when it succeeds. */
  const request = async (kind, [subject, roles, claims], method, path, options) => {
    const count = counts.get(kind) ?? { warm: [] };
    const cold = count.cold === undefined;
    if (cold && begins) await begin();
    const caller = await as(subject, roles, claims);
    const before = await trips();
    const reply = await caller.request(method, path, options);
    const made = await trips() - before;
    if (reply.status >= 300 && !(reply.status === 404 && method === 'GET')) return reply; // nothing was found: it was read all the same
    if (cold) count.cold = made;
    else count.warm.push(made);
    counts.set(kind, count);
    return reply;
  };
  /** What processors change at the same time is a wrong guess of the server's, or a conflict: a round trip more. */
  const pauseProcessors = async () => {
    for (const { name: each } of (await operator.get('/processors')).body.processors)
      if (each !== 'keeper') await operator.post(`/processors/${encodeURIComponent(each)}/pause`);
  };
  return { as, request, counts, begin, pauseProcessors };
}

/** The entity of a path, and its kind of address. */
export function routeOf(entities, path, method) {
  for (const { name, path: own, collection, actions } of entities) {
    const pattern = (text) => new RegExp(`^${text.replace(/<[^>]*>/g, '[^/]+')}$`);
    if (method === 'POST' && collection && pattern(collection).test(path)) return `create ${name}`;
    if (own && pattern(own).test(path)) return `${method === 'PUT' ? 'put' : method.toLowerCase()} ${name}`;
    for (const action of actions) if (own && pattern(`${own}/${action}`).test(path)) return `${action} ${name}`;
  }
  return `${method} ${path}`;
}

export const OPERATOR = [undefined, []];

/** Plays the demonstration; resolves to the items made: { path, entity, item }. */
export async function play(of, name, index) {
  const { steps } = JSON.parse(readFileSync(join(ROOT, 'designs', 'demo', `${name}.json`), 'utf8'));
  const made = [];
  for (const { as, roles, claims, method, path, body } of steps) {
    const kind = routeOf(index.entities, path, method);
    const { status, location, body: reply } = await of.request(kind, [as, roles, claims], method, path, { body });
    assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(reply)}`);
    if (status === 201 && location) made.push({ path: location.replace(/.*\/api\/[^/]+/, ''), entity: kind.replace(/.* /, ''), item: reply });
  }
  return made;
}

const LATE_MS = 3000; // LAG_UNKNOWN_MS: how late an index may be before one was seen

/** The server has known the items for as long as an index may be late: what has joined one of them (write/joined.h) is shown by then. */
async function know(of, made) {
  for (const { path, entity } of made) await of.request(`get ${entity}`, OPERATOR, 'GET', path);
  await sleep(LATE_MS + 100);
}

/** Every write of the demonstration; then each item read, changed, acted on and deleted, by an operator, so that no rule is in the way. */
export async function writeAll(of, name, { isKnown = false } = {}) {
  const { body: index } = await (await of.as()).get('');
  const made = await play(of, name, index);
  if (isKnown) await of.pauseProcessors();
  const byName = new Map(index.entities.map((entity) => [entity.name, entity]));
  for (const { path, entity } of made) {
    const { body: item } = await of.request(`get ${entity}`, OPERATOR, 'GET', path);
    for (const [attribute, value] of Object.entries(item ?? {})) {
      if (typeof value !== 'string' || !byName.get(entity)?.methods.includes('PATCH')) continue;
      const { status } = await of.request(`patch ${entity}`, OPERATOR, 'PATCH', path, { body: { [attribute]: `${value}x` } });
      if (status < 300) break;
    }
    for (const action of byName.get(entity)?.actions ?? []) await of.request(`${action} ${entity}`, OPERATOR, 'POST', `${path}/${action}`, { body: {} });
  }
  if (isKnown) await know(of, made);
  for (const { path, entity } of made.reverse()) {
    if (byName.get(entity)?.methods.includes('DELETE')) await of.request(`delete ${entity}`, OPERATOR, 'DELETE', path);
  }
}

export const report = (t, counts) => [...counts].sort().forEach(([kind, { cold, warm }]) => t.diagnostic(`${kind}: ${cold}, then ${warm.join(' ')}`));

/** Each kind of request for the first time, at a server that has just begun. `more`: kinds that make more round trips than others. */
export function firstWrites(name, more) {
  test(`${name}: the first write of each kind after a start makes two round trips, or as many as is said here`, async (t) => {
    const of = await start(name, { cold: true });
    await writeAll(of, name);
    report(t, of.counts);
    const over = [...of.counts].filter(([kind, { cold }]) => cold > (more[kind] ?? (kind.startsWith('get ') ? 1 : 2)));
    assert.deepEqual(over.map(([kind, { cold }]) => `${kind}: ${cold}`), []);
  });
}
