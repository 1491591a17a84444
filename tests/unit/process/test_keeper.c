/* The keeper: effects of changes that no other code has applied.
 *
 * Items are put directly into the table, as by a server that died right after.
 * SPDX-License-Identifier: Apache-2.0 */
#include "effect_helper.h"

static const char design[] =
	"entities:\n"
	"  User:\n"
	"    path: /users/<id>\n"
	"    attributes: {id: 'string, required, fixed', name: string, posts: counter, famous: '= posts >= 3'}\n"
	"    keys: {PK: 'USER#<id>', SK: PROFILE}\n"
	"    keys when famous = true: {GSI2PK: FAMOUS, GSI2SK: '<id>'}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Post:\n"
	"    path: /posts/<slug>\n"
	"    attributes:\n"
	"      id: string, id, fixed\n"
	"      slug: string, required\n"
	"      author: string, required, fixed\n"
	"      author_name: copy of User(author).name, kept by posts of author\n"
	"      likes: counter\n"
	"      score: = likes * 2\n"
	"    keys:\n"
	"      PK: POST#<slug>\n      SK: POST\n      GSI1PK: AUTHOR#<author>\n      GSI1SK: <score:06>#<id>\n"
	"      GSI2PK: ID#<id>\n      GSI2SK: POST\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"    delete: {then remove: [comments of post]}\n"
	"  Comment:\n"
	"    path: /posts/<post>/comments/<id>\n"
	"    attributes: {post: 'string, required, fixed', id: 'string, required, fixed', expires_at: epoch}\n"
	"    keys: {PK: 'COMMENTS#<post>', SK: '<id>'}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"    delete: {then remove: [likes of comment]}\n"
	"  CommentLike:\n"
	"    path: /comments/<comment>/likes/<who>\n"
	"    attributes: {comment: 'string, required, fixed', who: 'string, required, fixed'}\n"
	"    keys: {PK: 'LIKES#<comment>', SK: '<who>'}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"access:\n"
	"  posts of author:\n"
	"    query: GSI1\n"
	"    where: {GSI1PK: 'AUTHOR#<id>'}\n"
	"  post by id:\n"
	"    query: GSI2\n"
	"    where: {GSI2PK: 'ID#<id>', GSI2SK: POST}\n"
	"    one: true\n"
	"  comments of post:\n"
	"    query: table\n"
	"    where: {PK: 'COMMENTS#<id>'}\n"
	"  likes of comment:\n"
	"    query: table\n"
	"    where: {PK: 'LIKES#<id>'}\n"
	"processors:\n"
	"  mourn:\n"
	"    on: Post deleted\n"
	"    delete: User(author)\n";

/* ---- direct writes, bypassing the runtime ---- */

static struct value key_of(struct run *r, const char *pk, const char *sk)
{
	struct value_member m[] = { { SLICE("PK"), value_make_s(r->arena, slice_str(pk)) },
				    { SLICE("SK"), value_make_s(r->arena, slice_str(sk)) } };

	return value_make_map(r->arena, m, 2);
}

static void write_raw(struct world *w, const struct dyn_write *what)
{
	struct dyn_refusal refusal;

	assert_int_equal(dyn_write(world_run(w), what, 1, SLICE(""), &refusal), DYN_DONE);
}

static void add_raw(struct world *w, const char *pk, const char *sk, const char *name, int64_t n)
{
	struct run *r = world_run(w);
	struct value_member m = { slice_str(name), value_make_i64(r->arena, n) };

	write_raw(w, &(struct dyn_write){ .kind = DYN_UPDATE, .key = key_of(r, pk, sk), .add = &m, .add_count = 1 });
}

static void set_raw(struct world *w, const char *pk, const char *sk, const char *name, const char *text)
{
	struct run *r = world_run(w);
	struct value_member m = { slice_str(name), value_make_s(r->arena, slice_str(text)) };

	write_raw(w, &(struct dyn_write){ .kind = DYN_UPDATE, .key = key_of(r, pk, sk), .set = &m, .set_count = 1 });
}

