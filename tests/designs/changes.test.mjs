// A design whose items were written by another version of it: `thorpe diff` says what that means, and so does the server when it starts.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Caller, ROOT, clientsFor, freshDirectory, runToEnd, startServer } from './harness.mjs';

const links = ({ title = 'Links', target = 'string 8..2000, required', more = '', keys = '{code: LINK#<name>}', companions = '' } = {}) => `
design: links
title: ${title}
table: links
key: [code]
entities:
  Link:
    path: /links/<name>
    attributes:
      name: string 3..20, fixed
      target: ${target}
${more}
    keys: ${keys}
${companions}
    allow: {create, read, update, delete: anyone}
`;

/** A directory whose design changes: serves it as it is given and returns what the server logged until it was ready. */
function shelf(t) {
  const data = freshDirectory();
  const file = join(data, 'links.yaml');
  const servers = [];
  t.after(() => servers.forEach(({ child }) => child.kill('SIGKILL')));
  return {
    data, file,
    serve: async (design, use = async () => {}) => {
      writeFileSync(file, links(design));
      const server = await startServer({ data: join(data, 'db'), args: ['--design', file] });
      servers.push(server);
      const clients = clientsFor(server.endpoint);
      try {
        await use(new Caller(`${server.endpoint}/api/links`), clients);
      } finally {
        clients.ddb.destroy();
        clients.streams.destroy();
        await server.stop();
      }
      return server.log();
    },
    verify: (...args) => runToEnd(['verify', '--design', file, '--data', join(data, 'db'), ...args]),
  };
}

test('a design that stays the same is not mentioned', async (t) => {
  const { serve } = shelf(t);
  assert.doesNotMatch(await serve({}), /changed|changes/);
  assert.doesNotMatch(await serve({}), /changed|changes/);
});

test('a change that means nothing for the items is mentioned once', async (t) => {
  const { serve } = shelf(t);
  await serve({});
  assert.match(await serve({ title: 'My links' }), /links has changed, and nothing has to be done for its items: 1 change\b/);
  assert.doesNotMatch(await serve({ title: 'My links' }), /has changed/);
});

test('a change that means work for the items is mentioned until the work is done', async (t) => {
  const { serve, verify } = shelf(t);
  await serve({}, async (nobody) => {
    for (const name of ['one', 'two']) assert.equal((await nobody.put(`/links/${name}`, { target: `https://example.com/${name}` })).status, 201);
  });
  const changed = { target: 'string 8..2000, required, unique', companions: '    companions: [{unique: target, code: TARGET#<target>, link: <name>}]' };
  for (let i = 0; i < 2; i++) {
    const log = await serve(changed);
    assert.match(log, /links is not the design that its items were written by: 2 of 2 changes mean work/);
    assert.match(log, /Link companion target: added \[guard\]/);
    assert.match(log, /thorpe verify --design .* --repair/);
  }
  // looking does not end it
  assert.match((await verify()).stdout, /guard-missing/);
  assert.match(await serve(changed), /is not the design/);
  const { code, stdout, stderr } = await verify('--repair', '--yes');
  assert.equal(code, 0, stdout + stderr);
  const log = await serve(changed, async (nobody) => {
    await assert.rejects(nobody.put('/links/three', { target: 'https://example.com/one' }), /409.*is taken/);
  });
  assert.doesNotMatch(log, /is not the design|has changed/);
});

test('a repair that leaves something does not end it', async (t) => {
  const { serve, verify } = shelf(t);
  await serve({}, (nobody) => nobody.put('/links/one', { target: 'https://example.com/one' }));
  const narrower = { target: 'string 8..12, required' };
  assert.match(await serve(narrower), /Link.target: changed \[judge\]: a longer value is reported/);
  assert.equal((await verify('--repair', '--yes')).code, 1);
  assert.match(await serve(narrower), /Link.target: changed \[judge\]/);
  // back to what it was
  assert.doesNotMatch(await serve({}), /is not the design|has changed/);
});

test('a design before that cannot be read is said, and the new one is kept', async (t) => {
  const { serve } = shelf(t);
  await serve({}, async (nobody, { doc }) => {
    const { Item } = await doc.get({ TableName: 'links.thorpe', Key: { PK: 'DESIGN', SK: 'served' } });
    assert.ok(Item.text.length > 50);
    await doc.put({ TableName: 'links.thorpe', Item: { ...Item, text: new Uint8Array([1, 2, 3]) } });
  });
  assert.match(await serve({}), /what has changed is not known: the design that was served before cannot be read/);
  assert.doesNotMatch(await serve({}), /not known/);
});

test('thorpe diff: exit status, people, machines', async (t) => {
  const { file, serve } = shelf(t);
  const old = `${file}.old`;
  await serve({ more: '      note: string 0..100' });
  writeFileSync(old, links({ title: 'Old' }));
  const same = await runToEnd(['diff', old, old]);
  assert.deepEqual([same.code, same.stdout], [0, 'Nothing changed.\n']);
  const more = await runToEnd(['diff', old, file]);
  assert.equal(more.code, 0, more.stderr);
  assert.match(more.stdout, /^title: changed \[nothing\]\n {4}- Old\n {4}\+ Links\n/);
  assert.match(more.stdout, /Link\.note: added \[nothing\]\n {4}\+ string 0\.\.100\n {4}items that are there go on without it\n2 changes: 2 nothing\n$/);
  const less = await runToEnd(['diff', '--json', file, old]);
  assert.equal(less.code, 3);
  assert.deepEqual(JSON.parse(less.stdout).map(({ subject, change, need }) => [subject, change, need]), [['title', 'changed', 'nothing'], ['Link.note', 'removed', 'rewrite']]);
  const wrong = await runToEnd(['diff', old, join(ROOT, 'no-such.yaml')]);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /no-such\.yaml/);
  assert.equal((await runToEnd(['diff', old])).code, 2);
});
