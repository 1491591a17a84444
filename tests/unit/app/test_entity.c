/* Items of an entity: completed, stored, recognised, found again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_fixture.h"
#include "app/db/dyn.h"
#include "app/entity/entity.h"

static const char design[] =
	"entities:\n"
	"  Card:\n"
	"    path: /cards/<id>\n"
	"    attributes:\n"
	"      id: string, id, from the key\n"
	"      double: = half * 2\n" /* before what it depends on */
	"      half: = votes / 2\n"
	"      votes: counter\n"
	"      status: draft | open, default draft\n"
	"      tags: list of string 0..30\n"
	"      note: string, when busy\n"
	"      busy: = double > 10\n"
	"      email: string, unique\n"
	"      created_at: timestamp, now\n"
	"      expires_at: epoch, 30 days after created_at, when status = 'draft'\n"
	"    keys:\n"
	"      PK: CARD#<id>\n      SK: CARD\n      kind: CARD\n"
	"    keys when status = 'open':\n"
	"      GSI1PK: OPEN\n      GSI1SK: <double:06>#<id>\n      kind: OPENCARD\n"
	"    companions:\n"
	"      - {for: tag in tags, when: tag <> 'none', PK: CARD#<id>, SK: TAG#<tag:slug>, tag: <tag>, note: <note>}\n"
	"      - {unique: email, PK: EMAIL#<email>, SK: EMAIL#<email>, id: <id>}\n"
	"    allow: {read: status = 'open', list: caller is user}\n"
	"  Page:\n"
	"    path: /books/<book>/pages/<number>\n"
	"    attributes:\n"
	"      book: string, required, lower, from the key\n      number: integer, required, from the key\n"
	"      score: integer, from the key\n"
	"    keys: {PK: BOOK#<book>, SK: PAGE#<number:06>, GSI1PK: PAGES, GSI1SK: 'SCORE#<score:+10>#<book>'}\n"
	"  Cat:\n"
	"    path: /cats/<id>\n"
	"    attributes:\n      id: string, required\n      kind: cat | dog\n"
	"    keys when kind = 'cat': {PK: PET#<id>, SK: PET}\n"
	"  Dog:\n"
	"    path: /dogs/<id>\n"
	"    attributes:\n      id: string, required\n      kind: cat | dog\n"
	"    keys when kind = 'dog': {PK: PET#<id>, SK: PET}\n"
	"  Metric:\n"
	"    path: /metrics/<id>/<name>\n"
	"    attributes:\n      id: string, required, from the key\n      name: string, required, from the key\n"
	"    keys: {PK: CARD#<id>, SK: '<name>'}\n"
	"  Reply:\n"
	"    path: /cards/<card>/replies/<id>\n"
	"    found by: reply by id\n"
	"    attributes:\n"
	"      card: string, required\n      id: string, required\n      parent: string\n      made: timestamp\n"
	"    keys: {PK: REPLIES#<card>, GSI2PK: REPLY#<id>, GSI2SK: REPLY}\n"
	"    keys when parent is absent: {SK: REPLY#<id>}\n"
	"    keys when parent is present: {SK: REPLY#<parent>#<id>}\n"
	"  Slip:\n" /* its key has only a part of its identity */
	"    path: /boxes/<box>/slips/<id>\n"
	"    attributes:\n      box: string, required\n      id: string, required\n"
	"    keys: {PK: SLIP#<id>, SK: SLIP}\n"
	"  Like:\n"
	"    path: /cards/<card>/likes/<user>\n"
	"    found by: has liked\n"
	"    attributes:\n      card: string, required\n      user: string, required\n      made: timestamp, now\n"
	"    keys: {PK: LIKES#<card>, SK: LIKE#<user>#<made>}\n"
	"    companions: [{unique: user, PK: LIKE#<user>#<card>, SK: LIKE, made: <made>}]\n"
	"access:\n"
	"  reply by id: {query: GSI2, where: {GSI2PK: REPLY#<id>}}\n"
	"  has liked: {get: {PK: LIKE#<user>#<card>, SK: LIKE}}\n";

static struct value text(struct run *r, const char *s)
{
	return value_make_s(r->arena, slice_str(s));
}