static void delete_raw(struct world *w, const char *pk, const char *sk)
{
	struct run *r = world_run(w);

	write_raw(w, &(struct dyn_write){ .kind = DYN_DELETE, .key = key_of(r, pk, sk) });
}

/* ---- following ---- */

struct counting {
	struct backend backend;
	struct backend *inner;
	int reads, writes;
};

static void counting_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			  struct backend_reply *reply)
{
	struct counting *c = (struct counting *)b;

	if (!strcmp(operation, "UpdateItem") || !strcmp(operation, "PutItem") || !strcmp(operation, "DeleteItem") ||
	    !strcmp(operation, "TransactWriteItems"))
		c->writes++;
	else
		c->reads++;
	backend_call(c->inner, a, operation, body, reply);
}

static struct slice latest(struct world *w)
{
	struct slice last = SLICE("");
	struct change *list;
	size_t n = world_all(w, &list);

	for (size_t i = 0; i < n; i++)
		if (slice_cmp(list[i].sequence, last) > 0)
			last = list[i].sequence;
	return last;
}

/* The keeper sees everything since, in one page; how much it asked and wrote. */
static struct counting follow_since(struct world *w, struct slice since)
{
	struct counting c = { .backend = { counting_call }, .inner = w->f.backend };
	struct run *r = world_run(w);
	struct change *list;
	size_t all = world_all(w, &list), n = 0;

	for (size_t i = 0; i < all; i++)
		if (slice_cmp(list[i].sequence, since) > 0)
			list[n++] = list[i];
	r->backend = &c.backend;
	must(r, keeper_follow(r, keeper_roles_new(r->arena, r->design), list, n, SLICE("")), "the keeper");
	return c;
}

static struct counting follow(struct world *w)
{
	return follow_since(w, SLICE(""));
}

static void open_blog(struct world *w)
{
	world_open(w, design);
	created(&w->f, "!", "User", "ann", "{\"name\":\"Ann\"}");
	created(&w->f, "!", "Post", "one", "{\"id\":\"1\",\"author\":\"ann\"}");
}

static void a_thousand_likes_are_one_update(void **state)
{
	struct world w;
	struct counting c;

	(void)state;
	open_blog(&w);
	for (int i = 0; i < 1000; i++)
		add_raw(&w, "POST#one", "POST", "likes", 1);
	assert_int_equal(number(stored(&w.f, "POST#one", "POST"), "score"), 0);
	c = follow(&w);
	assert_int_equal(c.writes, 1);
	assert_int_equal(number(stored(&w.f, "POST#one", "POST"), "score"), 2000);
	assert_text(stored(&w.f, "POST#one", "POST"), "GSI1SK", "002000#1");
	/* A second time there is nothing left, and the record of its own write shows it. */
	c = follow(&w);
	assert_int_equal(c.writes, 0);
	world_close(&w);
}

static void keys_that_hang_on_a_counter_come_and_go(void **state)
{
	struct world w;

	(void)state;
	open_blog(&w);
	add_raw(&w, "USER#ann", "PROFILE", "posts", 3);
	follow(&w);
	assert_text(stored(&w.f, "USER#ann", "PROFILE"), "GSI2PK", "FAMOUS");
	add_raw(&w, "USER#ann", "PROFILE", "posts", -1);
	follow(&w);
	assert_false(value_present(value_get(stored(&w.f, "USER#ann", "PROFILE"), SLICE("GSI2PK"))));
	world_close(&w);
}

static void copies_follow_their_source(void **state)
{
	struct world w;

	(void)state;
	open_blog(&w);
	created(&w.f, "!", "Post", "two", "{\"id\":\"2\",\"author\":\"ann\"}");
	assert_text(stored(&w.f, "POST#two", "POST"), "author_name", "Ann");
	set_raw(&w, "USER#ann", "PROFILE", "name", "Anna");
	follow(&w);
	assert_text(stored(&w.f, "POST#one", "POST"), "author_name", "Anna");
	assert_text(stored(&w.f, "POST#two", "POST"), "author_name", "Anna");
	assert_int_equal(follow(&w).writes, 0);
	world_close(&w);
}

