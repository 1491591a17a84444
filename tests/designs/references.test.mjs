// References: attributes that name other items. They have the form of what they name, and exist when they are written.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, freshDirectory, runToEnd, startDesign } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'references', 'papers.yaml');
const app = await startDesign(file);
const ann = await app.as('ann', 'user');

const refused = (reply) => { assert.equal(reply.status, 422); return reply.body.errors; };
const folder = (team, name, parent) => ann.put(`/teams/${team}/folders/${name}`, parent ? { parent } : {});

test('the reviewer has nothing to say', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
});

test('a reference is stored as what it names is, and exists', async () => {
  for (const person of ['ann', 'Bob']) await ann.put(`/people/${person}`, {});
  for (const tag of ['ink', 'nib']) await ann.put(`/tags/${tag}`, {});
  const { body } = await ann.post('/papers', { author: ' BOB ', tags: ['INK', 'nib', 'ink'] });
  assert.equal(body.author, 'bob');
  assert.deepEqual(body.tags, ['ink', 'nib']);
  assert.equal((await ann.get('/people/bob')).body.papers, 1);
  assert.deepEqual(refused(await ann.post('/papers', { author: 'no one' }, { status: 422 })).map(({ attribute }) => attribute), ['author']);
});

test('a reference that names nothing is refused with the same text everywhere', async () => {
  const expected = (attribute, detail) => [{ attribute, detail }];
  const bob = expected('reviewer', 'there is no Person zoe');
  const { body } = await ann.post('/papers', { author: 'ann' });
  assert.deepEqual(refused(await ann.post('/papers', { author: 'ann', reviewer: 'Zoe' }, { status: 422 })), bob);
  assert.deepEqual(refused(await ann.patch(`/papers/${body.paper}`, { reviewer: 'zoe' }, { status: 422 })), bob);
  assert.deepEqual(refused(await ann.put(`/papers/${body.paper}`, { author: 'ann', reviewer: 'zoe' }, { status: 422 })), bob);
  assert.deepEqual(refused(await ann.post(`/papers/${body.paper}/hand-over`, { author: 'zoe' }, { status: 422 })), expected('author', 'there is no Person zoe'));
  const cem = await app.as('cem', 'user');
  assert.deepEqual(refused(await cem.post(`/papers/${body.paper}/assign`, {}, { status: 422 })), expected('reviewer', 'there is no Person cem'));
  assert.deepEqual(refused(await ann.post(`/papers/${body.paper}/tag`, { tags: ['ink', 'pen'] }, { status: 422 })), expected('tags', 'there is no Tag pen'));
  assert.deepEqual(refused(await ann.post('/papers', { author: 'ann', follows: 'p_no' }, { status: 422 })), expected('follows', 'there is no Paper p_no'));
});

test('a write that does not change a reference asks nothing of it, of a list only what is new', async () => {
  await ann.put('/people/dan', {});
  for (const tag of ['red', 'blue', 'green']) await ann.put(`/tags/${tag}`, {});
  const { body: { paper } } = await ann.post('/papers', { author: 'ann', reviewer: 'dan', tags: ['red', 'blue'] });
  const at = `/papers/${paper}`;
  await app.settled();
  await ann.delete('/people/dan');
  await ann.delete('/tags/red');
  await ann.patch(at, { quotes: ['p_gone'] });
  await ann.patch(at, { reviewer: 'DAN', tags: ['blue', 'green', 'red'] });
  await ann.post(`${at}/tag`, { tags: ['ink'] });
  assert.deepEqual((await ann.get(at)).body.tags, ['blue', 'green', 'red', 'ink']);
  assert.deepEqual(refused(await ann.patch(at, { tags: ['blue', 'redder'] }, { status: 422 })), [{ attribute: 'tags', detail: 'there is no Tag redder' }]);
  await ann.patch(at, { reviewer: 'bob', tags: ['blue'] });
  assert.deepEqual(refused(await ann.patch(at, { reviewer: 'dan' }, { status: 422 })), [{ attribute: 'reviewer', detail: 'there is no Person dan' }]);
  await ann.patch(at, { reviewer: null, quotes: [] });
});

test('a reference may name its own item, without a tree', async () => {
  const { body } = await ann.put('/papers/p_self', { author: 'ann', follows: 'p_self' });
  assert.equal(body.follows, 'p_self');
  await ann.patch('/papers/p_self', { follows: null });
  await ann.patch('/papers/p_self', { follows: 'p_self' });
});