static struct value number(struct run *r, int64_t n)
{
	return value_make_i64(r->arena, n);
}

static const struct entity *entity(struct run *r, const char *name)
{
	const struct entity *e = design_entity(r->design, slice_str(name));

	assert_non_null(e);
	return e;
}

static void assert_text(struct value v, const char *s)
{
	assert_int_equal(value_type(v), VALUE_S);
	if (!slice_is(value_bytes(v), s))
		fail_msg("'%.*s' instead of '%s'", SLICE_ARG(value_bytes(v)), s);
}

static void assert_number(struct value v, int64_t n)
{
	struct number x;
	int64_t got;

	assert_int_equal(value_type(v), VALUE_N);
	x = value_number(v);
	assert_true(number_to_i64(&x, &got));
	assert_int_equal(got, n);
}

static void set(struct row *f, const char *name, struct value v)
{
	row_put(f, slice_str(name), v);
}

static struct value get(const struct row *f, const char *name)
{
	return row_find(f, slice_str(name));
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

static int open_fixture(void **state)
{
	static struct app_fixture f;

	app_fixture_open(&f, design);
	*state = &f;
	return 0;
}

static int close_fixture(void **state)
{
	app_fixture_close(*state);
	return 0;
}

static void card(struct run *r, struct row *f, const char *id, int64_t votes)
{
	row_init(f, r->arena, NULL);
	set(f, "id", text(r, id));
	set(f, "votes", number(r, votes));
	set(f, "status", text(r, "draft"));
	set(f, "created_at", text(r, "2026-01-01T00:00:00Z"));
}

/* ---- completing ---- */

static void derived_attributes_see_one_another_in_any_order(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	struct row f;

	card(r, &f, "c1", 40);
	set(&f, "note", text(r, "kept"));
	set(&f, "double", number(r, 7)); /* what is given does not matter */
	assert_true(entity_complete(r, entity(r, "Card"), &f, VALUE_ABSENT));
	assert_number(get(&f, "double"), 40);
	assert_true(value_bool(get(&f, "busy")));
	assert_text(get(&f, "note"), "kept");
	set(&f, "votes", number(r, 2));
	assert_true(entity_complete(r, entity(r, "Card"), &f, VALUE_ABSENT));
	assert_number(get(&f, "double"), 2);
	assert_false(row_has_text(&f, SLICE("note"))); /* its `when` names something derived from something derived */
}

static void a_counter_begins_at_zero(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	struct row f;

	card(r, &f, "c1", 0);
	row_take(&f, SLICE("votes"));
	assert_true(entity_complete(r, entity(r, "Card"), &f, VALUE_ABSENT));
	assert_number(get(&f, "votes"), 0);
	assert_number(get(&f, "double"), 0);
}

static void a_time_after_another_is_there_while_its_condition_holds(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	struct row f;

	card(r, &f, "c1", 0);
	assert_true(entity_complete(r, entity(r, "Card"), &f, VALUE_ABSENT));
	assert_number(get(&f, "expires_at"), 1767225600 + 30 * 86400);
	set(&f, "status", text(r, "open"));
	assert_true(entity_complete(r, entity(r, "Card"), &f, VALUE_ABSENT));
	assert_false(row_has_text(&f, SLICE("expires_at")));
}

static void keys_come_and_go_with_their_conditions(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	struct row f;

	card(r, &f, "c1", 6);
	set(&f, "GSI1PK", text(r, "stale"));
	assert_true(entity_complete(r, entity(r, "Card"), &f, VALUE_ABSENT));
	assert_text(get(&f, "PK"), "CARD#c1");
	assert_text(get(&f, "SK"), "CARD");
	assert_text(get(&f, "kind"), "CARD");
	assert_false(row_has_text(&f, SLICE("GSI1PK")));
	assert_false(row_has_text(&f, SLICE("GSI1SK")));
	set(&f, "status", text(r, "open"));
	assert_true(entity_complete(r, entity(r, "Card"), &f, VALUE_ABSENT));
	assert_text(get(&f, "GSI1PK"), "OPEN");
	assert_text(get(&f, "GSI1SK"), "000006#c1");
	assert_text(get(&f, "kind"), "OPENCARD"); /* over the one without a condition */
}

static void an_index_key_without_its_value_is_left_out(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	struct row f;

	row_init(&f, r->arena, NULL);
	set(&f, "book", text(r, "b"));
	set(&f, "number", number(r, 1));
	set(&f, "score", value_make_null(r->arena));
	assert_true(entity_complete(r, entity(r, "Page"), &f, VALUE_ABSENT));
	assert_false(row_has_text(&f, SLICE("GSI1SK")));
	assert_text(get(&f, "GSI1PK"), "PAGES");
}

static void an_item_without_a_key_is_refused(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	struct row f;

	row_init(&f, r->arena, NULL);
	assert_false(entity_complete(r, entity(r, "Card"), &f, VALUE_ABSENT));
	assert_int_equal(r->problem.type, PROBLEM_INVALID);
	assert_true(slice_is(r->problem.parts[0].attribute, "id"));
	r = app_fixture_run(*state, NULL);
	card(r, &f, "a#b", 0);
	assert_false(entity_complete(r, entity(r, "Card"), &f, VALUE_ABSENT));
	assert_int_equal(r->problem.type, PROBLEM_INVALID);
	assert_true(slice_is(r->problem.parts[0].attribute, "id"));
	r = app_fixture_run(*state, NULL);
	row_init(&f, r->arena, NULL);
	set(&f, "id", text(r, "rex"));
	set(&f, "kind", text(r, "dog"));
	assert_false(entity_complete(r, entity(r, "Cat"), &f, VALUE_ABSENT)); /* no condition holds */
	assert_int_equal(r->problem.type, PROBLEM_INVALID);
}

/* ---- companions ---- */

static void companions_are_made_once_for_each_key(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	struct value tags[] = { text(r, "#So"), text(r, "so"), text(r, "none"), text(r, "C & C"), text(r, "!") };
	struct companion_item *list;
	struct row f;
	size_t n;

	card(r, &f, "c1", 40);
	set(&f, "note", text(r, "a#b")); /* not in a key, so it may */
	set(&f, "tags", value_make_list(r->arena, tags, 5));
	assert_true(entity_complete(r, entity(r, "Card"), &f, VALUE_ABSENT));
	assert_true(entity_companions(r, entity(r, "Card"), &f, &list, &n));
	assert_int_equal(n, 2); /* without an email there is no guard of it */
	assert_text(value_get(list[0].item, SLICE("SK")), "TAG#so");
	assert_text(value_get(list[0].item, SLICE("tag")), "#So");
	assert_text(value_get(list[0].item, SLICE("note")), "a#b");
	assert_text(value_get(list[1].key, SLICE("SK")), "TAG#c-c");
	assert_int_equal(value_count(list[1].key), 2);
	assert_true(list[1].rule == &entity(r, "Card")->companions[0]);
	set(&f, "email", text(r, "a@b"));
	assert_true(entity_companions(r, entity(r, "Card"), &f, &list, &n));
	assert_int_equal(n, 3);
	assert_text(value_get(list[2].item, SLICE("PK")), "EMAIL#a@b");
	assert_text(value_get(list[2].item, SLICE("id")), "c1");
}

static void a_companion_with_an_impossible_key_is_refused(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	struct companion_item *list;
	struct row f;
	size_t n;

	card(r, &f, "c1", 0);
	set(&f, "email", text(r, "a#b"));
	assert_true(entity_complete(r, entity(r, "Card"), &f, VALUE_ABSENT));
	assert_false(entity_companions(r, entity(r, "Card"), &f, &list, &n));
	assert_int_equal(r->problem.type, PROBLEM_INVALID);
	assert_true(slice_is(r->problem.parts[0].attribute, "email"));
}

/* ---- forms ---- */

static void what_is_in_the_key_is_not_stored_and_read_from_there(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	const struct entity *e = entity(r, "Page");
	struct value stored;
	struct row f;

	row_init(&f, r->arena, NULL);
	set(&f, "book", text(r, "dune"));
	set(&f, "number", number(r, 12));
	set(&f, "score", number(r, -4));
	assert_true(entity_complete(r, e, &f, VALUE_ABSENT));
	stored = entity_stored(r, e, &f);
	assert_int_equal(value_count(stored), 4);
	assert_text(value_get(stored, SLICE("SK")), "PAGE#000012");
	assert_true(entity_of(r, stored) == e);
	assert_true(value_equal(entity_full(r, e, stored), row_item(&f)));
}

static void an_identity_that_a_projection_left_out_is_read_from_the_key(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	struct value_member row[] = { { SLICE("PK"), text(r, "REPLIES#c1") }, { SLICE("SK"), text(r, "REPLY#p#x") } };
	struct value full = entity_full(r, entity(r, "Reply"), value_make_map(r->arena, row, 2));

	assert_text(value_get(full, SLICE("card")), "c1");
	assert_text(value_get(full, SLICE("id")), "x");
	assert_false(value_present(value_get(full, SLICE("parent")))); /* no part of the identity */
}

static struct value key(struct run *r, const char *pk, const char *sk)
{
	struct value_member m[] = { { SLICE("PK"), text(r, pk) }, { SLICE("SK"), text(r, sk) } };

