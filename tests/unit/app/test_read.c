/* Gets, queries, filters, rules, pages and cursors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "read_helper.h"

#define DESIGN                                                                                                         \
	"callers: {roles: [user, admin]}\n"                                                                            \
	"entities:\n"                                                                                                  \
	"  Post:\n"                                                                                                    \
	"    path: /posts/<id>\n"                                                                                      \
	"    attributes:\n"                                                                                            \
	"      id: string\n"                                                                                           \
	"      author: string\n"                                                                                       \
	"      open: boolean\n"                                                                                        \
	"      score: integer\n"                                                                                       \
	"      text: text\n"                                                                                           \
	"      hash: string, hidden\n"                                                                                 \
	"      expires_at: epoch\n"                                                                                    \
	"    keys: {PK: POST#<id>, SK: POST, GSI1PK: AUTHOR#<author>, GSI1SK: POST#<id>}\n"                            \
	"    allow: {read: open = true or author = caller}\n"                                                          \
	"    companions:\n"                                                                                            \
	"      - {PK: TITLE#<id>, SK: TITLE, id: <id>, hash: <hash>}\n"                                                \
	"  Note:\n"                                                                                                    \
	"    path: /notes/<id>\n"                                                                                      \
	"    attributes: {id: string, author: string}\n"                                                               \
	"    keys: {PK: NOTE#<id>, SK: NOTE, GSI1PK: AUTHOR#<author>, GSI1SK: NOTE#<id>}\n"                            \
	"    allow: {read: nobody, list: anyone}\n"                                                                    \
	"access:\n"                                                                                                    \
	"  post: {path: /p/<id>, get: Post(id), consistent: true}\n"                                                   \
	"  by keys: {path: /k/<id>, get: {PK: POST#<id>, SK: POST}}\n"                                                 \
	"  title: {path: /t/<id>, get: {PK: TITLE#<id>, SK: TITLE}}\n"                                                 \
	"  is there: {path: /c/<id>, get: {PK: POST#<id>, SK: POST}, count: true, allow: anyone, shows: all rows}\n"   \
	"  posts: {path: /a/<author>/p, query: GSI1, where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins with POST#}}\n"   \
	"  newest: {path: /a/<author>/n, query: GSI1, where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins with POST#}, "   \
	"order: newest first, limit: 3}\n"                                                                             \
	"  everything: {path: /a/<author>/e, query: GSI1, where: {GSI1PK: AUTHOR#<author>}}\n"                         \
	"  notes: {path: /a/<author>/o, query: GSI1, where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins with NOTE#}}\n"   \
	"  good:\n"                                                                                                    \
	"    path: /a/<author>/good\n"                                                                                 \
	"    with: {least: 'integer, default 5', most: integer}\n"                                                     \
	"    query: GSI1\n"                                                                                            \
	"    where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins with POST#}\n"                                            \
	"    filter: score >= input.least\n"                                                                           \
	"  bare:\n"                                                                                                    \
	"    path: /a/<author>/bare\n"                                                                                 \
	"    with: {least: integer, required}\n"                                                                       \
	"    query: GSI1\n"                                                                                            \
	"    where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins with POST#}\n"                                            \
	"    filter: score >= least\n"                                                                                 \
	"  between:\n"                                                                                                 \
	"    path: /a/<author>/between\n"                                                                              \
	"    with: {from: string, to: string}\n"                                                                       \
	"    query: GSI1\n"                                                                                            \
	"    where: {GSI1PK: AUTHOR#<author>, GSI1SK: 'between POST#<from> and POST#<to> if given'}\n"                 \
	"  mine: {path: /mine, query: GSI1, where: {GSI1PK: AUTHOR#<caller>}}\n"                                       \
	"  first: {path: /a/<author>/first, query: GSI1, where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins with "        \
	"POST#}, one: true}\n"                                                                                         \
	"  how many: {path: /a/<author>/count, query: GSI1, where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins with "     \
	"POST#}, count: true}\n"                                                                                       \
	"  how many notes: {path: /a/<author>/notes, query: GSI1, where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins "    \
	"with NOTE#}, count: true}\n"                                                                                  \
	"  short: {path: /a/<author>/short, query: GSI1, where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins with "        \
	"POST#}, without: [text, open]}\n"                                                                             \
	"  own: {path: /a/<author>/own, query: GSI1, where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins with POST#}, "    \
	"allow: author = caller or caller is admin}\n"                                                                 \
	"  rows: {path: /a/<who>/rows, query: GSI1, where: {GSI1PK: AUTHOR#<who>, GSI1SK: begins with POST#}, allow: " \
	"score > 7 and caller is user}\n"                                                                              \
	"  secret: {path: /secret/<id>, get: Post(id), for operators: true}\n"                                         \
	"  liked: {path: /liked, batch: Post(id)}\n"

static struct app_fixture *open_posts(void)
{
	static struct app_fixture f;
	char text[200];

	app_fixture_open(&f, DESIGN);
	for (int i = 0; i < 10; i++) {
		snprintf(text, sizeof(text), "id=p%d author=ann open=%s score=%d text=long%d hash=h", i,
			 i % 3 ? "true" : "false", i, i);
		put(&f, "Post", text);
	}
	put(&f, "Post", "id=q0 author=bob open=true score=1");
	put(&f, "Post", "id=x0 author=ann open=true score=9 expires_at=1000");
	put(&f, "Note", "id=n0 author=ann");
	put(&f, "Note", "id=n1 author=ann");
	return &f;
}

static void every_row_comes_once_whatever_the_page(void **state)
{
	struct app_fixture *f = open_posts();

	(void)state;
	assert_reads(f, "ann", "posts", "author=ann", "p0 p1 p2 p3 p4 p5 p6 p7 p8 p9");
	assert_reads(f, "ann", "newest", "author=ann", "p9 p8 p7 p6 p5 p4 p3 p2 p1 p0");
	assert_reads(f, "ann", "good", "author=ann", "p5 p6 p7 p8 p9");
	assert_reads(f, "ann", "good", "author=ann least=9", "p9");
	assert_reads(f, "ann", "bare", "author=ann least=8", "p8 p9");
	assert_reads(f, "ann", "posts", "author=nobody", "");
	assert_string_equal(read_text(f, "ann", "newest", "author=ann", 0, "id"), "p9 p8 p7 p6 p5 p4 p3 p2 p1 p0");
	app_fixture_close(f);
}

static void rows_that_may_not_be_read_are_left_out_and_pages_still_fill(void **state)
{
	struct app_fixture *f = open_posts();

	(void)state;
	assert_reads(f, "bob", "posts", "author=ann", "p1 p2 p4 p5 p7 p8");
	assert_reads(f, NULL, "posts", "author=ann", "p1 p2 p4 p5 p7 p8");
	assert_reads(f, NULL, "good", "author=ann", "p5 p7 p8");
	assert_reads(f, "!", "posts", "author=ann", "p0 p1 p2 p3 p4 p5 p6 p7 p8 p9");
	assert_reads(f, "bob", "notes", "author=ann", "n0 n1"); /* the entity's rule for lists */
	assert_reads(f, "bob", "everything", "author=ann", "n0 n1 p1 p2 p4 p5 p7 p8");
	assert_reads(f, "ann", "mine", "", "n0 n1 p0 p1 p2 p3 p4 p5 p6 p7 p8 p9");
	assert_int_equal(read_status(f, NULL, "mine", ""), 401);
	app_fixture_close(f);
}

