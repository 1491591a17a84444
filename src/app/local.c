/* The backend in this process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/database.h"
#include "api/direct.h"
#include "api/direct_write.h"
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

static bool get(struct backend *b, struct arena *a, struct slice table, struct value key, struct value *item)
{
	return api_get_item(((struct local *)b)->api, a, table, key, item);
}

static uint64_t version(struct backend *b, struct arena *a, struct slice table, struct value key)
{
	return api_item_version(((struct local *)b)->api, a, table, key);
}

static bool query(struct backend *b, struct arena *a, const struct api_query *q, struct api_page *page)
{
	struct local *l = (struct local *)b;

	return api_query_items(l->api, l->thread, a, q, page);
}

static bool batch_get(struct backend *b, struct arena *a, struct slice table, const struct value *keys, size_t n,
		      struct value *items)
{
	return api_batch_get_items(((struct local *)b)->api, a, table, keys, n, items);
}

static bool records(struct backend *b, struct arena *a, struct slice iterator, int64_t limit, struct api_records *out)
{
	return api_get_records(((struct local *)b)->api, a, iterator, limit, out);
}

static struct api_write *write_start(struct backend *b, struct arena *a, const struct api_action *list, size_t n, unsigned how)
{
	struct local *l = (struct local *)b;

	return api_write_start(l->api, l->thread, a, list, n, how);
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
	l->backend = (struct backend){ .call = call, .get = get, .version = version, .query = query, .batch_get = batch_get, .records = records,
				       .write = write_start, .free = local_free };
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
