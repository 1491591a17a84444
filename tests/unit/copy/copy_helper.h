/* Two databases in memory, each behind a proxy that can refuse, lose replies, and play a stream.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_COPY_HELPER_H
#define THORPE_TESTS_COPY_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "api/local.h"
#include "copy/copy_internal.h"

/* a database */
struct side_of {
	struct database base;
	struct db *db;
	struct api *api;
	atomic_int calls;      /* through the door */
	int dies_at;           /* from this call on nothing answers; 0: never */
	bool dies_after;       /* the first of them is carried out */
	atomic_int refuses_in; /* so many BatchWriteItems from now one is refused; 0: none */
	/* A stream that is played instead of the real one. NULL: not. True: answered. */
	bool (*play)(struct side_of *s, struct arena *a, const char *operation, struct slice body,
		     struct backend_reply *r);
	atomic_int played, child;
};

struct door {
	struct backend backend;
	struct side_of *side;
	struct backend *real;
};

struct fixture {
	struct side_of from, to;
	struct copy_options o;
	struct copy_report report;
	struct arena arena;
	char said[8192];
	size_t said_n;
};

static inline void answer(struct arena *a, struct backend_reply *r, int status, const char *error, const char *body)
{
	*r = (struct backend_reply){ .status = status, .error = slice_str(error), .message = slice_str(error) };
	r->body = json_parse(a, slice_str(body));
	assert_non_null(r->body);
}

static inline void door_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			     struct backend_reply *r)
{
	struct door *d = (struct door *)b;
	int at = atomic_fetch_add(&d->side->calls, 1) + 1;
	bool dead = d->side->dies_at && at >= d->side->dies_at;

	if (!strcmp(operation, "BatchWriteItem") && atomic_load(&d->side->refuses_in) &&
	    atomic_fetch_sub(&d->side->refuses_in, 1) == 1) {
		answer(a, r, 400, "ValidationException", "{}");
		return;
	}
	if (d->side->play && !dead && d->side->play(d->side, a, operation, body, r))
		return;
	if (!dead || (d->side->dies_after && at == d->side->dies_at))
		backend_call(d->real, a, operation, body, r);
	if (dead)
		answer(a, r, 500, "ServiceUnavailable", "{}");
}

static inline void door_free(struct backend *b)
{
	struct door *d = (struct door *)b;

	backend_free(d->real);
	mem_free(d);
}

static inline struct backend *door_open(struct database *base)
{
	struct door *d = mem_zalloc(sizeof(*d));

	d->side = (struct side_of *)base;
	d->real = backend_local_new(d->side->api);
	d->backend = (struct backend){ .call = door_call, .free = door_free };
	return &d->backend;
}

static inline void side_open(struct side_of *s)
{
	char why[256];

	assert_int_equal(db_open(&(struct db_options){ .no_background = true }, &s->db, why, sizeof(why)), STORE_OPENED);
	s->api = api_new(&(struct api_options){ .db = s->db });
	s->base.open = door_open;
}

static inline void side_close(struct side_of *s)
{
	db_close(s->db);
	api_free(s->api);
	*s = (struct side_of){ 0 };
}

/* Past the door. */
static inline const struct json *ask(struct fixture *f, struct side_of *s, const char *operation, const char *fmt, ...)
{
	struct backend *b = backend_local_new(s->api);
	struct backend_reply r;
	struct slice body;
	va_list ap;

	va_start(ap, fmt);
	body = arena_vprintf(&f->arena, fmt, ap);
	va_end(ap);
	backend_call(b, &f->arena, operation, body, &r);
	if (r.status != 200)
		fail_msg("%s: %.*s", operation, SLICE_ARG(r.message));
	backend_free(b);
	return r.body;
}

static inline void hear(void *ctx, struct slice line)
{
	struct fixture *f = ctx;

	f->said_n += (size_t)snprintf(f->said + f->said_n, sizeof(f->said) - f->said_n, "%.*s\n", SLICE_ARG(line));
	if (f->said_n >= sizeof(f->said))
		f->said_n = sizeof(f->said) - 1;
}

#define TABLE "Things"
#define CREATE                                                                                                       \
	"{\"TableName\":\"" TABLE "\",\"AttributeDefinitions\":[{\"AttributeName\":\"k\",\"AttributeType\":\"S\"}]," \
	"\"KeySchema\":[{\"AttributeName\":\"k\",\"KeyType\":\"HASH\"}],\"BillingMode\":\"PAY_PER_REQUEST\","        \
	"\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"NEW_IMAGE\"}}"

static inline void put(struct fixture *f, struct side_of *s, const char *key, int v)
{
	ask(f, s, "PutItem", "{\"TableName\":\"" TABLE "\",\"Item\":{\"k\":{\"S\":\"%s\"},\"v\":{\"N\":\"%d\"}}}", key,
	    v);
}

static inline void drop(struct fixture *f, struct side_of *s, const char *key)
{
	ask(f, s, "DeleteItem", "{\"TableName\":\"" TABLE "\",\"Key\":{\"k\":{\"S\":\"%s\"}}}", key);
}

/* -1: none. */
static inline int get(struct fixture *f, struct side_of *s, const char *key)
{
	const struct json *r = ask(f, s, "GetItem", "{\"TableName\":\"" TABLE "\",\"Key\":{\"k\":{\"S\":\"%s\"}}}", key);
	struct slice v = json_get_text(json_get(json_get(r, "Item"), "v"), "N");
	char text[32] = "";

	if (!v.n)
		return -1;
	memcpy(text, v.p, v.n);
	return (int)strtol(text, NULL, 10);
}

static inline int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	arena_init(&f.arena);
	side_open(&f.from);
	side_open(&f.to);
	ask(&f, &f.from, "CreateTable", CREATE);
	f.o = (struct copy_options){ .from = { .database = &f.from.base, .name = "here" },
				     .to = { .database = &f.to.base, .name = "there" },
				     .table = SLICE(TABLE),
				     .parallel = 2,
				     .segments = 4,
				     .patience_ms = 20,
				     .quiet_ms = 1,
				     .expire_ms = 30,
				     .say = hear,
				     .ctx = &f };
	f.o.from.is_directory = true; /* nobody else writes: no need to be patient */
	*state = &f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	arena_release(&f->arena);
	side_close(&f->from);
	side_close(&f->to);
	return 0;
}

static inline void assert_same(struct fixture *f)
{
	enum copy_end end = copy_compare(&f->o, NULL, &f->report);

	if (end != COPY_DONE)
		fail_msg("%s", f->report.why);
}

#endif
