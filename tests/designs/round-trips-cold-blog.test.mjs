// Requests to a table that is elsewhere, at a server that has just begun and has seen nothing of it: how many round trips each makes,
// one after the other.
// SPDX-License-Identifier: Apache-2.0
import { firstWrites } from './round-trips-world.mjs';

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
};

firstWrites('blog', MORE.blog);
