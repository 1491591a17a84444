/* From server to server: asking for records, and answering.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "json/json.h"
#include "process/relay/relay_internal.h"

#define CONNECT_MS  1000
#define AGAIN_US    2000000 /* Y2 */
#define AGAIN_TIMES 4       /* doublings */

static struct slice about_ask(const struct relay *y, struct arena *a)
{
	return arena_printf(a, "ask %.*s", SLICE_ARG(relay_design(y)->table));
}

/* What a reply is sealed for: the request it answers. */
static struct slice about_answer(struct arena *a, struct slice ask)
{
	struct buf b;

	buf_init(&b, a);
	buf_lit(&b, "answer ");
	buf_add(&b, ask.p, SEAL_HEAD);
	return buf_slice(&b);
}

/* ---- asking ---- */

/* With y->asking held. The entry of that server; else a free place, or the one that may be asked again first. */
static struct peer *peer_of(struct relay *y, const char *id)
{
	struct peer *best = &y->peers[0];

	for (size_t i = 0; i < PEERS_MOST; i++) {
		struct peer *p = &y->peers[i];

		if (!strcmp(p->id, id))
			return p;
		if (p->next_us < best->next_us)
			best = p;
	}
	*best = (struct peer){ 0 };
	memcpy(best->id, id, sizeof(best->id));
	return best;
}

static void note_failure(struct peer *p, const char *address, const char *why)
{
	int64_t wait = AGAIN_US << (p->failures < AGAIN_TIMES ? p->failures : AGAIN_TIMES);

	if (!p->failures++)
		log_warn("live lists: the server at %s does not hand on records (%s): its shards are read from the stream",
			 address, why);
	p->next_us = clock_monotonic_us() + wait;
}

static struct slice text_of(struct arena *a, int64_t now_ms, const struct tail_ask *ask)
{
	struct buf b;

	buf_init(&b, a);
	buf_printf(&b, "{\"at\":%lld,\"stream\":", (long long)now_ms);
	json_string(&b, ask->stream);
	buf_lit(&b, ",\"shard\":");
	json_string(&b, ask->shard);
	buf_lit(&b, ",\"after\":");
	json_string(&b, ask->after);
	buf_printf(&b, ",\"look\":%s}", ask->look ? "true" : "false");
	return buf_slice(&b);
}

/* A request and its reply: not in an arena, for curl must not be left by longjmp. */
static void post(struct relay *y, const char *url, struct slice body, struct fetch_reply *reply)
{
	static const char *const headers[] = { "Content-Type: application/octet-stream", "Expect:", NULL };
	struct fetch_request q = { .method = "POST",
				   .url = url,
				   .headers = headers,
				   .body = body,
				   .connect_ms = CONNECT_MS,
				   .total_ms = RELAY_TIMEOUT_MS,
				   .most = RELAY_REPLY_BYTES };

	*reply = (struct fetch_reply){ .end = FETCH_NO_MEMORY };
	if (!y->fetch)
		y->fetch = fetch_new(&(struct fetch_options){ .direct = true });
	if (y->fetch)
		fetch_send(y->fetch, &q, reply);
}

static void free_body(void *p)
{
	mem_free(p);
}

struct slice peer_ask(struct relay *y, struct run *r, const struct lease_owner *owner, const struct tail_ask *ask)
{
	const char *url = arena_cstr(r->arena, arena_printf(r->arena, "http://%s" RELAY_PATH "/%.*s", owner->address,
							    SLICE_ARG(relay_design(y)->name)));
	struct slice about = about_ask(y, r->arena), text = text_of(r->arena, r->now_ms, ask), sealed, answer = { 0 };
	struct fetch_reply reply = { 0 };
	struct peer *p;
	bool asked, ok;

