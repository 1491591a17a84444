// `thorpe client --typescript`: compiles under strict rules, refuses wrong calls at compile time, and does what it promises.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { File } from 'node:buffer'; // Node.js 18 has no global one
import { webcrypto } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { designFile, fetchEventually, freshDirectory, ROOT, runToEnd, SHIPPED, startDesign } from './harness.mjs';
import { png } from './media-world.mjs';

const wire = createRequire(fileURLToPath(new URL('../wire/package.json', import.meta.url)));
const ts = wire('typescript');
const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  skipLibCheck: true,
  types: [],
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  target: ts.ScriptTarget.ES2022,
};

/** What the compiler says of files in a directory; with `emit` their JavaScript is written beside them. */
function compile(files, emit = false) {
  const program = ts.createProgram(files, { ...STRICT, noEmit: !emit });
  const said = [...ts.getPreEmitDiagnostics(program)];
  if (emit) program.emit();
  return said.map((d) => `${d.file?.fileName.split('/').pop()}: ${ts.flattenDiagnosticMessageText(d.messageText, '\n')}`);
}

async function clientOf(file) {
  const { code, stdout, stderr } = await runToEnd(['client', file, '--typescript']);
  assert.equal(code, 0, stderr);
  return stdout;
}

const dir = freshDirectory();
writeFileSync(join(dir, 'package.json'), '{"type": "module"}');

/** The client of a design, compiled and imported. */
async function load(file, name) {
  const path = join(dir, `${name}.ts`);
  writeFileSync(path, await clientOf(file));
  assert.deepEqual(compile([path], true), []);
  return import(pathToFileURL(path.replace('.ts', '.js')));
}

test('the client of each design compiles under the strictest rules, and is the same each time', async () => {
  const files = [];
  for (const name of SHIPPED) {
    const text = await clientOf(designFile(name));
    assert.equal(await clientOf(designFile(name)), text);
    assert.doesNotMatch(text, /^import /m);
    files.push(join(dir, `all-${name}.ts`));
    writeFileSync(files.at(-1), text);
  }
  assert.deepEqual(compile(files), []);
});

test('names of a design that TypeScript or the client has already do no harm', async () => {
  const file = join(dir, 'clashes.yaml');
  writeFileSync(file, `design: clash-es
table: Clashes
key: [PK, SK]
entities:
  Promise:
    path: /promises/<name>
    attributes: {name: 'string, required', class: 'one | two'}
    keys: {PK: P#<name>, SK: P}
    allow: {create, read, update, delete: anyone}
  Transport:
    path: /transports/<name>
    attributes: {name: 'string, required', note: "= '*/ end'"}
    keys: {PK: T#<name>, SK: T}
    allow: {create, read: anyone}
access:
  error: {path: /errors, query: table, where: {PK: 'P#<name>'}, with: {name: string}}
`);
  const text = await clientOf(file);
  assert.match(text, /export class ClashEsClient/);
  assert.match(text, /export type Promise_ = /);
  const path = join(dir, 'clashes.ts');
  writeFileSync(path, text);
  assert.deepEqual(compile([path]), []);
});

test('a wrong call does not compile', async () => {
  await load(join(ROOT, 'designs', 'social.yaml'), 'social');
  const wrong = {
    "await api.getPost({ id: 'x' })": /'id' does not exist/,
    'await api.getPost()': /Expected 1-2 arguments/,
    "await api.createPost({ content: 'x', visibility: 'secret' })": /'"secret"' is not assignable/,
    'await api.createPost({ content: 5 })': /'number' is not assignable to type 'string'/,
    "(await api.getPost({ post_id: 'x' })).likes_count = 3": /read-only property/,
    "for await (const post of api.listUserPosts({ user_id: 'ann' })) post.contents": /'contents' does not exist/,
    "api.listHome({ user_id: 'ann' }).watch()": /'watch' does not exist/,
    "await api.deletePost({ post_id: 'x' }, { ifMatch: 3 })": /'number' is not assignable/,
  };
  for (const [code, message] of Object.entries(wrong)) {
    const path = join(dir, 'wrong.ts');
    writeFileSync(path, `import { SocialClient } from './social.js';\nconst api = new SocialClient({ baseUrl: '' });\n${code};\n`);
    assert.match(compile([path]).join('\n'), message, code);
  }
});