	return value_make_map(r->arena, m, 2);
}

static struct value with(struct run *r, struct value item, const char *name, const char *value)
{
	return value_map_with(r->arena, item, slice_str(name), text(r, value));
}

static void an_item_is_of_the_most_specific_entity(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);

	assert_true(entity_of(r, key(r, "CARD#1", "CARD")) == entity(r, "Card"));
	assert_true(entity_of(r, key(r, "CARD#1", "views")) == entity(r, "Metric"));
	assert_true(entity_of(r, with(r, key(r, "CARD#1", "CARD"), "kind", "OTHER")) == entity(r, "Card"));
	assert_null(entity_of(r, key(r, "CARD#1", "TAG#so"))); /* a companion, though <name> would take it */
	assert_null(entity_of(r, key(r, "EMAIL#a@b", "EMAIL#a@b")));
	assert_null(entity_of(r, key(r, "STRANGE#1", "CARD")));
	assert_null(entity_of(r, VALUE_ABSENT));
}

static void conditions_tell_entities_of_one_key_apart(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);

	assert_true(entity_of(r, with(r, key(r, "PET#1", "PET"), "kind", "cat")) == entity(r, "Cat"));
	assert_true(entity_of(r, with(r, key(r, "PET#1", "PET"), "kind", "dog")) == entity(r, "Dog"));
	assert_int_equal(r->problem.type, PROBLEM_NONE);
}

