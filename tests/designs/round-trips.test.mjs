// Requests to a table that is elsewhere: how many round trips each makes, one after the other. Every kind of write that the
// demonstrations and the routes of the designs that ship have, and every access pattern.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, SHIPPED as designs, designFile } from './harness.mjs';
import { OPERATOR, play, report, start, writeAll } from './round-trips-world.mjs';

const WRITE = 2; // what decides it is read at once, then it is written
const ITEM = 1;
/** What is written together with an item refers to items that only its own attributes name: they are read after it. */
const MORE = { saas: { 'create Tenant': 3, 'accept Invite': 3 }, 'code-host': { 'delete Organisation': 3 } };

for (const name of designs) {
  test(`${name}: writes make two round trips one after the other; an item is read with one`, async (t) => {
    const of = await start(name);
    await writeAll(of, name, { isKnown: true });
    report(t, of.counts);
    const most = (kind) => MORE[name]?.[kind] ?? (kind.startsWith('get ') ? ITEM : WRITE);
    const over = [...of.counts].filter(([kind, { cold, warm }]) => Math.max(cold, ...warm) > most(kind));
    assert.deepEqual(over.map(([kind, { cold, warm }]) => `${kind}: ${[cold, ...warm].join(' ')}`), []);
  });
}

/** The blocks of a design's access patterns: name → text. */
function patternsOf(name) {
  const text = readFileSync(designFile(name), 'utf8');
  const section = /^access:\n((?:(?: .*|#.*)?\n)*)/m.exec(text)[1];
  return new Map([...section.matchAll(/^ {2}(\w[^:\n]*):.*\n((?:(?: {4}.*| *#.*)?\n)*)/gm)].map(([, key, block]) => [key, block]));
}

/**
 * What a pattern says: a Query, a GetItem or a BatchGetItem is one round trip, `then` another. Parts of a merge are asked at once, after
 * what leads to them, level by level; without `by`, and the partitions of a walk: the first by itself, for its rows may be enough,
 * then all others.
 */
function tripsOf(patterns, name) {
  const block = patterns.get(name);
  const [, merge] = /^ {4}merge: \{(.*)\}/m.exec(block) ?? [];
  const then = /^ {4}then:/m.test(block) ? 1 : 0;
  const walk = /^ {4}walk:/m.test(block) ? 1 : 0;
  if (!merge) return 1 + walk + then;
  const [, of] = /of: \[([^\]]*)\]/.exec(merge) ?? [];
  if (of) return Math.max(...of.split(', ').map((part) => tripsOf(patterns, part))) + then;
  const [, run] = /run: ([^,]*)/.exec(merge);
  const [, over] = /for each: ([^,]*)/.exec(merge) ?? [];
  const levels = Number(/levels: (\d+)/.exec(merge)?.[1] ?? 1);
  const inTurn = /by:/.test(merge) || /^ {4}count:/m.test(block) ? 0 : 1;
  return tripsOf(patterns, run) + (over ? levels * tripsOf(patterns, over) : 0) + inTurn + then;
}

const SHOWN = 1; // items that rows show parts of, of a list and not of what it merges
const RULES = 1; // what rules look at for each row is read at once, after the rows

/** Addresses of patterns whose parameters no item of the demonstration has under that name. */
const today = new Date().toISOString().slice(0, 10);
const ADDRESSES = {
  blog: { 'has liked': '/users/sub-davi/liked/post-moqueca' },
  'code-host': {
    'repository by name': '/repos/analytical/engine', 'repositories of owner': '/accounts/analytical/repositories',
  },
  devices: {
    'readings of device': `/devices/weather-1/readings/temperature/days/${today}`, 'devices in cell': '/map/u1x0',
    nearby: '/nearby?cells=u1x0,u1x1&lat=53.54&lon=9.98',
  },
  fus: { 'sites by tag': '/tags/news/sites', 'ratings of site of value': '/sites/1/stars/5/ratings', 'my ratings of sites': '/my-ratings?id=1&id=2' },
  game: {
    place: '/boards/blocks.all/of/ruth', board: '/boards/blocks.all', above: '/boards/blocks.all/above/000020000-8000000000',
    'how many above': '/boards/blocks.all/rank/000020000-8000000000', below: '/boards/blocks.all/below/000020000-8000000000',
  },
  perfectit: {
    search: '/search?q=git+rebase', 'cards by tag': '/tags/git/cards', 'metrics of day': `/metrics/${today}`,
    'cards by id': '/cards-by-id?id=1,2', 'my votes': '/my-votes?id=1,2',
  },
  saas: { 'tasks by status': '/projects/website/tasks/todo', log: `/log/${today.slice(0, 7)}` },
  shop: {
    'products with word': '/search?word=espresso', 'orders in state': `/desk/paid/${today}`,
    'best sellers': `/best-sellers/${today.slice(0, 7)}/all`,
  },
  social: {
    timeline: `/timeline/${today}`, 'posts by hashtag': '/hashtags/dynamodb', liked: '/liked?id=1,2',
    'timeline with authors': `/timeline/${today}/with-authors`, 'posts by hashtag with authors': '/hashtags/flying/with-authors', 'posts with authors': '/posts-with-authors?id=1&id=2',
  },
  wavyblog: { 'user by email': '/emails/ann@example.com/user', 'is a slug taken': '/slugs/hello' },
};

/** An address of the pattern, with values that items have; undefined: no item has them. */
function addressOf(path, items) {
  const names = [...path.matchAll(/<([^>:]*)[^>]*>/g)].map(([, name]) => name);
  const fits = items.filter((item) => names.every((name) => item?.[name] !== undefined && item[name] !== null));
  return names.length && !fits.length ? undefined : path.replace(/<([^>:]*)[^>]*>/g, (_, name) => encodeURIComponent(fits[fits.length - 1][name]));
}

for (const name of designs) {
  test(`${name}: an access pattern makes as many round trips as it says`, async (t) => {
    const of = await start(name);
    const { body: index } = await (await of.as()).get('');
    const made = await play(of, name, index);
    const items = made.map(({ item }) => item);
    const patterns = patternsOf(name);
    of.counts.clear();
    const { steps } = JSON.parse(readFileSync(join(ROOT, 'designs', 'demo', `${name}.json`), 'utf8'));
    const reader = steps.find((step) => step.claims) ?? steps.find((step) => step.as);
    const over = [];
    for (const { name: pattern, path } of index.access) {
      const address = ADDRESSES[name]?.[pattern] ?? addressOf(path, items);
      const says = tripsOf(patterns, pattern) + (/^ {4}show:/m.test(patterns.get(pattern)) ? SHOWN : 0);
      if (!address) continue;
      for (const [who, caller, most] of [['operator', OPERATOR, says], ['reader', [reader.as, reader.roles, reader.claims], says + RULES]]) {
        for (let i = 0; i < 2; i++) await of.request(`${pattern}, ${who}`, caller, 'GET', address);
        const { cold = 0, warm } = of.counts.get(`${pattern}, ${who}`) ?? { warm: [] };
        if (Math.max(cold, ...warm) > most) over.push(`${pattern}, ${who}: ${[cold, ...warm].join(' ')}, not ${most}`);
      }
    }
    report(t, of.counts);
    assert.deepEqual(over, []);
    const asked = new Set([...of.counts.keys()].map((kind) => kind.replace(/, \w+$/, '')));
    assert.deepEqual(index.access.map((each) => each.name).filter((each) => !asked.has(each)), []);
  });
}

test('social: --explain says how many round trips a pattern makes', async () => {
  const of = await start('social');
  const operator = await of.as();
  const { body: index } = await operator.get('');
  await play(of, 'social', index);
  const explained = async (pattern, user) => (await operator.post('/call', { pattern, with: { user_id: user }, explain: true })).body;
  for (const [pattern, most] of [['following', 1], ['feed posts', 2], ['home', 2]]) {
    const { round_trips: trips, requests } = await explained(pattern, 'ann');
    assert.ok(trips >= 1 && trips <= most, `${pattern}: ${trips}`);
    assert.ok(requests.length >= trips);
  }
});

test('rows that show parts of other items: one round trip more for each level, however many items', async () => {
  const design = join(ROOT, 'tests', 'designs', 'threads', 'threads.yaml');
  const of = await start('threads', { design });
  const operator = await of.as();
  await operator.put('/teams/red', { title: 'The Reds' });
  await Promise.all(Array.from({ length: 130 }, async (_, i) => {
    await operator.put(`/people/p${i}`, { display_name: `P ${i}`, team: 'red' });
    await operator.post('/posts', { board: 'many', text: `t${i}`, author: `p${i}` });
  }));
  await of.begin(); // a server that has read nothing
  const { body } = await of.request('cold', ['bob', ['user']], 'GET', '/boards/many/posts?limit=130');
  assert.deepEqual(body.items.map((row) => row.author_name).sort(), Array.from({ length: 130 }, (_, i) => `P ${i}`).sort());
  assert.ok(body.items.every((row) => row.team_title === 'The Reds' && row.liked === false));
  await of.request('cold', ['bob', ['user']], 'GET', '/boards/many/posts?limit=130');
  const { cold, warm } = of.counts.get('cold');
  assert.ok(cold <= 4, `the list, the people and likes (260 items), the team: ${cold}`);
  assert.ok(warm[0] <= 2, `known items are read together with the list: ${warm[0]}`);
});
