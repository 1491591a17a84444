/* Mending: what follows from the items is made so, nothing else is touched, and nothing that others do meanwhile is
 * lost. SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "oracle_lives.h"
#include "oracle_world.h"

struct mender {
	struct app_fixture *fixture;
	unsigned mended, moved, unmendable, words;
	void (*meanwhile)(struct app_fixture *f); /* between finding and mending */
	unsigned most;                            /* then no more: as if killed; 0: all */
};

static void mend_told(void *ctx, const struct oracle_finding *f)
{
	struct mender *m = ctx;
	struct oracle_table table = { m->fixture->backend, m->fixture->design, APP_FIXTURE_NOW };
	enum oracle_mending end;
	char why[256];

	if (f->weight == ORACLE_NOTE || (m->most && m->mended == m->most))
		return;
	m->words += oracle_mend_words(&m->fixture->arena, m->fixture->design, f).n > 0;
	if (m->meanwhile)
		m->meanwhile(m->fixture);
	if (!oracle_mend(&table, f, &end, why, sizeof(why)))
		fail_msg("%s", why);
	m->mended += end == ORACLE_MENDED;
	m->moved += end == ORACLE_MOVED;
	m->unmendable += end == ORACLE_UNMENDABLE;
}

static struct mender mend_round(struct app_fixture *f, struct mender m)
{
	struct oracle_options o = { .now_ms = APP_FIXTURE_NOW, .tell = mend_told, .ctx = &m };
	struct oracle_summary s;
	char why[256];

	m.fixture = f;
	if (!oracle_check(f->backend, f->design, &o, &s, why, sizeof(why)))
		fail_msg("%s", why);
	return m;
}

/* One thing of each kind. */
static void plant(struct app_fixture *f)
{
	raw_set(f, "USER#ann", "USER", "posts", "{\"N\":\"7\"}");
	raw_set(f, "SECTION#news", "SECTION", "weight", NULL);
	raw_set(f, "USER#bob", "USER", "score", "{\"N\":\"7\"}");
	raw_set(f, "USER#bob", "USER", "GSI1SK", NULL);
	raw_set(f, "USER#bob", "USER", "GSI2SK", "{\"S\":\"x\"}");
	raw_set(f, "USER#bob", "USER", "young", "{\"BOOL\":true}");
	raw_delete(f, "EMAIL#ann@x", "EMAIL");
	raw_put(f, "{\"PK\":{\"S\":\"EMAIL#bob@x\"},\"SK\":{\"S\":\"EMAIL\"},\"id\":{\"S\":\"eve\"}}");
	raw_put(f, "{\"PK\":{\"S\":\"EMAIL#eve@x\"},\"SK\":{\"S\":\"EMAIL\"},\"id\":{\"S\":\"eve\"}}");
	raw_delete(f, "TAG#x", "p1");
	raw_put(f, "{\"PK\":{\"S\":\"TAG#y\"},\"SK\":{\"S\":\"p1\"},\"author\":{\"S\":\"eve\"}}");
	raw_put(f, "{\"PK\":{\"S\":\"TAG#x\"},\"SK\":{\"S\":\"p3\"},\"author\":{\"S\":\"bob\"}}");
	raw_put(f, "{\"PK\":{\"S\":\"USER#eve\"},\"SK\":{\"S\":\"AUTH\"},\"password_hash\":{\"S\":\"x\"}}");
	raw_set(f, "POST#p1", "POST", "author_name", "{\"S\":\"Ana\"}");
	/* a user who is gone, and a post that has stayed, with its companion and its count */
	created(f, "!", "User", "cid", "{\"email\":\"cid@x\"}");
	created(f, "!", "Post", "p9", "{\"author\":\"cid\",\"tags\":[\"x\"],\"section\":\"news\",\"weight\":20}");
	raw_delete(f, "USER#cid", "USER");
	/* and what needs a person, or is nobody's business */
	raw_put(f, "{\"PK\":{\"S\":\"WHAT\"},\"SK\":{\"S\":\"EVER\"}}");
}

