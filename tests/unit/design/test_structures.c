/* Structured types: what can be said, and every kind of error «exactly» where it is. SPDX-License-Identifier: Apache-2.0 */
#include "load_helper.h"

#define BASE             \
	"design: shop\n" \
	"table: Shop\n"  \
	"key: [PK, SK]\n"
#define TYPES                                                                               \
	"types:\n"                                                                          \
	"  Line: {sku: string 1..40, required, quantity: integer 1..99, price: number}\n"   \
	"  Address: {street: string, geo: Geo, tags: list of Tag 0..3, country: se | de}\n" \
	"  Geo: {lat: number, lon: number}\n"                                               \
	"  Tag: {name: string, other members: anything}\n"
#define ENTITY                                \
	"entities:\n"                         \
	"  Thing:\n"                          \
	"    path: /things/<id>\n"            \
	"    keys: {PK: T#<id>, SK: T}\n"     \
	"    attributes:\n"                   \
	"      id: string\n"                  \
	"      lines: list of Line 0..20\n"   \
	"      home: Address\n"               \
	"      homes: map of Address 0..5\n"  \
	"      numbers: map of number 0..5\n" \
	"      size: {width: number, unit: cm | m, default cm}\n"

struct wrong {
	const char *text, *rule, *says;
};

static void expect_all(const char *before, const struct wrong *cases, size_t count, const char *after)
{
	for (size_t i = 0; i < count; i++)
		expect_error(arena_cstr(&arena, arena_printf(&arena, "%s%s%s", before, cases[i].text, after)),
			     cases[i].rule, cases[i].says);
}
#define EXPECT_ALL(before, cases, after) expect_all(before, cases, sizeof(cases) / sizeof((cases)[0]), after)

static void structures_have_members(void **state)
{
	const struct design *d = load_well(BASE TYPES ENTITY);
	const struct entity *e = design_entity(d, SLICE("Thing"));
	const struct attribute *lines = entity_attribute(e, SLICE("lines")), *home = entity_attribute(e, SLICE("home"));
	const struct attribute *homes = entity_attribute(e, SLICE("homes")), *m;
	const struct attribute *size = entity_attribute(e, SLICE("size"));

	(void)state;
	assert_int_equal(d->type_count, 4);
	SLICE_IS(d->types[1].name, "Address");
	assert_int_equal(lines->type, ATTR_LIST);
	assert_true(lines->has_max && lines->max == 20);
	assert_ptr_equal(lines->each->members, &d->types[0]);
	m = structure_member(lines->each->members, SLICE("sku"));
	assert_true(m->required && m->has_max && m->max == 40);
	assert_int_equal(structure_member(lines->each->members, SLICE("quantity"))->type, ATTR_INTEGER);
	assert_null(structure_member(lines->each->members, SLICE("nothing")));
	assert_ptr_equal(home->members, &d->types[1]);
	assert_int_equal(home->members->depth, 2);
	assert_ptr_equal(structure_member(home->members, SLICE("geo"))->members, &d->types[2]);
	assert_true(d->types[3].open && !d->types[1].open);
	assert_int_equal(homes->type, ATTR_MAP);
	assert_ptr_equal(homes->each->members, &d->types[1]);
	assert_int_equal(entity_attribute(e, SLICE("numbers"))->each->type, ATTR_NUMBER);
	m = structure_member(size->members, SLICE("unit"));
	assert_int_equal(m->choice_count, 2);
	assert_non_null(m->default_);
}

static void types_are_checked(void **state)
{
	/* clang-format off */
	static const struct wrong cases[] = {
		{ "  A: {x: «strin»}\n", "unknown-type", "did you mean 'string'?" },
		{ "  A: {x: «B»}\n", "unknown-type", "there is no type 'B'" },
		{ "  «a»: {x: string}\n", "bad-name", "begins with a capital letter" },
		{ "  A: «string»\n", "wrong-value", "members and their types" },
		{ "  A: {«x-y»: string}\n", "bad-name", "the name of a member" },
		{ "  A: «{»}\n", "missing-value", "a structure has members" },
		{ "  A: {x: string, other members: «any»}\n", "wrong-value", "other members: anything" },
		{ "  «A»: {x: list of A 0..3}\n", "circle", "'A' contains itself" },
		{ "  A: {x: B}\n  «B»: {x: C}\n  C: {y: map of B 0..2}\n", "circle", "'B' contains itself" },
		{ "  A: {«x»: counter}\n", "wrong-clause", "'counter' is for attributes of items" },
		{ "  A: {«x»: string, unique}\n", "wrong-clause", "'unique' is for attributes of items" },
		{ "  A: {«x»: timestamp, now}\n", "wrong-clause", "'now'" },
		{ "  A: {«x»: string, default 'a' + 'b'}\n", "wrong-value", "the default of a member" },
		{ "  A: {x: se | de, default «no»}\n", "unknown-choice", "no choice of x called" },
		{ "  A: {x: integer «9..1»}\n", "out-of-range", "nothing is in the range" },
		{ "  A: {x: {y: {«z»: string, hidden}}}\n", "wrong-clause", "'hidden'" },
		{ "  A: {x: {a: {b: {c: {d: {e: {f: {g: {h: {i: string}}}}}}}}}}\n", "out-of-range", "8 deep" },
	};
	/* clang-format on */

	(void)state;
	EXPECT_ALL(BASE "types:\n", cases, "entities: {}\n");
}

