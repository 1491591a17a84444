// Runs the test files given, or all of them, with node's own runner: node run.mjs [file...]
// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const asked = process.argv.slice(2);
const all = readdirSync(here).filter((name) => name.endsWith('.test.mjs')).sort().map((name) => join(here, name));

// Each file starts a server and a browser of its own; a browser wants a core for itself.
const { status } = spawnSync(
  process.execPath,
  ['--test', '--test-reporter=spec', '--test-concurrency=2', ...(asked.length > 0 ? asked : all)],
  { stdio: 'inherit' },
);
process.exit(status ?? 1);
