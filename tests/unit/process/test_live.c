/* Watched lists: which events each watcher gets, in which order, and that none is missed or repeated.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include "live_helper.h"
#include "app/auth/caller_internal.h"

static const char design[] =
	"callers: {roles: [user, admin]}\n"
	"entities:\n"
	"  Post:\n"
	"    path: /posts/<id>\n"
	"    attributes:\n"
	"      id: string\n"
	"      author: string\n"
	"      open: boolean\n"
	"      score: integer\n"
	"      day: string\n"
	"      hash: string, hidden\n"
	"      draft: string, private\n"
	"      tags: list of string\n"
	"      expires_at: epoch\n"
	"    keys: {PK: POST#<id>, SK: POST, GSI1PK: AUTHOR#<author>, GSI1SK: POST#<id>, GSI2PK: DAY#<day>, GSI2SK: <id>}\n"
	"    allow: {read: open = true or author = caller, update: author = caller}\n"
	"    companions:\n"
	"      - {for: tag in tags, PK: POST#<id>, SK: TAG#<tag>, GSI1PK: TAG#<tag>, GSI1SK: <id>, id: <id>}\n"
	"  Note:\n"
	"    path: /notes/<id>\n"
	"    attributes: {id: string, author: string}\n"
	"    keys: {PK: NOTE#<id>, SK: NOTE, GSI1PK: AUTHOR#<author>, GSI1SK: NOTE#<id>}\n"
	"    allow: {read: anyone}\n"
	"  Account:\n"
	"    path: /accounts/<name>\n"
	"    attributes: {name: string, role: user | admin, on: boolean, bio: string, hash: 'string, hidden'}\n"
	"    keys: {PK: ACCOUNT#<name>, SK: ACCOUNT}\n"
	"    login: {by: name, password: hash, subject: name, role: role, when: on = true}\n"
	"    allow: {read: anyone}\n"
	"  Guest:\n"
	"    path: /guests/<id>\n"
	"    attributes: {id: string}\n"
	"    keys: {PK: GUEST#<id>, SK: GUEST}\n"
	"    allow: {read: anyone}\n"
	"access:\n"
	"  post: {path: /p/<id>, get: Post(id)}\n"
	"  posts: {path: /a/<author>/p, query: GSI1, where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins with POST#}}\n"
	"  notes: {path: /a/<author>/o, query: GSI1, where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins with NOTE#}}\n"
	"  everything: {path: /a/<author>/e, query: GSI1, where: {GSI1PK: AUTHOR#<author>}}\n"
	"  both: {path: /a/<author>/b, merge: {of: [posts, notes], by: id}}\n"
	"  good:\n"
	"    path: /a/<author>/good\n"
	"    with: {least: 'integer, default 5'}\n"
	"    query: GSI1\n"
	"    where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins with POST#}\n"
	"    filter: score >= input.least\n"
	"  between:\n"
	"    path: /a/<author>/between\n"
	"    with: {from: string, to: string}\n"
	"    query: GSI1\n"
	"    where: {GSI1PK: AUTHOR#<author>, GSI1SK: 'between POST#<from> and POST#<to> if given'}\n"
	"  mine: {path: /mine, query: GSI1, where: {GSI1PK: AUTHOR#<caller>}}\n"
	"  week: {path: /week/<day>, query: GSI2, where: {GSI2PK: DAY#<day>}, walk: {day: one day back, 7 times}}\n"
	"  today: {path: /today, with: {day: 'string, default today'}, query: GSI2, where: {GSI2PK: DAY#<day>}}\n"
	"  tagged: {path: /tags/<tag>, query: GSI1, where: {GSI1PK: TAG#<tag>}, then: {get: Post, keys: {PK: POST#<id>, SK: POST}}}\n"
	"  own: {path: /a/<author>/own, query: GSI1, where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins with POST#}, "
	"allow: author = caller or caller is admin}\n"
	"  guests: {path: /a/<author>/guests, query: GSI1, where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins with NOTE#}, "
	"allow: exists Guest(caller)}\n"
	"  short: {path: /a/<author>/short, query: GSI1, where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins with POST#}, without: [score, day]}\n"
	"  how many: {path: /a/<author>/count, query: GSI1, where: {GSI1PK: AUTHOR#<author>}, count: true}\n"
	"  best: {path: /a/<author>/best, query: GSI1, where: {GSI1PK: AUTHOR#<author>, GSI1SK: begins with POST#}, "
	"rank: {by: score, keep: 3}}\n"
	"  batch: {path: /batch, batch: Post(id)}\n"
	"  each: {path: /each/<author>, merge: {run: notes, for each: posts, with: {author: <id>}, by: id}}\n";

static void added_changed_and_removed_items_are_reported(void **state)
{
	struct world w;
	struct ear x, other;

	(void)state;
	open_world(&w, design);
	put(&w.f, "Post", "id=p0 author=ann open=true");
	listen_to(&w, NULL, "posts", "author=ann", NULL, &x);
	listen_to(&w, NULL, "posts", "author=bob", NULL, &other);
	assert_heard(&w, &x, "ready");
	put(&w.f, "Post", "id=p1 author=ann open=true score=1");
	put(&w.f, "Note", "id=n1 author=ann");
	put(&w.f, "Post", "id=p1 author=ann open=true score=2");
	put(&w.f, "Post", "id=p0 author=bob open=true"); /* moves from one list into another */
	take_away(&w, "POST#p1", "POST");
	assert_heard(&w, &x, "added p1 changed p1 removed p0 removed p1");
	assert_heard(&w, &other, "ready added p0");
	stop_listening(&x);
	stop_listening(&other);
	close_world(&w);
}

