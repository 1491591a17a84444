/* Writes in words: entities by their names, bodies as JSON, identities as text with slashes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_WRITE_HELPER_H
#define THORPE_TESTS_WRITE_HELPER_H

#include "app_fixture.h"
#include "app/db/dyn.h"
#include "app/entity/input.h"
#include "app/entity/output.h"
#include "app/write/write.h"
#include "value/codec.h"

static inline const struct entity *entity_named(const struct run *r, const char *name)
{
	const struct entity *e = design_entity(r->design, slice_str(name));

	if (!e)
		fail_msg("there is no entity %s", name);
	return e;
}

/* "alice/bob" */
static inline struct value *identity(struct run *r, const struct entity *e, const char *text)
{
	struct value *args = arena_array(r->arena, struct value, e->param_count);

	for (size_t i = 0; i < e->param_count; i++) {
		size_t n = strcspn(text, "/");

		const struct attribute *a = entity_attribute(e, e->params[i]);

		args[i] = a && a->type == ATTR_INTEGER ? value_make_i64(r->arena, strtoll(text, NULL, 10))
						       : value_make_s(r->arena, slice_make(text, n));
		text += n + (text[n] == '/');
	}
	return args;
}

static inline const struct json *body(struct run *r, const char *json)
{
	const struct json *j = json ? json_parse(r->arena, slice_str(json)) : NULL;

	assert_true(!json || j);
	return j;
}

/* ---- each as a call that may fail ---- */

/* The body may name what a path would: strings that input_body() would not take are set as they are. */
static inline bool try_create(struct run *r, const char *entity, const char *path, const char *json,
			      struct write_result *out)
{
	const struct entity *e = entity_named(r, entity);
	struct row given;

	if (!input_body(r, e, INPUT_CREATE, NULL, body(r, json), &given))
		return false;
	if (path) {
		struct value *args = identity(r, e, path);

		for (size_t i = 0; i < e->param_count; i++)
			row_put(&given, e->params[i], args[i]);
	}
	return write_create(r, e, &given, NULL, out);
}

static inline bool try_update(struct run *r, const char *entity, const char *path, const char *json,
			      const struct write_options *o, struct write_result *out)
{
	const struct entity *e = entity_named(r, entity);
	struct row given;

	return input_body(r, e, INPUT_UPDATE, NULL, body(r, json), &given) &&
	       write_update(r, &(struct identity){ e, identity(r, e, path), e->param_count }, &given, o, out);
}

static inline bool try_action(struct run *r, const char *entity, const char *path, const char *action, const char *json,
			      struct write_result *out)
{
	const struct entity *e = entity_named(r, entity);
	struct row given;

	for (size_t i = 0; i < e->action_count; i++)
		if (slice_is(e->actions[i].name, action))
			return input_body(r, e, INPUT_ACTION, &e->actions[i], body(r, json), &given) &&
			       write_action(r, &(struct identity){ e, identity(r, e, path), e->param_count },
					    &e->actions[i], &given, NULL, out);
	fail_msg("there is no action %s", action);
	return false;
}

static inline bool try_delete(struct run *r, const char *entity, const char *path, const struct write_options *o)
{
	const struct entity *e = entity_named(r, entity);
	struct write_result out;

	return write_delete(r, &(struct identity){ e, identity(r, e, path), e->param_count }, o, &out);
}

/* ---- and as one that must not ---- */

static inline void must(struct run *r, bool done, const char *what)
{
	if (!done)
		fail_msg("%s: %s: %.*s", what, problem_name(r->problem.type), SLICE_ARG(r->problem.detail));
}

static inline struct value created(struct app_fixture *f, const char *who, const char *entity, const char *path,
				   const char *json)
{
	struct run *r = app_fixture_run(f, who);
	struct write_result out = { 0 };

	must(r, try_create(r, entity, path, json, &out), entity);
	assert_true(out.created);
	return out.full;
}

static inline struct value updated(struct app_fixture *f, const char *who, const char *entity, const char *path,
				   const char *json)
{
	struct run *r = app_fixture_run(f, who);
	struct write_result out = { 0 };

	must(r, try_update(r, entity, path, json, NULL, &out), entity);
	return out.full;
}

static inline struct value acted(struct app_fixture *f, const char *who, const char *entity, const char *path,
				 const char *action, const char *json)
{
	struct run *r = app_fixture_run(f, who);
	struct write_result out = { 0 };

	must(r, try_action(r, entity, path, action, json, &out), action);
	return out.full;
}

static inline void deleted(struct app_fixture *f, const char *who, const char *entity, const char *path)
{
	struct run *r = app_fixture_run(f, who);

	must(r, try_delete(r, entity, path, NULL), entity);
}

