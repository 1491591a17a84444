// Bad input: DynamoDB's error where it has one, else a clear 4xx; never a crash, never half a write.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXTERNAL, call, createTable, ddb, errorName, server, thorpeTest } from './harness.mjs';

const TableName = await createTable({ key: ['pk'] });
const item = (value) => `{"TableName":"${TableName}","Item":{"pk":{"S":"bad"},"v":${value}}}`;

async function refused(operation, body, name, message) {
  const reply = await call(operation, body);
  assert.equal(reply.status, 400, `${String(body).slice(0, 80)}: ${reply.status} ${reply.text.slice(0, 300)}`);
  if (name) assert.equal(errorName(reply), name, reply.text.slice(0, 300));
  if (message && !process.env.THORPE_LOOSE) assert.match(reply.json.message ?? reply.json.Message ?? '', message);
  return reply;
}

test('malformed JSON is a SerializationException', async (t) => {
  for (const body of ['', '{', '}', '[', 'null', '[]', '"text"', '5', '{"TableName":}', '{"TableName":"x"', '{"TableName":"x",}', '{TableName:"x"}', "{'TableName':'x'}",
    '{"TableName":"x"}}', '{"a":01}', '{"a":1e}', '{"a":nul}', '{"a":"\\x"}', '{"a":"\\u12"}', '{"a":"tab\tinside"}', '{"a":1}{"b":2}', '{"a":+1}', '{"a":.5}', '{"a":tru']) {
    await t.test(JSON.stringify(body), () => refused('PutItem', body, body === '' || EXTERNAL ? undefined : 'SerializationException'));
  }
});

thorpeTest('invalid UTF-8 is refused', async (t) => {
  const frame = (bytes) => Buffer.concat([Buffer.from(`{"TableName":"${TableName}","Item":{"pk":{"S":"bad"},"v":{"S":"`), Buffer.from(bytes), Buffer.from('"}}}')]);
  for (const bytes of [[0x80], [0xff], [0xc0, 0x80], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80]]) {
    await t.test(Buffer.from(bytes).toString('hex'), () => refused('PutItem', frame(bytes), 'SerializationException'));
  }
  await t.test('half a surrogate pair', () => refused('PutItem', item('{"S":"\\ud800"}')));
});

test('wrong JSON types are a SerializationException', async (t) => {
  const cases = {
    'a table name that is a number': ['PutItem', '{"TableName":5,"Item":{}}'],
    'a table name that is a list': ['GetItem', '{"TableName":["x"],"Key":{}}'],
    'an item that is a list': ['PutItem', `{"TableName":"${TableName}","Item":[]}`],
    'an item that is a string': ['PutItem', `{"TableName":"${TableName}","Item":"x"}`],
    'a string value that is a number': ['PutItem', item('{"S":5}')],
    'a number value that is a JSON number': ['PutItem', item('{"N":5}')],
    'a boolean value that is a string': ['PutItem', item('{"BOOL":"maybe"}')],
    'a list value that is an object': ['PutItem', item('{"L":{}}')],
    'a map value that is a list': ['PutItem', item('{"M":[]}')],
    'a set that is a string': ['PutItem', item('{"SS":"x"}')],
    'a set of numbers': ['PutItem', item('{"SS":[1]}')],
    'a value that is a bare string': ['PutItem', item('"x"')],
    'a limit that is a string': ['Scan', `{"TableName":"${TableName}","Limit":"ten"}`],
    'a flag that is a string': ['GetItem', `{"TableName":"${TableName}","Key":{"pk":{"S":"a"}},"ConsistentRead":"maybe"}`],
    'key schema that is a string': ['CreateTable', '{"TableName":"abc","KeySchema":"HASH"}'],
    'request items that are a list': ['BatchGetItem', '{"RequestItems":[]}'],
    'write requests that are a list': ['BatchWriteItem', '{"RequestItems":[]}'],
  };
  for (const [name, [operation, body]] of Object.entries(cases)) {
    await t.test(name, () => refused(operation, body, EXTERNAL ? undefined : 'SerializationException'));
  }
});

