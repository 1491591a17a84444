// Items that are written together, in a table that is elsewhere: whatever is written, what decides it is read at once, then it is written.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './harness.mjs';
import { report, start } from './round-trips-world.mjs';

const ann = ['ann', ['user']];
const bob = ['bob', ['user']];

for (const cold of [false, true]) {
  test(`${cold ? 'at a server that has just begun' : 'at a server that knows the table'}: two round trips`, async (t) => {
    const of = await start('tenancy', { cold, design: join(ROOT, 'tests/designs/tenancy/tenancy.yaml') });
    const accept = async (n) => {
      const { body } = await of.request('invite', ann, 'POST', '/tenants/acme/invites', { body: { role: 'editor' } });
      await of.request('accept', bob, 'POST', `/tenants/acme/invites/${body.invite}/accept`, { body: {} });
      await of.request('read', bob, 'GET', `/tenants/acme/members/bob`);
      if (n) await of.request('leave', bob, 'DELETE', '/tenants/acme/members/bob');
    };
    await of.request('found', ann, 'PUT', '/tenants/acme', { body: { name: 'Acme' } });
    await of.request('found', ann, 'PUT', '/tenants/other', { body: { name: 'Other' } });
    await of.request('rename', ann, 'PATCH', '/tenants/acme', { body: { name: 'Acme Ltd' } });
    for (const n of [2, 1, 0]) await accept(n);
    report(t, of.counts);
    assert.deepEqual([...of.counts.keys()].sort(), ['accept', 'found', 'invite', 'leave', 'read', 'rename']);
    const over = [...of.counts].filter(([kind, { cold: first, warm }]) => Math.max(first, ...warm) > (kind === 'read' ? 1 : 2));
    assert.deepEqual(over.map(([kind, { cold: first, warm }]) => `${kind}: ${[first, ...warm].join(' ')}`), []);
  });
}
