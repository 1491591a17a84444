/* Failed logins where several servers share a table: counted together, in the table beside the design's (beside.h).
 *
 *   {PK: LOGIN#<hex of the digest>, SK: -, level: millionths, at: ms, turn, expires}
 *
 * The digests are keyed with the servers' secret: the table has no names and no addresses. The rules are those of
 * throttle.h.
 *
 * Invariants
 *   A1  An attempt changes the items that decide it in one transaction, each on the condition that its `turn` is as
 *       read. So a hundred simultaneous attempts achieve no more at ten servers than at one.
 *   A2  Attempts at one name, or from one address, conflict with each other. After some tries only the items of the
 *       pair and its network are written, so that attempts by others lock no one out. Their items still count: the
 *       conflicts show that they grow.
 *   A3  Each decision is also kept in memory. A server that cannot reach the table continues from there: logins still
 *       work, and every failure counts.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <openssl/hmac.h>
#include "app/db/beside.h"
#include "app/auth/caller_internal.h"
#include "app/auth/throttle_rules.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/ulid.h"

#define TRIES_ALL  6   /* tries that write all items */
#define TRIES      14  /* after that, tries that write only the pair and its network: A2 */
#define LEVEL_ONE  1e6 /* a failure in an item */
#define SLACK_S    60  /* that servers' clocks may differ: items stay that much longer */
#define CROWDED_MS 1000

enum change { LOOK, FAILED, TAKEN_BACK, PASSED };

struct shared {
	struct run run; /* its own: a failure here is no problem of the request */
	struct throttle_keys keys;
	struct value key[THROTTLE_KINDS], item[THROTTLE_KINDS]; /* as it was read; absent: none */
	struct throttle_levels was, is;
};

/* ---- items ---- */

