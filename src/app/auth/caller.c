/* The caller of a request, from its Authorization header.
 * SPDX-License-Identifier: Apache-2.0 */
#include <strings.h>
#include "app/auth/caller_internal.h"
#include "app/entity/input.h"
#include "base/alloc.h"
#include "base/clock.h"

#define LEEWAY_S 60 /* that clocks may differ */
#define BUSY_S   5

/* ---- the state ---- */

static struct jwks *new_jwks(const struct callers *c)
{
	static const char usual[] = "/.well-known/jwks.json";
	struct slice issuer = c->issuer;
	struct jwks *j = NULL;
	char *url;

	if (c->jwks.n)
		return jwks_new(c->jwks);
	while (issuer.n && issuer.p[issuer.n - 1] == '/')
		issuer.n--;
	url = mem_alloc(issuer.n + sizeof(usual));
	if (url) {
		memcpy(url, issuer.p, issuer.n);
		memcpy(url + issuer.n, usual, sizeof(usual));
		j = jwks_new(slice_str(url));
	}
	mem_free(url);
	return j;
}

struct callers_state *callers_new(const struct design *d, const uint8_t secret[CALLER_SECRET_BYTES])
{
	struct callers_state *s = mem_zalloc(sizeof(*s));

	if (!s)
		return NULL;
	s->design = d;
	memcpy(s->secret, secret, sizeof(s->secret));
	s->throttle = throttle_new();
	s->known = known_new();
	if (d->callers.issuer.n)
		s->jwks = new_jwks(&d->callers);
	if (s->throttle && s->known && (s->jwks || !d->callers.issuer.n) &&
	    caller_token_key(d->name, secret, s->token_key) && caller_renewal_key(d->name, secret, s->renewal_key) &&
	    caller_mail_key(d->name, secret, s->mail_key))
		return s;
	callers_free(s);
	return NULL;
}

void callers_free(struct callers_state *s)
{
	if (!s)
		return;
	jwks_free(s->jwks);
	throttle_free(s->throttle);
	known_free(s->known);
	OPENSSL_cleanse(s, sizeof(*s));
	mem_free(s);
}

/* ---- claims ---- */

static bool refuse_token(struct run *r, const char *why)
{
	return run_fail(r, PROBLEM_UNAUTHENTICATED, "%s", why);
}

/* A claim by its name, or, if there is none of that name, by a path: realm_access.roles. */
static const struct json *claim(const struct json *claims, struct slice name)
{
	const struct json *found = json_get_slice(claims, name);
	const char *dot = found ? NULL : memchr(name.p, '.', name.n);
	size_t n = dot ? (size_t)(dot - name.p) : 0;

	if (!dot)
		return found;
	return claim(json_get_slice(claims, slice_make(name.p, n)), slice_make(dot + 1, name.n - n - 1));
}

static struct slice text_claim(const struct json *claims, struct slice name)
{
	const struct json *j = name.n ? claim(claims, name) : NULL;

	return json_is(j, JSON_STRING) ? j->string : SLICE("");
}

static bool seconds_claim(const struct json *claims, const char *name, double *out)
{
	const struct json *j = json_get(claims, name);

	if (!json_is(j, JSON_INT) && !json_is(j, JSON_DOUBLE))
		return false;
	*out = j->type == JSON_INT ? (double)j->integer : j->number;
	return true;
}

static bool check_times(struct run *r, const struct json *claims)
{
	double now = (double)r->now_ms / 1000, at;

	if (!seconds_claim(claims, "exp", &at))
		return refuse_token(r, "the token has no expiry");
	if (!(now < at + LEEWAY_S)) /* a NaN has expired, too */
		return refuse_token(r, "the token has expired");
	r->caller.expires_ms = at < 1e12 ? (int64_t)((at + LEEWAY_S) * 1000) : 0;
	if (json_get(claims, "nbf") && (!seconds_claim(claims, "nbf", &at) || !(now >= at - LEEWAY_S)))
		return refuse_token(r, "the token is not valid yet");
	return true;
}

/* A string, or a list that contains it. */
static bool is_for(const struct json *aud, struct slice who)
{
	if (json_is(aud, JSON_STRING))
		return slice_equal(aud->string, who);
	for (size_t i = 0; json_is(aud, JSON_ARRAY) && i < aud->count; i++)
		if (json_is(&aud->items[i], JSON_STRING) && slice_equal(aud->items[i].string, who))
			return true;
	return false;
}

