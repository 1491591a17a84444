/* Answers under an Idempotency-Key where several servers share a table: in the table beside the design's (beside.h),
 * for ten minutes.
 *
 *   {PK: REPLY#<hex of the key's hash>, SK: -, digest, turn, state: running | written | done, since, patience,
 *    expires, key: of the item (written), and the members of the answer (done)}
 *
 * Invariants
 *   S1  Each request that goes ahead has its own `turn`, and it alone may change the item.
 *   S2  A running request is taken over when it is `patience` old: its server is gone. A single write can then no
 *       longer succeed (receipt.h), so its patience is RECEIPT_DEAD_MS only. Where there is no receipt, the
 *       ClientRequestToken, which is derived from the same key, keeps a write that succeeded after all from being
 *       repeated.
 *   S3  A written one is never taken over and never deleted: its answer is made again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/rest/idempotency.h"
#include "app/db/beside.h"
#include "base/log.h"
#include "base/ulid.h"

#define KEPT_S          (10 * 60)
#define DEAD_MS         60000
#define RECEIPT_DEAD_MS 10000
#define MOST_BYTES      (350 * 1024) /* of an answer; an item may have 400 KB */
#define TRIES           4
#define MEMBERS         18

/* ---- items ---- */

struct parts {
	struct arena *arena;
	struct value_member list[MEMBERS];
	size_t n;
};

static void add_part(struct parts *p, const char *name, struct value v)
{
	p->list[p->n++] = (struct value_member){ slice_str(name), v };
}

static void add_text(struct parts *p, const char *name, struct slice s)
{
	if (s.n)
		add_part(p, name, value_make_s(p->arena, s));
}

static void add_number(struct parts *p, const char *name, int64_t n)
{
	add_part(p, name, value_make_i64(p->arena, n));
}

static void add_answer(struct parts *p, const struct answer *w)
{
	add_number(p, "status", w->status);
	add_number(p, "type", w->type);
	add_number(p, "flags", (w->vary ? 1 : 0) | (w->challenge ? 2 : 0));
	add_number(p, "allow", w->allow);
	add_number(p, "retry_after", w->retry_after);
	add_text(p, "body", w->body);
	add_text(p, "location", w->location);
	add_text(p, "etag", w->etag);
	add_text(p, "cache", w->cache);
}

static struct answer answer_of(struct value item)
{
	int64_t flags = beside_number(item, "flags");

	return (struct answer){
		.status = (int)beside_number(item, "status"),
		.type = (enum answer_type)beside_number(item, "type"),
		.vary = flags & 1,
		.challenge = flags & 2,
		.allow = (unsigned)beside_number(item, "allow"),
		.retry_after = (int)beside_number(item, "retry_after"),
		.body = beside_text(item, "body"),
		.location = beside_text(item, "location"),
		.etag = beside_text(item, "etag"),
		.cache = beside_text(item, "cache"),
	};
}

/* `answer` NULL: running. */
static struct value make_item(struct run *r, const struct idempotency_shared *s, const struct answer *answer)
{
	struct parts p = { .arena = r->arena };

	add_part(&p, "PK", value_get(s->receipt.key, SLICE("PK")));
	add_part(&p, "SK", value_get(s->receipt.key, SLICE("SK")));
	add_part(&p, "digest", s->digest);
	add_part(&p, "turn", s->receipt.turn);
	add_text(&p, "state", answer ? SLICE("done") : SLICE("running"));
	add_number(&p, "since", s->since_ms);
	add_number(&p, "patience", s->has_receipt ? RECEIPT_DEAD_MS : DEAD_MS);
	add_number(&p, BESIDE_TTL, s->since_ms / 1000 + KEPT_S);
	if (answer)
		add_answer(&p, answer);
	return value_make_map(r->arena, p.list, p.n);
}

/* ---- begin ---- */

static struct value text_of_hash(struct run *r, const char *prefix, const uint8_t hash[IDEMPOTENCY_HASH])
{
	struct buf b;

	buf_init(&b, r->arena);
	buf_str(&b, prefix);
	buf_hex(&b, slice_make(hash, IDEMPOTENCY_HASH));
	return value_make_s(r->arena, buf_slice(&b));
}

