/* See fake_api.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "base/alloc.h"
#include "json/json.h"

#include "fake_api.h"

#define QUEUE 1024

struct api {
	pthread_t writer;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct api_call *queue[QUEUE];
	size_t head, tail;
	struct api_call *held[QUEUE];
	int held_n;
	bool released, stop;
};

struct api_thread {
	int unused;
};

static bool is(const struct api_call *c, const char *name)
{
	struct slice wanted = slice_str(name);

	return c->target.n >= wanted.n && memcmp(c->target.p + c->target.n - wanted.n, wanted.p, wanted.n) == 0;
}

static void *write_thread(void *arg)
{
	struct api *api = arg;

	pthread_mutex_lock(&api->lock);
	while (!api->stop || api->head != api->tail) {
		struct api_call *c;

		if (api->head == api->tail) {
			pthread_cond_wait(&api->changed, &api->lock);
			continue;
		}
		c = api->queue[api->head++ % QUEUE];
		if (is(c, "Hold") && !api->released) {
			api->held[api->held_n++] = c;
			pthread_cond_broadcast(&api->changed);
			continue;
		}
		pthread_mutex_unlock(&api->lock);
		c->done(c);
		pthread_mutex_lock(&api->lock);
	}
	pthread_mutex_unlock(&api->lock);
	return NULL;
}

struct api *fake_api_new(void)
{
	struct api *api = mem_zalloc(sizeof(*api));

	if (!api)
		abort();
	pthread_mutex_init(&api->lock, NULL);
	pthread_cond_init(&api->changed, NULL);
	if (pthread_create(&api->writer, NULL, write_thread, api))
		abort();
	return api;
}

void fake_api_release(struct api *api)
{
	struct api_call *held[QUEUE];
	int n;

	pthread_mutex_lock(&api->lock);
	api->released = true;
	n = api->held_n;
	memcpy(held, api->held, sizeof(held));
	api->held_n = 0;
	pthread_mutex_unlock(&api->lock);
	for (int i = 0; i < n; i++)
		held[i]->done(held[i]);
}

void fake_api_await_held(struct api *api, int calls)
{
	pthread_mutex_lock(&api->lock);
	while (api->held_n < calls)
		pthread_cond_wait(&api->changed, &api->lock);
	pthread_mutex_unlock(&api->lock);
}

void fake_api_free(struct api *api)
{
	pthread_mutex_lock(&api->lock);
	api->stop = true;
	pthread_cond_broadcast(&api->changed);
	pthread_mutex_unlock(&api->lock);
	pthread_join(api->writer, NULL);
	pthread_mutex_destroy(&api->lock);
	pthread_cond_destroy(&api->changed);
	mem_free(api);
}

struct api_thread *api_thread_new(struct api *api)
{
	(void)api;
	return mem_zalloc(sizeof(struct api_thread));
}

void api_thread_free(struct api_thread *t)
{
	mem_free(t);
}

void api_start(struct api *api, struct api_thread *t, struct api_call *c)
{
	(void)t;
	c->api = api;
	if (!is(c, "Later") && !is(c, "Hold")) {
		c->done(c);
		return;
	}
	pthread_mutex_lock(&api->lock);
	api->queue[api->tail++ % QUEUE] = c;
	pthread_cond_broadcast(&api->changed);
	pthread_mutex_unlock(&api->lock);
}

static void answer_letters(struct api_call *c, size_t n)
{
	char *p = arena_alloc(c->arena, n);

	memset(p, 'x', n);
	c->reply = slice_make(p, n);
}

void api_finish(struct api_call *c)
{
	struct error e = { .code = ERR_UNKNOWN_OPERATION };

	c->status = 200;
	c->reply = c->body;
	if (is(c, "Big"))
		answer_letters(c, 100 * 1000);
	else if (is(c, "Huge"))
		answer_letters(c, 8 * 1000 * 1000);
	else if (!is(c, "Echo") && !is(c, "Later") && !is(c, "Hold")) {
		c->status = 400;
		c->reply = api_error_reply(c->arena, &e);
	}
}

struct slice api_error_reply(struct arena *a, const struct error *e)
{
	struct buf b;

	buf_init(&b, a);
	buf_printf(&b, "{\"__type\":\"%s%s\"", err_namespace(e->code), err_wire_name(e->code));
	if (e->message.n) {
		buf_lit(&b, ",\"message\":");
		json_string(&b, e->message);
	}
	buf_byte(&b, '}');
	return buf_slice(&b);
}

struct api_health api_health(struct api *api)
{
	(void)api;
	return (struct api_health){ 0 };
}

void api_metrics(struct api *api, struct buf *out)
{
	(void)api;
	buf_lit(out, "fake_metric 1\n");
}

bool api_has_faults(const struct api *api)
{
	(void)api;
	return false;
}

int64_t api_draw_faults(struct api *api, struct api_call *c)
{
	(void)api, (void)c;
	return 0;
}

int64_t api_fault_hold_ms(const struct api_call *c)
{
	(void)c;
	return 0;
}

bool api_fault_hangs_up(const struct api_call *c)
{
	(void)c;
	return false;
}

bool api_takes_faults(const struct api *api)
{
	(void)api;
	return false;
}

bool api_set_faults(struct api *api, struct arena *a, struct slice spec, struct slice *out)
{
	(void)api, (void)a, (void)spec, (void)out;
	return false;
}

/* One of each kind. */
const struct api_operation *api_operation(struct slice target)
{
	static const struct api_operation put = { "PutItem", OP_WRITE }, get = { "GetItem", OP_READ };

	if (slice_is(target, "DynamoDB_20120810.PutItem"))
		return &put;
	return slice_is(target, "DynamoDB_20120810.GetItem") ? &get : NULL;
}