/* Access tokens of Cognito have no `aud` but a client_id, which API Gateway's authorizers read as well. */
static bool is_for_us(const struct callers *c, const struct json *claims)
{
	const struct json *aud = json_get(claims, "aud");

	if (!aud)
		aud = json_get(claims, "client_id");
	for (size_t i = 0; i < c->audience_count; i++)
		if (is_for(aud, c->audiences[i]))
			return true;
	return !c->audience_count;
}

static bool is_gap(char c)
{
	return c == ' ' || c == ',';
}

/* An array of strings, or one string of roles separated by spaces or commas. */
static void read_roles(struct run *r, const struct json *j)
{
	struct caller *c = &r->caller;
	struct slice *list;

	if (json_is(j, JSON_ARRAY)) {
		c->roles = list = arena_array(r->arena, struct slice, j->count);
		for (size_t i = 0; i < j->count; i++)
			if (json_is(&j->items[i], JSON_STRING))
				list[c->role_count++] = j->items[i].string;
	} else if (json_is(j, JSON_STRING)) {
		struct slice s = j->string;

		c->roles = list = arena_array(r->arena, struct slice, s.n / 2 + 1);
		for (size_t from = 0, to; from < s.n; from = to) {
			for (to = from; to < s.n && !is_gap(s.p[to]); to++)
				;
			if (to > from)
				list[c->role_count++] = slice_make(s.p + from, to - from);
			to += to < s.n;
		}
	}
}

/* ---- declared claims ---- */

/* A value that is not of the declared type counts as none. */
static struct value read_claim(struct run *r, const struct attribute *a, const struct json *j)
{
	struct value v = VALUE_ABSENT;

	if (!j || j->type == JSON_NULL || input_json(r, a, a->name, j, &v))
		return v;
	r->problem = (struct problem){ 0 };
	return VALUE_ABSENT;
}

void caller_read_claims(struct run *r, const struct json *claims, bool outside)
{
	const struct callers *c = &r->design->callers;
	struct value *list;

	if (!c->claim_count || !claims)
		return;
	r->caller.claims = list = arena_array(r->arena, struct value, c->claim_count);
	r->caller.claim_count = c->claim_count;
	for (size_t i = 0; i < c->claim_count; i++) {
		const struct attribute *a = &c->claims[i].attribute;

		list[i] = read_claim(r, a, outside ? claim(claims, c->claims[i].from) : json_get_slice(claims, a->name));
	}
}

/* ---- tokens ---- */

static bool read_own(struct run *r, const struct jwt *t)
{
	const struct callers_state *s = r->app->callers;
	const struct json *operator_ = json_get(t->claims, "operator"), *minted = json_get(t->claims, "minted");

	if (!jwt_fits_secret(t, s->token_key))
		return refuse_token(r, "the token was not signed here");
	if (!slice_is(text_claim(t->claims, SLICE("iss")), CALLER_ISSUER) ||
	    !is_for(json_get(t->claims, "aud"), s->design->name))
		return refuse_token(r, "the token is meant for another audience");
	if (!check_times(r, t->claims))
		return false;
	r->caller.subject = text_claim(t->claims, SLICE("sub"));
	read_roles(r, json_get(t->claims, "roles"));
	r->caller.operator_ = json_is(operator_, JSON_BOOL) && operator_->boolean;
	caller_read_claims(r, json_get(t->claims, "claims"), false);
	if (r->caller.operator_ || (json_is(minted, JSON_BOOL) && minted->boolean))
		return true;
	r->caller.session.account = text_claim(t->claims, SLICE("acc"));
	r->caller.session.stamp = text_claim(t->claims, SLICE("ses"));
	r->caller.session.id = text_claim(t->claims, SLICE("sid"));
	if (!r->caller.session.account.n) /* tokens from before sessions could end */
		return refuse_token(r, "the token has no session: log in again");
	return caller_session_renew(r);
}

static void free_key(void *key)
{
	EVP_PKEY_free(key);
}

static bool check_outside(struct run *r, const struct jwt *t, EVP_PKEY **signer)
{
	struct callers_state *s = r->app->callers;
	EVP_PKEY *key = NULL;

	switch (jwks_find(s->jwks, t->kid, t->alg, r->now_ms, &key)) {
	case JWKS_FOUND: break;
	case JWKS_UNKNOWN: return refuse_token(r, "the token was signed with a key that its issuer does not publish");
	case JWKS_UNREACHABLE:
		run_fail(r, PROBLEM_BUSY, "the keys of the issuer cannot be fetched at the moment");
		r->problem.retry_after = BUSY_S;
		return false;
	}
	arena_defer(r->arena, free_key, key);
	*signer = key;
	if (!jwt_fits_key(t, key))
		return refuse_token(r, "the token was not signed by its issuer");
	if (!slice_equal(text_claim(t->claims, SLICE("iss")), s->design->callers.issuer))
		return refuse_token(r, "the token comes from another issuer");
	if (!is_for_us(&s->design->callers, t->claims))
		return refuse_token(r, "the token is meant for another audience");
	return check_times(r, t->claims);
}

