/* What is told of entities beforehand: the order of writing, and where a key tells the entity.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_fixture.h"
#include "app/entity.h"
#include "app/outline.h"
#include "value/codec.h"

static const char design[] =
	"entities:\n"
	"  Zoo:\n"
	"    path: /zoos/<id>\n"
	"    attributes:\n"
	"      id: string, id\n      name: string\n      mail: string, private, unique\n      votes: counter\n"
	"      double: = votes * 2\n      secret: string, hidden\n"
	"    keys: {PK: ZOO#<id>, SK: ZOO, kind: ZOO}\n"
	"    companions:\n      - {unique: mail, PK: MAIL#<mail>, SK: MAIL, id: <id>}\n"
	"  Cage:\n"
	"    path: /zoos/<zoo>/cages/<id>\n"
	"    attributes: {zoo: 'string, required', id: 'string, required'}\n"
	"    keys: {PK: ZOO#<zoo>, SK: CAGE#<id>}\n"
	"  Cat:\n"
	"    path: /cats/<id>\n"
	"    attributes: {id: 'string, required', kind: cat | dog}\n"
	"    keys when kind = 'cat': {PK: PET#<id>, SK: PET}\n"
	"  Dog:\n"
	"    path: /dogs/<id>\n"
	"    attributes: {id: 'string, required', kind: cat | dog}\n"
	"    keys when kind = 'dog': {PK: PET#<id>, SK: PET}\n"
	"  Metric:\n"
	"    path: /metrics/<zoo>/<name>\n"
	"    attributes: {zoo: 'string, required', name: 'string, required'}\n"
	"    keys: {PK: METRICS#<zoo>, SK: '<name>'}\n"
	"  Total:\n"
	"    path: /totals/<zoo>\n"
	"    attributes: {zoo: 'string, required'}\n"
	"    keys: {PK: METRICS#<zoo>, SK: TOTAL}\n";

static struct app_fixture f;
static struct run *r;

static int setup(void **state)
{
	(void)state;
	app_fixture_open(&f, design);
	r = app_fixture_run(&f, "alice");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	app_fixture_close(&f);
	return 0;
}

static const struct entity *named(const char *name)
{
	const struct entity *e = design_entity(f.design, slice_str(name));

	assert_non_null(e);
	return e;
}

static struct value item(const char *text)
{
	char *copy = arena_cstr(r->arena, slice_str(text));
	struct error e = { 0 };
	struct value v;

	for (char *p = copy; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	assert_true(item_from_json(r->arena, json_parse(r->arena, slice_str(copy)), &v, &e));
	return v;
}

static void names_are_sorted_and_know_their_place(void **state)
{
	static const char *const order[] = { "id", "name", "mail", "votes", "double", "secret", "kind" };
	const struct outline *o = outline_of(r, named("Zoo"));

	(void)state;
	assert_int_equal(o->written, 7);
	for (size_t i = 0; i < o->count; i++) {
		assert_true(i >= o->written || slice_is(o->placed[i]->name, order[i]));
		assert_int_equal(o->placed[i]->place, i);
		assert_true(!i || slice_cmp(o->sorted[i - 1].name, o->sorted[i].name) < 0);
	}
	assert_true(slice_is(o->placed[0]->label, ",\"id\":"));
	assert_true(o->placed[2]->private_ && o->placed[5]->hidden);
}

static void what_moves_by_itself_is_in_no_validator(void **state)
{
	const struct outline *o = outline_of(r, named("Zoo"));

	(void)state;
	assert_true(o->placed[0]->tagged && o->placed[1]->tagged && o->placed[2]->tagged);
	assert_false(o->placed[3]->tagged || o->placed[4]->tagged || o->placed[5]->tagged || o->placed[6]->tagged);
}

static struct value laid(const struct outline *o, const struct value *places, const char *name)
{
	for (size_t i = 0; i < o->count; i++)
		if (slice_is(o->sorted[i].name, name))
			return places[o->sorted[i].place];
	fail_msg("%s has no place", name);
	return VALUE_ABSENT;
}

/* Whatever of it is there: every subset of an item's attributes, strangers among them. */
static void an_item_is_laid_out_whatever_it_lacks(void **state)
{
	static const char *const names[] = { "A", "PK", "SK", "a_very_long_name_that_is_nobodys", "double", "expires_at", "id",
					     "idea", "kind", "mail", "name", "nam", "secret", "votes", "zz" };
	const struct outline *o = outline_of(r, named("Zoo"));
	size_t n = sizeof(names) / sizeof(*names);

	(void)state;
	for (unsigned set = 0; set < 1u << n; set += 1 + set % 7) {
		struct value_member members[16];
		const struct value *places;
		struct value v;
		size_t count = 0;

		for (size_t i = 0; i < n; i++)
			if (set >> i & 1)
				members[count++] = (struct value_member){ slice_str(names[i]), value_make_s(r->arena, slice_str(names[i])) };
		v = value_make_map(r->arena, members, count);
		places = outline_lay(r->arena, o, v);
		for (size_t i = 0; i < o->count; i++)
			assert_true(value_equal(places[i], value_get(v, o->placed[i]->name)));
	}
}

