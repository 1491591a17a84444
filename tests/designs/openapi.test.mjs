// The OpenAPI document of each design: accepted by a validator, true of what the server answers, and enough to make a client of.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Caller, designFile, freshDirectory, killAll, SHIPPED as names, startServer } from './harness.mjs';

const wire = createRequire(fileURLToPath(new URL('../wire/package.json', import.meta.url)));
const SwaggerParser = wire('@apidevtools/swagger-parser');
const Ajv = createRequire(wire.resolve('@apidevtools/swagger-parser'))('ajv/dist/2020.js').default;

const server = await startServer({
  data: freshDirectory(),
  args: names.flatMap((name) => ['--design', designFile(name)]),
});
after(async () => {
  await server.stop();
  killAll();
});

const documentOf = async (name) => {
  const reply = await fetch(`${server.endpoint}/api/${name}/openapi.json`);
  assert.equal(reply.status, 200);
  assert.match(reply.headers.get('content-type'), /^application\/json/);
  return reply.json();
};

/** Calls by operationId, knowing nothing but the document; each answer must be one the document promises. */
class GeneratedClient {
  constructor(document) {
    this.document = document;
    this.base = server.endpoint + document.servers[0].url;
    this.ajv = new Ajv({ strict: false, validateFormats: false });
    this.ajv.addSchema(document, 'api');
    this.operations = new Map();
    for (const [path, item] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(item)) {
        if (method !== 'parameters') this.operations.set(operation.operationId, { path, method, item, ...operation });
      }
    }
  }

  resolve(node) {
    if (!node?.$ref) return node;
    return node.$ref.slice(2).split('/').reduce((at, part) => at[part], this.document);
  }

  check(schema, value, told) {
    const valid = this.ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')));
    assert.ok(valid(value), `${told}: ${JSON.stringify(valid.errors)} in ${JSON.stringify(value)}`);
  }

  async call(id, given = {}, body = undefined) {
    const operation = this.operations.get(id);
    assert.ok(operation, `no operation ${id}`);
    const parameters = [...(operation.item.parameters ?? []), ...(operation.parameters ?? [])].map((p) => this.resolve(p));
    const headers = {};
    const query = new URLSearchParams();
    let { path } = operation;
    for (const parameter of parameters) {
      const value = given[parameter.name];
      if (value === undefined) assert.ok(!parameter.required, `${id} needs ${parameter.name}`);
      else if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, encodeURIComponent(value));
      else if (parameter.in === 'query') [value].flat().forEach((one) => query.append(parameter.name, one));
      else headers[parameter.name] = value;
    }
    for (const name of Object.keys(given)) assert.ok(parameters.some((p) => p.name === name), `${id} does not take ${name}`);
    if (body) this.check(operation.requestBody.content['application/json'].schema, body, `body of ${id}`);
    const caller = new Caller(this.base, this.token);
    const reply = await caller.request(operation.method.toUpperCase(), path + (query.size ? `?${query}` : ''), { body, headers });
    const promised = this.resolve(operation.responses[reply.status]);
    assert.ok(promised, `${id} gave ${reply.status}: ${JSON.stringify(reply.body)}`);
    const [content] = Object.values(promised.content ?? {});
    if (content && reply.body !== undefined) this.check(content.schema, reply.body, `${id} ${reply.status}`);
    return reply;
  }
}

for (const name of names) {
  test(`${name}: a standard validator accepts the document`, async () => {
    const document = await documentOf(name);
    assert.equal(document.openapi, '3.1.0');
    assert.equal(document.servers[0].url, `/api/${name}`);
    await SwaggerParser.validate(structuredClone(document));
    const ids = Object.values(document.paths).flatMap((item) => Object.values(item).map((operation) => operation.operationId).filter(Boolean));
    assert.equal(new Set(ids).size, ids.length);
  });

  test(`${name}: every address of the document is one of the server`, async () => {
    const { paths } = await documentOf(name);
    for (const [path, item] of Object.entries(paths)) {
      const address = `${server.endpoint}/api/${name}${path.replaceAll(/\{\w+\}/g, '1')}`;
      for (const method of Object.keys(item).filter((word) => word !== 'parameters')) {
        const reply = await fetch(address, { method: method.toUpperCase() });
        await reply.text();
        assert.notEqual(reply.status, 405, `${method} ${path}`);
        assert.ok(reply.status < 500, `${method} ${path} gave ${reply.status}`);
      }
    }
  });
}

