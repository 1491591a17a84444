// docs/access-patterns.md says what the designs do and which tests show it.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { BIN, ROOT } from './harness.mjs';

test('each of the 156 access patterns has a route, a request that does not scan, and a test; the page says which', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts', 'access-patterns.mjs')], {
    encoding: 'utf8',
    env: { ...process.env, THORPE_BIN: BIN },
  });
  assert.equal(status, 0, stderr);
});