static void a_watcher_gets_only_items_it_may_read(void **state)
{
	struct ear nobody, ann, operator_;
	struct world w;

	(void)state;
	open_world(&w, design);
	listen_to(&w, NULL, "posts", "author=ann", NULL, &nobody);
	listen_to(&w, "ann", "posts", "author=ann", NULL, &ann);
	listen_to(&w, "!", "posts", "author=ann", NULL, &operator_);
	put(&w.f, "Post", "id=p1 author=ann open=false score=1");
	put(&w.f, "Post", "id=p1 author=ann open=false score=2");
	put(&w.f, "Post", "id=p1 author=ann open=true score=2");
	put(&w.f, "Post", "id=p1 author=ann open=false score=3"); /* he has seen it: it goes */
	put(&w.f, "Post", "id=p1 author=ann open=false score=4");
	take_away(&w, "POST#p1", "POST");
	assert_heard(&w, &nobody, "ready added p1 removed p1");
	assert_heard(&w, &ann, "ready added p1 changed p1 changed p1 changed p1 changed p1 removed p1");
	assert_heard(&w, &operator_, "ready added p1 changed p1 changed p1 changed p1 changed p1 removed p1");
	stop_listening(&nobody);
	stop_listening(&ann);
	stop_listening(&operator_);
	close_world(&w);
}

static bool has(const struct ear *x, const char *text)
{
	return memmem(x->text.p, x->text.n, text, strlen(text)) != NULL;
}

