// One rule for the whole design: tenants of one table never see, change or learn of one another's items, by any way.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Watcher } from './events.mjs';
import { Caller, ROOT, freshDirectory, runToEnd, startDesign } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'offices', 'offices.yaml');
const app = await startDesign(file);
const operator = await app.operator();
const password = 'a long enough password';

/** A caller with a token of the command. */
async function member(subject, tenant) {
  const { code, stdout, stderr } = await runToEnd(['token', app.name, '--data', app.data, '--subject', subject, '--claim', `tenant=${tenant}`]);
  assert.equal(code, 0, stderr);
  return new Caller(app.base, stdout.trim());
}
const ann = await member('ann', 'acme');
const bob = await member('bob', 'beta');
const homeless = await app.as('nix');
const day = new Date().toISOString().slice(0, 10);

await ann.post('/projects', { project: 'a', name: 'of acme', tags: ['x'] });
await bob.post('/projects', { project: 'b', name: 'of beta', tags: ['x'] });
const aTask = (await ann.post('/projects/a/tasks', { text: 'of acme' })).body;
const bTask = (await bob.post('/projects/b/tasks', { text: 'of beta' })).body;
/** Signs up; gives the account's id, which an anonymous caller may not read but is told where it is. */
async function signUp(email, tenant) {
  const { location } = await app.nobody.post('/users', { email, tenant, password });
  return location.split('/').pop();
}
const names = (items) => items.map(({ name, text }) => name ?? text).sort();

test('the reviewer has nothing to say, and says how each keeps the rule', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
  assert.match(stdout, /everywhere: tenant = caller\.tenant\n  entities User, Project, Task, Report, Note\n  by key   tagged\n  by row   tasks of project, .*\blinks, .*\n  except   Plan: the price list/);
});

test('a token of the command and one of a login say what the tenant is, and the account decides', async () => {
  assert.deepEqual((await ann.get('/me')).body.claims, { tenant: 'acme' });
  const user = await signUp('cy@example.com', 'acme');
  const cy = app.withToken((await app.nobody.post('/login', { email: 'cy@example.com', password })).body.token);
  assert.deepEqual((await cy.get('/me')).body, { subject: user, roles: ['user'], claims: { tenant: 'acme' } });
  assert.equal((await cy.get('/projects/a')).body.name, 'of acme');
  await app.doc.update({ TableName: app.table, Key: { PK: `USER#${user}`, SK: 'PROFILE' }, UpdateExpression: 'SET tenant = :t', ExpressionAttributeValues: { ':t': 'beta' } });
  assert.deepEqual((await cy.get('/me')).body.claims, { tenant: 'beta' });
  await cy.get('/projects/a', { status: 404 });
  assert.equal((await cy.get('/projects/b')).body.name, 'of beta');
});

test('nobody reads what is of another tenant, by its address or by any list', async () => {
  for (const caller of [bob, homeless, app.nobody]) {
    await caller.get('/projects/a', { status: 404 });
    await caller.get(`/projects/a/tasks/${aTask.task}`, { status: 404 });
    assert.deepEqual(await caller.list('/projects/a/tasks'), []);
    assert.equal((await caller.get('/projects/a/tasks-count')).body.count, 0);
    assert.deepEqual((await caller.get(`/tasks-by-id?project=a&id=${aTask.task}`, caller === bob ? {} : undefined)).body.items, []);
  }
  assert.deepEqual(names(await ann.list('/projects/a/tasks')), ['of acme']);
  assert.equal((await ann.get('/projects/a/tasks-count')).body.count, 1);
  for (const [caller, own] of [[ann, 'of acme'], [bob, 'of beta']]) {
    for (const path of [`/days/${day}/tasks`, `/days/${day}/all-tasks`, `/both-days/${day}`])
      assert.deepEqual([...new Set(names(await caller.list(path)))], [own], path);
    for (const path of ['/tags/x/projects', '/all-tags/x/projects']) assert.deepEqual(names(await caller.list(path)), [own], path);
  }
  await homeless.get('/tags/x/projects', { status: 403 });
  await app.nobody.get('/tags/x/projects', { status: 401 });
  assert.deepEqual(names(await homeless.list(`/days/${day}/all-tasks`)), []);
  assert.deepEqual(names(await operator.list(`/days/${day}/tasks`)), ['of acme', 'of beta']);
});

