/* Key templates: what is one, filling them, and reading keys back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "term_helper.h"

static const struct template *template(const char *text)
{
	const struct template *t;
	struct findings f;

	findings_init(&f, &arena);
	t = template_parse(&arena, slice_str(text), (struct place){ 1, 1, 0 }, &f);
	if (!t)
		fail_msg("%s: %s", text, found(&f));
	assert_int_equal(f.count, 0);
	return t;
}

static void reads_parts(void **state)
{
	const struct template *t = template("SCORE#<score:+10>#<follower.card-id>");

	assert_int_equal(t->part_count, 4);
	assert_true(slice_is(t->parts[0].literal, "SCORE#"));
	assert_int_equal(t->parts[1].format, FORMAT_OFFSET);
	assert_int_equal(t->parts[1].width, 10);
	assert_true(slice_is(t->parts[1].names[0], "score"));
	assert_int_equal(t->parts[3].name_count, 2);
	assert_true(slice_is(t->parts[3].names[1], "card-id"));
	assert_true(slice_is(template_prefix(t), "SCORE#"));
	assert_int_equal(template_prefix(template("<a>#b")).n, 0);
	assert_true(slice_is(template_prefix(template("METADATA")), "METADATA"));
}

static void says_what_is_wrong_and_where(void **state)
{
	static const struct {
		const char *text, *finding;
	} cases[] = {
		{ "", "4:9+1 bad-template: a template cannot be empty | " },
		{ "U#<", "4:11+1 bad-template: this placeholder has no end | close it with >" },
		{ "É#<a<b>", "4:11+2 bad-template: this placeholder has no end | close it with >" },
		{ "a>b", "4:10+1 bad-template: no placeholder is open here | " },
		{ "U#<>", "4:11+2 bad-template: this placeholder lacks a name | a placeholder is "
			  "<name>, <variable.name> or <name:format>" },
		{ "U#<a.>", "4:11+4 bad-template: this placeholder lacks a name | a placeholder is "
			    "<name>, <variable.name> or <name:format>" },
		{ "U#<a b>", "4:13+1 bad-template: this is not allowed in a placeholder's name | a "
			     "placeholder is <name>, <variable.name> or <name:format>" },
		{ "<a:dat>", "4:12+3 bad-template: there is no such format | did you mean date?" },
		{ "<a:zzzzzz>", "4:12+6 bad-template: there is no such format | formats are hour, date, "
				"week, month, year, lower, slug, ulid, shard 10, 06 (padded) and +10 (offset)" },
		{ "<a:>", "4:12+1 bad-template: there is no such format | formats are hour, date, week, month, year, "
			  "lower, slug, ulid, shard 10, 06 (padded) and +10 (offset)" },
		{ "<a:shard>",
		  "4:17+1 bad-template: this is not a number of shards from 2 to 1000 | as in <id:shard 10>" },
		{ "<a:shard 1>",
		  "4:17+2 bad-template: this is not a number of shards from 2 to 1000 | as in <id:shard 10>" },
		{ "<a:shard 1001>",
		  "4:17+5 bad-template: this is not a number of shards from 2 to 1000 | as in <id:shard 10>" },
		{ "<a:shard x>",
		  "4:17+2 bad-template: this is not a number of shards from 2 to 1000 | as in <id:shard 10>" },
		{ "<a:shards 4>", "4:12+8 bad-template: there is no such format | did you mean shard?" },
		{ "<a:6>", "4:12+1 bad-template: a width begins with 0 (padded) or + (offset) | as "
			   "in <order:06> or <score:+10>" },
		{ "<a:+99>", "4:12+3 bad-template: this width is not a number from 1 to 37 | as in "
			     "<order:06> or <score:+10>" },
		{ "<a:00>", "4:12+2 bad-template: this width is not a number from 1 to 37 | as in "
			    "<order:06> or <score:+10>" },
		{ "\xff", "4:9+0 bad-template: this template is not UTF-8 | " },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct findings f;

		findings_init(&f, &arena);
		if (template_parse(&arena, slice_str(cases[i].text), (struct place){ 4, 9, 0 }, &f))
			fail_msg("%s is taken for a template", cases[i].text);
		expect(cases[i].text, found(&f), cases[i].finding);
	}
}

/* ---- filling ---- */

