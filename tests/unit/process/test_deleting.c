/* Deletions that take time, in every order: a creation, another deletion, the keeper or the end of the process comes
 * before each request that the first one makes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "effect_helper.h"
#include "app/db/beside.h"
#include "app/write/deleting_internal.h"

#define FEW  4  /* children that go with their parent in one transaction */
#define MANY 27 /* that do not */

static const char design[] =
	"entities:\n"
	"  Group:\n"
	"    path: /groups/<name>\n"
	"    attributes: {name: 'string, required, fixed', text: string, members: counter}\n"
	"    keys: {PK: 'GROUP#<name>', SK: GROUP}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"    delete: {then remove: [members of group]}\n"
	"  User:\n"
	"    path: /users/<id>\n"
	"    attributes: {id: 'string, required, fixed', groups: counter}\n"
	"    keys: {PK: 'USER#<id>', SK: USER}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"    delete: {then remove: [groups of user]}\n"
	"  Member:\n"
	"    path: /groups/<group>/members/<who>\n"
	"    attributes: {group: 'string, required, fixed', who: 'string, required, fixed', expires_at: epoch}\n"
	"    keys: {PK: 'GROUP#<group>', SK: 'MEMBER#<who>', GSI1PK: 'BY#<who>', GSI1SK: 'GROUP#<group>'}\n"
	"    counts: [Group(group).members, User(who).groups]\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Wish:\n"
	"    path: /wishes/<name>\n"
	"    attributes: {name: 'string, required, fixed'}\n"
	"    keys: {PK: 'WISH#<name>', SK: WISH}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"access:\n"
	"  members of group: {query: table, where: {PK: 'GROUP#<name>', SK: begins with MEMBER#}}\n"
	"  groups of user: {query: GSI1, where: {GSI1PK: 'BY#<id>'}}\n"
	"processors:\n"
	"  fulfil:\n"
	"    on: Wish created\n"
	"    put: Group\n"
	"    with: {name: name, text: 'wished for'}\n"
	"  forget:\n"
	"    on: Wish deleted\n"
	"    delete: Group(name)\n";

/* ---- a request in the middle ---- */

/* a backend that does something else before its n-th request, stops answering from it on, or loses its reply */
struct between {
	struct backend backend;
	struct backend *inner;
	struct world *world;
	void (*other)(struct world *w);
	int at, calls, transactions, puts;
	bool stops, loses;
};

static void between_call(struct backend *b, struct arena *a, const char *operation, struct slice text,
			 struct backend_reply *reply)
{
	struct between *x = (struct between *)b;
	int n = x->calls++;

	x->transactions += !strcmp(operation, "TransactWriteItems");
	x->puts += !strcmp(operation, "PutItem");
	if (x->stops && n >= x->at) {
		*reply = (struct backend_reply){ .status = 500, .error = SLICE("InternalServerError") };
		return;
	}
	if (x->other && n == x->at)
		x->other(x->world);
	backend_call(x->inner, a, operation, text, reply);
	if (x->loses && n == x->at)
		*reply = (struct backend_reply){ .status = 500, .error = SLICE("InternalServerError") };
}

static struct between between(struct world *w, void (*other)(struct world *w), int at, bool stops)
{
	return (struct between){
		.backend = { between_call }, .inner = w->f.backend, .world = w, .other = other, .at = at, .stops = stops
	};
}

/* ---- what may happen, each as one step ---- */

static struct run *run_with(struct world *w, struct between *b)
{
	struct run *r = app_fixture_run(&w->f, "!");

	r->backend = &b->backend;
	return r;
}

static struct run *plain_run(struct world *w)
{
	return app_fixture_run(&w->f, "!");
}

static void may(struct run *r, bool ok, enum problem_type or)
{
	if (!ok && r->problem.type != or &&r->problem.type != PROBLEM_BUSY && r->problem.type != PROBLEM_INTERNAL)
		fail_msg("%s: %.*s", problem_name(r->problem.type), SLICE_ARG(r->problem.detail));
}

static void delete_group(struct run *r)
{
	may(r, try_delete(r, "Group", "go", NULL), PROBLEM_NOT_FOUND);
}

/* Creates it again and lets some in, as far as it may: those that were let in must be there at the end. */
static bool let_in[MANY];

static void create_group(struct run *r)
{
	struct write_result out;
	bool ok = try_create(r, "Group", "go", NULL, &out);

	may(r, ok, PROBLEM_EXISTS);
}

static void join(struct world *w, struct run *r)
{
	for (int i = 0; i < 3; i++) {
		char path[16];
		struct write_result out;

		snprintf(path, sizeof(path), "go/w%d", i);
		r->problem = (struct problem){ 0 };
		if (try_create(r, "Member", path, NULL, &out))
			let_in[i] = true;
		else
			may(r, false, r->problem.type == PROBLEM_EXISTS ? PROBLEM_EXISTS : PROBLEM_NOT_FOUND);
	}
	(void)w;
}

static void other_create(struct world *w)
{
	struct run *r = plain_run(w);

	create_group(r);
	if (r->problem.type == PROBLEM_NONE)
		join(w, r);
}

static void other_delete(struct world *w)
{
	struct run *r = plain_run(w);

	delete_group(r);
	if (r->problem.type == PROBLEM_NONE)
		memset(let_in, 0, sizeof(let_in));
}

static void other_delete_and_create(struct world *w)
{
	other_delete(w);
	other_create(w);
}

/* Another deletion under the same name, which takes as long as the first. */
static void other_create_and_delete(struct world *w)
{
	struct run *r = plain_run(w);
	struct write_result out;

	create_group(r);
	for (int i = 0; i < MANY && r->problem.type == PROBLEM_NONE; i++) {
		char path[16];

		snprintf(path, sizeof(path), "go/w%d", i);
		may(r, try_create(r, "Member", path, NULL, &out), PROBLEM_NOT_FOUND);
	}
	other_delete(w);
}

static void other_user(struct world *w)
{
	struct run *r = plain_run(w);
	struct write_result out;

	may(r, try_delete(r, "User", "w2", NULL), PROBLEM_NOT_FOUND);
	let_in[2] = false;
	r->problem = (struct problem){ 0 };
	may(r, try_create(r, "User", "w2", NULL, &out), PROBLEM_EXISTS);
}

static void keeper(struct run *r, struct world *w)
{
	struct change *list;
	size_t n = world_all(w, &list);

	may(r, keeper_follow(r, keeper_roles_new(r->arena, r->design), list, n, SLICE("")), PROBLEM_BUSY);
}

static void other_keeper(struct world *w)
{
	keeper(plain_run(w), w);
}

static void first_delete(struct world *w, struct run *r)
{
	(void)w;
	delete_group(r);
}

static void first_keeper(struct world *w, struct run *r)
{
	other_delete(w);
	keeper(r, w);
}

static void first_create(struct world *w, struct run *r)
{
	other_delete(w);
	create_group(r);
	if (r->problem.type == PROBLEM_NONE)
		join(w, r);
}

static void first_sweep(struct world *w, struct run *r)
{
	int64_t next_ms;

	other_delete(w);
	r->now_ms += 60000;
	may(r, deleting_sweep(r, &next_ms), PROBLEM_BUSY);
}