test('help and wrong words', async () => {
  const help = await runToEnd(['client', '--help']);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /--typescript/);
  for (const [args, message] of [[['client'], /of which design\?/], [['client', join(ROOT, 'designs', 'social.yaml')], /in which language\? --typescript/], [['client', 'nothing.yaml', '--typescript'], /nothing\.yaml/]]) {
    const { code, stderr } = await runToEnd(args);
    assert.notEqual(code, 0);
    assert.match(stderr, message);
  }
});

const password = 'correct horse';
const nameOf = (error) => error.constructor.name;

test('signs up, logs in, writes, pages, meets every kind of refusal, watches a list', async () => {
  const module = await load(join(ROOT, 'designs', 'social.yaml'), 'social');
  const app = await startDesign('social');
  const baseUrl = `${app.server.endpoint}/api/social`;
  const tokens = [];
  const api = new module.SocialClient({ baseUrl, fetch: fetchEventually, onToken: (token) => tokens.push(token) });
  const refused = async (promise, name, more = () => undefined) => {
    const error = await promise.then(() => assert.fail(`expected ${name}`), (e) => e);
    assert.equal(nameOf(error), name, String(error));
    more(error);
  };

  for (const username of ['ann', 'ben'])
    await api.createUser({ user_id: username, username, email: `${username}@example.org`, password });
  await refused(api.createUser({ user_id: 'ann2', username: 'ann', email: 'x@example.org', password }), 'TakenError', (e) => assert.equal(e.attribute, 'username'));
  await refused(api.createUser({ username: 'x', email: 'no', password }), 'InvalidError', (e) => assert.ok(e.errors.some(({ attribute }) => attribute === 'email')));
  await refused(api.createPost({ content: 'x' }), 'UnauthenticatedError');
  await refused(api.login({ name: 'ann', password: 'wrong horse' }), 'UnauthenticatedError');

  const { user } = await api.login({ name: 'ann', password });
  assert.equal(user.username, 'ann');
  assert.deepEqual(tokens, [api.$transport.token]);
  assert.equal((await api.me()).subject, 'ann');

  const aborted = new AbortController();
  const seen = [];
  const watching = (async () => {
    for await (const event of api.listUserPosts({ user_id: 'ann' }).watch({ signal: aborted.signal })) {
      seen.push(event);
      if (event.kind === 'removed') aborted.abort();
      if (event.kind === 'ready') ready();
    }
  })();
  let ready;
  await new Promise((resolve) => { ready = resolve; });

  const posts = [];
  for (let i = 0; i < 5; i++) posts.push(await api.createPost({ content: `post ${i}`, post_id: `p${i}` }));
  assert.deepEqual((await api.listUserPosts({ user_id: 'ann', limit: 2 }).all()).map(({ content }) => content), ['post 4', 'post 3', 'post 2', 'post 1', 'post 0']);
  assert.equal((await api.listUserPosts({ user_id: 'ann', limit: 2 }).all(3)).length, 3);
  const page = await api.listUserPosts({ user_id: 'ann' }).page();
  assert.deepEqual([page.items.length, page.next], [5, undefined]);

  const again = await api.createPost({ content: 'once' }, { idempotencyKey: 'k1' });
  assert.equal((await api.createPost({ content: 'once' }, { idempotencyKey: 'k1' })).post_id, again.post_id);
  await refused(api.createPost({ content: 'x', post_id: 'p0' }), 'AlreadyExistsError');
  await refused(api.getPost({ post_id: 'no/such post' }), 'NotFoundError');
  await refused(api.updateUser({ user_id: 'ben' }, { bio: 'x' }), 'ForbiddenError');
  await refused(api.suspendUser({ user_id: 'ben' }), 'ForbiddenError');

  const changed = await api.updatePost({ post_id: 'p0' }, { content: 'changed' }, { ifMatch: posts[0].updated_at });
  assert.equal(changed.content, 'changed');
  await refused(api.updatePost({ post_id: 'p0' }, { content: 'late' }, { ifMatch: posts[0].updated_at }), 'ChangedError');
  await api.putFollow({ follower_id: 'ann', followed_id: 'ben' });
  await api.putLike({ post_id: 'p0', user_id: 'ann' });
  assert.deepEqual((await api.listLiked({ id: ['p0', 'p1'] })).items.map(({ post_id }) => post_id), ['p0']);
  await api.deletePost({ post_id: 'p1' });
  await watching;
  const told = seen.map(({ kind, item }) => (item ? `${kind} ${item.content}` : kind));
  for (const line of ['ready', 'added post 0', 'added post 4', 'changed changed', 'removed post 1']) assert.ok(told.includes(line), `${line} in ${told}`);
});