/* Each row gets its own answer, also where a part of the rule is the same for all, or the row has not what it asks
 * for. */
static void rules_are_asked_of_every_row(void **state)
{
	static struct app_fixture f;
	struct read_result page;
	struct run *r;

	(void)state;
	app_fixture_open(
		&f,
		"callers: {roles: [user, admin]}\n"
		"entities:\n"
		"  Home:\n"
		"    path: /homes/<id>\n"
		"    attributes: {id: string, open: boolean}\n"
		"    keys: {PK: HOME#<id>, SK: HOME}\n"
		"    allow: {read: open = true}\n"
		"  Card:\n"
		"    path: /cards/<box>/<id>\n"
		"    attributes: {box: string, id: string, owner: string, home: string, level: integer}\n"
		"    keys: {PK: BOX#<box>, SK: CARD#<id>}\n"
		"    allow:\n"
		"      read: caller is admin or (Home('all').open = true and owner = caller) or level <> 3 and visible "
		"Home(home)\n"
		"access:\n"
		"  cards: {path: /cards/<box>, query: table, where: {PK: BOX#<box>, SK: begins with CARD#}}\n");
	put(&f, "Home", "id=all open=true");
	put(&f, "Home", "id=h1 open=true");
	put(&f, "Home", "id=h2 open=false");
	put(&f, "Card", "box=b id=1 owner=ann home=h2 level=3");
	put(&f, "Card", "box=b id=2 owner=bob home=h1 level=3");
	put(&f, "Card", "box=b id=3 owner=bob home=h1 level=2");
	put(&f, "Card", "box=b id=4 owner=bob home=h2 level=2");
	put(&f, "Card", "box=b id=5 home=h1");
	put(&f, "Card", "box=b id=6 owner=ann");
	put(&f, "Card", "box=b id=7");
	assert_reads(&f, "ann", "cards", "box=b", "1 3 5 6");
	assert_reads(&f, "bob", "cards", "box=b", "2 3 4 5");
	assert_reads(&f, NULL, "cards", "box=b", "3 5");
	assert_reads(&f, "!", "cards", "box=b", "1 2 3 4 5 6 7");
	/* what was remembered for one request is not for the next */
	put(&f, "Home", "id=all open=false");
	assert_reads(&f, "ann", "cards", "box=b", "3 5");
	r = app_fixture_run(&f, "ann");
	r->caller.roles = &(struct slice){ "admin", 5 };
	r->caller.role_count = 1;
	assert_int_equal(read_page(r, "cards", "box=b", 0, SLICE(""), &page), 200);
	assert_int_equal(page.row_count, 7);
	app_fixture_close(&f);
}