static void an_item_past_its_time_is_expired(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	struct value item = key(r, "CARD#1", "CARD");

	assert_false(entity_expired(r, item));
	assert_false(entity_expired(r, with(r, item, "expires_at", "1")));
	item = value_map_with(r->arena, item, SLICE("expires_at"), number(r, APP_FIXTURE_NOW / 1000 + 1));
	assert_false(entity_expired(r, item));
	item = value_map_with(r->arena, item, SLICE("expires_at"), number(r, APP_FIXTURE_NOW / 1000));
	assert_true(entity_expired(r, item));
}

static void a_path_is_percent_encoded(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	struct value_member m[] = { { SLICE("book"), text(r, "a/b c\xC3\xA9-._~") },
				    { SLICE("number"), number(r, 12) } };
	struct row page = row_lay(r->arena, entity(r, "Page"), value_make_map(r->arena, m, 2));
	struct value *args = entity_identity(r, &page);

	assert_true(slice_is(entity_path(r, &page), "/books/a%2Fb%20c%C3%A9-._~/pages/12"));
	assert_number(args[1], 12);
	page = row_lay(r->arena, entity(r, "Page"), value_make_map(r->arena, m, 1));
	assert_false(value_present(entity_identity(r, &page)[1]));
}

/* ---- finding ---- */

