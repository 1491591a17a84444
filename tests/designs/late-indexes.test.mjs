// Indexes that are two seconds late: what was written right before a deletion goes with it all the same.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Caller, ROOT, clientsFor, freshDirectory, runToEnd, scan, startServer, until } from './harness.mjs';

const design = join(ROOT, 'designs', 'fus.yaml');
const data = freshDirectory();
const tables = await startServer({ data, args: ['--fault', 'index-lag=2s'] });
const server = await startServer({ data: null, args: ['--design', design, '--backend', tables.endpoint] });
const { ddb, doc } = clientsFor(tables.endpoint);
const as = async (...flags) => {
  const { stdout } = await runToEnd(['token', design, '--backend', tables.endpoint, ...flags]);
  return new Caller(`${server.endpoint}/api/fus`, stdout.trim());
};
after(() => ddb.destroy());

test('members that joined right before their group was deleted are gone, and a recount finds nothing', async () => {
  const ada = await as('--subject', 'sub-ada', '--role', 'admin');
  const operator = await as('--operator');
  for (let round = 0; round < 4; round++) {
    await ada.post('/groups', { name: `g${round}`, permissions: ['site:write'] });
    await Promise.all(Array.from({ length: 10 }, (_, i) => ada.put(`/users/m${i}/groups/g${round}`)));
    await ada.delete(`/groups/g${round}`);
    await pause(700 * round); // deletions at other moments of a tick
  }
  await until('everything to be done', async () => (await operator.get('/processors?wait=10')).body.idle);
  const left = (await scan(doc, 'fus-main')).filter(({ SK }) => SK.startsWith('MEMBERSHIP#'));
  assert.deepEqual(left.map(({ PK, SK }) => `${PK} ${SK}`), []);
  await server.stop();
  await tables.stop();
  const { code, stdout, stderr } = await runToEnd(['verify', '--design', design, '--data', data]);
  assert.equal(code, 0, stdout + stderr);
});
