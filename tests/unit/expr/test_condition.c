/* Conditions: what they say of an item, and every way to write one wrong.
 * SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"

#define NAMES "{'#a':'a','#dot':'x.y'}"
#define VALUES                                                                                     \
	"{':s':{'S':'x'},':n':{'N':'1'},':m':{'N':'5'},':l':{'L':[{'S':'a'}]},':ss':{'SS':['a']}," \
	"':b':{'BOOL':true},':nul':{'NULL':true},':map':{'M':{}},':ns':{'NS':['1']},"              \
	"':bin':{'B':'AAAA'},':ell':{'S':'ell'},':a':{'S':'a'},':e':{'S':''},':b0':{'B':'AAE='},"  \
	"':b1':{'B':'AQI='},':five':{'N':'5.0'},':sab':{'SS':['b','a']},"                          \
	"':mx':{'M':{'x':{'N':'1.00'}}},':he':{'S':'he'},':six':{'N':'6'},':z':{'S':'z'},"         \
	"':lz':{'L':[{'S':'z'}]},':t_S':{'S':'S'},':t_N':{'S':'N'},':four':{'N':'4'}}"
#define ITEM                                                                                      \
	"{'s':{'S':'hello'},'n':{'N':'5'},'ss':{'SS':['a','b']},'ns':{'NS':['1','2']},"           \
	"'bs':{'BS':['AAAA']},'l':{'L':[{'S':'a'},{'N':'1'},{'L':[{'S':'z'}]},{'SS':['a']}]},"    \
	"'m':{'M':{'x':{'N':'1'}}},'t':{'BOOL':true},'nul':{'NULL':true},'bin':{'B':'AAECAw=='}," \
	"'e':{'S':''},'u':{'S':'\\u00e9\\u20ac\\ud83d\\ude00'},'x.y':{'S':'x'}}"

static const char *result(const char *text)
{
	struct expr_bindings *b = bindings(NAMES, VALUES);
	const struct condition *c;
	struct error e = { 0 };
	const char *prefix = "Invalid ConditionExpression: ";

	if (condition_compile(b, CONDITION_EXPRESSION, slice_str(text), &c, &e))
		return condition_holds(c, item(ITEM), &arena) ? "yes" : "no";
	assert_int_equal(e.code, ERR_VALIDATION);
	assert_true(slice_starts(e.message, slice_str(prefix)));
	return message(&e) + strlen(prefix);
}

struct row {
	const char *text, *wanted;
};

static void run(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		expect(rows[i].text, result(rows[i].text), rows[i].wanted);
}

static void comparisons_hold_within_one_type(void **state)
{
	static const struct row rows[] = {
		{ "s = :he", "no" },
		{ "s <> :he", "yes" },
		{ "n = :five", "yes" },
		{ "ss = :sab", "yes" },
		{ "m = :mx", "yes" },
		{ "t = :b", "yes" },
		{ "nul = :nul", "yes" },
		{ "nul <> :nul", "no" },
		{ "n < :six", "yes" },
		{ "n <= :five", "yes" },
		{ "n > :five", "no" },
		{ "n >= :five", "yes" },
		{ "n < :he", "no" },
		{ "s < :six", "no" },
		{ "s < :z", "yes" },
		{ "n <> :he", "yes" },
		{ "s <> n", "yes" },
		{ "s < n", "no" },
		{ "bin > :b0", "yes" },
		{ ":n < :m", "yes" },
		{ ":s = :n", "no" },
		{ "n BETWEEN :n AND :six", "yes" },
		{ "s BETWEEN :n AND :six", "no" },
		{ "n IN (:he, :five)", "yes" },
		{ "n IN (:n)", "no" },
		{ "#dot = :s", "yes" },
	};

	(void)state;
	run(rows, COUNT(rows));
}

static void absent_attributes_equal_nothing(void **state)
{
	static const struct row rows[] = {
		{ "zz = :s", "no" },
		{ "zz <> :s", "yes" },
		{ "zz < :z", "no" },
		{ "zz = yy", "no" },
		{ "zz <> yy", "yes" },
		{ "zz IN (:s)", "no" },
		{ "n IN (zz)", "no" },
		{ "NOT zz = :s", "yes" },
		{ "zz.a <> :s", "yes" },
		{ "n BETWEEN :n AND zz", "no" },
		{ "zz BETWEEN :e AND :z", "no" },
		{ "size(zz) = :n", "no" },
		{ "size(zz) <> :n", "yes" },
		{ "size(n) = :n", "no" },
		{ "size(n) <> :n", "yes" },
		{ "begins_with(zz, :he)", "no" },
		{ "contains(s, zz)", "no" },
		{ "attribute_exists(zz)", "no" },
		{ "attribute_not_exists(zz.y)", "yes" },
	};

	(void)state;
	run(rows, COUNT(rows));
}

static void functions_look_inside(void **state)
{
	static const struct row rows[] = {
		{ "contains(s, :ell)", "yes" },      { "contains(s, :e)", "yes" },
		{ "contains(e, :e)", "yes" },        { "contains(ss, :a)", "yes" },
		{ "contains(ss, :ell)", "no" },      { "contains(ns, :n)", "yes" },
		{ "contains(ns, :a)", "no" },        { "contains(l, :a)", "yes" },
		{ "contains(l, :n)", "yes" },        { "contains(l, :lz)", "yes" },
		{ "contains(l, :ss)", "yes" },       { "contains(bs, :bin)", "yes" },
		{ "contains(bin, :b1)", "yes" },     { "contains(bin, :a)", "no" },
		{ "contains(n, :n)", "no" },         { "contains(m, :a)", "no" },
		{ "contains(ss, :ss)", "no" },       { "contains(l[0], :a)", "yes" },
		{ "begins_with(s, :he)", "yes" },    { "begins_with(s, :e)", "yes" },
		{ "begins_with(bin, :b0)", "yes" },  { "begins_with(s, :b0)", "no" },
		{ "begins_with(n, :he)", "no" },     { "attribute_type(s, :t_S)", "yes" },
		{ "attribute_type(n, :t_S)", "no" }, { "attribute_type(n, :t_N)", "yes" },
		{ "attribute_exists(m.x)", "yes" },  { "attribute_exists(l[4])", "no" },
		{ "attribute_exists(l[3])", "yes" }, { "attribute_exists(m[0])", "no" },
		{ "size(s) = :five", "yes" },        { "size(u) = :four", "yes" },
		{ "size(l) = :four", "yes" },        { "size(m) = :n", "yes" },
		{ "size(bin) = :four", "yes" },      { "size(e) < :n", "yes" },
		{ "size(:ell) < :five", "yes" },     { "size(s) = n", "yes" },
	};

	(void)state;
	run(rows, COUNT(rows));
}

static void not_binds_before_and_before_or(void **state)
{
	static const struct row rows[] = {
		{ "n = :m OR n = :n AND n = :n", "yes" },
		{ "(n = :m OR n = :n) AND n = :n", "no" },
		{ "NOT n = :m OR n = :m", "yes" },
		{ "NOT (n = :m OR n = :m)", "no" },
		{ "NOT NOT n = :m", "yes" },
		{ "not n = :n and n = :m", "yes" },
		{ "n between :n and :six and n = :m", "yes" },
		{ "NOT n BETWEEN :n AND :six", "no" },
		{ "NOT(n = :n)", "yes" },
		{ "NOTa = :s", "no" },
		{ "(size(s)) > :n", "yes" },
		{ "((n) = (:m))", "yes" },
		{ "(NOT (n = :n))", "yes" },
		{ "((n = :m) AND (n = :m))", "yes" },
		{ "n IN ((:m))", "yes" },
		{ "attribute_exists ((n))", "yes" },
		{ "\tn\r\n=\n:m ", "yes" },
		{ "l[ 0 ] = :a AND m . x = :n", "yes" },
	};

	(void)state;
	run(rows, COUNT(rows));
}

#define SYNTAX(token, near) "Syntax error; token: \"" token "\", near: \"" near "\""

static void syntax_errors_quote_the_token_and_its_neighbours(void **state)
{
	static const struct row rows[] = {
		{ "a", SYNTAX("<EOF>", "a") },
		{ "a b", SYNTAX("b", "a b") },
		{ "a = ", SYNTAX("<EOF>", "= ") },
		{ "a = :s b", SYNTAX("b", ":s b") },
		{ "= a", SYNTAX("=", "= a") },
		{ "(a = :s", SYNTAX("<EOF>", ":s") },
		{ "a = :s)", SYNTAX(")", ":s)") },
		{ "attribute_exists()", SYNTAX(")", "()") },
		{ "a IN ()", SYNTAX(")", "()") },
		{ "a IN :s", SYNTAX(":s", "IN :s") },
		{ "a IN (:s,)", SYNTAX(")", ",)") },
		{ "a = \"x\"", SYNTAX("\"", "= \"x") },
		{ "a[b] = :s", SYNTAX("b", "[b]") },
		{ "a[-1] = :s", SYNTAX("-", "[-1") },
		{ "a[007] = :s", SYNTAX("0", "007") },
		{ "a..b = :s", SYNTAX(".", "..b") },
		{ "_a = :s", SYNTAX("_", "_a") },
		{ "a AND b", SYNTAX("AND", "a AND b") },
		{ "(a)", SYNTAX("<EOF>", ")") },
		{ "(a) AND b = :s", SYNTAX("AND", ") AND b") },
		{ "((a = :s) AND b)", SYNTAX(")", "b)") },
		{ "(a = :s) = :s", SYNTAX("=", ") = :s") },
		{ "a = (b = :s)", SYNTAX("=", "b = :s") },
		{ "not(a)", SYNTAX("<EOF>", ")") },
		{ "a == :s", SYNTAX("=", "== :s") },
		{ "a.(b) = :s", SYNTAX("(", ".(b") },
		{ "(a).b = :s", SYNTAX(".", ").b") },
		{ "a.between = :s", SYNTAX("between", ".between =") },
		{ "add = :s", SYNTAX("add", "add =") },
		{ "# = :s", SYNTAX("#", "# =") },
		{ "a = :", SYNTAX(":", "= :") },
		{ "\xc3\xa9 = :s", SYNTAX("\xc3\xa9", "\xc3\xa9 =") },
		{ "   ", SYNTAX("<EOF>", "   ") },
		{ "", "The expression can not be empty;" },
	};

	(void)state;
	run(rows, COUNT(rows));
}

#define REDUNDANT       "The expression has redundant parentheses;"
#define MISUSED         "The function is not allowed to be used this way in an expression; function: "
#define TYPE            "Incorrect operand type for operator or function; operator or function: "
#define COUNTED         "Incorrect number of operands for operator or function; operator or function: "
#define UNDEFINED_NAME  "An expression attribute name used in the document path is not defined; attribute name: "
#define UNDEFINED_VALUE "An expression attribute value used in expression is not defined; attribute value: "
#define RESERVED        "Attribute name is a reserved keyword; reserved keyword: "
#define DISTINCT                                                                               \
	"The first operand must be distinct from the remaining operands for this operator or " \
	"function; operator: "
#define DOCPATH "Operator or function requires a document path; operator or function: "

static void wrong_conditions_are_refused_with_the_reason(void **state)
{
	/* clang-format off */
	static const struct row rows[] = {
		{ "((a = :s))", REDUNDANT },
		{ "((a)) = :s", REDUNDANT },
		{ "a = ((:s))", REDUNDANT },
		{ "NOT ((a = :s))", REDUNDANT },
		{ "a IN (((:s)))", REDUNDANT },
		{ "((size(a))) > :n", REDUNDANT },
		{ "foo(a)", "Invalid function name; function: foo" },
		{ "Size(a) = :n", "Invalid function name; function: Size" },
		{ "list_append(a, b) = :s",
		  "The function is not allowed in a condition expression; function: list_append" },
		{ "size(a)", MISUSED "size" },
		{ "NOT size(a)", MISUSED "size" },
		{ "attribute_exists(a) = :s", MISUSED "attribute_exists" },
		{ "contains(attribute_exists(a), :s)", MISUSED "attribute_exists" },
		{ "status = :s", RESERVED "status" },
		{ "a.sTatus = :s", RESERVED "sTatus" },
		{ "a[2147483648] = :s",
		  "List index is not within the allowable range; index: [2147483648]" },
		{ "#zz = :s", UNDEFINED_NAME "#zz" },
		{ "a = :zz", UNDEFINED_VALUE ":zz" },
		{ "attribute_exists(a, b)", COUNTED "attribute_exists, number of operands: 2" },
		{ "begins_with(a)", COUNTED "begins_with, number of operands: 1" },
		{ "size(a, b) = :n", COUNTED "size, number of operands: 2" },
		{ "attribute_exists(:s)", DOCPATH "attribute_exists" },
		{ "attribute_not_exists(size(a))", DOCPATH "attribute_not_exists" },
		{ "a = a", DISTINCT "=, first operand: [a]" },
		{ "#a[0] <> a[0]", DISTINCT "<>, first operand: [a, [0]]" },
		{ "a BETWEEN b AND a", DISTINCT "BETWEEN, first operand: [a]" },
		{ "b IN (a, b)", DISTINCT "IN, first operand: [b]" },
		{ "contains(a.b, a.b)", DISTINCT "contains, first operand: [a, b]" },
		{ "begins_with(a, :n)", TYPE "begins_with, operand type: N" },
		{ "begins_with(size(a), :s)", TYPE "begins_with, operand type: N" },
		{ "size(:b) = :n", TYPE "size, operand type: BOOL" },
		{ "size(size(a)) = :n", TYPE "size, operand type: N" },
		{ "a < :b", TYPE "<, operand type: BOOL" },
		{ "a >= :ns", TYPE ">=, operand type: NS" },
		{ "a BETWEEN :n AND :l", TYPE "BETWEEN, operand type: L" },
		{ "attribute_type(a, :n)", TYPE "attribute_type, operand type: N" },
		{ "attribute_type(a, b)",
		  TYPE "attribute_type, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}" },
		{ "attribute_type(a, :s)",
		  "Invalid attribute type name found; type: x, valid types: "
		  "{B,NULL,SS,BOOL,L,BS,N,NS,S,M}" },
		{ "a BETWEEN :m AND :n",
		  "The BETWEEN operator requires upper bound to be greater than or equal to lower "
		  "bound; lower bound operand: AttributeValue: {N:5}, upper bound operand: "
		  "AttributeValue: {N:1}" },
		{ "a BETWEEN :s AND :n",
		  "The BETWEEN operator requires same data type for lower and upper bounds; lower "
		  "bound operand: AttributeValue: {S:x}, upper bound operand: AttributeValue: "
		  "{N:1}" },
		{ "a.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b.b = :s",
		  "The document path has too many nesting levels; nesting levels: 33" },
	};
	/* clang-format on */

	(void)state;
	run(rows, COUNT(rows));
}

