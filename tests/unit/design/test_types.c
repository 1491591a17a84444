/* Terms that can never work are errors when a design is loaded, «where» they are; those that can are none.
 * SPDX-License-Identifier: Apache-2.0 */
#include "load_helper.h"

#define BEFORE                                                                         \
	"design: shop\n"                                                               \
	"table: Shop\n"                                                                \
	"key: [PK, SK]\n"                                                              \
	"indexes:\n"                                                                   \
	"  GSI1: {key: [G1, G2]}\n"                                                    \
	"stream: new and old images\n"                                                 \
	"callers:\n"                                                                   \
	"  roles: [user, admin]\n"                                                     \
	"  permissions: User.rights through of owner(who = caller) by owner\n"         \
	"entities:\n"                                                                  \
	"  User:\n"                                                                    \
	"    path: /users/<uid>\n"                                                     \
	"    attributes:\n"                                                            \
	"      uid: string\n"                                                          \
	"      tenant: string\n"                                                       \
	"      level: integer\n"                                                       \
	"      votes: counter\n"                                                       \
	"      sum: counter\n"                                                         \
	"      rights: list of string 0..10\n"                                         \
	"    keys: {PK: U#<uid>, SK: U, G1: A, G2: B}\n"                               \
	"  Reading:\n"                                                                 \
	"    path: /users/<uid>/readings/<at>/<n>\n"                                   \
	"    attributes: {uid: string, at: timestamp, n: integer 0..999, x: number}\n" \
	"    keys: {PK: U#<uid>, SK: 'R#<at>#<n:03>'}\n"                               \
	"  Thing:\n"                                                                   \
	"    path: /things/<id>\n"                                                     \
	"    keys: {PK: T#<id>, SK: T, kind: THING, starKey: <n>}\n"                   \
	"    attributes:\n"                                                            \
	"      id: string\n"                                                           \
	"      owner: string\n"                                                        \
	"      a: string\n"                                                            \
	"      b: text\n"                                                              \
	"      state: NEW | OLD, default NEW\n"                                        \
	"      colour: red | green\n"                                                  \
	"      at: timestamp\n"                                                        \
	"      until: epoch\n"                                                         \
	"      n: number\n"                                                            \
	"      whole: integer 1..5\n"                                                  \
	"      flag: boolean, default false\n"                                         \
	"      tags: list of string 0..20\n"                                           \
	"      numbers: list of number 0..20\n"                                        \
	"      words: set of string 0..20\n"                                           \
	"      anything: list 0..20\n"                                                 \
	"      place: map 0..20\n"                                                     \
	"      bytes: binary\n"                                                        \
	"      parent: string, default null\n"                                         \
	"      likes: counter\n"
#define AFTER       \
	"access:\n" \
	"  of owner: {path: /o/<who>, query: table, where: {PK: O#<who>}, with: {since: timestamp, least: number}}\n"

#define ATTRIBUTE(text) "      z: " text "\n"

struct wrong {
	const char *text, *says;
};

static void expect_all(const char *before, const struct wrong *cases, size_t count, const char *after)
{
	for (size_t i = 0; i < count; i++)
		expect_error(arena_cstr(&arena, arena_printf(&arena, "%s%s%s", before, cases[i].text, after)),
			     "wrong-type", cases[i].says);
}
#define EXPECT_ALL(before, cases, after) expect_all(before, cases, sizeof(cases) / sizeof((cases)[0]), after)

static void expect_well(const char *before, const char *const *cases, size_t count, const char *after)
{
	for (size_t i = 0; i < count; i++)
		load_well(arena_cstr(&arena, arena_printf(&arena, "%s%s%s", before, cases[i], after)));
}
#define EXPECT_WELL(before, cases, after) expect_well(before, cases, sizeof(cases) / sizeof((cases)[0]), after)