static void what_is_no_map_has_nothing_at_any_place(void **state)
{
	const struct outline *o = outline_of(r, named("Zoo"));
	const struct value *places = outline_lay(r->arena, o, VALUE_ABSENT);

	(void)state;
	for (size_t i = 0; i < o->count; i++)
		assert_false(value_present(places[i]));
	assert_false(outline_is_keyed(r, o, places) || outline_is_whole(o, places));
}

static void keys_and_identity_are_told_from_the_places(void **state)
{
	const struct outline *zoo = outline_of(r, named("Zoo")), *cat = outline_of(r, named("Cat"));
	const struct value *places = outline_lay(r->arena, zoo, item("{'PK':{'S':'ZOO#1'},'SK':{'S':'ZOO'},'id':{'S':'1'}}"));

	(void)state;
	assert_true(outline_is_keyed(r, zoo, places) && outline_is_whole(zoo, places));
	assert_true(slice_is(value_bytes(laid(zoo, places, "PK")), "ZOO#1"));
	places = outline_lay(r->arena, zoo, item("{'PK':{'S':'ZOO#1'},'SK':{'S':'ZOO'}}"));
	assert_true(outline_is_keyed(r, zoo, places));
	assert_false(outline_is_whole(zoo, places));
	places = outline_lay(r->arena, zoo, item("{'PK':{'S':'ZOO#1'},'SK':{'S':'CAGE#1'},'id':{'S':'1'}}"));
	assert_false(outline_is_keyed(r, zoo, places));
	places = outline_lay(r->arena, zoo, item("{'PK':{'S':'ZOO#1'},'id':{'S':'1'}}"));
	assert_false(outline_is_keyed(r, zoo, places));
	/* where conditions choose the key, its shape does not tell */
	places = outline_lay(r->arena, cat, item("{'PK':{'S':'PET#1'},'SK':{'S':'PET'},'id':{'S':'1'},'kind':{'S':'cat'}}"));
	assert_false(outline_is_keyed(r, cat, places));
}

static void keys_tell_the_entity_where_no_other_has_their_shape(void **state)
{
	(void)state;
	assert_true(outline_of(r, named("Zoo"))->alone);
	assert_true(outline_of(r, named("Cage"))->alone);
	assert_false(outline_of(r, named("Cat"))->alone);
	assert_false(outline_of(r, named("Dog"))->alone);
	assert_false(outline_of(r, named("Metric"))->alone);
	assert_false(outline_of(r, named("Total"))->alone);
}

