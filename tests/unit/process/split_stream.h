/* The database in this process as one at an address shows it: the shards of its stream end when a test says so, and go
 * on in children.
 *
 *     app_fixture_open(&f, …);
 *     split_stream_show(&f.database);          backends opened from now on see shards as they are
 *     split_stream_now(f.db, "Test");          all open shards end
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SPLIT_STREAM_H
#define THORPE_TESTS_SPLIT_STREAM_H

#include <stdlib.h>
#include "api/local.h"
#include "table/control/control.h"

struct split_backend {
	struct backend backend; /* first */
	struct backend *local;
	struct api *api;
	struct api_thread *thread;
};

static inline bool split_stream_is_of_streams(const char *operation)
{
	return !strcmp(operation, "DescribeStream") || !strcmp(operation, "GetShardIterator") ||
	       !strcmp(operation, "GetRecords");
}

static inline void split_stream_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
				     struct backend_reply *reply)
{
	struct split_backend *s = (struct split_backend *)b;
	struct api_call c = { .arena = a, .target = api_target(a, operation), .body = body, .outside = true };

	if (!split_stream_is_of_streams(operation)) {
		backend_call(s->local, a, operation, body, reply);
		return;
	}
	api_call_wait(s->api, s->thread, &c);
	*reply = (struct backend_reply){ .status = c.status, .body = json_parse(a, c.reply) };
	if (c.status != 200)
		reply->error = reply->message = c.error_type;
}

static inline void split_stream_execute(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	if (q->kind == REQUEST_RECORDS)
		request_by_document(b, a, q, reply);
	else
		backend_execute(((struct split_backend *)b)->local, a, q, reply);
}

static inline struct started *split_stream_start(struct backend *b, struct arena *a, const struct request *q)
{
	return backend_start(((struct split_backend *)b)->local, a, q);
}

static inline uint64_t split_stream_version(struct backend *b, struct arena *a, struct slice table, struct value key)
{
	struct backend *local = ((struct split_backend *)b)->local;

	return local->version(local, a, table, key);
}

static inline void split_stream_free(struct backend *b)
{
	struct split_backend *s = (struct split_backend *)b;

	backend_free(s->local);
	api_thread_free(s->thread);
	free(s);
}

static inline struct backend *split_stream_open(struct database *d)
{
	struct split_backend *s = calloc(1, sizeof(*s));

	s->api = ((struct database_local *)d)->api;
	s->local = backend_local_new(s->api);
	s->thread = api_thread_new(s->api);
	s->backend = (struct backend){ .call = split_stream_call,
				       .execute = split_stream_execute,
				       .start = split_stream_start,
				       .version = split_stream_version,
				       .free = split_stream_free };
	return &s->backend;
}

static inline void split_stream_show(struct database_local *d)
{
	d->base.open = split_stream_open;
}

static inline bool split_stream_now(struct db *db, const char *table)
{
	struct control c = { .kind = CONTROL_SPLIT_STREAM };
	struct write_request r = { .mode = REQUEST_CONTROL, .control = &c };
	const struct table *t;
	struct arena a;

	arena_init(&a);
	t = catalog_table(db_catalog(db, &a), slice_str(table));
	c.table_id = t->id;
	c.stream_id = t->stream->id;
	r.arena = &a;
	db_submit_wait(db, &r);
	arena_release(&a);
	return r.error.code == ERR_NONE && c.worked == 1;
}

#endif
