/* The body of a write: checks each name and value against the entity's attributes, and reports all errors at once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/entity_key.h"
#include "app/entity/input.h"

#define PROBLEMS_TOLD    50 /* then the rest of the body is not checked */
#define SUGGEST_FOR_MOST 64 /* bytes: longer names get no suggestion */

struct body {
	struct run *r;
	const struct entity *entity;
	enum input_use use;
	const struct action *action;
	struct row *out;
};

bool input_is_kept(const struct attribute *a)
{
	return a->counter || a->now || a->touched || a->derived || a->copy_entity.n || a->managed || a->hidden ||
	       a->after.n || a->the_caller || a->last_writer;
}

/* Whether this caller may set the attribute. Operators may also set attributes that the server keeps. */
static bool may_give(const struct body *b, const struct attribute *a)
{
	if (b->use == INPUT_ACTION)
		return b->action && names_among(b->action->input_at, b->action->input_count, a->at);
	return b->r->caller.operator_ || !input_is_kept(a);
}

static bool refuse_kept(const struct body *b, struct slice name)
{
	if (b->use == INPUT_ACTION)
		return run_invalid(b->r, name, "%s",
				   b->action && b->action->input_count ? "this action does not take it"
								       : "this action takes no input");
	return run_invalid(b->r, name, "cannot be changed by you: the server keeps it");
}

/* ---- names that are not there ---- */
static struct slice suggestion(const struct body *b, struct slice name)
{
	const struct entity *e = b->entity;
	struct slice *known = arena_array(b->r->arena, struct slice, e->attribute_count);
	size_t n = 0;

	if (name.n > SUGGEST_FOR_MOST)
		return (struct slice){ 0 };
	for (size_t i = 0; i < e->attribute_count; i++)
		if (may_give(b, &e->attributes[i]) && !e->attributes[i].hidden)
			known[n++] = e->attributes[i].name;
	return suggest_slice(name, known, n);
}

static bool refuse_unknown(const struct body *b, struct slice name)
{
	struct slice near = suggestion(b, name);

	if (near.n)
		return run_invalid(b->r, name, "there is no such attribute; did you mean '%.*s'?", SLICE_ARG(near));
	return run_invalid(b->r, name, "there is no such attribute");
}

/* ---- passwords ---- */
/* Passwords pass unchanged: write.h hashes them, and stores nothing under these names. */
static bool is_password(const struct body *b, struct slice name)
{
	const struct login *login = &b->entity->login;

	if (!login->present || b->use == INPUT_ACTION)
		return false;
	if (!slice_is(name, "password") && !slice_is(name, "current_password"))
		return false;
	return !entity_attribute(b->entity, name) || slice_equal(login->password, name);
}

static bool take_password(const struct body *b, const struct json_member *m)
{
	if (m->value.type != JSON_STRING)
		return run_invalid(b->r, m->name, "a string");
	row_put(b->out, m->name, value_make_s(b->r->arena, m->value.string));
	return true;
}

/* ---- values ---- */
bool input_default_is_null(const struct attribute *a)
{
	return a->default_ && a->default_->kind == TERM_LITERAL && value_type(a->default_->value) == VALUE_NULL;
}

static bool take_null(const struct body *b, const struct attribute *a)
{
	if (input_default_is_null(a)) {
		row_set(b->out, a->at, value_make_null(b->r->arena));
		return true;
	}
	if (a->required)
		return run_invalid(b->r, a->name, "is required");
	row_set(b->out, a->at, VALUE_ABSENT);
	return true;
}

/* ---- counters in a map ---- */
const struct attribute *input_attribute(const struct entity *e, struct slice name)
{
	for (size_t i = 0; i < e->attribute_count; i++)
		if (slice_equal(e->attributes[i].name, name) || slice_equal(e->attributes[i].group, name))
			return &e->attributes[i];
	return NULL;
}

/* From an operator: restored data. */
static bool take_group(const struct body *b, const struct attribute *first, const struct json_member *m)
{
	bool good = true;

	if (!may_give(b, first))
		return refuse_kept(b, m->name);
	if (m->value.type != JSON_OBJECT)
		return run_invalid(b->r, m->name, "an object of numbers");
	for (size_t i = 0; i < m->value.count; i++) {
		const struct json_member *one = &m->value.members[i];
		struct slice name = arena_printf(b->r->arena, "%.*s.%.*s", SLICE_ARG(m->name), SLICE_ARG(one->name));
		const struct attribute *a = entity_attribute(b->entity, name);
		struct value v;

		if (!a)
			good = run_invalid(b->r, name, "there is no such counter");
		else if (!input_json(b->r, a, name, &one->value, &v))
			good = false;
		else
			row_set(b->out, a->at, v);
	}
	return good;
}

/* ---- parts of lists: append, remove at ---- */
static bool is_part(const struct body *b, const struct attribute *a)
{
	const struct action *x = b->use == INPUT_ACTION ? b->action : NULL;

	return x && (names_among(x->append_at, x->append_count, a->at) || names_among(x->cut_at, x->cut_count, a->at));
}