static void hidden_and_private_attributes_are_not_told_nor_that_they_changed(void **state)
{
	struct ear nobody, ann, brief;
	struct world w;

	(void)state;
	open_world(&w, design);
	listen_to(&w, "bob", "posts", "author=ann", NULL, &nobody);
	listen_to(&w, "ann", "posts", "author=ann", NULL, &ann);
	listen_to(&w, "bob", "short", "author=ann", NULL, &brief);
	put(&w.f, "Post", "id=p1 author=ann open=true score=1 hash=h1 draft=d1");
	settle(&w);
	assert_true(has(&nobody, "\"score\":1") && !has(&nobody, "h1") && !has(&nobody, "d1") && !has(&nobody, "PK"));
	assert_true(has(&ann, "\"draft\":\"d1\"") && !has(&ann, "h1"));
	assert_true(has(&brief, "\"open\":true") && !has(&brief, "score"));
	assert_heard(&w, &nobody, "ready added p1");
	assert_heard(&w, &ann, "ready added p1");
	assert_heard(&w, &brief, "ready added p1");
	put(&w.f, "Post", "id=p1 author=ann open=true score=1 hash=h2 draft=d1");
	put(&w.f, "Post", "id=p1 author=ann open=true score=1 hash=h2 draft=d2");
	assert_heard(&w, &nobody, "");
	assert_heard(&w, &ann, "changed p1");
	put(&w.f, "Post", "id=p1 author=ann open=true score=9 hash=h2 draft=d2");
	assert_heard(&w, &nobody, "changed p1");
	assert_heard(&w, &brief, "");
	stop_listening(&nobody);
	stop_listening(&ann);
	stop_listening(&brief);
	close_world(&w);
}

static void filters_windows_and_walks_decide_as_in_the_list(void **state)
{
	struct ear good, better, window, week, mine;
	struct world w;

	(void)state;
	open_world(&w, design);
	listen_to(&w, NULL, "good", "author=ann", NULL, &good);
	listen_to(&w, NULL, "good", "author=ann least=9", NULL, &better);
	listen_to(&w, NULL, "between", "author=ann from=b to=d", NULL, &window);
	listen_to(&w, NULL, "week", "day=2026-01-15", NULL, &week);
	listen_to(&w, "ann", "mine", "", NULL, &mine);
	put(&w.f, "Post", "id=a author=ann open=true score=4 day=2026-01-15");
	put(&w.f, "Post", "id=b author=ann open=true score=5 day=2026-01-09");
	put(&w.f, "Post", "id=c author=ann open=true score=9 day=2026-01-08");
	put(&w.f, "Post", "id=e author=ann open=false score=10 day=2026-01-16");
	put(&w.f, "Post", "id=b author=ann open=true score=1 day=2026-01-08");
	assert_heard(&w, &good, "ready added b added c removed b");
	assert_heard(&w, &better, "ready added c");
	assert_heard(&w, &window, "ready added b added c changed b");
	assert_heard(&w, &week, "ready added a added b removed b");
	assert_heard(&w, &mine, "ready added a added b added c added e changed b");
	stop_listening(&good);
	stop_listening(&better);
	stop_listening(&window);
	stop_listening(&week);
	stop_listening(&mine);
	close_world(&w);
}

static _Atomic int64_t now_ms = INT64_C(1768473000000); /* 2026-01-15T10:30:00Z */

static int64_t moved_clock(void *ctx)
{
	(void)ctx;
	return now_ms;
}

static void a_window_follows_the_clock(void **state)
{
	static const struct clock clock = { moved_clock, NULL };
	struct world w;
	struct ear x, fixed;

	(void)state;
	open_world(&w, design);
	w.f.app.clock = &clock;
	listen_to(&w, NULL, "today", "", NULL, &x);
	listen_to(&w, NULL, "today", "day=2026-01-15", NULL, &fixed);
	put(&w.f, "Post", "id=a author=ann open=true day=2026-01-15");
	put(&w.f, "Post", "id=b author=ann open=true day=2026-01-16");
	assert_heard(&w, &x, "ready added a");
	now_ms += 24 * 3600 * 1000;
	put(&w.f, "Post", "id=c author=ann open=true day=2026-01-15");
	put(&w.f, "Post", "id=d author=ann open=true day=2026-01-16");
	assert_heard(&w, &x, "added d");
	assert_heard(&w, &fixed, "ready added a added c");
	stop_listening(&x);
	stop_listening(&fixed);
	close_world(&w);
}