	pthread_mutex_lock(&y->asking);
	p = peer_of(y, owner->id);
	asked = p->next_us <= clock_monotonic_us();
	pthread_mutex_unlock(&y->asking);
	sealed = asked ? seal(&y->sealer, r->arena, about, text) : SLICE("");
	if (!sealed.n)
		return SLICE("");
	pthread_mutex_lock(&y->asking);
	post(y, url, sealed, &reply);
	pthread_mutex_unlock(&y->asking);
	if (reply.body)
		arena_defer(r->arena, free_body, reply.body);
	ok = reply.end == FETCH_ANSWERED && reply.status == 200 &&
	     seal_open(&y->sealer, r->arena, about_answer(r->arena, sealed), slice_make(reply.body, reply.n), &answer);
	pthread_mutex_lock(&y->asking);
	p = peer_of(y, owner->id);
	if (ok)
		p->failures = 0;
	else
		note_failure(p, owner->address,
			     reply.end != FETCH_ANSWERED ? reply.why
			     : reply.status == 403 ? "it refuses this server: do both have the same secret and time?"
						   : "its reply cannot be understood");
	pthread_mutex_unlock(&y->asking);
	if (ok)
		atomic_fetch_add(&y->taken, 1);
	return ok ? answer : SLICE("");
}

/* ---- answering ---- */

/* With y->answering held. The entry of that salt; else a free place, or the one heard of longest ago. */
static struct sender *sender_of(struct relay *y, struct slice salt)
{
	struct sender *best = &y->senders[0];

	for (size_t i = 0; i < SENDERS_MOST; i++) {
		struct sender *s = &y->senders[i];

		if (s->at_ms && !memcmp(s->salt, salt.p, SEAL_SALT))
			return s;
		if (s->at_ms < best->at_ms)
			best = s;
	}
	*best = (struct sender){ 0 };
	memcpy(best->salt, salt.p, SEAL_SALT);
	return best;
}

/* Y3 */
static bool is_new(struct relay *y, struct slice sealed, int64_t at_ms, int64_t now_ms)
{
	struct sender *s;
	bool ok;

	if (at_ms < now_ms - RELAY_SKEW_MS || at_ms > now_ms + RELAY_SKEW_MS)
		return false;
	pthread_mutex_lock(&y->answering);
	s = sender_of(y, seal_salt(sealed));
	ok = seal_number(sealed) > s->number;
	if (ok)
		s->number = seal_number(sealed);
	s->at_ms = now_ms;
	pthread_mutex_unlock(&y->answering);
	return ok;
}

/* False: not from a server of this table, or a replay of an earlier request. */
static bool open_ask(struct relay *y, struct arena *a, struct slice body, struct tail_ask *out)
{
	const struct json *j, *at, *look;
	struct slice text;

	if (!seal_open(&y->sealer, a, about_ask(y, a), body, &text))
		return false;
	j = json_parse(a, text);
	at = json_get(j, "at");
	look = json_get(j, "look");
	if (!json_is(at, JSON_INT) || !is_new(y, body, at->integer, app_now_ms(y->app)))
		return false;
	*out = (struct tail_ask){ .stream = json_get_text(j, "stream"),
				  .shard = json_get_text(j, "shard"),
				  .after = json_get_text(j, "after"),
				  .look = json_is(look, JSON_BOOL) && look->boolean };
	return out->after.n < SPOT_ROOM && out->shard.n < LEASE_SHARD_ROOM;
}

static struct slice refuse_ask(struct arena *a)
{
	struct buf b;

	buf_init(&b, a);
	page_begin(&b, PAGE_NOT_OWNER, &(struct tail_page){ 0 });
	return buf_slice(&b);
}

int relay_answer(struct relay *y, struct arena *a, struct slice body, struct slice *reply)
{
	struct tail_ask ask;
	struct slice answer;

	*reply = SLICE("");
	if (!y->serves || !open_ask(y, a, body, &ask)) {
		atomic_fetch_add(&y->refused, 1);
		return 403;
	}
	answer = lease_is_mine(y->leases, ask.shard, clock_monotonic_us()) ? rings_answer(&y->rings, a, &ask)
									   : refuse_ask(a);
	*reply = seal(&y->sealer, a, about_answer(a, body), answer);
	atomic_fetch_add(&y->given, 1);
	return reply->n ? 200 : 500;
}
