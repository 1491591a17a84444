/* The session of a login. It lasts as long as the account exists, is the same account, and has the same password; and
 * where the design has renewal, until it ends in the list of the account's sessions (sessions.h).
 *
 * The token carries the account's identity and a stamp: a keyed digest of the identity, the password's hash and the
 * time of the account's creation. A hash has its own salt, so a new password and a new account of the same name have
 * another stamp. What was read stays valid until someone writes to the partition of the account or of its credentials
 * (backend.h: version).
 *
 * Invariants
 *   C1  versions[] are read before the items they stand for: a write in between makes them too old, never too new.
 *   C2  Nothing is remembered that depends on more than those partitions: not if login.when reads other items or the
 *       time, a pattern finds the account, or the account expires.
 * SPDX-License-Identifier: Apache-2.0 */
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include "app/auth/caller_internal.h"
#include "app/auth/sessions.h"
#include "app/entity/entity_key.h"
#include "app/db/dyn.h"
#include "app/entity/entity.h"
#include "value/base64.h"

#define STAMP_BYTES 12

static bool end_session(struct run *r)
{
	return run_fail(r, PROBLEM_UNAUTHENTICATED, "the session has ended: log in again");
}

/* ---- which account ---- */

/* Whether the identity is the subject, which the token has in any case. */
static bool is_subject(const struct row *account)
{
	const struct entity *e = account->entity;

	return e->param_count == 1 && e->param_at[0] == e->login.subject_at &&
	       value_type(row_get(account, e->login.subject_at)) == VALUE_S;
}

static struct slice account_text(struct run *r, const struct row *account)
{
	const struct entity *e = account->entity;
	struct value identity = value_make_list(r->arena, entity_identity(r, account), e->param_count);
	struct buf b;

	buf_init(&b, r->arena);
	buf_put(&b, e->name);
	buf_byte(&b, ':');
	if (!is_subject(account))
		base64url_put(&b, value_slice(identity));
	return buf_slice(&b);
}

static bool read_identity(struct run *r, struct slice text, struct value *out)
{
	struct slice bytes;

	if (!base64url_decode(r->arena, text, &bytes))
		return false;
	*out = (struct value){ (const uint8_t *)bytes.p, bytes.n };
	return bytes.n && value_is_valid(*out, 1) && value_type(*out) == VALUE_L;
}

static size_t name_length(struct slice account)
{
	const char *colon = account.n ? memrchr(account.p, ':', account.n) : NULL;

	return colon ? (size_t)(colon - account.p) : 0;
}

const struct entity *caller_session_entity(struct run *r, const struct caller *c)
{
	size_t n = name_length(c->session.account);
	const struct entity *e = n ? design_entity(r->design, slice_make(c->session.account.p, n)) : NULL;

	return e && e->login.present && !r->design->callers.issuer.n ? e : NULL;
}

const struct entity *caller_session_account(struct run *r, const struct caller *c, struct value **args)
{
	const struct entity *e = caller_session_entity(r, c);
	struct slice text = c->session.account;
	size_t n = name_length(text);
	struct value subject = value_make_s(r->arena, c->subject), identity = value_make_list(r->arena, &subject, 1);
	struct value_iter it;

	if (!e)
		return NULL;
	if ((n + 1 < text.n && !read_identity(r, slice_make(text.p + n + 1, text.n - n - 1), &identity)) ||
	    value_count(identity) != e->param_count)
		return NULL;
	*args = arena_array(r->arena, struct value, e->param_count);
	n = 0;
	for (it = value_iter(identity); value_next(&it);)
		(*args)[n++] = it.value;
	return e;
}

/* ---- what it depends on ---- */

/* C2 */
static bool may_remember(const struct row *account)
{
	const struct entity *e = account->entity;

	return !e->found_by.n && !term_reads_more(e->login.when) &&
	       (account->slots->ttl == SLOT_NONE || !value_present(account->values[account->slots->ttl]));
}

static uint64_t version_of(struct run *r, struct value key)
{
	return r->backend->version ? r->backend->version(r->backend, r->arena, r->design->table, key) : 0;
}

static uint64_t sessions_version(struct run *r, struct value key)
{
	return r->backend->version ? r->backend->version(r->backend, r->arena, beside_table(r), key) : 0;
}

/* Whether the session is on the list. Tokens without one are from before the design had sessions. */
static bool is_listed(struct run *r, const struct login *login, const struct caller *was, struct caller_session *s,
		      bool *out)
{
	struct sessions list;

	*out = !login->session_seconds;
	if (!was->session.id.n)
		return true;
	s->keys[2] = sessions_key(r, was);
	s->versions[2] = sessions_version(r, s->keys[2]);
	if (!sessions_read(r, s->keys[2], &list))
		return false;
	*out = sessions_find(&list, was->session.id) != NULL;
	return true;
}