test('a processor puts nothing that refers to what is gone by then', async () => {
  const { body: { paper } } = await ann.post('/papers', { author: 'ann', reviewer: 'bob' });
  await app.settled();
  assert.deepEqual((await ann.list(`/papers/${paper}/marks`)).map(({ person }) => person), ['bob']);
  const operator = await app.operator();
  await operator.post('/processors/mark%20for%20the%20reviewer/pause');
  await ann.put('/people/eve', {});
  const { body: { paper: late } } = await ann.post('/papers', { author: 'ann', reviewer: 'eve' });
  await ann.patch(`/papers/${late}`, { reviewer: null });
  await ann.delete('/people/eve');
  await operator.post('/processors/mark%20for%20the%20reviewer/resume');
  await app.settled();
  assert.deepEqual(await ann.list(`/papers/${late}/marks`), []);
  assert.equal((await operator.get('/processors/mark%20for%20the%20reviewer')).body.passed_over.requirement, 1);
});

test('what is also written asks for what it refers to, and says whose it is', async () => {
  const { body: { paper } } = await ann.post('/papers', { author: 'ann', reviewer: 'bob' });
  await ann.patch(`/papers/${paper}`, { text: 'noted' });
  await ann.put('/people/gil', {});
  await ann.patch(`/papers/${paper}`, { reviewer: 'gil' });
  await app.settled();
  await ann.delete('/people/gil');
  assert.deepEqual(refused(await ann.patch(`/papers/${paper}`, { text: 'again' }, { status: 422 })), [{ attribute: 'Note.of', detail: 'there is no Person gil' }]);
  await ann.patch(`/papers/${paper}`, { reviewer: null });
});

test('an action that appends may create, and no element is lost', async () => {
  const papers = ['p_s0', 'p_s1', 'p_s2', 'p_s3', 'p_s4'];
  for (const paper of papers) await ann.put(`/papers/${paper}`, { author: 'ann' });
  await Promise.all(papers.slice(0, 4).map((paper) => ann.post('/shelves/a/keep', { papers: [paper] })));
  assert.deepEqual((await ann.get('/shelves/a')).body.papers.sort(), papers.slice(0, 4));
  assert.deepEqual((await ann.post('/shelves/b/keep', { papers: ['p_s1'] })).body.papers, ['p_s1']);
  assert.equal(refused(await ann.post('/shelves/d/keep', { papers: [...papers, 'p_s0'] }, { status: 422 }))[0].detail, 'at most 5 elements');
  assert.equal(refused(await ann.post('/shelves/d/keep', { papers: ['p_no'] }, { status: 422 }))[0].detail, 'there is no Paper p_no');
  assert.match(refused(await ann.post('/shelves/d/drop', { papers: 0 }, { status: 422 }))[0].detail, /there is no such element: it has 0/);
  await ann.get('/shelves/d', { status: 404 });
  await ann.post('/shelves/b/drop', { papers: 0 });
  assert.deepEqual((await ann.get('/shelves/b')).body.papers, []);
});

const parents = async (team) => {
  const items = (await app.items()).filter((item) => item.PK === `TEAM#${team}` && item.SK.startsWith('FOLDER#'));
  return new Map(items.map((item) => [item.folder, item.parent]));
};
/** Whether following the parents from each folder ends. */
const isTree = (all) => [...all.keys()].every((name) => {
  const seen = new Set();
  for (let at = name; at !== undefined; at = all.get(at)) {
    if (seen.has(at)) return false;
    seen.add(at);
  }
  return true;
});

