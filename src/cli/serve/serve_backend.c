/* Databases at endpoints.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/serve/serve_backend.h"
#include "api/api.h"
#include "app/db/beside.h"
#include "base/alloc.h"

/* How often a shard is looked at that others may write to: while there is something in it now and then, and while
 * there is not, as the Kinesis Client Library does. What this process writes is looked for at once. */
#define POLL_MS      250
#define POLL_MOST_MS 1000

/* ---- what was given ---- */

bool serve_backend_parse(const char *value, struct serve_backend *out, char *why, size_t n)
{
	const char *equals = strchr(value, '='), *colon = strchr(value, ':');
	struct remote_place place;

	*out = (struct serve_backend){ .where = value };
	if (equals && (!colon || equals < colon)) {
		out->design = slice_make(value, (size_t)(equals - value));
		out->where = equals + 1;
	}
	return remote_parse(out->where, &place, why, n);
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

/* Whether all it names are tables beside the designs' (app/db/beside.h): beats, positions, answers that are kept.
 * Nobody reads their streams. What names none this way is taken for one of a design's. */
static bool is_beside(struct slice body)
{
	static const char member[] = "\"TableName\":\"", ending[] = BESIDE_ENDING "\"";
	const char *end = body.p + body.n, *at = body.p;
	bool found = false;

	while ((at = memmem(at, (size_t)(end - at), member, sizeof(member) - 1))) {
		const char *quote;

		at += sizeof(member) - 1;
		quote = memchr(at, '"', (size_t)(end - at));
		if (!quote || quote - at < (ptrdiff_t)sizeof(ending) - 2 ||
		    memcmp(quote + 2 - sizeof(ending), ending, sizeof(ending) - 1) != 0)
			return false;
		found = true;
	}
	return found;
}

static void call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		 struct backend_reply *reply)
{
	struct counting *c = (struct counting *)b;

	backend_call(c->remote, a, operation, body, reply);
	/* Also when it failed: it may have been done. */
	if (reply->status != 400 && api_changes_items(api_operation_named(operation)) && !is_beside(body))
		atomic_fetch_add(&c->database->writes, 1);
}

static void label(struct backend *b, struct slice text)
{
	remote_label(((struct counting *)b)->remote, text);
}

/* Reads: there is nothing to count. */
static void execute_all(struct backend *b, struct arena *a, const struct request *q, struct reply *replies, size_t n)
{
	backend_execute_all(((struct counting *)b)->remote, a, q, replies, n);
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
	*c = (struct counting){
		.backend = { .call = call, .execute_all = execute_all, .label = label, .free = counting_free },
		.remote = remote_backend_new(r->remote),
		.database = r
	};
	if (c->remote)
		return &c->backend;
	mem_free(c);
	return NULL;
}

static uint64_t latest(struct database *d)
{
	return 1 + atomic_load(&((struct database_remote *)d)->writes);
}

static int64_t clock_off_ms(struct database *d)
{
	return remote_clock_off_ms(((struct database_remote *)d)->remote);
}

bool database_remote_open(struct database_remote *d, const char *where, char *why, size_t n)
{
	struct remote_options options = { 0 };
	struct endpoint address;
	char ignored[256];

	*d = (struct database_remote){ .base = { .open = open_remote,
						 .latest = latest,
						 .clock_off_ms = clock_off_ms,
						 .poll_ms = POLL_MS,
						 .poll_most_ms = POLL_MOST_MS,
						 .is_remote = true },
				       .where = where };
	if (!remote_parse(where, &options.place, why, n))
		return false;
	d->remote = remote_open(&options, why, n);
	d->is_far = !d->remote || !endpoint_parse(remote_url(d->remote), &address, ignored, sizeof(ignored)) ||
		    !address.loopback;
	return d->remote && remote_has_credentials(d->remote, why, n);
}

void database_remote_close(struct database_remote *d)
{
	remote_close(d->remote);
	d->remote = NULL;
}
