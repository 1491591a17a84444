/* Items by their identity: read, create, change, delete, actions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/rest/app_exchange.h"
#include "app/entity/input.h"
#include "design/row.h"
#include "app/entity/output.h"
#include "app/read/read.h"
#include "app/write/write.h"

/* ---- answers ---- */

static bool show_item(struct app_exchange *x, int status, const struct row *i)
{
	struct buf b;

	buf_init(&b, x->run.arena);
	if (!read_output_item(&x->run, i, &b))
		return false;
	answer_buf(x, status, &b);
	x->answer.etag = answer_etag(x->run.arena, output_etag(&x->run, i), x->answer.body);
	x->answer.cache = SLICE("private, no-cache");
	return true;
}

/* The write succeeded, but the database cannot say now what the caller may see of it. With a receipt a repetition will
 * show it; without one the answer is the status alone, for an error would look like a failed write. */
static bool without_item(struct app_exchange *x, int status)
{
	if (x->run.problem.type != PROBLEM_BUSY)
		return false;
	if (x->receipt) {
		x->run.problem.outcome = OUTCOME_DONE;
		return false;
	}
	x->run.problem = (struct problem){ 0 };
	x->answer = (struct answer){ .status = status };
	return true;
}

/* A caller who may write the item need not be one who may read it. */
static bool show_if_readable(struct app_exchange *x, int status, int otherwise, const struct write_result *made)
{
	const struct entity *e = x->match.route->entity;
	struct row item = row_lay(x->run.arena, e, made->full);
	bool readable = made->shown == SHOWN_YES;

	x->run.memo = NULL; /* it may be from before the write */
	if (made->shown == SHOWN_UNKNOWN && !entity_allows_item(&x->run, ALLOW_READ, &item, &readable))
		return without_item(x, otherwise);
	if (readable)
		return show_item(x, status, &item) || without_item(x, otherwise);
	x->answer.status = otherwise;
	return true;
}

static bool show_created(struct app_exchange *x, const struct write_result *made)
{
	struct row item = row_lay(x->run.arena, x->match.route->entity, made->full);
	struct slice path = entity_path(&x->run, &item);

	if (!show_if_readable(x, 201, 201, made))
		return false;
	x->answer.location = arena_printf(x->run.arena, "%.*s%.*s", SLICE_ARG(x->q->base), SLICE_ARG(path));
	return true;
}

static struct write_options options(struct app_exchange *x)
{
	return (struct write_options){ .if_match = answer_if_match(x->run.arena, x->q->if_match),
				       .token = x->token,
				       .receipt = x->receipt,
				       .shown = true };
}

/* ---- the identity in the path ---- */

/* The value of the i-th placeholder of the address. */
static bool path_value(struct app_exchange *x, size_t i, struct value *out)
{
	const struct route *route = x->match.route;

	return input_text(&x->run, route->types[i], route->names[i], x->match.values[i], out);
}

bool path_value_of_item(struct app_exchange *x, size_t i, struct value *out)
{
	const struct entity *e = x->match.route->entity;

	if (path_value(x, i, out))
		return true;
	if (x->run.problem.type != PROBLEM_INVALID)
		return false;
	x->run.problem = (struct problem){ 0 };
	return run_fail(&x->run, PROBLEM_NOT_FOUND, "there is no such %.*s", SLICE_ARG(e ? e->name : SLICE("address")));
}

static bool path_identity(struct app_exchange *x, struct identity *out)
{
	size_t count = x->match.count - (x->match.route->map != NULL); /* the last one is the entry */
	struct value *args = arena_alloc(x->run.arena, (count + 1) * sizeof(*args));

	*out = (struct identity){ x->match.route->entity, args, count };
	for (size_t i = 0; i < count; i++)
		if (!path_value_of_item(x, i, &args[i]))
			return false;
	return true;
}

/* The same in its normal form, as the item has it. */
static bool path_attribute(struct app_exchange *x, size_t i, struct value *out)
{
	if (!path_value(x, i, out))
		return false;
	*out = input_normal(&x->run, x->match.route->types[i], *out);
	return true;
}

