/* The backend in this process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/local.h"
#include "api/execute.h"
#include "base/alloc.h"

struct local {
	struct backend backend;
	struct api *api;
	struct api_thread *thread;
};

static void read_error(struct backend_reply *r, struct slice type)
{
	const struct json *message = json_get(r->body, "message");

	r->error = type;
	if (!message)
		message = json_get(r->body, "Message");
	r->message = json_is(message, JSON_STRING) ? message->string : type;
}

static void call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		 struct backend_reply *reply)
{
	static const struct json empty = { .type = JSON_OBJECT };
	struct local *l = (struct local *)b;
	struct api_call c = { .arena = a, .target = api_target(a, operation), .body = body };

	api_call_wait(l->api, l->thread, &c);
	*reply = (struct backend_reply){ .status = c.status, .body = json_parse(a, c.reply) };
	if (!json_is(reply->body, JSON_OBJECT))
		reply->body = &empty;
	if (c.status != 200)
		read_error(reply, c.error_type);
}

static void execute(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	api_execute(((struct local *)b)->api, a, q, reply);
}

struct local_started {
	struct started base;
	struct api_started *write;
};

static bool wait_for(struct started *s)
{
	return api_execute_wait(((struct local_started *)s)->write);
}

static struct started *start(struct backend *b, struct arena *a, const struct request *q)
{
	struct local_started *s = arena_new(a, struct local_started);

	s->base.wait = wait_for;
	s->write = api_execute_start(((struct local *)b)->api, a, q);
	return s->write ? &s->base : NULL;
}

static uint64_t version(struct backend *b, struct arena *a, struct slice table, struct value key)
{
	return api_item_version(((struct local *)b)->api, a, table, key);
}

static void local_free(struct backend *b)
{
	struct local *l = (struct local *)b;

	api_thread_free(l->thread);
	mem_free(l);
}

struct backend *backend_local_new(struct api *api)
{
	struct local *l = mem_zalloc(sizeof(*l));

	if (!l)
		return NULL;
	l->backend = (struct backend){
		.call = call, .execute = execute, .start = start, .version = version, .free = local_free
	};
	l->api = api;
	l->thread = api_thread_new(api);
	if (!l->thread) {
		mem_free(l);
		return NULL;
	}
	return &l->backend;
}

static struct backend *open_local(struct database *d)
{
	return backend_local_new(((struct database_local *)d)->api);
}

static uint64_t latest(struct database *d)
{
	return api_stream_latest(((struct database_local *)d)->api);
}

static uint64_t aging(struct database *d)
{
	return api_stream_aging(((struct database_local *)d)->api);
}

void database_local_init(struct database_local *l, struct api *api)
{
	*l = (struct database_local){ .base = { .open = open_local, .latest = latest, .aging = aging }, .api = api };
}