static void a_pattern_has_its_own_rule(void **state)
{
	struct app_fixture *f = open_posts();

	(void)state;
	assert_reads(f, "ann", "own", "author=ann", "p0 p1 p2 p3 p4 p5 p6 p7 p8 p9");
	assert_int_equal(read_status(f, "bob", "own", "author=ann"), 403);
	assert_int_equal(read_status(f, NULL, "own", "author=ann"), 401);
	assert_reads(f, "bob", "rows", "who=ann",
		     "p8"); /* it looks at rows, so it is asked of each, and so is theirs: p9 is not open */
	assert_reads(f, "ann", "rows", "who=ann", "p8 p9");
	assert_reads(f, NULL, "rows", "who=ann", "");
	assert_int_equal(read_status(f, "ann", "secret", "id=p0"), 403);
	assert_int_equal(read_status(f, "!", "secret", "id=p0"), 200);
	app_fixture_close(f);
}

static void one_item_is_got_by_identity_or_keys(void **state)
{
	struct app_fixture *f = open_posts();
	struct run *r = app_fixture_run(f, "bob");
	struct value id = value_make_s(r->arena, SLICE("p0"));
	struct row found;
	const struct entity *post = design_entity(f->design, SLICE("Post"));

	(void)state;
	assert_string_equal(read_json(f, "bob", "post", "id=p1"),
			    "{\"id\":\"p1\",\"author\":\"ann\",\"open\":true,\"score\":1,\"text\":\"long1\"}");
	assert_string_equal(read_json(f, "bob", "by keys", "id=q0"),
			    "{\"id\":\"q0\",\"author\":\"bob\",\"open\":true,\"score\":1}");
	assert_string_equal(read_json(f, "bob", "title", "id=p0"),
			    "{\"id\":\"p0\"}"); /* neither keys nor what is hidden */
	assert_int_equal(read_status(f, "bob", "post", "id=p0"), 404);
	assert_int_equal(read_status(f, "ann", "post", "id=p0"), 200);
	assert_int_equal(read_status(f, "ann", "post", "id=none"), 404);
	assert_int_equal(read_status(f, "ann", "post", "id=x0"), 404);
	assert_int_equal(read_status(f, "ann", "post", "id=a#b"), 404);
	assert_int_equal(read_status(f, "ann", "post", ""), 422);
	assert_int_equal(read_status(f, "ann", "bare", "author=ann"), 422);
	assert_string_equal(read_json(f, "ann", "first", "author=ann"),
			    "{\"id\":\"p0\",\"author\":\"ann\",\"open\":false,\"score\":0,\"text\":\"long0\"}");
	assert_string_equal(read_text(f, "bob", "first", "author=ann", 0, "id"), "p1");
	assert_int_equal(read_status(f, "bob", "first", "author=none"), 404);
	assert_false(read_item(r, post, &id, 1, &found));
	assert_int_equal(r->problem.type, PROBLEM_NOT_FOUND);
	assert_true(!found.entity && !value_present(found.full));
	assert_true(read_item(app_fixture_run(f, "ann"), post, &id, 1, &found));
	assert_true(found.entity == post && found.values && value_present(found.full));
	app_fixture_close(f);
}

