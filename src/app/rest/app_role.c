/* POST /role: an operator gives an account a role, by whatever the account logs in with. It is the way to the first admin.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/auth/caller.h"
#include "app/db/dyn.h"
#include "app/entity/input.h"
#include "app/rest/app_exchange.h"
#include "app/write/write.h"
#include "design/slots.h"
#include "json/json.h"

static bool text_of(struct run *r, const struct json *body, const char *name, struct slice *out)
{
	const struct json *j = json_get_present(body, name);

	*out = json_is(j, JSON_STRING) ? j->string : SLICE("");
	return out->n || run_invalid(r, slice_str(name), j ? "must be a text" : "is missing");
}

static bool may_give(struct run *r)
{
	if (r->caller.operator_)
		return true;
	return r->caller.subject.n ? run_fail(r, PROBLEM_FORBIDDEN, "this is for operators")
				   : run_fail(r, PROBLEM_UNAUTHENTICATED, "this needs an operator's token");
}

static bool find(struct run *r, struct slice name, struct row *account)
{
	if (!caller_named(r, name, account))
		return false;
	if (!account->entity)
		return run_fail(r, PROBLEM_NOT_FOUND, "nobody logs in as %.*s", SLICE_ARG(name));
	return account->entity->login.role_at ||
	       run_fail(r, PROBLEM_CONFLICT, "a %.*s has no role", SLICE_ARG(account->entity->name));
}

static void answer(struct app_exchange *x, const struct row *account, struct slice role)
{
	struct value subject = row_get(account, account->entity->login.subject_at);
	struct buf b;

	buf_init(&b, x->run.arena);
	json_open(&b, '{');
	json_member_string(&b, "subject", run_text(&x->run, subject));
	json_member_string(&b, "role", role);
	json_close(&b, '}');
	answer_buf(x, 200, &b);
	x->answer.cache = SLICE("no-store");
}

bool handle_role(struct app_exchange *x)
{
	struct run *r = &x->run;
	const struct write_options o = { .token = x->token, .receipt = x->receipt };
	struct write_result made = { 0 };
	struct slice name, role;
	struct identity of;
	struct row account, changes;
	struct value v;

	if (!may_give(r) || !text_of(r, x->body, "name", &name) || !text_of(r, x->body, "role", &role) ||
	    !find(r, name, &account))
		return false;
	if (!input_text(r, slots_attribute(account.entity->slots, account.entity->login.role_at), SLICE("role"), role,
			&v))
		return false;
	row_init(&changes, r->arena, account.entity);
	row_set(&changes, account.entity->login.role_at, v);
	of = (struct identity){ account.entity, entity_identity(r, &account), account.entity->param_count };
	if (!write_update(r, &of, &changes, &o, &made))
		return false;
	answer(x, &account, role);
	return true;
}

/* The role that the account has now: the repetition may be late. */
bool answer_role_receipt(struct app_exchange *x, struct value key)
{
	struct run *r = &x->run;
	struct row account = { 0 };
	struct value item;

	if (!dyn_get(r, key, true, &item)) {
		r->problem.outcome = r->problem.type == PROBLEM_BUSY ? OUTCOME_DONE : OUTCOME_NOT_DONE;
		return false;
	}
	if (value_present(item))
		account = entity_recognise(r, item, NULL);
	if (!account.entity || !account.entity->login.role_at)
		return run_fail(r, PROBLEM_NOT_FOUND, "the account got the role, and is gone now");
	answer(x, &account, run_text(r, row_get(&account, account.entity->login.role_at)));
	return true;
}
