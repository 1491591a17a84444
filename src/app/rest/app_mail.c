/* Tokens that are sent: a lost password, and proof of an address (auth/mail.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/auth/mail.h"
#include "app/db/moved.h"
#include "app/rest/app_exchange.h"
#include "app/write/write.h"

static void accepted(struct app_exchange *x)
{
	answer_json(x, 202, SLICE("{}\n"));
	x->answer.cache = SLICE("no-store");
}

bool handle_reset_send(struct app_exchange *x)
{
	if (!moved_allows(&x->run) || !mail_ask_reset(&x->run, x->body, x->q->client))
		return false;
	accepted(x);
	return true;
}

bool handle_proof_send(struct app_exchange *x)
{
	if (!moved_allows(&x->run) || !mail_ask_proof(&x->run, x->q->client))
		return false;
	accepted(x);
	return true;
}

static bool is_still(void *ctx, struct run *r, const struct row *full)
{
	return mail_still(r, ctx, full);
}

/* The change that the token allows, as no caller of the design could make it. */
static bool change_account(struct app_exchange *x, struct mail_proof *p, const struct row *changes)
{
	const struct login *login = &p->entity->login;
	const struct name *reads[] = { login->password_at, login->mail.address_at, login->mail.verified_at };
	struct write_options o = {
		.token = x->token, .still = is_still, .still_ctx = p, .still_reads = reads, .still_count = 3
	};
	struct identity of = { p->entity, p->args, p->entity->param_count };
	struct write_result made = { 0 };
	struct caller was = x->run.caller;
	bool ok;

	x->run.caller = (struct caller){ .operator_ = true, .subject = p->subject };
	ok = write_update(&x->run, &of, changes, &o, &made);
	x->run.caller = was;
	if (!ok && x->run.problem.type == PROBLEM_NOT_FOUND) { /* the account is gone */
		x->run.problem = (struct problem){ 0 };
		return run_fail(&x->run, PROBLEM_UNAUTHENTICATED,
				"this token was used already, or has ended: ask for another one");
	}
	x->answer.status = 204;
	x->answer.cache = SLICE("no-store");
	return ok;
}

bool handle_reset(struct app_exchange *x)
{
	const struct json *password = json_get_present(x->body, "password");
	struct mail_proof p;
	struct row changes;

	if (!json_is(password, JSON_STRING))
		return run_invalid(&x->run, SLICE("password"), password ? "must be a string" : "is missing");
	if (!moved_allows(&x->run) || !mail_read(&x->run, MAIL_RESET, x->body, &p))
		return false;
	row_init(&changes, x->run.arena, p.entity);
	row_put(&changes, SLICE("password"), value_make_s(x->run.arena, password->string));
	return change_account(x, &p, &changes);
}

bool handle_proof(struct app_exchange *x)
{
	struct mail_proof p;
	struct row changes;

	if (!moved_allows(&x->run) || !mail_read(&x->run, MAIL_PROOF, x->body, &p))
		return false;
	row_init(&changes, x->run.arena, p.entity);
	row_set(&changes, p.entity->login.mail.verified_at, value_make_bool(x->run.arena, true));
	return change_account(x, &p, &changes);
}