test('a token that has ended is renewed once for all that meet it, and a login is not', async () => {
  const module = await load(join(ROOT, 'designs', 'social.yaml'), 'social');
  const app = await startDesign('social');
  const baseUrl = `${app.server.endpoint}/api/social`;
  await new module.SocialClient({ baseUrl, fetch: fetchEventually }).createUser({ user_id: 'ann', username: 'ann', email: 'ann@example.org', password });
  let logins = 0;
  const api = new module.SocialClient({
    baseUrl,
    fetch: fetchEventually,
    token: 'ended',
    onUnauthenticated: async () => (logins++, (await api.login({ name: 'ann', password })).token),
  });
  await Promise.all([1, 2, 3, 4].map((i) => api.createPost({ content: `${i}` })));
  assert.equal(logins, 1);
  assert.equal((await api.listUserPosts({ user_id: 'ann' }).all()).length, 4);

  const hopeless = new module.SocialClient({ baseUrl, fetch: fetchEventually, token: 'ended', onUnauthenticated: async () => (await hopeless.login({ name: 'ann', password: 'wrong horse' })).token });
  const error = await hopeless.createPost({ content: 'x' }).catch((e) => e);
  assert.equal(nameOf(error), 'UnauthenticatedError');
});

test('busy servers and lost answers are tried again, with the same key; refusals are not', async (t) => {
  const module = await load(join(ROOT, 'designs', 'social.yaml'), 'social');
  const json = (status, body, headers = {}) => new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
  const busy = () => json(503, { type: 'urn:thorpe:busy', title: 'Busy', status: 503 });
  const make = (answers) => {
    const asked = [];
    const api = new module.SocialClient({
      baseUrl: 'http://api.test/social/',
      fetch: async (url, init) => {
        asked.push({ url, key: init.headers['idempotency-key'], ...init });
        const answer = answers[Math.min(asked.length, answers.length) - 1]();
        if (answer instanceof Error) throw answer;
        return answer;
      },
    });
    return { api, asked };
  };
  const gone = () => new TypeError('fetch failed');

  const own = Object.getOwnPropertyDescriptor(globalThis, 'crypto');
  const withCrypto = (value) => Object.defineProperty(globalThis, 'crypto', { value, configurable: true, writable: true });
  t.after(() => (own ? Object.defineProperty(globalThis, 'crypto', own) : delete globalThis.crypto));
  withCrypto(undefined); // as in Node.js 18
  const old = make([() => json(201, { post_id: 'a' })]);
  for (let i = 0; i < 3; i += 1) await old.api.createPost({ content: 'x' });
  assert.equal(new Set(old.asked.map(({ key }) => key)).size, 3);
  assert.match(old.asked[0].key, /^[0-9a-f-]{36}$/);
  withCrypto({ getRandomValues: (bytes) => webcrypto.getRandomValues(bytes) }); // as in a page of http://192.168.1.2:8000
  const lucky = make([busy, gone, () => json(201, { post_id: 'a' })]);
  assert.equal((await lucky.api.createPost({ content: 'x' })).post_id, 'a');
  assert.deepEqual(lucky.asked.map(({ url }) => url), Array(3).fill('http://api.test/social/posts'));
  assert.equal(new Set(lucky.asked.map(({ key }) => key)).size, 1);
  assert.match(lucky.asked[0].key, /^[0-9a-f-]{36}$/);

  const dead = make([gone]);
  const lost = await dead.api.createPost({ content: 'x' }).catch((e) => e);
  assert.deepEqual([nameOf(lost), lost.problem.outcome, dead.asked.length], ['UnavailableError', 'unknown', 4]);
  const read = await make([gone]).api.getPost({ post_id: 'a' }).catch((e) => e);
  assert.equal(read.problem.outcome, undefined);

  const broken = make([() => json(500, { type: 'urn:thorpe:internal', title: 'Internal', status: 500 })]);
  assert.equal(nameOf(await broken.api.me().catch((e) => e)), 'UnavailableError');
  assert.equal(broken.asked.length, 1);

  const proxy = make([() => new Response('<h1>Bad gateway</h1>', { status: 502 })]);
  const behind = await proxy.api.me().catch((e) => e);
  assert.deepEqual([nameOf(behind), behind.status, proxy.asked.length], ['UnavailableError', 502, 4]);

  const aborted = new AbortController();
  const waiting = make([() => (aborted.abort(), busy())]);
  assert.equal((await waiting.api.me({ signal: aborted.signal }).catch((e) => e)).name, 'AbortError');
  assert.equal(waiting.asked.length, 1);

  const odd = make([() => json(200, { items: [] })]);
  await odd.api.listLiked({ id: ['a', 'b/c'] });
  await odd.api.getUser({ user_id: 'a/b ?' });
  assert.deepEqual(odd.asked.map(({ url }) => url), ['http://api.test/social/liked?id=a&id=b%2Fc', 'http://api.test/social/users/a%2Fb%20%3F']);
});

