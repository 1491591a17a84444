/* POST /login: a name and a password for a token.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include "app/auth/caller_internal.h"
#include "app/auth/sessions.h"
#include "app/db/dyn.h"
#include "app/entity/entity.h"
#include "app/entity/input.h"
#include "app/entity/output.h"
#include "base/audit.h"

#define NAME_MOST 1024
/* Stands in for the hash where there is no account: bcrypt of random bytes, since forgotten. */
#define NO_HASH "$2b$10$ocIgd/53fLqLdMvHHAl8U.LM9SDqy2K4yoy1FvJhdB31/98Hi966e"

struct attempt {
	const struct entity *entity;     /* NULL: any entity with a login */
	const struct name *by;           /* the attribute; NULL: any */
	struct slice name, password;     /* as given */
	struct throttle_attempt counted; /* whose failures are counted */
	struct row account;              /* in full; its entity NULL: none */
};

/* ---- the body ---- */

static bool text_member(const struct json *body, struct slice name, struct slice *out)
{
	const struct json *j = json_get_slice(body, name);

	if (!json_is(j, JSON_STRING) || !j->string.n)
		return false;
	*out = j->string;
	return true;
}

const struct entity *caller_first_login(const struct design *d)
{
	for (size_t i = 0; i < d->entity_count; i++)
		if (d->entities[i].login.present)
			return &d->entities[i];
	return NULL;
}

bool caller_has_sessions(const struct design *d)
{
	for (size_t i = 0; i < d->entity_count; i++)
		if (d->entities[i].login.session_seconds && !d->callers.issuer.n)
			return true;
	return false;
}

/* The first login attribute in the body; `name` stands for any. */
static bool read_name(struct run *r, const struct json *body, struct attempt *a)
{
	for (size_t i = 0; i < r->design->entity_count; i++) {
		const struct entity *e = &r->design->entities[i];

		for (size_t k = 0; e->login.present && k < e->login.by_count; k++)
			if (text_member(body, e->login.by[k], &a->name)) {
				a->entity = e;
				a->by = e->login.by_at[k];
				return true;
			}
	}
	return text_member(body, SLICE("name"), &a->name);
}

/* Trimmed and in lower case, whatever the attribute's type: ALICE's failures are alice's. */
struct slice caller_counted_name(struct run *r, struct slice name)
{
	char *copy;

	name = slice_trim(name, SLICE_BLANKS);
	copy = arena_alloc(r->arena, name.n);
	for (size_t i = 0; i < name.n; i++)
		copy[i] = (char)tolower((unsigned char)name.p[i]);
	return slice_make(copy, name.n);
}

bool caller_given_name(struct run *r, const struct json *body, const struct entity **entity, const struct name **by,
		       struct slice *name)
{
	struct attempt a = { 0 };

	if (!read_name(r, body, &a))
		return run_invalid(r, caller_first_login(r->design)->login.by[0], "is missing");
	if (a.name.n > NAME_MOST)
		return run_invalid(r, caller_first_login(r->design)->login.by[0], "is too long");
	*entity = a.entity;
	*by = a.by;
	*name = a.name;
	return true;
}

static bool read_attempt(struct run *r, const struct json *body, struct slice client, struct attempt *a)
{
	const struct entity *e = caller_first_login(r->design);
	bool ok = true;

	if (!e)
		return run_fail(r, PROBLEM_NOT_FOUND, "there are no accounts here");
	if (r->design->callers.issuer.n)
		return run_fail(r, PROBLEM_NOT_FOUND, "the accounts belong to an outside issuer");
	if (!json_is(body, JSON_OBJECT))
		return run_fail(r, PROBLEM_MALFORMED, "the body is not a JSON object");
	if (!read_name(r, body, a))
		ok = run_invalid(r, e->login.by[0], "is missing");
	if (!text_member(body, SLICE("password"), &a->password))
		ok = run_invalid(r, SLICE("password"), "is missing");
	if (!ok)
		return false;
	a->counted = (struct throttle_attempt){ .name = caller_counted_name(r, a->name), .address = client };
	return true;
}

/* ---- waiting ---- */

static bool may_go_on(struct run *r, int seconds)
{
	if (!seconds)
		return true;
	run_fail(r, PROBLEM_TOO_MANY, "too many failed attempts");
	r->problem.retry_after = seconds;
	return false;
}

