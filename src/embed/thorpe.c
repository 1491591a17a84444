/* libthorpe: DynamoDB's operations called in process (include/thorpe.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "thorpe.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "api/api.h"
#include "base/alloc.h"

struct thorpe {
	struct db *db;
	struct api *api;
	/* A pool of what belongs to one calling thread at a time. */
	pthread_mutex_t lock;
	struct caller *idle;
};

struct caller {
	struct caller *next;
	struct thorpe *owner;
	struct api_thread *thread;
	struct arena arena;
};

static const char out_of_memory[] = "{\"__type\":\"" ERR_NS_DDB "InternalServerError\",\"message\":\"Out of memory\"}";

bool thorpe_open(const struct thorpe_options *o, struct thorpe **out, char *why, size_t n)
{
	struct db_options options = {
		.dir = o->dir,
		.durability = o->relaxed ? DURABILITY_RELAXED : DURABILITY_SYNCED,
		.region = o->region,
	};
	struct thorpe *t = mem_zalloc(sizeof(*t));

	if (!t) {
		snprintf(why, n, "out of memory");
		return false;
	}
	if (db_open(&options, &t->db, why, n) != STORE_OPENED) {
		mem_free(t);
		return false;
	}
	t->api = api_new(&(struct api_options){ .db = t->db, .region = o->region });
	if (!t->api) {
		snprintf(why, n, "out of memory");
		db_close(t->db);
		mem_free(t);
		return false;
	}
	pthread_mutex_init(&t->lock, NULL);
	*out = t;
	return true;
}

static void caller_free(struct caller *c)
{
	api_thread_free(c->thread);
	arena_release(&c->arena);
	mem_free(c);
}

void thorpe_close(struct thorpe *t)
{
	if (!t)
		return;
	while (t->idle) {
		struct caller *c = t->idle;

		t->idle = c->next;
		caller_free(c);
	}
	db_close(t->db);
	api_free(t->api);
	pthread_mutex_destroy(&t->lock);
	mem_free(t);
}

static struct caller *caller_new(struct thorpe *t)
{
	struct caller *c = mem_zalloc(sizeof(*c));

	if (!c)
		return NULL;
	c->owner = t;
	c->thread = api_thread_new(t->api);
	if (!c->thread) {
		mem_free(c);
		return NULL;
	}
	arena_init(&c->arena);
	return c;
}

static struct caller *caller_take(struct thorpe *t)
{
	pthread_mutex_lock(&t->lock);
	struct caller *c = t->idle;

	if (c)
		t->idle = c->next;
	pthread_mutex_unlock(&t->lock);
	return c ? c : caller_new(t);
}

/* The reply with its NUL; false: out of memory. */
static bool call(struct caller *c, const char *operation, struct slice body, struct thorpe_reply *reply)
{
	struct api_call *call = NULL;
	volatile bool ok = false;

	ARENA_TRY(&c->arena, {
		call = arena_new(&c->arena, struct api_call);
		call->target = api_target(&c->arena, operation);
		call->arena = &c->arena;
		call->body = body;
		ok = true;
	}, { ok = false; });
	if (!ok)
		return false;
	api_call_wait(c->owner->api, c->thread, call);
	ARENA_TRY(&c->arena, {
		reply->body = arena_cstr(&c->arena, call->reply);
		reply->size = call->reply.n;
		reply->status = call->status;
		reply->owner = c;
	}, { ok = false; });
	return ok;
}

void thorpe_call(struct thorpe *t, const char *operation, const char *body, size_t size, struct thorpe_reply *reply)
{
	struct caller *c = caller_take(t);

	if (c && call(c, operation, slice_make(body, size), reply))
		return;
	if (c)
		caller_free(c);
	*reply = (struct thorpe_reply){ .status = 500, .body = out_of_memory, .size = sizeof(out_of_memory) - 1 };
}

void thorpe_reply_free(struct thorpe_reply *reply)
{
	struct caller *c = reply->owner;

	if (!c)
		return;
	arena_clear(&c->arena);
	pthread_mutex_lock(&c->owner->lock);
	c->next = c->owner->idle;
	c->owner->idle = c;
	pthread_mutex_unlock(&c->owner->lock);
	*reply = (struct thorpe_reply){ .body = "" };
}
