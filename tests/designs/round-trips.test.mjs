// Requests to a table that is elsewhere: how many round trips each makes, one after the other. Every kind of write that the
// demonstrations and the routes of the five designs have.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Caller, ROOT, freshDirectory, runToEnd, startServer } from './harness.mjs';

const designs = readdirSync(join(ROOT, 'designs')).filter((name) => name.endsWith('.yaml')).map((name) => name.replace('.yaml', ''));
const MOST = 2; // of a write that is not the first of its kind

/**
 * Writes that need more, and why. Each is held to that number.
 * held: `refuse while` asks its patterns, holds the item, asks again, then deletes.
 * shown: whether the caller may see the answer is asked after the write, of items that the write did not read.
 * first: seen once here, so what its rules read could not be guessed.
 * looked up: the item it refers to is found by a Query first.
 */
const MORE = {
  social: { 'approve Follow': 3 /* first */, 'put Like': 4 /* shown */, 'put CommentLike': 5 /* first, shown */, 'put Share': 4 /* shown */ },
  blog: { 'create Comment': 3 /* looked up */, 'delete Category': 7 /* held */ },
  fus: {},
  perfectit: { 'create CardInCollection': 3 /* shown */, 'delete Category': 7 /* held */ },
  wavyblog: { 'delete Category': 5 /* held */ },
};

async function start(name) {
  const tables = await startServer({ data: freshDirectory() });
  const server = await startServer({ data: null, args: ['--design', join(ROOT, 'designs', `${name}.yaml`), '--backend', tables.endpoint] });
  after(async () => {
    await server.stop();
    await tables.stop();
  });
  const tokens = new Map();
  const as = async (subject, roles = []) => {
    const key = JSON.stringify([subject, roles]);
    if (!tokens.has(key)) {
      const flags = subject ? ['--subject', subject, ...roles.flatMap((role) => ['--role', role])] : ['--operator'];
      const { code, stdout, stderr } = await runToEnd(['token', join(ROOT, 'designs', `${name}.yaml`), '--backend', tables.endpoint, ...flags]);
      assert.equal(code, 0, stderr);
      tokens.set(key, stdout.trim());
    }
    return new Caller(`${server.endpoint}/api/${name}`, tokens.get(key));
  };
  const operator = await as();
  const background = new Set(['', 'processors', 'keeper', ...(await operator.get('/processors')).body.processors.map((each) => each.name)]);
  /** Calls of the database so far that were made for requests. */
  const calls = async () => {
    const text = await (await fetch(`${server.endpoint}/metrics`)).text();
    let sum = 0;
    for (const [, pattern, n] of text.matchAll(/^thorpe_backend_round_trips_total\{[^}]*pattern="([^"]*)"[^}]*\} (\d+)/gm))
      if (!background.has(pattern)) sum += Number(n);
    return sum;
  };
  const counts = new Map(); // kind → how many, each time
  /** One request; its round trips are counted under `kind` when it succeeds. */
  const request = async (kind, caller, method, path, options) => {
    const before = await calls();
    const reply = await caller.request(method, path, options);
    const trips = await calls() - before;
    if (reply.status < 300) counts.set(kind, [...(counts.get(kind) ?? []), trips]);
    return { ...reply, trips };
  };
  return { as, operator, request, counts };
}

/** The entity of a path, and its kind of address. */
function routeOf(entities, path, method) {
  for (const { name, path: own, collection, actions } of entities) {
    const pattern = (text) => new RegExp(`^${text.replace(/<[^>]*>/g, '[^/]+')}$`);
    if (method === 'POST' && collection && pattern(collection).test(path)) return `create ${name}`;
    if (own && pattern(own).test(path)) return `${method === 'PUT' ? 'put' : method.toLowerCase()} ${name}`;
    for (const action of actions) if (own && pattern(`${own}/${action}`).test(path)) return `${action} ${name}`;
  }
  return `${method} ${path}`;
}

for (const name of designs) {
  test(`${name}: writes make two round trips one after the other, or as many as is said here; an item is read with one`, async (t) => {
    const of = await start(name);
    const { body: index } = await of.operator.get('');
    const { steps } = JSON.parse(readFileSync(join(ROOT, 'designs', 'demo', `${name}.json`), 'utf8'));
    const made = []; // addresses, in the order of their making
    for (const { as, roles, method, path, body } of steps) {
      const caller = await of.as(as, roles);
      const kind = routeOf(index.entities, path, method);
      const { status, location, body: reply } = await of.request(kind, caller, method, path, { body });
      assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(reply)}`);
      if (status === 201 && location) made.push({ path: location.replace(/.*\/api\/[^/]+/, ''), entity: kind.replace(/.* /, '') });
    }
    // Items: read, changed, acted on, deleted, by an operator, so that no rule is in the way.
    const byName = new Map(index.entities.map((entity) => [entity.name, entity]));
    for (const { path, entity } of made) {
      const { body: item } = await of.request(`get ${entity}`, of.operator, 'GET', path);
      for (const [attribute, value] of Object.entries(item ?? {})) {
        if (typeof value !== 'string' || !byName.get(entity)?.methods.includes('PATCH')) continue;
        const { status } = await of.request(`patch ${entity}`, of.operator, 'PATCH', path, { body: { [attribute]: `${value}x` } });
        if (status < 300) break;
      }
      for (const action of byName.get(entity)?.actions ?? []) await of.request(`${action} ${entity}`, of.operator, 'POST', `${path}/${action}`, { body: {} });
    }
    for (const { path, entity } of made.reverse()) {
      if (byName.get(entity)?.methods.includes('DELETE')) await of.request(`delete ${entity}`, of.operator, 'DELETE', path);
    }
    const worst = {};
    for (const [kind, trips] of of.counts) worst[kind] = { warm: Math.min(...trips.slice(1), trips.length > 1 ? Infinity : trips[0]), all: trips };
    for (const [kind, { warm, all }] of Object.entries(worst).sort()) t.diagnostic(`${kind}: ${warm} (${all.join(' ')})`);
    const over = Object.entries(worst).filter(([kind, { warm }]) => warm > (MORE[name][kind] ?? (kind.startsWith('get ') ? 1 : MOST)));
    assert.deepEqual(over.map(([kind, { all }]) => `${kind}: ${all.join(' ')}`), []);
  });
}
