/* A rule that is asked of many items: the same answers, with less asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "term_helper.h"

static const char *const items[] = {
	"{}",
	"{'a':{'N':'1'},'b':{'N':'2'},'author':{'S':'alice'},'open':{'BOOL':true},'score':{'N':'7'},'tags':{'SS':['x','y']}}",
	"{'a':{'N':'2'},'b':{'N':'2'},'author':{'S':'bob'},'open':{'BOOL':false},'score':{'N':'-3'},'map':{'M':{'x':{'N':'2'}}}}",
	"{'a':{'S':'1'},'author':{'NULL':true},'open':{'S':'true'},'score':{'NULL':true},'other':{'S':'x'}}",
	"{'author':{'S':''},'map':{'S':'no map'},'old':{'M':{'a':{'N':'1'}}},'other':{'S':'y'}}",
};

static const char *const terms[] = {
	"anyone",
	"nobody",
	"true",
	"false",
	"null",
	"'x'",
	"open",
	"not open",
	"map.x",
	"other",
	"caller",
	"none",
	"open = true",
	"open <> true",
	"a = b",
	"a <> b",
	"a < b",
	"a <= b",
	"a > b",
	"a >= b",
	"a = map.x",
	"map.x = 2",
	"author = caller",
	"caller = author",
	"author = caller or open = true",
	"author = caller and open = true",
	"a in (1, 2)",
	"a in (b, 'x', none)",
	"author in (caller, 'bob')",
	"caller in ('alice')",
	"other in ('x')",
	"a between 1 and 2",
	"score between none and 9",
	"a is present",
	"a is absent",
	"none is absent",
	"old.a = 1",
	"author begins with 'al'",
	"tags contains 'x'",
	"tags contains author",
	"author contains 'li'",
	"caller is admin",
	"caller is user",
	"caller is editor",
	"caller may 'site:write'",
	"caller may author",
	"caller is admin or (open = true and (author = caller or a < b))",
	"not (caller is admin) and not (a = 1)",
	"a + 1 = b",
	"-a < 0",
	"size(author) = 5",
	"first(author) = 'a'",
	"lower(author) = caller",
	"days_ago(7) < now",
	"(a = b) = true",
	"(a = b) = open",
	"choose(open, a, b) = 1",
	"exists User(author)",
	"User(author).age = 7",
	"Follow(caller, author).status in ('active', 'muted')",
	"exists Follow(caller, 'bob')",
	"visible User(none)",
	"author <> caller and Follow(caller, author).status = 'active'",
};

/* As the loader does it. */
static const struct term *rule(const char *text)
{
	const struct term *t = parsed(text);

	term_prepare((struct term *)(uintptr_t)t);
	return t;
}

static void answers_are_those_of_the_term(void **state)
{
	static const char *const callers[] = { "", "alice", "carol" };

	(void)state;
	for (size_t c = 0; c < COUNT(callers); c++)
		for (size_t i = 0; i < COUNT(terms); i++) {
			const struct term *t = parsed(terms[i]), *prepared = rule(terms[i]);
			struct world w = { 0 };
			struct term_scope s = world_scope(&w, callers[c]), asking = s;

			term_remember(prepared, &asking);
			/* twice, so that what was remembered is used on every item */
			for (size_t k = 0; k < 2 * COUNT(items); k++) {
				struct error e = { 0 }, other = { 0 };
				bool wanted = false, got = true, ok;

				world_has(&w, item(items[k % COUNT(items)]));
				ok = term_holds(t, &s, &wanted, &e);
				assert_int_equal(term_holds(prepared, &asking, &got, &other), ok);
				if (ok && wanted != got)
					fail_msg("'%s' asked by '%s' of %s: %d", terms[i], callers[c],
						 items[k % COUNT(items)], got);
				assert_true(ok || slice_equal(e.message, other.message));
			}
		}
}

static bool asked(const char *text, struct world *w, struct term_scope *s, const char *const *of, size_t n)
{
	const struct term *t = rule(text);
	bool all = true, holds;

	term_remember(t, s);
	for (size_t i = 0; i < n; i++) {
		struct error e = { 0 };

		world_has(w, item(of[i]));
		all = term_holds(t, s, &holds, &e) && all;
	}
	return all;
}

static void terms_without_an_item_are_evaluated_once(void **state)
{
	struct world w = { 0 };
	struct term_scope s = world_scope(&w, "alice");

	(void)state;
	assert_true(asked("User(caller).age = 7 and exists Follow(caller, 'bob')", &w, &s, items, COUNT(items)));
	assert_int_equal(w.fetches, 2);
	w.fetches = 0;
	assert_true(asked("User(caller).age = 7 and a = 1", &w, &s, items, COUNT(items)));
	assert_int_equal(w.fetches, 1);
}

static void terms_with_the_item_are_evaluated_for_each(void **state)
{
	struct world w = { 0 };
	struct term_scope s = world_scope(&w, "alice");

	(void)state;
	assert_true(asked("exists Follow(caller, a)", &w, &s, items, COUNT(items)));
	assert_int_equal(w.fetches, 3); /* two have no `a` */
}

static void skipped_terms_are_not_evaluated(void **state)
{
	struct world w = { .fetch_fails = true };
	struct term_scope s = world_scope(&w, "alice");

	(void)state;
	assert_true(asked("open = 'never' and exists User(caller)", &w, &s, items, COUNT(items)));
	assert_true(asked("open <> 'never' or exists User(author)", &w, &s, items, COUNT(items)));
	assert_int_equal(w.fetches, 0);
}

/* A failure is not remembered as a result. */
static void a_failure_fails_each_time(void **state)
{
	struct world w = { .fetch_fails = true };
	struct term_scope s = world_scope(&w, "alice");
	const struct term *t = rule("User(caller).age = 7");
	struct error e = { 0 };
	bool holds;

	(void)state;
	term_remember(t, &s);
	assert_false(term_holds(t, &s, &holds, &e));
	assert_false(term_holds(t, &s, &holds, &e));
	w.fetch_fails = false;
	assert_true(term_holds(t, &s, &holds, &e));
	assert_true(holds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(answers_are_those_of_the_term),
		TEST(terms_without_an_item_are_evaluated_once),
		TEST(terms_with_the_item_are_evaluated_for_each),
		TEST(skipped_terms_are_not_evaluated),
		TEST(a_failure_fails_each_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
