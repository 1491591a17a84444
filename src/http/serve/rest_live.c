/* Connects the hub, which knows topics, with connections.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http/loop.h"
#include "http/serve/rest_live.h"

struct watch {
	struct sse stream;
	struct app_watcher asked;
	struct live_watcher watcher;
	struct live *live;
	struct watch *next, **at; /* in its place's list; at NULL: not adopted */
	int64_t expires_ms;       /* the caller's token; 0: never */
	char *id;                 /* Last-Event-ID, cut if longer than ours; NULL: none, or already used */
};

static struct watch *of_stream(struct sse *s)
{
	return (struct watch *)s; /* its first member */
}

/* ---- events for the loop ---- */

struct post {
	struct loop_post post;
	struct live_event event;
};

static void hand_out(struct loop *l, struct watch *w, const struct live_event *e)
{
	if (e->sequence > w->watcher.from && e->bytes) {
		loop_count(&l->counters.events, 1);
		if (!sse_push(&w->stream, e->bytes))
			return;
	}
	if (e->end)
		sse_end(&w->stream);
	loop_turn_stream(l, &w->stream);
}

static void on_event(struct loop *l, struct loop_post *p)
{
	struct post *post = (struct post *)p;

	for (struct watch *w = post->event.place->first, *next; w; w = next) {
		next = w->next;
		hand_out(l, w, &post->event);
	}
	live_posted(&post->event);
	mem_free(post);
}

/* On the hub's thread. */
static bool take_event(struct live_target *t, const struct live_event *e)
{
	struct loop *l = (struct loop *)((char *)t - offsetof(struct loop, live));
	struct post *post = mem_alloc(sizeof(*post));

	if (!post) {
		loop_lose_streams(l);
		return false;
	}
	*post = (struct post){ .post = { .run = on_event }, .event = *e };
	loop_post(l, &post->post);
	return true;
}

/* ---- a watcher's life ---- */

static void take_pending(void *ctx, uint64_t sequence, struct live_bytes *b)
{
	struct watch *w = ctx;

	w->watcher.from = sequence;    /* the watcher skips what its list has reported already */
	(void)sse_push(&w->stream, b); /* no connection yet, so it cannot close */
	loop_count(&w->stream.loop->counters.events, 1);
}

static void drop_id(struct watch *w)
{
	mem_free(w->id);
	w->id = NULL;
}

static bool begin_events(struct sse *s)
{
	struct watch *w = of_stream(s);
	struct watch **first;

	if (!live_adopt(&w->watcher, take_pending, w)) {
		loop_count(&s->loop->counters.watchers_cut, 1);
		return false;
	}
	drop_id(w);
	first = (struct watch **)&w->watcher.place->first;
	w->next = *first;
	if (w->next)
		w->next->at = &w->next;
	w->at = first;
	*first = w;
	return true;
}

static void drop_watch(struct sse *s)
{
	struct watch *w = of_stream(s);

	if (w->at) {
		*w->at = w->next;
		if (w->next)
			w->next->at = w->at;
	}
	live_leave(&w->watcher);
	sse_release(s);
	drop_id(w);
	mem_free(w);
}

/* A comment, and the position: a watcher of a quiet list can resume without reading it again. */
static void keep_alive(struct watch *w)
{
	struct sse *s = &w->stream;
	char position[LIVE_ID_ROOM], text[LIVE_ID_ROOM + 32];
	bool has_position = live_position(&w->watcher, position) > 0;
	struct live_bytes *b;
	int n;

	loop_take_posts(s->loop); /* earlier posts come before this position */
	if (!s->conn || uv_now(&s->loop->uv) - s->sent_at < s->loop->limits->keep_alive_ms)
		return;
	n = snprintf(text, sizeof(text), ": keep-alive\n%s%s%s\n", has_position ? "id: " : "",
		     has_position ? position : "", has_position ? "\n" : "");
	b = live_bytes_new(slice_make(text, (size_t)n));
	if (b && sse_push(s, b))
		sse_flush(s);
	live_bytes_unref(b);
}

static void tick(struct sse *s)
{
	struct watch *w = of_stream(s);

	if (w->expires_ms && clock_now_ms(s->loop->clock) >= w->expires_ms) {
		sse_end(s);
		sse_flush(s);
	} else if (w->watcher.place && uv_now(&s->loop->uv) - s->sent_at >= s->loop->limits->keep_alive_ms) {
		keep_alive(w);
	}
}

static const struct sse_ops ops = { begin_events, tick, drop_watch };

/* ---- asking ---- */

static bool watch(struct app_watcher *asked, struct run *r, const struct access *access, const struct row *params,
		  struct app_reply *reply)
{
	struct watch *w = (struct watch *)((char *)asked - offsetof(struct watch, asked));
	struct live_ask ask = { access, params, slice_str(w->id ? w->id : ""), &w->stream.loop->live };
	struct buf b;

	buf_init(&b, r->arena);
	if (!live_watch(w->live, r, &ask, &w->watcher, &b))
		return false;
	w->expires_ms = r->caller.expires_ms;
	*reply = (struct app_reply){ .status = 200,
				     .type = SLICE(LIVE_TYPE),
				     .body = buf_slice(&b),
				     .headers = SLICE("Cache-Control: no-store\r\nX-Accel-Buffering: no\r\n") };
	return true;
}

struct sse *rest_live_new(struct live *live, struct loop *l, struct slice last_event_id)
{
	struct watch *w = mem_zalloc(sizeof(*w));

	if (!w)
		return NULL;
	if (!l->live.post)
		l->live.post = take_event;
	sse_init(&w->stream, &ops, l);
	w->asked.watch = watch;
	w->live = live;
	if (last_event_id.n)
		w->id = mem_strndup(last_event_id.p, last_event_id.n < LIVE_ID_ROOM ? last_event_id.n : LIVE_ID_ROOM);
	if (w->id || !last_event_id.n)
		return &w->stream;
	drop_watch(&w->stream);
	return NULL;
}

struct app_watcher *rest_live_watcher(struct sse *s)
{
	return &of_stream(s)->asked;
}

bool rest_live_is_stream(const struct app_reply *reply)
{
	return reply->status == 200 && slice_is(reply->type, LIVE_TYPE);
}
