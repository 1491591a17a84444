/* POST /renew and POST /logout: sessions that go on, and sessions that end.
 *
 * A renewal token has the number that its session has on the list (sessions.h). Renewing counts the number up, so each
 * token is good for one renewal. A token with an older number was stolen, or the thief used it first: the session ends for
 * both. The exception is a client that got no reply and repeats its request with the same Idempotency-Key.
 * SPDX-License-Identifier: Apache-2.0 */
#include <openssl/sha.h>
#include "app/auth/caller_internal.h"
#include "app/auth/sessions.h"

#define AGAIN_MS     (10 * 60 * 1000)
#define DIGEST_BYTES 16

static bool refuse(struct run *r, const char *why)
{
	return run_fail(r, PROBLEM_UNAUTHENTICATED, "%s", why);
}

static bool end_session(struct run *r)
{
	return refuse(r, "the session has ended: log in again");
}

/* ---- the token ---- */

static bool is_ours(struct run *r, const struct jwt *t)
{
	return t->alg == JWT_HS256 && jwt_fits_secret(t, r->app->callers->renewal_key) &&
	       slice_is(json_get_text(t->claims, "iss"), CALLER_ISSUER) &&
	       slice_equal(json_get_text(t->claims, "aud"), r->design->name);
}

/* Whose session it is, as run->caller; not yet whether it goes on. */
static bool read_renewal(struct run *r, const struct json *body, int64_t *number)
{
	const struct json *given = json_get_present(body, "renewal");
	struct jwt t;

	r->caller = (struct caller){ 0 };
	if (!json_is(given, JSON_STRING) || !given->string.n)
		return run_invalid(r, SLICE("renewal"), given ? "must be a string" : "is missing");
	if (given->string.n > JWT_MOST || !jwt_parse(r->arena, given->string, &t) || !is_ours(r, &t))
		return refuse(r, "this is no renewal token");
	if (json_get_int(t.claims, "exp") <= r->now_ms / 1000)
		return end_session(r);
	*number = json_get_int(t.claims, "n");
	r->caller.subject = json_get_text(t.claims, "sub");
	r->caller.session.account = json_get_text(t.claims, "acc");
	r->caller.session.stamp = json_get_text(t.claims, "ses");
	r->caller.session.id = json_get_text(t.claims, "sid");
	return true;
}

/* ---- renewing ---- */

struct renewal {
	struct slice id, again; /* of the session; of the request, empty: without an Idempotency-Key */
	int64_t number, now_ms, seconds;
	enum { RENEWED, ENDED, USED } result;
};

static bool is_repeated(const struct renewal *q, const struct session *s)
{
	return q->number == s->number - 1 && q->again.n && slice_equal(q->again, s->again) &&
	       q->now_ms - s->renewed_ms < AGAIN_MS && q->now_ms >= s->renewed_ms - AGAIN_MS;
}

static bool renew_session(void *ctx, struct sessions *list)
{
	struct renewal *q = ctx;
	struct session *s = sessions_find(list, q->id);

	q->result = ENDED;
	if (!s)
		return false;
	q->result = RENEWED;
	if (is_repeated(q, s))
		return false;
	if (q->number != s->number) {
		q->result = USED;
		sessions_drop(list, s);
		return true;
	}
	s->number = q->number + 1;
	s->renewed_ms = q->now_ms;
	s->until_s = q->now_ms / 1000 + q->seconds;
	s->again = q->again;
	return true;
}

/* Of the key in this session: a list of sessions says nothing about other requests. */
static struct slice digest_of(struct run *r, struct slice key)
{
	uint8_t made[SHA256_DIGEST_LENGTH];
	struct buf text, digest;

	if (!key.n)
		return key;
	buf_init(&text, r->arena);
	buf_part(&text, r->caller.session.id);
	buf_put(&text, key);
	SHA256((const uint8_t *)text.p, text.n, made);
	buf_init(&digest, r->arena);
	buf_hex(&digest, slice_make(made, DIGEST_BYTES));
	return buf_slice(&digest);
}

static bool renew(struct run *r, struct renewal *q)
{
	if (!sessions_change(r, sessions_key(r, &r->caller), renew_session, q))
		return false;
	if (q->result == ENDED)
		return end_session(r);
	if (q->result == USED)
		return refuse(r, "the renewal token was used before, so its session has ended: log in again");
	return true;
}

bool caller_renew(struct run *r, const struct json *body, struct slice idempotency_key, struct buf *reply)
{
	struct renewal q = { .now_ms = r->now_ms };
	const struct entity *e;

	if (!read_renewal(r, body, &q.number))
		return false;
	e = caller_session_entity(r, &r->caller);
	if (!e || !e->login.session_seconds)
		return end_session(r);
	if (!caller_session_renew(r))
		return false;
	q.id = r->caller.session.id;
	q.again = digest_of(r, idempotency_key);
	q.seconds = e->login.session_seconds;
	if (!renew(r, &q))
		return false;
	json_open(reply, '{');
	caller_put_tokens(r, &e->login, q.number + 1, reply);
	json_close(reply, '}');
	return true;
}

/* ---- ending ---- */

static bool drop_session(void *ctx, struct sessions *list)
{
	const struct session *s = sessions_find(list, *(const struct slice *)ctx);

	if (s)
		sessions_drop(list, s);
	return s != NULL;
}

bool caller_logout(struct run *r, const struct json *body)
{
	const struct json *everywhere = json_get_present(body, "everywhere");
	bool by_renewal = json_get_present(body, "renewal") != NULL;
	int64_t number;
	struct value key;
	struct slice id;

	if (everywhere && !json_is(everywhere, JSON_BOOL))
		return run_invalid(r, SLICE("everywhere"), "must be true or false");
	if (by_renewal && !read_renewal(r, body, &number))
		return false;
	/* A token that was revoked ends its own session once more, and no other. */
	if (by_renewal && everywhere && everywhere->boolean && !caller_session_renew(r))
		return false;
	if (!r->caller.subject.n && !r->caller.operator_)
		return refuse(r, "nobody is logged in");
	id = r->caller.session.id;
	if (!id.n)
		return run_fail(r, PROBLEM_CONFLICT, "this token has no session that could end");
	key = sessions_key(r, &r->caller);
	return everywhere && everywhere->boolean ? sessions_clear(r, key) : sessions_change(r, key, drop_session, &id);
}