test('no folder is below itself: at any level, made again, or under another name', async () => {
  const below = [{ attribute: 'parent', detail: 'a Folder cannot be below itself' }];
  const at = (name) => `/teams/red/folders/${name}`;
  await ann.put('/teams/red', {});
  assert.deepEqual(refused(await ann.put(at('x'), { parent: 'x' }, { status: 422 })), below);
  await folder('red', 'a');
  await folder('red', 'b', 'a');
  await folder('red', 'c', 'b');
  assert.deepEqual(refused(await ann.patch(at('a'), { parent: 'a' }, { status: 422 })), below);
  assert.deepEqual(refused(await ann.patch(at('a'), { parent: 'c' }, { status: 422 })), below);
  assert.deepEqual(refused(await ann.patch(at('a'), { parent: 'zed' }, { status: 422 })), [{ attribute: 'parent', detail: 'there is no Folder red/zed' }]);
  await ann.delete(at('a'));
  assert.deepEqual(refused(await ann.put(at('a'), { parent: 'c' }, { status: 422 })), below);
  await folder('red', 'd', 'c');
  assert.deepEqual(refused(await ann.patch(at('d'), { folder: 'a' }, { status: 422 })), below);
  assert.ok(isTree(await parents('red')));
  await ann.patch(at('b'), { parent: null });
  await ann.patch(at('d'), { folder: 'a' });
});

test('a tree has at most 32 levels', async () => {
  await ann.put('/teams/deep', {});
  for (let i = 0; i <= 32; i++) await folder('deep', `f${i}`, i ? `f${i - 1}` : undefined);
  assert.deepEqual(refused(await ann.put('/teams/deep/folders/f33', { parent: 'f32' }, { status: 422 })), [{ attribute: 'parent', detail: 'at most 32 levels' }]);
});

test('of moves at once that would make a circle together, some are refused', async () => {
  await ann.put('/teams/blue', {});
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const name of names) await folder('blue', name);
  const outcomes = new Set();
  for (let round = 0; round < 40; round++) {
    const moves = names.map((name, i) => ann.request('PATCH', `/teams/blue/folders/${name}`, { body: { parent: names[(i + 1 + round % 5) % 6] } }));
    for (const { status } of await Promise.all(moves)) outcomes.add(status);
    const all = await parents('blue');
    assert.ok(isTree(all), JSON.stringify([...all]));
    await Promise.all(names.map((name) => ann.request('PATCH', `/teams/blue/folders/${name}`, { body: { parent: null } })));
  }
  assert.ok(outcomes.has(200) && outcomes.has(422), [...outcomes].join());
  assert.ok([...outcomes].every((status) => [200, 409, 422, 503].includes(status)), [...outcomes].join());
});

test('the oracle reports what is left pointing to nothing, and circles', async () => {
  const other = await startDesign(file, { oracle: ['dangling', 'circle'] });
  const put = (Item) => other.doc.put({ TableName: other.table, Item });
  const kim = await other.as('kim', 'user');
  await kim.put('/people/kim', {});
  await kim.put('/people/lea', {});
  await kim.put('/tags/ink', {});
  await kim.put('/papers/p_1', { author: 'kim', reviewer: 'lea', tags: ['ink'], quotes: ['p_0'] });
  await other.settled();
  await kim.delete('/people/lea');
  await put({ PK: 'PERSON#max', SK: 'PERSON', person: 'max', papers: 1 });
  await put({ PK: 'PAPER#p_2', SK: 'PAPER', paper: 'p_2', author: 'max', team: 'none', touched_at: '2026-01-01T00:00:00.000Z' });
  await kim.put('/teams/red', {});
  for (const [name, parent] of [['a', 'c'], ['b', 'a'], ['c', 'b'], ['d', 'a'], ['e', 'd'], ['f'], ['g', 'f']])
    await put({ PK: 'TEAM#red', SK: `FOLDER#${name}`, team: 'red', folder: name, ...(parent ? { parent } : {}) });
  await other.settled();
  const findings = (await other.findings()).filter(({ kind }) => kind === 'dangling' || kind === 'circle');
  assert.deepEqual(findings.map(({ severity, sentence }) => `${severity}: ${sentence}`).sort(), [
    'difference: Folder red/a is below itself',
    'difference: Folder red/b is below itself',
    'difference: Folder red/c is below itself',
    'difference: Paper p_2 names as its team a Team that does not exist, none',
    'note: Mark p_1/lea names as its person a Person that does not exist, lea; the design lets it go',
    'note: Paper p_1 names as its reviewer a Person that does not exist, lea; the design lets it go',
  ]);
});

