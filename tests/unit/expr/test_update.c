/* Updates: what becomes of an item, what is returned of it, and what is refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"

#define VALUES                                                                                     \
	"{':s':{'S':'x'},':n':{'N':'1'},':m':{'N':'5'},':l':{'L':[{'S':'z'}]},':ss':{'SS':['a']}," \
	"':ns':{'NS':['1']},':b':{'BOOL':true},':map':{'M':{}},':ab':{'SS':['a','b']},"            \
	"':big':{'N':'9e125'}}"

static const char *apply(const char *text, const char *before, const char *touched_of)
{
	struct expr_bindings *b = bindings("{'#a':'a'}", VALUES);
	const char *prefix = "Invalid UpdateExpression: ";
	struct value old = item(before), new = VALUE_ABSENT;
	const struct update *u;
	struct error e = { 0 };

	if (!update_compile(b, slice_str(text), &u, &e)) {
		assert_int_equal(e.code, ERR_VALIDATION);
		assert_true(slice_starts(e.message, slice_str(prefix)));
		return message(&e) + strlen(prefix);
	}
	if (!update_apply(u, old, &arena, &new, &e))
		return message(&e);
	assert_true(value_is_valid(new, 40));
	if (!touched_of)
		return printed(new);
	return printed(update_touched(u, strcmp(touched_of, "new") ? old : new, &arena));
}

struct row {
	const char *text, *before, *wanted;
};

static void run(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		expect(rows[i].text, apply(rows[i].text, rows[i].before, NULL), rows[i].wanted);
}

#define LIST "{'l':{'L':[{'S':'a'},{'S':'b'},{'S':'c'}]}}"

static void set_writes_attributes(void **state)
{
	/* clang-format off */
	static const struct row rows[] = {
		{ "SET a = :s", "{}", "{'a':{'S':'x'}}" },
		{ "set a=:s,b=:n", "{'a':{'N':'7'}}", "{'a':{'S':'x'},'b':{'N':'1'}}" },
		{ "SET a = a + :m", "{'a':{'N':'7'}}", "{'a':{'N':'12'}}" },
		{ "SET a = :n - a", "{'a':{'N':'7'}}", "{'a':{'N':'-6'}}" },
		{ "SET a = ((b) + (:n))", "{'b':{'N':'1'}}", "{'a':{'N':'2'},'b':{'N':'1'}}" },
		{ "SET a = (b) - :n", "{'b':{'N':'1'}}", "{'a':{'N':'0'},'b':{'N':'1'}}" },
		{ "SET a = b, b = a", "{'a':{'S':'1'},'b':{'S':'2'}}",
		  "{'a':{'S':'2'},'b':{'S':'1'}}" },
		{ "SET a = if_not_exists(a, :n) + :n", "{}", "{'a':{'N':'2'}}" },
		{ "SET a = if_not_exists(a, if_not_exists(b, :n))", "{'b':{'S':'q'}}",
		  "{'a':{'S':'q'},'b':{'S':'q'}}" },
		{ "SET a = list_append(if_not_exists(a, :l), :l)", "{}",
		  "{'a':{'L':[{'S':'z'},{'S':'z'}]}}" },
		{ "SET m.x = :s, m.y.z = :n", "{'m':{'M':{'y':{'M':{}},'q':{'N':'1'}}}}",
		  "{'m':{'M':{'q':{'N':'1'},'x':{'S':'x'},'y':{'M':{'z':{'N':'1'}}}}}}" },
		{ "SET m.y = m, m.x = m.y", "{'m':{'M':{'x':{'N':'1'},'y':{'N':'2'}}}}",
		  "{'m':{'M':{'x':{'N':'2'},'y':{'M':{'x':{'N':'1'},'y':{'N':'2'}}}}}}" },
	};
	/* clang-format on */

	(void)state;
	run(rows, COUNT(rows));
}