static void a_change_there_and_back_again_still_mends_copies(void **state)
{
	struct world w;

	(void)state;
	open_blog(&w);
	set_raw(&w, "USER#ann", "PROFILE", "name", "Anna");
	set_raw(&w, "POST#one", "POST", "author_name", "Anna"); /* someone has got as far as this */
	set_raw(&w, "USER#ann", "PROFILE", "name", "Ann");
	follow(&w);
	assert_text(stored(&w.f, "POST#one", "POST"), "author_name", "Ann");
	world_close(&w);
}

static void a_copy_that_was_born_stale_is_mended(void **state)
{
	struct world w;
	struct run *r;
	struct row f;

	(void)state;
	open_blog(&w);
	r = world_run(&w);
	row_from(&f, r->arena, NULL, stored(&w.f, "POST#one", "POST"));
	row_put(&f, SLICE("PK"), value_make_s(r->arena, SLICE("POST#three")));
	row_put(&f, SLICE("slug"), value_make_s(r->arena, SLICE("three")));
	row_put(&f, SLICE("id"), value_make_s(r->arena, SLICE("3")));
	row_put(&f, SLICE("author_name"), value_make_s(r->arena, SLICE("Annie")));
	row_put(&f, SLICE("GSI1SK"), value_make_s(r->arena, SLICE("000000#3")));
	row_put(&f, SLICE("GSI2PK"), value_make_s(r->arena, SLICE("ID#3")));
	write_raw(&w, &(struct dyn_write){ .kind = DYN_PUT, .item = row_item(&f) });
	assert_int_equal(follow(&w).writes, 1);
	assert_text(stored(&w.f, "POST#three", "POST"), "author_name", "Ann");
	world_close(&w);
}

static bool has_author_name(struct world *w, const char *pk)
{
	return value_present(value_get(stored(&w->f, pk, "POST"), SLICE("author_name")));
}

static void a_copy_is_filled_when_its_source_comes_later(void **state)
{
	struct slice before;
	struct world w;

	(void)state;
	open_blog(&w);
	w.f.app.keeper_runs = true;
	created(&w.f, "!", "Post", "two", "{\"id\":\"2\",\"author\":\"bob\"}");
	follow(&w);
	before = latest(&w);
	created(&w.f, "!", "User", "bob", "{\"name\":\"Bob\"}");
	assert_false(has_author_name(&w, "POST#two"));
	follow_since(&w, before);
	assert_text(stored(&w.f, "POST#two", "POST"), "author_name", "Bob");
	assert_int_equal(follow(&w).writes, 0);
	world_close(&w);
}

static void a_copy_shows_nothing_of_a_source_that_is_gone(void **state)
{
	struct slice before;
	struct world w;

	(void)state;
	open_blog(&w);
	before = latest(&w);
	delete_raw(&w, "USER#ann", "PROFILE");
	assert_true(has_author_name(&w, "POST#one"));
	follow_since(&w, before);
	assert_false(has_author_name(&w, "POST#one"));
	assert_int_equal(follow(&w).writes, 0);
	/* One that is written as if the source were there has nothing to show either; and it is back with its
	 * source. */
	before = latest(&w);
	set_raw(&w, "POST#one", "POST", "author_name", "Ann");
	follow_since(&w, before);
	assert_false(has_author_name(&w, "POST#one"));
	w.f.app.keeper_runs = true;
	before = latest(&w);
	created(&w.f, "!", "User", "ann", "{\"name\":\"Anne\"}");
	follow_since(&w, before);
	assert_text(stored(&w.f, "POST#one", "POST"), "author_name", "Anne");
	world_close(&w);
}

