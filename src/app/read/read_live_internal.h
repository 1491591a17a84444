/* Shared by the files of read_live.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_READ_READ_LIVE_INTERNAL_H
#define THORPE_APP_READ_READ_LIVE_INTERNAL_H

#include "app/read/read_live.h"
#include "app/read/read_where.h"

struct live_pattern {
	struct reading g;
	struct pattern p;
	struct row params;
	bool none; /* no row can be there */
};

/* A pattern as it is now, and whether the caller may run it. */
bool live_open(struct run *r, const struct access *access, const struct row *given, struct live_pattern *o,
	       bool *may) MUST_CHECK;
/* The patterns whose rows are the list's: those of a merge, or itself. */
bool live_parts(struct pattern *p, struct pattern ***parts, size_t *n) MUST_CHECK;
/* Whether an item has all attributes of a key. */
bool live_stands_in(const struct key_schema *k, struct value image);

static inline bool live_is_single(const struct access *a)
{
	return a->kind == ACCESS_GET || a->single;
}

#endif