static void everything_that_follows_from_the_items_is_mended(void **s)
{
	struct app_fixture f;
	struct mender m = { 0 };
	int rounds = 0;

	(void)s;
	open_world(&f);
	plant(&f);
	do {
		m = mend_round(&f, (struct mender){ 0 });
		assert_int_equal(m.unmendable, 0);
		assert_int_equal(m.words, m.mended + m.moved);
		assert_true(++rounds < 6);
	} while (m.mended);
	assert_told(&f, "");
	assert_true(is_stored(&f, "WHAT", "EVER"));
	assert_false(is_stored(&f, "POST#p9", "POST"));
	assert_false(is_stored(&f, "TAG#x", "p9"));
	assert_false(is_stored(&f, "USER#eve", "AUTH"));
	assert_int_equal(number(item(&f, "User", "ann"), "posts"), 2);
	assert_int_equal(number(item(&f, "User", "ann"), "score"), 20);
	assert_int_equal(number(item(&f, "Section", "news"), "weight"), 4);
	app_fixture_close(&f);
}

/* Killed after any number of writes, and run again. */
static void mending_that_was_broken_off_goes_on(void **s)
{
	(void)s;
	for (unsigned n = 1; n < 20; n += 4) {
		struct app_fixture f;
		struct mender m;

		open_world(&f);
		plant(&f);
		mend_round(&f, (struct mender){ .most = n });
		do
			m = mend_round(&f, (struct mender){ 0 });
		while (m.mended);
		assert_told(&f, "");
		app_fixture_close(&f);
	}
}

static void findings_that_need_a_decision_are_left(void **s)
{
	struct app_fixture f;
	struct mender m;

	(void)s;
	open_world(&f);
	raw_set(&f, "USER#bob", "USER", "age", "{\"N\":\"999\"}");
	raw_set(&f, "USER#bob", "USER", "name", NULL);
	raw_set(&f, "POST#p3", "POST", "author_name", NULL);
	raw_set(&f, "USER#ann", "USER", "kind", "{\"S\":\"ROBOT\"}");
	raw_delete(&f, "SECTION#news", "SECTION");
	m = mend_round(&f, (struct mender){ 0 });
	assert_int_equal(m.mended + m.moved + m.words, 0);
	assert_int_equal(m.unmendable, 4); /* age, kind, and two posts without their section */
	assert_told(&f, "attribute-unfit USER#bob age 999 -\nmisfit USER#ann kind ROBOT USER\n"
			"requirement-broken POST#p1 - -\nrequirement-broken POST#p2 - -\n");
	app_fixture_close(&f);
}

/* ---- meanwhile ---- */

static void count_meanwhile(struct app_fixture *f)
{
	created(f, "!", "Post", "p5", "{\"author\":\"ann\"}");
}

static void a_counter_that_moves_meanwhile_is_not_written_over(void **s)
{
	struct app_fixture f;
	struct mender m;

	(void)s;
	open_world(&f);
	raw_set(&f, "USER#ann", "USER", "posts", "{\"N\":\"7\"}");
	raw_set(&f, "USER#ann", "USER", "score", "{\"N\":\"70\"}");
	raw_set(&f, "USER#ann", "USER", "GSI1SK", "{\"S\":\"000070#ann\"}");
	m = mend_round(&f, (struct mender){ .meanwhile = count_meanwhile });
	assert_int_equal(m.mended, 0);
	assert_int_equal(m.moved, 1);
	assert_told(&f, "counter-differs USER#ann posts 8 3\n");
	while (mend_round(&f, (struct mender){ 0 }).mended)
		;
	assert_told(&f, "");
	app_fixture_close(&f);
}

static void rename_meanwhile(struct app_fixture *f)
{
	updated(f, "!", "User", "bob", "{\"email\":\"bo@x\",\"name\":\"Bo\"}");
	updated(f, "!", "Post", "p1", "{\"tags\":[\"z\"]}");
}

static void items_that_changed_meanwhile_are_not_overwritten(void **s)
{
	struct app_fixture f;
	struct mender m;

	(void)s;
	open_world(&f);
	raw_delete(&f, "EMAIL#bob@x", "EMAIL"); /* found missing, and then not wanted any more */
	raw_delete(&f, "TAG#x", "p1");
	raw_set(&f, "POST#p3", "POST", "author_name", "{\"S\":\"B\"}");
	m = mend_round(&f, (struct mender){ .meanwhile = rename_meanwhile });
	assert_int_equal(m.mended, 0);
	assert_int_equal(m.moved, 1); /* the others are gone when they are looked at */
	assert_told(&f, "");
	app_fixture_close(&f);
}

/* ---- between the reading of a mend and its write ---- */

struct hooked {
	struct backend backend; /* documents only: everything comes through here */
	struct app_fixture *fixture;
	void (*hook)(struct app_fixture *f);
};

