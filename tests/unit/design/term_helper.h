/* What the tests of terms and templates share: an arena a test, items from JSON with single quotes,
 * and a scope over one item.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_DESIGN_TERM_HELPER_H
#define THORPE_TESTS_DESIGN_TERM_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "design/row.h"
#include "design/term/template.h"
#include "design/term/term.h"
#include "value/codec.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define UNUSED       __attribute__((unused))

static struct arena arena;

UNUSED static int setup(void **state)
{
	arena_init(&arena);
	return 0;
}

UNUSED static int teardown(void **state)
{
	arena_release(&arena);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* xorshift64*: the same numbers on every run. */
UNUSED static uint32_t next_random(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return (uint32_t)((*seed * UINT64_C(2685821657736338717)) >> 32);
}

UNUSED static const struct json *json(const char *text)
{
	char *copy = arena_cstr(&arena, slice_str(text));
	const struct json *j;

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	j = json_parse(&arena, slice_str(copy));
	if (!j)
		fail_msg("not JSON: %s", copy);
	return j;
}

UNUSED static struct value item(const char *text)
{
	struct value v = VALUE_ABSENT;
	struct error e = { 0 };

	if (!item_from_json(&arena, json(text), &v, &e))
		fail_msg("%s: %.*s", text, SLICE_ARG(e.message));
	return v;
}

/* {'S':'x'}; "-" when absent. */
UNUSED static const char *printed(struct value v)
{
	struct buf b;

	if (!value_present(v))
		return "-";
	assert_true(value_is_valid(v, VALUE_LEVELS_MAX + 1));
	buf_init(&b, &arena);
	value_to_json(&b, v);
	for (size_t i = 0; i < b.n; i++)
		if (b.p[i] == '"')
			b.p[i] = '\'';
	return arena_cstr(&arena, buf_slice(&b));
}

UNUSED static void expect(const char *what, const char *got, const char *wanted)
{
	if (strcmp(got, wanted) != 0)
		fail_msg("%s\n  gives  %s\n  wanted %s", what, got, wanted);
}

/* The only finding: "column+length rule: message | repair". */
UNUSED static const char *found(const struct findings *f)
{
	const struct finding *one = &f->list[0];

	assert_int_equal(f->count, 1);
	return arena_cstr(&arena,
			  arena_printf(&arena, "%d:%d+%d %s: %.*s | %.*s", one->place.line, one->place.column,
				       one->place.length, one->rule, SLICE_ARG(one->message), SLICE_ARG(one->repair)));
}

/* ---- a world to evaluate terms in ---- */

#define NOW_MS INT64_C(1794744000000) /* 2026-11-15T12:00:00Z */

struct world {
	struct row item, old, input;
	int fetches;
	bool fetch_fails;
};

/* Its members `old` and `input`, maps, are what these are. */
UNUSED static void world_has(struct world *w, struct value item)
{
	w->item = row_of(item);
	w->old = row_of(value_get(item, SLICE("old")));
	w->input = row_of(value_get(item, SLICE("input")));
}

UNUSED static struct world world_of(struct value item)
{
	struct world w = { 0 };

	world_has(&w, item);
	return w;
}

/* There is one Follow, of alice and bob, and a User for every string. */
UNUSED static bool world_fetch(void *ctx, const struct term *t, const struct value *args, bool *there, struct value *v,
			       struct error *e)
{
	struct world *w = ctx;
	struct value found = VALUE_ABSENT;

	w->fetches++;
	*there = false;
	*v = VALUE_ABSENT;
	if (w->fetch_fails)
		return error_set(e, &arena, ERR_INTERNAL, "the disk is gone");
	if (slice_is(t->name, "Follow") && t->arg_count == 2 && slice_is(value_bytes(args[0]), "alice") &&
	    slice_is(value_bytes(args[1]), "bob"))
		found = item("{'status':{'S':'active'}}");
	if (slice_is(t->name, "User") && t->arg_count == 1 && value_type(args[0]) == VALUE_S)
		found = item("{'username':{'S':'known'},'age':{'N':'7'}}");
	*there = value_present(found);
	*v = value_get(found, t->attribute);
	return true;
}

UNUSED static bool world_role(void *ctx, struct slice role)
{
	return slice_is(role, "admin") || slice_is(role, "site-owner");
}

UNUSED static bool world_may(void *ctx, struct slice permission)
{
	return slice_is(permission, "site:write");
}

UNUSED static struct term_scope world_scope(struct world *w, const char *caller)
{
	return (struct term_scope){
		.ctx = w,
		.item = &w->item,
		.old = &w->old,
		.input = &w->input,
		.body = true,
		.fetch = world_fetch,
		.has_role = world_role,
		.may = world_may,
		.caller = slice_str(caller),
		.now_ms = NOW_MS,
		.arena = &arena,
	};
}

UNUSED static const struct term *parsed(const char *text)
{
	struct findings f;
	const struct term *t;

	findings_init(&f, &arena);
	t = term_parse(&arena, slice_str(text), (struct place){ 1, 1, 0 }, &f);
	if (!t)
		fail_msg("%s: %s", text, found(&f));
	assert_int_equal(f.count, 0);
	return t;
}

UNUSED static const char *term_text(const struct term *t)
{
	struct buf b;

	buf_init(&b, &arena);
	term_print(&b, t);
	return arena_cstr(&arena, buf_slice(&b));
}

#endif
