// Lists that are watched: server-sent events over the wire.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { BACKEND, Caller, ROOT, freshDirectory, startDesign, startServer, until } from './harness.mjs';
import { Watcher } from './events.mjs';
import { people } from './social-world.mjs';

const app = await startDesign('social', { args: ['--limit', 'keep_alive_ms=500'] });
const { alice, bob, carol } = await people(app, 'alice', 'bob', 'carol');
const operator = await app.operator();

const metric = async (name, endpoint = app.server.endpoint) => Number(
  new RegExp(`^${name} (\\d+)$`, 'm').exec(await (await fetch(`${endpoint}/metrics`)).text())[1]);
const post = async (caller, body) => (await caller.post('/posts', body)).body;

test('a list is watched: what is added, changed and removed is told as the list shows it', async () => {
  const watcher = await Watcher.open(app.nobody, '/users/alice/posts');
  assert.equal(watcher.status, 200);
  assert.equal(watcher.headers['content-type'], 'text/event-stream');
  assert.equal(watcher.headers['cache-control'], 'no-store');
  await watcher.heard(1);
  const made = await post(alice, { content: 'first' });
  const [listed] = await app.nobody.list('/users/alice/posts');
  await alice.patch(`/posts/${made.post_id}`, { content: 'second' });
  await alice.delete(`/posts/${made.post_id}`);
  assert.deepEqual(await watcher.heard(4, 'post_id'),
    ['ready', `added ${made.post_id}`, `changed ${made.post_id}`, `removed ${made.post_id}`]);
  assert.deepEqual(watcher.events[1].data, listed);
  assert.equal(watcher.events[2].data.content, 'second');
  const ids = watcher.events.map(({ id }) => (BACKEND ? id : BigInt(id)));
  if (BACKEND) assert.equal(new Set(ids).size, ids.length, 'each has a position of its own');
  else assert.ok(ids.every((id, i) => i === 0 || id > ids[i - 1]), 'ids rise');
  watcher.close();
});

test('between ready and the list there is no gap', async () => {
  const writing = Promise.all(Array.from({ length: 20 }, (_, i) => post(carol, { content: `post ${i}` })));
  const watcher = await Watcher.open(app.nobody, '/users/carol/posts');
  await watcher.heard(1);
  const seen = new Set((await app.nobody.list('/users/carol/posts?limit=100')).map((item) => item.post_id));
  const made = await writing;
  await until('every post, in the list or told', () => {
    for (const { event, data } of watcher.events) if (event === 'added') seen.add(data.post_id);
    return made.every(({ post_id: id }) => seen.has(id));
  });
  watcher.close();
});

test('rules are asked for every event: a post that becomes private is removed for those who have seen it', async () => {
  const [nobody, follower, author] = await Promise.all([
    Watcher.open(app.nobody, '/users/bob/posts'), Watcher.open(alice, '/users/bob/posts'), Watcher.open(bob, '/users/bob/posts'),
  ]);
  await Promise.all([nobody.heard(1), follower.heard(1), author.heard(1)]);
  await alice.put('/users/alice/following/bob', {});
  const { post_id: id } = await post(bob, { content: 'for followers', visibility: 'followers' });
  await bob.patch(`/posts/${id}`, { visibility: 'public' });
  await bob.patch(`/posts/${id}`, { visibility: 'private' });
  await bob.patch(`/posts/${id}`, { content: 'secret' });
  const { post_id: last } = await post(bob, { content: 'the end' });
  assert.deepEqual(await nobody.heard(4, 'post_id'), ['ready', `added ${id}`, `removed ${id}`, `added ${last}`]);
  assert.deepEqual(await follower.heard(5, 'post_id'), ['ready', `added ${id}`, `changed ${id}`, `removed ${id}`, `added ${last}`]);
  assert.deepEqual(await author.heard(6, 'post_id'),
    ['ready', `added ${id}`, `changed ${id}`, `changed ${id}`, `changed ${id}`, `added ${last}`]);
  assert.ok(!JSON.stringify([nobody.events, follower.events]).includes('secret'));
  for (const watcher of [nobody, follower, author]) watcher.close();
});

test('a caller watches his notifications, and nobody else does', async () => {
  const [own, unread, other] = await Promise.all([
    Watcher.open(carol, '/users/carol/notifications'), Watcher.open(carol, '/users/carol/notifications/unread'),
    Watcher.open(bob, '/users/carol/notifications'),
  ]);
  await Promise.all([own.heard(1), unread.heard(1), other.heard(1)]);
  const at = `${new Date().toISOString().slice(0, 19)}Z`;
  const path = `/users/carol/notifications/${at}/n1`;
  await operator.put(path, { type: 'new_post', actor_id: 'bob' });
  await carol.patch(path, { is_read: true });
  await carol.delete(path);
  assert.deepEqual(await own.heard(4, 'notification_id'), ['ready', 'added n1', 'changed n1', 'removed n1']);
  assert.deepEqual(await unread.heard(3, 'notification_id'), ['ready', 'added n1', 'removed n1']);
  assert.deepEqual(await other.heard(1), ['ready']);
  for (const watcher of [own, unread, other]) watcher.close();
});

