/* The table next to the design's, <table>.thorpe: the runtime's own data. Processors keep their positions there
 * (process/checkpoint.h), deletions and renames their markers (app/write/deleting.h, renaming.h), accounts their
 * sessions (auth/sessions.h), mail to send its notes (auth/mail.h), and servers that share a remote table their common
 * state: replies under an Idempotency-Key (idempotency_shared.c), failed
 * logins (caller_attempt.c). Its key is PK and SK, both strings; BESIDE_TTL is its ttl attribute.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_BESIDE_H
#define THORPE_APP_DB_BESIDE_H

#include "app/db/dyn.h"

#define BESIDE_TTL    "expires"
#define BESIDE_ENDING ".thorpe" /* of its name, which starts with the design's table */

struct slice beside_name(struct arena *a, struct slice table);
struct slice beside_table(struct run *r); /* of the run's design */
struct value beside_key(struct run *r, struct slice pk, struct slice sk);
/* Strongly consistent; *item absent: none. */
bool beside_get(struct run *r, struct value key, struct value *item) MUST_CHECK;
/* BatchGetItem, strongly consistent, of a few different keys; items[i] is that of keys[i] or absent. */
bool beside_batch_get(struct run *r, const struct value *keys, size_t n, struct value *items) MUST_CHECK;
/* The items of one PK, by SK, at most `limit`, after `start` unless that is absent. `start` may be the page's own
 * `last`. */
bool beside_query(struct run *r, struct slice pk, int limit, struct value start, struct dyn_page *page) MUST_CHECK;
/* The number of items of one PK. */
bool beside_count(struct run *r, struct slice pk, int64_t *out) MUST_CHECK;

/* A map of values as the SK of an item: names and values sorted by name and joined by '&', strings with %XX escapes,
 * numbers in DynamoDB's digits after a ':'. If that is long, or a value has another type: '#' and the SHA-256 of the
 * map's bytes. */
struct slice beside_values(struct run *r, struct value values);

/* A member of such an item; 0 or empty: none of this type. */
int64_t beside_number(struct value item, const char *name);
struct slice beside_text(struct value item, const char *name);

#endif
