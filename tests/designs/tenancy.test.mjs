// Items that are written together with another one, by their own rules: all of it, or nothing.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, freshDirectory, runToEnd, startDesign } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'tenancy', 'tenancy.yaml');
const app = await startDesign(file);
const ann = await app.as('ann', 'user');
const bob = await app.as('bob', 'user');
const operator = await app.operator();

test('the reviewer has nothing to say', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
});

test('a tenant comes with its first owner, who is counted in it', async () => {
  const { body } = await ann.put('/tenants/acme', { name: 'Acme' });
  assert.equal(body.members, 1);
  assert.equal(body.owners, 1);
  const { body: member } = await ann.get('/tenants/acme/members/ann');
  assert.equal(member.role, 'owner');
  assert.equal(member.tenant_name, 'Acme');
  const { body: log } = await ann.get('/tenants/acme/log');
  assert.deepEqual(log.items.map(({ what, who, name }) => [what, who, name]), [['tenant created', 'ann', 'Acme']]);
});

const tenant = async (name, seats = 5) => (await ann.put(`/tenants/${name}`, { name, seats })).body;
const invite = async (to, role = 'editor') => (await ann.post(`/tenants/${to}/invites`, { role })).body;
const accept = (who, i, options) => who.post(`/tenants/${i.tenant}/invites/${i.invite}/accept`, {}, options);
const log = async (name) => (await ann.get(`/tenants/${name}/log`)).body.items.map((entry) => entry.what);

test('accepting an invitation makes a member, once', async () => {
  await tenant('beta');
  const i = await invite('beta');
  const { body } = await accept(bob, i);
  assert.equal(body.status, 'accepted');
  assert.equal(body.accepted_by, 'bob');
  const { body: member } = await bob.get('/tenants/beta/members/bob');
  assert.deepEqual([member.role, member.tenant_name], ['editor', 'beta']);
  assert.equal((await ann.get('/tenants/beta')).body.members, 2);
  assert.deepEqual(await log('beta'), ['tenant created', 'invitation accepted']);
  await accept(ann, i, { status: 409, detail: /this invitation is used up/ });
});

test('nothing is done when the other item refuses, and the message names it', async () => {
  await tenant('gamma', 3);
  const first = await invite('gamma');
  await accept(bob, first);
  const second = await invite('gamma');
  const again = await accept(bob, second, { status: 409 });
  assert.equal(again.body.detail, 'there is a Membership gamma/bob already');
  await ann.patch('/tenants/gamma', { seats: 2 });
  const carl = await app.as('carl', 'user');
  const full = await accept(carl, second, { status: 409 });
  assert.match(full.body.detail, /Tenant gamma: all seats are taken/);
  assert.equal((await ann.get(`/tenants/gamma/invites/${second.invite}`)).body.status, 'open');
  assert.equal((await ann.get('/tenants/gamma')).body.members, 2);
  assert.deepEqual(await log('gamma'), ['tenant created', 'invitation accepted', 'tenant changed']);
  await accept(app.nobody, second, { status: 404 });
});

test('of many who accept at once only as many come in as there are seats', async () => {
  await tenant('delta', 6);
  const people = await Promise.all(Array.from({ length: 15 }, (_, n) => app.as(`p${n}`, 'user')));
  const open = [];
  for (const who of people) open.push([who, await invite('delta', 'viewer')]);
  const replies = await Promise.all(open.map(([who, i]) => who.request('POST', `/tenants/delta/invites/${i.invite}/accept`, { body: {} })));
  const statuses = replies.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 5, statuses.join());
  assert.equal(statuses.filter((status) => status === 409).length, 10, statuses.join());
  assert.equal((await ann.get('/tenants/delta')).body.members, 6);
  assert.equal((await ann.get('/tenants/delta/members')).body.items.length, 6);
  assert.equal((await log('delta')).length, 6);
});

test('of many who accept one invitation at once one comes in', async () => {
  await tenant('epsilon', 50);
  const i = await invite('epsilon');
  const people = await Promise.all(Array.from({ length: 10 }, (_, n) => app.as(`q${n}`, 'user')));
  const replies = await Promise.all(people.map((who) => who.request('POST', `/tenants/epsilon/invites/${i.invite}/accept`, { body: {} })));
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, ...Array(9).fill(409)]);
  assert.equal((await ann.get('/tenants/epsilon')).body.members, 2);
});

test('every change leaves an entry in the same transaction, also a deletion; a request that changes nothing does not', async () => {
  await tenant('zeta');
  await ann.patch('/tenants/zeta', { name: 'Zeta Ltd' });
  await ann.patch('/tenants/zeta', { name: 'Zeta Ltd' });
  const i = await invite('zeta');
  await accept(bob, i);
  await bob.delete('/tenants/zeta/members/bob');
  const { body } = await ann.get('/tenants/zeta/log');
  assert.deepEqual(body.items.map(({ what, who, name, before }) => [what, who, name, before]), [
    ['tenant created', 'ann', 'zeta', undefined],
    ['tenant changed', 'ann', 'Zeta Ltd', 'zeta'],
    ['invitation accepted', 'bob', 'bob', undefined],
    ['member left', 'bob', 'bob', 'editor'],
  ]);
  assert.equal((await ann.get('/tenants/zeta')).body.members, 1);
});