test('a list of companions is kept by no shared cache: what it shows depends on the tenant', async () => {
  const { headers } = await ann.get('/all-tags/red/projects');
  assert.match(headers.get('cache-control'), /^private/);
});

test('a row of the own tenant leads to no companion of another', async () => {
  for (const [member, project] of [[ann, 'leads-a'], [bob, 'leads-b']]) await member.post('/projects', { project, name: project, other: 'x' });
  assert.deepEqual(await ann.list('/links'), []);
  assert.deepEqual(names(await bob.list('/links')), ['of beta']);
});

test('what is exempt is for everybody', async () => {
  await operator.post('/plans', { plan: 'free', price: 0 });
  for (const caller of [ann, bob, homeless, app.nobody]) assert.equal((await caller.get('/plans/free')).body.price, 0);
});

test('nobody changes what is of another tenant', async () => {
  const forbidden = (reply) => assert.ok([403, 404].includes(reply.status), `${reply.status}`);
  forbidden(await bob.request('PATCH', '/projects/a', { body: { name: 'mine' } }));
  forbidden(await bob.request('PUT', '/projects/a', { body: { name: 'mine' }, headers: { 'if-match': '*' } }));
  forbidden(await bob.request('DELETE', '/projects/a'));
  forbidden(await bob.request('POST', '/projects/a/rename', { body: { name: 'mine' } }));
  forbidden(await app.nobody.request('POST', '/projects/a/rename', { body: { name: 'mine' } }));
  forbidden(await bob.request('PATCH', `/projects/a/tasks/${aTask.task}`, { body: { text: 'mine' } }));
  const { body } = await bob.post('/batch', { requests: [{ method: 'PATCH', path: '/projects/a', body: { name: 'mine' } }, { method: 'DELETE', path: '/projects/a' }] });
  for (const { status } of body.responses) assert.ok([403, 404].includes(status), `${status}`);
  assert.equal((await ann.get('/projects/a')).body.name, 'of acme');
});

test('nobody creates for another tenant, or moves an item there', async () => {
  await bob.post('/projects', { name: 'theirs', tenant: 'acme' }, { status: 403 });
  await homeless.post('/projects', { name: 'nowhere' }, { status: 403 });
  await bob.patch('/projects/b', { tenant: 'acme' }, { status: 403 });
  await bob.patch('/projects/b', { tenant: null }); // its default is the caller's own
  assert.equal((await bob.get('/projects/b')).body.tenant, 'beta');
  await bob.patch(`/projects/b/tasks/${bTask.task}`, { tenant: 'acme' }, { status: 403 });
  await app.nobody.post('/users', { email: 'dee@example.com', tenant: 'acme', password }); // exempt, with a reason
});

test('references lead nowhere else: items, counters, sequences, copies', async () => {
  const before = (await ann.get('/projects/a')).body;
  const mine = await bob.request('POST', '/projects/a/tasks', { body: { text: 'into theirs' } });
  const none = await bob.request('POST', '/projects/nothing/tasks', { body: { text: 'into nothing' } });
  assert.equal(mine.status, none.status, 'as if it were not there');
  assert.equal(mine.body.detail?.replace('nothing', 'a'), none.body.detail?.replace('nothing', 'a'));
  assert.ok(mine.status >= 400 && mine.status < 500);
  await bob.post('/projects/b/tasks', { task: 'moving', text: 'moving' });
  const moved = await bob.request('PATCH', '/projects/b/tasks/moving', { body: { project: 'a' } });
  assert.ok(moved.status >= 400 && moved.status < 500, `${moved.status}`);
  const user = await signUp('eve@example.com', 'acme');
  await bob.patch('/projects/b/tasks/moving', { reviewer: user }, { status: 422, detail: /no such colleague/ });
  await ann.patch(`/projects/a/tasks/${aTask.task}`, { reviewer: user });
  assert.deepEqual((await ann.get('/projects/a')).body, before, 'no counter and no sequence has moved');
  assert.equal((await operator.get('/projects/a')).body.tasks, 1);
});