static bool read_hash(struct run *r, const struct row *account, struct caller_session *s, struct value *hash)
{
	const struct entity *e = account->entity;
	struct scope scope = { .run = r, .item = account };
	struct value item = account->full;
	struct slice attribute;
	bool holds, ok, was_own = r->is_own;

	*hash = VALUE_ABSENT;
	r->is_own = true;
	ok = scope_holds(&scope, e->login.when, &holds);
	r->is_own = was_own;
	if (!ok || !caller_secret_place(r, e, account, &s->keys[1], &attribute))
		return false;
	if (value_present(s->keys[1])) {
		s->versions[1] = version_of(r, s->keys[1]);
		if (!dyn_get(r, s->keys[1], true, &item))
			return false;
	}
	if (holds && value_present(item))
		*hash = value_get(item, attribute);
	return true;
}

bool caller_usable_hash(struct run *r, const struct row *account, struct value *hash)
{
	struct caller_session s = { 0 };

	return read_hash(r, account, &s, hash);
}

static struct slice stamp_of(struct run *r, const struct row *account, struct slice text, struct value hash)
{
	const struct entity *e = account->entity;
	uint8_t made[EVP_MAX_MD_SIZE];
	struct buf b, stamp;

	buf_init(&b, r->arena);
	buf_lit(&b, "session");
	buf_byte(&b, 0);
	buf_put(&b, text);
	buf_byte(&b, 0);
	buf_add(&b, hash.p, hash.n);
	for (size_t i = 0; i < e->attribute_count; i++) {
		struct value v = e->attributes[i].now ? row_get(account, e->attributes[i].at) : VALUE_ABSENT;

		buf_add(&b, v.p, v.n);
	}
	if (!HMAC(EVP_sha256(), r->app->callers->token_key, JWT_KEY_BYTES, (const uint8_t *)b.p, b.n, made, NULL))
		arena_out_of_memory(r->arena);
	buf_init(&stamp, r->arena);
	base64url_put(&stamp, slice_make(made, STAMP_BYTES));
	return buf_slice(&stamp);
}

/* ---- the account as a caller ---- */

static struct slice subject_of(struct run *r, const struct row *account)
{
	struct value subject = row_get(account, account->entity->login.subject_at);

	return value_type(subject) == VALUE_S || value_type(subject) == VALUE_N ? run_text(r, subject) : SLICE("");
}

static void take_role(struct run *r, const struct row *account)
{
	const struct name *at = account->entity->login.role_at;
	struct value role = at ? row_get(account, at) : VALUE_ABSENT;
	struct slice *roles = arena_array(r->arena, struct slice, 1);

	r->caller.roles = roles;
	r->caller.role_count = value_type(role) == VALUE_S && value_bytes(role).n;
	if (r->caller.role_count)
		roles[0] = value_bytes(role);
}

static void take_claims(struct run *r, const struct row *account)
{
	const struct login *login = &account->entity->login;
	size_t n = login->claim_count ? r->design->callers.claim_count : 0;
	struct value *list = arena_array(r->arena, struct value, n);

	for (size_t i = 0; i < login->claim_count; i++)
		list[login->claims[i].index - 1] = row_get(account, login->claims[i].at);
	r->caller.claims = n ? list : NULL;
	r->caller.claim_count = n;
}

/* What the account says now, whatever the token said. */
static void take_account(struct run *r, const struct row *account)
{
	take_role(r, account);
	take_claims(r, account);
}

bool caller_session_begin(struct run *r, const struct row *account, struct value hash)
{
	struct caller *c = &r->caller;

	memset(c, 0, sizeof(*c));
	c->subject = subject_of(r, account);
	if (!c->subject.n)
		return run_fail(r, PROBLEM_INTERNAL, "the account has no %.*s",
				SLICE_ARG(account->entity->login.subject));
	take_account(r, account);
	c->session.account = account_text(r, account);
	c->session.stamp = stamp_of(r, account, c->session.account, hash);
	return true;
}

/* Credentials in the account's own partition share its version. */
static void join_partitions(struct run *r, struct caller_session *s)
{
	const struct name *hash = r->design->key_at[0];

	if (value_present(s->keys[1]) && value_equal(key_part(s->keys[0], hash), key_part(s->keys[1], hash)))
		s->keys[1] = VALUE_ABSENT;
}

