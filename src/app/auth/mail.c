/* Single-use tokens: what is asked for, what is sent, what a token allows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/auth/mail.h"
#include <openssl/hmac.h>
#include "app/auth/caller_attempt.h"
#include "app/auth/caller_internal.h"
#include "app/auth/mail_internal.h"

#define DIGEST_BYTES 16

static const char *const uses[] = { [MAIL_RESET] = "reset", [MAIL_PROOF] = "proof" };

const struct login *mail_login(const struct design *d)
{
	for (size_t i = 0; i < d->entity_count; i++)
		if (d->entities[i].login.mail.address.n && !d->callers.issuer.n)
			return &d->entities[i].login;
	return NULL;
}

/* ---- asking ---- */

/* Each request counts as a failure: mail to one account, and from one address, is slowed as guesses are. */
static bool may_ask(struct run *r, struct slice what, struct slice name, struct slice client)
{
	struct throttle_attempt a = { .name = arena_printf(r->arena, "%.*s#%.*s", SLICE_ARG(what),
							   SLICE_ARG(caller_counted_name(r, name))),
				      .address = client };
	int wait;

	backend_settle(r->backend);
	wait = caller_attempt_begin(r, &a);
	if (!wait)
		return true;
	run_fail(r, PROBLEM_TOO_MANY, "too many requests for mail");
	r->problem.retry_after = wait;
	return false;
}

/* Where nobody sends (`to: ${HOOK:-}` and no --smtp), the answer is the same. */
static bool leave_note(struct run *r, const struct mail_note *n)
{
	return !mail_post_is_open(r->app->mail) || mail_note_put(r, n);
}

bool mail_ask_reset(struct run *r, const struct json *body, struct slice client_address)
{
	struct mail_note n = { .kind = MAIL_RESET };

	if (!caller_given_name(r, body, &n.entity, &n.by, &n.name))
		return false;
	return may_ask(r, SLICE("reset"), n.name, client_address) && leave_note(r, &n);
}

bool mail_ask_proof(struct run *r, struct slice client_address)
{
	const struct caller *c = &r->caller;
	struct mail_note n = { .kind = MAIL_PROOF,
			       .entity = caller_session_entity(r, c),
			       .account = c->session.account,
			       .subject = c->subject };

	if (!c->subject.n)
		return run_fail(r, PROBLEM_UNAUTHENTICATED, "log in to do this");
	if (!c->session.account.n || !n.entity || !n.entity->login.mail.verified.n)
		return run_fail(r, PROBLEM_CONFLICT, "this token has no account with an address to prove");
	return may_ask(r, SLICE("proof"), c->subject, client_address) && leave_note(r, &n);
}

/* ---- tokens ---- */

static struct slice address_digest(struct run *r, struct slice address)
{
	uint8_t made[EVP_MAX_MD_SIZE];
	struct buf b;

	address = arena_printf(r->arena, "address%c%.*s", 0, SLICE_ARG(address)); /* never the text of a token */
	if (!HMAC(EVP_sha256(), r->app->callers->mail_key, JWT_KEY_BYTES, (const uint8_t *)address.p, address.n, made,
		  NULL))
		arena_out_of_memory(r->arena);
	buf_init(&b, r->arena);
	buf_hex(&b, slice_make(made, DIGEST_BYTES));
	return buf_slice(&b);
}

static struct slice address_of(struct run *r, const struct row *account)
{
	struct value v = row_get(account, account->entity->login.mail.address_at);

	return value_type(v) == VALUE_S ? value_bytes(v) : SLICE("");
}

static bool is_proved(const struct row *account)
{
	const struct name *at = account->entity->login.mail.verified_at;
	struct value v = at ? row_get(account, at) : VALUE_ABSENT;

	return value_type(v) == VALUE_BOOL && value_bool(v);
}

static struct slice make_token(struct run *r, const struct mail *m)
{
	const struct caller *c = &r->caller;
	struct buf b;