static void text_is_checked_before_names_and_values(void **state)
{
	static const struct row rows[] = {
		{ "a = :zz AND ((b = :s))", REDUNDANT },
		{ "foo(a) AND status = :s", "Invalid function name; function: foo" },
		{ "status = :s AND foo(a)", RESERVED "status" },
		{ "attribute_exists(status) = :s", MISUSED "attribute_exists" },
		{ "status = attribute_exists(a)", RESERVED "status" },
		{ "#zz = :s AND size(a)", MISUSED "size" },
		{ "a = :zz AND #zz = :s", UNDEFINED_VALUE ":zz" },
		{ "#zz = :s AND a = :zz", UNDEFINED_NAME "#zz" },
		{ ":b < #zz", UNDEFINED_NAME "#zz" },
		{ "attribute_exists(:zz, :yy)", UNDEFINED_VALUE ":zz" },
		{ "a < :b AND a = a", TYPE "<, operand type: BOOL" },
		{ "a = a AND a < :b", DISTINCT "=, first operand: [a]" },
		{ "a BETWEEN a AND :b", TYPE "BETWEEN, operand type: BOOL" },
	};

	(void)state;
	run(rows, COUNT(rows));
}

static const char *repeated(const char *first, const char *again, size_t times, const char *last)
{
	struct buf b;

	buf_init(&b, &arena);
	buf_str(&b, first);
	for (size_t i = 0; i < times; i++)
		buf_str(&b, again);
	buf_str(&b, last);
	buf_byte(&b, 0);
	return b.p;
}