static void lists_keep_their_indexes_during_an_update(void **state)
{
	/* clang-format off */
	static const struct row rows[] = {
		{ "SET l[1] = :n", LIST, "{'l':{'L':[{'S':'a'},{'N':'1'},{'S':'c'}]}}" },
		{ "SET l[9] = :n, l[7] = :s", LIST,
		  "{'l':{'L':[{'S':'a'},{'S':'b'},{'S':'c'},{'S':'x'},{'N':'1'}]}}" },
		{ "SET l[0] = l[1], l[1] = l[0]", LIST,
		  "{'l':{'L':[{'S':'b'},{'S':'a'},{'S':'c'}]}}" },
		{ "REMOVE l[0], l[1]", LIST, "{'l':{'L':[{'S':'c'}]}}" },
		{ "REMOVE l[9]", LIST, LIST },
		{ "REMOVE l[0], l[1], l[2]", LIST, "{'l':{'L':[]}}" },
		{ "SET l[1] = :n, l[8] = :s REMOVE l[0]", LIST,
		  "{'l':{'L':[{'N':'1'},{'S':'c'},{'S':'x'}]}}" },
		{ "SET l[6] = :n, l[4] = :s ADD l[5] :m", LIST,
		  "{'l':{'L':[{'S':'a'},{'S':'b'},{'S':'c'},{'S':'x'},{'N':'5'},{'N':'1'}]}}" },
		{ "DELETE l[9] :ss", LIST, LIST },
		{ "SET l[0] = :n", "{'l':{'L':[]}}", "{'l':{'L':[{'N':'1'}]}}" },
		{ "SET l[0][5] = :s, l[1].k = :n, l[5] = :s REMOVE l[0][0]",
		  "{'l':{'L':[{'L':[{'S':'0'}]},{'M':{}}]}}",
		  "{'l':{'L':[{'L':[{'S':'x'}]},{'M':{'k':{'N':'1'}}},{'S':'x'}]}}" },
	};
	/* clang-format on */

	(void)state;
	run(rows, COUNT(rows));
}

static void remove_add_and_delete(void **state)
{
	/* clang-format off */
	static const struct row rows[] = {
		{ "REMOVE a, b", "{'a':{'S':'1'},'c':{'S':'2'}}", "{'c':{'S':'2'}}" },
		{ "REMOVE m.x", "{'m':{'M':{'x':{'S':'1'}}}}", "{'m':{'M':{}}}" },
		{ "REMOVE m.zz", "{'m':{'M':{'x':{'S':'1'}}}}", "{'m':{'M':{'x':{'S':'1'}}}}" },
		{ "ADD a :n", "{}", "{'a':{'N':'1'}}" },
		{ "ADD a :n, m.c :m", "{'a':{'N':'41'},'m':{'M':{}}}",
		  "{'a':{'N':'42'},'m':{'M':{'c':{'N':'5'}}}}" },
		{ "ADD a :ab", "{'a':{'SS':['b','c']}}", "{'a':{'SS':['a','b','c']}}" },
		{ "DELETE a :ss", "{'a':{'SS':['a','b']}}", "{'a':{'SS':['b']}}" },
		{ "DELETE a :ab", "{'a':{'SS':['a','b']}}", "{}" },
		{ "DELETE a :ab", "{}", "{}" },
		{ "DELETE a :ss SET b = a", "{'a':{'SS':['a']}}", "{'b':{'SS':['a']}}" },
	};
	/* clang-format on */

	(void)state;
	run(rows, COUNT(rows));
}

#define BAD_PATH "The document path provided in the update expression is invalid for update"
#define BAD_TYPE "An operand in the update expression has an incorrect data type"
#define NO_SUCH  "The provided expression refers to an attribute that does not exist in the item"

static void items_that_do_not_fit_are_refused(void **state)
{
	static const struct row rows[] = {
		{ "SET a.b = :s", "{}", BAD_PATH },
		{ "SET s.b = :s", "{'s':{'S':'1'}}", BAD_PATH },
		{ "SET l.b = :s", LIST, BAD_PATH },
		{ "SET m[0] = :s", "{'m':{'M':{}}}", BAD_PATH },
		{ "SET l[7].k = :n", LIST, BAD_PATH },
		{ "REMOVE a.b", "{}", BAD_PATH },
		{ "REMOVE a[0]", "{}", BAD_PATH },
		{ "ADD a.b :n", "{}", BAD_PATH },
		{ "DELETE a.b :ss", "{}", BAD_PATH },
		{ "SET q.r = zz", "{}", BAD_PATH },
		{ "REMOVE q.r SET z = zz", "{}", NO_SUCH },
		{ "SET a = b", "{}", NO_SUCH },
		{ "SET a = b + :n", "{}", NO_SUCH },
		{ "SET a = if_not_exists(s, zz)", "{'s':{'S':'1'}}", NO_SUCH },
		{ "SET a = :s, b = a", "{}", NO_SUCH },
		{ "SET l[4] = :s, l[5] = l[4]", LIST, NO_SUCH },
		{ "SET a = s + :n", "{'s':{'S':'1'}}", BAD_TYPE },
		{ "SET a = s + zz", "{'s':{'S':'1'}}", BAD_TYPE },
		{ "SET a = list_append(s, :l)", "{'s':{'S':'1'}}", BAD_TYPE },
		{ "SET a = list_append(if_not_exists(a, :s), :l)", "{}", BAD_TYPE },
		{ "ADD s :n", "{'s':{'S':'1'}}", BAD_TYPE },
		{ "ADD s :ns", "{'s':{'SS':['1']}}", BAD_TYPE },
		{ "ADD l :n", LIST, BAD_TYPE },
		{ "DELETE s :ss", "{'s':{'S':'1'}}", BAD_TYPE },
		{ "SET a = b + b", "{'b':{'N':'9e125'}}",
		  "Number overflow. Attempting to store a number with magnitude larger than "
		  "supported "
		  "range" },
	};

	(void)state;
	run(rows, COUNT(rows));
}