/* ---- what must hold ---- */

static size_t markers(struct world *w)
{
	static const char *const kinds[] = { "DELETING#Group", "DELETING#User", "DELETING#Thread", "DELETING#Comment",
					     "DELETING#Hall",  "DELETING#Club", "DELETING#Folder" };
	struct run *r = plain_run(w);
	size_t all = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct dyn_page page;

		must(r, beside_query(r, slice_str(kinds[i]), 100, VALUE_ABSENT, &page), "markers");
		all += page.count;
	}
	return all;
}

/* Every counter equals its recount, and no row refers to a missing item. */
static void assert_right(struct world *w, const char *how, int at)
{
	static struct value items[500];
	size_t n = scan(&w->f, items, 500);
	bool group = is_stored(&w->f, "GROUP#go", "GROUP");
	int64_t members = 0;

	for (size_t i = 0; i < n; i++) {
		struct value sk = value_get(items[i], SLICE("SK"));

		members += slice_starts(value_bytes(sk), SLICE("MEMBER#"));
		if (slice_is(value_bytes(sk), "USER")) {
			char by[64];
			int64_t groups = 0;

			snprintf(by, sizeof(by), "BY#%.*s", SLICE_ARG(value_bytes(value_get(items[i], SLICE("id")))));
			for (size_t k = 0; k < n; k++)
				groups += slice_is(value_bytes(value_get(items[k], SLICE("GSI1PK"))), by);
			if (number(items[i], "groups") != groups)
				fail_msg("%s, before request %d: %s has %lld groups, and counts %lld", how, at, by + 3,
					 (long long)groups, (long long)number(items[i], "groups"));
		}
	}
	if (!group && members)
		fail_msg("%s, before request %d: %lld are members of nothing", how, at, (long long)members);
	if (group && number(stored(&w->f, "GROUP#go", "GROUP"), "members") != members)
		fail_msg("%s, before request %d: %lld members, and counts %lld", how, at, (long long)members,
			 (long long)number(stored(&w->f, "GROUP#go", "GROUP"), "members"));
	for (int i = 0; i < 3; i++) {
		char sk[32];

		snprintf(sk, sizeof(sk), "MEMBER#w%d", i);
		if (group && let_in[i] && !is_stored(&w->f, "GROUP#go", sk))
			fail_msg("%s, before request %d: w%d was let in and is not there", how, at, i);
	}
	if (!group || value_present(value_get(stored(&w->f, "GROUP#go", "GROUP"), SLICE("text"))))
		return; /* the old one has a text */
	for (size_t i = 0; i < n; i++) {
		struct slice sk = value_bytes(value_get(items[i], SLICE("SK")));

		if (slice_starts(sk, SLICE("MEMBER#")) && !slice_is(sk, "MEMBER#w0") && !slice_is(sk, "MEMBER#w1") &&
		    !slice_is(sk, "MEMBER#w2"))
			fail_msg("%s, before request %d: %.*s of the old group is in the new", how, at, SLICE_ARG(sk));
	}
}

static struct value text(struct run *r, const char *prefix, const char *id)
{
	return value_make_s(r->arena, arena_printf(r->arena, "%s%s", prefix, id));
}

static struct dyn_write put(struct run *r, const struct value_member *m, size_t n)
{
	return (struct dyn_write){ .kind = DYN_PUT, .item = value_make_map(r->arena, m, n) };
}

/* As creations would have left it, at once: this is done very often. */
static void fill_group(struct world *w, int members)
{
	struct dyn_write writes[2 * MANY + 1];
	struct dyn_refusal refusals[2 * MANY + 1];
	struct run *r;
	size_t n = 0;

	app_set_keeper_runs(&w->f.app, true);
	r = plain_run(w);
	writes[n++] = put(r,
			  (struct value_member[]){ { SLICE("PK"), text(r, "GROUP#", "go") },
						   { SLICE("SK"), text(r, "GROUP", "") },
						   { SLICE("name"), text(r, "go", "") },
						   { SLICE("text"), text(r, "old", "") },
						   { SLICE("members"), value_make_i64(r->arena, members) } },
			  5);
	for (int i = 0; i < members; i++) {
		char id[16];

		snprintf(id, sizeof(id), "w%d", i);
		writes[n++] = put(r,
				  (struct value_member[]){ { SLICE("PK"), text(r, "USER#", id) },
							   { SLICE("SK"), text(r, "USER", "") },
							   { SLICE("id"), text(r, "", id) },
							   { SLICE("groups"), value_make_i64(r->arena, 1) } },
				  4);
		writes[n++] = put(r,
				  (struct value_member[]){ { SLICE("PK"), text(r, "GROUP#", "go") },
							   { SLICE("SK"), text(r, "MEMBER#", id) },
							   { SLICE("group"), text(r, "go", "") },
							   { SLICE("who"), text(r, "", id) },
							   { SLICE("GSI1PK"), text(r, "BY#", id) },
							   { SLICE("GSI1SK"), text(r, "GROUP#", "go") } },
				  6);
	}
	assert_int_equal(dyn_write(r, writes, n, SLICE(""), refusals), DYN_DONE);
	memset(let_in, 0, sizeof(let_in));
}

static void open_group(struct world *w, int members)
{
	world_open(w, design);
	fill_group(w, members);
}

struct first {
	const char *name;
	void (*step)(struct world *w, struct run *r);
};
static const struct first firsts[] = {
	{ "deletion", first_delete },
	{ "keeper", first_keeper },
	{ "creation", first_create },
	{ "sweep", first_sweep },
};

/* Leftover members of a deleted group have a marker that blocks the next group of the name. */
static void assert_covered(struct world *w, const char *how, int at)
{
	if (!is_stored(&w->f, "GROUP#go", "GROUP") && count_keys(w, "GROUP#go") && !markers(w))
		fail_msg("%s, before request %d: members of a group that is gone, and no marker says so", how, at);
}

/* True: the first one has made fewer requests than that. */
static bool play(const struct first *first, const char *second, void (*other)(struct world *w), int at, int members,
		 bool stops)
{
	char how[80];
	struct between b;
	struct world w;
	bool past;

	snprintf(how, sizeof(how), "%s, then %s, %d members", first->name, second, members);
	open_group(&w, members);
	b = between(&w, other, at, stops);
	first->step(&w, run_with(&w, &b));
	past = b.calls <= at;
	assert_covered(&w, how, at);
	/* A deletion in which something else happens first may have been answered or not; now everything settles. */
	other_keeper(&w);
	other_keeper(&w);
	assert_right(&w, how, at);
	assert_int_equal(markers(&w), 0);
	/* Whatever came before, now it can be made again. */
	other_delete_and_create(&w);
	assert_true(is_stored(&w.f, "GROUP#go", "GROUP"));
	assert_right(&w, how, at);
	other_keeper(&w);
	assert_right(&w, how, at);
	world_close(&w);
	return past;
}

/* When there are few, nothing is left for others to do after a deletion. Opening a database takes most of the time. */
static void play_all(const char *second, void (*other)(struct world *w), bool stops)
{
	for (int at = 0; !play(&firsts[0], second, other, at, FEW, stops); at++)
		;
	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++)
		for (int at = 0; !play(&firsts[i], second, other, at, MANY, stops); at++)
			;
}