static const char library[] = "entities:\n"
			      "  Author:\n" /* its key stays when its address changes */
			      "    path: /authors/<slug>\n"
			      "    found by: author by slug\n"
			      "    attributes: {id: 'string, id', slug: 'string, required', name: string}\n"
			      "    keys: {PK: 'AUTHOR#<id>', SK: AUTHOR, GSI1PK: 'SLUG#<slug>', GSI1SK: AUTHOR}\n"
			      "    allow: {read, create, update, delete: anyone}\n"
			      "  Book:\n"
			      "    path: /books/<id>\n"
			      "    attributes:\n"
			      "      id: string, required, fixed\n"
			      "      author: string, required\n"
			      "      author_name: copy of Author(author).name, kept by books of author\n"
			      "    keys: {PK: 'BOOK#<id>', SK: BOOK, GSI2PK: 'BY#<author>', GSI2SK: '<id>'}\n"
			      "    allow: {read, create, update, delete: anyone}\n"
			      "access:\n"
			      "  author by slug: {query: GSI1, where: {GSI1PK: 'SLUG#<slug>'}}\n"
			      "  books of author: {query: GSI2, where: {GSI2PK: 'BY#<slug>'}}\n";

static void copies_follow_the_current_owner_of_the_name(void **state)
{
	struct slice before;
	struct world w;

	(void)state;
	world_open(&w, library);
	w.f.app.keeper_runs = true;
	created(&w.f, "!", "Author", NULL, "{\"slug\":\"ann\",\"name\":\"Ann\"}");
	created(&w.f, "!", "Book", "1", "{\"author\":\"ann\"}");
	created(&w.f, "!", "Book", "2", "{\"author\":\"anna\"}"); /* there is none yet */
	follow(&w);
	assert_text(stored(&w.f, "BOOK#1", "BOOK"), "author_name", "Ann");
	assert_false(value_present(value_get(stored(&w.f, "BOOK#2", "BOOK"), SLICE("author_name"))));
	before = latest(&w);
	updated(&w.f, "!", "Author", "ann", "{\"slug\":\"anna\"}");
	follow_since(&w, before);
	assert_false(value_present(value_get(stored(&w.f, "BOOK#1", "BOOK"), SLICE("author_name"))));
	assert_text(stored(&w.f, "BOOK#2", "BOOK"), "author_name", "Ann");
	world_close(&w);
}

static const char shelves[] = "entities:\n"
			      "  Shelf:\n"
			      "    path: /shelves/<id>\n"
			      "    attributes: {id: 'string, required, fixed', name: string}\n"
			      "    keys: {PK: 'SHELF#<id>', SK: SHELF}\n"
			      "    allow: {read, create, update, delete: anyone}\n"
			      "  Box:\n"
			      "    path: /boxes/<id>\n"
			      "    attributes:\n"
			      "      id: string, required, fixed\n"
			      "      shelf: string, required\n"
			      "      listed: boolean, default false\n"
			      "      where: copy of Shelf(shelf).name, kept by boxes on shelf\n"
			      "    keys: {PK: 'BOX#<id>', SK: BOX, GSI1PK: 'ON#<shelf>', GSI1SK: '<id>'}\n"
			      "    keys when listed: {GSI2PK: 'WHERE#<where>', GSI2SK: '<id>'}\n"
			      "    allow: {read, create, update, delete: anyone}\n"
			      "access:\n"
			      "  boxes on shelf: {query: GSI1, where: {GSI1PK: 'ON#<id>'}}\n";