/* ---- what went wrong ---- */

static inline void assert_problem(const struct run *r, enum problem_type type, const char *part)
{
	if (r->problem.type != type)
		fail_msg("%s: %.*s, instead of %s", problem_name(r->problem.type), SLICE_ARG(r->problem.detail),
			 problem_name(type));
	if (part && !memmem(r->problem.detail.p, r->problem.detail.n, part, strlen(part)))
		fail_msg("'%.*s' does not say '%s'", SLICE_ARG(r->problem.detail), part);
}

static inline void create_fails(struct app_fixture *f, const char *who, const char *entity, const char *path,
				const char *json, enum problem_type type, const char *part)
{
	struct run *r = app_fixture_run(f, who);
	struct write_result out;

	assert_false(try_create(r, entity, path, json, &out));
	assert_problem(r, type, part);
}

static inline void update_fails(struct app_fixture *f, const char *who, const char *entity, const char *path,
				const char *json, enum problem_type type, const char *part)
{
	struct run *r = app_fixture_run(f, who);
	struct write_result out;

	assert_false(try_update(r, entity, path, json, NULL, &out));
	assert_problem(r, type, part);
}

static inline void action_fails(struct app_fixture *f, const char *who, const char *entity, const char *path,
				const char *action, enum problem_type type, const char *part)
{
	struct run *r = app_fixture_run(f, who);
	struct write_result out;

	assert_false(try_action(r, entity, path, action, NULL, &out));
	assert_problem(r, type, part);
}

static inline void delete_fails(struct app_fixture *f, const char *who, const char *entity, const char *path,
				enum problem_type type, const char *part)
{
	struct run *r = app_fixture_run(f, who);

	assert_false(try_delete(r, entity, path, NULL));
	assert_problem(r, type, part);
}

/* ---- what is in the table ---- */

/* By the table's key; absent: nothing. */
static inline struct value stored(struct app_fixture *f, const char *pk, const char *sk)
{
	struct run *r = app_fixture_run(f, "!");
	struct value_member key[] = { { SLICE("PK"), value_make_s(r->arena, slice_str(pk)) },
				      { SLICE("SK"), value_make_s(r->arena, slice_str(sk)) } };
	struct value item;

	must(r, dyn_get(r, value_make_map(r->arena, key, 2), true, &item), pk);
	return item;
}

static inline bool is_stored(struct app_fixture *f, const char *pk, const char *sk)
{
	return value_present(stored(f, pk, sk));
}

static inline struct value item(struct app_fixture *f, const char *entity, const char *path)
{
	struct run *r = app_fixture_run(f, "!");
	const struct entity *e = entity_named(r, entity);
	struct row found;

	must(r, entity_fetch(r, e, identity(r, e, path), e->param_count, true, &found), entity);
	return found.full;
}

static inline int64_t number(struct value it, const char *name)
{
	struct value v = value_get(it, slice_str(name));
	struct number n;
	int64_t out;

	if (value_type(v) != VALUE_N)
		fail_msg("%s is not a number", name);
	n = value_number(v);
	assert_true(number_to_i64(&n, &out));
	return out;
}

static inline void assert_text(struct value it, const char *name, const char *text)
{
	struct value v = value_get(it, slice_str(name));

	if (value_type(v) != VALUE_S || !slice_is(value_bytes(v), text))
		fail_msg("%s is '%.*s' instead of '%s'", name, SLICE_ARG(value_bytes(v)), text);
}

/* Everything, for recounts. */
static inline size_t scan(struct app_fixture *f, struct value *out, size_t room)
{
	struct run *r = app_fixture_run(f, "!");
	struct slice start = SLICE("");
	size_t n = 0;

	for (;;) {
		struct backend_reply reply;
		const struct json *items, *last;
		struct error e = { 0 };
		struct buf b;

		backend_call(r->backend, r->arena, "Scan",
			     arena_printf(r->arena, "{\"TableName\":\"%.*s\",\"ConsistentRead\":true%.*s}",
					  SLICE_ARG(r->design->table), SLICE_ARG(start)),
			     &reply);
		assert_int_equal(reply.status, 200);
		items = json_get(reply.body, "Items");
		for (size_t i = 0; i < items->count; i++) {
			assert_true(n < room);
			assert_true(item_from_json(r->arena, &items->items[i], &out[n++], &e));
		}
		last = json_get(reply.body, "LastEvaluatedKey");
		if (!last)
			return n;
		buf_init(&b, r->arena);
		buf_lit(&b, ",\"ExclusiveStartKey\":");
		json_write(&b, last);
		start = buf_slice(&b);
	}
}

#endif