test('an action may change other items only: the invitation goes on, and the member with it', async () => {
  await tenant('eta');
  const owner = await invite('eta', 'owner');
  await accept(bob, owner);
  const i = await invite('eta', 'viewer');
  await bob.post(`/tenants/eta/invites/${i.invite}/hand_on`, {});
  await ann.get('/tenants/eta/members/bob', { status: 404 });
  const { body } = await ann.get('/tenants/eta');
  assert.deepEqual([body.members, body.owners], [1, 1]);
  assert.deepEqual((await log('eta')).slice(-1), ['member left']);
  assert.equal((await ann.get(`/tenants/eta/invites/${i.invite}`)).body.status, 'open', 'the item itself is as it was');
});

test('a key makes a request one request: the same invitation accepted twice under one key is one member', async () => {
  await tenant('theta');
  const i = await invite('theta');
  const headers = { 'idempotency-key': 'accept-theta' };
  const replies = await Promise.all([1, 2, 3].map(() => bob.request('POST', `/tenants/theta/invites/${i.invite}/accept`, { body: {}, headers })));
  assert.ok(replies.some(({ status }) => status === 200));
  assert.equal((await bob.request('POST', `/tenants/theta/invites/${i.invite}/accept`, { body: {}, headers })).status, 200);
  assert.equal((await ann.get('/tenants/theta')).body.members, 2);
  assert.deepEqual(await log('theta'), ['tenant created', 'invitation accepted']);
});

test('only the rule that writes them says who may: nobody may put a member or an entry directly', async () => {
  await tenant('iota');
  await bob.put('/tenants/iota/members/bob', { role: 'owner' }, { status: 404 });
  await ann.post('/tenants/iota/log', { what: 'nothing' }, { status: 403 });
  await bob.put('/tenants/iota', { name: 'mine' }, { status: 409 });
  assert.equal((await ann.get('/tenants/iota')).body.members, 1);
});

test('a check of a counter waits for what is written together: the founder is the owner there must be, and stays it', async () => {
  await tenant('lambda');
  await ann.delete('/tenants/lambda/members/ann', { status: 409, detail: /a tenant keeps an owner/ });
  await ann.patch('/tenants/lambda/members/ann', { role: 'editor' }, { status: 409, detail: /a tenant keeps an owner/ });
  await accept(bob, await invite('lambda', 'owner'));
  const statuses = await Promise.all([[ann, 'ann'], [bob, 'bob']].map(([who, name]) => who.request('DELETE', `/tenants/lambda/members/${name}`)));
  assert.deepEqual(statuses.map(({ status }) => status).sort(), [204, 409]);
  assert.equal((await operator.get('/tenants/lambda')).body.owners, 1);
});

test('a check of a counter that nothing moves refuses the new item', async () => {
  const text = readFileSync(file, 'utf8').replace('design: tenancy', 'design: bare').replace("      - {on: created, put: Membership, with: {tenant: tenant, user: caller, role: owner}}\n", '');
  const bare = join(freshDirectory(), 'bare.yaml');
  writeFileSync(bare, text);
  const other = await startDesign(bare);
  await (await other.as('ann', 'user')).put('/tenants/acme', { name: 'Acme' }, { status: 409, detail: /a tenant keeps an owner/ });
  assert.deepEqual(await other.items(), []);
});

test('a rule sees the body: a member may step down, and not up', async () => {
  await tenant('mu-ltd');
  await accept(bob, await invite('mu-ltd', 'editor'));
  await bob.patch('/tenants/mu-ltd/members/bob', { role: 'owner' }, { status: 403 });
  await bob.patch('/tenants/mu-ltd/members/bob', {}, { status: 403 });
  await bob.patch('/tenants/mu-ltd/members/ann', { role: 'viewer' }, { status: 403 });
  assert.equal((await bob.patch('/tenants/mu-ltd/members/bob', { role: 'viewer' })).body.role, 'viewer');
});

test('the last writer is the caller of each write, and nobody when the server itself writes', async () => {
  await tenant('kappa');
  assert.equal((await ann.get('/tenants/kappa')).body.changed_by, 'ann');
  await accept(bob, await invite('kappa', 'owner'));
  assert.equal((await ann.get('/tenants/kappa')).body.changed_by, 'ann', 'a counter that moves is no write of the item');
  assert.equal((await bob.patch('/tenants/kappa', { name: 'K' })).body.changed_by, 'bob');
  await ann.patch('/tenants/kappa', { name: 'K' });
  assert.equal((await ann.get('/tenants/kappa')).body.changed_by, 'bob', 'nothing was changed');
  await ann.patch('/tenants/kappa', { changed_by: 'carl' }, { status: 422 });
  const { body } = await ann.get('/openapi.json');
  assert.equal(body.components.schemas.Tenant.properties.changed_by.readOnly, true);
  assert.match(body.components.schemas.Tenant.properties.changed_by.description, /changed it last/);
});

test('docs/design-language.md: the audit trail', async () => {
  const text = readFileSync(join(ROOT, 'docs', 'design-language.md'), 'utf8');
  const path = join(freshDirectory(), 'audit.yaml');
  writeFileSync(path, /as `audit.yaml`:\n\n```yaml\n(.*?)```/s.exec(text)[1]);
  assert.match((await runToEnd(['check', path])).stdout, /0 errors, 0 warnings/);
  const notes = await startDesign(path);
  const carl = await notes.as('carl', 'user');
  const dora = await notes.as('dora', 'user');
  const { body: note } = await carl.post('/notes', { text: 'one' });
  assert.equal((await dora.patch(`/notes/${note.note}`, { text: 'two' })).body.changed_by, 'dora');
  await carl.delete(`/notes/${note.note}`);
  const changes = await dora.all(`/notes/${note.note}/changes`, 10);
  assert.deepEqual(changes.map(({ what, who, before }) => [what, who, before]), [
    ['created', 'carl', undefined], ['changed', 'dora', 'one'], ['deleted', 'carl', 'two']]);
});
