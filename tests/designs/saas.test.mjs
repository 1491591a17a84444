// designs/examples/saas.yaml: tenants of one table, their members, projects, tasks and bills.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join as pathOf } from 'node:path';
import { test } from 'node:test';
import { ROOT, designFile, runToEnd, startDesign, until } from './harness.mjs';
import { recount, startSaas } from './saas-world.mjs';

const { app, operator, person, join } = await startSaas();
const [ann, abe, ada, bob, cat] = await Promise.all(['ann', 'abe', 'ada', 'bob', 'cat'].map(person));
const month = new Date().toISOString().slice(0, 7);
const log = async (caller) => (await caller.list(`/log/${month}?limit=100`)).map(({ what, about, before, after }) => [what, about, before, after].filter((x) => x !== undefined).join(' '));

test('the reviewer has nothing to say', async () => {
  const { code, stdout } = await runToEnd(['check', designFile('saas')]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
  assert.doesNotMatch(stdout, /note:/);
});

test('a tenant is founded with its first owner, the seat, the claim and the log, or not at all', async () => {
  assert.equal((await ann.get('/me')).body.claims?.tenant, undefined);
  await ann.get('/tenant', { status: 404 });
  await ann.post('/tenants', { tenant: 'acme', name: 'Acme' });
  assert.equal((await ann.get('/me')).body.claims.tenant, 'acme');
  const { body: tenant } = await ann.get('/tenant');
  assert.deepEqual([tenant.members, tenant.owners, tenant.changed_by, tenant.plan, tenant.max_projects], [1, 1, ann.user, 'free', 2]);
  assert.deepEqual((await ann.list('/members')).map(({ user, role, rights, name }) => [user, role, rights, name]), [[ann.user, 'owner', 'owner', 'ann']]);
  assert.deepEqual((await ann.list('/my/tenants')).map(({ tenant: of }) => of), ['acme']);
  assert.deepEqual((await log(ann)).sort(), [`member_joined ${ann.user} owner`, 'tenant_created acme free']);

  await bob.post('/tenants', { tenant: 'acme', name: 'Also Acme' }, { status: 409 });
  assert.equal((await bob.get('/me')).body.claims?.tenant, undefined);
  await bob.post('/tenants', { tenant: 'beta', name: 'Beta', plan: 'gold' }, { status: 422 });
  await bob.post('/tenants', { tenant: 'beta', name: 'Beta' });
  await app.nobody.post('/tenants', { tenant: 'none', name: 'None' }, { status: 401 });
});

test('an invitation becomes a membership, a seat and a place to work in one transaction; both tenants stay apart', async () => {
  const { body: invite } = await ann.post('/tenants/acme/invites', { email: 'ABE@example.com', role: 'member' });
  assert.equal(invite.email, 'abe@example.com');
  assert.equal((await ann.list('/invites')).length, 1);
  const link = `/tenants/acme/invites/${invite.invite}`;
  await abe.get(link);
  await cat.get(link, { status: 404 });
  await cat.post(`${link}/accept`, {}, { status: 404 });
  await abe.post(`${link}/accept`);
  assert.equal((await abe.get('/me')).body.claims.tenant, 'acme');
  assert.deepEqual((await abe.list('/members')).map(({ user, rights }) => `${user} ${rights}`).sort(), [`${ann.user} owner`, `${abe.user} member`].sort());
  await abe.post(`${link}/accept`, {}, { status: 409, detail: /used up/ });
  assert.deepEqual((await log(ann)).slice(0, 2).sort(), [`member_invited abe@example.com member`, `member_joined ${abe.user} member`].sort());
  await abe.get(`/log/${month}`).then(({ body }) => assert.deepEqual(body.items, [])); // for owners and admins
  await ann.post('/tenants/acme/invites', { email: 'zoe@example.com', role: 'viewer' });
  assert.deepEqual((await abe.list('/invites')).map(({ email }) => email), [abe.email]); // only what is for abe
  await abe.post('/tenants/acme/invites', { email: 'x@example.com', role: 'member' }, { status: 403 });
});

test('a person with two seats changes from one tenant to the other, and nowhere else', async () => {
  await join(bob, 'beta', abe, 'viewer');
  assert.equal((await abe.get('/tenant')).body.name, 'Beta');
  await abe.post(`/users/${abe.user}/enter`, { tenant: 'acme' });
  assert.equal((await abe.get('/tenant')).body.name, 'Acme');
  assert.deepEqual((await abe.list('/my/tenants')).map(({ tenant_name: name }) => name).sort(), ['Acme', 'Beta']);
  await abe.post(`/users/${abe.user}/enter`, { tenant: 'gamma' }, { status: 409, detail: /no seat/ });
  await abe.post(`/users/${abe.user}/enter`, {}, { status: 409 });
  await abe.patch(`/users/${abe.user}`, { tenant: 'beta' }, { status: 422 });
  await cat.post(`/users/${cat.user}/enter`, { tenant: 'acme' }, { status: 409 });
  await bob.post(`/users/${abe.user}/enter`, { tenant: 'beta' }, { status: 403 });
  await ann.patch('/tenants/acme', { name: 'Acme & Sons' });
  await app.settled();
  assert.deepEqual((await abe.list('/my/tenants')).map(({ tenant_name: name }) => name).sort(), ['Acme & Sons', 'Beta']);
});

test('a task goes through its states and no other way, and another member approves it', async () => {
  await abe.post('/tenants/acme/projects', { project: 'web', title: 'The site' });
  const { body: task } = await abe.post('/tenants/acme/projects/web/tasks', { title: 'Write it' });
  assert.deepEqual([task.number, task.status], [1, 'todo']);
  const at = '/tenants/acme/projects/web/tasks/1';
  await abe.patch(at, { status: 'done' }, { status: 422 });
  for (const action of ['submit', 'approve', 'reject', 'reopen']) await abe.post(`${at}/${action}`, {}, { status: 409 });
  assert.deepEqual((await abe.post(`${at}/start`)).body.assignee, abe.user);
  assert.deepEqual((await abe.list('/my/tasks')).map(({ number }) => number), [1]);
  await abe.post(`${at}/submit`);
  await abe.post(`${at}/approve`, {}, { status: 409, detail: /another member/ });
  await ann.post(`${at}/reject`);
  await abe.post(`${at}/submit`);
  await ann.post(`${at}/approve`);
  assert.deepEqual(await abe.list('/my/tasks'), []);
  assert.deepEqual((await abe.get('/tenants/acme/projects/web')).body.tasks, { todo: 0, doing: 0, review: 0, done: 1 });
  assert.deepEqual((await abe.list('/projects/web/tasks/done')).map(({ title }) => title), ['Write it']);
  assert.deepEqual(await abe.list('/projects/web/tasks/doing'), []);
  await ann.post(`${at}/reopen`);
  await abe.post('/tenants/acme/projects/web/tasks', { title: 'Ship it', assignee: bob.user }, { status: 422, detail: /nobody of that name/ });
});

test('activity of all shards is one list, newest first, page by page', async () => {
  const { body: second } = await abe.post('/tenants/acme/projects/web/tasks', { title: 'Ship it', assignee: ann.user });
  assert.equal(second.number, 2); // the refused one took no number
  for (let i = 3; i <= 12; i += 1) await ann.post('/tenants/acme/projects/web/tasks', { title: `Task ${i}` });
  await abe.delete('/tenants/acme/projects/web/tasks/12', { status: 403 }); // ann's
  await ann.delete('/tenants/acme/projects/web/tasks/12');
  const all = await abe.all('/activity', 4);
  assert.deepEqual(all.map(({ activity }) => activity), all.map(({ activity }) => activity).sort().reverse());
  assert.deepEqual(all.slice(0, 3).map(({ what, number, who }) => [what, number, who]), [['deleted', 12, ann.user], ['created', 12, ann.user], ['created', 11, ann.user]]);
  assert.deepEqual(all.filter(({ number }) => number === 1).map(({ what }) => what), ['todo', 'done', 'review', 'doing', 'review', 'doing', 'created']);
  const shards = new Set((await app.items()).filter(({ SK }) => SK.startsWith('ACTIVITY#')).map(({ PK }) => PK));
  assert.deepEqual([...shards].sort(), [0, 1, 2, 3].map((n) => `TENANT#acme#ACTIVITY#${n}`));
});

test('roles: viewers look, members work, admins manage members but no owners, and an owner stays', async () => {
  await ann.patch(`/tenants/acme/members/${abe.user}`, { role: 'viewer' });
  await abe.patch('/tenants/acme/projects/web', { title: 'Mine' }, { status: 403 });
  await abe.post('/tenants/acme/projects/web/tasks', { title: 'Mine' }, { status: 403 });
  await abe.post('/tenants/acme/projects/web/tasks/2/start', {}, { status: 403 });
  await abe.patch(`/tenants/acme/members/${abe.user}`, { role: 'owner' }, { status: 403 });
  await ann.patch(`/tenants/acme/members/${abe.user}`, { role: 'admin' });
  await abe.patch(`/tenants/acme/members/${abe.user}`, { role: 'owner' }, { status: 403 });
  await abe.patch(`/tenants/acme/members/${ann.user}`, { role: 'viewer' }, { status: 403 });
  await abe.delete(`/tenants/acme/members/${ann.user}`, { status: 403 });
  await abe.patch('/tenants/acme', { name: 'Mine' }, { status: 403 });
  await abe.post('/tenants/acme/change_plan', { plan: 'large' }, { status: 403 });
  await join(abe, 'acme', ada, 'member');
  await abe.patch(`/tenants/acme/members/${ada.user}`, { role: 'viewer' });
  await ann.patch(`/tenants/acme/members/${ann.user}`, { role: 'admin' }, { status: 409, detail: /keeps an owner/ });
  await ann.delete(`/tenants/acme/members/${ann.user}`, { status: 409, detail: /keeps an owner/ });
  assert.ok((await log(abe)).includes(`role_changed ${ada.user} member viewer`));
});

test('quotas: three seats and two projects are what the free plan has; plans change both ways', async () => {
  const { body: { invite } } = await ann.post('/tenants/acme/invites', { email: cat.email, role: 'member' });
  await cat.post(`/tenants/acme/invites/${invite}/accept`, {}, { status: 409, detail: /no more seats/ });
  assert.equal((await cat.get('/me')).body.claims?.tenant, undefined);
  await ann.post('/tenants/acme/projects', { project: 'two', title: 'Two' });
  await ann.post('/tenants/acme/projects', { project: 'three', title: 'Three' }, { status: 409, detail: /no more projects/ });
  await ann.patch('/tenants/acme', { plan: 'large' }, { status: 422 });
  await ann.post('/tenants/acme/change_plan', { plan: 'gold' }, { status: 422 });
  assert.equal((await ann.post('/tenants/acme/change_plan', { plan: 'team' })).body.max_projects, 5);
  await cat.post(`/tenants/acme/invites/${invite}/accept`);
  await ann.post('/tenants/acme/projects', { project: 'three', title: 'Three' });
  await ann.post('/tenants/acme/change_plan', { plan: 'free' }, { detail: /the plan has no more/, status: 422 });
  await ann.delete(`/tenants/acme/members/${cat.user}`);
  await ann.delete('/tenants/acme/projects/three');
  assert.equal((await ann.post('/tenants/acme/change_plan', { plan: 'free' })).body.max_projects, 2);
  assert.ok((await log(ann)).includes('tenant_changed acme team active free active'));
  assert.ok((await log(ann)).includes('project_deleted three Three'));
});

test('a member that leaves loses the seat and the claim at once', async () => {
  assert.equal((await cat.get('/me')).body.claims?.tenant, undefined);
  assert.deepEqual(await cat.list('/my/tenants'), []);
  await cat.get('/tenants/acme/projects/web', { status: 404 });
  await ada.delete(`/tenants/acme/members/${ada.user}`);
  await ada.get('/tenants/acme/projects/web', { status: 404 });
  await ada.post(`/users/${ada.user}/enter`, { tenant: 'acme' }, { status: 409 });
  assert.ok((await log(ann)).some((entry) => entry.startsWith(`member_left ${ada.user}`)));
});

test('a suspended tenant can be read only, until it is resumed; the owner may still change the plan', async () => {
  await ann.delete('/tenants/acme/projects/two');
  await ann.post('/tenants/acme/suspend', {}, { status: 403 });
  await operator.post('/tenants/acme/suspend');
  await operator.post('/tenants/acme/suspend', {}, { status: 409 });
  // At once: the tenant is asked, or, if the processor was quicker, the membership.
  const { status, body } = await ann.request('POST', '/tenants/acme/projects', { body: { project: 'late', title: 'Late' } });
  assert.ok(status === 403 || (status === 409 && /suspended/.test(body.detail)), JSON.stringify(body));
  await app.settled();
  assert.equal((await ann.get('/tenants/acme/projects/web')).body.title, 'The site');
  assert.ok((await ann.list('/projects/web/tasks')).length > 3);
  assert.equal((await ann.list('/members')).find(({ user }) => user === ann.user).rights, 'viewer');
  await ann.post('/tenants/acme/projects/web/tasks', { title: 'Late' }, { status: 403 });
  await ann.patch('/tenants/acme/projects/web/tasks/2', { title: 'Late' }, { status: 403 });
  await ann.post('/tenants/acme/invites', { email: 'z@example.com', role: 'viewer' }, { status: 403 });
  await ann.post('/tenants/acme/change_plan', { plan: 'team' });
  await operator.post('/tenants/acme/resume');
  await app.settled();
  await ann.patch('/tenants/acme/projects/web/tasks/2', { title: 'In time' });
});

test('a deleted project takes its tasks along, and a new one of that name begins at 1', async () => {
  await ann.delete('/tenants/acme/projects/web');
  await app.settled();
  assert.deepEqual(await ann.list('/projects/web/tasks'), []);
  assert.deepEqual((await app.items()).filter(({ PK }) => PK === 'TENANT#acme#PROJECT#web'), []);
  assert.ok((await ann.list('/activity?limit=100')).filter(({ what }) => what === 'deleted').length >= 11);
  await ann.post('/tenants/acme/projects', { project: 'web', title: 'Again' });
  assert.equal((await ann.post('/tenants/acme/projects/web/tasks', { title: 'First' })).body.number, 1);
});

test('every counter is what it counts, and every membership has its seat', async () => {
  assert.deepEqual(recount(await app.items()), []);
});

test('the demonstration loads whole', async () => {
  const demo = await startDesign('saas', { args: ['--demo', pathOf(ROOT, 'designs', 'demo')] });
  await until('the demonstration to be there', () => /demo data of saas/.test(demo.server.log()));
  assert.doesNotMatch(demo.server.log(), /warn|fail/i);
  const olga = await demo.login('olga@example.com', 'wonderland');
  assert.equal((await olga.get('/tenant')).body.name, 'Nordlicht Studio');
  assert.deepEqual(recount(await demo.items()), []);
});
