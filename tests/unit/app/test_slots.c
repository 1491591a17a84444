/* What the loader computes of entities: the order of writing, and which keys identify the entity.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_fixture.h"
#include "app/entity/entity.h"
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
	const struct slots *o = named("Zoo")->slots;

	(void)state;
	assert_int_equal(o->written, 7);
	for (size_t i = 0; i < o->count; i++) {
		assert_true(i >= o->written || slice_is(o->list[i]->name->text, order[i]));
		assert_int_equal(o->list[i]->at, i);
		assert_true(!i || slice_cmp(o->sorted[i - 1].name->text, o->sorted[i].name->text) < 0);
	}
	assert_true(slice_is(o->list[0]->label, ",\"id\":"));
	assert_true(o->list[2]->private_ && o->list[5]->hidden);
}

static void what_moves_by_itself_is_in_no_validator(void **state)
{
	const struct slots *o = named("Zoo")->slots;

	(void)state;
	assert_true(o->list[0]->tagged && o->list[1]->tagged && o->list[2]->tagged);
	assert_false(o->list[3]->tagged || o->list[4]->tagged || o->list[5]->tagged || o->list[6]->tagged);
}

static struct value laid(const struct slots *o, const struct value *places, const char *name)
{
	for (size_t i = 0; i < o->count; i++)
		if (slice_is(o->sorted[i].name->text, name))
			return places[o->sorted[i].at];
	fail_msg("%s has no place", name);
	return VALUE_ABSENT;
}

/* Whatever of it is there: every subset of an item's attributes, strangers among them. */
static void an_item_is_laid_out_whatever_it_lacks(void **state)
{
	static const char *const names[] = { "A",      "PK",         "SK",   "a_very_long_name_that_is_nobodys",
					     "double", "expires_at", "id",   "idea",
					     "kind",   "mail",       "name", "nam",
					     "secret", "votes",      "zz" };
	const struct slots *o = named("Zoo")->slots;
	size_t n = sizeof(names) / sizeof(*names);

	(void)state;
	for (unsigned set = 0; set < 1u << n; set += 1 + set % 7) {
		struct value_member members[16];
		const struct value *places;
		struct value v;
		size_t count = 0;

		for (size_t i = 0; i < n; i++)
			if (set >> i & 1)
				members[count++] = (struct value_member){ slice_str(names[i]),
									  value_make_s(r->arena, slice_str(names[i])) };
		v = value_make_map(r->arena, members, count);
		places = slots_lay(r->arena, o, v);
		for (size_t i = 0; i < o->count; i++)
			assert_true(value_equal(places[i], value_get(v, o->list[i]->name->text)));
	}
}

static void a_non_map_has_no_slots(void **state)
{
	const struct slots *o = named("Zoo")->slots;
	const struct value *places = slots_lay(r->arena, o, VALUE_ABSENT);

	(void)state;
	for (size_t i = 0; i < o->count; i++)
		assert_false(value_present(places[i]));
	assert_false(slots_are_keyed(r->arena, o, places) || slots_are_whole(o, places));
}

static void keys_and_identity_are_read_from_slots(void **state)
{
	const struct slots *zoo = named("Zoo")->slots, *cat = named("Cat")->slots;
	const struct value *places =
		slots_lay(r->arena, zoo, item("{'PK':{'S':'ZOO#1'},'SK':{'S':'ZOO'},'id':{'S':'1'}}"));

	(void)state;
	assert_true(slots_are_keyed(r->arena, zoo, places) && slots_are_whole(zoo, places));
	assert_true(slice_is(value_bytes(laid(zoo, places, "PK")), "ZOO#1"));
	places = slots_lay(r->arena, zoo, item("{'PK':{'S':'ZOO#1'},'SK':{'S':'ZOO'}}"));
	assert_true(slots_are_keyed(r->arena, zoo, places));
	assert_false(slots_are_whole(zoo, places));
	places = slots_lay(r->arena, zoo, item("{'PK':{'S':'ZOO#1'},'SK':{'S':'CAGE#1'},'id':{'S':'1'}}"));
	assert_false(slots_are_keyed(r->arena, zoo, places));
	places = slots_lay(r->arena, zoo, item("{'PK':{'S':'ZOO#1'},'id':{'S':'1'}}"));
	assert_false(slots_are_keyed(r->arena, zoo, places));
	/* where conditions choose the key, its shape does not tell */
	places = slots_lay(r->arena, cat,
			   item("{'PK':{'S':'PET#1'},'SK':{'S':'PET'},'id':{'S':'1'},'kind':{'S':'cat'}}"));
	assert_false(slots_are_keyed(r->arena, cat, places));
}

