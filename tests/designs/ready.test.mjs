// /readyz of a server whose tables are elsewhere: it says so while the database does not answer, and asks it nothing for that.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openGate } from './gate.mjs';
import { ROOT, freshDirectory, startServer, until } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'letters', 'letters.yaml');
const data = freshDirectory();
let tables = await startServer({ data });
const gate = await openGate(tables.endpoint);
const server = await startServer({ data: null, env: { MAIL_HOOK: '' }, args: ['--design', file, '--backend', gate.endpoint] });
after(async () => {
  gate.release();
  await server.stop();
  await tables.stop();
});

async function look(path = '/readyz') {
  const reply = await fetch(server.endpoint + path);
  return `${reply.status} ${(await reply.text()).trim()}`;
}
const SILENT = '503 the remote database has not answered for some seconds';

test('a database that answers is ready, and health checks are not passed on to it', async () => {
  assert.equal(await look(), '200 ok');
  const total = () => Object.values(gate.counts).reduce((a, b) => a + b, 0);
  const during = async (work) => {
    const before = total();
    const until_ = Date.now() + 3000;
    while (Date.now() < until_) await work();
    return total() - before;
  };
  const idle = await during(() => new Promise((resolve) => setTimeout(resolve, 100)));
  let looks = 0;
  const busy = await during(async () => { looks += 1; assert.equal(await look(), '200 ok'); });
  assert.ok(looks > 50, `${looks}`);
  assert.ok(busy <= idle + 10, `${idle} requests in three seconds, and ${busy} with ${looks} health checks`);
});

test('one that hangs is not ready after some seconds, and ready with its next answer; the process is alive meanwhile', async () => {
  gate.hold = () => true;
  const began = Date.now();
  await until('503', async () => await look() !== '200 ok');
  assert.ok(Date.now() - began >= 4000, 'not at once: one late answer is no outage');
  assert.equal(await look(), SILENT);
  assert.equal(await look('/healthz'), '200 ok');
  gate.release();
  await until('200', async () => await look() === '200 ok');
});

test('one that only says 500 is not ready', async () => {
  gate.refuse = () => ({ status: 500, type: 'InternalServerError', message: 'no' });
  await until('503', async () => await look() === SILENT);
  gate.refuse = () => undefined;
  await until('200', async () => await look() === '200 ok');
});

test('one that is gone is not ready either', async () => {
  await tables.stop();
  await until('503', async () => await look() === SILENT);
  tables = await startServer({ data, listen: `127.0.0.1:${tables.port}` });
  await until('200', async () => await look() === '200 ok');
});