static void whatever_is_likely_the_entity_is_the_same(void **state)
{
	static const char *const items[] = {
		"{'PK':{'S':'ZOO#1'},'SK':{'S':'ZOO'},'kind':{'S':'ZOO'},'id':{'S':'1'}}",
		"{'PK':{'S':'ZOO#1'},'SK':{'S':'ZOO'},'kind':{'S':'OTHER'},'id':{'S':'1'}}",
		"{'PK':{'S':'ZOO#1'},'SK':{'S':'CAGE#2'},'zoo':{'S':'1'},'id':{'S':'2'}}",
		"{'PK':{'S':'ZOO#1'},'SK':{'S':'CAGE#'}}",
		"{'PK':{'S':'MAIL#x'},'SK':{'S':'MAIL'}}",
		"{'PK':{'S':'PET#1'},'SK':{'S':'PET'},'kind':{'S':'cat'},'id':{'S':'1'}}",
		"{'PK':{'S':'PET#1'},'SK':{'S':'PET'},'kind':{'S':'dog'},'id':{'S':'1'}}",
		"{'PK':{'S':'METRICS#1'},'SK':{'S':'TOTAL'},'zoo':{'S':'1'}}",
		"{'PK':{'S':'METRICS#1'},'SK':{'S':'visits'},'zoo':{'S':'1'},'name':{'S':'visits'}}",
		"{'PK':{'S':'x'},'SK':{'S':'y'}}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(items) / sizeof(*items); i++) {
		struct value v = item(items[i]);
		const struct entity *e = entity_of(r, v);

		assert_ptr_equal(entity_of_likely(r, v, NULL), e);
		for (size_t k = 0; k <= f.design->entity_count; k++) {
			const struct entity *likely = k < f.design->entity_count ? &f.design->entities[k] : NULL;
			struct entity_item found = entity_recognise(r, v, likely);

			assert_ptr_equal(entity_of_likely(r, v, likely), e);
			assert_ptr_equal(found.entity, e);
			assert_true(!e || value_equal(found.full, entity_full(r, e, v)));
			assert_int_equal(found.places != NULL, e != NULL);
		}
	}
}

static void what_has_expired_is_not_recognised(void **state)
{
	const struct entity *e = named("Zoo");

	(void)state;
	assert_null(entity_recognise(r, item("{'PK':{'S':'ZOO#1'},'SK':{'S':'ZOO'},'id':{'S':'1'},'expires_at':{'N':'1000'}}"), e).entity);
	assert_null(entity_recognise(r, item("{'PK':{'S':'ZOO#1'},'SK':{'S':'ZOO'},'id':{'S':'1'},'expires_at':{'N':'1768473000'}}"), e).entity);
	assert_ptr_equal(entity_recognise(r, item("{'PK':{'S':'ZOO#1'},'SK':{'S':'ZOO'},'id':{'S':'1'},'expires_at':{'N':'1768473000.5'}}"),
					  e).entity, e);
	assert_ptr_equal(entity_recognise(r, item("{'PK':{'S':'ZOO#1'},'SK':{'S':'ZOO'},'id':{'S':'1'},'expires_at':{'S':'1000'}}"), e).entity, e);
	r->now_ms -= 1000;
	assert_ptr_equal(entity_recognise(r, item("{'PK':{'S':'ZOO#1'},'SK':{'S':'ZOO'},'id':{'S':'1'},'expires_at':{'N':'1768473000'}}"),
					  e).entity, e);
}

static void those_of_an_app_are_the_same(void **state)
{
	const struct outline *kept = outline_of(r, named("Cage")), *made;

	(void)state;
	assert_ptr_equal(kept, &f.app.outlines[named("Cage") - f.design->entities]);
	r->app = NULL;
	made = outline_of(r, named("Cage"));
	assert_ptr_not_equal(made, kept);
	assert_int_equal(kept->count, made->count);
	assert_int_equal(kept->alone, made->alone);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(names_are_sorted_and_know_their_place),
		TEST(what_moves_by_itself_is_in_no_validator),
		TEST(an_item_is_laid_out_whatever_it_lacks),
		TEST(what_is_no_map_has_nothing_at_any_place),
		TEST(keys_and_identity_are_told_from_the_places),
		TEST(keys_tell_the_entity_where_no_other_has_their_shape),
		TEST(whatever_is_likely_the_entity_is_the_same),
		TEST(what_has_expired_is_not_recognised),
		TEST(those_of_an_app_are_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