static void a_creation_comes_between_any_two_requests(void **state)
{
	(void)state;
	play_all("creation", other_create, false);
}

static void a_deletion_comes_between_any_two_requests(void **state)
{
	(void)state;
	play_all("deletion", other_delete, false);
}

static void a_deletion_and_a_creation_come_between_any_two_requests(void **state)
{
	(void)state;
	play_all("deletion and creation", other_delete_and_create, false);
}

static void a_creation_and_a_deletion_come_between_any_two_requests(void **state)
{
	(void)state;
	play_all("creation and deletion", other_create_and_delete, false);
}

static void another_cascade_over_the_same_rows_comes_between_any_two_requests(void **state)
{
	(void)state;
	play_all("user", other_user, false);
}

static void the_keeper_comes_between_any_two_requests(void **state)
{
	(void)state;
	play_all("keeper", other_keeper, false);
}

static void the_end_comes_before_any_request(void **state)
{
	(void)state;
	play_all("end", NULL, true);
}

/* ---- what a write is made of ---- */

static struct between create_counted(struct world *w, const char *entity, const char *path)
{
	struct between b = between(w, NULL, 0, false);
	struct run *r = run_with(w, &b);
	struct write_result out;

	must(r, try_create(r, entity, path, NULL, &out), entity);
	return b;
}

static void only_what_can_meet_a_marker_asks_for_one(void **state)
{
	struct world w;
	struct between b;
	struct run *r;
	struct write_result out;

	(void)state;
	world_open(&w,
		   "entities:\n"
		   "  Plain:\n"
		   "    path: /plain/<id>\n    attributes: {id: 'string, required, fixed'}\n    keys: {PK: 'P#<id>', SK: P}\n"
		   "    allow: {read, create, update, delete: anyone}\n"
		   "  Made:\n"
		   "    path: /made/<id>\n    attributes: {id: 'string, id, fixed', text: string}\n    keys: {PK: 'M#<id>', SK: M}\n"
		   "    allow: {read, create, update, delete: anyone}\n"
		   "    delete: {then remove: [below]}\n"
		   "  Below:\n"
		   "    path: /made/<up>/below/<id>\n    attributes: {up: 'string, required', id: 'string, required'}\n"
		   "    keys: {PK: 'M#<up>', SK: 'B#<id>'}\n    allow: {read, create, update, delete: anyone}\n"
		   "access:\n  below: {query: table, where: {PK: 'M#<id>', SK: begins with B#}}\n");
	b = create_counted(&w, "Plain", "x");
	assert_int_equal(b.calls, 1);
	assert_int_equal(b.puts, 1);
	b = create_counted(&w, "Made", NULL); /* the id is new: nobody was deleted under it */
	assert_int_equal(b.calls, 1);
	assert_int_equal(b.puts, 1);
	b = create_counted(&w, "Made", "x");
	assert_int_equal(b.calls, 1);
	assert_int_equal(b.transactions, 1);
	b = between(&w, NULL, 0, false);
	r = run_with(&w, &b);
	must(r, try_update(r, "Made", "x", "{\"text\":\"y\"}", NULL, &out), "update");
	assert_int_equal(b.transactions, 0);
	world_close(&w);
}

/* ---- a processor that creates ---- */

static void a_processor_that_creates_waits_for_the_cascade_and_does_it_once(void **state)
{
	struct world w;

	(void)state;
	open_group(&w, MANY);
	other_delete(&w);
	assert_int_equal(markers(&w), 1);
	created(&w.f, "!", "Wish", "go", NULL);
	assert_int_equal(world_process(&w, "fulfil"), 1);
	assert_text(stored(&w.f, "GROUP#go", "GROUP"), "text", "wished for");
	assert_int_equal(world_process(&w, "fulfil"), 0);
	other_keeper(&w);
	assert_right(&w, "processor", 0);
	world_close(&w);
}

static void a_processor_that_deletes_leaves_a_marker_with_its_position(void **state)
{
	struct world w;

	(void)state;
	open_group(&w, MANY);
	created(&w.f, "!", "Wish", "go", NULL);
	deleted(&w.f, "!", "Wish", "go");
	assert_int_equal(world_process(&w, "forget"), 1);
	assert_false(is_stored(&w.f, "GROUP#go", "GROUP"));
	assert_int_equal(markers(&w), 1);
	other_create(&w);
	assert_int_equal(world_process(&w, "forget"), 0);
	other_keeper(&w);
	assert_true(is_stored(&w.f, "GROUP#go", "GROUP"));
	assert_right(&w, "processor", 0);
	world_close(&w);
}

static int64_t a_minute_later(void *ctx)
{
	(void)ctx;
	return APP_FIXTURE_NOW + 60000;
}

static void the_server_finishes_abandoned_markers(void **state)
{
	static const struct clock later = { .now_ms = a_minute_later };
	struct world w;

	(void)state;
	open_group(&w, MANY);
	w.f.app.gather = gather_new();
	other_delete(&w);
	assert_int_equal(markers(&w), 1);
	w.f.app.clock = &later;
	app_tick(&w.f.app, w.f.backend, false);
	assert_int_equal(markers(&w), 0);
	assert_right(&w, "tick", 0);
	gather_free(w.f.app.gather);
	world_close(&w);
}

/* ---- knowing whether all deletions are complete ---- */

static void sweep(struct world *w)
{
	int64_t next_ms;

	assert_true(deleting_sweep(plain_run(w), &next_ms));
}

static void expect_unsettled(struct world *w)
{
	assert_false(app_deletions_settled(&w->f.app));
}

static void a_pending_deletion_is_known_while_a_sweep_reads(void **state)
{
	int calls = 1;

	(void)state;
	for (int at = 0; at < calls; at++) {
		struct world w = { 0 };
		struct between b = between(&w, expect_unsettled, at, false);
		int64_t next_ms;

		world_open(&w, design);
		fill_group(&w, MANY);
		b.inner = w.f.backend;
		sweep(&w);
		assert_true(app_deletions_settled(&w.f.app));
		deleted(&w.f, "!", "Group", "go");
		expect_unsettled(&w);
		assert_true(deleting_sweep(run_with(&w, &b), &next_ms));
		assert_int_equal(markers(&w), 1); /* too young: left to the keeper */
		expect_unsettled(&w);
		calls = b.calls;
		world_close(&w);
	}
	assert_true(calls >= 2);
}

/* A sweep comes before each request of a deletion, whose reply may be lost. */
static void a_deletion_is_known_when_a_sweep_looked_before_its_marker_was_there(void **state)
{
	int calls = 1;

	(void)state;
	for (int at = 0; at < 2 * calls; at++) {
		struct world w = { 0 };
		struct between b = between(&w, sweep, at / 2, false);

		world_open(&w, design);
		fill_group(&w, MANY);
		b.inner = w.f.backend;
		b.loses = at % 2;
		delete_group(run_with(&w, &b));
		if (markers(&w))
			expect_unsettled(&w);
		calls = b.calls > calls ? b.calls : calls;
		world_close(&w);
	}
}