static void limits_are_enforced(void **state)
{
	const char *many = "The expression contains too many operators; operator count: 301";

	(void)state;
	expect("4096 bytes", result(repeated("n=:m", " ", 4092, "")), "yes");
	expect("4097 bytes", result(repeated("n=:m", " ", 4093, "")),
	       "Expression size has exceeded the maximum allowed size; expression size: 4097");
	expect("300 operators", result(repeated("", "NOT ", 299, "n=:n")), "yes");
	expect("301 operators", result(repeated("", "NOT ", 300, "n=:m")), many);
	expect("299 in a row", result(repeated("n=:m", " OR n=:n", 149, "")), "yes");
	expect("301 in a row", result(repeated("n=:m", " OR n=:n", 150, "")), many);
	expect("calls count", result(repeated("attribute_exists(n)", " OR attribute_exists(n)", 150, "")), many);
	expect("values first", result(repeated("n=:m", " OR n=:zz", 150, "")), UNDEFINED_VALUE ":zz");
	expect("deep", result(repeated("", "NOT(", 1000, "")), many);
	expect("parentheses", result(repeated("", "(", 4000, "")), many);
	expect("100 in IN", result(repeated("n IN (:m", ",:n", 99, ")")), "yes");
	expect("101 in IN", result(repeated("n IN (:m", ",:n", 100, ")")),
	       "The IN operator is provided with too many operands; number of operands: 101");
	expect("32 levels", result(repeated("a", ".b", 31, " = :s")), "no");
}

