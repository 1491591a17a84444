// The switch of `thorpe copy`: servers of the source refuse writes from then on, also after a restart, until that is taken back; what
// processors have not done is dropped if that is wanted; and a switch that was killed is finished by the next.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { byKey, copied, env, fill, fresh, plain, same, social } from './copy-world.mjs';
import { openGate } from './gate.mjs';
import { BACKEND, freshDirectory, launch, runToEnd, scan, startDesign, until, within } from './harness.mjs';
import { people } from './social-world.mjs';

const skip = BACKEND ? 'copies from the directories of servers that have their tables' : false;
/** Whatever the status. */
const attempt = (caller, method, path, body, headers = {}) => caller.once(method, path, { body, headers });
const post = (caller, content) => attempt(caller, 'POST', '/posts', { content });
/** The copy that was killed is known to be dead: another test waits for that. */
const forget = (to, table) => to.doc.update({ TableName: `${table}.thorpe`, Key: { PK: 'COPY', SK: 'state' }, UpdateExpression: 'SET #o = :none', ExpressionAttributeNames: { '#o': 'owner' }, ExpressionAttributeValues: { ':none': '' } });
const reopened = async (from) => {
  const { code, stdout, stderr } = await runToEnd(['copy', '--from', from, '--design', social, '--reopen'], { env });
  assert.equal(code, 0, stderr);
  return stdout + stderr;
};

test('writers go on during the switch: what was acknowledged is at the target, what was not got 503 and where to go', { skip }, async () => {
  const app = await startDesign('social', { oracle: false });
  const { ann } = await people(app, 'ann');
  const to = await fresh();
  const secret = join(app.data, 'token-secret');
  const taken = [], refused = [];
  let ends = false;
  const load = (async () => {
    for (let i = 0; !ends; i += 1) {
      const { status, headers, body } = await post(ann, `Post ${i}`);
      if (status === 201) taken.push(body.post_id);
      else refused.push({ status, retry: headers.get('retry-after'), body });
    }
  })();
  await until('some posts', () => taken.length > 20);
  const said = await copied(0, app.server.endpoint, to.endpoint, '--design', social, '--switch', '--secret-file', secret);
  assert.match(said, /servers of the design at \S+ refuse writes from now on/);
  assert.match(said, /bypass them are not stopped/);
  await until('some to be refused', () => refused.length > 5);
  ends = true;
  await load;
  for (const { status, retry, body } of refused) {
    assert.equal(status, 503);
    assert.ok(Number(retry) > 0);
    assert.equal(body.type, 'urn:thorpe:busy');
    assert.ok(body.detail.includes(`moves to ${to.endpoint}, and writes are refused here`), body.detail);
  }
  assert.deepEqual((await scan(to.doc, app.table)).sort(byKey), (await app.items()).sort(byKey));
  const there = new Set((await scan(to.doc, app.table)).map((item) => item.post_id));
  for (const id of taken) assert.ok(there.has(id), `${id} was acknowledged`);

  // Reads go on, writes of every kind do not.
  assert.equal((await ann.get('/users/ann')).status, 200);
  assert.equal((await attempt(ann, 'PATCH', '/users/ann', { bio: 'x' })).status, 503);
  assert.equal((await attempt(ann, 'DELETE', `/posts/${taken[0]}`)).status, 503);
  assert.equal((await attempt(ann, 'POST', '/posts', { content: 'y' }, { 'idempotency-key': 'k' })).status, 503);

  // Also after a restart, from the first request on.
  await app.server.stop();
  const again = await startDesign('social', { data: app.data, oracle: false });
  const late = again.withToken(ann.token);
  assert.equal((await post(late, 'z')).status, 503);
  assert.equal((await late.get('/users/ann')).status, 200);
  assert.match(again.server.log(), /its table is moving away: writes are refused here, reads continue/);

  // And the other way, with the old place as the target: it takes writes again.
  await copied(0, to.endpoint, again.server.endpoint, '--design', social, '--switch', '--replace', '--yes');
  assert.equal((await post(late, 'taken again')).status, 201);
  await again.server.stop();
});