/* A run of its own: a failure here is no problem of the request. */
static struct run aside(const struct run *r, struct backend *b)
{
	return (struct run){ .app = r->app, .design = r->design, .backend = b, .arena = r->arena, .now_ms = r->now_ms };
}

static struct idempotency_shared *make_ticket(struct run *r, const struct idempotency_ask *q)
{
	struct idempotency_shared *s = arena_new(r->arena, struct idempotency_shared);
	char turn[ULID_LENGTH];

	if (!ulid_new(r->now_ms, turn))
		return NULL;
	s->receipt.key = beside_key(r, value_bytes(text_of_hash(r, "REPLY#", q->key)), SLICE("-"));
	s->receipt.turn = value_make_s(r->arena, arena_copy(r->arena, slice_make(turn, sizeof(turn))));
	s->digest = text_of_hash(r, "", q->digest);
	s->since_ms = r->now_ms;
	s->has_receipt = q->has_receipt;
	return s;
}

/* Puts the item as running, where there is none or in place of `old`, while that is running as well: its write may be
 * done right now (S3). */
static enum dyn_outcome put_running(struct run *r, const struct idempotency_shared *s, struct value old,
				    struct value *there)
{
	struct value_member same[] = { { SLICE("turn"), value_get(old, SLICE("turn")) },
				       { SLICE("state"), value_get(old, SLICE("state")) } };
	struct dyn_write w = { .kind = DYN_PUT, .table = beside_table(r), .item = make_item(r, s, NULL) };
	struct dyn_refusal refusal = { 0 };
	enum dyn_outcome end;

	if (value_present(old)) {
		w.equal = same;
		w.equal_count = 2;
	} else {
		w.must_not_exist = true;
		w.or_expired = SLICE(BESIDE_TTL);
	}
	end = dyn_write(r, &w, 1, SLICE(""), &refusal);
	*there = refusal.item;
	return end;
}

static bool is_mine(const struct idempotency_shared *s, struct value item)
{
	return value_equal(value_get(item, SLICE("turn")), s->receipt.turn);
}

static int64_t patience_of(struct value item)
{
	int64_t ms = beside_number(item, "patience");

	return ms ? ms : DEAD_MS;
}

/* What follows from the item. NEW: take the request over. */
static enum idempotency_state judge(const struct run *r, struct idempotency_shared *s, struct value item,
				    struct answer *answer)
{
	if (!value_equal(value_get(item, SLICE("digest")), s->digest))
		return IDEMPOTENCY_OTHER;
	if (slice_is(beside_text(item, "state"), "done")) {
		*answer = answer_of(item);
		return IDEMPOTENCY_DONE;
	}
	if (slice_is(beside_text(item, "state"), "written")) {
		s->item = value_get(item, SLICE("key"));
		return IDEMPOTENCY_WRITTEN;
	}
	return r->now_ms - beside_number(item, "since") >= patience_of(item) ? IDEMPOTENCY_NEW : IDEMPOTENCY_RUNNING;
}

static enum idempotency_state begin_shared(struct run *own, struct idempotency_shared *s, struct answer *answer)
{
	struct value old = VALUE_ABSENT, there;
	int unsure = 0;

	for (int i = 0; i < TRIES; i++) {
		switch (put_running(own, s, old, &there)) {
		case DYN_DONE: return IDEMPOTENCY_NEW;
		case DYN_REFUSED: break;
		case DYN_CONFLICT: continue;
		case DYN_MISMATCH: return IDEMPOTENCY_FAILED;
		case DYN_FAILED:
			if (!own->is_unsure || unsure++)
				return IDEMPOTENCY_FAILED;
			own->problem = (struct problem){ 0 };
			continue;
		}
		old = VALUE_ABSENT;
		if (value_present(there)) {    /* otherwise it was deleted since */
			if (is_mine(s, there)) /* the reply to our own put was lost */
				return IDEMPOTENCY_NEW;
			enum idempotency_state state = judge(own, s, there, answer);

			if (state != IDEMPOTENCY_NEW)
				return state;
			old = there;
		}
	}
	return IDEMPOTENCY_RUNNING; /* others keep changing it */
}

