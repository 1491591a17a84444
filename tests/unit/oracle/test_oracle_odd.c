/* The oracle on a design with everything that is not plain: the time, numbers in keys, patterns that merge others,
 * filters with parameters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle_helper.h"
#include "oracle_lives.h"

static const char design[] =
	"design: test\ntitle: Test\ntable: Test\nkey: [PK, SK]\nindexes:\n"
	"  byStars: {key: [starred: number, site]}\n  byRoom: {key: [room, SK]}\nstream: new and old images\nttl: expires_at\n"
	"entities:\n"
	"  Site:\n"
	"    path: /sites/<id>\n"
	"    attributes:\n"
	"      id: string, required, fixed\n"
	"      made: timestamp, now\n"
	"      seen: = now\n"
	"      text: string 3..20\n"
	"    keys: {PK: 'SITE#<id>', SK: SITE, last: 'SEEN#<seen>'}\n"
	"    companions:\n"
	"      - {when: made >= days_ago(7), PK: 'FRESH#<id>', SK: FRESH, id: <id>}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"    actions:\n"
	"      wipe: {set: {text: ''''''}}\n"
	"    delete: {then remove: [ratings of site, notes of site]}\n"
	"  Rating:\n"
	"    path: /ratings/<who>/<site>\n"
	"    attributes:\n"
	"      who: string, required, fixed\n"
	"      site: string, required, fixed\n"
	"      stars: integer 1..3, required\n"
	"      free: boolean, default false\n"
	"    keys: {PK: 'R#<who>', SK: '<site>', starred: <stars>}\n"
	"    requires: [Site(site) when free = false]\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Note:\n"
	"    path: /notes/<id>\n"
	"    attributes: {id: 'string, required, fixed', about: 'string, required', kind: 'string, required', closed: boolean}\n"
	"    keys: {PK: 'NOTE#<id>', SK: NOTE, room: '<kind>'}\n"
	"    requires: [Site(about) when kind = 'site']\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"access:\n"
	"  ratings of site:\n"
	"    merge: {run: ratings of site and value, for: n in 1..3, with: {stars: <n>, id: <id>}}\n"
	"    with: {id: string}\n"
	"  ratings of site and value:\n"
	"    query: byStars\n"
	"    where: {starred: <stars>, site: <id>}\n"
	"  notes of site:\n"
	"    query: byRoom\n"
	"    where: {room: site}\n"
	"    with: {id: string}\n"
	"    filter: closed <> true and about = input.id\n";

static void open_odd(struct app_fixture *f)
{
	app_fixture_open(f, design);
	created(f, "!", "Site", "a", "{\"text\":\"hello\"}");
	created(f, "!", "Rating", "ann/a", "{\"stars\":2}");
	created(f, "!", "Rating", "bob/a", "{\"stars\":3}");
	created(f, "!", "Rating", "bob/nowhere", "{\"stars\":1,\"free\":true}");
	created(f, "!", "Note", "n1", "{\"about\":\"a\",\"kind\":\"site\"}");
	created(f, "!", "Note", "n2", "{\"about\":\"nowhere\",\"kind\":\"town\"}");
}

static void the_time_of_writing_is_not_held_against_an_item(void **s)
{
	struct app_fixture f;

	(void)s;
	open_odd(&f);
	assert_told(&f, "");
	raw_set(&f, "SITE#a", "SITE", "seen", "{\"S\":\"2020-01-01T00:00:00Z\"}"); /* written then */
	raw_set(&f, "SITE#a", "SITE", "last", "{\"S\":\"SEEN#2020-01-01T00:00:00Z\"}");
	assert_told(&f, "");
	raw_set(&f, "SITE#a", "SITE", "last", "{\"S\":\"SEEN#2021-01-01T00:00:00Z\"}"); /* but not both */
	assert_told(&f, "key-differs SITE#a last SEEN#2021-01-01T00:00:00Z SEEN#2020-01-01T00:00:00Z\n");
	raw_set(&f, "SITE#a", "SITE", "last", "{\"S\":\"SEEN#2020-01-01T00:00:00Z\"}");
	raw_delete(&f, "FRESH#a", "FRESH"); /* it was old when it was last written, or it is by now */
	assert_told(&f, "");
	raw_put(&f, "{\"PK\":{\"S\":\"FRESH#a\"},\"SK\":{\"S\":\"FRESH\"},\"id\":{\"S\":\"a\"}}");
	raw_set(&f, "SITE#a", "SITE", "made", "{\"S\":\"2020-01-01T00:00:00Z\"}");
	assert_told(&f, "");
	app_fixture_close(&f);
}