/* ---- keys of markers ---- */

static void names_that_look_alike_have_markers_of_their_own(void **state)
{
	static const char *const names[] = { "a", "a&name=b", "a%26name=b", "A", "a a", "=", ":1", "%", "\xC3\xA9" };
	struct world w;
	char longest[2][701];

	(void)state;
	world_open(&w, design);
	app_set_keeper_runs(&w.f.app, true);
	memset(longest, 'x', sizeof(longest));
	longest[0][700] = longest[1][700] = 0;
	longest[1][699] = 'y';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) + 2; i++) {
		size_t last = sizeof(names) / sizeof(names[0]);
		const char *name = i < last ? names[i] : longest[i - last];

		created(&w.f, "!", "Group", name, NULL);
		for (int k = 0; k < MANY; k++) {
			struct run *r = plain_run(&w);
			char id[16];

			snprintf(id, sizeof(id), "w%d", k);
			if (!i)
				created(&w.f, "!", "User", id, NULL);
			created(&w.f, "!", "Member", arena_cstr(r->arena, arena_printf(r->arena, "%s/%s", name, id)),
				NULL);
		}
		deleted(&w.f, "!", "Group", name);
		assert_int_equal(markers(&w), i + 1);
	}
	created(&w.f, "!", "Group", "b", NULL); /* helps nobody */
	assert_int_equal(markers(&w), sizeof(names) / sizeof(names[0]) + 2);
	created(&w.f, "!", "Group", longest[1], NULL);
	assert_int_equal(markers(&w), sizeof(names) / sizeof(names[0]) + 1);
	world_close(&w);
}

/* ---- below one another ---- */

static const char threads[] =
	"entities:\n"
	"  Thread:\n"
	"    path: /threads/<id>\n    attributes: {id: 'string, required, fixed', votes: counter, comments: counter}\n"
	"    keys: {PK: 'T#<id>', SK: T}\n    allow: {read, create, update, delete: anyone}\n"
	"    delete: {then remove: [comments of thread]}\n"
	"  Comment:\n"
	"    path: /threads/<thread>/comments/<id>\n"
	"    attributes: {thread: 'string, required, fixed', id: 'string, required, fixed', votes: counter}\n"
	"    keys: {PK: 'T#<thread>', SK: 'C#<id>'}\n    allow: {read, create, update, delete: anyone}\n"
	"    counts: [Thread(thread).comments]\n"
	"    delete: {then remove: [votes on comment]}\n"
	"  Vote:\n"
	"    path: /threads/<thread>/comments/<id>/votes/<who>\n"
	"    attributes: {thread: 'string, required, fixed', id: 'string, required, fixed', who: 'string, required, fixed'}\n"
	"    keys: {PK: 'V#<thread>#<id>', SK: '<who>'}\n    allow: {read, create, update, delete: anyone}\n"
	"    counts: ['Comment(thread, id).votes', Thread(thread).votes]\n"
	"access:\n"
	"  comments of thread: {query: table, where: {PK: 'T#<id>', SK: begins with C#}}\n"
	"  votes on comment: {query: table, where: {PK: 'V#<thread>#<id>'}}\n";

static void open_thread(struct world *w, int votes)
{
	world_open(w, threads);
	app_set_keeper_runs(&w->f.app, true);
	created(&w->f, "!", "Thread", "t", NULL);
	created(&w->f, "!", "Comment", "t/c", NULL);
	for (int i = 0; i < votes; i++) {
		char path[32];

		snprintf(path, sizeof(path), "t/c/w%d", i);
		created(&w->f, "!", "Vote", path, NULL);
	}
}

static void indirect_dependents_do_not_decrement_a_later_item(void **state)
{
	for (int order = 0; order < 4; order++) {
		struct world w;

		(void)state;
		open_thread(&w, MANY);
		if (order & 1)
			deleted(&w.f, "!", "Comment", "t/c");
		deleted(&w.f, "!", "Thread", "t");
		if (order & 2)
			other_keeper(&w);
		created(&w.f, "!", "Thread", "t", NULL);
		assert_int_equal(count_keys(&w, "V#"), 0);
		assert_int_equal(number(stored(&w.f, "T#t", "T"), "votes"), 0);
		created(&w.f, "!", "Comment", "t/c", NULL);
		created(&w.f, "!", "Vote", "t/c/w1", NULL);
		other_keeper(&w);
		assert_int_equal(number(stored(&w.f, "T#t", "T"), "votes"), 1);
		assert_int_equal(number(stored(&w.f, "T#t", "T"), "comments"), 1);
		assert_int_equal(number(stored(&w.f, "T#t", "C#c"), "votes"), 1);
		assert_int_equal(count_keys(&w, "V#"), 1);
		assert_int_equal(markers(&w), 0);
		world_close(&w);
	}
}

static const char houses[] =
	"entities:\n"
	"  House:\n"
	"    path: /houses/<id>\n    attributes: {id: 'string, required, fixed'}\n"
	"    keys: {PK: 'HOUSE#<id>', SK: HOUSE}\n    allow: {read, create, update, delete: anyone}\n"
	"    delete: {then remove: [rooms of house]}\n"
	"  Room:\n"
	"    path: /houses/<house>/rooms/<id>\n    attributes: {house: 'string, required, fixed', id: 'string, required, fixed'}\n"
	"    keys: {PK: 'ROOMS#<house>', SK: '<id>'}\n    allow: {read, create, update, delete: anyone}\n"
	"    requires: [House(house)]\n"
	"    delete: {then remove: [chairs in room]}\n"
	"  Chair:\n" /* counted nowhere */
	"    path: /houses/<house>/rooms/<id>/chairs/<number>\n"
	"    attributes: {house: 'string, required, fixed', id: 'string, required, fixed', number: 'string, required, fixed'}\n"
	"    keys: {PK: 'CHAIRS#<house>', SK: '<id>#<number>'}\n    allow: {read, create, update, delete: anyone}\n"
	"    requires: ['Room(house, id)']\n"
	"access:\n"
	"  rooms of house: {query: table, where: {PK: 'ROOMS#<id>'}}\n"
	"  chairs in room: {query: table, where: {PK: 'CHAIRS#<house>', SK: 'begins with <id>#'}}\n";

/* A list of all chairs of the house would show them. */
static void indirect_dependents_are_not_seen_under_a_later_item(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, houses);
	app_set_keeper_runs(&w.f.app, true);
	created(&w.f, "!", "House", "h", NULL);
	created(&w.f, "!", "Room", "h/r", NULL);
	for (int i = 0; i < MANY; i++) {
		char path[16];

		snprintf(path, sizeof(path), "h/r/%d", i);
		created(&w.f, "!", "Chair", path, NULL);
	}
	deleted(&w.f, "!", "House", "h");
	assert_int_equal(count_keys(&w, "CHAIRS#h"), MANY);
	created(&w.f, "!", "House", "h", NULL);
	assert_int_equal(count_keys(&w, "CHAIRS#h"), 0);
	world_close(&w);
}