static void an_identity_leads_to_a_key(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	struct value args[] = { text(r, " Dune "), number(r, 12) };
	struct value k;

	assert_true(entity_locate(r, entity(r, "Page"), args, 2, &k));
	assert_true(value_equal(k, key(r, "BOOK#dune", "PAGE#000012")));
	args[0] = text(r, "a#b");
	assert_true(entity_locate(r, entity(r, "Page"), args, 2, &k));
	assert_false(value_present(k));
	args[0] = text(r, "");
	assert_true(entity_locate(r, entity(r, "Page"), args, 2, &k));
	assert_false(value_present(k));
	args[0] = VALUE_ABSENT;
	assert_true(entity_locate(r, entity(r, "Page"), args, 2, &k));
	assert_false(value_present(k));
	assert_int_equal(r->problem.type, PROBLEM_NONE);
}

static bool fetch(struct run *r, const struct entity *e, const struct value *args, size_t n, bool fresh,
		  struct value *full)
{
	struct row item;
	bool ok = entity_fetch(r, e, args, n, fresh, &item);

	*full = item.full;
	return ok;
}

static void an_item_is_fetched_and_remembered(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	const struct entity *e = entity(r, "Card");
	struct value id = text(r, "fetched"), full;
	struct dyn_refusal refusal;
	struct trace trace = { .last = &trace.first };
	struct row f;

	card(r, &f, "fetched", 1);
	assert_true(entity_complete(r, e, &f, VALUE_ABSENT));
	store(r, e, &f);
	r->now_ms = 1767225600000; /* not expired yet */
	r->trace = &trace;
	assert_true(fetch(r, e, &id, 1, false, &full));
	assert_true(value_equal(full, row_item(&f)));
	assert_non_null(trace.first);
	assert_true(fetch(r, e, &id, 1, false, &full));
	assert_null(trace.first->next);
	/* Changed directly, then read again. */
	set(&f, "status", text(r, "open"));
	assert_true(entity_complete(r, e, &f, VALUE_ABSENT));
	assert_int_equal(dyn_write(r, &(struct dyn_write){ .kind = DYN_PUT, .item = entity_stored(r, e, &f) }, 1,
				   SLICE(""), &refusal),
			 DYN_DONE);
	assert_true(fetch(r, e, &id, 1, false, &full));
	assert_text(value_get(full, SLICE("status")), "draft");
	assert_true(fetch(r, e, &id, 1, true, &full));
	assert_text(value_get(full, SLICE("status")), "open");
}

static void store_late_card(struct run *r, const struct entity *e, const char *id)
{
	struct row f;

	card(r, &f, id, 1);
	assert_true(entity_complete(r, e, &f, VALUE_ABSENT));
	store(r, e, &f);
}

static void a_missing_identity_is_remembered_until_it_is_read_again(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	const struct entity *e = entity(r, "Card");
	struct value id = text(r, "late"), other = text(r, "later"), full;

	r->now_ms = 1767225600000;
	assert_true(fetch(r, e, &id, 1, false, &full));
	assert_false(value_present(full));
	store_late_card(r, e, "late");
	store_late_card(r, e, "later");
	assert_true(fetch(r, e, &id, 1, false, &full));
	assert_false(value_present(full));
	assert_true(fetch(r, e, &other, 1, false, &full)); /* another identity has nothing to do with it */
	assert_text(value_get(full, SLICE("id")), "later");
	assert_true(fetch(r, e, &id, 1, true, &full));
	assert_text(value_get(full, SLICE("id")), "late");
	assert_true(fetch(r, e, &id, 1, false, &full));
	assert_text(value_get(full, SLICE("id")), "late");
}

static void an_item_of_another_identity_at_that_key_is_none(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	const struct entity *e = entity(r, "Slip");
	struct value here[] = { text(r, "red"), text(r, "1") }, elsewhere[] = { text(r, "blue"), text(r, "1") }, full;
	struct row f;

	row_init(&f, r->arena, NULL);
	set(&f, "box", here[0]);
	set(&f, "id", here[1]);
	assert_true(entity_complete(r, e, &f, VALUE_ABSENT));
	store(r, e, &f);
	for (int i = 0; i < 3; i++) { /* also as it is remembered */
		assert_true(fetch(r, e, elsewhere, 2, i == 2, &full));
		assert_false(value_present(full));
		assert_true(fetch(r, e, here, 2, i == 2, &full));
		assert_text(value_get(full, SLICE("box")), "red");
	}
}

