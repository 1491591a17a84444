/* One request and its reply: signed, sent, checked, read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "remote/remote_internal.h"
#include "remote/sign.h"

#define DATED_US     500000 /* slower replies say nothing about the clock */
#define OFF_LEAST_MS 3000
#define REPLY_MOST   ((size_t)64 << 20) /* the largest is BatchGetItem's: 16 MB of items as JSON */

static const struct json empty = { .type = JSON_OBJECT };

static void fail_attempt(struct attempt *t, enum retry_kind kind, enum remote_trouble trouble, bool maybe_done,
			 struct slice message)
{
	t->kind = kind;
	t->trouble = trouble;
	t->maybe_done = maybe_done;
	t->reply = (struct backend_reply){
		.status = 500, .body = &empty, .error = SLICE(REMOTE_UNAVAILABLE), .message = message
	};
}

/* ---- no answer ---- */

static void read_no_answer(struct remote_backend *b, struct arena *a, const struct fetch_reply *r, struct attempt *t)
{
	struct slice message = arena_printf(a, "%s: %s", b->remote->database.url, r->why);

	switch (r->end) {
	case FETCH_NO_MEMORY: arena_out_of_memory(a);
	case FETCH_NOT_SENT: fail_attempt(t, RETRY_TRANSIENT, REMOTE_CONNECT, false, message); break;
	case FETCH_LATE: fail_attempt(t, RETRY_TRANSIENT, REMOTE_LATE, true, message); break;
	case FETCH_STOPPED: fail_attempt(t, RETRY_NOT, REMOTE_CUT, true, message); break;
	case FETCH_ANSWERED:
	case FETCH_CUT: fail_attempt(t, RETRY_TRANSIENT, REMOTE_CUT, true, message); break;
	}
}

/* ---- an answer ---- */

/* com.amazonaws.dynamodb.v20120810#ResourceNotFoundException */
static struct slice without_namespace(struct slice type)
{
	const char *sign = type.n ? memchr(type.p, '#', type.n) : NULL;

	return sign ? slice_make(sign + 1, type.n - (size_t)(sign + 1 - type.p)) : type;
}

static enum remote_trouble trouble_of(enum retry_kind kind)
{
	switch (kind) {
	case RETRY_TRANSIENT: return REMOTE_SERVER;
	case RETRY_THROTTLED: return REMOTE_THROTTLED;
	case RETRY_SKEWED: return REMOTE_SKEWED;
	case RETRY_EXPIRED: return REMOTE_CREDENTIALS;
	case RETRY_NOT: break;
	}
	return REMOTE_REFUSED;
}

static void read_error(struct remote_backend *b, struct arena *a, const struct fetch_reply *f, struct attempt *t)
{
	struct backend_reply *r = &t->reply;
	struct slice type = json_get_text(r->body, "__type");

	if (!type.n)
		type = arena_copy(a, slice_str(f->type));
	r->error = without_namespace(type);
	r->message = json_get_text(r->body, "message");
	if (!r->message.n) /* some errors have it with a capital */
		r->message = json_get_text(r->body, "Message");
	if (!r->error.n) {
		r->error = r->status >= 500 ? SLICE(REMOTE_UNAVAILABLE) : SLICE("UnexpectedAnswer");
		r->message = arena_printf(a, "%s answered %d, and not as DynamoDB does: is it the address of one?",
					  b->remote->database.url, r->status);
	}
	if (!r->message.n)
		r->message = r->error;
	t->kind = retry_kind_of(r->status, r->error, r->message, r->body);
	t->trouble = trouble_of(t->kind);
	t->maybe_done = r->status >= 500;
}

/* False: the checksum differs, or what is packed cannot be unpacked. */
static bool unpack(struct remote_backend *b, struct arena *a, const struct fetch_reply *f, struct slice *text)
{
	*text = slice_make(f->n ? f->body : "", f->n);
	if (f->has_crc32 && gzip_crc32(*text) != f->crc32)
		return false;
	return !f->gzip || gunzip(&b->gzip, a, *text, REPLY_MOST, text) == GUNZIP_OK;
}