static const char likes[] =
	"entities:\n"
	"  User:\n"
	"    path: /users/<id>\n    attributes: {id: 'string, required, fixed'}\n"
	"    keys: {PK: 'USER#<id>', SK: USER}\n    allow: {read, create, update, delete: anyone}\n"
	"    delete: {then remove: [likes of user]}\n"
	"  Thread:\n" /* what was liked stays liked when it goes */
	"    path: /threads/<id>\n    attributes: {id: 'string, required, fixed', likes: counter}\n"
	"    keys: {PK: 'THREAD#<id>', SK: THREAD}\n    allow: {read, create, update, delete: anyone}\n"
	"    delete: {then remove: [notes on thread]}\n"
	"  Note:\n"
	"    path: /threads/<thread>/notes/<id>\n    attributes: {thread: 'string, required, fixed', id: 'string, required, fixed'}\n"
	"    keys: {PK: 'NOTES#<thread>', SK: '<id>'}\n    allow: {read, create, update, delete: anyone}\n"
	"  Like:\n"
	"    path: /threads/<thread>/likes/<who>\n    attributes: {thread: 'string, required, fixed', who: 'string, required, fixed'}\n"
	"    keys: {PK: 'LIKES#<who>', SK: '<thread>'}\n    allow: {read, create, update, delete: anyone}\n"
	"    counts: [Thread(thread).likes]\n"
	"access:\n"
	"  likes of user: {query: table, where: {PK: 'LIKES#<id>'}}\n"
	"  notes on thread: {query: table, where: {PK: 'NOTES#<id>'}}\n";

/* Two deletions that have nothing to do with each other, but for a row of the first that counts on the second. */
static void a_cascade_that_is_under_way_counts_nothing_off_a_later_one(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, likes);
	app_set_keeper_runs(&w.f.app, true);
	created(&w.f, "!", "User", "u", NULL);
	for (int i = 0; i < MANY; i++) {
		char thread[16], like[24];

		snprintf(thread, sizeof(thread), "t%d", i);
		snprintf(like, sizeof(like), "%s/u", thread);
		created(&w.f, "!", "Thread", thread, NULL);
		created(&w.f, "!", "Like", like, NULL);
	}
	deleted(&w.f, "!", "User", "u");
	assert_int_equal(count_keys(&w, "LIKES#u"), MANY);
	deleted(&w.f, "!", "Thread", "t5");
	created(&w.f, "!", "Thread", "t5", NULL);
	other_keeper(&w);
	assert_int_equal(count_keys(&w, "LIKES#u"), 0);
	assert_int_equal(number(stored(&w.f, "THREAD#t5", "THREAD"), "likes"), 0);
	assert_int_equal(number(stored(&w.f, "THREAD#t6", "THREAD"), "likes"), 0);
	world_close(&w);
}

static const char rows_by_code[] =
	"entities:\n"
	"  Hall:\n"
	"    path: /halls/<id>\n    attributes: {id: 'string, required, fixed', code: 'string, required', seats: counter}\n"
	"    keys: {PK: 'HALL#<id>', SK: HALL}\n    allow: {read, create, update, delete: anyone}\n"
	"    delete: {then remove: [seats of code]}\n"
	"  Seat:\n"
	"    path: /halls/<hall>/seats/<id>\n"
	"    attributes: {hall: 'string, required, fixed', id: 'string, required, fixed', code: 'string, required'}\n"
	"    keys: {PK: 'SEATS#<hall>', SK: '<id>', GSI1PK: 'CODE#<code>', GSI1SK: '<hall>#<id>'}\n"
	"    counts: [Hall(hall).seats]\n    allow: {read, create, update, delete: anyone}\n"
	"access:\n"
	"  seats of code: {query: GSI1, where: {GSI1PK: 'CODE#<code>'}}\n";

/* The pattern finds the rows of both. */
static void rows_of_another_item_with_the_same_values_stay(void **state)
{
	(void)state;
	for (int n = FEW; n <= MANY; n += MANY - FEW) {
		struct world w;

		world_open(&w, rows_by_code);
		app_set_keeper_runs(&w.f.app, true);
		created(&w.f, "!", "Hall", "a", "{\"code\":\"x\"}");
		created(&w.f, "!", "Hall", "b", "{\"code\":\"x\"}");
		for (int i = 0; i < n; i++) {
			char path[16];

			snprintf(path, sizeof(path), "%s/%d", i % 2 ? "a" : "b", i);
			created(&w.f, "!", "Seat", path, "{\"code\":\"x\"}");
		}
		deleted(&w.f, "!", "Hall", "a");
		other_keeper(&w);
		assert_int_equal(count_keys(&w, "SEATS#a"), 0);
		assert_int_equal(count_keys(&w, "SEATS#b"), (n + 1) / 2);
		assert_int_equal(number(stored(&w.f, "HALL#b", "HALL"), "seats"), (n + 1) / 2);
		assert_int_equal(markers(&w), 0);
		world_close(&w);
	}
}

static const char trees[] =
	"entities:\n"
	"  Folder:\n"
	"    path: /folders/<id>\n    attributes: {id: 'string, required, fixed', up: 'string, fixed', size: counter}\n"
	"    keys: {PK: 'FOLDER#<id>', SK: FOLDER}\n    keys when up is present: {GSI1PK: 'IN#<up>', GSI1SK: '<id>'}\n"
	"    counts: [Folder(up).size when up is present]\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"    delete: {then remove: [folders in folder]}\n"
	"access:\n"
	"  folders in folder: {query: GSI1, where: {GSI1PK: 'IN#<id>'}}\n";

static void a_deep_tree_goes_to_its_last_leaf(void **state)
{
	(void)state;
	for (int with_keeper = 0; with_keeper < 2; with_keeper++) {
		struct world w;

		world_open(&w, trees);
		created(&w.f, "!", "Folder", "f0", NULL);
		for (int i = 1; i < 150; i++) {
			char id[16], up[32];

			snprintf(id, sizeof(id), "f%d", i * 7919 % 1000);
			snprintf(up, sizeof(up), "{\"up\":\"f%d\"}", (i - 1) * 7919 % 1000);
			created(&w.f, "!", "Folder", id, up);
		}
		app_set_keeper_runs(&w.f.app, with_keeper);
		deleted(&w.f, "!", "Folder", "f0");
		if (with_keeper) { /* whoever creates it again waits for the last of them */
			struct write_result out;
			struct run *r = plain_run(&w);

			must(r, try_create(r, "Folder", "f0", NULL, &out), "again");
			assert_int_equal(count_keys(&w, "FOLDER#"), 1);
			other_keeper(&w);
			assert_int_equal(number(stored(&w.f, "FOLDER#f0", "FOLDER"), "size"), 0);
		}
		assert_int_equal(count_keys(&w, "FOLDER#"), with_keeper);
		assert_int_equal(markers(&w), 0);
		world_close(&w);
	}
}

/* ---- soft deletions, and values that change ---- */