static void single_items_merges_and_lists_of_several_kinds(void **state)
{
	struct ear one, both, all;
	struct world w;

	(void)state;
	open_world(&w, design);
	put(&w.f, "Post", "id=p1 author=ann open=true");
	listen_to(&w, NULL, "post", "id=p1", NULL, &one);
	listen_to(&w, NULL, "both", "author=ann", NULL, &both);
	listen_to(&w, NULL, "everything", "author=ann", NULL, &all);
	put(&w.f, "Note", "id=n1 author=ann");
	settle(&w);
	assert_true(has(&both, "\"@type\":\"Note\"") && has(&all, "\"@type\":\"Note\""));
	put(&w.f, "Post", "id=p1 author=ann open=true score=3");
	put(&w.f, "Post", "id=p2 author=ann open=true");
	take_away(&w, "POST#p1", "POST");
	put(&w.f, "Post", "id=p1 author=zoe open=true");
	assert_heard(&w, &one, "ready changed p1 removed p1 added p1");
	assert_heard(&w, &both, "ready added n1 changed p1 added p2 removed p1");
	assert_heard(&w, &all, "ready added n1 changed p1 added p2 removed p1");
	stop_listening(&one);
	stop_listening(&both);
	stop_listening(&all);
	close_world(&w);
}

/* All of it in one transaction, as the runtime does it. */
static void take_away_tagged(struct world *w, const char *id, const char *tag)
{
	struct run *r = app_fixture_run(&w->f, "!");
	struct slice pk = arena_printf(r->arena, "POST#%s", id);
	struct dyn_write d[2] = { { .kind = DYN_DELETE }, { .kind = DYN_DELETE } };
	struct dyn_refusal refusals[2];

	for (size_t i = 0; i < 2; i++) {
		struct slice sk = i ? SLICE("POST") : arena_printf(r->arena, "TAG#%s", tag);
		struct value_member key[] = { { SLICE("PK"), value_make_s(r->arena, pk) },
					      { SLICE("SK"), value_make_s(r->arena, sk) } };

		d[i].key = value_make_map(r->arena, key, 2);
	}
	assert_int_equal(dyn_write(r, d, 2, SLICE(""), refusals), DYN_DONE);
}

static void events_of_a_list_with_then_have_the_fetched_item(void **state)
{
	struct ear nobody, ann;
	struct world w;

	(void)state;
	open_world(&w, design);
	listen_to(&w, NULL, "tagged", "tag=x", NULL, &nobody);
	listen_to(&w, "ann", "tagged", "tag=x", NULL, &ann);
	put(&w.f, "Post", "id=p1 author=ann open=true tags=x,y");
	put(&w.f, "Post", "id=p2 author=ann open=false tags=x");
	assert_heard(&w, &nobody, "ready added p1");
	assert_heard(&w, &ann, "ready added p1 added p2");
	take_away(&w, "POST#p1", "TAG#x");
	assert_heard(&w, &nobody, "removed p1");
	take_away_tagged(&w, "p2", "x"); /* the item is gone, and yet it is known who had seen it */
	assert_heard(&w, &nobody, "");
	assert_heard(&w, &ann, "removed p1 removed p2");
	put(&w.f, "Post", "id=p3 author=ann open=true tags=x");
	assert_heard(&w, &nobody, "added p3");
	take_away(&w, "POST#p3", "POST");
	for (const char **p = (const char *[]){ "id=n1 author=ann", "id=n2 author=ann", "id=n3 author=ann", NULL }; *p;
	     p++) {
		put(&w.f, "Note", *p); /* until nobody remembers */
		assert_heard(&w, &nobody, "");
	}
	take_away(&w, "POST#p3", "TAG#x");
	assert_heard(&w, &nobody, "reset");
	stop_listening(&nobody);
	stop_listening(&ann);
	close_world(&w);
}