static bool read_outside(struct run *r, const struct jwt *t, EVP_PKEY **signer)
{
	const struct callers *c = &r->design->callers;

	if (!check_outside(r, t, signer))
		return false;
	r->caller.subject = text_claim(t->claims, c->subject_claim.n ? c->subject_claim : SLICE("sub"));
	read_roles(r, claim(t->claims, c->groups_claim.n ? c->groups_claim : SLICE("roles")));
	caller_read_claims(r, t->claims, true);
	return true;
}

/* "Bearer <token>". */
static bool bearer(struct slice authorization, struct slice *token)
{
	struct slice s = authorization;

	if (s.n < 7 || strncasecmp(s.p, "bearer ", 7))
		return false;
	for (s.p += 7, s.n -= 7; s.n && *s.p == ' '; s.p++, s.n--)
		;
	while (s.n && s.p[s.n - 1] == ' ')
		s.n--;
	*token = s;
	return s.n > 0;
}

/* ---- tokens seen before ---- */

/* The issuer may have revoked the key since, or replaced it. */
static bool is_still_signed(struct run *r, const struct known_token *t)
{
	EVP_PKEY *key = NULL;
	bool same;

	if (!t->key)
		return true;
	same = jwks_find(r->app->callers->jwks, t->kid, t->alg, r->now_ms, &key) == JWKS_FOUND && key == t->key;
	EVP_PKEY_free(key);
	return same;
}

/* Whether the token is known; *ok: whether it is still valid. */
static bool is_known(struct run *r, struct slice token, bool *ok)
{
	const struct known_token *t = known_find(r->app->callers->known, r->arena, token, r->now_ms);
	struct known_token again;

	if (!t || !is_still_signed(r, t))
		return false;
	r->caller = t->caller;
	*ok = true;
	if (!r->caller.session.account.n || caller_session_is_current(r))
		return true;
	*ok = caller_session_renew(r);
	if (*ok && r->caller.session.versions[0]) {
		again = *t;
		again.caller = r->caller;
		known_add(r->app->callers->known, token, &again);
	}
	return true;
}

static void remember(struct run *r, struct slice token, const struct jwt *t, EVP_PKEY *signer)
{
	struct known_token known = { .caller = r->caller, .key = signer, .kid = t->kid, .alg = t->alg };
	double from;

	known.until_ms = r->caller.expires_ms;
	if (!known.until_ms)
		return;
	if (seconds_claim(t->claims, "nbf", &from)) {
		if (!(from > -1e12 && from < 1e12))
			return;
		known.from_ms = (int64_t)((from - LEEWAY_S) * 1000) + 1;
	}
	known_add(r->app->callers->known, token, &known);
}

bool caller_read(struct run *r, struct slice authorization)
{
	EVP_PKEY *signer = NULL;
	struct slice token;
	struct jwt t;
	bool ok;

	memset(&r->caller, 0, sizeof(r->caller));
	if (!authorization.n)
		return true;
	if (!bearer(authorization, &token))
		return refuse_token(r, "the Authorization header must be 'Bearer' and a token");
	if (is_known(r, token, &ok))
		return ok;
	if (!jwt_parse(r->arena, token, &t))
		return refuse_token(r, "the token cannot be read");
	if (t.alg == JWT_HS256)
		ok = read_own(r, &t);
	else if (t.alg != JWT_OTHER && r->app->callers->jwks)
		ok = read_outside(r, &t, &signer);
	else
		ok = refuse_token(r, "the token is signed with an algorithm that is not accepted");
	if (ok && !r->caller.subject.n && !r->caller.operator_)
		ok = refuse_token(r, "the token has no subject");
	if (ok)
		remember(r, token, &t, signer);
	else
		memset(&r->caller, 0, sizeof(r->caller));
	return ok;
}

bool caller_may_block(struct app *app, struct slice authorization)
{
	struct callers_state *s = app->callers;
	volatile bool blocks = false;
	struct slice token;
	struct arena a;
	struct jwt t;

	if (!s->jwks || !bearer(authorization, &token))
		return false;
	arena_init(&a);
	ARENA_TRY(&a, {
		blocks = jwt_parse_head(&a, token, &t) && t.alg != JWT_OTHER && t.alg != JWT_HS256 &&
			 jwks_may_block(s->jwks, t.kid, t.alg, clock_now_ms(app->clock));
	}, { blocks = true; });
	arena_release(&a);
	return blocks;
}