test('what is taken back counts at once, and a switch that did not come to its end takes it back itself', { skip }, async () => {
  const app = await startDesign('social', { oracle: false });
  const { ann, ben } = await people(app, 'ann', 'ben');
  await ben.put('/users/ben/following/ann');
  await app.settled();
  const [one, two] = [await fresh(), await fresh()];
  const secret = ['--secret-file', join(app.data, 'token-secret')];
  await copied(0, app.server.endpoint, one.endpoint, '--design', social, '--switch', ...secret);
  assert.equal((await post(ann, 'no')).status, 503);
  assert.match(await reopened(app.server.endpoint), /accept writes again/);
  assert.equal((await post(ann, 'yes')).status, 201);
  await app.settled();
  assert.match(await copied(1, app.server.endpoint, one.endpoint, '--design', social, '--switch', ...secret),
    /was switched to before, and servers of the design at \S+ accept writes all the same/);

  // Killed in the middle it stays closed; the next one finishes.
  const gate = await openGate(two.endpoint);
  gate.hold = ({ operation }) => operation === 'UpdateTimeToLive';
  const run = launch(['copy', '--from', app.server.endpoint, '--to', gate.endpoint, '--design', social, '--switch', ...secret], { env });
  await until('the stream to be on, and TTL not yet', () => gate.held > 0, 30);
  assert.equal((await two.ddb.describeTable({ TableName: app.table })).Table.StreamSpecification.StreamEnabled, true);
  run.child.kill('SIGKILL');
  await run.done;
  gate.release();
  await forget(two, app.table);
  assert.equal((await post(ann, 'no')).status, 503);
  await copied(0, app.server.endpoint, two.endpoint, '--design', social, '--switch', ...secret);
  const { Table } = await two.ddb.describeTable({ TableName: app.table });
  assert.equal(Table.StreamSpecification.StreamEnabled, true);
  assert.equal((await two.ddb.describeTimeToLive({ TableName: app.table })).TimeToLiveDescription.TimeToLiveStatus, 'ENABLED');
  assert.deepEqual((await scan(two.doc, app.table)).sort(byKey), (await app.items()).sort(byKey));
  assert.equal((await scan(two.doc, `${app.table}.thorpe`)).filter(({ PK }) => PK === 'MOVED').length, 0);
  assert.equal((await post(ann, 'no')).status, 503);
  await reopened(app.server.endpoint);

  // One that finds work undone has switched nothing.
  const operator = await app.operator();
  await operator.post(`/processors/${encodeURIComponent('deliver a post to followers')}/pause`);
  await ann.post('/posts', { content: 'not delivered' });
  const three = await fresh();
  const undone = launch(['copy', '--from', app.server.endpoint, '--to', three.endpoint, '--design', social, '--switch', ...secret], { env });
  await until('writes to be refused', async () => (await post(ann, 'perhaps')).status === 503, 20);
  assert.equal(await within(60, 'the switch to give up', undone.done), 3, undone.stdout + undone.stderr);
  assert.match(undone.stdout + undone.stderr, /accept writes again/);
  assert.equal((await post(ann, 'yes')).status, 201);
});

test('what is reopened while a switch runs is not switched, for what is written then would be at one place only', { skip }, async () => {
  const app = await startDesign('social', { oracle: false });
  const { ann } = await people(app, 'ann');
  await app.settled();
  const to = await fresh();
  const gate = await openGate(to.endpoint);
  gate.hold = ({ operation }) => operation === 'UpdateTimeToLive'; // its last call but one
  const copy = ['copy', '--from', app.server.endpoint, '--to', gate.endpoint, '--design', social, '--switch', '--secret-file', join(app.data, 'token-secret')];
  const run = launch(copy, { env });
  await until('everything to be compared, and the stream to be on', () => gate.held > 0, 30);
  assert.equal((await post(ann, 'no')).status, 503);
  assert.match(await reopened(app.server.endpoint), /accept writes again; a switch that is under way ends without having switched/);
  assert.equal((await post(ann, 'written meanwhile')).status, 201);
  gate.hold = () => false;
  gate.release();
  assert.equal(await run.done, 1, run.stderr);
  assert.match(run.stderr, /were told meanwhile to accept writes again \(--reopen\), so nothing was switched: run this again/);
  assert.equal((await post(ann, 'and after it')).status, 201);

  // The next one has them all, and after it the reopening says what it means.
  await app.settled();
  await copied(0, app.server.endpoint, gate.endpoint, '--design', social, '--switch', '--secret-file', join(app.data, 'token-secret'));
  assert.deepEqual((await scan(to.doc, app.table)).sort(byKey), (await app.items()).sort(byKey));
  assert.match(await reopened(app.server.endpoint), /accept writes again: they are not copied any more/);
  await app.server.stop();
});