static void read_answer(struct remote_backend *b, struct arena *a, const struct fetch_reply *f, struct attempt *t)
{
	const struct json *body = NULL;
	struct slice text;
	bool whole = unpack(b, a, f, &text);

	if (whole)
		body = json_parse(a, text);
	if (f->status == 200 && !json_is(body, JSON_OBJECT)) {
		fail_attempt(t, RETRY_TRANSIENT, REMOTE_DAMAGED, true,
			     arena_printf(a, "%s: %s", b->remote->database.url,
					  whole ? "the reply is not JSON" : "the reply came damaged"));
		return;
	}
	t->reply = (struct backend_reply){ .status = f->status, .body = json_is(body, JSON_OBJECT) ? body : &empty };
	if (f->status != 200)
		read_error(b, a, f, t);
}

/* ---- sending ---- */

static const char *const *headers_of(struct remote_backend *b, struct arena *a, const struct repeat_plan *p,
				     const struct endpoint *e)
{
	struct remote *r = b->remote;
	const struct credentials *c = b->credentials;
	struct sign_ask s = {
		.endpoint = e,
		.region = r->region,
		.service = "dynamodb",
		.content_type = "application/x-amz-json-1.0",
		.target = arena_cstr(a, arena_printf(a, "%s_20120810.%s", p->streams ? "DynamoDBStreams" : "DynamoDB",
						     p->operation)),
		.body = p->body,
		.now_ms = clock_now_ms(r->options.clock) + atomic_load(&r->skew_ms),
		.id = c->id,
		.secret = c->secret,
		.token = c->token,
		.gzip = r->options.gzip,
		.cache = &b->cache,
	};

	if (b->generation != c->generation) {
		sigv4_forget(&b->cache);
		b->generation = c->generation;
	}
	return sign_headers(a, &s);
}

static void free_body(void *p)
{
	mem_free(p);
}

static long least(long a, int64_t b)
{
	return b < a ? (b < 1 ? 1 : (long)b) : a;
}

/* A date has whole seconds and is as old as the reply is slow: a small difference means nothing. */
static void note_clock(struct remote *r, int64_t date_ms, int64_t took_us)
{
	int64_t was = atomic_load_explicit(&r->off_ms, memory_order_relaxed), off, change;

	if (date_ms < 0 || took_us > DATED_US)
		return;
	off = date_ms + 500 - clock_now_ms(r->options.clock);
	if (off < OFF_LEAST_MS && off > -OFF_LEAST_MS)
		off = 0;
	change = off - was;
	if (change && (!off || change > OFF_LEAST_MS / 2 || change < -OFF_LEAST_MS / 2))
		atomic_store_explicit(&r->off_ms, off, memory_order_relaxed);
	if (off && !was)
		log_warn("the clock of %s is %lld s %s this machine's", r->database.host,
			 (long long)(off < 0 ? -off : off) / 1000, off < 0 ? "behind" : "ahead of");
}

void attempt_make(struct remote_backend *b, struct arena *a, const struct repeat_plan *p, int64_t deadline_us,
		  struct attempt *t)
{
	struct remote *r = b->remote;
	const struct endpoint *e = p->streams ? &r->streams : &r->database;
	/* Everything from the arena is there before a connection is taken: leaving by longjmp would keep it. */
	struct fetch_request q = {
		.method = "POST", .url = e->url, .headers = headers_of(b, a, p, e), .body = p->body, .most = REPLY_MOST
	};
	struct fetch *f = pool_take(r->pool, deadline_us);
	int64_t left_ms = (deadline_us - clock_monotonic_us()) / 1000, sent_us;
	struct fetch_reply reply;

	*t = (struct attempt){ .retry_after_ms = -1, .date_ms = -1 };
	if (!f) {
		fail_attempt(t, RETRY_NOT, REMOTE_BUSY, false,
			     arena_printf(a, "%s: %s", e->url,
					  atomic_load(&r->stop) ? "stopping" : "all connections are in use"));
		return;
	}
	q.connect_ms = least(r->options.connect_ms, left_ms);
	q.total_ms = least(r->options.attempt_ms, left_ms);
	sent_us = clock_monotonic_us();
	fetch_send(f, &q, &reply);
	pool_give(r->pool, f);
	if (reply.end == FETCH_ANSWERED)
		note_clock(r, reply.date_ms, clock_monotonic_us() - sent_us);
	if (reply.body)
		arena_defer(a, free_body, reply.body);
	t->retry_after_ms = reply.retry_after_ms;
	t->date_ms = reply.date_ms;
	if (reply.end == FETCH_ANSWERED)
		read_answer(b, a, &reply, t);
	else
		read_no_answer(b, a, &reply, t);
}