test('a watched list goes on where it was after its connection was lost', async () => {
  const module = await load(join(ROOT, 'designs', 'social.yaml'), 'social');
  const encoder = new TextEncoder();
  const parts = [
    ['event: ready\nid: 1\ndata: {}\n\nevent: added\r\nid: 2\r\nda', 'ta: {"content":"one\\u00e9"}\r\n\r\n: keep-alive\nid: 3\n\n'],
    ['event: changed\nid: 4\ndata: {"content":\ndata: "two"}\n\n'],
  ];
  const asked = [];
  const api = new module.SocialClient({
    baseUrl: 'http://api.test/social',
    fetch: async (url, { headers }) => {
      asked.push(headers['last-event-id']);
      const chunks = parts[asked.length - 1] ?? [];
      return new Response(new ReadableStream({
        start(controller) {
          for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
          controller.close();
        },
      }));
    },
  });
  const seen = [];
  for await (const event of api.listUserPosts({ user_id: 'ann' }).watch()) {
    seen.push(event);
    if (seen.length === 3) break;
  }
  assert.deepEqual(seen, [{ kind: 'ready' }, { kind: 'added', item: { content: 'oneé' } }, { kind: 'changed', item: { content: 'two' } }]);
  assert.deepEqual(asked, [undefined, '3']);
});

test('the how-to uses the client as it is', async () => {
  await load(join(ROOT, 'designs', 'social.yaml'), 'social');
  const page = readFileSync(join(ROOT, 'docs', 'howto', 'front-end.md'), 'utf8');
  const [, sample] = /```ts\n([^]*?)```/.exec(page);
  const path = join(dir, 'sample.ts');
  writeFileSync(path, sample);
  assert.deepEqual(compile([path]), []);
});