static void a_list_that_may_not_be_read_may_not_be_watched(void **state)
{
	struct world w;
	struct ear x;

	(void)state;
	open_world(&w, design);
	assert_int_equal(refused(&w, NULL, "own", "author=ann"), 401);
	assert_int_equal(refused(&w, "bob", "own", "author=ann"), 403);
	assert_int_equal(refused(&w, "ann", "own", "author=ann"), 200);
	assert_int_equal(refused(&w, NULL, "mine", ""), 401);
	assert_int_equal(refused(&w, NULL, "post", "id=absent"), 404);
	assert_int_equal(refused(&w, NULL, "posts", ""), 422);
	for (const char **p = (const char *[]){ "how many", "best", "each", NULL }; *p; p++)
		assert_int_equal(refused(&w, NULL, *p, "author=ann"), 422);
	assert_int_equal(refused(&w, NULL, "batch", ""), 422);
	/* and whoever loses the right to is ended */
	put(&w.f, "Guest", "id=bob");
	listen_to(&w, "bob", "guests", "author=ann", NULL, &x);
	put(&w.f, "Note", "id=n1 author=ann");
	assert_heard(&w, &x, "ready added n1");
	take_away(&w, "GUEST#bob", "GUEST");
	put(&w.f, "Note", "id=n2 author=ann");
	assert_heard(&w, &x, "");
	assert_true(x.ended);
	stop_listening(&x);
	assert_int_equal(refused(&w, "bob", "guests", "author=ann"), 403);
	close_world(&w);
}

static void put_account(struct world *w, const char *text)
{
	char all[128];

	snprintf(all, sizeof(all), "name=ann %s", text);
	put(&w->f, "Account", all);
}

/* A watcher with the token of a login. */
static void listen_logged_in(struct world *w, const char *pattern, struct ear *x)
{
	struct run *r = app_fixture_run(&w->f, NULL);
	const struct entity *e = design_entity(r->design, SLICE("Account"));
	struct value name = value_make_s(r->arena, SLICE("ann"));
	struct row account;

	assert_true(entity_fetch(r, e, &name, 1, true, &account));
	assert_true(caller_session_begin(r, &account, row_find(&account, SLICE("hash"))));
	assert_true(caller_stands(r));
	if (!try_listen(w->live, r, &w->target, pattern, "author=ann", NULL, x))
		fail_msg("%s: %.*s", pattern, SLICE_ARG(r->problem.detail));
	adopt(x);
}

static void a_session_that_ends_cuts_its_watchers_off_at_once(void **state)
{
	static const char *const ends[] = { "role=user on=true hash=h1", "role=admin on=false hash=h1",
					    "role=admin on=true hash=h2", "" };
	struct world w;
	struct ear own, all, minted;

	(void)state;
	open_world(&w, design);
	w.f.app.callers = callers_new(w.f.design, w.f.app.secret);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		char note[32];

		put_account(&w, "role=admin on=true hash=h1");
		listen_logged_in(&w, "own", &own);
		listen_logged_in(&w, "notes", &all); /* which anyone may read: it hangs on nobody's session */
		listen_to(&w, "ann", "own", "author=ann", NULL, &minted);
		put_account(&w, "role=admin on=true hash=h1 bio=x");
		settle(&w);
		assert_false(own.ended);
		if (*ends[i])
			put_account(&w, ends[i]);
		else
			take_away(&w, "ACCOUNT#ann", "ACCOUNT");
		settle(&w);
		assert_true(own.ended); /* nothing was written to the list */
		snprintf(note, sizeof(note), "id=n%zu author=ann", i);
		put(&w.f, "Note", note);
		settle(&w);
		assert_false(all.ended);
		assert_false(minted.ended);
		stop_listening(&own);
		stop_listening(&all);
		stop_listening(&minted);
	}
	live_free(w.live); /* it asks for sessions until then */
	w.live = NULL;
	callers_free(w.f.app.callers);
	close_world(&w);
}