static void keys_tell_the_entity_where_no_other_has_their_shape(void **state)
{
	(void)state;
	assert_true(named("Zoo")->slots->alone);
	assert_true(named("Cage")->slots->alone);
	assert_false(named("Cat")->slots->alone);
	assert_false(named("Dog")->slots->alone);
	assert_false(named("Metric")->slots->alone);
	assert_false(named("Total")->slots->alone);
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
			struct row found = entity_recognise(r, v, likely);

			assert_ptr_equal(entity_of_likely(r, v, likely), e);
			assert_ptr_equal(found.entity, e);
			assert_true(!e || value_equal(found.full, entity_full(r, e, v)));
			assert_int_equal(found.values != NULL, e != NULL);
		}
	}
}

static void what_has_expired_is_not_recognised(void **state)
{
	const struct entity *e = named("Zoo");

	(void)state;
	assert_null(entity_recognise(
			    r, item("{'PK':{'S':'ZOO#1'},'SK':{'S':'ZOO'},'id':{'S':'1'},'expires_at':{'N':'1000'}}"), e)
			    .entity);
	assert_null(
		entity_recognise(
			r, item("{'PK':{'S':'ZOO#1'},'SK':{'S':'ZOO'},'id':{'S':'1'},'expires_at':{'N':'1768473000'}}"),
			e)
			.entity);
	assert_ptr_equal(
		entity_recognise(
			r,
			item("{'PK':{'S':'ZOO#1'},'SK':{'S':'ZOO'},'id':{'S':'1'},'expires_at':{'N':'1768473000.5'}}"), e)
			.entity,
		e);
	assert_ptr_equal(
		entity_recognise(r,
				 item("{'PK':{'S':'ZOO#1'},'SK':{'S':'ZOO'},'id':{'S':'1'},'expires_at':{'S':'1000'}}"),
				 e)
			.entity,
		e);
	r->now_ms -= 1000;
	assert_ptr_equal(
		entity_recognise(
			r, item("{'PK':{'S':'ZOO#1'},'SK':{'S':'ZOO'},'id':{'S':'1'},'expires_at':{'N':'1768473000'}}"),
			e)
			.entity,
		e);
}

static void a_name_is_one_for_the_whole_design(void **state)
{
	const struct entity *zoo = named("Zoo"), *cage = named("Cage"), *cat = named("Cat");
	const struct name *id = design_named(f.design, SLICE("id")), *kind = design_named(f.design, SLICE("kind"));

	(void)state;
	assert_true(id && kind && id != kind && id->id != kind->id);
	assert_ptr_equal(zoo->attributes[0].at, id);
	assert_ptr_equal(cage->param_at[1], id);
	assert_ptr_equal(zoo->keys[2].at, kind); /* a key of the one, an attribute of the other */
	assert_ptr_equal(entity_attribute(cat, SLICE("kind"))->at, kind);
	assert_ptr_equal(cat->keys[0].when->args[0]->at, kind);
	assert_ptr_equal(zoo->keys[0].template->parts[1].at, id);
	assert_null(design_named(f.design, SLICE("nothing")));
	assert_int_equal(cage->slots->of_name[kind->id], SLOT_NONE);
	for (size_t i = 0; i < zoo->slots->count; i++) {
		const struct slot *s = zoo->slots->list[i];

		assert_int_equal(zoo->slots->of_name[s->name->id], i);
		assert_int_equal(slots_find(zoo->slots, s->name->text), i);
		assert_ptr_equal(s->attribute, entity_attribute(zoo, s->name->text));
	}
	assert_int_equal(slots_find(zoo->slots, SLICE("nothing")), SLOT_NONE);
}