enum idempotency_state idempotency_shared_begin(struct run *r, const struct idempotency_ask *q, struct answer *answer,
						struct idempotency_shared **ticket)
{
	struct backend *b = backend_aside(r->backend);
	enum idempotency_state state;
	struct run own = aside(r, b);

	*ticket = NULL;
	if (!b)
		return IDEMPOTENCY_NEW;
	*ticket = make_ticket(&own, q);
	if (!*ticket)
		return IDEMPOTENCY_FULL;
	state = begin_shared(&own, *ticket, answer);
	if (state == IDEMPOTENCY_FAILED) {
		r->problem = own.problem;
		r->problem.outcome = OUTCOME_NOT_DONE;
	}
	return state;
}

/* ---- the receipt ---- */

struct dyn_write *receipt_rider(struct run *r, const struct receipt *n, struct value item)
{
	struct dyn_write *w = arena_new(r->arena, struct dyn_write);
	struct value_member *same = arena_array(r->arena, struct value_member, 2),
			    *set = arena_array(r->arena, struct value_member, 2);

	same[0] = (struct value_member){ SLICE("turn"), n->turn };
	same[1] = (struct value_member){ SLICE("state"), value_make_s(r->arena, SLICE("running")) };
	set[0] = (struct value_member){ SLICE("state"), value_make_s(r->arena, SLICE("written")) };
	set[1] = (struct value_member){ SLICE("key"), item };
	*w = (struct dyn_write){ .kind = DYN_UPDATE,
				 .table = beside_table(r),
				 .key = n->key,
				 .set = set,
				 .set_count = value_present(item) ? 2 : 1,
				 .equal = same,
				 .equal_count = 2 };
	return w;
}

/* Deletes the item while it is ours and running (S1). */
static struct dyn_write delete_running(struct run *r, const struct idempotency_shared *s, struct value_member same[2])
{
	same[0] = (struct value_member){ SLICE("turn"), s->receipt.turn };
	same[1] = (struct value_member){ SLICE("state"), value_make_s(r->arena, SLICE("running")) };
	return (struct dyn_write){
		.kind = DYN_DELETE, .table = beside_table(r), .key = s->receipt.key, .equal = same, .equal_count = 2
	};
}

static enum dyn_outcome write_patiently(struct run *r, const struct dyn_write *w, struct dyn_refusal *refusal)
{
	enum dyn_outcome end = DYN_CONFLICT;

	for (int i = 0; i < TRIES && end == DYN_CONFLICT; i++)
		end = dyn_write(r, w, 1, SLICE(""), refusal);
	return end;
}

/* receipt.h N2: a write whose item is deleted here can no longer succeed. */
enum idempotency_state idempotency_shared_ask(struct run *r, struct idempotency_shared *s)
{
	struct run own = aside(r, r->backend);
	struct value_member same[2];
	struct dyn_write w = delete_running(&own, s, same);
	struct dyn_refusal refusal = { 0 };
	enum dyn_outcome end = write_patiently(&own, &w, &refusal);

	if (end == DYN_DONE)
		return IDEMPOTENCY_NEW;
	if (end != DYN_REFUSED)
		return IDEMPOTENCY_FAILED;
	if (!is_mine(s, refusal.item))
		return IDEMPOTENCY_RUNNING;
	s->item = value_get(refusal.item, SLICE("key"));
	return IDEMPOTENCY_WRITTEN;
}

/* ---- end ---- */

/* S1, S3 */
void idempotency_shared_end(struct run *r, const struct idempotency_shared *s, const struct answer *answer)
{
	struct run own = aside(r, r->backend);
	struct value_member same[2];
	struct dyn_write w = delete_running(&own, s, same);
	struct dyn_refusal refusal;
	enum dyn_outcome end;

	if (idempotency_keeps(answer) && answer->body.n + answer->location.n + answer->etag.n <= MOST_BYTES) {
		w.kind = DYN_PUT;
		w.item = make_item(&own, s, answer);
		w.equal_count = 1; /* written or not */
	}
	end = write_patiently(&own, &w, &refusal);
	if (end == DYN_FAILED || end == DYN_CONFLICT)
		log_warn("%.*s: the answer under an Idempotency-Key was not kept: %.*s", SLICE_ARG(r->design->name),
			 SLICE_ARG(own.problem.detail));
}