test('rules that look at other items see none of another tenant', async () => {
  const note = { project: 'a', text: 'of acme' };
  await ann.post(`/tasks/${aTask.task}/notes`, { note: 'n', ...note });
  await bob.post(`/tasks/${aTask.task}/notes`, { note: 'm', ...note }, { status: 403 });
  assert.equal((await ann.get(`/tasks/${aTask.task}/notes/n`)).body.text, 'of acme');
  await operator.post(`/tasks/${aTask.task}/notes`, { note: 'o', ...note, tenant: 'beta' }); // its own tenant is beta, its task is not
  await bob.get(`/tasks/${aTask.task}/notes/o`, { status: 404 });
  await bob.patch(`/tasks/${aTask.task}/notes/o`, { text: 'guessed' }, { status: 404 });
  const own = { project: 'b', text: 'of beta' };
  await bob.post(`/tasks/${bTask.task}/notes`, { note: 'p', ...own, about: 'a' });
  await bob.post(`/tasks/${bTask.task}/notes`, { note: 'q', ...own, about: 'b' });
  await bob.post(`/tasks/${bTask.task}/notes`, { note: 'r', ...own, kept: 'b' });
  await bob.post(`/tasks/${bTask.task}/notes`, { note: 's', ...own, kept: 'a' }, { status: 422, detail: /Project/ });
  await bob.patch(`/tasks/${bTask.task}/notes/r`, { text: 'of beta', kept: 'a' }, { status: 422 });
  const about = async (note) => (await operator.get(`/tasks/${bTask.task}/notes/${note}`)).body.about_name;
  assert.deepEqual([await about('p'), await about('q')], [undefined, 'of beta']);
});

test('what is written together with an item is of its tenant, too', async () => {
  const before = (await operator.get('/projects/a')).body;
  await bob.post('/projects', { project: 'c', name: 'of beta' });
  for (const action of ['label', 'star']) {
    const theirs = await bob.request('POST', `/projects/b/${action}`, { body: { other: 'a' } });
    const none = await bob.request('POST', `/projects/b/${action}`, { body: { other: 'nothing' } });
    assert.deepEqual([theirs.status, none.status], [422, 422], action);
    assert.equal(theirs.body.detail.replace(' a', ' nothing'), none.body.detail);
    assert.equal((await bob.request('POST', `/projects/b/${action}`, { body: { other: 'c' } })).status, 200);
  }
  await bob.post('/projects/b/clear', { other: 'a' }); // what is gone may be gone
  await bob.post('/projects/b/plant', { other: 'planted' }, { status: 403 });
  await ann.post('/projects/a/plant', { other: 'planted' });
  // Unless its creation is exempt; it is read by the other tenant only.
  await bob.post('/projects/b/report', { other: 'a' });
  await bob.get('/projects/a/reports/b', { status: 404 });
  assert.equal((await ann.get('/projects/a/reports/b')).body.tenant, 'acme');
  assert.deepEqual({ ...(await operator.get('/projects/a')).body, other: undefined }, { ...before, other: undefined });
  assert.deepEqual([(await bob.get('/projects/c')).body.name, (await bob.get('/projects/c')).body.stars], ['taken', 1]);
  await bob.post('/projects/b/clear', { other: 'c' });
  await bob.get('/projects/c', { status: 404 });
});

test('a cursor of one tenant is of no use to another', async () => {
  for (let i = 0; i < 3; i += 1) await ann.post('/projects', { name: `p${i}`, tags: ['many'] });
  const { body } = await ann.get('/tags/many/projects?limit=1');
  const stolen = await bob.request('GET', `/tags/many/projects?limit=5&after=${encodeURIComponent(body.next)}`);
  assert.ok(stolen.status === 400 || stolen.body.items.length === 0, JSON.stringify(stolen.body));
  const anywhere = (await ann.get('/all-tags/many/projects?limit=1')).body;
  const more = await bob.request('GET', `/all-tags/many/projects?limit=5&after=${encodeURIComponent(anywhere.next)}`);
  assert.ok(more.status === 400 || more.body.items.length === 0, JSON.stringify(more.body));
});

test('a watched list tells nothing of another tenant', async () => {
  const watchers = [await Watcher.open(bob, `/days/${day}/tasks`), await Watcher.open(bob, `/days/${day}/all-tasks`), await Watcher.open(bob, '/projects/a/tasks')];
  for (const watcher of watchers) await watcher.heard(1);
  await ann.post('/projects/a/tasks', { text: 'secret plan' });
  await bob.post('/projects/b/tasks', { text: 'open plan' });
  await watchers[0].heard(2);
  await watchers[1].heard(2);
  for (const watcher of watchers) {
    assert.ok(!JSON.stringify(watcher.events).includes('secret'), JSON.stringify(watcher.events));
    watcher.close();
  }
});