static bool differs_from_path(struct app_exchange *x, size_t i)
{
	return run_invalid(&x->run, x->match.route->names[i], "differs from the address");
}

/* Whether the path may give a new item this value. */
static bool may_give(struct app_exchange *x, const struct attribute *a, struct value v)
{
	struct run *r = &x->run;
	struct value self;

	if (!a || r->caller.operator_)
		return true;
	if (a->the_caller) {
		if (!r->caller.subject.n)
			return run_fail(r, PROBLEM_UNAUTHENTICATED, "log in to do this");
		if (!input_text(r, a, a->name, r->caller.subject, &self))
			return false;
		if (!value_equal(self, v))
			return run_fail(r, PROBLEM_FORBIDDEN, "%.*s must be the caller, who is %.*s",
					SLICE_ARG(a->name), SLICE_ARG(r->caller.subject));
	} else if (input_is_kept(a)) {
		return run_invalid(r, a->name, "is set by the server: create the item with POST");
	}
	return true;
}

/* Adds the path's parameters to the body; where the body has them, too, they must not differ. */
static bool give_path(struct app_exchange *x, struct row *given)
{
	const struct route *route = x->match.route;

	for (size_t i = 0; i < x->match.count; i++) {
		struct value v, said = row_get(given, route->at[i]);

		if (!path_attribute(x, i, &v))
			return false;
		if (value_present(said) && !value_equal(said, v))
			return differs_from_path(x, i);
		if (!may_give(x, route->types[i], v))
			return false;
		row_set(given, route->at[i], v);
	}
	return true;
}

/* ---- receipts ---- */

static bool is_creation(const struct app_exchange *x)
{
	return x->match.route->kind == ROUTE_CREATE || (x->match.route->kind == ROUTE_PUT && !x->q->if_match.n);
}

bool answer_receipt(struct app_exchange *x, struct value key)
{
	const struct entity *e = x->match.route->entity;
	struct write_result is = { 0 };

	if (x->match.route->kind == ROUTE_ROLE)
		return answer_role_receipt(x, key);
	if (x->match.route->kind != ROUTE_DELETE && value_present(key) &&
	    !entity_fetch_key(&x->run, e, key, true, &is.full)) {
		x->run.problem.outcome = x->run.problem.type == PROBLEM_BUSY ? OUTCOME_DONE : OUTCOME_NOT_DONE;
		return false;
	}
	if (value_present(is.full))
		return is_creation(x) ? show_created(x, &is) : show_if_readable(x, 200, 204, &is);
	x->answer.status = is_creation(x) ? 201 : 204; /* deleted since */
	return true;
}

/* ---- handlers ---- */

bool handle_item(struct app_exchange *x)
{
	struct row item;
	struct identity of;

	if (!path_identity(x, &of) || !read_item(&x->run, of.entity, of.args, of.count, &item) ||
	    !read_shown(&x->run, &item) || !show_item(x, 200, &item))
		return false;
	answer_if_changed(x);
	return true;
}

static bool create(struct app_exchange *x, bool put)
{
	const struct entity *e = x->match.route->entity;
	struct write_options o = options(x);
	struct write_result made = { 0 };
	struct row given;

	o.put = put;
	if (!input_body(&x->run, e, INPUT_CREATE, NULL, x->body, &given)) {
		if (x->run.problem.type == PROBLEM_INVALID)
			input_add_missing(&x->run, e, x->body, x->match.route->names, x->match.count);
		return false;
	}
	return give_path(x, &given) && write_create(&x->run, e, &given, &o, &made) && show_created(x, &made);
}

bool handle_create(struct app_exchange *x)
{
	return create(x, false);
}

static bool update(struct app_exchange *x, const struct row *changes, bool merge)
{
	struct write_options o = options(x);
	struct write_result made = { 0 };
	struct identity of;

	o.merge = merge;
	return path_identity(x, &of) && write_update(&x->run, &of, changes, &o, &made) &&
	       show_if_readable(x, 200, 204, &made);
}