static void an_item_that_does_not_exist_has_no_attributes(void **state)
{
	struct expr_bindings *b = bindings(NULL, "{':s':{'S':'x'}}");
	const struct condition *c;
	struct error e;

	(void)state;
	assert_true(condition_compile(b, FILTER_EXPRESSION, SLICE("attribute_not_exists(pk)"), &c, &e));
	assert_true(condition_holds(c, VALUE_ABSENT, &arena));
	assert_true(condition_compile(b, FILTER_EXPRESSION, SLICE("a = :s"), &c, &e));
	assert_false(condition_holds(c, VALUE_ABSENT, &arena));
	assert_false(condition_compile(b, FILTER_EXPRESSION, SLICE("a"), &c, &e));
	assert_true(slice_starts(e.message, SLICE("Invalid FilterExpression: Syntax error")));
}

static void paths_are_listed_in_order_of_appearance(void **state)
{
	struct expr_bindings *b = bindings(NAMES, VALUES);
	const struct condition *c;
	const struct path *paths;
	struct error e;

	(void)state;
	assert_true(condition_compile(b, FILTER_EXPRESSION,
				      SLICE("c.d = :s AND size(#a[1]) > :n OR attribute_exists(z)"), &c, &e));
	assert_int_equal(condition_paths(c, &paths), 3);
	assert_true(slice_is(path_print(&paths[0], &arena), "[c, d]"));
	assert_true(slice_is(path_print(&paths[1], &arena), "[a, [1]]"));
	assert_true(slice_is(path_print(&paths[2], &arena), "[z]"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(comparisons_hold_within_one_type),
		TEST(absent_attributes_equal_nothing),
		TEST(functions_look_inside),
		TEST(not_binds_before_and_before_or),
		TEST(syntax_errors_quote_the_token_and_its_neighbours),
		TEST(wrong_conditions_are_refused_with_the_reason),
		TEST(text_is_checked_before_names_and_values),
		TEST(limits_are_enforced),
		TEST(an_item_that_does_not_exist_has_no_attributes),
		TEST(paths_are_listed_in_order_of_appearance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