/* The same questions of a row in slots and of one without, after the same changes; strangers among them. */
static void a_row_in_slots_answers_as_one_without(void **state)
{
	static const char *const names[] = { "PK", "id", "kind", "mail", "mood", "name", "votes", "zoo" };
	struct row slots, list, copy;

	(void)state;
	for (int seed = 0; seed < 4096; seed++) {
		struct value v = item("{'PK':{'S':'ZOO#1'},'id':{'S':'1'},'mood':{'S':'good'},'votes':{'N':'2'}}");

		row_from(&slots, r->arena, named("Zoo"), v);
		row_from(&list, r->arena, NULL, v);
		for (int k = 0, x = seed; k < 4; k++, x /= 8) {
			struct slice name = slice_str(names[x % 8]);
			const struct name *at = design_named(f.design, name);

			if (k % 3 == 0) {
				row_put(&slots, name, k ? VALUE_ABSENT : value_make_i64(r->arena, x));
				row_put(&list, name, k ? VALUE_ABSENT : value_make_i64(r->arena, x));
			} else if (at && k % 3 == 1) {
				row_set(&slots, at, value_make_i64(r->arena, k));
				row_set(&list, at, value_make_i64(r->arena, k));
			} else {
				row_take(&slots, name);
				row_take(&list, name);
			}
		}
		row_copy(&copy, r->arena, &slots);
		assert_true(value_equal(row_item(&slots), row_item(&list)) &&
			    value_equal(row_item(&copy), row_item(&list)));
		assert_int_equal(row_is_empty(&slots), row_is_empty(&list));
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
			struct slice name = slice_str(names[i]);
			const struct name *at = design_named(f.design, name);
			struct value is = row_find(&list, name);

			assert_true(value_equal(row_find(&slots, name), is) && value_equal(row_find(&copy, name), is));
			assert_int_equal(row_has_text(&slots, name), row_has_text(&list, name));
			assert_int_equal(row_has_text(&copy, name), row_has_text(&list, name));
			if (!at)
				continue;
			assert_true(value_equal(row_get(&slots, at), is) && value_equal(row_get(&list, at), is));
			assert_int_equal(row_has(&slots, at), row_has(&list, at));
		}
	}
}

static void an_item_that_was_read_gives_strangers_too(void **state)
{
	struct value v = item("{'PK':{'S':'ZOO#1'},'id':{'S':'1'},'mood':{'S':'good'},'zoo':{'S':'z'}}");
	struct row laid = row_lay(r->arena, named("Zoo"), v), bare = row_of(v), copy;

	(void)state;
	assert_true(slice_is(value_bytes(row_find(&laid, SLICE("mood"))), "good"));
	assert_true(slice_is(value_bytes(row_get(&laid, design_named(f.design, SLICE("zoo")))),
			     "z")); /* another entity's name */
	assert_true(slice_is(value_bytes(row_get(&bare, design_named(f.design, SLICE("id")))), "1"));
	assert_false(value_present(row_get(&bare, design_named(f.design, SLICE("kind")))));
	row_copy(&copy, r->arena, &laid);
	assert_true(value_equal(row_item(&copy), v));
	row_copy(&copy, r->arena, &bare);
	assert_true(value_equal(row_item(&copy), v));
	assert_false(value_present(row_find(&(struct row){ 0 }, SLICE("id"))));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(names_are_sorted_and_know_their_place),
		TEST(what_moves_by_itself_is_in_no_validator),
		TEST(an_item_is_laid_out_whatever_it_lacks),
		TEST(a_non_map_has_no_slots),
		TEST(keys_and_identity_are_read_from_slots),
		TEST(keys_tell_the_entity_where_no_other_has_their_shape),
		TEST(whatever_is_likely_the_entity_is_the_same),
		TEST(what_has_expired_is_not_recognised),
		TEST(a_name_is_one_for_the_whole_design),
		TEST(a_row_in_slots_answers_as_one_without),
		TEST(an_item_that_was_read_gives_strangers_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