/* More elements of a list, or the number of one to remove. */
static bool take_part(const struct body *b, const struct attribute *a, const struct json *j)
{
	struct attribute index = { .name = a->name, .type = ATTR_INTEGER, .has_min = true };
	struct attribute more = *a;
	struct value v;

	more.has_min = more.has_max = false;
	if (!input_json(b->r, names_among(b->action->cut_at, b->action->cut_count, a->at) ? &index : &more, a->name, j,
			&v))
		return false;
	row_set(b->out, a->at, v);
	return true;
}

static bool all_parts(const struct body *b)
{
	const struct action *x = b->use == INPUT_ACTION ? b->action : NULL;
	bool good = true;

	for (size_t i = 0; x && i < x->append_count + x->cut_count; i++) {
		const struct name *at = i < x->append_count ? x->append_at[i] : x->cut_at[i - x->append_count];

		if (!row_has(b->out, at) && b->r->problem.type != PROBLEM_INVALID)
			good = run_invalid(b->r, at->text, "is required");
	}
	return good;
}

static bool take_member(const struct body *b, const struct json_member *m)
{
	const struct attribute *a = entity_attribute(b->entity, m->name);
	bool patch;
	struct value v;

	if (is_password(b, m->name))
		return take_password(b, m);
	if (!a && input_attribute(b->entity, m->name))
		return take_group(b, input_attribute(b->entity, m->name), m);
	if (!a)
		return refuse_unknown(b, m->name);
	if (a->the_caller && !b->r->caller.operator_)
		return true;
	if (!may_give(b, a))
		return refuse_kept(b, m->name);
	if (is_part(b, a))
		return take_part(b, a, &m->value);
	if (m->value.type == JSON_NULL)
		return take_null(b, a);
	patch = b->use == INPUT_PATCH && a->type == ATTR_MAP && !a->file && m->value.type == JSON_OBJECT;
	if (patch ? !input_patch(b->r, a, &m->value, &v) : !input_json(b->r, a, a->name, &m->value, &v))
		return false;
	/* No address can contain a zero byte, so the item could be created and never reached. */
	if (value_type(v) == VALUE_S && entity_is_param(b->entity, a->at) && value_bytes(v).n &&
	    memchr(value_bytes(v).p, 0, value_bytes(v).n))
		return run_invalid(b->r, a->name, "is part of the address and cannot have a zero byte in it");
	row_set(b->out, a->at, v);
	return true;
}

bool input_body(struct run *r, const struct entity *e, enum input_use use, const struct action *action,
		const struct json *body, struct row *out)
{
	struct body b = { .r = r, .entity = e, .use = use, .action = action, .out = out };
	size_t bad = 0;

	row_init(out, r->arena, e);
	if (!body)
		return all_parts(&b);
	if (body->type != JSON_OBJECT)
		return run_fail(r, PROBLEM_MALFORMED, "the body must be a JSON object");
	for (size_t i = 0; i < body->count && bad < PROBLEMS_TOLD; i++)
		bad += !take_member(&b, &body->members[i]);
	return all_parts(&b) && !bad;
}

bool input_required(struct run *r, const struct entity *e, const struct row *full)
{
	struct scope s = { .run = r, .item = full };
	bool good = true;

	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];
		bool asked;

		if (!a->required || value_present(row_get(full, a->at)))
			continue;
		if (!scope_holds(&s, a->when, &asked))
			return false;
		if (asked)
			good = run_invalid(r, a->name, "is required");
	}
	return good;
}

/* ---- all at once ---- */

bool input_password_fits(struct run *r, struct slice password)
{
	if (password.n < PASSWORD_LEAST || password.n > PASSWORD_MOST)
		return run_invalid(r, SLICE("password"), "%d to %d bytes", PASSWORD_LEAST, PASSWORD_MOST);
	if (memchr(password.p, 0, password.n)) /* bcrypt would stop reading there */
		return run_invalid(r, SLICE("password"), "without zero bytes");
	return true;
}

void input_add_password(struct run *r, const struct entity *e, struct value password)
{
	if (!e->login.present || r->caller.operator_ || r->design->callers.issuer.n)
		return;
	if (value_type(password) != VALUE_S)
		(void)run_invalid(r, SLICE("password"), "is required");
	else
		(void)!input_password_fits(r, value_bytes(password));
}

/* Whether only the client can give it. */
static bool is_for_client(const struct attribute *a)
{
	return a->required && !a->when && !a->default_ && !a->id && !a->next && !input_is_kept(a);
}

void input_add_missing(struct run *r, const struct entity *e, const struct json *body, const struct slice *path,
		       size_t n)
{
	const struct json *password;

	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];

		if (is_for_client(a) && !slice_among(path, n, a->name) && !json_get_slice(body, a->name))
			(void)run_invalid(r, a->name, "is required");
	}
	password = json_get(body, "password");
	if (!password || password->type == JSON_STRING) /* otherwise the error is reported already */
		input_add_password(r, e, password ? value_make_s(r->arena, password->string) : VALUE_ABSENT);
}