static void arithmetic_is_of_numbers(void **state)
{
	static const struct wrong cases[] = {
		{ ATTRIBUTE("= n - «a»"), "'z': only numbers can be subtracted, and this is a text" },
		{ ATTRIBUTE("= «at» * 2"), "'z': only numbers can be multiplied, and this is a timestamp" },
		{ ATTRIBUTE("= n / «flag»"), "'z': only numbers can be divided, and this is true or false" },
		{ ATTRIBUTE("= -«a»"), "only numbers can be negated" },
		{ ATTRIBUTE("= «a + n»"), "a text and a number cannot be added" },
		{ ATTRIBUTE("= n + «tags»"), "this is a list" },
		{ ATTRIBUTE("= n + («n > 1»)"), "this is true or false" },
		{ ATTRIBUTE("= n / «0»"), "nothing can be divided by 0" },
		{ ATTRIBUTE("number, default User(owner).level + «User(owner).rights»"), "'z': numbers are added" },
		{ ATTRIBUTE("= n * «date(at)»"), "this is a date" },
		{ ATTRIBUTE("= round(«a»)"), "round(x) is for numbers, and this is a text" },
	};

	(void)state;
	EXPECT_ALL(BEFORE, cases, AFTER);
}

static void texts_are_joined_and_numbers_added(void **state)
{
	const struct design *d = load_well(BEFORE ATTRIBUTE("= a + '-' + b") "      m: = n + likes / n\n"
									     "      s: = slug(a + b)\n" AFTER);
	const struct entity *e = design_entity(d, SLICE("Thing"));

	(void)state;
	assert_int_equal(entity_attribute(e, SLICE("z"))->type, ATTR_STRING);
	assert_int_equal(entity_attribute(e, SLICE("m"))->type, ATTR_NUMBER);
}