test('binary that is not base64', async () => {
  await refused('PutItem', item('{"B":"not base64!"}'), EXTERNAL ? undefined : 'SerializationException');
  await refused('PutItem', item('{"B":"abc"}'));
  await refused('PutItem', item('{"BS":["AA=="," "]}'));
});

test('attribute values of no type, two types, or an unknown one', async () => {
  await refused('PutItem', item('{}'), 'ValidationException', /^Supplied AttributeValue is empty, must contain exactly one of the supported datatypes$/);
  await refused('PutItem', item('{"S":"a","N":"1"}'), 'ValidationException', /^Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes$/);
  await refused('PutItem', item('{"X":"a"}'), EXTERNAL ? undefined : 'ValidationException');
  await refused('PutItem', item('{"L":[{}]}'), 'ValidationException');
  await refused('PutItem', item('{"M":{"x":{}}}'), 'ValidationException');
});

test('absurd numbers', async (t) => {
  const digits = '9'.repeat(100_000);
  for (const n of [digits, `0.${digits}`, `1e${digits}`, `-1e-${digits}`, '1e2147483648', '1e-2147483649', '1e9223372036854775808', '--1', '1e+-5', '１２', '1_000', '0x1f', '1,5', ' 1', '\\u0000', 'e5', '.', '-', '+']) {
    await t.test(n.length > 40 ? `${n.slice(0, 20)}… (${n.length} characters)` : n, () => refused('PutItem', item(`{"N":"${n}"}`), 'ValidationException'));
  }
  for (const limit of ['1e400', '-1', '99999999999999999999', '1.5', '2147483648']) {
    await t.test(`Limit ${limit}`, async () => {
      const reply = await call('Scan', `{"TableName":"${TableName}","Limit":${limit}}`);
      assert.ok(reply.status === 400 || reply.status === 200, `${reply.status}`);
      if (limit === '-1') assert.equal(reply.status, 400);
    });
  }
});

test('a hundred levels, and a hundred thousand, of nesting', async () => {
  const nest = (levels, open, close, core) => open.repeat(levels) + core + close.repeat(levels);
  await refused('PutItem', item(nest(100, '{"L":[', ']}', '{"S":"x"}')), 'ValidationException', /Nesting Levels have exceeded supported limits/);
  await refused('PutItem', item(nest(100, '{"M":{"a":', '}}', '{"S":"x"}')), 'ValidationException', /Nesting Levels have exceeded supported limits/);
});

thorpeTest('a hundred thousand levels of nesting', async () => {
  const nest = (levels, open, close, core) => open.repeat(levels) + core + close.repeat(levels);
  await refused('PutItem', item(nest(100_000, '{"L":[', ']}', '{"S":"x"}')));
  await refused('PutItem', nest(100_000, '[', ']', ''));
  await refused('PutItem', nest(100_000, '{"a":', '}', '1'));
});

// Not a question of time on this machine: each of them would keep a thread busy for minutes if it were looked at.
thorpeTest('lists that no table could use', async () => {
  const many = (n, each) => Array.from({ length: n }, (_, i) => each(i));
  const table = { TableName: 'never-made', BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'a0', KeyType: 'HASH' }] };
  const AttributeDefinitions = [{ AttributeName: 'a0', AttributeType: 'S' }];
  const index = (i) => ({ IndexName: `index${i}`, KeySchema: table.KeySchema, Projection: { ProjectionType: 'ALL' } });
  const cases = [
    ['CreateTable', { ...table, AttributeDefinitions: many(200_000, (i) => ({ AttributeName: `a${i}`, AttributeType: 'S' })) }],
    ['CreateTable', { ...table, AttributeDefinitions, GlobalSecondaryIndexes: many(100_000, index) }],
    ['UpdateTable', { TableName, GlobalSecondaryIndexUpdates: many(200_000, (i) => ({ Delete: { IndexName: `index${i}` } })) }],
    ['Scan', { TableName, ConditionalOperator: 'OR', ScanFilter: Object.fromEntries(many(100_000, (i) => [`a${i}`, { ComparisonOperator: 'NOT_NULL' }])) }],
  ];
  for (const [operation, body] of cases) await refused(operation, JSON.stringify(body), 'ValidationException');
});

