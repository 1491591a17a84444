/* The parameters of an access pattern from texts: from an address, or by name (POST /call).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_REST_APP_ACCESS_H
#define THORPE_APP_REST_APP_ACCESS_H

#include "app/read/read.h"

#define ACCESS_MOST_IDS 100

struct access_ask {
	const struct access *access;
	struct row params;
	struct slice *ids;
	size_t id_count;
	int64_t limit;
	struct slice cursor;
	bool shows; /* for an answer: with what `show` says */
};

void access_ask_init(struct access_ask *q, struct arena *a, const struct access *access);
/* A declared parameter, `limit` or `after`; an empty text counts as not given. INVALID: unknown, given twice, not of
 * its type. `any`: parameters of the path, too. */
bool access_give(struct run *r, struct access_ask *q, struct slice name, struct slice text, bool any) MUST_CHECK;
/* `id` of a batch; its ids are given one by one. */
bool access_takes_ids(const struct access_ask *q, struct slice name);
bool access_give_id(struct run *r, struct access_ask *q, struct slice id) MUST_CHECK;
bool access_run(struct run *r, struct access_ask *q, struct read_result *out) MUST_CHECK;

#endif
