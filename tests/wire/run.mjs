// Runs the test files given, or all of them (these and those of the designs), with node's own runner: node run.mjs [file...]
// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const asked = process.argv.slice(2);
const testsIn = (dir) => readdirSync(dir).filter((name) => name.endsWith('.test.mjs')).sort().map((name) => join(dir, name));
const files = asked.length > 0 ? asked : [...testsIn(here), ...testsIn(join(here, '..', 'designs'))];

// Each file starts a server of its own, so they run side by side.
const { status } = spawnSync(
  process.execPath,
  ['--test', '--test-reporter=spec', '--test-concurrency=3', ...files],
  { stdio: 'inherit' },
);
process.exit(status ?? 1);