test('expressions without end', async (t) => {
  const filter = (FilterExpression) => JSON.stringify({ TableName, FilterExpression });
  const cases = {
    'a thousand parentheses': filter(`${'('.repeat(1000)}a${')'.repeat(1000)}`),
    'a thousand NOTs': filter(`${'NOT '.repeat(1000)}attribute_exists(a)`),
    'a deep path': filter(`attribute_exists(${Array.from({ length: 1000 }, () => 'a').join('.')})`),
    'a huge index': filter('attribute_exists(a[99999999999999999999])'),
    'a negative index': filter('attribute_exists(a[-1])'),
    'five kilobytes': filter(`attribute_exists(${'a'.repeat(5000)})`),
    'control characters': filter('a\u0001 = b'),
    'an unclosed function': filter('size(a'),
    'a lone hash': filter('# = b'),
    'a lone colon': filter('a = :'),
  };
  for (const [name, body] of Object.entries(cases)) await t.test(name, () => refused('Scan', body, 'ValidationException'));
});

test('missing parameters are named', async () => {
  await refused('PutItem', '{}', 'ValidationException');
  await refused('GetItem', `{"TableName":"${TableName}"}`, 'ValidationException', /'key' failed to satisfy constraint: Member must not be null/);
  await refused('PutItem', `{"TableName":"${TableName}"}`, 'ValidationException', /'item' failed to satisfy constraint: Member must not be null/);
  await refused('Query', `{"TableName":"${TableName}"}`, 'ValidationException');
  await refused('CreateTable', '{"TableName":"abc"}', 'ValidationException');
  await refused('TransactWriteItems', '{}', 'ValidationException');
  await refused('UpdateTimeToLive', `{"TableName":"${TableName}"}`, 'ValidationException');
});

test('unknown members are ignored', async () => {
  const reply = await call('GetItem', { TableName, Key: { pk: { S: 'x' } }, Frobnicate: { deep: [1, 2, { a: null }] } });
  assert.equal(reply.status, 200);
});

thorpeTest('null members count as absent', async () => {
  const reply = await call('GetItem', { TableName, Key: { pk: { S: 'x' } }, ProjectionExpression: null, ConsistentRead: null });
  assert.equal(reply.status, 200);
});

thorpeTest('a member given twice does not confuse', async () => {
  const reply = await call('PutItem', `{"TableName":"${TableName}","Item":{"pk":{"S":"twice"},"v":{"S":"a"},"v":{"S":"b"}}}`);
  assert.ok(reply.status === 200 || reply.status === 400);
  const { Item } = await ddb.getItem({ TableName, Key: { pk: { S: 'twice' } } });
  if (reply.status === 200) assert.deepEqual(Object.keys(Item).sort(), ['pk', 'v']);
});

thorpeTest('random bytes in place of every request', async () => {
  // A fixed sequence: a failure can be run again.
  let seed = 12345;
  const random = (n) => { seed = (Math.imul(seed, 1103515245) + 12345) >>> 0; return seed % n; };
  const good = Buffer.from(JSON.stringify({
    TableName, Key: { pk: { S: 'fuzz' } }, UpdateExpression: 'SET a = if_not_exists(a, :v) + :v REMOVE b', ExpressionAttributeValues: { ':v': { N: '1.5' } }, ConditionExpression: 'a < :v OR attribute_not_exists(a)',
  }));
  for (let round = 0; round < 400; round += 1) {
    const body = Buffer.from(good);
    for (let i = 0; i <= random(4); i += 1) body[random(body.length)] = random(256);
    const reply = await call('UpdateItem', body);
    assert.ok(reply.status === 200 || reply.status === 400, `${reply.status} for ${body.toString('latin1')}`);
  }
});

test('after all that, nothing refused was written and the server lives', async () => {
  const { Item } = await ddb.getItem({ TableName, Key: { pk: { S: 'bad' } }, ConsistentRead: true });
  assert.equal(Item, undefined);
  if (!EXTERNAL) assert.equal(server.child.exitCode, null);
});