static void windows_may_be_given_or_not(void **state)
{
	struct app_fixture *f = open_posts();

	(void)state;
	assert_reads(f, "ann", "between", "author=ann from=p3 to=p5", "p3 p4 p5");
	assert_reads(f, "ann", "between", "author=ann from=p7", "p7 p8 p9");
	assert_reads(f, "ann", "between", "author=ann to=p1", "p0 p1");
	assert_reads(f, "ann", "between", "author=ann from=p5 to=p3", "");
	assert_reads(f, "ann", "between", "author=ann", "n0 n1 p0 p1 p2 p3 p4 p5 p6 p7 p8 p9");
	app_fixture_close(f);
}

static void counts_count_what_may_be_seen(void **state)
{
	struct app_fixture *f = open_posts();

	(void)state;
	assert_string_equal(read_json(f, "ann", "how many", "author=ann"), "{\"count\":10}");
	assert_string_equal(read_json(f, "bob", "how many", "author=ann"), "{\"count\":6}");
	assert_string_equal(read_json(f, "!", "how many", "author=ann"), "{\"count\":10}"); /* not the expired one */
	assert_string_equal(read_json(f, "bob", "how many notes", "author=ann"), "{\"count\":2}");
	assert_string_equal(read_json(f, NULL, "is there", "id=p0"), "{\"count\":1}");
	assert_string_equal(read_json(f, NULL, "is there", "id=none"), "{\"count\":0}");
	app_fixture_close(f);
}

static void attributes_are_left_out_though_rules_look_at_them(void **state)
{
	struct app_fixture *f = open_posts();

	(void)state;
	assert_string_equal(read_json(f, "bob", "short", "author=bob"),
			    "{\"items\":[{\"id\":\"q0\",\"author\":\"bob\",\"score\":1}]}");
	assert_reads(f, "bob", "short", "author=ann", "p1 p2 p4 p5 p7 p8");
	app_fixture_close(f);
}

static void lists_of_several_entities_say_which(void **state)
{
	struct app_fixture *f = open_posts();

	(void)state;
	assert_string_equal(
		read_json(f, "bob", "everything", "author=bob"),
		"{\"items\":[{\"@type\":\"Post\",\"id\":\"q0\",\"author\":\"bob\",\"open\":true,\"score\":1}]}");
	assert_ptr_equal(read_entity(f->design, pattern(f, "posts")), design_entity(f->design, SLICE("Post")));
	assert_ptr_equal(read_entity(f->design, pattern(f, "notes")), design_entity(f->design, SLICE("Note")));
	assert_null(read_entity(f->design, pattern(f, "everything")));
	assert_null(read_entity(f->design, pattern(f, "title")));
	app_fixture_close(f);
}

