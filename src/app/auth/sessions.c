/* The list of an account's sessions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/auth/sessions.h"
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include "app/auth/caller_internal.h"
#include "base/clock.h"
#include "base/ulid.h"
#include "value/base64.h"

#define TRIES         40
#define PAUSE_MOST_MS 32
#define ID_BYTES      12
#define DIGEST_BYTES  16
#define FIELDS        6

/* ---- reading ---- */

struct value sessions_key(struct run *r, const struct caller *c)
{
	uint8_t made[EVP_MAX_MD_SIZE];
	struct buf text, pk;

	buf_init(&text, r->arena);
	buf_lit(&text, "sessions");
	buf_part(&text, c->session.account);
	buf_part(&text, c->subject);
	if (!HMAC(EVP_sha256(), r->app->callers->token_key, JWT_KEY_BYTES, (const uint8_t *)text.p, text.n, made, NULL))
		arena_out_of_memory(r->arena);
	buf_init(&pk, r->arena);
	buf_lit(&pk, "SESSIONS#");
	buf_hex(&pk, slice_make(made, DIGEST_BYTES));
	return beside_key(r, buf_slice(&pk), SLICE("-"));
}

static int64_t integer(struct value v)
{
	struct number n;
	int64_t out;

	if (value_type(v) != VALUE_N)
		return 0;
	n = value_number(v);
	return number_to_i64(&n, &out) ? out : 0;
}

static struct session session_of(struct value v)
{
	return (struct session){ .id = value_bytes(value_at(v, 0)),
				 .number = integer(value_at(v, 1)),
				 .stamp = value_bytes(value_at(v, 2)),
				 .renewed_ms = integer(value_at(v, 3)),
				 .until_s = integer(value_at(v, 4)),
				 .again = value_bytes(value_at(v, 5)) };
}

bool sessions_read(struct run *r, struct value key, struct sessions *out)
{
	struct value_iter it;
	struct value item, list;

	out->key = key;
	out->count = 0;
	out->turn = VALUE_ABSENT;
	if (!beside_get(r, key, &item))
		return false;
	out->turn = value_get(item, SLICE("turn"));
	list = value_get(item, SLICE("list"));
	if (value_type(list) != VALUE_L)
		return true;
	for (it = value_iter(list); value_next(&it) && out->count < SESSIONS_MOST;) {
		struct session s = session_of(it.value);

		if (s.id.n && s.until_s > r->now_ms / 1000)
			out->list[out->count++] = s;
	}
	return true;
}

struct session *sessions_find(struct sessions *s, struct slice id)
{
	for (size_t i = 0; i < s->count; i++)
		if (slice_equal(s->list[i].id, id))
			return &s->list[i];
	return NULL;
}

void sessions_drop(struct sessions *s, const struct session *x)
{
	s->list[x - s->list] = s->list[--s->count];
}

/* ---- changing ---- */

static struct value value_of(struct run *r, const struct session *s)
{
	struct arena *a = r->arena;
	struct value fields[FIELDS] = { value_make_s(a, s->id),        value_make_i64(a, s->number),
					value_make_s(a, s->stamp),     value_make_i64(a, s->renewed_ms),
					value_make_i64(a, s->until_s), value_make_s(a, s->again) };

	return value_make_list(a, fields, FIELDS);
}

static struct value item_of(struct run *r, const struct sessions *s, struct value turn)
{
	struct value *list = arena_array(r->arena, struct value, s->count);
	struct value_member members[5];
	int64_t until = 0;

	for (size_t i = 0; i < s->count; i++) {
		list[i] = value_of(r, &s->list[i]);
		if (s->list[i].until_s > until)
			until = s->list[i].until_s;
	}
	members[0] = (struct value_member){ SLICE("PK"), value_get(s->key, SLICE("PK")) };
	members[1] = (struct value_member){ SLICE("SK"), value_get(s->key, SLICE("SK")) };
	members[2] = (struct value_member){ SLICE("turn"), turn };
	members[3] = (struct value_member){ SLICE("list"), value_make_list(r->arena, list, s->count) };
	members[4] = (struct value_member){ SLICE(BESIDE_TTL), value_make_i64(r->arena, until + 1) };
	return value_make_map(r->arena, members, 5);
}