static void more_identities_than_are_remembered_lead_to_their_own_items(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	const struct entity *e = entity(r, "Card");
	struct value full, id;
	char name[16];

	r->now_ms = 1767225600000;
	for (int i = 0; i < 20; i++) {
		(void)snprintf(name, sizeof(name), "many%d", i);
		store_late_card(r, e, name);
	}
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 20; i++) {
			(void)snprintf(name, sizeof(name), "many%d", i);
			id = text(r, name);
			assert_true(fetch(r, e, &id, 1, false, &full));
			assert_text(value_get(full, SLICE("id")), name);
		}
}

static void what_has_expired_or_is_something_else_is_not_there(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	const struct entity *e = entity(r, "Card");
	struct value id = text(r, "gone"), full;
	struct row f;

	card(r, &f, "gone", 1);
	set(&f, "created_at", text(r, "2020-01-01T00:00:00Z"));
	assert_true(entity_complete(r, e, &f, VALUE_ABSENT));
	store(r, e, &f);
	assert_true(fetch(r, e, &id, 1, false, &full));
	assert_false(value_present(full));
	assert_true(entity_fetch_key(r, entity(r, "Metric"), key(r, "CARD#gone", "CARD"), true, &full));
	assert_false(value_present(full));
}

static void a_key_is_found_by_the_item_itself(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	const struct entity *e = entity(r, "Reply");
	struct value args[] = { text(r, "c1"), text(r, "r1") }, k;
	struct row f;

	row_init(&f, r->arena, NULL);
	set(&f, "card", text(r, "c1"));
	set(&f, "id", text(r, "r1"));
	set(&f, "parent", text(r, "r0"));
	assert_true(entity_complete(r, e, &f, VALUE_ABSENT));
	store(r, e, &f);
	assert_true(entity_locate(r, e, args, 2, &k));
	assert_true(value_equal(k, key(r, "REPLIES#c1", "REPLY#r0#r1")));
	args[0] = text(r, "other");
	assert_true(entity_locate(r, e, args, 2, &k));
	assert_false(value_present(k));
}

static void a_key_is_found_by_a_companion(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	const struct entity *e = entity(r, "Like");
	struct value args[] = { text(r, "c1"), text(r, "alice") }, k, full;
	struct row f;

	row_init(&f, r->arena, NULL);
	set(&f, "card", text(r, "c1"));
	set(&f, "user", text(r, "alice"));
	set(&f, "made", text(r, "2026-01-01T00:00:00Z"));
	assert_true(entity_complete(r, e, &f, VALUE_ABSENT));
	store(r, e, &f);
	assert_true(entity_locate(r, e, args, 2, &k));
	assert_true(value_equal(k, key(r, "LIKES#c1", "LIKE#alice#2026-01-01T00:00:00Z")));
	assert_true(fetch(r, e, args, 2, true, &full));
	assert_true(value_equal(full, row_item(&f)));
	args[1] = text(r, "bob");
	assert_true(entity_locate(r, e, args, 2, &k));
	assert_false(value_present(k));
}

/* ---- rules ---- */

static void rules_are_asked_of_the_item(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	const struct entity *e = entity(r, "Card");
	struct value item = with(r, key(r, "CARD#1", "CARD"), "status", "draft");
	bool may;

	assert_true(entity_allows(r, e, ALLOW_READ, item, VALUE_ABSENT, &may));
	assert_false(may);
	assert_true(entity_allows(r, e, ALLOW_READ, with(r, item, "status", "open"), VALUE_ABSENT, &may));
	assert_true(may);
	assert_true(entity_allows(r, e, ALLOW_LIST, with(r, item, "status", "open"), VALUE_ABSENT, &may));
	assert_false(may); /* it has a rule of its own */
	assert_true(entity_allows(r, e, ALLOW_DELETE, item, VALUE_ABSENT, &may));
	assert_false(may);
	r = app_fixture_run(*state, "!");
	assert_true(entity_allows(r, e, ALLOW_DELETE, item, VALUE_ABSENT, &may));
	assert_true(may);
}

/* ---- names ---- */

static struct slice names_as_text(struct run *r, const struct name_list *l)
{
	struct buf b;