/* Its entity NULL: the session has ended. */
static bool look_at_account(struct run *r, const struct caller *was, struct caller_session *s, struct row *account)
{
	struct entity_look found = { 0 };
	const struct entity *e;
	struct value *args, hash;
	struct slice stamp;
	bool listed;

	*account = (struct row){ 0 };
	e = caller_session_account(r, was, &args);
	if (!e || !entity_locate(r, e, args, e->param_count, &s->keys[0]))
		return !e || r->problem.type == PROBLEM_INVALID;
	s->versions[0] = value_present(s->keys[0]) ? version_of(r, s->keys[0]) : 0;
	if (value_present(s->keys[0]) && !entity_look_at(r, e, s->keys[0], true, &found))
		return false;
	if (!found.item.entity)
		return true;
	if (!read_hash(r, &found.item, s, &hash))
		return false;
	if (value_type(hash) != VALUE_S || !slice_equal(subject_of(r, &found.item), was->subject))
		return true;
	if (!is_listed(r, &e->login, was, s, &listed))
		return false;
	if (!listed)
		return true;
	stamp = stamp_of(r, &found.item, s->account, hash);
	if (stamp.n == was->session.stamp.n && !CRYPTO_memcmp(stamp.p, was->session.stamp.p, stamp.n))
		*account = found.item;
	return true;
}

bool caller_session_renew(struct run *r)
{
	struct caller was = r->caller;
	struct caller_session s = { .account = was.session.account, .stamp = was.session.stamp, .id = was.session.id };
	struct row account;

	memset(&r->caller, 0, sizeof(r->caller)); /* login.when is evaluated as at the login: without a caller */
	if (!look_at_account(r, &was, &s, &account))
		return false;
	if (!account.entity && run_explores(r)) {
		r->problem = (struct problem){ 0 };
		r->caller = was;
		return true;
	}
	if (!account.entity) {
		r->problem = (struct problem){ 0 };
		return end_session(r);
	}
	join_partitions(r, &s);
	if (!may_remember(&account))
		s.versions[0] = 0;
	r->caller = was;
	r->caller.permissions_known = false;
	r->caller.session = s;
	take_account(r, &account);
	return true;
}

bool caller_session_is_current(struct run *r)
{
	const struct caller_session *s = &r->caller.session;

	for (size_t i = 0; i < 2; i++)
		if ((!i || value_present(s->keys[i])) && (!s->versions[i] || version_of(r, s->keys[i]) != s->versions[i]))
			return false;
	return !value_present(s->keys[2]) || (s->versions[2] && sessions_version(r, s->keys[2]) == s->versions[2]);
}

bool caller_stands(struct run *r)
{
	return !r->caller.session.account.n || caller_session_is_current(r) || caller_session_renew(r);
}

/* ---- copies ---- */

static bool same_texts(const struct slice *x, const struct slice *y, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!slice_equal(x[i], y[i]))
			return false;
	return true;
}

bool caller_equals(const struct caller *a, const struct caller *b)
{
	return a->role_count == b->role_count && same_texts(a->roles, b->roles, a->role_count) &&
	       a->claim_count == b->claim_count && values_equal(a->claims, b->claims, a->claim_count);
}

size_t caller_copy_bytes(const struct caller *c)
{
	const struct caller_session *s = &c->session;
	size_t n = c->role_count * sizeof(struct slice) + c->claim_count * sizeof(struct value) + c->subject.n +
		   s->account.n + s->stamp.n + s->id.n;

	for (size_t i = 0; i < CALLER_KEYS; i++)
		n += s->keys[i].n;
	for (size_t i = 0; i < c->role_count; i++)
		n += c->roles[i].n;
	for (size_t i = 0; i < c->claim_count; i++)
		n += c->claims[i].n;
	return n;
}

static struct value pack_value(char **at, struct value v)
{
	struct slice bytes = slice_pack(at, slice_make(v.p, v.n));

	return value_present(v) ? (struct value){ (const uint8_t *)bytes.p, bytes.n } : VALUE_ABSENT;
}

struct caller caller_copy(const struct caller *c, void *room)
{
	struct slice *roles = room;
	struct value *claims = (struct value *)(roles + c->role_count);
	char *at = (char *)(claims + c->claim_count);
	struct caller copy = *c;

	for (size_t i = 0; i < c->role_count; i++)
		roles[i] = slice_pack(&at, c->roles[i]);
	for (size_t i = 0; i < c->claim_count; i++)
		claims[i] = pack_value(&at, c->claims[i]);
	copy.roles = roles;
	copy.claims = c->claim_count ? claims : NULL;
	copy.subject = slice_pack(&at, c->subject);
	copy.session.account = slice_pack(&at, c->session.account);
	copy.session.stamp = slice_pack(&at, c->session.stamp);
	copy.session.id = slice_pack(&at, c->session.id);
	for (size_t i = 0; i < CALLER_KEYS; i++)
		copy.session.keys[i] = pack_value(&at, c->session.keys[i]);
	copy.permissions_known = false;
	copy.permissions = NULL;
	copy.permission_count = 0;
	return copy;
}