static const char stored[] = "{'s':{'S':'Bob'},'n':{'N':'12.50'},'i':{'N':'7'},'neg':{'N':'-3'},'big':{'N':'1234567'},"
			     "'at':{'S':'2026-11-15T23:30:00-01:30'},'day':{'S':'2026-11-15'},'secs':{'N':'1794744000'},"
			     "'t':{'BOOL':true},'nil':{'NULL':true},'l':{'L':[]},'hash':{'S':'a#b'},'e':{'S':''},"
			     "'digits':{'S':'42'},'bin':{'B':'AA=='},'huge':{'N':'9e125'},'f':{'M':{'x':{'S':'y'}}}}";

static enum template_result filled_with(const struct template *t, struct world *w, bool in_key, struct arena *a,
					struct value *v, struct error *e)
{
	struct term_scope s = world_scope(w, "");

	s.arena = a;
	return template_fill(t, &s, in_key, v, e);
}

static const char *filled_by(const struct template *t, bool in_key)
{
	struct world w = world_of(item(stored));
	struct error e = { 0 };
	struct value v;

	switch (filled_with(t, &w, in_key, &arena, &v, &e)) {
	case TEMPLATE_OK: assert_true(value_present(v)); return printed(v);
	case TEMPLATE_ABSENT: return "absent";
	default: assert_int_equal(e.code, ERR_VALIDATION); return arena_cstr(&arena, e.message);
	}
}

static const char *filled(const char *text, bool in_key)
{
	return filled_by(template(text), in_key);
}