/* A short expression can ask for hundreds of copies of a large value. */
static void an_update_takes_memory_in_proportion_to_an_item(void **state)
{
	struct buf before, text;

	(void)state;
	buf_init(&before, &arena);
	buf_printf(&before, "{'z':{'S':'%0*d'}}", 300000, 0);
	buf_byte(&before, 0);
	buf_init(&text, &arena);
	for (int i = 0; i < 400; i++)
		buf_printf(&text, "%s b%d = z", i ? "," : "SET", i);
	buf_byte(&text, 0);
	expect("400 copies", apply(text.p, before.p, NULL), "Item size to update has exceeded the maximum allowed size");
	assert_true(arena.total < 10 * 1000 * 1000);
}

#define SYNTAX(token, near) "Syntax error; token: \"" token "\", near: \"" near "\""
#define TYPE                "Incorrect operand type for operator or function; "
#define OVERLAP(one, two)                                                                         \
	"Two document paths overlap with each other; must remove or rewrite one of these paths; " \
	"path one: " one ", path two: " two

static void wrong_updates_are_refused_with_the_reason(void **state)
{
	/* clang-format off */
	static const struct row rows[] = {
		{ "", "{}", "The expression can not be empty;" },
		{ "INVALID SYNTAX HERE", "{}", SYNTAX("INVALID", "INVALID SYNTAX") },
		{ "SET a", "{}", SYNTAX("<EOF>", "a") },
		{ "SET a = :s,", "{}", SYNTAX("<EOF>", ",") },
		{ "SET a = :s, REMOVE b", "{}", SYNTAX("REMOVE", ", REMOVE b") },
		{ "SET a = n + :n + :n", "{}", SYNTAX("+", ":n + :n") },
		{ "SET a = (:n + :n) + :n", "{}", SYNTAX("+", ") + :n") },
		{ "SET a = n + (n + n)", "{}", SYNTAX("+", "n + n") },
		{ "SET (a) = :s", "{}", SYNTAX("(", "SET (a") },
		{ "SET if_not_exists(a, b) = :s", "{}", SYNTAX("(", "if_not_exists(a") },
		{ "ADD a b", "{}", SYNTAX("b", "a b") },
		{ "ADD a = :n", "{}", SYNTAX("=", "a = :n") },
		{ "REMOVE :s", "{}", SYNTAX(":s", "REMOVE :s") },
		{ "REMOVE a b", "{}", SYNTAX("b", "a b") },
		{ "SET set = :s", "{}", SYNTAX("set", "SET set =") },
		{ "SET a = ((:s))", "{}", "The expression has redundant parentheses;" },
		{ "SET a = ((a + :n))", "{}", "The expression has redundant parentheses;" },
		{ "SET a = :s SET b = :s", "{}",
		  "The \"SET\" section can only be used once in an update expression;" },
		{ "SET status = :s", "{}",
		  "Attribute name is a reserved keyword; reserved keyword: status" },
		{ "SET a = foo(b)", "{}", "Invalid function name; function: foo" },
		{ "SET a = size(b)", "{}",
		  "The function is not allowed in an update expression; function: size" },
		{ "SET a = list_append(l, l) + :n", "{}",
		  "The function is not allowed to be used this way in an expression; function: "
		  "list_append" },
		{ "SET a = if_not_exists(a)", "{}",
		  "Incorrect number of operands for operator or function; operator or function: "
		  "if_not_exists, number of operands: 1" },
		{ "SET a = if_not_exists(:s, :s)", "{}",
		  "Operator or function requires a document path; operator or function: "
		  "if_not_exists" },
		{ "SET a = list_append(:l, :s)", "{}",
		  TYPE "operator or function: list_append, operand type: S" },
		{ "SET a = :n + :s", "{}", TYPE "operator or function: +, operand type: S" },
		{ "ADD a :s", "{}",
		  TYPE "operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND" },
		{ "DELETE a :n", "{}",
		  TYPE
		  "operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND" },
		{ "SET a = :s, a.b = :s", "{}", OVERLAP("[a]", "[a, b]") },
		{ "SET #a = :s REMOVE a", "{}", OVERLAP("[a]", "[a]") },
		{ "SET l[0].a = :s, l[0] = :s", "{}", OVERLAP("[l, [0], a]", "[l, [0]]") },
		{ "SET a.b = :s, a[0] = :s", "{}",
		  "Two document paths conflict with each other; must remove or rewrite one of "
		  "these "
		  "paths; path one: [a, b], path two: [a, [0]]" },
	};
	/* clang-format on */

	(void)state;
	run(rows, COUNT(rows));
}