static const char clubs[] =
	"entities:\n"
	"  Club:\n"
	"    path: /clubs/<id>\n"
	"    attributes: {id: 'string, required, fixed', code: 'string, required', closed: 'boolean, default false', members: counter}\n"
	"    keys: {PK: 'CLUB#<id>', SK: CLUB}\n    allow: {read, create, update, delete: anyone}\n"
	"    delete: {set: {closed: true}, then remove: [members of club]}\n"
	"  Hall:\n"
	"    path: /halls/<id>\n    attributes: {id: 'string, required, fixed', code: 'string, required'}\n"
	"    keys: {PK: 'HALL#<id>', SK: HALL}\n    allow: {read, create, update, delete: anyone}\n"
	"    delete: {then remove: [seats of hall]}\n"
	"  Member:\n"
	"    path: /clubs/<club>/members/<who>\n"
	"    attributes: {club: 'string, required, fixed', who: 'string, required, fixed'}\n"
	"    keys: {PK: 'MEMBERS#<club>', SK: '<who>'}\n    allow: {read, create, update, delete: anyone}\n"
	"    counts: [Club(club).members if closed = false]\n"
	"  Seat:\n"
	"    path: /seats/<code>/<row>\n    attributes: {code: 'string, required, fixed', row: 'string, required, fixed'}\n"
	"    keys: {PK: 'SEATS#<code>', SK: '<row>'}\n    allow: {read, create, update, delete: anyone}\n"
	"access:\n"
	"  members of club: {query: table, where: {PK: 'MEMBERS#<id>'}}\n"
	"  seats of hall: {query: table, where: {PK: 'SEATS#<code>'}}\n";

static void undoing_a_soft_deletion_waits_until_old_dependents_are_gone(void **state)
{
	struct world w;

	(void)state;
	for (int n = FEW; n <= MANY; n += MANY - FEW) {
		world_open(&w, clubs);
		app_set_keeper_runs(&w.f.app, true);
		created(&w.f, "!", "Club", "go", "{\"code\":\"x\"}");
		for (int i = 0; i < n; i++) {
			char path[16];

			snprintf(path, sizeof(path), "go/w%d", i);
			created(&w.f, "!", "Member", path, NULL);
		}
		deleted(&w.f, "!", "Club", "go");
		assert_int_equal(count_keys(&w, "MEMBERS#"), n == FEW ? 0 : MANY);
		create_fails(&w.f, "!", "Member", "go/late", NULL, PROBLEM_CONFLICT, NULL);
		updated(&w.f, "!", "Club", "go", "{\"closed\":false}");
		assert_int_equal(count_keys(&w, "MEMBERS#"), 0);
		assert_int_equal(number(stored(&w.f, "CLUB#go", "CLUB"), "members"), 0);
		created(&w.f, "!", "Member", "go/w1", NULL);
		other_keeper(&w);
		assert_int_equal(number(stored(&w.f, "CLUB#go", "CLUB"), "members"), 1);
		assert_int_equal(count_keys(&w, "MEMBERS#"), 1);
		world_close(&w);
	}
}

static void an_item_that_takes_over_a_deleted_items_values_waits(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, clubs);
	app_set_keeper_runs(&w.f.app, true);
	created(&w.f, "!", "Hall", "old", "{\"code\":\"a\"}");
	created(&w.f, "!", "Hall", "new", "{\"code\":\"b\"}");
	for (int i = 0; i < MANY; i++) {
		char path[16];

		snprintf(path, sizeof(path), "a/%d", i);
		created(&w.f, "!", "Seat", path, NULL);
	}
	deleted(&w.f, "!", "Hall", "old");
	assert_int_equal(count_keys(&w, "SEATS#"), MANY);
	updated(&w.f, "!", "Hall", "new", "{\"code\":\"a\"}");
	assert_int_equal(count_keys(&w, "SEATS#"), 0);
	assert_int_equal(markers(&w), 0);
	world_close(&w);
}

/* ---- what is not a marker's ---- */

static void expired_but_stored_rows_are_removed_too(void **state)
{
	struct world w;
	struct run *r;
	struct value_member past;

	(void)state;
	app_fixture_open_still(&w.f, design); /* or the sweeper takes the row, and the count waits for the keeper */
	world_provision(&w);
	fill_group(&w, FEW);
	r = plain_run(&w);
	past = (struct value_member){ SLICE("expires_at"), value_make_i64(r->arena, APP_FIXTURE_NOW / 1000 - 1) };
	assert_int_equal(dyn_write(r,
				   &(struct dyn_write){ .kind = DYN_UPDATE,
							.key = dyn_key_of(r, stored(&w.f, "GROUP#go", "MEMBER#w1")),
							.set = &past,
							.set_count = 1 },
				   1, SLICE(""), &(struct dyn_refusal){ 0 }),
			 DYN_DONE);
	other_delete(&w);
	assert_false(is_stored(&w.f, "GROUP#go", "MEMBER#w1"));
	assert_int_equal(number(stored(&w.f, "USER#w1", "USER"), "groups"), 0);
	world_close(&w);
}

static void items_deleted_by_another_program_lose_their_dependents(void **state)
{
	struct world w;
	struct run *r;

	(void)state;
	open_group(&w, MANY);
	r = plain_run(&w);
	assert_int_equal(dyn_write(r,
				   &(struct dyn_write){ .kind = DYN_DELETE,
							.key = dyn_key_of(r, stored(&w.f, "GROUP#go", "GROUP")) },
				   1, SLICE(""), &(struct dyn_refusal){ 0 }),
			 DYN_DONE);
	other_keeper(&w);
	assert_right(&w, "raw", 0);
	assert_int_equal(count_keys(&w, "GROUP#"), 0);
	assert_int_equal(markers(&w), 0);
	world_close(&w);
}

/* An index that shows for ever what it showed at first. */
struct stale {
	struct backend backend;
	struct backend *inner;
	char shown[4096]; /* a Query's reply */
};

static void stale_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		       struct backend_reply *reply)
{
	struct stale *x = (struct stale *)b;
	struct buf text;

	if (strcmp(operation, "Query") || !slice_contains(body, SLICE("\"GSI1\""))) {
		backend_call(x->inner, a, operation, body, reply);
		return;
	}
	if (!x->shown[0]) {
		backend_call(x->inner, a, operation, body, reply);
		buf_init(&text, a);
		json_write(&text, reply->body);
		assert_true(text.n < sizeof(x->shown));
		memcpy(x->shown, text.p, text.n);
	}
	*reply = (struct backend_reply){ .status = 200, .body = json_parse(a, slice_str(x->shown)) };
}

static int64_t at_once(void *ctx)
{
	(void)ctx;
	return APP_FIXTURE_NOW;
}