/* N1. An empty list is no item. */
static enum dyn_outcome write_list(struct run *r, const struct sessions *s)
{
	struct value_member same = { SLICE("turn"), s->turn };
	struct dyn_write w = { .kind = s->count ? DYN_PUT : DYN_DELETE,
			       .table = beside_table(r),
			       .key = s->key,
			       .equal = &same,
			       .equal_count = 1 };
	struct dyn_refusal refusal;
	char turn[ULID_LENGTH];

	if (!ulid_new(r->now_ms, turn)) {
		run_fail(r, PROBLEM_INTERNAL, "there are no random numbers");
		return DYN_FAILED;
	}
	if (s->count)
		w.item = item_of(r, s, value_make_s(r->arena, slice_make(turn, sizeof(turn))));
	return dyn_write(r, &w, 1, SLICE(""), &refusal);
}

/* Longer with each try, and of a random length. */
static void pause_before(int try_, const void *seed)
{
	uint64_t chance = (uint64_t)clock_monotonic_us() * UINT64_C(0x9e3779b97f4a7c15) ^ (uintptr_t)seed;

	if (try_)
		clock_pause_us((int64_t)(1 + chance % (try_ < 5 ? UINT64_C(2) << try_ : PAUSE_MOST_MS)) * 1000);
}

bool sessions_change(struct run *r, struct value key, bool (*change)(void *ctx, struct sessions *s), void *ctx)
{
	struct sessions s;

	for (int i = 0; i < TRIES; i++) {
		pause_before(i, &s);
		if (!sessions_read(r, key, &s))
			return false;
		if (!change(ctx, &s))
			return true;
		switch (write_list(r, &s)) {
		case DYN_DONE: return true;
		case DYN_REFUSED:
		case DYN_CONFLICT: break;
		case DYN_MISMATCH:
		case DYN_FAILED: return false;
		}
		r->problem = (struct problem){ 0 };
	}
	return run_busy(r);
}

bool sessions_clear(struct run *r, struct value key)
{
	struct dyn_write w = { .kind = DYN_DELETE, .table = beside_table(r), .key = key };
	struct dyn_refusal refusal;

	for (int i = 0; i < TRIES; i++) {
		pause_before(i, &w);
		switch (dyn_write(r, &w, 1, SLICE(""), &refusal)) {
		case DYN_DONE: return true;
		case DYN_CONFLICT: break;
		case DYN_REFUSED:
		case DYN_MISMATCH:
		case DYN_FAILED: return false;
		}
		r->problem = (struct problem){ 0 };
	}
	return run_busy(r);
}

/* ---- a new one ---- */

/* N3. Sessions from before the last change of the password have ended. */
static bool add_session(void *ctx, struct sessions *s)
{
	const struct session *made = ctx, *first = s->list;

	for (size_t i = s->count; i-- > 0;)
		if (!slice_equal(s->list[i].stamp, made->stamp) && s->list[i].renewed_ms <= made->renewed_ms)
			sessions_drop(s, &s->list[i]);
	for (size_t i = 1; i < s->count; i++)
		if (s->list[i].until_s < first->until_s)
			first = &s->list[i];
	if (s->count == SESSIONS_MOST)
		sessions_drop(s, first);
	s->list[s->count++] = *made;
	return true;
}

bool sessions_open(struct run *r, const struct login *login)
{
	struct session made = { .number = 1,
				.stamp = r->caller.session.stamp,
				.renewed_ms = r->now_ms,
				.until_s = r->now_ms / 1000 + login->session_seconds };
	uint8_t id[ID_BYTES];
	struct buf b;

	if (!login->session_seconds)
		return true;
	if (RAND_bytes(id, sizeof(id)) != 1)
		return run_fail(r, PROBLEM_INTERNAL, "there are no random numbers");
	buf_init(&b, r->arena);
	base64url_put(&b, slice_make(id, sizeof(id)));
	made.id = buf_slice(&b);
	if (!sessions_change(r, sessions_key(r, &r->caller), add_session, &made))
		return false;
	r->caller.session.id = made.id;
	return true;
}
