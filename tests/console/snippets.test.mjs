// What the console gives to paste, for any request: it runs as it is, whatever is in the values.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { clientsFor, startServer } from '../wire/process.mjs';
import { DEMO, designFile, freshDirectory } from './harness.mjs';
import { consoleModule, paste, tools } from './snippets.mjs';

const can = await tools();
const { restSnippets, snippets } = await consoleModule('lib/snippets.ts');
const server = await startServer({ data: null, args: ['--design', designFile('social'), '--demo', DEMO] });
const { ddb } = clientsFor(server.endpoint);
after(() => server.stop());

const context = { endpoint: server.endpoint, region: 'us-east-1', auth: 'none' };
const LANGUAGES = ['curl', 'javascript', ...(can.aws ? ['aws'] : []), ...(can.boto3 ? ['python'] : [])];

/** An operator's token, as the console gets it. */
async function operatorsToken() {
  const reply = await fetch(`${server.endpoint}/console/api/session`, { headers: { 'x-thorpe-console': '1' } });
  return (await reply.json()).designs[0].token;
}

// Everything that quoting can get wrong, in values and in names.
const HOSTILE = {
  text: { S: 'it\'s "quoted" $HOME `id` $(id) \\ \\n !! %s é 🦜 \u2028\n second line\ttab \u0007' },
  "it's": { S: "'" },
  S: { S: 'an attribute called S' },
  exact: { N: '12345678901234567890.123456789' },
  small: { N: '-1.5' },
  bytes: { B: Buffer.from([0, 255, 39, 10]).toString('base64') },
  list: { L: [{ M: { 'a b': { NULL: true } } }, { BOOL: false }, { B: 'AA==' }] },
  names: { SS: ["a'b", 'c'] },
  numbers: { NS: ['1', '2'] },
};
Object.defineProperty(HOSTILE, '__proto__', { value: { S: 'an attribute called __proto__' }, enumerable: true, configurable: true, writable: true });

const noBytes = (item) => ({ ...item, bytes: { S: 'none' }, list: { L: item.list.L.slice(0, 2) } });

test('values with quotes, newlines, other scripts, bytes and exact numbers survive being pasted', async () => {
  await ddb.createTable({
    TableName: 'pasted', BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }], AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  });
  for (const language of LANGUAGES) {
    const pk = { S: `${language} 'it"` };
    const item = { ...(language === 'aws' && !can.awsBinary ? noBytes(HOSTILE) : HOSTILE), pk };
    if (language === 'javascript') delete item.__proto__; // the SDK's document client loses it
    await paste(language, snippets('PutItem', { TableName: 'pasted', Item: item }, context)[language]);
    const got = await paste('curl', snippets('GetItem', { TableName: 'pasted', Key: { pk }, ConsistentRead: true }, context).curl);
    assert.deepEqual(Object.entries(got.Item).sort(), Object.entries(item).sort(), language);
    const scanned = await paste(language, snippets('Scan', {
      TableName: 'pasted', FilterExpression: '#t = :t AND pk = :k', ExpressionAttributeNames: { '#t': 'text' }, ExpressionAttributeValues: { ':t': HOSTILE.text, ':k': pk },
      ProjectionExpression: 'pk',
    }, context)[language]);
    assert.equal((scanned.Items ?? scanned).length, 1, language);
  }
});

test('requests of other shapes are pasted, too: batches, transactions, updates, and those without items', async () => {
  const key = (pk) => ({ PK: { S: pk }, SK: { S: 'METADATA' } });
  const made = [
    ['BatchGetItem', { RequestItems: { SocialMediaApp: { Keys: [key('POST#p-ride'), key('POST#p-trees')], ConsistentRead: true } } }],
    ['TransactGetItems', { TransactItems: [{ Get: { TableName: 'SocialMediaApp', Key: key('POST#p-ride') } }] }],
    ['UpdateItem', { TableName: 'SocialMediaApp', Key: key('POST#pasted'), UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': { N: '1' } }, ReturnValues: 'ALL_NEW' }],
    ['ListStreams', { TableName: 'SocialMediaApp' }],
  ];
  for (const [operation, request] of made) {
    const replies = await Promise.all(LANGUAGES.map((language) => paste(language, snippets(operation, request, context)[language])));
    replies.forEach((reply, at) => assert.ok(!reply?.__type, `${operation} ${LANGUAGES[at]}: ${JSON.stringify(reply)}`));
  }
});

test('where the server wants keys, what is pasted signs with those of the environment', async () => {
  const keys = join(freshDirectory(), 'keys');
  writeFileSync(keys, 'AKIDPASTED secret-of-pasted\n');
  const guarded = await startServer({ data: null, args: ['--keys', keys] });
  try {
    const signing = { endpoint: guarded.endpoint, region: 'us-east-1', auth: 'keys' };
    const env = { AWS_ACCESS_KEY_ID: 'AKIDPASTED', AWS_SECRET_ACCESS_KEY: 'secret-of-pasted' };
    for (const language of LANGUAGES) {
      const reply = await paste(language, snippets('ListTables', { Limit: 5 }, signing)[language], env);
      assert.deepEqual(reply.TableNames, [], language);
    }
  } finally {
    await guarded.stop();
  }
});

test('a REST write, and a caller whose token is made by a command', async () => {
  const token = await operatorsToken();
  const content = 'it\'s "pasted" $HOME `id`\n é 🦜 \\';
  const url = `${server.endpoint}/api/social/posts/p-trees`;
  for (const [language, text] of Object.entries(restSnippets('PATCH', url, { content }, token))) {
    if (language === 'python' && !can.requests) continue;
    assert.equal((await paste(language, text)).content, content, language);
  }
  const command = `printf %s ${token}`;
  for (const [language, text] of Object.entries(restSnippets('GET', `${server.endpoint}/api/social/me`, undefined, { command }))) {
    if (language === 'python' && !can.requests) continue;
    assert.ok(await paste(language, text, { TOKEN: token }), language);
  }
});