test('a session is renewed once for all that meet its end, goes on elsewhere, and is logged out of', async () => {
  const file = join(ROOT, 'tests', 'designs', 'notebook', 'notebook.yaml');
  const module = await load(file, 'notebook');
  const app = await startDesign(file);
  const baseUrl = `${app.server.endpoint}/api/notebook`;
  const asked = [];
  const counting = async (url, init) => {
    asked.push(url.replace(baseUrl, ''));
    return fetch(url, init);
  };
  const kept = [];
  const make = (more) => new module.NotebookClient({ baseUrl, fetch: counting, onToken: (token, renewal) => kept.push({ token, renewal }), ...more });
  const api = make();
  await api.createUser({ name: 'ann', password });
  await api.login({ name: 'ann', password });
  assert.ok(kept.at(-1).renewal);

  api.$transport.token = 'ended';
  const notes = await Promise.all([1, 2, 3, 4].map((i) => api.createNote({ owner: 'ann' }, { text: `${i}` })));
  assert.equal(notes.length, 4);
  assert.equal(asked.filter((path) => path === '/renew').length, 1);
  assert.equal(kept.at(-1).token, api.$transport.token);

  const { token, renewal } = kept.at(-1);
  const elsewhere = make({ token: 'ended', renewal });
  assert.equal((await elsewhere.me()).subject, 'ann');
  let logins = 0;
  const late = make({ token: 'ended', renewal, onUnauthenticated: async () => { logins++; return undefined; } });
  assert.equal(nameOf(await late.me().catch((e) => e)), 'UnauthenticatedError'); // its renewal token was used
  assert.equal(logins, 1);
  assert.equal(nameOf(await make({ token }).me().catch((e) => e)), 'UnauthenticatedError');

  await api.login({ name: 'ann', password });
  const before = kept.at(-1);
  await api.logout({ everywhere: true });
  assert.deepEqual(kept.at(-1), { token: undefined, renewal: undefined });
  assert.equal(nameOf(await make(before).me().catch((e) => e)), 'UnauthenticatedError');
  await api.logout(); // twice is fine

  // A login while a renewal is under way, as after a change of the password: its tokens stay.
  const hurried = make({ token: 'ended', renewal: 'ended', fetch: async (url, init) => {
    const reply = await fetch(url, init);
    if (url.endsWith('/renew')) await hurried.login({ name: 'ann', password });
    return reply;
  } });
  assert.equal((await hurried.me()).subject, 'ann');
  assert.ok(kept.at(-1).renewal);
  assert.notEqual(kept.at(-1).renewal, 'ended');
});

test('a file is uploaded by one call, which gives the id for the item', async () => {
  const file = join(ROOT, 'tests', 'designs', 'gallery', 'gallery.yaml');
  const { GalleryClient, InvalidError } = await load(file, 'gallery');
  const gallery = await startDesign(file);
  const { token } = await gallery.as('ann', 'user');
  let lost = 1; // the answer to the first upload does not arrive
  const forgetful = async (url, init) => {
    const reply = await fetchEventually(url, init);
    if (init.method === 'PUT' && String(url).includes('/media/') && lost-- > 0) throw new TypeError('network error');
    return reply;
  };
  const ann = new GalleryClient({ baseUrl: gallery.base, token, fetch: forgetful });
  const bytes = png(5000);
  const picture = await ann.uploadNewCardPicture(new File([bytes], 'card.png', { type: 'image/png' }));
  const card = await ann.createCard({ name: 'one', picture });
  assert.deepEqual([card.picture.file, card.picture.size, card.picture.name], [picture, 5000, 'card.png']);
  const shown = await fetch(ann.$transport.fileUrl(card.picture.url));
  assert.deepEqual(Buffer.from(await shown.arrayBuffer()), bytes);
  assert.equal((await ann.updateCard({ name: 'one' }, { picture: card.picture })).picture.file, picture, 'what was read can be written');
  await assert.rejects(ann.uploadCardPicture({ name: 'one' }, new Blob(['x'], { type: 'text/html' })), InvalidError);
  const wrong = join(dir, 'gallery-wrong.ts');
  writeFileSync(wrong, `import { GalleryClient } from './gallery.js';
    const c = new GalleryClient({ baseUrl: '' });
    void c.uploadNewCardPicture('x');
    void c.createCard({ name: 'x', picture: 7 });`);
  assert.equal(compile([wrong]).length, 2);
});
