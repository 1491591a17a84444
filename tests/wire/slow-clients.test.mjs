// Clients that are slow, silent or too many, against a server whose limits are short enough to wait for.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { EXTERNAL, call, connect, freshName, requestBytes, startServer, thorpeTest, until } from './harness.mjs';

const limits = {
  header_ms: 400, header_bytes: 4096, idle_ms: 1500, body_ms: 400, body_rate: 1_000_000, write_ms: 700, body_bytes: 500_000, connections: 40,
};
const small = EXTERNAL ? null : await startServer({ data: null, args: Object.entries(limits).flatMap(([name, n]) => ['--limit', `${name}=${n}`]) });
const endpoint = small?.endpoint;
const TableName = freshName();
if (small) {
  await call('CreateTable', {
    TableName, BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }], AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  }, { endpoint });
}
const serves = async () => assert.equal((await call('ListTables', {}, { endpoint })).status, 200);

/** Sends a byte now and then until the server has had enough. */
async function drip(wire, byte) {
  const timer = setInterval(() => { if (!wire.closed) wire.send(byte); }, 50);
  try {
    await until('the server to drop the client', () => wire.closed, 20);
  } finally {
    clearInterval(timer);
  }
}

thorpeTest('headers that do not come to an end', async () => {
  const wire = await connect(endpoint);
  wire.send('POST / HTTP/1.1\r\nhost: localhost\r\nx-slow: ');
  await drip(wire, 'x');
  await serves();
});

thorpeTest('a body that does not come to an end', async () => {
  const wire = await connect(endpoint);
  wire.send(requestBytes('PutItem', '{"TableName":', { 'content-length': 10_000 }));
  await drip(wire, ' ');
  await serves();
});

thorpeTest('a connection that says nothing, and one that has nothing more to say', async () => {
  const silent = await connect(endpoint);
  const done = await connect(endpoint);
  done.send(requestBytes('ListTables', {}));
  await until('a reply', () => done.text().includes('TableNames'));
  await until('both to be closed', () => silent.closed && done.closed, 20);
});

thorpeTest('a connection in use is not idle', async () => {
  const wire = await connect(endpoint);
  const end = Date.now() + 2 * limits.idle_ms;
  let sent = 0;
  while (Date.now() < end) {
    wire.send(requestBytes('ListTables', {}));
    sent += 1;
    await until('a reply', () => wire.count(/TableNames/g) === sent);
    const pause = Date.now() + 100;
    await until('a moment', () => Date.now() > pause);
  }
  assert.equal(wire.closed, false);
  wire.close();
});

thorpeTest('a client that asks and never reads', async () => {
  const big = { pk: { S: 'big' }, d: { S: 'x'.repeat(300_000) } };
  assert.equal((await call('PutItem', { TableName, Item: big }, { endpoint })).status, 200);
  const wire = await connect(endpoint);
  wire.socket.pause();
  const ask = requestBytes('GetItem', { TableName, Key: { pk: { S: 'big' } } });
  const failed = new Promise((resolve) => { wire.socket.once('error', resolve); wire.socket.once('close', resolve); });
  const timer = setInterval(() => wire.send(ask), 2);
  await failed;
  clearInterval(timer);
  await serves();
});

thorpeTest('more connections than are allowed', async () => {
  const wires = [];
  for (let i = 0; i < limits.connections + 20; i += 1) wires.push(await connect(endpoint));
  await until('the surplus to be turned away', () => wires.filter(({ closed }) => closed).length >= 20, 10);
  for (const wire of wires) wire.close();
  await until('room again', () => call('ListTables', {}, { endpoint }).then(({ status }) => status === 200, () => false));
});

thorpeTest('bodies and headers beyond the limits set', async () => {
  const large = await call('PutItem', { TableName, Item: { pk: { S: 'x'.repeat(600_000) } } }, { endpoint }).catch(() => ({ status: 413 }));
  assert.equal(large.status, 413);
  const wire = await connect(endpoint);
  wire.send(requestBytes('ListTables', {}, { 'x-long': 'x'.repeat(6000) }));
  await until('a refusal', () => wire.closed);
  assert.match(wire.text(), /^(HTTP\/1\.1 (400|413|431)|$)/);
  await serves();
});

thorpeTest('after all of them, it ends well', async () => {
  await small.stop();
});

thorpeTest('more connections than the system allows files leave the database what it needs', async () => {
  const tight = await startServer({ files: 64 });
  const keeper = await connect(tight.endpoint);
  keeper.send(requestBytes('CreateTable', {
    TableName: 'table', BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }], AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  }));
  await until('the table', () => keeper.count(/HTTP\/1.1 200/g) === 1);
  const wires = [];
  for (let i = 0; i < 100; i += 1) wires.push(await connect(tight.endpoint));
  await until('some to be refused', () => wires.filter((wire) => wire.closed).length >= 80);
  // Enough to need new files more than once.
  for (let i = 0; i < 200; i += 1) keeper.send(requestBytes('PutItem', { TableName: 'table', Item: { pk: { S: `${i}` }, v: { S: 'v'.repeat(390_000) } } }));
  await until('all replies', () => keeper.count(/HTTP\/1.1 \d/g) === 201);
  assert.equal(keeper.count(/HTTP\/1.1 200/g), 201);
  for (const wire of [keeper, ...wires]) wire.close();
  await tight.stop();
});
