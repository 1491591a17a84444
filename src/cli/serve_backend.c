/* Databases at endpoints.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/serve_backend.h"
#include <stdio.h>
#include "base/alloc.h"
#include "cli/remote.h"

/* How often a stream is looked at that others may write to: DynamoDB allows five looks a second at a shard. */
#define POLL_MS 400

/* ---- what was given ---- */

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

bool serve_backend_is_near(const struct serve_backend *b)
{
	static const char *const near[] = { "http://127.", "http://localhost:", "http://[::1]" };

	for (size_t i = 0; i < sizeof(near) / sizeof(*near); i++)
		if (starts(b->where, near[i]))
			return true;
	return false;
}

bool serve_backend_parse(const char *value, struct serve_backend *out, char *why, size_t n)
{
	const char *equals = strchr(value, '='), *scheme = strstr(value, "://");

	*out = (struct serve_backend){ .where = value };
	if (equals && (!scheme || equals < scheme)) {
		out->design = slice_make(value, (size_t)(equals - value));
		out->where = equals + 1;
	}
	if (starts(out->where, "https://") || serve_backend_is_near(out))
		return true;
	snprintf(why, n, starts(out->where, "http://") ? "%s is not on this machine: use https" :
							 "'%s' is no endpoint: https://…, or http://127.0.0.1:8000", out->where);
	return false;
}

const struct serve_backend *serve_backend_of(const struct serve_backend *list, size_t count, struct slice design)
{
	const struct serve_backend *of_all = NULL;

	for (size_t i = 0; i < count; i++) {
		if (slice_equal(list[i].design, design))
			return &list[i];
		if (!list[i].design.n)
			of_all = &list[i];
	}
	return of_all;
}

/* ---- the database ---- */

/* Counts what is written. */
struct counting {
	struct backend backend;
	struct backend *remote;
	struct database_remote *database;
};

static bool is_write(const char *operation)
{
	static const char *const writes[] = { "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem" };

	for (size_t i = 0; i < sizeof(writes) / sizeof(*writes); i++)
		if (!strcmp(operation, writes[i]))
			return true;
	return false;
}

static void call(struct backend *b, struct arena *a, const char *operation, struct slice body, struct backend_reply *reply)
{
	struct counting *c = (struct counting *)b;

	backend_call(c->remote, a, operation, body, reply);
	/* Also when it failed: it may have been done. */
	if (reply->status != 400 && is_write(operation))
		atomic_fetch_add(&c->database->writes, 1);
}

static void counting_free(struct backend *b)
{
	struct counting *c = (struct counting *)b;

	backend_free(c->remote);
	mem_free(c);
}

static struct backend *open_remote(struct database *d)
{
	struct database_remote *r = (struct database_remote *)d;
	struct counting *c = mem_zalloc(sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct counting){ .backend = { .call = call, .free = counting_free }, .remote = remote_new(r->endpoint), .database = r };
	if (c->remote)
		return &c->backend;
	mem_free(c);
	return NULL;
}

static uint64_t latest(struct database *d)
{
	return 1 + atomic_load(&((struct database_remote *)d)->writes);
}

void database_remote_init(struct database_remote *d, const char *endpoint)
{
	*d = (struct database_remote){ .base = { .open = open_remote, .latest = latest, .poll_ms = POLL_MS, .is_remote = true },
				       .endpoint = endpoint };
}