test('rows that lead to other items, windows of days and single items are watched', async () => {
  const today = new Date().toISOString().slice(0, 10);
  const [tagged, timeline, edge] = await Promise.all([
    Watcher.open(app.nobody, '/hashtags/live'), Watcher.open(app.nobody, `/timeline/${today}`),
    Watcher.open(alice, '/users/alice/follows/bob'),
  ]);
  await Promise.all([tagged.heard(1), timeline.heard(1), edge.heard(1)]);
  const { post_id: id } = await post(bob, { content: 'tagged', hashtags: ['live'] });
  await bob.patch(`/posts/${id}`, { hashtags: [] });
  assert.deepEqual(await tagged.heard(3, 'post_id'), ['ready', `added ${id}`, `removed ${id}`]);
  assert.equal(tagged.events[1].data.content, 'tagged');
  assert.deepEqual((await timeline.heard(3, 'post_id')).slice(0, 3), ['ready', `added ${id}`, `changed ${id}`]);
  await alice.delete('/users/alice/following/bob');
  assert.deepEqual(await edge.heard(2, 'followed_id'), ['ready', 'removed bob']);
  for (const watcher of [tagged, timeline, edge]) watcher.close();
});

test('who may not read the list may not watch it, and some lists cannot be watched', async () => {
  const refused = async (caller, path) => {
    const watcher = await Watcher.open(caller, path);
    const problem = await watcher.problem();
    assert.match(watcher.headers['content-type'], /^application\/problem\+json/);
    assert.equal(problem.status, watcher.status);
    return [watcher.status, problem.detail];
  };
  assert.equal((await refused(app.nobody, '/emails/alice@example.com'))[0], 401);
  assert.equal((await refused(bob, '/emails/alice@example.com'))[0], 403);
  assert.equal((await refused(app.withToken('no.token.atall'), '/users/alice/posts'))[0], 401);
  assert.equal((await refused(app.nobody, '/usernames/no-such-user'))[0], 404);
  assert.equal((await refused(app.nobody, '/no/such/list'))[0], 404);
  assert.equal((await refused(app.nobody, '/users/alice/posts?wrong=1'))[0], 422);
  assert.equal((await refused(app.nobody, '/users/alice/posts?limit=3'))[0], 422);
  for (const path of ['/users/alice/home', '/users/alice/feed/popular-authors', '/liked?id=x']) {
    const [status, detail] = await refused(alice, path);
    assert.equal(status, 422, path);
    assert.match(detail, /cannot be watched/);
  }
  assert.match((await refused(alice, '/users/alice'))[1], /only lists/);
});

test('a watcher resumes with Last-Event-ID: what he missed comes first', async () => {
  const first = await Watcher.open(app.nobody, '/users/alice/posts');
  await first.heard(1);
  const one = await post(alice, { content: 'one' });
  await first.heard(2);
  const last = first.lastId;
  first.close();
  const two = await post(alice, { content: 'two' });
  await alice.delete(`/posts/${one.post_id}`);
  for (const options of [{ last }, undefined]) {
    const path = options ? '/users/alice/posts' : `/users/alice/posts?last_event_id=${last}`;
    const again = await Watcher.open(app.nobody, path, options);
    const events = (await again.heard(3, 'post_id')).filter((event) => event !== 'ready');
    // Elsewhere, changes of different items have no order.
    if (BACKEND) events.sort();
    assert.deepEqual(events, [`added ${two.post_id}`, `removed ${one.post_id}`]);
    again.close();
  }
  for (const bad of ['1', 'abc', '99999999999999999999999999', '18446744073709551615']) {
    const lost = await Watcher.open(app.nobody, '/users/alice/posts', { last: bad });
    assert.deepEqual(await lost.heard(1), ['reset'], bad);
    lost.close();
  }
});

test('silence is filled with comments that carry the position', async () => {
  const watcher = await Watcher.open(app.nobody, '/users/nobody/posts');
  await watcher.heard(1);
  await post(alice, { content: 'elsewhere' });
  await until('a comment behind what happened elsewhere', () => watcher.comments.includes('keep-alive') && watcher.lastId !== watcher.events[0].id);
  assert.equal(watcher.events.length, 1);
  watcher.close();
});

test('a token that expires ends the stream', async () => {
  // signed as the server signs, with an end that is nearly over: 60 s are let pass, for clocks differ
  const secret = readFileSync(join(app.data, 'token-secret'), 'utf8').trim();
  const key = createHmac('sha256', Buffer.from(secret, 'hex')).update('thorpe token\0social').digest();
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) - 54;
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ iss: 'thorpe', aud: 'social', sub: 'alice', roles: [], minted: true, exp })}`;
  const token = `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
  const watcher = await Watcher.open(app.withToken(token), '/users/alice/notifications');
  assert.equal(watcher.status, 200);
  await watcher.heard(1);
  await until('the end of the stream', () => watcher.ended);
});

