// Items that are written together with another one, by their own rules: all of it, or nothing.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, runToEnd, startDesign } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'tenancy', 'tenancy.yaml');
const app = await startDesign(file);
const ann = await app.as('ann', 'user');
const bob = await app.as('bob', 'user');
const operator = await app.operator();

test('the reviewer has nothing to say', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
});

test('a tenant comes with its first owner, who is counted in it', async () => {
  const { body } = await ann.put('/tenants/acme', { name: 'Acme' });
  assert.equal(body.members, 1);
  assert.equal(body.owners, 1);
  const { body: member } = await ann.get('/tenants/acme/members/ann');
  assert.equal(member.role, 'owner');
  assert.equal(member.tenant_name, 'Acme');
  const { body: log } = await ann.get('/tenants/acme/log');
  assert.deepEqual(log.items.map(({ what, who, name }) => [what, who, name]), [['tenant created', 'ann', 'Acme']]);
});