static void a_copy_that_cannot_follow_is_counted_and_holds_up_no_other(void **state)
{
	struct passed_over p = { 0 };
	struct change *list;
	struct world w;
	struct run *r;
	size_t n;

	(void)state;
	world_open(&w, shelves);
	created(&w.f, "!", "Shelf", "s", "{\"name\":\"top\"}");
	created(&w.f, "!", "Box", "1", "{\"shelf\":\"s\",\"listed\":true}");
	created(&w.f, "!", "Box", "2", "{\"shelf\":\"s\"}");
	set_raw(&w, "SHELF#s", "SHELF", "name", "a#b"); /* no key takes that; the API would have refused it */
	r = world_run(&w);
	r->passed_over = &p;
	n = world_all(&w, &list);
	must(r, keeper_follow(r, keeper_roles_new(r->arena, r->design), list, n, SLICE("")), "the keeper");
	assert_text(stored(&w.f, "BOX#1", "BOX"), "where", "top");
	assert_text(stored(&w.f, "BOX#2", "BOX"), "where", "a#b");
	assert_in_range(p.count[PASSED_OVER_REFUSED], 1, 2); /* of the shelf's record, and of the box's own */
	assert_non_null(strstr(p.last, "cannot contain '#'"));
	world_close(&w);
}

/* ---- deletions ---- */

static void add_comments(struct world *w, const char *post, int n)
{
	for (int i = 0; i < n; i++) {
		char path[32], like[32];

		snprintf(path, sizeof(path), "%s/c%s%d", post, post, i);
		snprintf(like, sizeof(like), "c%s%d/bob", post, i);
		created(&w->f, "!", "Comment", path, "{}");
		created(&w->f, "!", "CommentLike", like, "{}");
	}
}

static void every_dependent_of_a_deleted_item_is_removed(void **state)
{
	struct world w;

	(void)state;
	open_blog(&w);
	add_comments(&w, "1", 20);
	delete_raw(&w, "POST#one", "POST");
	assert_int_equal(count_keys(&w, "COMMENTS#"), 20);
	follow(&w);
	assert_int_equal(count_keys(&w, "COMMENTS#"), 0);
	assert_int_equal(count_keys(&w, "LIKES#"), 0);
	follow(&w); /* what says that the comments are being deleted goes when their own changes are seen */
	assert_int_equal(follow(&w).writes, 0);
	world_close(&w);
}

static void a_move_is_no_deletion(void **state)
{
	struct world w;

	(void)state;
	open_blog(&w);
	add_comments(&w, "1", 3);
	updated(&w.f, "!", "Post", "one", "{\"slug\":\"uno\"}");
	assert_false(is_stored(&w.f, "POST#one", "POST"));
	assert_true(is_stored(&w.f, "POST#uno", "POST"));
	follow(&w);
	assert_int_equal(count_keys(&w, "COMMENTS#"), 3);
	assert_int_equal(count_keys(&w, "LIKES#"), 3);
	/* But this is. */
	delete_raw(&w, "POST#uno", "POST");
	follow(&w);
	assert_int_equal(count_keys(&w, "COMMENTS#"), 0);
	world_close(&w);
}

static void a_recreated_item_keeps_its_dependents(void **state)
{
	struct world w;

	(void)state;
	open_blog(&w);
	delete_raw(&w, "POST#one", "POST");
	created(&w.f, "!", "Post", "one", "{\"id\":\"1\",\"author\":\"ann\"}");
	add_comments(&w, "1", 2);
	follow(&w);
	assert_int_equal(count_keys(&w, "COMMENTS#"), 2);
	world_close(&w);
}

static void expiry_removes_dependents(void **state)
{
	struct world w;
	struct run *r;
	struct change *list;
	size_t n;

	(void)state;
	open_blog(&w);
	add_comments(&w, "1", 2);
	delete_raw(&w, "COMMENTS#1", "c10");
	n = world_all(&w, &list);
	for (size_t i = 0; i < n; i++)
		list[i].by_ttl = list[i].events == ON_DELETED;
	r = world_run(&w);
	must(r, keeper_follow(r, keeper_roles_new(r->arena, r->design), list, n, SLICE("")), "the keeper");
	assert_int_equal(count_keys(&w, "LIKES#c10"), 0);
	assert_int_equal(count_keys(&w, "LIKES#"), 1);
	world_close(&w);
}