test('a client made of the document signs up, logs in, writes, reads, pages, changes and deletes', async () => {
  const api = new GeneratedClient(await documentOf('social'));
  const password = 'correct horse';
  for (const username of ['ann', 'ben']) {
    const { status } = await api.call('createUser', {}, { user_id: username, username, email: `${username}@example.org`, password });
    assert.equal(status, 201);
  }
  api.token = (await api.call('login', {}, { username: 'ann', password })).body.token;
  assert.equal((await api.call('me')).body.subject, 'ann');

  const made = await api.call('createPost', { 'Idempotency-Key': 'first' }, { content: 'hello', hashtags: ['one'] });
  assert.equal(made.status, 201);
  const { post_id } = made.body;
  assert.equal((await api.call('createPost', { 'Idempotency-Key': 'first' }, { content: 'hello', hashtags: ['one'] })).body.post_id, post_id);
  await api.call('createPost', {}, { content: 'again', visibility: 'followers' });

  const first = await api.call('listUserPosts', { user_id: 'ann', limit: 1 });
  assert.equal(first.body.items.length, 1);
  const second = await api.call('listUserPosts', { user_id: 'ann', limit: 1, after: first.body.next });
  assert.deepEqual([second.body.items.length, second.body.next], [1, undefined]);

  const read = await api.call('getPost', { post_id });
  assert.equal((await api.call('getPost', { post_id, 'If-None-Match': read.etag })).status, 304);
  assert.equal((await api.call('updatePost', { post_id, 'If-Match': read.etag }, { content: 'hello again' })).body.content, 'hello again');
  assert.equal((await api.call('updatePost', { post_id, 'If-Match': read.etag }, { content: 'too late' })).status, 412);

  assert.equal((await api.call('putFollow', { follower_id: 'ann', followed_id: 'ben' })).status, 201);
  assert.equal((await api.call('putFollow', { follower_id: 'ann', followed_id: 'ben' })).status, 409);
  assert.equal((await api.call('muteFollow', { follower_id: 'ann', followed_id: 'ben' })).body.status, 'muted');
  assert.equal((await api.call('putLike', { post_id, user_id: 'ann' })).status, 201);
  assert.equal((await api.call('listLiked', { id: [post_id, 'nothing'] })).body.items.length, 1);
  assert.equal((await api.call('getPost', { post_id })).body.likes_count, 1);

  assert.equal((await api.call('deletePost', { post_id })).status, 204);
  assert.equal((await api.call('deletePost', { post_id: 'nothing' })).status, 404);
  const batch = await api.call('batch', {}, { requests: [{ method: 'POST', path: '/posts', body: { content: 'in a batch' } }, { method: 'DELETE', path: '/posts/nothing' }] });
  assert.deepEqual(batch.body.responses.map(({ status }) => status), [201, 404]);
});

test('what the document does not let into a body the server refuses, too', async () => {
  const document = await documentOf('social');
  const { properties, additionalProperties } = document.components.schemas.PostCreate;
  assert.equal(additionalProperties, false);
  const api = new GeneratedClient(document);
  await api.call('createUser', {}, { user_id: 'cyd', username: 'cyd', email: 'cyd@example.org', password: 'correct horse' });
  api.token = (await api.call('login', {}, { name: 'cyd', password: 'correct horse' })).body.token;
  const caller = new Caller(api.base, api.token);
  for (const [name, schema] of Object.entries(document.components.schemas.Post.properties)) {
    if (name in properties) {
      assert.ok(!schema.readOnly, name);
    } else {
      assert.ok(schema.readOnly, name);
      const { status } = await caller.request('POST', '/posts', { body: { content: 'x', [name]: 1 } });
      assert.equal(status, name === 'author_id' ? 201 : 422, name); // who the caller is, is not asked
    }
  }
});