/* Checked before the request goes to a thread that hashes: an attempt that has to wait takes no place there. */
static bool may_begin(struct run *r, struct attempt *a)
{
	if (r->no_hashing)
		return may_go_on(r, caller_attempt_wait(r, &a->counted)) && run_may_hash(r);
	return may_go_on(r, caller_attempt_begin(r, &a->counted));
}

/* ---- the account ---- */

/* A name that no account can have, such as one with a '#', is unknown, not invalid. */
static bool find_by(struct run *r, const struct entity *e, const struct name *by, struct attempt *a)
{
	struct value v = input_normal(r, slots_attribute(e->slots, by), value_make_s(r->arena, a->name));

	if (!value_bytes(v).n || caller_account(r, e, by, v, &a->account)) {
		if (a->account.entity)
			a->entity = e;
		return true;
	}
	if (r->problem.type != PROBLEM_INVALID)
		return false;
	memset(&r->problem, 0, sizeof(r->problem));
	a->account = (struct row){ 0 };
	return true;
}

static bool find_account(struct run *r, struct attempt *a)
{
	a->account = (struct row){ 0 };
	if (a->name.n > NAME_MOST)
		return true;
	if (a->entity)
		return find_by(r, a->entity, a->by, a);
	for (size_t i = 0; i < r->design->entity_count; i++) {
		const struct entity *e = &r->design->entities[i];

		for (size_t k = 0; e->login.present && k < e->login.by_count && !a->account.entity; k++)
			if (!find_by(r, e, e->login.by_at[k], a))
				return false;
	}
	return true;
}

bool caller_find_account(struct run *r, const struct entity *entity, const struct name *by, struct slice name,
			 struct row *account)
{
	struct attempt a = { .entity = entity, .by = by, .name = name };

	if (!find_account(r, &a))
		return false;
	*account = a.account;
	return true;
}

bool caller_named(struct run *r, struct slice name, struct row *account)
{
	return caller_find_account(r, NULL, NULL, name, account);
}

static bool usable_hash(struct run *r, const struct attempt *a, struct value *hash)
{
	*hash = VALUE_ABSENT;
	return !a->account.entity || caller_usable_hash(r, &a->account, hash);
}

static bool is_right(const struct attempt *a, struct value hash)
{
	bool usable = value_type(hash) == VALUE_S;

	return caller_check_password(a->password, usable ? value_bytes(hash) : SLICE(NO_HASH)) && usable;
}

/* ---- the reply ---- */

static bool reply_with(struct run *r, const struct attempt *a, struct buf *b)
{
	json_open(b, '{');
	caller_put_tokens(r, &a->entity->login, a->entity->login.session_seconds ? 1 : 0, b);
	json_name_string(b, caller_counted_name(r, a->entity->name));
	if (!output_row(r, &a->account, false, NULL, 0, b))
		return false;
	buf_byte(b, '}');
	return true;
}

static void audit(const struct run *r, const struct attempt *a, bool ok)
{
	enum problem_type type = ok ? PROBLEM_NONE : r->problem.type;

	if (!audit_is_on() || !a->name.n || r->wants_hashing)
		return;
	backend_settle(r->backend);
	audit_write(&(struct audit_event){
		.kind = "login",
		.outcome = ok                                ? "ok"
			   : type == PROBLEM_TOO_MANY        ? "throttled"
			   : type == PROBLEM_UNAUTHENTICATED ? "refused"
							     : "failed",
		.name = a->name,
		.subject = ok ? r->caller.subject : SLICE(""),
		.address = a->counted.address,
		.design = r->design->name,
		.status = ok ? 200 : problem_status(type),
		.why = ok ? SLICE("") : r->problem.detail,
	});
}

static bool log_in(struct run *r, struct attempt *a, struct buf *reply)
{
	struct value hash;

	if (!may_begin(r, a))
		return false;
	if (!find_account(r, a) || !usable_hash(r, a, &hash)) {
		caller_attempt_undo(r, &a->counted);
		return false;
	}
	if (!is_right(a, hash))
		return run_fail(r, PROBLEM_UNAUTHENTICATED, "wrong name or password");
	caller_attempt_passed(r, &a->counted);
	return caller_session_begin(r, &a->account, hash) && sessions_open(r, &a->entity->login) &&
	       reply_with(r, a, reply);
}

bool caller_login(struct run *r, const struct json *body, struct slice client_address, struct buf *reply)
{
	struct attempt a = { 0 };
	bool ok;

	if (!read_attempt(r, body, client_address, &a))
		return false;
	ok = log_in(r, &a, reply);
	audit(r, &a, ok);
	return ok;
}