static void a_move_wakes_no_processor_of_deletions(void **state)
{
	struct world w;

	(void)state;
	open_blog(&w);
	updated(&w.f, "!", "Post", "one", "{\"slug\":\"uno\"}");
	assert_int_equal(world_process(&w, "mourn"), 0);
	assert_true(is_stored(&w.f, "USER#ann", "PROFILE"));
	deleted(&w.f, "!", "Post", "uno");
	assert_true(world_process(&w, "mourn") > 0);
	assert_false(is_stored(&w.f, "USER#ann", "PROFILE"));
	world_close(&w);
}

/* A comment does not require a post: a newer one must stay. */
static void a_replay_removes_nothing_that_has_come_since(void **state)
{
	struct change *list;
	struct world w;
	struct run *r;
	size_t n;

	(void)state;
	open_blog(&w);
	add_comments(&w, "1", 3);
	delete_raw(&w, "POST#one", "POST");
	follow(&w);
	assert_false(is_stored(&w.f, "COMMENTS#1", "c10"));
	add_comments(&w, "1", 1);
	r = world_run(&w);
	n = world_all(&w, &list);
	must(r, keeper_follow(r, keeper_roles_new(r->arena, r->design), list, n, latest(&w)), "again");
	assert_true(is_stored(&w.f, "COMMENTS#1", "c10"));
	world_close(&w);
}

/* ---- after time to live ---- */

static const char club[] =
	"entities:\n"
	"  Club:\n"
	"    path: /clubs/<id>\n"
	"    attributes: {id: 'string, required, fixed', members: counter}\n"
	"    keys: {PK: 'CLUB#<id>', SK: CLUB}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Member:\n"
	"    path: /clubs/<club>/members/<who>\n"
	"    attributes: {club: 'string, required, fixed', who: 'string, required, fixed', mail: 'string, unique',\n"
	"      expires_at: epoch}\n"
	"    keys: {PK: 'CLUB#<club>', SK: 'MEMBER#<who>'}\n"
	"    companions:\n"
	"      - {unique: mail, PK: 'MAIL#<mail>', SK: MAIL, who: '<who>'}\n"
	"      - {PK: 'BY#<who>', SK: 'CLUB#<club>'}\n"
	"    counts: [Club(club).members]\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Account:\n"
	"    path: /accounts/<id>\n"
	"    attributes: {id: 'string, required, fixed', expires_at: epoch}\n"
	"    keys: {PK: 'ACCOUNT#<id>', SK: ACCOUNT}\n"
	"    login: {by: id, secret: {PK: 'SECRET#<id>', SK: AUTH}, subject: id}\n"
	"    allow: {read, create, update, delete: anyone}\n";

static void open_club(struct world *w)
{
	world_open(w, club);
	assert_true(keeper_is_needed(w->f.design));
	created(&w->f, "!", "Club", "go", "{}");
	created(&w->f, "!", "Member", "go/ann", "{\"mail\":\"a@b.c\"}");
	created(&w->f, "!", "Member", "go/bob", "{}");
	assert_int_equal(number(stored(&w->f, "CLUB#go", "CLUB"), "members"), 2);
	delete_raw(w, "CLUB#go", "MEMBER#ann");
}

/* The last removal, as if time to live had done it. */
static struct change removal(struct world *w)
{
	struct change *list, *last = NULL;
	size_t n = world_all(w, &list);

	for (size_t i = 0; i < n; i++)
		if (list[i].events == ON_DELETED && list[i].entity)
			last = &list[i];
	assert_non_null(last);
	last->by_ttl = true;
	assert_true(keeper_has_traces(last));
	return *last;
}

static void expired_items_are_counted_off_once(void **state)
{
	struct world w;
	struct change c;
	struct position was = { .processor = SLICE("keeper"), .shard = SLICE("s") };
	struct run *r;
	bool wrote;

	(void)state;
	open_club(&w);
	c = removal(&w);
	r = world_run(&w);
	must(r, keeper_take_traces(r, &c, &was, &wrote), "traces");
	assert_true(wrote);
	assert_int_equal(number(stored(&w.f, "CLUB#go", "CLUB"), "members"), 1);
	assert_false(is_stored(&w.f, "MAIL#a@b.c", "MAIL"));
	assert_false(is_stored(&w.f, "BY#ann", "CLUB#go"));
	assert_true(is_stored(&w.f, "BY#bob", "CLUB#go"));
	/* A repetition after a crash finds that the position has moved. */
	r = world_run(&w);
	assert_false(keeper_take_traces(r, &c, &was, &wrote));
	assert_true(r->rider_lost);
	assert_int_equal(number(stored(&w.f, "CLUB#go", "CLUB"), "members"), 1);
	world_close(&w);
}