/* The keeper does not wait for it, and parks nothing: while other deletions go on there is always something. */
static void rows_that_an_index_still_shows_are_left_to_the_sweep(void **state)
{
	static const struct clock now = { .now_ms = at_once }, later = { .now_ms = a_minute_later };
	struct stale x = { .backend = { stale_call } };
	const struct entity *user;
	struct value gone;
	struct world w;
	struct run *r;

	(void)state;
	open_group(&w, FEW);
	r = plain_run(&w);
	user = entity_named(r, "User");
	gone = entity_full(r, user, stored(&w.f, "USER#w1", "USER"));
	assert_int_equal(dyn_write(r, &(struct dyn_write){ .kind = DYN_DELETE, .key = dyn_key_of(r, gone) }, 1,
				   SLICE(""), &(struct dyn_refusal){ 0 }),
			 DYN_DONE);
	x.inner = r->backend;
	r->backend = &x.backend;
	assert_false(deleting_finish(r, user, gone, NULL)); /* in this process no index is late */
	assert_int_equal(r->problem.type, PROBLEM_BUSY);
	r->problem = (struct problem){ 0 };
	w.f.app.clock = &now;
	w.f.database.base.is_remote = true;
	must(r, deleting_finish(r, user, gone, NULL), "finish");
	w.f.database.base.is_remote = false;
	assert_false(is_stored(&w.f, "GROUP#go", "MEMBER#w1"));
	assert_int_equal(markers(&w), 1);
	expect_unsettled(&w);
	w.f.app.gather = gather_new();
	w.f.app.clock = &later;
	app_tick(&w.f.app, w.f.backend, false);
	assert_int_equal(markers(&w), 0);
	assert_right(&w, "a late index", 0);
	gather_free(w.f.app.gather);
	world_close(&w);
}

static void a_marker_of_another_layout_stays_and_is_waited_for(void **state)
{
	struct world w;
	struct run *r;
	struct value_member m[3];
	int64_t next_ms;

	(void)state;
	world_open(&w, design);
	r = plain_run(&w);
	m[0] = (struct value_member){ SLICE("PK"), value_make_s(r->arena, SLICE("DELETING#Group")) };
	m[1] = (struct value_member){ SLICE("SK"), value_make_s(r->arena, SLICE("name=go")) };
	m[2] = (struct value_member){ SLICE("layout"), value_make_i64(r->arena, 2) };
	assert_int_equal(dyn_write(r,
				   &(struct dyn_write){ .kind = DYN_PUT,
							.table = beside_table(r),
							.item = value_make_map(r->arena, m, 3) },
				   1, SLICE(""), &(struct dyn_refusal){ 0 }),
			 DYN_DONE);
	create_fails(&w.f, "!", "Group", "go", NULL, PROBLEM_BUSY, "still being removed");
	created(&w.f, "!", "Group", "chess", NULL);
	must(r, deleting_sweep(r, &next_ms), "sweep");
	assert_int_equal(markers(&w), 1);
	world_close(&w);
}

static void a_cascade_of_many_is_carried_out_a_part_at_a_time(void **state)
{
	struct world w;
	struct run *r;
	int tries = 0;
	struct write_result out;

	(void)state;
	open_group(&w, 0);
	for (int i = 0; i < 1300; i++) {
		struct value_member m[2];
		char sk[32];

		r = plain_run(&w);
		snprintf(sk, sizeof(sk), "MEMBER#x%04d", i);
		m[0] = (struct value_member){ SLICE("PK"), value_make_s(r->arena, SLICE("GROUP#go")) };
		m[1] = (struct value_member){ SLICE("SK"), value_make_s(r->arena, slice_str(sk)) };
		assert_int_equal(dyn_write(r,
					   &(struct dyn_write){ .kind = DYN_PUT, .item = value_make_map(r->arena, m, 2) },
					   1, SLICE(""), &(struct dyn_refusal){ 0 }),
				 DYN_DONE);
	}
	other_delete(&w);
	for (;; tries++) {
		r = plain_run(&w);
		if (try_create(r, "Group", "go", NULL, &out))
			break;
		assert_problem(r, PROBLEM_BUSY, NULL);
		assert_int_equal(r->problem.retry_after, 1);
		assert_true(tries < 10);
	}
	assert_int_equal(tries, 2);
	assert_int_equal(count_keys(&w, "GROUP#"), 1);
	world_close(&w);
}

/* ---- refuse while ---- */

static const char shelves[] =
	"entities:\n"
	"  Shelf:\n"
	"    path: /shelves/<id>\n    attributes: {id: 'string, required, fixed', text: string, seen: counter}\n"
	"    keys: {PK: 'SHELF#<id>', SK: SHELF}\n    allow: {read, create, update, delete: anyone}\n"
	"    delete: {refuse while: [books on shelf]}\n"
	"  Box:\n"
	"    path: /boxes/<id>\n    attributes: {id: 'string, required, fixed', gone: 'boolean, default false'}\n"
	"    keys: {PK: 'BOX#<id>', SK: BOX}\n    allow: {read, create, update, delete: anyone}\n"
	"    delete: {set: {gone: true}, refuse while: [books in box]}\n"
	"  Book:\n"
	"    path: /shelves/<shelf>/books/<id>\n    attributes: {shelf: 'string, required, fixed', id: 'string, required, fixed'}\n"
	"    keys: {PK: 'BOOKS#<shelf>', SK: '<id>'}\n    allow: {read, create, update, delete: anyone}\n"
	"    requires: [Shelf(shelf)]\n"
	"  Packed:\n"
	"    path: /boxes/<box>/books/<id>\n    attributes: {box: 'string, required, fixed', id: 'string, required, fixed'}\n"
	"    keys: {PK: 'PACKED#<box>', SK: '<id>'}\n    allow: {read, create, update, delete: anyone}\n"
	"    requires: [Box(box) if gone = false]\n"
	"access:\n"
	"  books on shelf: {query: table, where: {PK: 'BOOKS#<id>'}}\n"
	"  books in box: {query: table, where: {PK: 'PACKED#<id>'}}\n";

static bool shelved;
static int books; /* each tried once more under another name */

static void other_book(struct world *w)
{
	struct run *r = plain_run(w);
	struct write_result out;
	char path[16], box[16];

	snprintf(path, sizeof(path), "s/b%d", books);
	snprintf(box, sizeof(box), "x/b%d", books++);
	shelved = try_create(r, "Book", path, NULL, &out);
	may(r, shelved, PROBLEM_NOT_FOUND);
	r->problem = (struct problem){ 0 };
	if (!try_create(r, "Packed", box, NULL, &out))
		may(r, false, PROBLEM_CONFLICT);
}

static void open_shelves(struct world *w)
{
	world_open(w, shelves);
	app_set_keeper_runs(&w->f.app, true);
	created(&w->f, "!", "Shelf", "s", NULL);
	created(&w->f, "!", "Box", "x", NULL);
}

static bool is_gone(struct world *w)
{
	struct value gone = value_get(stored(&w->f, "BOX#x", "BOX"), SLICE("gone"));

	return value_type(gone) == VALUE_BOOL && value_bool(gone);
}

static void nothing_comes_between_the_question_and_the_end(void **state)
{
	bool past = false;

	(void)state;
	for (int at = 0; !past; at++) {
		struct world w;
		struct between b;
		struct run *r;
		struct change *list;
		size_t n, ends = 0, changes = 0;
		bool ok;

		open_shelves(&w);
		b = between(&w, other_book, at, false);
		r = run_with(&w, &b);
		ok = try_delete(r, "Shelf", "s", NULL);
		past = b.calls <= at;
		assert_true(ok || r->problem.type == PROBLEM_CONFLICT);
		assert_int_equal(is_stored(&w.f, "SHELF#s", "SHELF"), !ok);
		assert_int_equal(count_keys(&w, "BOOKS#"), ok ? 0 : 1);
		/* Nobody has seen it go and come back. */
		n = world_all(&w, &list);
		for (size_t i = 0; i < n; i++) {
			ends += list[i].events == ON_DELETED;
			changes += list[i].events == ON_UPDATED && list[i].entity;
		}
		assert_int_equal(ends, ok);
		assert_int_equal(changes, 0);
		/* Softly. */
		b = between(&w, other_book, at, false);
		r = run_with(&w, &b);
		for (size_t i = count_keys(&w, "PACKED#"); i; i--) {
			char path[16];

			snprintf(path, sizeof(path), "x/b%d", books - 1);
			deleted(&w.f, "!", "Packed", path);
		}
		ok = try_delete(r, "Box", "x", NULL);
		past = past && b.calls <= at;
		assert_int_equal(is_gone(&w), ok);
		assert_int_equal(count_keys(&w, "PACKED#"), ok ? 0 : 1);
		world_close(&w);
	}
}