test('with --drop-undone the switch does not wait for processors, and what they have not done is done nowhere', { skip }, async () => {
  const app = await startDesign('social', { oracle: false });
  const deliver = 'deliver a post to followers';
  const { ann, ben } = await people(app, 'ann', 'ben');
  await ben.put('/users/ben/following/ann');
  const { body: { post_id: before } } = await ann.post('/posts', { content: 'Delivered' });
  await app.settled();
  await (await app.operator()).post(`/processors/${encodeURIComponent(deliver)}/pause`);
  const { body: { post_id: undone } } = await ann.post('/posts', { content: 'Not delivered' });
  const data = freshDirectory();
  await app.server.stop();
  assert.match(await copied(3, app.data, data, '--design', social, '--switch'), /have not processed all changes \(.*deliver a post to followers/s);
  assert.match(await copied(2, app.data, data, '--design', social, '--switch', '--drop-undone', '--settle'), /--settle and --drop-undone/);
  assert.match(await copied(0, app.data, data, '--design', social, '--switch', '--drop-undone'), /done\. /);
  const moved = await startDesign('social', { data, oracle: false });
  await (await moved.operator()).post(`/processors/${encodeURIComponent(deliver)}/resume`); // paused goes along
  await moved.settled();
  const feed = async () => (await scan(moved.doc, moved.table)).filter(({ PK }) => PK === 'FEED#ben').map((row) => row.post_id);
  assert.deepEqual(await feed(), [before]);
  const { status, body } = await moved.withToken(ann.token).post('/posts', { content: 'At the new place' });
  assert.equal(status, 201, JSON.stringify(body));
  await moved.settled();
  assert.deepEqual((await feed()).sort(), [before, body.post_id].sort());
  assert.ok((await scan(moved.doc, moved.table)).some(({ post_id: id }) => id === undone), 'the post itself is there');
});

test('a plain table whose switch was killed between its stream and its TTL: the next one finishes, and says that nobody tells the writers', async () => {
  const [from, to] = [await fresh(), await fresh()];
  await from.ddb.createTable(plain('Things'));
  await from.ddb.updateTimeToLive({ TableName: 'Things', TimeToLiveSpecification: { Enabled: true, AttributeName: 'until' } });
  await fill(from, 'Things', 60);
  const gate = await openGate(to.endpoint);
  for (const held of ['UpdateTable', 'UpdateTimeToLive']) {
    gate.hold = ({ operation }) => operation === held;
    const was = gate.held;
    const run = launch(['copy', '--from', from.endpoint, '--to', gate.endpoint, '--table', 'Things', '--switch'], { env });
    await until(`${held} to be on its way`, () => gate.held > was, 30);
    run.child.kill('SIGKILL');
    await run.done;
    gate.hold = () => false;
    await forget(to, 'Things');
  }
  await from.doc.put({ TableName: 'Things', Item: { PK: 'late', SK: 'f' } });
  assert.match(await copied(0, from.endpoint, to.endpoint, '--table', 'Things', '--switch'), /cannot stop the writers at \S+: make sure/);
  assert.equal(await same(from, to, 'Things'), 61);
  const { Table } = await to.ddb.describeTable({ TableName: 'Things' });
  assert.equal(Table.StreamSpecification?.StreamViewType, 'NEW_AND_OLD_IMAGES');
  assert.equal((await to.ddb.describeTimeToLive({ TableName: 'Things' })).TimeToLiveDescription.TimeToLiveStatus, 'ENABLED');
});