/* The body without attributes that the server sets: a client replaces an item with one that it has read. */
static const struct json *without_kept(struct app_exchange *x)
{
	const struct entity *e = x->match.route->entity;
	struct json_member *members = arena_array(x->run.arena, struct json_member, x->body->count);
	struct json *body = arena_new(x->run.arena, struct json);
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->body->count; i++) {
		const struct attribute *a = input_attribute(e, x->body->members[i].name);
		bool computed = false;

		for (size_t k = 0; k < e->key_count; k++)
			computed |= !a && slice_equal(e->keys[k].attribute, x->body->members[i].name);
		if (!computed && !(a && input_is_kept(a) && !x->run.caller.operator_))
			members[n++] = x->body->members[i];
	}
	*body = (struct json){ .type = JSON_OBJECT, .count = n, .members = members };
	return body;
}

/* Omitted attributes revert to their default, or are removed. */
static void drop_the_rest(struct app_exchange *x, struct row *changes)
{
	const struct entity *e = x->match.route->entity;

	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];

		if (!row_has(changes, a->at) && !input_is_kept(a) && !a->fixed && !a->id && !a->from_key &&
		    !names_among(e->param_at, e->param_count, a->at))
			row_set(changes, a->at, VALUE_ABSENT);
	}
}

static bool same_as_path(struct app_exchange *x, const struct row *changes)
{
	const struct route *route = x->match.route;
	struct value v;

	for (size_t i = 0; i < x->match.count; i++) {
		if (!row_has(changes, route->at[i]))
			continue;
		if (!path_attribute(x, i, &v))
			return false;
		if (!value_equal(v, row_get(changes, route->at[i])))
			return differs_from_path(x, i);
	}
	return true;
}

bool handle_put(struct app_exchange *x)
{
	struct row changes;

	if (!x->q->if_match.n)
		return create(x, true);
	if (!input_body(&x->run, x->match.route->entity, INPUT_UPDATE, NULL, without_kept(x), &changes) ||
	    !same_as_path(x, &changes))
		return false;
	drop_the_rest(x, &changes);
	return update(x, &changes, false);
}

bool handle_patch(struct app_exchange *x)
{
	struct row changes;

	return input_body(&x->run, x->match.route->entity, INPUT_PATCH, NULL, x->body, &changes) &&
	       update(x, &changes, true);
}

bool handle_delete(struct app_exchange *x)
{
	struct write_options o = options(x);
	struct write_result gone = { 0 };
	struct identity of;

	o.shown = false;
	if (!path_identity(x, &of) || !write_delete(&x->run, &of, &o, &gone))
		return false;
	x->answer.status = 204;
	return true;
}

bool handle_action(struct app_exchange *x)
{
	const struct route *route = x->match.route;
	struct write_options o = options(x);
	struct write_result made = { 0 };
	struct identity of;
	struct row given;

	if (!path_identity(x, &of) || !input_body(&x->run, route->entity, INPUT_ACTION, route->action, x->body, &given) ||
	    !write_action(&x->run, &of, route->action, &given, &o, &made))
		return false;
	if (value_present(made.full))
		return show_if_readable(x, 200, 204, &made);
	x->answer.status = made.gathered ? 202 : 204;
	return true;
}

/* ---- one entry of a map ---- */

static bool change_entry(struct app_exchange *x, const struct json *value, struct write_result *made)
{
	const struct attribute *a = x->match.route->map;
	struct slice entry = x->match.values[x->match.count - 1];
	struct write_options o = options(x);
	struct value name, patch;
	struct identity of;
	struct row changes;

	o.merge = true;
	o.entry = entry;
	row_init(&changes, x->run.arena, x->match.route->entity);
	if (!path_identity(x, &of) || !input_text(&x->run, NULL, a->name, entry, &name) ||
	    !input_entry(&x->run, a, entry, value, &patch))
		return false;
	row_set(&changes, a->at, patch);
	return write_update(&x->run, &of, &changes, &o, made);
}

bool handle_put_entry(struct app_exchange *x)
{
	struct write_result made = { 0 };

	return change_entry(x, x->body, &made) && show_if_readable(x, 200, 204, &made);
}

bool handle_delete_entry(struct app_exchange *x)
{
	struct write_result made = { 0 };

	if (!change_entry(x, NULL, &made))
		return false;
	x->answer.status = 204;
	return true;
}