static void what_the_design_sets_is_right(void **s)
{
	struct app_fixture f;

	(void)s;
	open_odd(&f);
	acted(&f, "!", "Site", "a", "wipe", NULL);
	assert_told(&f, "");
	raw_set(&f, "SITE#a", "SITE", "text", "{\"S\":\"x\"}");
	assert_told(&f, "attribute-unfit SITE#a text x -\n");
	app_fixture_close(&f);
}

static void rows_of_merged_and_filtered_patterns_have_their_parent(void **s)
{
	struct app_fixture f;

	(void)s;
	open_odd(&f);
	created(&f, "!", "Site", "b", "{}");
	created(&f, "!", "Rating", "ann/b", "{\"stars\":1}");
	created(&f, "!", "Note", "n3", "{\"about\":\"b\",\"kind\":\"site\"}");
	created(&f, "!", "Note", "n4", "{\"about\":\"a\",\"kind\":\"site\",\"closed\":true}");
	raw_delete(&f, "SITE#a", "SITE");
	raw_delete(&f, "FRESH#a", "FRESH");
	/* free ratings and notes of towns hang on nothing, closed ones outlive their site; those of b have theirs */
	assert_told(&f, "orphan R#ann - -\norphan R#bob - -\norphan NOTE#n1 - -\n");
	app_fixture_close(&f);
}

/* ---- deletions that leave the item, rows that rows lead to, items that live while others do ---- */

static void rows_of_a_softly_deleted_parent_should_be_gone(void **s)
{
	struct app_fixture f;

	(void)s;
	open_lives(&f);
	assert_told(&f, "");
	deleted(&f, "!", "User", "bob");
	assert_told(&f, "");
	/* as if the deletion had been cut short; that visits are left may be for they came since */
	raw_set(&f, "USER#ann", "USER", "state", "{\"S\":\"gone\"}");
	raw_set(&f, "ROWS#ann", "p1", "pinned", "{\"BOOL\":true}");
	assert_told(&f, ""); /* mail is still there: it is not what a deletion leaves */
	raw_set(&f, "USER#ann", "USER", "mail", NULL);
	assert_told(&f, "orphan USER#ann - -\n");
	raw_set(&f, "USER#ann", "USER", "mail", "{\"NULL\":true}"); /* as the runtime leaves it */
	assert_told(&f, "orphan USER#ann - -\n");
	raw_delete(&f, "USER#ann", "LIKE#p1");
	raw_set(&f, "USER#ann", "USER", "likes", "{\"N\":\"0\"}");
	assert_told(&f, "");
	app_fixture_close(&f);
}

static void rows_that_rows_lead_to_have_the_parent_they_name(void **s)
{
	struct app_fixture f;

	(void)s;
	open_lives(&f);
	raw_delete(&f, "BLOG#b", "BLOG");
	/* r2 names no blog */
	assert_told(&f, "orphan POST#p1 - -\norphan POST#p1 - -\n");
	raw_delete(&f, "POST#p1", "POST");
	raw_delete(&f, "ROWS#ann", "p1");
	assert_told(&f, "orphan POST#p1 - -\n");
	raw_delete(&f, "POST#p1", "REMARK#r1");
	assert_told(&f, "");
	app_fixture_close(&f);
}

static void the_runtime_leaves_no_rows_that_rows_lead_to(void **s)
{
	struct app_fixture f;

	(void)s;
	open_lives(&f);
	raw_delete(&f, "ROWS#ann", "p1");
	deleted(&f, "!", "Blog", "b");
	assert_false(is_stored(&f, "POST#p1", "REMARK#r1"));
	assert_false(is_stored(&f, "POST#p1", "REMARK#r2"));
	assert_told(&f, "");
	app_fixture_close(&f);
}

