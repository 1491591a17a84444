// designs/examples/saas.yaml under attack: another tenant's names in every parameter, quotas and invitations raced for.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BACKEND, atOnce, until } from './harness.mjs';
import { recount, startSaas } from './saas-world.mjs';

const { app, operator, person, join } = await startSaas();
const [ann, abe, bob, cat, dan] = await Promise.all(['ann', 'abe', 'bob', 'cat', 'dan'].map(person));
const month = new Date().toISOString().slice(0, 7);
await ann.post('/tenants', { tenant: 'acme', name: 'Acme' });
await ann.post('/tenants/acme/change_plan', { plan: 'team' });
await bob.post('/tenants', { tenant: 'beta', name: 'Beta' });
await join(ann, 'acme', abe, 'member');
await ann.post('/tenants/acme/projects', { project: 'web', title: 'Secret' });
await ann.post('/tenants/acme/projects/web/tasks', { title: 'Secret', assignee: abe.user });
await bob.post('/tenants/beta/projects', { project: 'own', title: 'Own' });
const { body: open } = await ann.post('/tenants/acme/invites', { email: 'zoe@example.com', role: 'admin' });
const inAcme = (items) => JSON.stringify(items.filter(({ PK, SK }) => /^TENANT#acme/.test(PK) && SK !== 'TENANT#acme').sort((a, b) => (a.PK + a.SK < b.PK + b.SK ? -1 : 1)));

/** Every route below an entity of acme, with what it would take. */
const ROUTES = [
  ['GET', '/tenants/acme'], ['PATCH', '/tenants/acme', { name: 'Taken' }], ['DELETE', '/tenants/acme'],
  ['POST', '/tenants/acme/change_plan', { plan: 'free' }], ['POST', '/tenants/acme/suspend'], ['POST', '/tenants/acme/resume'],
  ['GET', `/tenants/acme/members/${ann.user}`], ['PATCH', `/tenants/acme/members/${ann.user}`, { role: 'viewer' }],
  ['DELETE', `/tenants/acme/members/${ann.user}`], ['DELETE', `/tenants/acme/members/${abe.user}`],
  ['PUT', `/tenants/acme/members/${bob.user}`, { role: 'owner' }], ['POST', '/tenants/acme/members', { user: bob.user, role: 'owner' }],
  ['GET', `/tenants/acme/invites/${open.invite}`], ['DELETE', `/tenants/acme/invites/${open.invite}`],
  ['POST', `/tenants/acme/invites/${open.invite}/accept`], ['POST', '/tenants/acme/invites', { email: bob.email, role: 'admin' }],
  ['PUT', '/tenants/acme/invites/01K0000000000000000000000A', { email: bob.email, role: 'admin' }],
  ['GET', '/tenants/acme/projects/web'], ['PATCH', '/tenants/acme/projects/web', { title: 'Taken' }], ['DELETE', '/tenants/acme/projects/web'],
  ['POST', '/tenants/acme/projects', { project: 'planted', title: 'Planted' }], ['PUT', '/tenants/acme/projects/planted', { title: 'Planted' }],
  ['PUT', '/tenants/acme/projects/web', { title: 'Planted' }],
  ['GET', '/tenants/acme/projects/web/tasks/1'], ['PATCH', '/tenants/acme/projects/web/tasks/1', { title: 'Taken' }],
  ['DELETE', '/tenants/acme/projects/web/tasks/1'], ['POST', '/tenants/acme/projects/web/tasks', { title: 'Planted' }],
  ...['start', 'submit', 'approve', 'reject', 'reopen'].map((action) => ['POST', `/tenants/acme/projects/web/tasks/1/${action}`]),
  ['GET', `/users/${ann.user}`], ['PATCH', `/users/${ann.user}`, { name: 'Taken' }], ['POST', `/users/${ann.user}/enter`, { tenant: 'beta' }],
];

test("another tenant's names in every address: not there, or forbidden, and nothing changes", async () => {
  const before = inAcme(await app.items());
  for (const caller of [bob, cat, app.nobody]) {
    for (const [method, path, body] of ROUTES) {
      const { status, body: reply } = await caller.request(method, path, { body });
      assert.ok([401, 403, 404, 405, 409, 422].includes(status), `${method} ${path}: ${status}`);
      assert.doesNotMatch(JSON.stringify(reply ?? ''), /Secret|zoe@/, `${method} ${path}`);
    }
  }
  assert.equal(inAcme(await app.items()), before);
  for (const caller of [bob, cat, app.nobody]) assert.equal((await caller.request('GET', '/tenants/acme/projects/web')).status, 404);
});

test("another tenant's names in every attribute", async () => {
  const before = inAcme(await app.items());
  await bob.post('/tenants/beta/projects', { tenant: 'acme', project: 'x', title: 'X' }, { status: 422 });
  await bob.patch('/tenants/beta/projects/own', { tenant: 'acme' }, { status: 422 });
  await bob.post('/tenants/beta/projects/own/tasks', { title: 'X', assignee: ann.user }, { status: 422 });
  await bob.post('/tenants/beta/projects/web/tasks', { title: 'X' }, { status: 404 });
  await bob.post('/tenants/beta/projects/own/tasks', { title: 'X', project: 'web' }, { status: 422 });
  await bob.post('/tenants/beta/projects/own/tasks', { title: 'X', created_by: ann.user }).then(({ body }) => assert.equal(body.created_by, bob.user));
  await bob.post(`/users/${bob.user}/enter`, { tenant: 'acme' }, { status: 409 });
  await bob.patch(`/users/${bob.user}`, { tenant: 'acme' }, { status: 422 });
  const { status } = await app.nobody.request('POST', '/users', { body: { email: 'eve@example.com', name: 'Eve', password: 'a long enough password', tenant: 'acme' } });
  assert.equal(status, 422);
  assert.equal(inAcme(await app.items()), before);
});

test("another tenant's names in every list", async () => {
  for (const path of ['/members', '/invites', '/projects', '/projects/web/tasks', '/projects/web/tasks/todo', '/my/tasks', '/activity', `/log/${month}`]) {
    for (const query of ['', '?tenant=acme', '?caller.tenant=acme']) {
      const { status, body } = await bob.request('GET', path + query);
      assert.ok(status === 200 || status === 422, `${path}${query}: ${status}`);
      assert.doesNotMatch(JSON.stringify(body), /Secret|acme|zoe@/, path + query);
    }
    const { body } = await cat.request('GET', path); // in no tenant
    assert.deepEqual(body.items ?? [], [], path);
  }
  for (const project of ['web%23', '..%2f..%2facme', 'x%23PROJECT%23web', 'own#']) {
    const { body } = await bob.request('GET', `/projects/${project}/tasks`);
    assert.doesNotMatch(JSON.stringify(body), /Secret/);
  }
  // A page's cursor of one tenant leads nowhere in another.
  for (let i = 0; i < 3; i += 1) await ann.post('/tenants/acme/projects/web/tasks', { title: `Secret ${i}` });
  const { body: page } = await ann.get('/projects/web/tasks?limit=1');
  const { status, body } = await bob.request('GET', `/projects/web/tasks?limit=1&after=${encodeURIComponent(page.next)}`);
  assert.ok(status === 200 || status === 422 || status === 400, `${status}`);
  assert.doesNotMatch(JSON.stringify(body), /Secret/);
});

test('twenty create projects at once: as many as the plan has are there, and not one more', async () => {
  const statuses = await atOnce(Array.from({ length: 20 }, (_, i) => () => ann.request('POST', '/tenants/acme/projects', { body: { project: `race-${i}`, title: 'Race' } })));
  assert.deepEqual(statuses, { 201: 4, 409: 16 }); // one of five is there already
  const { body } = await ann.get('/tenants/acme');
  assert.deepEqual([body.projects, body.max_projects], [5, 5]);
  assert.equal((await ann.list('/projects')).length, 5);
});

test('projects are created while the plan is made smaller: never more than it has', async () => {
  await dan.post('/tenants', { tenant: 'delta', name: 'Delta' });
  await dan.post('/tenants/delta/change_plan', { plan: 'team' });
  await dan.post('/tenants/delta/projects', { project: 'first', title: 'First' });
  await Promise.all([
    dan.request('POST', '/tenants/delta/change_plan', { body: { plan: 'free' } }),
    ...Array.from({ length: 6 }, (_, i) => dan.request('POST', '/tenants/delta/projects', { body: { project: `race-${i}`, title: 'Race' } })),
  ]);
  const { body } = await dan.get('/tenant');
  assert.ok(body.projects <= body.max_projects, `${body.projects} of ${body.max_projects}`);
  assert.equal((await dan.list('/projects')).length, body.projects);
});

test('seats: guests accept at once, and the last ones find none', async () => {
  const guests = await Promise.all(['g1', 'g2', 'g3', 'g4', 'g5'].map(person));
  const links = [];
  for (const guest of guests) {
    const { body } = await bob.post('/tenants/beta/invites', { email: guest.email, role: 'viewer' });
    links.push(`/tenants/beta/invites/${body.invite}/accept`);
  }
  const statuses = await atOnce(guests.map((guest, i) => () => guest.request('POST', links[i], { body: {} })));
  assert.deepEqual(statuses, { 200: 2, 409: 3 });
  assert.equal((await bob.get('/tenant')).body.members, 3);
  assert.equal((await bob.list('/invites')).filter(({ status }) => status === 'open').length, 3);
});

test('an invitation is accepted at once by many requests, and again: one membership', async () => {
  const { body: { invite } } = await ann.post('/tenants/acme/invites', { email: cat.email, role: 'member' });
  const link = `/tenants/acme/invites/${invite}/accept`;
  const statuses = await atOnce(Array.from({ length: 8 }, () => () => cat.request('POST', link, { body: {} })));
  assert.deepEqual(statuses, { 200: 1, 409: 7 });
  await cat.post(link, {}, { status: 409 });
  const mine = (await ann.list('/members?limit=100')).filter(({ user }) => user === cat.user);
  assert.equal(mine.length, 1);
  // Two invitations for one person: the second finds the membership.
  const { body: { invite: second } } = await ann.post('/tenants/acme/invites', { email: cat.email, role: 'admin' });
  await cat.post(`/tenants/acme/invites/${second}/accept`, {}, { status: 409 });
  assert.equal((await ann.list('/members?limit=100')).find(({ user }) => user === cat.user).role, 'member');
});

test('an invitation is void after seven days, after it was taken back, and while the tenant is suspended', async () => {
  const late = await person('late');
  const week = 7 * 86_400_000;
  const invite = async (id, more) => {
    await operator.put(`/tenants/acme/invites/${id}`, { email: late.email, role: 'member', invited_by: ann.user, ...more });
    return `/tenants/acme/invites/${id}`;
  };
  const old = await invite('01K0000000000000000000000A', { created_at: new Date(Date.now() - week - 60_000).toISOString() });
  const { status } = await late.request('POST', `${old}/accept`, { body: {} });
  assert.ok(status === 404 || status === 409, `${status}`);
  const soon = await invite('01K0000000000000000000000B', { created_at: new Date(Date.now() - week + 2_000).toISOString() });
  await until('the invitation to expire', async () => (await late.request('GET', soon)).status === 404);
  await late.post(`${soon}/accept`, {}, { status: 404 });
  const { body: { invite: back } } = await ann.post('/tenants/acme/invites', { email: late.email, role: 'member' });
  await ann.delete(`/tenants/acme/invites/${back}`);
  await late.post(`/tenants/acme/invites/${back}/accept`, {}, { status: 404 });
  const { body: { invite: good } } = await ann.post('/tenants/acme/invites', { email: late.email, role: 'member' });
  await operator.post('/tenants/acme/suspend');
  await late.post(`/tenants/acme/invites/${good}/accept`, {}, { status: 409 });
  await operator.post('/tenants/acme/resume');
  await app.settled();
  await late.post(`/tenants/acme/invites/${good}/accept`);
  assert.equal((await late.get('/tenant')).body.tenant, 'acme');
});

test('accepting and taking back at once: a membership or none, and never half of one', async () => {
  for (let i = 0; i < 5; i += 1) {
    const guest = await person(`half${i}`);
    await ann.post('/tenants/acme/change_plan', { plan: 'large' });
    const { body: { invite } } = await ann.post('/tenants/acme/invites', { email: guest.email, role: 'viewer' });
    const [accepted, gone] = await Promise.all([
      guest.request('POST', `/tenants/acme/invites/${invite}/accept`, { body: {} }), ann.request('DELETE', `/tenants/acme/invites/${invite}`),
    ]);
    assert.ok([200, 404, 409].includes(accepted.status), `${accepted.status}`);
    assert.ok([204, 200].includes(gone.status), `${gone.status}`);
    const isIn = (await guest.get('/me')).body.claims?.tenant === 'acme';
    assert.equal(isIn, accepted.status === 200);
  }
  assert.deepEqual(recount(await app.items()), []);
});

test('two owners leave at once: one stays', async () => {
  const [one, two] = await Promise.all(['one', 'two'].map(person));
  await one.post('/tenants', { tenant: 'pair', name: 'Pair' });
  await join(one, 'pair', two, 'member');
  await one.patch(`/tenants/pair/members/${two.user}`, { role: 'owner' });
  const statuses = await atOnce([one, two].map((each) => () => each.request('DELETE', `/tenants/pair/members/${each.user}`)));
  assert.equal(statuses[409], 1, JSON.stringify(statuses));
  assert.equal((await operator.get('/tenants/pair')).body.owners, 1);
});

test('a task is approved and rejected at once: one of both', async () => {
  await ann.post('/tenants/acme/projects/web/tasks', { title: 'Contested' });
  const [{ number }] = await ann.list('/projects/web/tasks?limit=1');
  const at = `/tenants/acme/projects/web/tasks/${number}`;
  await abe.post(`${at}/start`);
  await abe.post(`${at}/submit`);
  const statuses = await atOnce(['approve', 'reject', 'approve', 'reject'].map((action) => () => ann.request('POST', `${at}/${action}`, { body: {} })));
  assert.deepEqual(statuses, { 200: 1, 409: 3 });
  const { body } = await ann.get('/tenants/acme/projects/web');
  assert.equal(Object.values(body.tasks).reduce((sum, n) => sum + n), (await ann.list('/projects/web/tasks?limit=100')).length);
});

test('twenty tasks at once have numbers without gaps or repeats', async () => {
  const { body: before } = await ann.get('/projects/web/tasks?limit=1');
  const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => ann.request('POST', '/tenants/acme/projects/web/tasks', { body: { title: `Task ${i}` } })));
  assert.deepEqual(replies.map(({ body }) => body.number).sort((a, b) => a - b), Array.from({ length: 20 }, (_, i) => before.items[0].number + 1 + i), BACKEND ?? '');
});

test('every counter is what it counts, and every membership has its seat', async () => {
  assert.deepEqual(recount(await app.items()), []);
});
