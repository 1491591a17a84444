/* Items of the designs that are shipped: completed, stored, recognised and found again; companions are taken for none.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_fixture.h"
#include <stdio.h>
#include "app/db/dyn.h"
#include "app/entity/entity.h"
#include "app/entity/input.h"
#include "design/term/regex.h"

/* THORPE_ROOT: the top of the source tree, given by the build. */
static struct value text(struct run *r, const char *s)
{
	return value_make_s(r->arena, slice_str(s));
}

static struct value number(struct run *r, int64_t n)
{
	return value_make_i64(r->arena, n);
}

/* Puts a completed item and its companions into the table. */
static void store(struct run *r, const struct entity *e, const struct row *f)
{
	struct dyn_refusal refusal;
	struct companion_item *list;
	size_t n;

	assert_int_equal(dyn_write(r, &(struct dyn_write){ .kind = DYN_PUT, .item = entity_stored(r, e, f) }, 1,
				   SLICE(""), &refusal),
			 DYN_DONE);
	assert_true(entity_companions(r, e, f, &list, &n));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(dyn_write(r, &(struct dyn_write){ .kind = DYN_PUT, .item = list[i].item }, 1,
					   SLICE(""), &refusal),
				 DYN_DONE);
}

static char *read_design(const char *name)
{
	static char room[256 * 1024];
	char path[1024];
	FILE *file;
	size_t n;

	(void)snprintf(path, sizeof(path), "%s/designs/%s.yaml", THORPE_ROOT, name);
	file = fopen(path, "rb");
	if (!file)
		fail_msg("cannot read %s", path);
	n = fread(room, 1, sizeof(room) - 1, file);
	(void)fclose(file);
	room[n] = '\0';
	/* The fixture tells a whole design by its first word. */
	return strstr(room, "\ndesign:") && strncmp(room, "design:", 7) ? strstr(room, "\ndesign:") + 1 : room;
}

/* A text for each pattern of the designs. */
static struct value matching(struct run *r, const struct regex *x)
{
	static const char *const texts[] = { "0a1b2c", "0123456789abcdef0123456789abcdef01234567", "@bob" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (regex_match(x, slice_str(texts[i])) == REGEX_YES)
			return text(r, texts[i]);
	fail_msg("no text here matches %.*s", SLICE_ARG(regex_text(x)));
	return VALUE_ABSENT;
}

static struct value file_sample(struct run *r, const struct file_rule *f)
{
	struct value_member members[] = {
		{ SLICE("file"), text(r, "01J00000000000000000000000") },
		{ SLICE("size"), number(r, 1) },
		{ SLICE("type"), value_make_s(r->arena, f->types[0]) },
	};

	return value_make_map(r->arena, members, 3);
}

static struct value sample(struct run *r, const struct attribute *a, bool last)
{
	struct value v;

	if (a->matches && (a->type == ATTR_STRING || a->type == ATTR_TEXT))
		return matching(r, a->matches);
	switch (a->type) {
	case ATTR_NUMBER:
	case ATTR_INTEGER: return number(r, a->has_max && a->max < 3 ? (int64_t)a->max : 3);
	case ATTR_EPOCH: return number(r, APP_FIXTURE_NOW / 1000 + 1000);
	case ATTR_BOOLEAN: return value_make_bool(r->arena, false);
	case ATTR_TIMESTAMP: return text(r, "2026-01-15T10:00:00Z");
	case ATTR_ENUM: return value_make_s(r->arena, a->choices[last ? a->choice_count - 1 : 0]);
	case ATTR_LIST:
		v = a->matches            ? matching(r, a->matches)
		    : a->form == FORM_URL ? text(r, "https://example.com/one")
					  : text(r, "one");
		return value_make_list(r->arena, &v, 1);
	case ATTR_SET: return value_make_set(r->arena, VALUE_SS, &SLICE("one"), 1);
	case ATTR_MAP: return a->file ? file_sample(r, a->file) : value_make_map(r->arena, NULL, 0);
	case ATTR_BINARY: return value_make_b(r->arena, SLICE("x"));
	default: break;
	}
	switch (a->form) {
	case FORM_EMAIL: return text(r, "ann@example.com");
	case FORM_URL: return text(r, "https://example.com/");
	default: return value_make_s(r->arena, arena_printf(r->arena, "v-%.*s", SLICE_ARG(a->name)));
	}
}

/* Given on every creation: the rest may be left out. */
static bool is_always_there(const struct entity *e, const struct attribute *a)
{
	bool identity = false;

	for (size_t i = 0; i < e->param_count; i++)
		identity = identity || slice_equal(e->params[i], a->name);
	return identity || a->required || a->id || a->now || a->touched || a->the_caller || a->type == ATTR_ENUM ||
	       a->copy_entity.n;
}

static void check_companions(struct run *r, const struct entity *e, const struct row *f)
{
	struct companion_item *list;
	size_t n;

	assert_true(entity_companions(r, e, f, &list, &n));
	for (size_t i = 0; i < n; i++)
		if (entity_of(r, list[i].item))
			fail_msg("a companion of %.*s is taken for a %.*s", SLICE_ARG(e->name),
				 SLICE_ARG(entity_of(r, list[i].item)->name));
}

/* With all attributes or only some; with the last of its choices or the first. */
static void check_round_trip(struct run *r, const struct entity *e, bool all, bool last)
{
	struct value stored, k, *args;
	struct row f, item;

	row_init(&f, r->arena, NULL);
	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];

		if (!a->derived && (all || is_always_there(e, a)))
			row_put(&f, a->name, input_normal(r, a, sample(r, a, last)));
	}
	if (!entity_complete(r, e, &f, VALUE_ABSENT))
		fail_msg("%.*s: %.*s %.*s", SLICE_ARG(e->name), SLICE_ARG(r->problem.detail),
			 SLICE_ARG(r->problem.part_count ? r->problem.parts[0].detail : SLICE("")));
	stored = entity_stored(r, e, &f);
	if (entity_of(r, stored) != e)
		fail_msg("a %.*s is not recognised", SLICE_ARG(e->name));
	assert_true(value_equal(entity_full(r, e, stored), row_item(&f)));
	/* The key alone, as in an index of keys, will do. */
	assert_true(entity_of(r, dyn_key_of(r, stored)) == e);
	item = entity_lay(r, e, stored);
	args = entity_identity(r, &item);
	store(r, e, &f);
	assert_true(entity_locate(r, e, args, e->param_count, &k));
	if (!value_equal(k, dyn_key_of(r, stored)))
		fail_msg("the identity of a %.*s does not lead to it", SLICE_ARG(e->name));
	check_companions(r, e, &f);
}

static void items_of_the_shipped_designs_are_recognised_and_found(void **state)
{
	static const char *const names[] = { "wavyblog",          "blog", "fus", "social", "perfectit", "examples/saas",
					     "examples/code-host" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (int variant = 0; variant < 4; variant++) {
			struct app_fixture f;

			app_fixture_open(&f, read_design(names[i]));
			for (size_t k = 0; k < f.design->entity_count; k++)
				check_round_trip(app_fixture_run(&f, "!"), &f.design->entities[k], variant & 1,
						 variant & 2);
			app_fixture_close(&f);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_of_the_shipped_designs_are_recognised_and_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