test('OpenAPI has the type of what is named, says what it is, and leads there', async () => {
  const doc = (await app.nobody.get('/openapi.json')).body;
  const { author, folder: where, tags, quotes } = doc.components.schemas.Paper.properties;
  const { person } = doc.components.schemas.Person.properties;
  assert.equal(author.maxLength, person.maxLength);
  assert.equal(author.description, 'Reference to Person (`/people/<person>`), which exists when it is set. Trimmed and in lower case.');
  assert.match(where.description, /^Reference to Folder/);
  assert.deepEqual([tags.maxItems, tags.items.type], [5, 'string']);
  assert.match(quotes.description, /^References to Paper .* may be missing\./);
  const { links } = doc.paths['/papers/{paper}'].get.responses[200];
  assert.deepEqual(links.folder, { operationId: 'getFolder', parameters: { team: '$response.body#/team', folder: '$response.body#/folder' } });
  assert.deepEqual(Object.keys(links).sort(), ['author', 'folder', 'follows', 'reviewer', 'team']);
});

test('the plan of a write shows what is asked', async () => {
  const { stdout } = await runToEnd(['doc', file]);
  const line = (title) => stdout.split('\n').find((one) => one.includes(`| ${title} |`));
  assert.match(line('create Paper'), /Update Person\(author\) ADD papers 1 \+ ConditionCheck Person\(reviewer\) .* ConditionCheck Tag\(tags\[\]\) for each tags\[\] in tags/);
  assert.ok(!line('create Paper').includes('quotes'));
  assert.match(line('Paper: assign'), /\+ ConditionCheck Person\(reviewer\)/);
  assert.ok(!line('Paper: hand-over').includes('reviewer'));
  assert.match(line('update Folder'), /ConditionCheck Folder\(team, parent\) \+ ConditionCheck parent of each further ancestor/);
});

test('docs/design-language.md: papers in folders', async () => {
  const [, yaml] = /```yaml\n(design: papers\n.*?)```/s.exec(readFileSync(join(ROOT, 'docs', 'design-language.md'), 'utf8'));
  const path = join(freshDirectory(), 'papers.yaml');
  writeFileSync(path, yaml);
  const told = await runToEnd(['check', path]);
  assert.match(told.stdout, /0 errors/);
  const docs = await startDesign(path);
  const eva = await docs.as('eva', 'user');
  await eva.put('/teams/red', {});
  await eva.put('/teams/red/folders/a', {});
  await eva.put('/teams/red/folders/b', { parent: 'a' });
  assert.deepEqual(refused(await eva.patch('/teams/red/folders/a', { parent: 'b' }, { status: 422 })), [{ attribute: 'parent', detail: 'a Folder cannot be below itself' }]);
  const { body } = await eva.post('/papers', { team: 'Red', folder: 'b', shared_with: [' RED '], quotes: ['p_none'] });
  assert.deepEqual([body.team, body.shared_with], ['red', ['red']]);
  assert.deepEqual(refused(await eva.post('/papers', { team: 'blue' }, { status: 422 })), [{ attribute: 'team', detail: 'there is no Team blue' }]);
});

test('a tree whose items are renamed: those below follow, and none gets below itself', async () => {
  const areas = await startDesign(join(ROOT, 'tests', 'designs', 'references', 'areas.yaml'));
  const ida = await areas.as('ida', 'user');
  const below = [{ attribute: 'within', detail: 'an Area cannot be below itself' }];
  await ida.put('/areas/a', {});
  await ida.put('/areas/b', { within: 'a' });
  await ida.put('/areas/c', { within: 'b' });
  assert.deepEqual(refused(await ida.patch('/areas/a', { area: 'd', within: 'c' }, { status: 422 })), below);
  await ida.patch('/areas/a', { area: 'D' });
  await areas.settled();
  assert.equal((await ida.get('/areas/b')).body.within, 'd');
  assert.deepEqual(refused(await ida.patch('/areas/d', { within: 'c' }, { status: 422 })), below);
  const names = ['d', 'b', 'c'];
  for (let round = 0; round < 10; round++) {
    await Promise.all([
      ida.request('PATCH', `/areas/${names[0]}`, { body: { area: `r${round}` } }).then(({ status }) => { if (status === 200) names[0] = `r${round}`; }),
      ida.request('PATCH', `/areas/${names[0]}`, { body: { within: names[2] } }),
      ida.request('PATCH', `/areas/${names[1]}`, { body: { within: round % 2 ? names[0] : null } }),
    ]);
    await areas.settled();
  }
  assert.deepEqual((await areas.findings()).filter(({ kind }) => kind === 'circle'), []);
});