static void keys_are_distinguished_after_a_placeholder(void **state)
{
	static struct app_fixture f;

	(void)state;
	app_fixture_open(
		&f,
		"entities:\n"
		"  Talk: {path: /w/<w>/t/<t>, attributes: {w: string, t: string}, keys: {PK: W#<w>#T#<t>, SK: <t>}}\n"
		"  Line: {path: /w/<w>/l/<l>, attributes: {w: string, l: string}, keys: {PK: W#<w>#L#<l>, SK: <l>}}\n"
		"access:\n"
		"  talks: {path: /talks/<w>/<t>, query: table, where: {PK: W#<w>#T#<t>}}\n"
		"  lines: {path: /lines/<w>/<l>, query: table, where: {PK: W#<w>#L#<l>, SK: begins with A}}\n"
		"  either: {path: /either/<w>/<x>/<y>, query: table, where: {PK: W#<w>#<x>#<y>}}\n");
	assert_ptr_equal(read_entity(f.design, pattern(&f, "talks")), design_entity(f.design, SLICE("Talk")));
	assert_ptr_equal(read_entity(f.design, pattern(&f, "lines")), design_entity(f.design, SLICE("Line")));
	assert_null(read_entity(f.design, pattern(&f, "either")));
	app_fixture_close(&f);
}

static void a_batch_gives_those_that_there_are(void **state)
{
	struct app_fixture *f = open_posts();
	struct run *r = app_fixture_run(f, "bob");
	struct slice ids[] = { SLICE("p4"), SLICE("none"), SLICE("p0"), SLICE("p1"), SLICE("p4"), SLICE("x0") };
	struct slice many[101];
	struct read_request q = { .access = pattern(f, "liked"), .ids = ids, .id_count = 6 };
	struct read_result x;

	(void)state;
	assert_true(read_access(r, &q, &x));
	assert_int_equal(x.row_count, 2);
	assert_true(slice_is(value_bytes(value_get(x.rows[0].full, SLICE("id"))), "p4"));
	assert_true(slice_is(value_bytes(value_get(x.rows[1].full, SLICE("id"))), "p1"));
	for (int i = 0; i < 101; i++)
		many[i] = SLICE("p1");
	q.ids = many;
	q.id_count = 101;
	assert_false(read_access(r, &q, &x));
	assert_int_equal(r->problem.type, PROBLEM_INVALID);
	app_fixture_close(f);
}

static void a_cursor_belongs_to_its_pattern_and_parameters(void **state)
{
	struct app_fixture *f = open_posts();
	struct read_result first, x;
	char *text;

	(void)state;
	assert_int_equal(read_page(app_fixture_run(f, "ann"), "posts", "author=ann", 2, SLICE(""), &first), 200);
	assert_true(first.next.n > 0);
	assert_null(memmem(first.next.p, first.next.n, "POST", 4));
	assert_int_equal(read_page(app_fixture_run(f, "ann"), "posts", "author=ann", 5, first.next, &x), 200);
	assert_int_equal(x.row_count, 5);
	assert_int_equal(read_page(app_fixture_run(f, "ann"), "posts", "author=bob", 2, first.next, &x), 400);
	assert_int_equal(read_page(app_fixture_run(f, "ann"), "newest", "author=ann", 2, first.next, &x), 400);
	for (size_t i = 0; i < first.next.n; i++) {
		text = arena_cstr(&f->arena, first.next);
		text[i] = text[i] == 'A' ? 'B' : 'A';
		assert_int_equal(read_page(app_fixture_run(f, "ann"), "posts", "author=ann", 2, slice_str(text), &x),
				 400);
	}
	for (size_t i = 1; i < first.next.n; i += 7)
		assert_int_equal(read_page(app_fixture_run(f, "ann"), "posts", "author=ann", 2,
					   slice_make(first.next.p, i), &x),
				 400);
	assert_int_equal(read_page(app_fixture_run(f, "ann"), "posts", "author=ann", 2, SLICE("!!"), &x), 400);
	f->app.cursor_key[0] ^= 1;
	assert_int_equal(read_page(app_fixture_run(f, "ann"), "posts", "author=ann", 2, first.next, &x), 400);
	app_fixture_close(f);
}