static void fills_keys(void **state)
{
	static const struct {
		const char *text, *value;
	} cases[] = {
		{ "METADATA", "{'S':'METADATA'}" },
		{ "USER#<s>", "{'S':'USER#Bob'}" },
		{ "<s:lower>", "{'S':'bob'}" },
		{ "TAG#<hash:slug>", "{'S':'TAG#a-b'}" },
		{ "TAG#<e:slug>", "absent" },
		{ "<f.x>#<i>", "{'S':'y#7'}" },
		{ "N#<n>", "{'S':'N#12.5'}" },
		{ "N#<neg>", "{'S':'N#-3'}" },
		{ "B#<t>", "{'S':'B#true'}" },
		{ "<at:date>", "{'S':'2026-11-16'}" },
		{ "<at:month>#<day:date>", "{'S':'2026-11#2026-11-15'}" },
		{ "<at:hour> <at:week> <at:year>", "{'S':'2026-11-16T01 2026-W47 2026'}" },
		{ "<at:ulid>", "{'S':'01M7GXWEM00000000000000000'}" },
		{ "<day:ulid>", "{'S':'01M7E81W000000000000000000'}" },
		{ "S#<s:shard 10>", "{'S':'S#6'}" },
		{ "S#<i:shard 1000>", "{'S':'S#346'}" },
		{ "D#<secs:date>", "{'S':'D#2026-11-15'}" },
		{ "<i:06>", "{'S':'000007'}" },
		{ "<big:07>", "{'S':'1234567'}" },
		{ "<digits:04>", "{'S':'0042'}" },
		{ "<i:+10>", "{'S':'5000000007'}" },
		{ "<neg:+10>", "{'S':'4999999997'}" },
		{ "<neg:+1>", "{'S':'2'}" },
		{ "<s>", "{'S':'Bob'}" },
		{ "<n>", "{'N':'12.5'}" },
		{ "<bin>", "{'B':'AA=='}" },
		{ "A#<gone>#<hash>", "absent" },
		{ "<gone>", "absent" },
		{ "<nil>", "absent" },
		{ "A#<nil>", "absent" },
		{ "A#<hash>", "hash is part of a key and cannot contain '#'" },
		{ "<hash>", "hash is part of a key and cannot contain '#'" },
		{ "A#<e>", "e is part of a key and cannot be empty" },
		{ "<e>", "e is part of a key and cannot be empty" },
		{ "<l>", "l must be a string or a number" },
		{ "<t>", "t must be a string or a number" },
		{ "A#<l>", "l must be a string or a number" },
		{ "A#<bin>", "bin must be a string or a number" },
		{ "<s:date>", "s must be a timestamp such as 2026-11-15T12:00:00Z" },
		{ "<s:ulid>", "s must be a date or timestamp such as 2026-11-15 or 2026-11-15T12:00:00Z" },
		{ "<l:shard 4>", "l must be a string or a number" },
		{ "<huge:date>", "huge must be a timestamp such as 2026-11-15T12:00:00Z" },
		{ "<l:month>", "l must be a timestamp such as 2026-11-15T12:00:00Z" },
		{ "<neg:06>", "neg must be a whole number of at most 6 digits, not negative" },
		{ "<n:06>", "n must be a whole number of at most 6 digits, not negative" },
		{ "<big:06>", "big must be a whole number of at most 6 digits, not negative" },
		{ "<big:+6>", "big must be a whole number from -5E5 to below 5E5" },
		{ "<n:+6>", "n must be a whole number from -5E5 to below 5E5" },
		{ "<huge:+6>", "huge must be a whole number from -5E5 to below 5E5" },
		{ "<s:06>", "s must be a number" },
		{ "<f.x:06>", "f.x must be a number" },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		expect(cases[i].text, filled(cases[i].text, true), cases[i].value);
}

/* Where a range ends at a day, that is its last millisecond. */
static void the_end_of_a_range_of_ulids_is_the_last_of_its_time(void **state)
{
	static const struct {
		const char *text, *value;
	} cases[] = {
		{ "<day:ulid>", "{'S':'01M7GTEJZZZZZZZZZZZZZZZZZZ'}" },
		{ "<at:ulid>", "{'S':'01M7GXWFK7ZZZZZZZZZZZZZZZZ'}" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct template *t = template(cases[i].text);

		*(enum template_format *)(uintptr_t)&t->parts[0].format = FORMAT_ULID_HIGHEST; /* as the loader does */
		expect(cases[i].text, filled_by(t, true), cases[i].value);
	}
}

static void outside_keys_anything_goes(void **state)
{
	expect("hash", filled("A#<hash>", false), "{'S':'A#a#b'}");
	expect("empty", filled("A#<e>", false), "{'S':'A#'}");
	expect("list", filled("<l>", false), "{'L':[]}");
	expect("boolean", filled("<t>", false), "{'BOOL':true}");
}

static void offsets_sort_as_the_numbers_do(void **state)
{
	const struct template *t = template("<n:+4>");
	struct value before = VALUE_ABSENT, v;
	struct error e;

	for (int i = -5000; i < 5000; i += 7) {
		struct value_member m = { SLICE("n"), value_make_i64(&arena, i) };
		struct world w = world_of(value_make_map(&arena, &m, 1));

		assert_int_equal(filled_with(t, &w, true, &arena, &v, &e), TEMPLATE_OK);
		assert_int_equal(value_bytes(v).n, 4);
		assert_true(!value_present(before) || value_cmp(before, v) < 0);
		before = v;
	}
}

/* ---- matching ---- */

/* The placeholders' values with | between them; "no". */
static const char *matched(const char *text, const char *key)
{
	const struct template *t = template(text);
	struct slice *values = arena_array(&arena, struct slice, t->part_count);
	struct buf b;

	if (!template_match(t, slice_str(key), values))
		return "no";
	buf_init(&b, &arena);
	for (size_t i = 0; i < t->part_count; i++) {
		if (!t->parts[i].names) {
			assert_int_equal(values[i].n, 0);
			continue;
		}
		buf_put(&b, values[i]);
		buf_byte(&b, '|');
	}
	return arena_cstr(&arena, buf_slice(&b));
}

static void reads_keys_back(void **state)
{
	int simple = 0;
	static const struct {
		const char *text, *key, *values;
	} cases[] = {
		{ "METADATA", "METADATA", "" },
		{ "METADATA", "METADATA#", "no" },
		{ "METADATA", "META", "no" },
		{ "USER#<id>", "USER#alice", "alice|" },
		{ "USER#<id>", "USER#", "no" },
		{ "USER#<id>", "USER#a#POST#b", "no" },
		{ "USER#<id>", "POST#a", "no" },
		{ "USER#<id>#POST#<post>", "USER#a#POST#b", "a|b|" },
		{ "USER#<id>#POST#<post>", "USER#a", "no" },
		{ "<a>#<b>#META", "x#y#META", "x|y|" },
		{ "<a>#META", "META#META", "META|" },
		{ "<created_at:date>#<id>", "2026-11-15#p", "2026-11-15|p|" },
		{ "<created_at:date>#<id>", "2026-11-99#p", "no" },
		{ "<m:month>", "2026-11", "2026-11|" },
		{ "<m:month>", "2026-13", "no" },
		{ "<h:hour>#<id>", "2026-11-15T12#p", "2026-11-15T12|p|" },
		{ "<h:hour>#<id>", "2026-11-15T24#p", "no" },
		{ "W#<w:week>", "W#2026-W53", "2026-W53|" },
		{ "W#<w:week>", "W#2025-W53", "no" },
		{ "<y:year><id>", "2026x", "2026|x|" },
		{ "S#<id:shard 10>", "S#9", "9|" },
		{ "S#<id:shard 10>", "S#10", "no" },
		{ "S#<id:shard 10>", "S#x", "no" },
		{ "S#<id:shard 10>#<id>", "S#3#x", "3|x|" },
		{ "O#<n:06>#<id>", "O#000042#x", "000042|x|" },
		{ "O#<n:06>#<id>", "O#42#x", "no" },
		{ "O#<n:06>#<id>", "O#00004x#x", "no" },
		{ "S<n:+4><id>", "S5003abc", "5003|abc|" },
		{ "<id><n:04>", "abc5003", "abc|5003|" },
		{ "<a><b>", "abc", "abc||" },
		{ "<n:04>", "", "no" },
		{ "<site>", "SITE#1", "SITE#1|" },
		{ "<site>", "", "no" },
		{ "/users/<id>/posts", "/users/alice/posts", "alice|" },
		{ "/users/<id>", "/users/alice/posts", "no" },
		{ "/users/<a>/<b>", "/users/x/y#z", "x|y#z|" },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		expect(cases[i].text, matched(cases[i].text, cases[i].key), cases[i].values);
	/* what is said of simple ones is what matching them comes to */
	for (size_t i = 0; i < COUNT(cases); i++)
		for (size_t k = 0; k < COUNT(cases); k++) {
			struct slice text, key = slice_str(cases[k].key), behind;
			bool rest, is;
			char sign;

			if (!template_is_simple(template(cases[i].text), &text, &rest, &sign))
				continue;
			is = slice_starts(key, text);
			behind = is ? slice_make(key.p + text.n, key.n - text.n) : SLICE("");
			is = is && (behind.n > 0) == rest && !(sign && memchr(behind.p, sign, behind.n));
			assert_int_equal(is, strcmp(matched(cases[i].text, cases[k].key), "no") != 0);
			simple++;
		}
	assert_true(simple > 100);
}

static void what_was_filled_is_read_back(void **state)
{
	static const char letters[] = "abXY09-_.";
	const struct template *t = template("A#<x>#B#<y>#<n:05>#<x:lower>");
	uint64_t seed = 9;

	for (int i = 0; i < 2000; i++) {
		struct slice values[8], want[2];
		struct value_member m[3] = { { .name = SLICE("x") }, { .name = SLICE("y") }, { .name = SLICE("n") } };
		struct world w;
		struct value v;
		struct error e;

		for (int k = 0; k < 2; k++) {
			char *p = arena_alloc(&arena, 8);
			size_t n = 1 + next_random(&seed) % 8;

			for (size_t j = 0; j < n; j++)
				p[j] = letters[next_random(&seed) % (sizeof(letters) - 1)];
			want[k] = slice_make(p, n);
			m[k].value = value_make_s(&arena, want[k]);
		}
		m[2].value = value_make_i64(&arena, next_random(&seed) % 100000);
		world_has(&w, value_make_map(&arena, m, 3));
		assert_int_equal(filled_with(t, &w, true, &arena, &v, &e), TEMPLATE_OK);
		assert_true(template_match(t, value_bytes(v), values));
		assert_true(slice_equal(values[1], want[0]));
		assert_true(slice_equal(values[3], want[1]));
		assert_int_equal(values[5].n, 5);
		assert_int_equal(values[7].n, want[0].n);
	}
}

static void survives_any_failing_allocation(void **state)
{
	struct world w = world_of(item(stored));
	bool done = false;

	for (long n = 0; !done; n++) {
		struct arena a;

		arena_init(&a);
		alloc_fail_after(n);
		ARENA_TRY(&a, {
			struct findings f;
			const struct template *t;
			struct slice values[16];
			struct value v;
			struct error e;
			enum template_result r;

			findings_init(&f, &a);
			t = template_parse(&a, SLICE("<s:lower>#<i:06>#<neg:+10>#<at:date>#<n>#<gone>"),
					   (struct place){ 1, 1, 0 }, &f);
			r = filled_with(t, &w, true, &a, &v, &e);
			assert_int_equal(r, TEMPLATE_ABSENT);
			assert_false(template_match(t, SLICE("a#b"), values));
			assert_null(template_parse(&a, SLICE("<a:lowr>"), (struct place){ 1, 1, 0 }, &f));
			done = !alloc_has_failed();
		}, {});
		alloc_fail_never();
		arena_release(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reads_parts),
		TEST(says_what_is_wrong_and_where),
		TEST(fills_keys),
		TEST(the_end_of_a_range_of_ulids_is_the_last_of_its_time),
		TEST(outside_keys_anything_goes),
		TEST(offsets_sort_as_the_numbers_do),
		TEST(reads_keys_back),
		TEST(what_was_filled_is_read_back),
		TEST(survives_any_failing_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