static const char *last_id(struct world *w, const struct ear *x)
{
	const char *at = x->text.p, *found = NULL;

	while ((at = memmem(at, (size_t)(x->text.p + x->text.n - at), "id: ", 4)))
		found = at += 4;
	assert_non_null(found);
	return arena_cstr(&w->f.arena, slice_make(found, strspn(found, "0123456789")));
}

/* Missed events come before `ready`, or after it if the reader has not read the stream yet. */
static void assert_heard_but_ready(struct world *w, struct ear *x, const char *expected, const char **last)
{
	struct slice text;

	settle(w);
	*last = last_id(w, x);
	text = slice_str(heard(w, x));
	if (slice_starts(text, SLICE("ready ")))
		text = slice_make(text.p + 6, text.n - 6);
	else
		text.n -= 6;
	assert_string_equal(arena_cstr(&w->f.arena, text), expected);
}

static void missed_events_come_first(void **state)
{
	const char *at, *later;
	struct world w;
	struct ear x;

	(void)state;
	open_world(&w, design);
	put(&w.f, "Post", "id=p0 author=ann open=true");
	listen_to(&w, NULL, "posts", "author=ann", NULL, &x);
	at = last_id(&w, &x);
	stop_listening(&x);
	for (int i = 0; i < 5; i++)
		put(&w.f, "Post", i % 2 ? "id=p1 author=ann open=true score=1" : "id=p2 author=ann open=false");
	put(&w.f, "Post", "id=p1 author=ann open=true score=2");
	listen_to(&w, NULL, "posts", "author=ann", at, &x);
	assert_heard_but_ready(&w, &x, "added p1 changed p1", &later);
	stop_listening(&x);
	listen_to(&w, NULL, "posts", "author=ann", later, &x);
	assert_heard(&w, &x, "ready");
	put(&w.f, "Post", "id=p3 author=ann open=true");
	assert_heard(&w, &x, "added p3");
	stop_listening(&x);
	for (const char **p =
		     (const char *[]){ "1", "0", "18446744073709551615", "99999999999999999999999", "-1", "abc", NULL };
	     *p; p++) {
		listen_to(&w, NULL, "posts", "author=ann", *p, &x);
		assert_heard(&w, &x, "reset");
		stop_listening(&x);
	}
	close_world(&w);
}

static void a_watcher_that_missed_too_much_gets_a_reset(void **state)
{
	char text[200];
	const char *at;
	struct world w;
	struct ear x;

	(void)state;
	open_world(&w, design);
	listen_to(&w, NULL, "posts", "author=ann", NULL, &x);
	at = last_id(&w, &x);
	stop_listening(&x);
	for (int i = 0; i < 1500; i++) {
		snprintf(text, sizeof(text), "id=p%d author=ann open=true day=%0150d", i, i);
		put(&w.f, "Post", text);
	}
	listen_to(&w, NULL, "posts", "author=ann", at, &x);
	assert_heard(&w, &x, "reset");
	put(&w.f, "Note", "id=n author=ann");
	put(&w.f, "Post", "id=p9 author=ann open=false");
	assert_heard(&w, &x, "removed p9");
	stop_listening(&x);
	close_world(&w);
}

static void watchers_that_see_the_same_share_a_topic(void **state)
{
	struct ear a, b, c, d;
	struct world w;

	(void)state;
	open_world(&w, design);
	listen_to(&w, NULL, "notes", "author=ann", NULL, &a);
	listen_to(&w, "bob", "notes", "author=ann", NULL, &b);
	assert_ptr_equal(a.w.topic, b.w.topic); /* nobody in particular is asked for */
	listen_to(&w, "bob", "posts", "author=ann", NULL, &c);
	listen_to(&w, "ann", "posts", "author=ann", NULL, &d);
	assert_ptr_not_equal(c.w.topic, d.w.topic);
	put(&w.f, "Note", "id=n1 author=ann");
	assert_heard(&w, &a, "ready added n1");
	assert_heard(&w, &b, "ready added n1");
	stop_listening(&a);
	put(&w.f, "Note", "id=n2 author=ann");
	assert_heard(&w, &b, "added n2");
	stop_listening(&b);
	stop_listening(&c);
	stop_listening(&d);
	close_world(&w);
}