static void an_item_lives_while_what_it_hangs_on_is_so(void **s)
{
	struct told t = { .notes = true };
	struct app_fixture f;

	(void)s;
	open_lives(&f);
	updated(&f, "!", "Post", "p1", "{\"hidden\":true}");
	assert_told(&f, "outlived ROWS#ann - -\n");
	updated(&f, "!", "Post", "p1", "{\"hidden\":false}");
	assert_told(&f, "");
	deleted(&f, "!", "Post", "p1");
	ask_with(&f, &t, (struct oracle_options){ 0 });
	assert_non_null(strstr(t.text.p, "outlived ROWS#ann - -\n"));
	assert_non_null(
		strstr(t.sentences.p, "Row ann/p1 is left over: it lives while its Post exists, which it does not\n"));
	/* the stream says that the processor has not come to it yet */
	ask_with(&f, &t, (struct oracle_options){ .stream = true });
	assert_non_null(strstr(t.text.p, "pending outlived ROWS#ann - -\n"));
	app_fixture_close(&f);
}

static void rows_that_nothing_removes_are_a_note(void **s)
{
	struct told t = { .notes = true };
	struct app_fixture f;
	struct oracle_summary m;

	(void)s;
	open_lives(&f);
	raw_delete(&f, "USER#ann", "LIKE#p1");
	raw_delete(&f, "USER#ann", "VISIT#mo");
	raw_delete(&f, "USER#ann", "USER");
	m = ask_with(&f, &t, (struct oracle_options){ 0 });
	assert_int_equal(m.differences, 0);
	assert_int_equal(m.kinds[ORACLE_OUTLIVED], 1);
	assert_non_null(strstr(t.sentences.p, "but nothing in the design removes it"));
	raw_set(&f, "ROWS#ann", "p1", "pinned", "{\"BOOL\":true}");
	m = ask_with(&f, &t, (struct oracle_options){ 0 });
	assert_int_equal(m.kinds[ORACLE_OUTLIVED], 0);
	app_fixture_close(&f);
}

static const char pinned_rows[] =
	"entities:\n"
	"  Post:\n"
	"    path: /posts/<id>\n"
	"    attributes: {id: 'string, required, fixed', hidden: 'boolean, default false'}\n"
	"    keys: {PK: 'POST#<id>', SK: POST}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"    actions: {pin: {also: [{update: Row(id), with: {@: true}}]}}\n"
	"  Row:\n"
	"    internal: true\n"
	"    path: /rows/<post>\n"
	"    attributes: {post: 'string, required, fixed', pinned: 'boolean, default false', read: 'boolean, default false'}\n"
	"    keys: {PK: 'ROWS#<post>', SK: ROW}\n"
	"    lives while: [Post(post) when pinned = false if hidden = false]\n"
	"    allow: {read: anyone}\n"
	"processors:\n"
	"  take a post back: {on: 'Post updated, deleted', delete: Row(id)}\n";

/* How many differences there are about a row whose post is hidden, when the action sets that attribute of it. */
static uint64_t outlived_when_set(const char *attribute)
{
	const char *at = strchr(pinned_rows, '@');
	struct told t = { .notes = true };
	struct oracle_summary m;
	struct app_fixture f;
	char text[sizeof(pinned_rows) + 20];

	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - pinned_rows), pinned_rows, attribute, at + 1);
	app_fixture_open(&f, text);
	created(&f, "!", "Post", "p1", "{\"hidden\":true}");
	raw_put(&f, "{\"PK\":{\"S\":\"ROWS#p1\"},\"SK\":{\"S\":\"ROW\"},\"post\":{\"S\":\"p1\"},"
		    "\"pinned\":{\"BOOL\":false},\"read\":{\"BOOL\":false}}");
	m = ask_with(&f, &t, (struct oracle_options){ 0 });
	assert_int_equal(m.kinds[ORACLE_OUTLIVED], 1);
	app_fixture_close(&f);
	return m.differences;
}

static void rows_that_another_write_may_free_are_a_note(void **s)
{
	(void)s;
	assert_int_equal(outlived_when_set("read"), 1);
	assert_int_equal(outlived_when_set("pinned"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_of_writing_is_not_held_against_an_item),
		cmocka_unit_test(what_the_design_sets_is_right),
		cmocka_unit_test(rows_of_merged_and_filtered_patterns_have_their_parent),
		cmocka_unit_test(rows_of_a_softly_deleted_parent_should_be_gone),
		cmocka_unit_test(rows_that_rows_lead_to_have_the_parent_they_name),
		cmocka_unit_test(the_runtime_leaves_no_rows_that_rows_lead_to),
		cmocka_unit_test(an_item_lives_while_what_it_hangs_on_is_so),
		cmocka_unit_test(rows_that_nothing_removes_are_a_note),
		cmocka_unit_test(rows_that_another_write_may_free_are_a_note),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