static void a_later_item_keeps_its_companions(void **state)
{
	struct world w;
	struct change c;
	struct position was = { .processor = SLICE("keeper"), .shard = SLICE("s") };
	struct run *r;
	bool wrote;

	(void)state;
	open_club(&w);
	c = removal(&w);
	created(&w.f, "!", "Member", "go/ann", "{\"mail\":\"new@b.c\"}");
	assert_int_equal(number(stored(&w.f, "CLUB#go", "CLUB"), "members"), 3);
	set_raw(&w, "MAIL#a@b.c", "MAIL", "who", "cleo"); /* someone else has this by now */
	r = world_run(&w);
	must(r, keeper_take_traces(r, &c, &was, &wrote), "traces");
	assert_true(wrote);
	assert_int_equal(number(stored(&w.f, "CLUB#go", "CLUB"), "members"), 2);
	assert_true(is_stored(&w.f, "MAIL#a@b.c", "MAIL"));
	assert_true(is_stored(&w.f, "MAIL#new@b.c", "MAIL"));
	assert_true(is_stored(&w.f, "BY#ann", "CLUB#go"));
	world_close(&w);
}

/* ---- and its credentials ---- */

static void create_account(struct world *w)
{
	created(&w->f, "!", "Account", "ann", "{}");
	set_raw(w, "SECRET#ann", "AUTH", "password_hash", "hers");
}

/* right before the first write reaches the database */
struct heir_comes {
	struct backend backend;
	struct backend *inner;
	struct world *world;
};

static void heir_comes_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			    struct backend_reply *reply)
{
	struct heir_comes *h = (struct heir_comes *)b;
	struct world *w = h->world;

	if (w && (!strcmp(operation, "TransactWriteItems") || !strcmp(operation, "DeleteItem"))) {
		h->world = NULL;
		create_account(w);
	}
	backend_call(h->inner, a, operation, body, reply);
}

enum heir { NO_HEIR, HEIR_BEFORE, HEIR_IN_BETWEEN };

/* Whether there are credentials at the end. */
static bool are_credentials_left(enum heir heir)
{
	struct world w;
	struct heir_comes late = { .backend = { heir_comes_call }, .world = &w };
	struct position was = { .processor = SLICE("keeper"), .shard = SLICE("s") };
	struct change c;
	struct run *r;
	bool wrote, left;

	world_open(&w, club);
	create_account(&w);
	delete_raw(&w, "ACCOUNT#ann", "ACCOUNT");
	c = removal(&w);
	r = world_run(&w);
	late.inner = r->backend;
	if (heir == HEIR_BEFORE)
		create_account(&w);
	if (heir == HEIR_IN_BETWEEN)
		r->backend = &late.backend;
	must(r, keeper_take_traces(r, &c, &was, &wrote), "traces");
	assert_int_equal(wrote, heir == NO_HEIR);
	assert_true(!late.world == (heir == HEIR_IN_BETWEEN));
	left = is_stored(&w.f, "SECRET#ann", "AUTH");
	world_close(&w);
	return left;
}

static void credentials_go_unless_an_account_of_that_name_has_come(void **state)
{
	(void)state;
	assert_false(are_credentials_left(NO_HEIR));
	assert_true(are_credentials_left(HEIR_BEFORE));
	assert_true(are_credentials_left(HEIR_IN_BETWEEN));
}

/* ---- soft deletions ---- */