static void events_before_a_watcher_is_adopted_wait_for_it(void **state)
{
	struct world w;
	struct run *r;
	struct ear x, y;

	(void)state;
	open_world(&w, design);
	listen_to(&w, NULL, "notes", "author=ann", NULL, &y);
	r = app_fixture_run(&w.f, NULL);
	assert_true(try_listen(w.live, r, &w.target, "notes", "author=ann", NULL, &x));
	put(&w.f, "Note", "id=n1 author=ann");
	while (!live_is_idle(w.live))
		sched_yield();
	adopt(&x); /* the place has n1 on its way, too */
	put(&w.f, "Note", "id=n2 author=ann");
	assert_heard(&w, &x, "ready added n1 added n2");
	assert_heard(&w, &y, "ready added n1 added n2");
	stop_listening(&x);
	stop_listening(&y);
	/* one who is never adopted */
	assert_true(try_listen(w.live, r, &w.target, "notes", "author=ann", NULL, &x));
	put(&w.f, "Note", "id=n3 author=ann");
	while (!live_is_idle(w.live))
		sched_yield();
	stop_listening(&x);
	close_world(&w);
}

/* ---- many at once ---- */

#define LISTENERS 4
#define WRITES    400

struct listener {
	struct world *w;
	pthread_t thread;
	unsigned seed;
	int at; /* the next number */
	int wrong;
	char last[32];
	atomic_uint sessions;
};

/* Notes are numbered: a watcher that resumes with its last id gets each number once, in order. */
static void count_up(struct listener *l, struct ear *x)
{
	const char *at = x->text.p, *end = x->text.p + x->text.n, *id;

	while (at && at < end) {
		const char *stop = memmem(at, (size_t)(end - at), "\n\n", 2);
		const char *number = memmem(at, (size_t)(stop - at), "\"id\":\"n", 7);

		id = memmem(at, (size_t)(stop - at), "\nid: ", 5);
		if (memmem(at, (size_t)(stop - at), "event: reset", 12))
			l->wrong++;
		if (number) {
			int n = (int)strtol(number + 7, NULL, 10);

			l->wrong += l->at >= 0 && n != l->at;
			l->at = n + 1;
		}
		if (id)
			snprintf(l->last, sizeof(l->last), "%.*s", (int)strspn(id + 5, "0123456789"), id + 5);
		at = stop + 2;
	}
	x->text.n = 0;
}

static void *listen_again_and_again(void *arg)
{
	struct listener *l = arg;
	struct target target;

	target_init(&target);
	while (l->at < WRITES) {
		struct backend *b = backend_local_new(l->w->f.api);
		struct arena a;
		struct ear x;

		arena_init(&a);
		ARENA_TRY(&a, {
			struct run r = { .app = &l->w->f.app };

			r.design = l->w->f.design;
			r.backend = b;
			r.arena = &a;
			r.now_ms = APP_FIXTURE_NOW;
			if (!try_listen(l->w->live, &r, &target, "notes", "author=ann", l->last, &x))
				abort();
		}, { abort(); });
		for (unsigned i = rand_r(&l->seed) % 50; i; i--)
			sched_yield();
		if (!live_adopt(&x.w, take, &x))
			abort();
		x.next = x.w.place->first;
		x.w.place->first = &x;
		for (unsigned i = rand_r(&l->seed) % 200; i; i--) {
			pump(&target);
			sched_yield();
		}
		count_up(l, &x);
		stop_listening(&x);
		pump(&target);
		arena_release(&a);
		backend_free(b);
		l->sessions++;
	}
	return NULL;
}