static void hooked_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			struct backend_reply *reply)
{
	struct hooked *h = (struct hooked *)b;
	void (*hook)(struct app_fixture * f) = h->hook;

	if (hook && (!strcmp(operation, "UpdateItem") || !strcmp(operation, "DeleteItem") ||
		     !strcmp(operation, "TransactWriteItems"))) {
		h->hook = NULL;
		hook(h->fixture);
	}
	backend_call(h->fixture->backend, a, operation, body, reply);
}

struct hooking {
	struct hooked hooked;
	enum oracle_mending end;
	bool asked;
};

static void mend_hooked(void *ctx, const struct oracle_finding *f)
{
	struct hooking *h = ctx;
	struct oracle_table table = { &h->hooked.backend, h->hooked.fixture->design, APP_FIXTURE_NOW };
	char why[256];

	if (f->weight == ORACLE_NOTE || h->asked)
		return;
	h->asked = true;
	if (!oracle_mend(&table, f, &h->end, why, sizeof(why)))
		fail_msg("%s", why);
}

static void rename_ann(struct app_fixture *f)
{
	updated(f, "!", "User", "ann", "{\"name\":\"Anna\"}");
}

static void tag_p1_anew(struct app_fixture *f)
{
	updated(f, "!", "Post", "p1", "{\"tags\":[\"z\"]}");
}

static void let_ann_grow_up(struct app_fixture *f)
{
	updated(f, "!", "User", "ann", "{\"age\":30}");
}

static void unhide_p3(struct app_fixture *f)
{
	updated(f, "!", "Post", "p3", "{\"hidden\":false,\"author\":\"ann\"}");
}

static void a_write_that_was_decided_from_what_has_changed_is_not_made(void **s)
{
	/* clang-format off */
	static const struct {
		const char *pk, *sk, *name, *value; /* planted; name NULL: it is deleted, or put */
		void (*hook)(struct app_fixture *f);
	} cases[] = {
		{ "POST#p1", "POST", "author_name", "{\"S\":\"Ana\"}", rename_ann },
		{ "TAG#x", "p1", NULL, NULL, tag_p1_anew },
		{ "USER#ann", "USER", "GSI1SK", "{\"S\":\"x\"}", let_ann_grow_up },
		{ "TAG#x", "p3", NULL, "{\"PK\":{\"S\":\"TAG#x\"},\"SK\":{\"S\":\"p3\"},\"author\":{\"S\":\"bob\"}}", unhide_p3 },
	};
	/* clang-format on */

	(void)s;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct app_fixture f;
		struct hooking h = {
			.hooked = { .backend = { .call = hooked_call }, .fixture = &f, .hook = cases[i].hook }
		};
		struct oracle_options o = { .now_ms = APP_FIXTURE_NOW, .tell = mend_hooked, .ctx = &h };
		struct oracle_summary m;
		char why[256];

		open_world(&f);
		if (cases[i].name)
			raw_set(&f, cases[i].pk, cases[i].sk, cases[i].name, cases[i].value);
		else if (cases[i].value)
			raw_put(&f, cases[i].value);
		else
			raw_delete(&f, cases[i].pk, cases[i].sk);
		assert_true(oracle_check(f.backend, f.design, &o, &m, why, sizeof(why)));
		assert_true(h.asked);
		if (h.end != ORACLE_MOVED)
			fail_msg("case %zu was mended from what is not so any more", i);
		while (mend_round(&f, (struct mender){ 0 }).mended)
			;
		assert_told(&f, "");
		app_fixture_close(&f);
	}
}

/* ---- and of removals ---- */

static void leave_an_orphan(struct app_fixture *f)
{
	open_world(f);
	created(f, "!", "User", "cid", "{\"email\":\"cid@x\"}");
	created(f, "!", "Post", "p9", "{\"author\":\"cid\",\"tags\":[\"x\"],\"section\":\"news\"}");
	raw_delete(f, "USER#cid", "USER");
	raw_delete(f, "EMAIL#cid@x", "EMAIL");
}

static void bring_back_cid(struct app_fixture *f)
{
	created(f, "!", "User", "cid", "{\"email\":\"cid@x\"}");
}

static void hang_p9_on_ann(struct app_fixture *f)
{
	updated(f, "!", "Post", "p9", "{\"author\":\"ann\"}");
}

static void leave_a_companion(struct app_fixture *f)
{
	open_world(f);
	raw_put(f, "{\"PK\":{\"S\":\"TAG#x\"},\"SK\":{\"S\":\"p3\"},\"author\":{\"S\":\"bob\"}}");
}