test('a stream is the last thing on its connection, and what comes behind it is not answered', async () => {
  const { hostname, port } = new URL(app.server.endpoint);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('utf8').on('data', (data) => { text += data; });
  const head = `Host: localhost\r\nAccept: text/event-stream\r\n\r\n`;
  socket.write(`GET /api/social/users/alice/posts HTTP/1.1\r\n${head}GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await until('the beginning', () => text.includes('event: ready'));
  const before = await metric('thorpe_watchers');
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(2000));
  await post(alice, { content: 'still there' });
  await until('an event', () => text.includes('still there'));
  assert.equal(text.match(/HTTP\/1.1/g).length, 1);
  assert.match(text, /Connection: close/);
  assert.doesNotMatch(text, /Content-Length/);
  socket.end(); // and its end is noticed
  await until('one watcher less', async () => await metric('thorpe_watchers') < before);
});

test('watchers come and go while posts are written: none is left, and the server is well', async () => {
  let writing = true;
  const writer = (async () => { while (writing) await post(bob, { content: 'x'.repeat(300) }); })();
  await Promise.all(Array.from({ length: 8 }, async () => {
    for (let i = 0; i < 10; i += 1) {
      const watcher = await Watcher.open(i % 2 ? alice : app.nobody, '/users/bob/posts');
      if (i % 3) await watcher.heard(2);
      watcher.close();
    }
  }));
  writing = false;
  await writer;
  await until('no watcher to be left', async () => await metric('thorpe_watchers') === 0);
  assert.ok(await metric('thorpe_events_sent_total') > 10);
});

test('a slow watcher is cut off and the others are not; he resumes', async () => {
  const slow = await startDesign('social', { args: ['--limit', 'watch_bytes=20000'] });
  const { dora } = await people(slow, 'dora');
  const quick = await Watcher.open(slow.nobody, '/users/dora/posts');
  const lazy = await Watcher.open(slow.nobody, '/users/dora/posts');
  await Promise.all([quick.heard(1), lazy.heard(1)]);
  lazy.reply.pause();
  lazy.reply.socket.pause();
  let count = 0;
  await until('the lazy one to be cut off', async () => {
    await Promise.all(Array.from({ length: 20 }, () => post(dora, { content: 'y'.repeat(5000) })));
    count += 20;
    return await metric('thorpe_watchers_cut_total', slow.server.endpoint) === 1;
  }, 60);
  await quick.heard(1 + count);
  assert.ok(!quick.ended);
  lazy.reply.resume();
  lazy.reply.socket.resume();
  await until('him to notice', () => lazy.ended);
  const again = await Watcher.open(slow.nobody, '/users/dora/posts', { last: lazy.lastId });
  assert.ok(['added', 'reset', 'ready'].includes((await again.heard(1))[0]));
  quick.close();
  again.close();
});

test('there is a limit to watchers, and the end of the server ends them', async () => {
  const small = await startDesign('social', { args: ['--limit', 'watchers=2', '--limit', 'drain_ms=120000'] });
  const watchers = [await Watcher.open(small.nobody, '/popular'), await Watcher.open(small.nobody, '/popular')];
  const third = await Watcher.open(small.nobody, '/popular');
  assert.equal(third.status, 503);
  assert.match((await third.problem()).detail, /too many/);
  assert.ok(third.headers['retry-after']);
  watchers.pop().close();
  await until('a place', async () => {
    const next = await Watcher.open(small.nobody, '/popular');
    if (next.status === 200) watchers.push(next);
    return next.status === 200;
  });
  await Promise.all(watchers.map((watcher) => watcher.heard(1)));
  await small.server.stop(); // it does not wait for them
  await until('the streams to end', () => watchers.every((watcher) => watcher.ended));
  small.server.stop = async () => {};
});

test('a position outlives the server', async () => {
  const data = freshDirectory();
  const before = await startDesign('social', { data, check: false });
  const { erin } = await people(before, 'erin');
  const watcher = await Watcher.open(before.nobody, '/users/erin/posts');
  await watcher.heard(1);
  const last = watcher.lastId;
  const { post_id: id } = await post(erin, { content: 'before the crash' });
  await before.server.kill();
  before.server.stop = async () => {};
  const after = await startDesign('social', { data });
  const again = await Watcher.open(after.nobody, '/users/erin/posts', { last });
  assert.deepEqual(await again.heard(2, 'post_id'), [`added ${id}`, 'ready']);
  again.close();
});

test('streams go over TLS', async () => {
  const dir = freshDirectory();
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert,
    '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'], { stdio: 'ignore' });
  const data = freshDirectory();
  const design = join(ROOT, 'designs', 'blog.yaml');
  const server = await startServer({ data, args: ['--design', design, '--tls-cert', cert, '--tls-key', key, '--limit', 'keep_alive_ms=300', '--limit', 'drain_ms=120000'] });
  const ca = readFileSync(cert);
  const nobody = new Caller(`${server.endpoint}/api/blog`);
  const watcher = await Watcher.open(nobody, '/categories', { ca });
  assert.equal(watcher.status, 200, server.log());
  await watcher.heard(1);
  await until('comments', () => watcher.comments.length >= 3);
  const other = await Watcher.open(nobody, '/categories', { ca });
  await other.heard(1);
  other.close();
  await server.stop();
  await until('the end', () => watcher.ended);
});
