/* Operations that every design has: login, renew, logout, me, batch, call and the two descriptions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/auth/caller.h"
#include "app/openapi/openapi.h"
#include "design/term/term_text.h"

static void begin_service(struct oas *o, const char *id, const char *summary, bool login)
{
	oas_begin_operation(o, id, SLICE(""), SLICE("service"));
	json_member_word(o->b, "summary", summary);
	oas_security(o, login);
}

/* The rest of an operation: its answer, whose schema `json` is, and its problems. */
static void put_answer(struct oas *o, const char *description, const char *json, unsigned problems)
{
	oas_begin_responses(o);
	oas_begin_content(o, "200", description, 0);
	oas_put(o, json);
	oas_end_content(o);
	oas_end_responses(o, problems);
}

/* Leaves `properties` open. */
static void put_tokens(struct oas *o, bool renewed)
{
	oas_put(o, "{'type':'object','required':['token','token_type','expires_in','subject','roles'");
	oas_put(o, renewed ? "'renewal','renewal_expires_in'],'properties':{" : "],'properties':{");
	oas_put(o, "'token':{'type':'string'},'token_type':{'type':'string'},"
		   "'expires_in':{'type':'integer','description':'Seconds.'},"
		   "'subject':{'type':'string'},'roles':{'type':'array','items':{'type':'string'}}");
	if (renewed)
		oas_put(o, "'renewal':{'type':'string','description':'For one POST /renew, which returns the next one.'},"
			   "'renewal_expires_in':{'type':'integer','description':'Seconds.'}");
}

static void put_renew(struct oas *o)
{
	begin_service(o, "renew", "New tokens for a renewal token", false);
	oas_put(o,
		"'description':'A renewal token is good for one renewal. A second one ends the session, unless it has the "
		"Idempotency-Key of the first.'");
	json_member_open(o->b, "parameters", '[');
	oas_parameters(o, OAS_BIT(OAS_IDEMPOTENCY_KEY));
	json_close(o->b, ']');
	oas_begin_body(o, true);
	oas_put(o, "{'type':'object','required':['renewal'],'properties':{'renewal':{'type':'string'}}}");
	oas_end_content(o);
	oas_begin_responses(o);
	oas_begin_content(o, "200", "For `Authorization: Bearer`, and for the next renewal", 0);
	put_tokens(o, true);
	oas_put(o, "}}");
	oas_end_content(o);
	oas_end_responses(o, OAS_BIT(OAS_400) | OAS_BIT(OAS_401) | OAS_BIT(OAS_422));
}

static void put_logout(struct oas *o)
{
	begin_service(o, "logout", "Ends the session, or all sessions of the account", false);
	oas_begin_body(o, false);
	oas_put(o, "{'type':'object','properties':{"
		   "'everywhere':{'type':'boolean','description':'All sessions of the account.'},"
		   "'renewal':{'type':'string','description':'Instead of the token, which may have ended.'}}}");
	oas_end_content(o);
	oas_begin_responses(o);
	oas_no_content(o, "204", "The session has ended");
	oas_end_responses(o, OAS_BIT(OAS_400) | OAS_BIT(OAS_401) | OAS_BIT(OAS_409) | OAS_BIT(OAS_422));
}

/* The attributes of login.by, and `name` for any of them. */
static void put_names(struct oas *o, const struct entity *e)
{
	for (size_t i = 0; i < e->login.by_count; i++) {
		json_name_string(o->b, e->login.by[i]);
		oas_put(o, "{'type':'string'}");
	}
	if (!slice_among(e->login.by, e->login.by_count, SLICE("name")))
		oas_put(o, "'name':{'type':'string','description':'In place of any of the others.'}");
}

/* One that answers without a body. */
static void put_bare(struct oas *o, const char *status, const char *description, unsigned problems)
{
	oas_begin_responses(o);
	oas_no_content(o, status, description);
	oas_end_responses(o, problems);
}

static void put_reset_send(struct oas *o, const struct entity *e)
{
	begin_service(o, "sendReset", "Sends a token for a new password to the address of an account", false);
	oas_put(o, "'description':'The answer is the same whether or not there is such an account.'");
	oas_begin_body(o, true);
	oas_put(o, "{'type':'object','properties':{");
	put_names(o, e);
	oas_put(o, "}}");
	oas_end_content(o);
	put_bare(o, "202", "If there is such an account", OAS_BIT(OAS_400) | OAS_BIT(OAS_422) | OAS_BIT(OAS_429));
}

static void put_token_use(struct oas *o, const char *id, const char *summary, bool password)
{
	begin_service(o, id, summary, false);
	oas_begin_body(o, true);
	oas_put(o, password ? "{'type':'object','required':['token','password'],'properties':{'token':{'type':'string'},"
			      "'password':{'type':'string','format':'password','writeOnly':true}}}"
			    : "{'type':'object','required':['token'],'properties':{'token':{'type':'string'}}}");
	oas_end_content(o);
	put_bare(o, "204", "Done; the token is used up", OAS_BIT(OAS_400) | OAS_BIT(OAS_401) | OAS_BIT(OAS_422));
}

static void put_role(struct oas *o)
{
	begin_service(o, "giveRole", "Gives an account a role: the first admin", true);
	oas_put(o, "'description':'For operators.','x-operators-only':true");
	oas_begin_body(o, true);
	oas_put(o, "{'type':'object','required':['name','role'],'properties':{'name':{'type':'string','description':"
		   "'Whatever the account logs in with.'},'role':{'type':'string'}}}");
	oas_end_content(o);
	put_answer(o, "The account",
		   "{'type':'object','required':['subject','role'],'properties':{'subject':{'type':'string'},"
		   "'role':{'type':'string'}}}",
		   OAS_BIT(OAS_401) | OAS_BIT(OAS_403) | OAS_BIT(OAS_404) | OAS_BIT(OAS_409) | OAS_BIT(OAS_422));
}