test('an answer kept for an Idempotency-Key stays with its tenant', async () => {
  const key = { headers: { 'idempotency-key': 'k1' }, body: { name: 'once' } };
  const first = await (await member('same', 'acme')).request('POST', '/projects', key);
  const second = await (await member('same', 'beta')).request('POST', '/projects', key);
  assert.equal(first.status, 201);
  assert.notEqual(second.body?.project, first.body.project);
});

test('an operator asks as a caller of a tenant', async () => {
  const call = async (claims) => (await operator.post('/call', { pattern: 'tasks of day', with: { day }, as: { subject: 'zoe', roles: [], claims } })).body.result.items;
  assert.ok(names(await call({ tenant: 'acme' })).includes('of acme'));
  assert.ok(!names(await call({ tenant: 'acme' })).includes('of beta'));
  assert.deepEqual(await call({}), []);
  const { stdout } = await runToEnd(['call', app.name, 'tasks of day', `day=${day}`, '--as', 'zoe', '--claim', 'tenant=beta', '--data', app.data, '--endpoint', app.server.endpoint]);
  assert.ok(stdout.includes('of beta') && !stdout.includes('of acme'), stdout);
});

test('the design of the manual is as it says', async () => {
  const [, yaml] = /```yaml\n(design: rooms\n.*?)```/s.exec(readFileSync(join(ROOT, 'docs', 'design-language.md'), 'utf8'));
  const rooms = join(freshDirectory(), 'rooms.yaml');
  writeFileSync(rooms, yaml);
  const { stdout } = await runToEnd(['check', rooms]);
  assert.match(stdout, /  by key   my rooms\n1 design, 0 errors, 0 warnings/);
  const desk = await startDesign(rooms);
  const as = async (tenant) => {
    const { stdout: token } = await runToEnd(['token', 'rooms', '--data', desk.data, '--subject', 'x', '--claim', `tenant=${tenant}`]);
    return new Caller(desk.base, token.trim());
  };
  const [acme, beta] = [await as('acme'), await as('beta')];
  await acme.put('/rooms/acme/blue');
  await beta.put('/rooms/acme/red', {}, { status: 403 });
  assert.deepEqual((await acme.list('/rooms')).map(({ room }) => room), ['blue']);
  assert.deepEqual(await beta.list('/rooms'), []);
  await beta.get('/rooms/acme/blue', { status: 404 });
});

test('an entity that the rule does not fit must be exempted, with a reason', async () => {
  const text = readFileSync(file, 'utf8');
  const wrong = async (from, to) => {
    assert.ok(text.includes(from), from);
    const at = join(freshDirectory(), 'offices.yaml');
    writeFileSync(at, text.replace(from, to));
    const { code, stdout } = await runToEnd(['check', at]);
    assert.equal(code, 1, stdout);
    return stdout;
  };
  assert.match(await wrong('    Plan: the price list is the same for all\n', ''), /Plan has no 'tenant', which the rule for everywhere reads \[missing-everywhere\]/);
  assert.match(await wrong('    Plan: the price list is the same for all', '    Plam: the price list'), /there is no entity 'Plam'.*did you mean 'Plan'/s);
  assert.match(await wrong('    create User: people', '    make User: people'), /expected an entity, or one of create, read/);
  assert.match(await wrong('allow: tenant = caller.tenant', 'allow: tenant = caller.tenent'), /there is no claim 'tenent'.*did you mean 'tenant'/s);
  assert.match(await wrong('allow: tenant = caller.tenant', 'allow: exists Project(tenant)'), /must be possible in DynamoDB/);
  assert.match(await wrong('  allow: tenant = caller.tenant\n', ''), /'everywhere' needs 'allow'/);
  assert.match(await wrong('claims: {tenant: tenant}', 'claims: {tenand: tenant}'), /there is no claim 'tenand'/);
  assert.match(await wrong('claims: {tenant: slug}', 'claims: {tenant: integer}'), /wrong-type/);
  assert.match(await wrong('claims: {tenant: slug}', 'claims: {tenant: "slug, required"}'), /a claim has a type/);
  assert.match(await wrong('claims: {tenant: slug}', 'claims: {tenant: slug from }'), /bad|expected|unknown/);
});
