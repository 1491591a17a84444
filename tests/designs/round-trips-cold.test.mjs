// Requests to a table that is elsewhere, at a server that has just begun and has seen nothing of it: how many round trips each makes,
// one after the other.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { report, start, writeAll } from './round-trips-world.mjs';

const WRITE = 2; // what decides it is read at once, then it is written
const ITEM = 1;

/**
 * Those that need more, and why. Each is held to that number.
 * found: the key has more in it than the address (`found by`). Where the item is has to be read first; a server remembers it then.
 * held: as in round-trips.test.mjs.
 */
const MORE = {
  blog: {
    'get Comment': 2 /* found */, 'patch Comment': 3 /* found */, 'delete Comment': 3 /* found */,
    'get Like': 2 /* found */, 'delete Like': 3 /* found */, 'get Bookmark': 2 /* found */, 'delete Bookmark': 3 /* found */,
    'delete Category': 4 /* held */,
  },
  perfectit: { 'delete Category': 4 /* held */ },
};

for (const name of ['social', 'blog', 'perfectit']) {
  test(`${name}: the first write of each kind after a start makes two round trips, or as many as is said here`, async (t) => {
    const of = await start(name, { cold: true });
    await writeAll(of, name);
    report(t, of.counts);
    const over = [...of.counts].filter(([kind, { cold }]) => cold > (MORE[name]?.[kind] ?? (kind.startsWith('get ') ? ITEM : WRITE)));
    assert.deepEqual(over.map(([kind, { cold }]) => `${kind}: ${cold}`), []);
  });
}