static void derived_attributes_get_the_type_of_their_term(void **state)
{
	const struct design *d = load_well(
		BEFORE
		"      z: = y + x\n      y: = a\n      x: = lower(b)\n      w: = max(at, at)\n      v: = n > 1\n"
		"      u: = first 2 of tags\n      t: = state\n      s: = choose(flag, n, 1)\n      r: = first(numbers)\n"
		"      q: = User(owner).level\n      p: = o\n      o: = n > 1\n" AFTER);
	const struct entity *e = design_entity(d, SLICE("Thing"));
	/* clang-format off */
	static const struct {
		const char *name;
		enum attr_type type;
	} cases[] = {
		{ "z", ATTR_STRING }, { "w", ATTR_TIMESTAMP }, { "v", ATTR_BOOLEAN }, { "u", ATTR_LIST },
		{ "t", ATTR_ENUM },   { "s", ATTR_NUMBER },    { "r", ATTR_NUMBER },  { "q", ATTR_INTEGER },
		{ "p", ATTR_BOOLEAN }, /* named before it is known */
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (entity_attribute(e, slice_str(cases[i].name))->type != cases[i].type)
			fail_msg("%s", cases[i].name);
	assert_int_equal(entity_attribute(e, SLICE("t"))->choice_count, 2);
}

static void comparisons_are_of_one_type(void **state)
{
	static const struct wrong cases[] = {
		{ "    check: {a = «5»: no}\n", "a text is compared with a number, which is never equal" },
		{ "    check: {n <> «'5'»: no}\n", "a number is compared with a text" },
		{ "    check: {likes > «a»: no}\n", "never equal" },
		{ "    check: {flag = «'true'»: no}\n", "true or false is compared with a text" },
		{ "    check: {until > «now»: no}\n", "epoch(x)" },
		{ "    check: {at > «epoch(now)»: no}\n", "epoch(x)" },
		{ "    check: {«tags» > 5: no}\n", "have an order" },
		{ "    check: {n between 1 and «'5'»: no}\n", "never equal" },
		{ "    check: {a = «null»: no}\n", "is absent" },
		{ "    check: {«n» begins with '5': no}\n", "begin with" },
		{ "    check: {tags contains «5»: no}\n", "it has a text" },
		{ "    check: {«n» contains 5: no}\n", "contain something" },
		{ "    check: {a contains «n»: no}\n", "it has a text" },
		{ "    check: {User(owner).level = «'5'»: no}\n", "never equal" },
		{ "    check: {old.n = «a»: no}\n", "never equal" },
		{ "    check: {starKey = «'5'»: no}\n", "never equal" },
		{ "    check: {kind = «5»: no}\n", "never equal" },
		{ "    check: {min(n, «a») > 1: no}\n", "never equal" },
		{ "    check: {«a.b» = 1: no}\n", "has nothing inside it" },
	};
	static const char *const right[] = {
		"    check: {parent = null: no}\n",
		"    check: {at > today: no}\n",
		"    check: {at > '2026': no}\n",
		"    check: {place.x = 5 and place.y = 'a': no}\n",
		"    check: {anything contains 5: no}\n",
		"    check: {words contains a: no}\n",
		"    check: {epoch(at) > until: no}\n",
		"    check: {owner = caller: no}\n",
		"    check: {choose(flag, a, n) = 5: no}\n",
		"    check: {state = old.state or input.n = 5: no}\n",
	};

	(void)state;
	EXPECT_ALL(BEFORE, cases, AFTER);
	EXPECT_WELL(BEFORE, right, AFTER);
}

static void conditions_are_conditions(void **state)
{
	static const struct wrong cases[] = {
		{ "    check: {«n + 1»: no}\n", "a condition is expected, and this is a number" },
		{ "    check: {flag and «n»: no}\n", "a condition is expected, and this is a number" },
		{ "    check: {not «a»: no}\n", "a condition is expected, and this is a text" },
		{ "    allow: {read: «owner»}\n", "a condition is expected" },
		{ "    keys when «likes»: {G1: A, G2: B}\n", "a condition is expected" },
		{ "    companions: [{when: «tags», PK: A#<id>, SK: B}]\n", "a condition is expected" },
		{ "    actions: {go: {when: «n», set: {n: 1}}}\n", "a condition is expected" },
		{ "    actions: {go: {allow: «caller», set: {n: 1}}}\n", "a condition is expected" },
		{ "    counts: [User(owner).votes when «n»]\n", "a condition is expected" },
		{ "    counts: [User(owner).votes if «level»]\n", "a condition is expected" },
		{ "    requires: [User(owner) if «tenant»]\n", "a condition is expected" },
		{ ATTRIBUTE("string, when «n»"), "'z': a condition is expected" },
		{ ATTRIBUTE("= choose(«n», a, b)"), "'z': a condition is expected" },
		{ "    check: {caller may «5»: no}\n", "a permission is a text" },
	};
	/* clang-format off */
	static const struct wrong access[] = {
		{ "  x: {path: /x, query: table, where: {PK: A}, returns: Thing, filter: «n»}\n", "a condition" },
		{ "  x: {path: /x, query: table, where: {PK: A}, returns: Thing, filter: n = «'1'»}\n", "never equal" },
		{ "  x: {path: /x, query: table, where: {PK: A}, returns: Thing, rank: {by: «a»}}\n", "a number is expected" },
		{ "  x: {path: /x/<id>, get: Thing(id), allow: «id + 'a'»}\n", "a condition" },
		{ "processors: {p: {on: Thing created, when: «n», delete: User(owner)}}\n", "a condition" },
		{ "processors: {p: {on: Thing created, count: User(owner).votes by «a»}}\n", "'votes': a number is expected" },
	};
	/* clang-format on */

	(void)state;
	EXPECT_ALL(BEFORE, cases, AFTER);
	EXPECT_ALL(BEFORE AFTER, access, "");
}

static void values_are_of_the_type_of_their_attribute(void **state)
{
	static const struct wrong cases[] = {
		{ ATTRIBUTE("number, default «a»"), "'z': a number is expected, and this is a text" },
		{ ATTRIBUTE("timestamp, default «today»"), "'z': a timestamp is expected, and this is a date" },
		{ ATTRIBUTE("timestamp, default «'yesterday'»"), "'z': a timestamp like" },
		{ ATTRIBUTE("epoch, default «a»"), "'z': a number of seconds is expected" },
		{ ATTRIBUTE("integer 1..5, default «9»"), "'z': between 1 and 5 is expected" },
		{ ATTRIBUTE("integer, default «1.5»"), "'z': a whole number is expected" },
		{ ATTRIBUTE("string 0..3, default «'abcd'»"), "'z': at most 3 characters is expected" },
		{ ATTRIBUTE("boolean, default «n»"), "'z': true or false is expected" },
		{ ATTRIBUTE("string, default «User(owner).level»"), "'z': a text is expected, and this is a number" },
		{ ATTRIBUTE("red | blue, default «state»"), "'z'" },
		{ ATTRIBUTE("list of string 0..9, default «numbers»"), "'z'" },
		{ ATTRIBUTE("email, default «'nope'»"), "'z': an e-mail address" },
		{ ATTRIBUTE("url, default «'javascript:x'»"), "'z': a URL" },
		{ "    actions: {go: {set: {n: «a»}}}\n", "'n': a number is expected, and this is a text" },
		{ "    actions: {go: {set: {flag: «n»}}}\n", "'flag': true or false is expected" },
		{ "    actions: {go: {set: {at: «today»}}}\n", "'at': a timestamp is expected" },
		{ "    actions: {go: {set: {tags: «a»}}}\n", "'tags': a list is expected" },
		{ "    actions: {go: {set: {whole: «7»}}}\n", "'whole': between 1 and 5" },
		{ "    actions: {go: {add: {likes: «a»}}}\n", "'likes': a number is expected" },
		{ "    delete: {set: {flag: «a + a»}}\n", "'flag': true or false" },
		{ "    counts: [User(owner).votes by «a»]\n", "'votes': a number is expected" },
		{ "    companions: [{for: x in «a», PK: 'A#<x>', SK: B}]\n", "a list is expected" },
		{ "    check: {exists User(«flag»): no}\n", "'uid' of User is a text, and this is true or false" },
		{ "    requires: [User(«tags»)]\n", "'uid' of User is a text, and this is a list" },
		{ "    check: {exists Reading(owner, «today», 1): no}\n", "'at' of Reading is a timestamp" },
		{ "    check: {exists Reading(owner, at, «a»): no}\n", "'n' of Reading is a number" },
	};
	static const struct wrong access[] = {
		{ "processors: {p: {on: Thing created, put: User, with: {uid: id, level: «a»}}}\n", "'level': a number" },
		{ "processors: {p: {on: Thing created, let: {m: n + 1}, put: User, with: {uid: id, tenant: «m»}}}\n",
		  "'tenant': a text is expected, and this is a number" },
		{ "processors: {p: {on: Thing created, each: 'r in of owner(who = owner, since = «n»)', delete: User(owner)}}\n",
		  "'since': a timestamp is expected, and this is a number" },
		{ "processors: {p: {on: Thing created, delete: User(«flag»)}}\n", "'uid' of User" },
	};
	/* clang-format off */
	static const char *const right[] = {
		ATTRIBUTE("timestamp, default now"), ATTRIBUTE("epoch, default now"), ATTRIBUTE("epoch, default epoch(now)"),
		ATTRIBUTE("string, default null"),   ATTRIBUTE("string, default today"), ATTRIBUTE("string 1..9, default ''"),
		ATTRIBUTE("number, default User(owner).votes / User(owner).sum"), ATTRIBUTE("list 0..3, default []"),
		ATTRIBUTE("list of string 0..3, default words(a)"), ATTRIBUTE("name, default slug(a)"),
		"    actions: {go: {set: {a: null, at: now, tags: [], place: {}, colour: red, until: now}}}\n",
		"    actions: {go: {set: {a: first 3 of b, n: n + whole, colour: input.colour}}}\n",
		"    delete: {set: {a: '', flag: true}}\n",
		"    check: {exists User(n): no}\n",
	};
	/* clang-format on */

	(void)state;
	EXPECT_ALL(BEFORE, cases, AFTER);
	EXPECT_ALL(BEFORE AFTER, access, "");
	EXPECT_WELL(BEFORE, right, AFTER);
}

static void functions_take_what_they_are_for(void **state)
{
	static const struct wrong cases[] = {
		{ ATTRIBUTE("= size(«n»)"), "size(x) is for texts" },
		{ ATTRIBUTE("= lower(«n»)"), "texts and lists of texts" },
		{ ATTRIBUTE("= slug(«numbers»)"), "its elements are a number" },
		{ ATTRIBUTE("= words(a, «n»)"), "words(x)" },
		{ ATTRIBUTE("= first 3 of «n»"), "first takes" },
		{ ATTRIBUTE("= first(«a», b)"), "so many" },
		{ ATTRIBUTE("= date(«tags»)"), "date(x)" },
		{ ATTRIBUTE("= epoch(«flag»)"), "epoch(x)" },
		{ ATTRIBUTE("= power(n, «a»)"), "power(x, y)" },
		{ ATTRIBUTE("= days_ago(«a»)"), "days_ago(n)" },
		{ ATTRIBUTE("= max(«tags», 1)"), "have an order" },
		{ ATTRIBUTE("= mod(n, «a»)"), "mod(a, b) is for numbers, and this is a text" },
		{ ATTRIBUTE("= floor(«tags»)"), "floor(x)" },
		{ ATTRIBUTE("= ceil(«at»)"), "ceil(x)" },
		{ ATTRIBUTE("= abs(«a»)"), "abs(x)" },
		{ ATTRIBUTE("= hash(«tags», 10)"), "hash(x, n) is for a text or number" },
		{ ATTRIBUTE("= hash(a, «b»)"), "hash(x, n) is for a text or number" },
		{ ATTRIBUTE("= hash(a, «0»)"), "hash takes a whole number from 1 to 1000000 here" },
		{ ATTRIBUTE("= geohash(n, n, «13»)"), "geohash takes a whole number from 1 to 12 here" },
		{ ATTRIBUTE("= geohash(n, «a», 5)"), "geohash(latitude" },
		{ ATTRIBUTE("= last 3 of «n»"), "last takes from" },
		{ ATTRIBUTE("= trim(«n»)"), "trim(x)" },
		{ ATTRIBUTE("= text(«tags»)"), "text(x)" },
		{ ATTRIBUTE("= replace(a, 'x', «n»)"), "replace(x, a, b)" },
		{ ATTRIBUTE("= join(«a», ',')"), "join(list, ', ')" },
		{ ATTRIBUTE("= join(tags, «n»)"), "join(list, ', ')" },
		{ ATTRIBUTE("= split(«tags», ',')"), "split(x, ',')" },
		{ ATTRIBUTE("= hour(«tags»)"), "hour(x)" },
		{ ATTRIBUTE("= «n» + 30 days"),
		  "times are added to timestamps, dates, months and years, and this is a number" },
		{ ATTRIBUTE("= «date(at) + 3 hours»"), "a date has no hours" },
		{ ATTRIBUTE("= later(at, n, «'dais'»)"), "there is no such unit of time" },
		{ ATTRIBUTE("= later(at, «a», 'days')"), "so many units" },
		{ ATTRIBUTE("number, default «at + 1 day»"), "a number is expected, and this is a timestamp" },
		{ "    check: {likes < «hours_ago(1)»: no}\n", "a number is compared with a timestamp" },
	};
	static const char *const right[] = {
		ATTRIBUTE("= at + 30 days"),
		ATTRIBUTE("timestamp, default now + 1 hour"),
		ATTRIBUTE("epoch, default now + 1 hour"),
		ATTRIBUTE("= mod(n, 2) + hash(n, 10)"),
		ATTRIBUTE("= lower(join(tags, ', ')) + trim(a)"),
		"    check: {at + 1 day > now and last(tags) <> 'x' and last 2 of a = 'ab': no}\n",
	};

	(void)state;
	EXPECT_ALL(BEFORE, cases, AFTER);
	EXPECT_WELL(BEFORE, right, AFTER);
}

/* Texts with milliseconds and without have no order within a second. */
static void times_that_meet_have_one_unit(void **state)
{
	static const struct wrong cases[] = {
		{ "    check: {ms > «at»: no}\n", "is compared with one of whole seconds" },
		{ "    check: {at = «ms»: no}\n", "is compared with one of whole seconds" },
		{ "    check: {at in (now, «ms»): no}\n", "is compared with one of whole seconds" },
		{ "    check: {max(at, «ms») > now: no}\n", "is compared with one of whole seconds" },
		{ "    check: {ms + 1 day < «at»: no}\n", "is compared with one of whole seconds" },
	};
	const struct design *d = load_well(BEFORE ATTRIBUTE(
		"timestamp ms, default now - 1 day") "      ms: timestamp ms, now\n      list: list of timestamp ms\n      copy: = ms\n"
						     "      other: = max(ms, now)\n      plain: timestamp, default ms\n"
						     "    check:\n"
						     "      ms > now: a\n"
						     "      choose(n > 1, now, ms + 1 hour) <= ms: b\n"
						     "      ms between '2026-01-01T00:00:00Z' and days_ago(1): c\n"
						     "      at > now: d\n" AFTER);
	const struct entity *e = design_entity(d, SLICE("Thing"));
	const struct term *t;

	(void)state;
	t = entity_attribute(e, SLICE("z"))->default_;
	assert_true(t->args[0]->kind == TERM_NOW && t->args[0]->fine);
	t = e->checks[0].term;
	assert_true(t->args[1]->fine);
	assert_true(e->checks[1].term->args[0]->args[1]->fine);
	t = e->checks[2].term;
	assert_true(slice_is(value_bytes(t->args[1]->value), "2026-01-01T00:00:00.000Z"));
	assert_true(t->args[2]->fine);
	assert_false(e->checks[3].term->args[1]->fine);
	assert_true(entity_attribute(e, SLICE("list"))->fine);
	assert_true(entity_attribute(e, SLICE("copy"))->fine);
	assert_true(entity_attribute(e, SLICE("other"))->fine);
	assert_int_equal(entity_attribute(e, SLICE("other"))->type, ATTR_TIMESTAMP);
	assert_false(entity_attribute(e, SLICE("plain"))->fine);
	EXPECT_ALL(BEFORE "      ms: timestamp ms\n", cases, AFTER);
}

#define CATEGORIES                                                                                                                    \
	"  Category:\n"                                                                                                               \
	"    path: /categories/<cat>\n"                                                                                               \
	"    attributes: {cat: 'string, lower, fixed', parent: 'string, default ROOT', owner: 'string, the caller', label: string}\n" \
	"    keys: {PK: C#<cat>, SK: C}\n"                                                                                            \
	"    requires:\n"                                                                                                             \
	"      - Category(parent) when parent <> 'ROOT'\n"                                                                            \
	"      - Category(owner)\n"                                                                                                   \
	"  Card:\n"                                                                                                                   \
	"    path: /cards/<id>\n"                                                                                                     \
	"    attributes: {id: string, category: string, shelf: string, old_shelf: string, label: copy of Category(shelf).label}\n"    \
	"    keys: {PK: K#<id>, SK: K}\n"                                                                                             \
	"    requires: [Category(category)]\n"

static void what_names_an_item_is_written_as_its_identity(void **state)
{
	const struct design *d = load_well(BEFORE CATEGORIES AFTER);
	const struct entity *category = design_entity(d, SLICE("Category")), *card = design_entity(d, SLICE("Card"));

	(void)state;
	assert_true(entity_attribute(card, SLICE("category"))->lower);
	assert_true(entity_attribute(card, SLICE("shelf"))->lower);
	assert_false(entity_attribute(card, SLICE("old_shelf"))->lower);
	assert_false(entity_attribute(category, SLICE("parent"))->lower); /* only while it names one */
	assert_int_equal(entity_attribute(category, SLICE("parent"))->lower_when_count, 1);
	assert_false(entity_attribute(category, SLICE("owner"))->lower); /* the caller is called as he is */
	expect_error(BEFORE CATEGORIES "    check: {category <> «'Toys'»: no}\n" AFTER, "wrong-type", "write 'toys'");
	expect_error(BEFORE CATEGORIES "    check: {shelf = id or «'Toys'» = shelf: no}\n" AFTER, "wrong-type",
		     "stored in lower case");
	load_well(BEFORE CATEGORIES "    check: {category <> 'toys' and old_shelf <> 'Toys': no}\n" AFTER);
}

static void the_caller_has_no_attributes(void **state)
{
	(void)state;
	expect_error(BEFORE "    allow: {read: owner = «caller.tenant»}\n" AFTER, "unknown-claim",
		     "User(caller).tenant");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(arithmetic_is_of_numbers, begin, end),
		cmocka_unit_test_setup_teardown(texts_are_joined_and_numbers_added, begin, end),
		cmocka_unit_test_setup_teardown(derived_attributes_get_the_type_of_their_term, begin, end),
		cmocka_unit_test_setup_teardown(comparisons_are_of_one_type, begin, end),
		cmocka_unit_test_setup_teardown(conditions_are_conditions, begin, end),
		cmocka_unit_test_setup_teardown(values_are_of_the_type_of_their_attribute, begin, end),
		cmocka_unit_test_setup_teardown(functions_take_what_they_are_for, begin, end),
		cmocka_unit_test_setup_teardown(times_that_meet_have_one_unit, begin, end),
		cmocka_unit_test_setup_teardown(what_names_an_item_is_written_as_its_identity, begin, end),
		cmocka_unit_test_setup_teardown(the_caller_has_no_attributes, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