static void reconnecting_watchers_miss_nothing(void **state)
{
	struct listener list[LISTENERS];
	struct world w;
	struct ear x;
	char text[64];

	(void)state;
	open_world(&w, design);
	listen_to(&w, NULL, "notes", "author=ann", NULL, &x);
	for (unsigned i = 0; i < LISTENERS; i++) {
		list[i] = (struct listener){ .w = &w, .seed = i + 1 };
		snprintf(list[i].last, sizeof(list[i].last), "%s", last_id(&w, &x));
	}
	stop_listening(&x);
	for (unsigned i = 0; i < LISTENERS; i++)
		assert_int_equal(pthread_create(&list[i].thread, NULL, listen_again_and_again, &list[i]), 0);
	for (int i = 0; i < WRITES; i++) {
		unsigned before = atomic_load(&list[i % LISTENERS].sessions);

		snprintf(text, sizeof(text), "id=n%d author=ann", i);
		put(&w.f, "Note", text);
		while (i % 20 == 0 && atomic_load(&list[i % LISTENERS].sessions) == before)
			sched_yield(); /* so that they come and go meanwhile */
	}
	for (unsigned i = 0; i < LISTENERS; i++) {
		pthread_join(list[i].thread, NULL);
		assert_int_equal(list[i].wrong, 0);
	}
	close_world(&w);
}

/* ---- without memory ---- */

static void running_out_of_memory_leaves_no_watcher_behind(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, design);
	put(&w.f, "Note", "id=n0 author=ann");
	for (long n = 0;; n++) {
		const struct access *posts = design_access(w.f.design, SLICE("posts"));
		struct run r = *app_fixture_run(&w.f, "bob");
		struct live_ask ask = { posts, NULL, SLICE("5"), &w.target.live };
		volatile bool ok = false;
		struct row given;
		struct arena a, params; /* the latter grows, too: the watcher keeps a copy of what was given */
		struct ear x;

		memset(&x, 0, sizeof(x));
		arena_init(&x.arena); /* what take() uses, and never does here */
		arena_init(&params);
		r.arena = &params;
		give(&r, posts, "author=ann", &given);
		ask.params = &given;
		arena_init(&a);
		r.arena = &a;
		alloc_fail_after(n);
		ARENA_TRY(&params, {
			ARENA_TRY(&a, {
				buf_init(&x.text, &a);
				ok = live_watch(w.live, &r, &ask, &x.w, &x.text) && live_adopt(&x.w, take, &x);
			}, { ok = false; });
		}, { ok = false; });
		alloc_fail_never();
		live_leave(&x.w);
		arena_release(&a);
		arena_release(&params);
		if (ok)
			break;
		assert_true(n < 2000);
	}
	assert_true(live_is_idle(w.live));
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(added_changed_and_removed_items_are_reported),
		cmocka_unit_test(a_watcher_gets_only_items_it_may_read),
		cmocka_unit_test(hidden_and_private_attributes_are_not_told_nor_that_they_changed),
		cmocka_unit_test(filters_windows_and_walks_decide_as_in_the_list),
		cmocka_unit_test(a_window_follows_the_clock),
		cmocka_unit_test(single_items_merges_and_lists_of_several_kinds),
		cmocka_unit_test(events_of_a_list_with_then_have_the_fetched_item),
		cmocka_unit_test(a_list_that_may_not_be_read_may_not_be_watched),
		cmocka_unit_test(a_session_that_ends_cuts_its_watchers_off_at_once),
		cmocka_unit_test(missed_events_come_first),
		cmocka_unit_test(a_watcher_that_missed_too_much_gets_a_reset),
		cmocka_unit_test(watchers_that_see_the_same_share_a_topic),
		cmocka_unit_test(events_before_a_watcher_is_adopted_wait_for_it),
		cmocka_unit_test(reconnecting_watchers_miss_nothing),
		cmocka_unit_test(running_out_of_memory_leaves_no_watcher_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