	buf_init(&b, r->arena);
	json_open(&b, '{');
	json_member_word(&b, "iss", CALLER_ISSUER);
	json_member_string(&b, "aud", r->design->name);
	json_member_word(&b, "use", uses[m->kind]);
	json_member_string(&b, "sub", c->subject);
	json_member_string(&b, "acc", c->session.account);
	json_member_string(&b, "ses", c->session.stamp);
	json_member_string(&b, "adr", address_digest(r, m->address));
	json_member_int(&b, "exp", m->expires_s);
	json_close(&b, '}');
	return jwt_make(r->arena, buf_slice(&b), r->app->callers->mail_key);
}

/* Begins a session in the run, whose account and stamp the token gets. */
static bool find_account(struct run *r, const struct mail_note *n, struct row *account)
{
	const struct entity *e;
	struct value *args, hash;

	*account = (struct row){ 0 };
	if (n->kind == MAIL_RESET) {
		if (!caller_find_account(r, n->entity, n->by, n->name, account))
			return false;
	} else {
		r->caller.session.account = n->account;
		r->caller.subject = n->subject;
		e = caller_session_account(r, &r->caller, &args);
		if (e && !entity_fetch(r, e, args, e->param_count, true, account))
			return false;
	}
	if (!account->entity || !account->entity->login.mail.address.n)
		return false;
	if (!caller_usable_hash(r, account, &hash) || value_type(hash) != VALUE_S)
		return false;
	return caller_session_begin(r, account, hash);
}

bool mail_make(struct run *r, const struct mail_note *n, struct mail *out)
{
	struct row account;

	if (!find_account(r, n, &account))
		return false;
	*out = (struct mail){ .kind = n->kind,
			      .id = n->id,
			      .address = address_of(r, &account),
			      .subject = r->caller.subject,
			      .asked_ms = n->asked_ms,
			      .login = &account.entity->login };
	out->expires_s = n->asked_ms / 1000 +
			 (n->kind == MAIL_RESET ? out->login->mail.reset_seconds : out->login->mail.proof_seconds);
	if (!out->address.n || out->expires_s <= r->now_ms / 1000 || (n->kind == MAIL_PROOF && is_proved(&account)))
		return false;
	out->token = make_token(r, out);
	mail_letter(r, &account, out);
	return true;
}

/* ---- using one ---- */

static bool has_ended(struct run *r)
{
	return run_fail(r, PROBLEM_UNAUTHENTICATED, "this token was used already, or has ended: ask for another one");
}

bool mail_read(struct run *r, enum mail_kind kind, const struct json *body, struct mail_proof *out)
{
	const struct json *given = json_get_present(body, "token");
	struct caller c = { 0 };
	struct jwt t;

	if (!json_is(given, JSON_STRING) || !given->string.n)
		return run_invalid(r, SLICE("token"), given ? "must be a string" : "is missing");
	if (given->string.n > JWT_MOST || !jwt_parse(r->arena, given->string, &t) || t.alg != JWT_HS256 ||
	    !jwt_fits_secret(&t, r->app->callers->mail_key) ||
	    !slice_equal(json_get_text(t.claims, "aud"), r->design->name) ||
	    !slice_is(json_get_text(t.claims, "use"), uses[kind]) || json_get_int(t.claims, "exp") <= r->now_ms / 1000)
		return has_ended(r);
	c.subject = json_get_text(t.claims, "sub");
	c.session.account = json_get_text(t.claims, "acc");
	*out = (struct mail_proof){ .kind = kind,
				    .entity = caller_session_account(r, &c, &out->args),
				    .args = out->args,
				    .subject = c.subject,
				    .stamp = json_get_text(t.claims, "ses"),
				    .address = json_get_text(t.claims, "adr") };
	if (!out->entity || !out->entity->login.mail.address.n)
		return has_ended(r);
	return true;
}

bool mail_still(struct run *r, const struct mail_proof *p, const struct row *full)
{
	struct caller was = r->caller;
	struct value hash;
	bool same;

	if (!caller_usable_hash(r, full, &hash))
		return false;
	same = value_type(hash) == VALUE_S && caller_session_begin(r, full, hash) &&
	       slice_equal(r->caller.session.stamp, p->stamp) && slice_equal(r->caller.subject, p->subject) &&
	       slice_equal(address_digest(r, address_of(r, full)), p->address) &&
	       (p->kind == MAIL_RESET || !is_proved(full));
	r->caller = was;
	return same || run_explores(r) || has_ended(r);
}