static void attributes_name_their_types(void **state)
{
	/* clang-format off */
	static const struct wrong cases[] = {
		{ "      z: list of «Lin» 0..3\n", "unknown-type", "did you mean 'Line'?" },
		{ "      z: map of «Addres»\n", "unknown-type", "did you mean 'Address'?" },
		{ "      z: «Address 0..3»\n", "wrong-clause", "a range is for" },
		{ "      z: {a: {«b»: string, id}}\n", "wrong-clause", "'id'" },
		{ "      z: map of «number» matches '[a-z]'\n", "wrong-clause", "'matches' is for maps of strings" },
		{ "      z: list of {sku«:» string} 1..20\n", "yaml", "name the structure in 'types'" },
	};
	/* clang-format on */

	(void)state;
	EXPECT_ALL(BASE TYPES ENTITY, cases, "");
}

static void paths_lead_somewhere(void **state)
{
	static const char *const well[] = {
		"      z: = home.geo.lat + 1\n",
		"      z: = lines[0].quantity * lines[0].price\n",
		"      z: = first(lines[1].sku)\n",
		"      z: = homes.work.geo.lat\n",
		"      z: = numbers.x * 2\n",
		"      z: = sum(lines, quantity * price) + count(lines, sku = id) + sum(numbers)\n",
		"      z: = any(homes, geo.lat > 5 and country = 'se') or all(lines, sku begins with 'a')\n",
		"      z: = home.tags[0].anything is present\n",
		"    keys when home is present: {place: 'P#<home.geo.lat>#<lines[0].sku>'}\n",
		"    companions: [{for: line in lines, PK: S#<line.sku>, SK: T#<id>}]\n",
		"    check:\n      home.country = 'se' and lines[0].quantity > size.width: no\n",
	};
	/* clang-format off */
	static const struct wrong cases[] = {
		{ "      z: = «home.geo.lot» + 1\n", "wrong-type", "there is no member 'lot' of Geo" },
		{ "      z: = «home.geo.lot» + 1\n", "wrong-type", "did you mean 'lat'?" },
		{ "      z: = «lines.sku»\n", "wrong-type", "'lines' is a list and has elements" },
		{ "      z: = «home[0]»\n", "wrong-type", "'home' is a map and has no order" },
		{ "      z: = «id.x»\n", "wrong-type", "'id' is a text and has nothing inside it" },
		{ "      z: = «home.street.x»\n", "wrong-type", "'street' is a text and has nothing inside it" },
		{ "      z: = «lines[0].sku + 1»\n", "wrong-type", "a text and a number cannot be added" },
		{ "      z: = home.geo.lat = «'x'»\n", "wrong-type", "never equal" },
		{ "      z: = home.country = «'no'»\n", "unknown-choice", "no" },
		{ "      z: = sum(lines, «sku»)\n", "wrong-type", "only numbers can be added up" },
		{ "      z: = any(lines, «quantity + 1»)\n", "wrong-type", "a condition is expected" },
		{ "      z: = any(lines, «quanttiy» > 1)\n", "unknown-attribute", "quanttiy" },
		{ "      z: = any(homes, country = «'no'»)\n", "unknown-choice", "no" },
		{ "      z: = any(lines, quantity = «'no'»)\n", "wrong-type", "never equal" },
		{ "      z: = any(«numbers», x > 1)\n      x: number\n", "wrong-type", "is for lists and maps of structures" },
		{ "      z: = sum(«lines»)\n", "wrong-type", "as in sum(lines, quantity * price)" },
		{ "      z: = sum(«id»)\n", "wrong-type", "goes through a list" },
		{ "      z: = all(homes, «any(tags, name = 'x')»)\n", "bad-term", "cannot be inside another one" },
		{ "      z: = «any(lines)»\n", "wrong-arguments", "any does not take 1 arguments" },
		{ "      z: = lines«[»x].sku\n", "bad-term", "an element of a list is x[0]" },
		{ "    keys when home is present: {place: 'P#<«home.zop»>'}\n", "wrong-type", "there is no member 'zop'" },
		{ "    keys when home is present: {place: 'P#<«home.geo»>'}\n", "wrong-type", "is no part of a text" },
		{ "    companions: [{for: line in lines, PK: 'S#<«line.skew»>', SK: T#<id>}]\n", "wrong-type", "there is no member 'skew'" },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(well) / sizeof(well[0]); i++)
		load_well(arena_cstr(&arena, arena_printf(&arena, "%s%s", BASE TYPES ENTITY, well[i])));
	EXPECT_ALL(BASE TYPES ENTITY, cases, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(structures_have_members, begin, end),
		cmocka_unit_test_setup_teardown(types_are_checked, begin, end),
		cmocka_unit_test_setup_teardown(paths_lead_somewhere, begin, end),
		cmocka_unit_test_setup_teardown(attributes_name_their_types, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