/* What it writes is what is there already. */
static void show_p3(struct app_fixture *f)
{
	updated(f, "!", "Post", "p3", "{\"hidden\":false}");
}

static void leave_credentials(struct app_fixture *f)
{
	open_world(f);
	raw_put(f, "{\"PK\":{\"S\":\"USER#eve\"},\"SK\":{\"S\":\"AUTH\"},\"password_hash\":{\"S\":\"x\"}}");
}

static void let_eve_in(struct app_fixture *f)
{
	created(f, "!", "User", "eve", "{\"email\":\"eve@x\"}");
}

static void leave_a_row(struct app_fixture *f)
{
	open_lives(f);
	updated(f, "!", "Post", "p1", "{\"hidden\":true}");
}

static void show_p1(struct app_fixture *f)
{
	updated(f, "!", "Post", "p1", "{\"hidden\":false}");
}

static void leave_a_like(struct app_fixture *f)
{
	open_lives(f);
	raw_delete(f, "ROWS#ann", "p1");
	raw_set(f, "USER#ann", "USER", "state", "{\"S\":\"gone\"}");
	raw_set(f, "USER#ann", "USER", "mail", NULL);
}

static void bring_ann_back(struct app_fixture *f)
{
	updated(f, "!", "User", "ann", "{\"state\":\"active\"}");
}

static void rows_whose_parent_is_back_are_kept(void **s)
{
	static const struct {
		void (*plant)(struct app_fixture *f), (*hook)(struct app_fixture *f);
		const char *pk, *sk;
	} cases[] = {
		{ leave_an_orphan, bring_back_cid, "POST#p9", "POST" },
		{ leave_an_orphan, hang_p9_on_ann, "POST#p9", "POST" },
		{ leave_a_companion, show_p3, "TAG#x", "p3" },
		{ leave_credentials, let_eve_in, "USER#eve", "AUTH" },
		{ leave_a_row, show_p1, "ROWS#ann", "p1" },
		{ leave_a_like, bring_ann_back, "USER#ann", "LIKE#p1" },
	};

	(void)s;
	for (size_t i = 0; i < 2 * (sizeof(cases) / sizeof(*cases)); i++) {
		struct app_fixture f;
		bool changes = i % 2; /* else nothing happens in between, and it goes */
		struct hooking h = { .hooked = { .backend = { .call = hooked_call }, .fixture = &f } };
		struct oracle_options o = { .now_ms = APP_FIXTURE_NOW, .tell = mend_hooked, .ctx = &h };
		struct oracle_summary m;
		char why[256];

		h.hooked.hook = changes ? cases[i / 2].hook : NULL;
		cases[i / 2].plant(&f);
		assert_true(oracle_check(f.backend, f.design, &o, &m, why, sizeof(why)));
		assert_true(h.asked);
		if (is_stored(&f, cases[i / 2].pk, cases[i / 2].sk) != changes ||
		    h.end != (changes ? ORACLE_MOVED : ORACLE_MENDED))
			fail_msg("case %zu: %s", i / 2,
				 changes ? "it was removed, though it belongs there" : "it is still there");
		while (mend_round(&f, (struct mender){ 0 }).mended)
			;
		assert_int_equal(is_stored(&f, cases[i / 2].pk, cases[i / 2].sk), changes);
		assert_told(&f, "");
		app_fixture_close(&f);
	}
}

/* ---- copies that were withdrawn ---- */

static void a_copy_of_what_was_withdrawn_goes(void **s)
{
	struct app_fixture f;

	(void)s;
	app_fixture_open(&f,
			 "entities:\n"
			 "  Post:\n"
			 "    path: /posts/<id>\n"
			 "    attributes: {id: 'string, required, fixed', text: string, hidden: 'boolean, default false'}\n"
			 "    keys: {PK: 'POST#<id>', SK: POST}\n"
			 "    allow: {read, create, update, delete: anyone}\n"
			 "  Mark:\n"
			 "    path: /marks/<post>/<by>\n"
			 "    attributes:\n"
			 "      post: string, required, fixed\n"
			 "      by: string, required, fixed\n"
			 "      text: copy of Post(post).text if hidden = false, kept by marks of post\n"
			 "    keys: {PK: 'POST#<post>', SK: 'MARK#<by>'}\n"
			 "    allow: {read, create, update, delete: anyone}\n"
			 "access:\n"
			 "  marks of post:\n"
			 "    query: table\n"
			 "    where: {PK: 'POST#<id>', SK: begins with MARK#}\n");
	created(&f, "!", "Post", "p", "{\"text\":\"secret\"}");
	created(&f, "!", "Mark", "p/ann", "{}");
	assert_told(&f, "");
	raw_set(&f, "POST#p", "POST", "hidden", "{\"BOOL\":true}");
	assert_told(&f, "copy-differs POST#p text secret -\n");
	assert_int_equal(mend_round(&f, (struct mender){ 0 }).mended, 1);
	assert_told(&f, "");
	app_fixture_close(&f);
}