static void a_deletion_that_ends_half_way_is_in_nobodys_way(void **state)
{
	bool past = false;

	(void)state;
	for (int at = 0; !past; at++) {
		struct world w;
		struct between b;
		struct run *r;

		open_shelves(&w);
		b = between(&w, NULL, at, true);
		r = run_with(&w, &b);
		past = try_delete(r, "Shelf", "s", NULL);
		if (!past) {
			created(&w.f, "!", "Book", "s/b", NULL);
			delete_fails(&w.f, "!", "Shelf", "s", PROBLEM_CONFLICT, "still has");
			deleted(&w.f, "!", "Book", "s/b");
			deleted(&w.f, "!", "Shelf", "s");
		}
		world_close(&w);
	}
}

/* ---- whose marker it is ---- */

/* A cascade that stands still before its n-th write. When it goes on, the marker is that of another deletion. */
struct late_cascade {
	struct backend backend;
	struct backend *inner;
	struct world *world;
	struct marker marker;
	bool conflicts; /* its first transaction: then the rows go one by one */
	int at, writes;
};

static void replace_marker(struct world *w, struct marker m)
{
	struct run *r = plain_run(w);
	struct dyn_write put_it = { .kind = DYN_PUT, .table = beside_table(r) };
	struct dyn_refusal refusal;

	must(r, marker_make(r, &m, &put_it.item), "another marker");
	assert_int_equal(dyn_write(r, &put_it, 1, SLICE(""), &refusal), DYN_DONE);
}

static void late_cascade_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			      struct backend_reply *reply)
{
	struct late_cascade *x = (struct late_cascade *)b;

	if (!strcmp(operation, "TransactWriteItems") || !strcmp(operation, "DeleteItem")) {
		if (x->writes == x->at)
			replace_marker(x->world, x->marker);
		if (!x->writes++ && x->conflicts) {
			*reply = (struct backend_reply){ .status = 400, .error = SLICE("TransactionConflictException") };
			return;
		}
	}
	backend_call(x->inner, a, operation, body, reply);
}

/* `unfit`: an item that no creation would have left so is the first of the rows. */
static void assert_nothing_goes(int at, bool conflicts, bool unfit)
{
	struct late_cascade x = { .backend = { late_cascade_call }, .at = at, .conflicts = conflicts };
	struct dyn_page page;
	struct world w;
	struct run *r;
	size_t rows;
	bool known;

	open_group(&w, MANY);
	r = plain_run(&w);
	if (unfit) {
		struct dyn_write raw = put(r,
					   (struct value_member[]){ { SLICE("PK"), text(r, "GROUP#", "go") },
								    { SLICE("SK"), text(r, "MEMBER#", "0") } },
					   2);
		struct dyn_refusal refusal;

		assert_int_equal(dyn_write(r, &raw, 1, SLICE(""), &refusal), DYN_DONE);
	}
	other_delete(&w);
	rows = count_keys(&w, "GROUP#go");
	assert_int_equal(rows, MANY + unfit);
	must(r, beside_query(r, SLICE("DELETING#Group"), 2, VALUE_ABSENT, &page), "markers");
	assert_int_equal(page.count, 1);
	must(r, marker_read(r, page.items[0], &x.marker, &known), "marker");
	x.world = &w;
	x.inner = r->backend;
	r->backend = &x.backend;
	assert_int_equal(deleting_carry(r, &x.marker, DELETING_ALL), CARRIED);
	assert_true(x.writes > at);
	assert_int_equal(count_keys(&w, "GROUP#go"), rows);
	assert_int_equal(markers(&w), 1);
	world_close(&w);
}

/* Under the other one's marker an item is gone whose counters this cascade would not move. */
static void a_cascade_removes_nothing_under_the_marker_of_another_deletion(void **state)
{
	(void)state;
	assert_nothing_goes(0, false, false);
	assert_nothing_goes(1, true, false);
	assert_nothing_goes(1, true, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_can_meet_a_marker_asks_for_one),
		cmocka_unit_test(a_processor_that_creates_waits_for_the_cascade_and_does_it_once),
		cmocka_unit_test(a_processor_that_deletes_leaves_a_marker_with_its_position),
		cmocka_unit_test(the_server_finishes_abandoned_markers),
		cmocka_unit_test(a_deep_tree_goes_to_its_last_leaf),
		cmocka_unit_test(a_pending_deletion_is_known_while_a_sweep_reads),
		cmocka_unit_test(a_deletion_is_known_when_a_sweep_looked_before_its_marker_was_there),
		cmocka_unit_test(names_that_look_alike_have_markers_of_their_own),
		cmocka_unit_test(indirect_dependents_do_not_decrement_a_later_item),
		cmocka_unit_test(indirect_dependents_are_not_seen_under_a_later_item),
		cmocka_unit_test(a_cascade_that_is_under_way_counts_nothing_off_a_later_one),
		cmocka_unit_test(rows_of_another_item_with_the_same_values_stay),
		cmocka_unit_test(undoing_a_soft_deletion_waits_until_old_dependents_are_gone),
		cmocka_unit_test(an_item_that_takes_over_a_deleted_items_values_waits),
		cmocka_unit_test(expired_but_stored_rows_are_removed_too),
		cmocka_unit_test(items_deleted_by_another_program_lose_their_dependents),
		cmocka_unit_test(a_marker_of_another_layout_stays_and_is_waited_for),
		cmocka_unit_test(a_cascade_of_many_is_carried_out_a_part_at_a_time),
		cmocka_unit_test(a_cascade_removes_nothing_under_the_marker_of_another_deletion),
		cmocka_unit_test(nothing_comes_between_the_question_and_the_end),
		cmocka_unit_test(a_deletion_that_ends_half_way_is_in_nobodys_way),
		/* These take their time. */
		cmocka_unit_test(a_creation_comes_between_any_two_requests),
		cmocka_unit_test(a_deletion_comes_between_any_two_requests),
		cmocka_unit_test(a_deletion_and_a_creation_come_between_any_two_requests),
		cmocka_unit_test(a_creation_and_a_deletion_come_between_any_two_requests),
		cmocka_unit_test(another_cascade_over_the_same_rows_comes_between_any_two_requests),
		cmocka_unit_test(the_keeper_comes_between_any_two_requests),
		cmocka_unit_test(the_end_comes_before_any_request),
		cmocka_unit_test(rows_that_an_index_still_shows_are_left_to_the_sweep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
