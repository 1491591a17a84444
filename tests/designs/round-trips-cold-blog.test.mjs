// Requests to a table that is elsewhere, at a server that has just begun and has seen nothing of it: how many round trips each makes,
// one after the other.
// SPDX-License-Identifier: Apache-2.0
import { firstWrites } from './round-trips-world.mjs';

/**
 * Those that need more, and why. Each is held to that number.
 * found: the key has more in it than the address (`found by`). Where the item is has to be read first; a server remembers it then.
 * shown: parts of other items (`show`), which the item names.
 * joined: `refuse while` (app/write/joined.h). Nothing may have joined the item between the question and the deletion, so the
 * deletion's condition is a value that the item had before the question was sent. No transaction can ask a Query, so such a value has
 * to be read in a round trip before it, by this request or an earlier one; unless nothing has ever joined the item.
 */
const MORE = {
  blog: {
    'get Post': 2 /* shown */,
    'get Comment': 2 /* found */, 'patch Comment': 3 /* found */, 'delete Comment': 3 /* found */,
    'get Like': 2 /* found */, 'delete Like': 3 /* found */, 'get Bookmark': 2 /* found */, 'delete Bookmark': 3 /* found */,
    'delete Category': 3 /* joined */,
  },
};

firstWrites('blog', MORE.blog);