static void limits_are_checked(void **state)
{
	struct app_fixture *f = open_posts();
	struct read_result x;

	(void)state;
	assert_int_equal(read_page(app_fixture_run(f, "ann"), "posts", "author=ann", 1001, SLICE(""), &x), 422);
	assert_int_equal(read_page(app_fixture_run(f, "ann"), "posts", "author=ann", -1, SLICE(""), &x), 422);
	assert_int_equal(read_page(app_fixture_run(f, "ann"), "posts", "author=ann", 1000, SLICE(""), &x), 200);
	app_fixture_close(f);
}

struct visited {
	int count, stop_at;
};

static bool visit(void *ctx, const struct row *row, bool *stop)
{
	struct visited *v = ctx;

	assert_non_null(row->entity);
	*stop = ++v->count == v->stop_at;
	return true;
}

static void the_runtime_reads_everything_without_rules(void **state)
{
	struct app_fixture *f = open_posts();
	struct run *r = app_fixture_run(f, NULL);
	struct value_member author = { SLICE("author"), value_make_s(r->arena, SLICE("ann")) };
	struct visited v = { 0 };
	struct row item;
	struct scope s = { .run = r, .item = &item };

	(void)state;
	row_from(&item, r->arena, NULL, value_make_map(r->arena, &author, 1));
	assert_true(read_each(pattern(f, "posts"), &s, NULL, 0, visit, &v));
	assert_int_equal(v.count, 10);
	v = (struct visited){ .stop_at = 4 };
	assert_true(read_each(pattern(f, "posts"), &s, NULL, 0, visit, &v));
	assert_int_equal(v.count, 4);
	row_init(&item, r->arena, NULL); /* what it needs is not there: nothing is found */
	v = (struct visited){ 0 };
	assert_true(read_each(pattern(f, "posts"), &s, NULL, 0, visit, &v));
	assert_int_equal(v.count, 0);
	app_fixture_close(f);
}

#define PARTIAL                                                                                                 \
	"design: partial\ntitle: Partial\ntable: Partial\nkey: [PK, SK]\n"                                      \
	"indexes:\n  some: {key: [G, H], projection: [title]}\n  none: {key: [G, PK], projection: keys only}\n" \
	"entities:\n"                                                                                           \
	"  Card:\n"                                                                                             \
	"    path: /cards/<id>\n"                                                                               \
	"    attributes: {id: string, title: string, owner: string, open: boolean}\n"                           \
	"    keys: {PK: CARD#<id>, SK: CARD, G: ALL, H: <id>}\n"                                                \
	"    allow: {read: open = true or owner = caller}\n"                                                    \
	"access:\n"                                                                                             \
	"  some: {path: /some, query: some, where: {G: ALL}}\n"                                                 \
	"  none: {path: /none, query: none, where: {G: ALL}}\n"

static void rules_see_what_an_index_lacks_and_lists_show_what_it_has(void **state)
{
	static struct app_fixture f;

	(void)state;
	app_fixture_open(&f, PARTIAL);
	put(&f, "Card", "id=a title=A owner=ann open=true");
	put(&f, "Card", "id=b title=B owner=ann open=false");
	put(&f, "Card", "id=c title=C owner=bob open=false");
	assert_reads(&f, NULL, "some", "", "a");
	assert_reads(&f, "ann", "some", "", "a b");
	assert_reads(&f, "bob", "none", "", "a c");
	assert_string_equal(read_json(&f, NULL, "some", ""), "{\"items\":[{\"id\":\"a\",\"title\":\"A\"}]}");
	app_fixture_close(&f);
}