static bool make_salt(const struct run *r, uint8_t out[THROTTLE_SALT_BYTES])
{
	struct slice text = arena_printf(r->arena, "logins:%.*s", SLICE_ARG(r->design->name));
	uint8_t made[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	if (!HMAC(EVP_sha256(), r->app->callers->secret, CALLER_SECRET_BYTES, (const uint8_t *)text.p, text.n, made, &n))
		return false;
	memcpy(out, made, THROTTLE_SALT_BYTES);
	return true;
}

static bool init(struct shared *s, const struct run *r, const struct throttle_attempt *a)
{
	uint8_t salt[THROTTLE_SALT_BYTES];

	*s = (struct shared){
		.run = { .app = r->app, .design = r->design, .backend = r->backend, .arena = r->arena, .now_ms = r->now_ms }
	};
	if (!make_salt(r, salt) || !throttle_make_keys(salt, a, &s->keys))
		return false;
	for (size_t i = 0; i < THROTTLE_KINDS; i++) {
		struct buf b;

		buf_init(&b, r->arena);
		buf_lit(&b, "LOGIN#");
		buf_hex(&b, slice_make(s->keys.of[i], THROTTLE_KEY_BYTES));
		s->key[i] = beside_key(&s->run, buf_slice(&b), SLICE("-"));
	}
	return true;
}

static bool load(struct shared *s)
{
	if (!beside_batch_get(&s->run, s->key, THROTTLE_KINDS, s->item))
		return false;
	s->was = (struct throttle_levels){ .has_address = s->keys.has_address };
	for (size_t i = 0; i < THROTTLE_KINDS; i++) {
		s->was.of[i].level = (double)beside_number(s->item[i], "level") / LEVEL_ONE;
		s->was.of[i].at_ms = beside_number(s->item[i], "at");
	}
	s->is = s->was;
	return true;
}

static struct value make_item(struct shared *s, enum throttle_kind kind, struct value turn)
{
	struct arena *a = s->run.arena;
	const struct throttle_level *l = &s->is.of[kind];
	struct value_member members[] = {
		{ SLICE("PK"), value_get(s->key[kind], SLICE("PK")) },
		{ SLICE("SK"), value_get(s->key[kind], SLICE("SK")) },
		{ SLICE("level"), value_make_i64(a, llround(l->level * LEVEL_ONE)) },
		{ SLICE("at"), value_make_i64(a, l->at_ms) },
		{ SLICE("turn"), turn },
		{ SLICE(BESIDE_TTL), value_make_i64(a, throttle_level_ends(l, kind) / 1000 + 1 + SLACK_S) },
	};

	return value_make_map(a, members, sizeof(members) / sizeof(*members));
}

static bool has_changed(const struct shared *s, enum throttle_kind kind)
{
	const struct throttle_level *was = &s->was.of[kind], *is = &s->is.of[kind];

	return is->level != was->level || is->at_ms != was->at_ms;
}

/* ---- changing them ---- */

/* A1. */
static enum dyn_outcome write_changed(struct shared *s, bool all)
{
	struct dyn_write w[THROTTLE_KINDS];
	struct value_member same[THROTTLE_KINDS];
	struct dyn_refusal refusals[THROTTLE_KINDS];
	char turn[ULID_LENGTH];
	struct value made;
	size_t n = 0;

	if (!ulid_new(s->run.now_ms, turn))
		return DYN_FAILED;
	made = value_make_s(s->run.arena, slice_make(turn, sizeof(turn)));
	for (enum throttle_kind i = 0; i < THROTTLE_KINDS; i++) {
		bool there = value_present(s->item[i]), stays = s->is.of[i].level > 0;

		if (!has_changed(s, i) || (!there && !stays) || (!all && (i == THROTTLE_ADDRESS || i == THROTTLE_NAME)))
			continue;
		same[n] = (struct value_member){ SLICE("turn"), value_get(s->item[i], SLICE("turn")) };
		w[n] = (struct dyn_write){ .kind = stays ? DYN_PUT : DYN_DELETE,
					   .table = beside_table(&s->run),
					   .key = s->key[i],
					   .must_not_exist = !there,
					   .equal = &same[n],
					   .equal_count = there };
		if (stays)
			w[n].item = make_item(s, i, made);
		n++;
	}
	return dyn_write(&s->run, w, n, SLICE(""), refusals);
}

/* Longer with each try, and of a random length. */
static void pause_before(int try_, const struct shared *s)
{
	uint64_t chance = (uint64_t)clock_monotonic_us() * UINT64_C(0x9e3779b97f4a7c15) ^ (uintptr_t)s;

	if (try_)
		clock_pause_us((int64_t)(1 + chance % (uint64_t)(2 << (try_ < 5 ? try_ : 5))) * 1000);
}

static void change(struct shared *s, enum change c)
{
	switch (c) {
	case LOOK: break;
	case FAILED: throttle_levels_count(&s->is, 1, s->run.now_ms); break;
	case TAKEN_BACK: throttle_levels_count(&s->is, -1, s->run.now_ms); break;
	case PASSED: throttle_levels_pass(&s->is, s->run.now_ms); break;
	}
}

/* *wait: milliseconds (LOOK and FAILED only); if not 0, nothing was changed. False: the table cannot be reached. */
static bool decide(struct shared *s, enum change c, int64_t *wait)
{
	*wait = 0;
	for (int i = 0; i < TRIES; i++) {
		pause_before(i, s);
		if (!load(s))
			return false;
		if (c == LOOK || c == FAILED)
			*wait = throttle_levels_wait(&s->is, s->run.now_ms);
		if (*wait || c == LOOK)
			return true;
		change(s, c);
		switch (write_changed(s, i < TRIES_ALL)) {
		case DYN_DONE: return true;
		case DYN_REFUSED:
		case DYN_CONFLICT: break;
		case DYN_MISMATCH:
		case DYN_FAILED: return false;
		}
		s->run.problem = (struct problem){ 0 };
	}
	s->is = s->was;
	*wait = c == FAILED ? CROWDED_MS : 0; /* all of them are attempts at one name from one network */
	return true;
}

static bool decide_for(struct run *r, const struct throttle_attempt *a, enum change c, int64_t *wait)
{
	struct shared s;

	if (!init(&s, r, a))
		return false; /* no name: not counted in memory either */
	if (decide(&s, c, wait)) {
		throttle_learn(r->app->callers->throttle, a, &s.is, r->now_ms); /* A3 */
		return true;
	}
	log_warn("%.*s: for now this server counts failed logins alone: %.*s", SLICE_ARG(r->design->name),
		 SLICE_ARG(s.run.problem.detail));
	return false;
}

/* ---- from outside ---- */

int caller_attempt_wait(struct run *r, const struct throttle_attempt *a)
{
	int64_t wait;

	if (run_is_remote(r) && decide_for(r, a, LOOK, &wait))
		return throttle_seconds(wait);
	return throttle_wait(r->app->callers->throttle, a, r->now_ms);
}

int caller_attempt_begin(struct run *r, struct throttle_attempt *a)
{
	int64_t wait;

	backend_settle(r->backend);
	a->is_shared = run_is_remote(r) && decide_for(r, a, FAILED, &wait);
	return a->is_shared ? throttle_seconds(wait) : throttle_begin(r->app->callers->throttle, a, r->now_ms);
}

void caller_attempt_passed(struct run *r, const struct throttle_attempt *a)
{
	int64_t wait;

	if (!a->is_shared || !decide_for(r, a, PASSED, &wait))
		throttle_passed(r->app->callers->throttle, a, r->now_ms);
}

void caller_attempt_undo(struct run *r, const struct throttle_attempt *a)
{
	int64_t wait;

	if (!a->is_shared || !decide_for(r, a, TAKEN_BACK, &wait))
		throttle_undo(r->app->callers->throttle, a, r->now_ms);
}