	buf_init(&b, r->arena);
	for (size_t i = 0; i < l->count; i++)
		buf_printf(&b, "%s%.*s", i ? " " : "", SLICE_ARG(l->list[i]->text));
	return buf_slice(&b);
}

/* As the loader does. */
static void number_path(void *ctx, const struct term *t)
{
	if (t->kind == TERM_PATH)
		((struct term *)(uintptr_t)t)->at = design_named(ctx, t->names[t->of == TERM_OF_ITEM ? 0 : 1]);
}

static const struct term *numbered(struct run *r, const char *text)
{
	struct findings f;
	const struct term *t;

	findings_init(&f, r->arena);
	t = term_parse(r->arena, slice_str(text), (struct place){ 0 }, &f);
	term_walk(t, number_path, (void *)(uintptr_t)r->design);
	return t;
}

static const struct template *numbered_template(struct run *r, const char *text)
{
	struct findings f;
	const struct template *t;

	findings_init(&f, r->arena);
	t = template_parse(r->arena, slice_str(text), (struct place){ 0 }, &f);
	for (size_t i = 0; i < t->part_count; i++)
		if (t->parts[i].names)
			((struct template_part *)(uintptr_t)&t->parts[i])->at =
				design_named(r->design, t->parts[i].names[0]);
	return t;
}

static void the_names_of_a_term_are_those_of_the_item_and_what_they_follow_from(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	const struct entity *e = entity(r, "Card");
	struct name_list l = { 0 };

	names_of_term(r->arena, &l, e, numbered(r, "old.tags = input.email and exists Card(id) and stranger = 1"));
	assert_true(slice_is(names_as_text(r, &l), "id tags"));
	l.count = 1;
	names_of_term(r->arena, &l, e, numbered(r, "busy or expires_at > 1"));
	assert_true(slice_is(names_as_text(r, &l), "id busy double half votes expires_at status created_at"));
	l = (struct name_list){ 0 };
	names_of_template(r->arena, &l, e, numbered_template(r, "A#<id>#<half:06>"));
	assert_true(slice_is(names_as_text(r, &l), "id half votes"));
	l = (struct name_list){ 0 };
	names_of_template(r->arena, &l, e, numbered_template(r, "<kind>"));
	assert_true(slice_is(names_as_text(r, &l), "status"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(derived_attributes_see_one_another_in_any_order),
		cmocka_unit_test(a_counter_begins_at_zero),
		cmocka_unit_test(a_time_after_another_is_there_while_its_condition_holds),
		cmocka_unit_test(keys_come_and_go_with_their_conditions),
		cmocka_unit_test(an_index_key_without_its_value_is_left_out),
		cmocka_unit_test(an_item_without_a_key_is_refused),
		cmocka_unit_test(companions_are_made_once_for_each_key),
		cmocka_unit_test(a_companion_with_an_impossible_key_is_refused),
		cmocka_unit_test(what_is_in_the_key_is_not_stored_and_read_from_there),
		cmocka_unit_test(an_identity_that_a_projection_left_out_is_read_from_the_key),
		cmocka_unit_test(an_item_is_of_the_most_specific_entity),
		cmocka_unit_test(conditions_tell_entities_of_one_key_apart),
		cmocka_unit_test(an_item_past_its_time_is_expired),
		cmocka_unit_test(a_path_is_percent_encoded),
		cmocka_unit_test(an_identity_leads_to_a_key),
		cmocka_unit_test(an_item_is_fetched_and_remembered),
		cmocka_unit_test(a_missing_identity_is_remembered_until_it_is_read_again),
		cmocka_unit_test(an_item_of_another_identity_at_that_key_is_none),
		cmocka_unit_test(more_identities_than_are_remembered_lead_to_their_own_items),
		cmocka_unit_test(what_has_expired_or_is_something_else_is_not_there),
		cmocka_unit_test(a_key_is_found_by_the_item_itself),
		cmocka_unit_test(a_key_is_found_by_a_companion),
		cmocka_unit_test(rules_are_asked_of_the_item),
		cmocka_unit_test(the_names_of_a_term_are_those_of_the_item_and_what_they_follow_from),
	};

	return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