/* Twenty thousand rows and more, of which the last few pass. */
static void put_many(struct app_fixture *f, const char *author, int n)
{
	struct run *r = app_fixture_run(f, "!");
	const struct entity *e = design_entity(f->design, SLICE("Post"));
	struct dyn_write writes[100];
	struct dyn_refusal refusals[100];

	for (int i = 0; i < n; i++) {
		struct dyn_write *w = &writes[i % 100];
		struct row item;

		row_init(&item, r->arena, NULL);
		row_put(&item, SLICE("id"), value_make_s(r->arena, arena_printf(r->arena, "%s%05d", author, i)));
		row_put(&item, SLICE("author"), value_make_s(r->arena, slice_str(author)));
		row_put(&item, SLICE("score"), value_make_i64(r->arena, i >= n - 3 ? 9 : 0));
		row_put(&item, SLICE("open"), value_make_bool(r->arena, i >= n - 3));
		assert_true(entity_complete(r, e, &item, VALUE_ABSENT));
		*w = (struct dyn_write){ .kind = DYN_PUT, .item = entity_stored(r, e, &item) };
		if (i % 100 == 99)
			assert_int_equal(dyn_write(r, writes, 100, SLICE(""), refusals), DYN_DONE);
	}
}

static const char *read_through(struct app_fixture *f, const char *name, const char *with, int *pages)
{
	struct slice cursor = SLICE("");
	struct buf b;

	buf_init(&b, &f->arena);
	for (*pages = 1;; ++*pages) {
		struct read_result page;

		assert_int_equal(read_page(app_fixture_run(f, NULL), name, with, 2, cursor, &page), 200);
		for (size_t i = 0; i < page.row_count; i++) {
			put_label(&b, &page.rows[i], SLICE("id"));
			buf_byte(&b, ' ');
		}
		cursor = page.next;
		if (!cursor.n)
			return arena_cstr(&f->arena, buf_slice(&b));
		assert_true(*pages < 10);
	}
}

static void a_page_may_be_short_after_very_many_rows_and_goes_on(void **state)
{
	static struct app_fixture f;
	int pages;

	(void)state;
	app_fixture_open(&f, DESIGN
			 "  merged: {path: /merged, merge: {of: [of ann, of bob], by: score}, order: lowest first}\n"
			 "  of ann: {path: /goa, query: GSI1, where: {GSI1PK: AUTHOR#ann}, filter: score > 8}\n"
			 "  of bob: {path: /gob, query: GSI1, where: {GSI1PK: AUTHOR#bob}, filter: score > 8}\n");
	put_many(&f, "ann", 20500);
	put(&f, "Post", "id=b1 author=bob score=10 open=true");
	assert_string_equal(read_through(&f, "good", "author=ann", &pages), "ann20497 ann20498 ann20499 ");
	assert_true(pages >= 3);
	assert_string_equal(read_through(&f, "posts", "author=ann", &pages), "ann20497 ann20498 ann20499 ");
	assert_true(pages >= 3);
	assert_string_equal(read_through(&f, "merged", "", &pages), "ann20497 ann20498 ann20499 b1 ");
	assert_true(pages >= 3);
	app_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_comes_once_whatever_the_page),
		cmocka_unit_test(rows_that_may_not_be_read_are_left_out_and_pages_still_fill),
		cmocka_unit_test(rules_are_asked_of_every_row),
		cmocka_unit_test(a_pattern_has_its_own_rule),
		cmocka_unit_test(one_item_is_got_by_identity_or_keys),
		cmocka_unit_test(windows_may_be_given_or_not),
		cmocka_unit_test(counts_count_what_may_be_seen),
		cmocka_unit_test(attributes_are_left_out_though_rules_look_at_them),
		cmocka_unit_test(lists_of_several_entities_say_which),
		cmocka_unit_test(keys_are_distinguished_after_a_placeholder),
		cmocka_unit_test(a_batch_gives_those_that_there_are),
		cmocka_unit_test(a_cursor_belongs_to_its_pattern_and_parameters),
		cmocka_unit_test(limits_are_checked),
		cmocka_unit_test(a_page_may_be_short_after_very_many_rows_and_goes_on),
		cmocka_unit_test(the_runtime_reads_everything_without_rules),
		cmocka_unit_test(rules_see_what_an_index_lacks_and_lists_show_what_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