/* As DynamoDB does: what the text alone says, then the paths, then the values, last ones first. */
static void errors_come_in_order(void **state)
{
	static const struct row rows[] = {
		{ "SET a = :zz, b = ((:s))", "{}", "The expression has redundant parentheses;" },
		{ "SET a = :zz, #zz = :s", "{}",
		  "An expression attribute name used in the document path is not defined; "
		  "attribute "
		  "name: #zz" },
		{ "SET a = :zz, b = :yy", "{}",
		  "An expression attribute value used in expression is not defined; attribute "
		  "value: "
		  ":yy" },
		{ "SET a = :zz, c = :s, c = :n", "{}", OVERLAP("[c]", "[c]") },
		{ "SET #zz = :s, c = :s, c = :n", "{}", OVERLAP("[c]", "[c]") },
		{ "ADD a :s SET b = :zz", "{}",
		  "An expression attribute value used in expression is not defined; attribute "
		  "value: "
		  ":zz" },
		{ "SET a = :s SET status = :s", "{}", "Attribute name is a reserved keyword; reserved keyword: status" },
		{ "REMOVE a REMOVE b SET status = :s", "{}",
		  "The \"REMOVE\" section can only be used once in an update expression;" },
		{ "SET status = :s REMOVE a REMOVE b", "{}",
		  "Attribute name is a reserved keyword; reserved keyword: status" },
	};

	(void)state;
	run(rows, COUNT(rows));
}

#define NESTED "{'a':{'M':{'b':{'S':'dog'},'c':{'L':[{'N':'1'},{'N':'2'},{'N':'3'}]}}},'d':{'S':'q'}}"

static void touched_parts_are_only_those_addressed(void **state)
{
	/* clang-format off */
	static const struct {
		const char *text, *of, *wanted;
	} rows[] = {
		{ "SET a.b = :s", "old", "{'a':{'M':{'b':{'S':'dog'}}}}" },
		{ "SET a.b = :s", "new", "{'a':{'M':{'b':{'S':'x'}}}}" },
		{ "SET a.c[1] = :m", "old", "{'a':{'M':{'c':{'L':[{'N':'2'}]}}}}" },
		{ "SET a.c[1] = :m, a.b = :s", "new",
		  "{'a':{'M':{'b':{'S':'x'},'c':{'L':[{'N':'5'}]}}}}" },
		{ "SET a.x = :s", "old", "-" },
		{ "SET a.x = :s", "new", "{'a':{'M':{'x':{'S':'x'}}}}" },
		{ "SET a.c[100] = :s", "new", "-" },
		{ "REMOVE a.c[1], a.c[3]", "old", "{'a':{'M':{'c':{'L':[{'N':'2'}]}}}}" },
		{ "REMOVE a.c[1]", "new", "{'a':{'M':{'c':{'L':[{'N':'3'}]}}}}" },
		{ "REMOVE d", "new", "-" },
		{ "SET d = :s, e = :s", "old", "{'d':{'S':'q'}}" },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		expect(rows[i].text, apply(rows[i].text, NESTED, rows[i].of), rows[i].wanted);
}

static void nesting_cannot_grow_beyond_32_levels(void **state)
{
	struct buf deep;
	struct row fits = { "SET m.x = l", NULL, NULL }, too_deep = { "SET m.y.x = l", NULL, NULL };
	const char *got;

	(void)state;
	/* l is 31 levels. */
	buf_init(&deep, &arena);
	buf_str(&deep, "{'m':{'M':{'y':{'M':{}}}},'l':");
	for (int i = 0; i < 30; i++)
		buf_str(&deep, "{'L':[");
	buf_str(&deep, "{'S':'x'}");
	for (int i = 0; i < 30; i++)
		buf_str(&deep, "]}");
	buf_str(&deep, "}");
	buf_byte(&deep, 0);
	assert_true(apply(fits.text, deep.p, NULL)[0] == '{');
	got = apply(too_deep.text, deep.p, NULL);
	expect(too_deep.text, got,
	       "Nesting Levels have exceeded supported limits: Attributes in the item have nested "
	       "levels beyond supported limit");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(set_writes_attributes),
		TEST(lists_keep_their_indexes_during_an_update),
		TEST(remove_add_and_delete),
		TEST(items_that_do_not_fit_are_refused),
		TEST(an_update_takes_memory_in_proportion_to_an_item),
		TEST(wrong_updates_are_refused_with_the_reason),
		TEST(errors_come_in_order),
		TEST(touched_parts_are_only_those_addressed),
		TEST(nesting_cannot_grow_beyond_32_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