static void running_out_of_memory_is_reported(void **s)
{
	(void)s;
	for (long n = 0;; n += 3) {
		struct app_fixture f;
		struct oracle_options o = { .now_ms = APP_FIXTURE_NOW };
		struct oracle_summary m;
		char why[256] = "";
		bool ok;

		open_world(&f);
		raw_delete(&f, "TAG#x", "p1");
		alloc_fail_after(n);
		ok = oracle_check(f.backend, f.design, &o, &m, why, sizeof(why));
		alloc_fail_never();
		if (ok)
			assert_int_equal(m.differences, 1);
		else
			assert_true(why[0]);
		app_fixture_close(&f);
		if (ok)
			return;
		assert_true(n < 3000);
	}
}

static const char books[] = "entities:\n"
			    "  Author:\n"
			    "    path: /authors/<id>\n"
			    "    attributes: {id: 'string, required', name: string, listed: 'boolean, default true'}\n"
			    "    keys: {PK: 'AUTHOR#<id>', SK: AUTHOR}\n"
			    "    allow: {create, read, update, delete: anyone}\n"
			    "  Book:\n"
			    "    path: /books/<isbn>\n"
			    "    attributes:\n"
			    "      isbn: string, required, fixed\n"
			    "      author: string, required\n"
			    "      author_name: copy of Author(author).name if listed = true, kept by books of author\n"
			    "    keys: {PK: 'BOOK#<isbn>', SK: BOOK, GSI1PK: 'BY#<author>', GSI1SK: '<isbn>'}\n"
			    "    allow: {create, read, update, delete: anyone}\n"
			    "access:\n"
			    "  books of author: {query: GSI1, where: {GSI1PK: 'BY#<id>'}}\n";

static void copies_of_missing_or_withdrawn_sources_are_reported_and_removed(void **s)
{
	struct app_fixture f;
	struct mender m;
	struct told t = { 0 };

	(void)s;
	app_fixture_open(&f, books);
	created(&f, "!", "Author", "ann", "{\"name\":\"Ann\"}");
	created(&f, "!", "Author", "bob", "{\"name\":\"Bob\"}");
	created(&f, "!", "Book", "1", "{\"author\":\"ann\"}");
	created(&f, "!", "Book", "2", "{\"author\":\"bob\"}");
	raw_delete(&f, "AUTHOR#ann", "AUTHOR");
	raw_set(&f, "AUTHOR#bob", "AUTHOR", "listed", "{\"BOOL\":false}");
	assert_told(&f, "copy-differs BOOK#1 author_name Ann -\ncopy-differs BOOK#2 author_name Bob -\n");
	(void)ask_with(&f, &t, (struct oracle_options){ .stream = true });
	assert_non_null(strstr(t.text.p, "pending copy-differs BOOK#1 author_name Ann -\n"));
	m = mend_round(&f, (struct mender){ 0 });
	assert_int_equal(m.mended, 2);
	assert_int_equal(mend_round(&f, (struct mender){ 0 }).mended, 0);
	assert_false(value_present(value_get(stored(&f, "BOOK#1", "BOOK"), SLICE("author_name"))));
	assert_false(value_present(value_get(stored(&f, "BOOK#2", "BOOK"), SLICE("author_name"))));
	app_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_that_follows_from_the_items_is_mended),
		cmocka_unit_test(mending_that_was_broken_off_goes_on),
		cmocka_unit_test(findings_that_need_a_decision_are_left),
		cmocka_unit_test(a_counter_that_moves_meanwhile_is_not_written_over),
		cmocka_unit_test(items_that_changed_meanwhile_are_not_overwritten),
		cmocka_unit_test(a_write_that_was_decided_from_what_has_changed_is_not_made),
		cmocka_unit_test(copies_of_missing_or_withdrawn_sources_are_reported_and_removed),
		cmocka_unit_test(rows_whose_parent_is_back_are_kept),
		cmocka_unit_test(a_copy_of_what_was_withdrawn_goes),
		cmocka_unit_test(running_out_of_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