static void put_proof_send(struct oas *o)
{
	begin_service(o, "sendProof", "Sends a token that proves the address of the caller's account", true);
	put_bare(o, "202", "On its way", OAS_BIT(OAS_401) | OAS_BIT(OAS_409) | OAS_BIT(OAS_429));
}

static void put_login(struct oas *o, const struct entity *e)
{
	begin_service(o, "login", "A token for a name and a password", false);
	oas_patterns(o, e->login.patterns, e->login.pattern_count);
	oas_begin_body(o, true);
	oas_put(o, "{'type':'object','required':['password'],'properties':{");
	put_names(o, e);
	oas_put(o, "'password':{'type':'string','format':'password','writeOnly':true}}}");
	oas_end_content(o);
	oas_begin_responses(o);
	oas_begin_content(o, "200", "For `Authorization: Bearer`", 0);
	put_tokens(o, e->login.session_seconds != 0);
	json_name_string(o->b, text_lower(o->a, e->name));
	oas_ref_entity(o, e, OAS_ITEM);
	oas_put(o, "}}");
	oas_end_content(o);
	oas_end_responses(o, OAS_BIT(OAS_400) | OAS_BIT(OAS_401) | OAS_BIT(OAS_422) | OAS_BIT(OAS_429));
}

static void put_me(struct oas *o)
{
	begin_service(o, "me", "Who the token says you are", true);
	oas_begin_responses(o);
	oas_begin_content(o, "200", "The caller", 0);
	oas_ref_common(o, OAS_CALLER);
	oas_end_content(o);
	oas_end_responses(o, OAS_BIT(OAS_401));
}

static void put_batch(struct oas *o)
{
	begin_service(o, "batch", "Many writes, in order, each by itself", false);
	oas_begin_body(o, true);
	oas_put(o, "{'type':'object','required':['requests'],'properties':{'requests':{'type':'array','maxItems':100,"
		   "'items':{'type':'object','required':['method','path'],'properties':{"
		   "'method':{'type':'string','enum':['POST','PUT','PATCH','DELETE']},"
		   "'path':{'type':'string','description':'As in a request of its own: /users/alice.'},"
		   "'body':{'type':'object','additionalProperties':true},"
		   "'if_match':{'type':'string'},'idempotency_key':{'type':'string'}}}}}}");
	oas_end_content(o);
	put_answer(o, "One answer for each",
		   "{'type':'object','required':['responses'],'properties':{'responses':{'type':'array',"
		   "'items':{'type':'object','required':['status'],'properties':{"
		   "'status':{'type':'integer'},'location':{'type':'string'},"
		   "'body':{'description':'The item, or a problem.'}}}}}}",
		   OAS_BIT(OAS_400) | OAS_BIT(OAS_401) | OAS_BIT(OAS_422));
}

static void put_call(struct oas *o)
{
	begin_service(o, "call", "An access pattern by its name, with the requests it made", true);
	oas_put(o, "'description':'For operators.','x-operators-only':true");
	oas_begin_body(o, true);
	oas_put(o, "{'type':'object','required':['pattern'],'properties':{"
		   "'pattern':{'type':'string'},"
		   "'with':{'type':'object','additionalProperties':true},"
		   "'as':{'type':'object','properties':{'subject':{'type':'string'},"
		   "'roles':{'type':'array','items':{'type':'string'}},"
		   "'claims':{'type':'object','additionalProperties':true}}},"
		   "'explain':{'type':'boolean'}}}");
	oas_end_content(o);
	put_answer(o, "What the pattern returns, and how",
		   "{'type':'object','properties':{'result':{},"
		   "'requests':{'type':'array','items':{'type':'object','additionalProperties':true}}}}",
		   OAS_BIT(OAS_400) | OAS_BIT(OAS_401) | OAS_BIT(OAS_403) | OAS_BIT(OAS_404) | OAS_BIT(OAS_422));
}

static void put_document(struct oas *o, const char *id, const char *summary)
{
	begin_service(o, id, summary, false);
	put_answer(o, "A description", "{'type':'object','additionalProperties':true}", OAS_BIT(OAS_404));
}

void oas_service(struct oas *o, const struct route *r)
{
	switch (r->kind) {
	case ROUTE_LOGIN: put_login(o, caller_first_login(o->d)); break;
	case ROUTE_RENEW: put_renew(o); break;
	case ROUTE_LOGOUT: put_logout(o); break;
	case ROUTE_ROLE: put_role(o); break;
	case ROUTE_RESET_SEND: put_reset_send(o, caller_first_login(o->d)); break;
	case ROUTE_RESET: put_token_use(o, "resetPassword", "A new password, with a token that was sent", true); break;
	case ROUTE_PROOF_SEND: put_proof_send(o); break;
	case ROUTE_PROOF:
		put_token_use(o, "proveAddress", "Proves an address, with a token that was sent there", false);
		break;
	case ROUTE_ME: put_me(o); break;
	case ROUTE_BATCH: put_batch(o); break;
	case ROUTE_CALL: put_call(o); break;
	case ROUTE_INDEX: put_document(o, "describe", "Entities, access patterns and their paths"); break;
	default: put_document(o, "openapi", "This document"); break;
	}
}