static void dependents_are_removed_after_a_soft_deletion(void **state)
{
	struct world w;

	(void)state;
	world_open(&w,
		   "entities:\n"
		   "  Post:\n"
		   "    path: /posts/<id>\n"
		   "    attributes: {id: 'string, required, fixed', text: string, gone: 'boolean, default false, managed',\n"
		   "      at: timestamp}\n"
		   "    keys: {PK: 'POST#<id>', SK: POST}\n"
		   "    allow: {read, create, update, delete: anyone}\n"
		   "    delete: {set: {gone: true, at: now}, then remove: [comments of post]}\n"
		   "  Comment:\n"
		   "    path: /posts/<post>/comments/<id>\n"
		   "    attributes: {post: 'string, required, fixed', id: 'string, required, fixed'}\n"
		   "    keys: {PK: 'COMMENTS#<post>', SK: '<id>'}\n"
		   "    allow: {read, create, update, delete: anyone}\n"
		   "access:\n"
		   "  comments of post:\n"
		   "    query: table\n"
		   "    where: {PK: 'COMMENTS#<id>'}\n");
	created(&w.f, "!", "Post", "one", "{}");
	for (int i = 0; i < 30; i++) { /* more than go with it at once */
		char path[16];

		snprintf(path, sizeof(path), "one/%d", i);
		created(&w.f, "!", "Comment", path, "{}");
	}
	updated(&w.f, "!", "Post", "one", "{\"text\":\"x\",\"at\":\"2026-01-01T00:00:00Z\"}");
	follow(&w);
	assert_int_equal(count_keys(&w, "COMMENTS#"), 30);
	app_set_keeper_runs(&w.f.app, true);
	deleted(&w.f, "!", "Post", "one");
	assert_int_equal(count_keys(&w, "COMMENTS#"), 30);
	follow(&w);
	assert_int_equal(count_keys(&w, "COMMENTS#"), 0);
	assert_true(is_stored(&w.f, "POST#one", "POST"));
	world_close(&w);
}

/* ---- what it is for ---- */

static void a_design_without_any_of_it_needs_no_keeper(void **state)
{
	struct world w;

	(void)state;
	world_open(&w,
		   "entities:\n  Note:\n    path: /notes/<id>\n    attributes: {id: 'string, required, fixed', seen: counter}\n"
		   "    keys: {PK: 'NOTE#<id>', SK: NOTE}\n");
	assert_false(keeper_is_needed(w.f.design));
	world_close(&w);
	world_open(&w, design);
	assert_true(keeper_is_needed(w.f.design));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_likes_are_one_update),
		cmocka_unit_test(keys_that_hang_on_a_counter_come_and_go),
		cmocka_unit_test(copies_follow_their_source),
		cmocka_unit_test(a_change_there_and_back_again_still_mends_copies),
		cmocka_unit_test(a_copy_that_was_born_stale_is_mended),
		cmocka_unit_test(a_copy_is_filled_when_its_source_comes_later),
		cmocka_unit_test(a_copy_that_cannot_follow_is_counted_and_holds_up_no_other),
		cmocka_unit_test(copies_follow_the_current_owner_of_the_name),
		cmocka_unit_test(a_copy_shows_nothing_of_a_source_that_is_gone),
		cmocka_unit_test(every_dependent_of_a_deleted_item_is_removed),
		cmocka_unit_test(a_move_is_no_deletion),
		cmocka_unit_test(a_recreated_item_keeps_its_dependents),
		cmocka_unit_test(expiry_removes_dependents),
		cmocka_unit_test(a_move_wakes_no_processor_of_deletions),
		cmocka_unit_test(a_replay_removes_nothing_that_has_come_since),
		cmocka_unit_test(expired_items_are_counted_off_once),
		cmocka_unit_test(a_later_item_keeps_its_companions),
		cmocka_unit_test(credentials_go_unless_an_account_of_that_name_has_come),
		cmocka_unit_test(dependents_are_removed_after_a_soft_deletion),
		cmocka_unit_test(a_design_without_any_of_it_needs_no_keeper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
