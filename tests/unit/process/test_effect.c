/* Effects of processors: each once, in steps, whatever happens in between.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"
#include "effect_helper.h"

static const char social[] =
	"entities:\n"
	"  User:\n"
	"    path: /users/<id>\n"
	"    attributes: {id: 'string, required, fixed', name: string, popular: 'boolean, default false', unread: counter}\n"
	"    keys: {PK: 'USER#<id>', SK: PROFILE}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Follow:\n"
	"    path: /users/<who>/follows/<whom>\n"
	"    attributes: {who: 'string, required, fixed', whom: 'string, required, fixed', muted: 'boolean, default false'}\n"
	"    keys: {PK: 'USER#<who>', SK: 'FOLLOWS#<whom>', GSI1PK: 'USER#<whom>', GSI1SK: 'FOLLOWER#<who>'}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Post:\n"
	"    path: /posts/<id>\n"
	"    attributes:\n"
	"      id: string, required, fixed\n"
	"      author: string, required, fixed\n"
	"      text: string\n"
	"      hidden: boolean, default false\n"
	"      at: timestamp, now, fixed\n"
	"      views: integer, default 0\n"
	"    keys: {PK: 'POST#<id>', SK: POST}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Entry:\n"
	"    path: /users/<user>/feed/<at>/<post>\n"
	"    attributes:\n"
	"      user: string, required, fixed\n"
	"      post: string, required, fixed\n"
	"      at: timestamp, required, fixed\n"
	"      author: string\n"
	"      preview: string\n"
	"      seen: boolean, default false\n"
	"      inserted: timestamp, now\n"
	"      expires_at: epoch, 36500 days after at\n"
	"    keys: {PK: 'FEED#<user>', SK: '<at>#<post>'}\n"
	"    allow: {read, delete: anyone}\n"
	"  Note:\n"
	"    path: /users/<user>/notes/<id>\n"
	"    attributes:\n"
	"      user: string, required, fixed\n"
	"      id: string, id 'n_', fixed\n"
	"      about: string\n"
	"      made: timestamp, now\n"
	"      read: boolean, default false\n"
	"    keys: {PK: 'NOTES#<user>', SK: '<id>#<made>'}\n"
	"    counts: [User(user).unread when not read]\n"
	"    allow: {read, update, delete: anyone}\n"
	"  Metric:\n"
	"    internal: true\n"
	"    path: /metrics/<day>/<what>\n"
	"    attributes:\n"
	"      day: string, required, fixed\n"
	"      what: string, required, fixed\n"
	"      total: counter\n"
	"      title: string, default 'none'\n"
	"    keys: {PK: 'METRIC#<day>', SK: '<what>', kind: Metric}\n"
	"    allow: {read: anyone}\n"
	"access:\n"
	"  followers:\n"
	"    query: GSI1\n"
	"    where: {GSI1PK: 'USER#<user>', GSI1SK: begins with FOLLOWER#}\n"
	"    filter: muted = false\n"
	"  feed by author:\n"
	"    query: table\n"
	"    where: {PK: 'FEED#<user>'}\n"
	"    with: {author: string}\n"
	"    filter: author = input.author\n"
	"  notes of:\n"
	"    query: table\n"
	"    where: {PK: 'NOTES#<user>'}\n"
	"processors:\n"
	"  deliver:\n"
	"    on: Post created, updated\n"
	"    when: hidden = false and old.hidden <> false and User(author).popular = false\n"
	"    each: follower in followers(user = author)\n"
	"    put: Entry\n"
	"    with: {user: follower.who, post: id, at: at, author: author, preview: first 5 of text}\n"
	"  withdraw:\n"
	"    on: Post updated\n"
	"    let: {gone: hidden = true, was: old.hidden}\n"
	"    when: gone and was = false\n"
	"    each: follower in followers(user = author)\n"
	"    delete: Entry(follower.who, at, id)\n"
	"  tell:\n"
	"    on: Post created\n"
	"    each: follower in followers(user = author)\n"
	"    put: Note\n"
	"    with: {user: follower.who, about: id}\n"
	"  unfollow:\n"
	"    on: Follow deleted\n"
	"    remove all: feed by author(user = who, author = whom)\n"
	"  forget:\n"
	"    on: User deleted\n"
	"    remove all: notes of(user = id)\n"
	"  metrics:\n"
	"    on: Post created\n"
	"    count: Metric(date(at), 'posts').total by 1\n"
	"  views:\n"
	"    on: Post updated\n"
	"    count: Metric(date(at), 'views').total by views - old.views\n"
	"  reach:\n"
	"    on: Post created\n"
	"    each: follower in followers(user = author)\n"
	"    count: Metric('all', 'reach').total\n"
	"  unread:\n"
	"    on: Post created\n"
	"    each: follower in followers(user = author)\n"
	"    count: User(follower.who).unread\n"
	"  rename:\n"
	"    on: Post updated\n"
	"    when: text <> old.text\n"
	"    update: User(author)\n"
	"    with: {name: text}\n";

static void add_followers(struct world *w, const char *whom, int n, bool accounts)
{
	struct run *r = app_fixture_run(&w->f, "!");
	const struct entity *e = entity_named(r, "Follow"), *user = entity_named(r, "User");

	for (int i = 0; i < n; i++) {
		struct row f;
		bool made;

		row_init(&f, r->arena, NULL);
		row_put(&f, SLICE("who"), value_make_s(r->arena, arena_printf(r->arena, "f%03d", i)));
		row_put(&f, SLICE("whom"), value_make_s(r->arena, slice_str(whom)));
		must(r, write_put(r, e, &f, &made), "Follow");
		if (!accounts)
			continue;
		row_init(&f, r->arena, NULL);
		row_put(&f, SLICE("id"), value_make_s(r->arena, arena_printf(r->arena, "f%03d", i)));
		must(r, write_put(r, user, &f, &made), "User");
	}
}

static void open_social(struct world *w, int followers)
{
	world_open(w, social);
	created(&w->f, "!", "User", "ann", "{}");
	add_followers(w, "ann", followers, false);
}

static void post(struct world *w, const char *id, const char *json)
{
	created(&w->f, "!", "Post", id, json);
}

/* ---- fanning out ---- */

static void a_post_comes_into_every_feed_once(void **state)
{
	struct world w;

	(void)state;
	open_social(&w, 250);
	post(&w, "p1", "{\"author\":\"ann\",\"text\":\"hello world\"}");
	assert_int_equal(world_process(&w, "deliver"), 1);
	assert_int_equal(count_keys(&w, "FEED#"), 250);
	assert_text(stored(&w.f, "FEED#f007", "2026-01-15T10:30:00Z#p1"), "preview", "hello");
	assert_int_equal(number(stored(&w.f, "FEED#f249", "2026-01-15T10:30:00Z#p1"), "expires_at"),
			 1768473000 + INT64_C(36500) * 86400);
	assert_int_equal(world_process(&w, "deliver"), 0);
	world_close(&w);
}

/* A backend that stops answering after so many transactions: the process has died. */
struct mortal {
	struct backend backend;
	struct backend *inner;
	int left, transactions;
};

static void mortal_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			struct backend_reply *reply)
{
	static const struct json empty = { .type = JSON_OBJECT };
	struct mortal *m = (struct mortal *)b;

	if (!strcmp(operation, "TransactWriteItems")) {
		m->transactions++;
		if (m->left-- <= 0) {
			*reply = (struct backend_reply){ .status = 500,
							 .body = &empty,
							 .error = SLICE("InternalServerError") };
			return;
		}
	}
	backend_call(m->inner, a, operation, body, reply);
}

/* Applies the processor to the change with that image's key; dies after so many transactions. */
static enum effect_end apply(struct world *w, const char *name, int transactions, int *used)
{
	struct mortal m = { .backend = { mortal_call }, .inner = w->f.backend, .left = transactions };
	const struct processor *p = processor_named(w, name);
	struct shard_list shards = world_shards(w);
	enum effect_end end = EFFECT_NONE;

	for (size_t i = 0; i < shards.count && end == EFFECT_NONE; i++) {
		struct run *r = world_run(w);
		struct position at;
		struct change *list;
		size_t n;

		must(r, checkpoint_load(r, p->name, shards.list[i].id, &at), "position");
		n = world_changes(w, shards.stream_arn, shards.list[i].id, at.sequence, &list);
		r->backend = &m.backend;
		for (size_t k = 0; k < n && end == EFFECT_NONE; k++)
			end = effect_apply(r, p, &list[k], &at);
	}
	if (used)
		*used = m.transactions;
	return end;
}

static void a_crash_between_steps_neither_repeats_nor_loses_a_row(void **state)
{
	struct world w;
	int used;

	(void)state;
	open_social(&w, 250);
	post(&w, "p1", "{\"author\":\"ann\",\"text\":\"hello world\"}");
	assert_int_equal(apply(&w, "deliver", 1, NULL), EFFECT_FAILED);
	assert_int_equal(count_keys(&w, "FEED#"), 99);
	/* A reader clears the feed meanwhile: it is not filled again. */
	deleted(&w.f, "!", "Entry", "f000/2026-01-15T10:30:00Z/p1");
	assert_int_equal(apply(&w, "deliver", 1, NULL), EFFECT_FAILED);
	assert_int_equal(count_keys(&w, "FEED#"), 197);
	assert_int_equal(apply(&w, "deliver", 100, &used), EFFECT_DONE);
	assert_int_equal(used, 1);
	assert_int_equal(count_keys(&w, "FEED#"), 249);
	assert_int_equal(world_process(&w, "deliver"), 0);
	world_close(&w);
}

static void rows_deleted_meanwhile_delay_no_others(void **state)
{
	struct world w;

	(void)state;
	open_social(&w, 250);
	post(&w, "p1", "{\"author\":\"ann\"}");
	assert_int_equal(apply(&w, "deliver", 1, NULL), EFFECT_FAILED);
	deleted(&w.f, "!", "Follow", "f098/ann"); /* the last one done */
	deleted(&w.f, "!", "Follow", "f003/ann");
	assert_int_equal(apply(&w, "deliver", 100, NULL), EFFECT_DONE);
	assert_int_equal(count_keys(&w, "FEED#"), 250);
	world_close(&w);
}

static void when_is_evaluated_again_after_a_resume(void **state)
{
	struct world w;
	size_t some;

	(void)state;
	open_social(&w, 120);
	post(&w, "p1", "{\"author\":\"ann\"}");
	assert_int_equal(apply(&w, "deliver", 1, NULL), EFFECT_FAILED);
	some = count_keys(&w, "FEED#");
	assert_in_range(some, 1, 119);
	updated(&w.f, "!", "User", "ann", "{\"popular\":true}");
	assert_int_equal(apply(&w, "deliver", 100, NULL), EFFECT_NONE);
	assert_int_equal(count_keys(&w, "FEED#"), some);
	post(&w, "p2", "{\"author\":\"ann\"}");
	assert_int_equal(world_process(&w, "deliver"), 0);
	world_close(&w);
}

static const char leaving[] = "entities:\n"
			      "  User:\n"
			      "    path: /users/<id>\n"
			      "    attributes:\n"
			      "      id: string, required, fixed\n"
			      "      name: string, required\n"
			      "      bio: string\n"
			      "      left: boolean, default false\n"
			      "    keys: {PK: 'USER#<id>', SK: USER}\n"
			      "    allow: {read, create, update, delete: anyone}\n"
			      "    delete: {set: {left: true}, remove: [name, bio]}\n"
			      "  Card:\n"
			      "    path: /cards/<user>\n"
			      "    attributes:\n"
			      "      user: string, required, fixed\n"
			      "      text: string\n"
			      "      color: string, default 'white'\n"
			      "      parent: string, default null\n"
			      "    keys: {PK: 'CARD#<user>', SK: CARD}\n"
			      "    allow: {read, create, update, delete: anyone}\n"
			      "processors:\n"
			      "  empty:\n"
			      "    on: User updated\n"
			      "    update: Card(id)\n"
			      "    with: {text: null, color: null, parent: null}\n";

/* As in a request: without a default the attribute goes, and where null is the default it is stored. */
static void a_null_takes_away(void **state)
{
	struct world w;
	struct value v;

	(void)state;
	world_open(&w, leaving);
	created(&w.f, "!", "User", "ann", "{\"name\":\"Ann\",\"bio\":\"x\"}");
	created(&w.f, "!", "Card", "ann", "{\"text\":\"x\",\"color\":\"red\",\"parent\":\"x\"}");
	deleted(&w.f, "!", "User", "ann");
	v = stored(&w.f, "USER#ann", "USER");
	assert_true(value_bool(value_get(v, SLICE("left"))));
	assert_false(value_present(value_get(v, SLICE("name"))));
	assert_false(value_present(value_get(v, SLICE("bio"))));
	assert_int_equal(world_process(&w, "empty"), 1);
	v = stored(&w.f, "CARD#ann", "CARD");
	assert_false(value_present(value_get(v, SLICE("text"))));
	assert_text(v, "color", "white");
	assert_int_equal(value_type(value_get(v, SLICE("parent"))), VALUE_NULL);
	world_close(&w);
}

static void of_two_servers_one_gives_way(void **state)
{
	struct world w;
	struct run *r;
	const struct processor *p;
	struct shard_list shards;

	(void)state;
	open_social(&w, 3);
	post(&w, "p1", "{\"author\":\"ann\"}");
	r = world_run(&w);
	p = processor_named(&w, "deliver");
	shards = world_shards(&w);
	for (size_t i = 0; i < shards.count; i++) {
		struct position mine, others;
		struct change *list;
		size_t n = world_changes(&w, shards.stream_arn, shards.list[i].id, SLICE(""), &list);

		must(r, checkpoint_load(r, p->name, shards.list[i].id, &mine), "position");
		others = mine;
		for (size_t k = 0; k < n; k++) {
			if (effect_apply(r, p, &list[k], &others) != EFFECT_DONE)
				continue;
			assert_int_equal(effect_apply(r, p, &list[k], &mine), EFFECT_LOST);
			assert_int_equal(count_keys(&w, "FEED#"), 3);
			world_close(&w);
			return;
		}
	}
	fail_msg("the change was not seen");
}

static void an_interrupted_effect_continues_later(void **state)
{
	const _Atomic bool stop = true;
	struct world w;
	struct change *list;
	size_t n;

	(void)state;
	open_social(&w, 3);
	post(&w, "p1", "{\"author\":\"ann\"}");
	n = world_all(&w, &list);
	for (size_t i = 0; i < n; i++) {
		struct run *r = world_run(&w);
		struct position at = { .processor = SLICE("deliver"), .shard = SLICE("s") };

		if (!list[i].entity || !slice_is(list[i].entity->name, "Post"))
			continue;
		assert_int_equal(effect_apply_until(r, processor_named(&w, "deliver"), &list[i], &at, &stop),
				 EFFECT_FAILED);
		assert_problem(r, PROBLEM_BUSY, "interrupted");
	}
	assert_int_equal(count_keys(&w, "FEED#"), 0);
	assert_int_equal(world_process(&w, "deliver"), 1);
	assert_int_equal(count_keys(&w, "FEED#"), 3);
	world_close(&w);
}

/* ---- put ---- */

static void an_existing_item_gets_the_attributes_of_with_and_keeps_the_rest(void **state)
{
	struct world w;
	struct value entry;

	(void)state;
	open_social(&w, 2);
	created(&w.f, "!", "Entry", "f001/2026-01-15T10:30:00Z/p1",
		"{\"preview\":\"older\",\"seen\":true,\"author\":\"ann\"}");
	post(&w, "p1", "{\"author\":\"ann\",\"text\":\"hello world\"}");
	assert_int_equal(world_process(&w, "deliver"), 1);
	entry = stored(&w.f, "FEED#f001", "2026-01-15T10:30:00Z#p1");
	assert_text(entry, "preview", "hello");
	assert_true(value_bool(value_get(entry, SLICE("seen"))));
	assert_true(is_stored(&w.f, "FEED#f000", "2026-01-15T10:30:00Z#p1"));
	world_close(&w);
}

static void expired_items_count_as_missing(void **state)
{
	struct world w;
	struct run *r;
	struct row f;
	struct dyn_refusal refusal;

	(void)state;
	open_social(&w, 2);
	r = world_run(&w);
	row_init(&f, r->arena, NULL);
	row_put(&f, SLICE("PK"), value_make_s(r->arena, SLICE("FEED#f001")));
	row_put(&f, SLICE("SK"), value_make_s(r->arena, SLICE("2026-01-15T10:30:00Z#p1")));
	row_put(&f, SLICE("seen"), value_make_bool(r->arena, true));
	row_put(&f, SLICE("expires_at"), value_make_i64(r->arena, 1));
	assert_int_equal(dyn_write(r, &(struct dyn_write){ .kind = DYN_PUT, .item = row_item(&f) }, 1, SLICE(""),
				   &refusal),
			 DYN_DONE);
	post(&w, "p1", "{\"author\":\"ann\",\"text\":\"hello\"}");
	assert_int_equal(world_process(&w, "deliver"), 1);
	assert_false(value_bool(value_get(stored(&w.f, "FEED#f001", "2026-01-15T10:30:00Z#p1"), SLICE("seen"))));
	world_close(&w);
}

static void a_counting_item_is_put_with_its_count_and_only_on_existing_targets(void **state)
{
	struct world w;

	(void)state;
	open_social(&w, 5);
	created(&w.f, "!", "User", "f001", "{}");
	created(&w.f, "!", "User", "f003", "{}");
	post(&w, "p1", "{\"author\":\"ann\"}");
	assert_int_equal(world_process(&w, "tell"), 1);
	assert_int_equal(count_keys(&w, "NOTES#"), 2);
	assert_int_equal(number(item(&w.f, "User", "f003"), "unread"), 1);
	world_close(&w);
}

static void rows_written_one_by_one_are_counted_once_through_crashes(void **state)
{
	struct world w;
	enum effect_end end = EFFECT_FAILED;
	int rounds = 0;

	(void)state;
	open_social(&w, 0);
	add_followers(&w, "ann", 7, true);
	post(&w, "p1", "{\"author\":\"ann\"}");
	for (; end != EFFECT_DONE && rounds < 20; rounds++)
		end = apply(&w, "tell", 2, NULL);
	assert_int_equal(rounds, 4);
	assert_int_equal(count_keys(&w, "NOTES#"), 7);
	for (int i = 0; i < 7; i++) {
		char id[16];

		snprintf(id, sizeof(id), "f%03d", i);
		assert_int_equal(number(item(&w.f, "User", id), "unread"), 1);
	}
	world_close(&w);
}

static void replay(struct world *w, const char *name)
{
	struct shard_list shards = world_shards(w);
	struct run *r = world_run(w);

	for (size_t i = 0; i < shards.count; i++) {
		struct position start = { .processor = slice_str(name), .shard = shards.list[i].id };

		must(r, checkpoint_force(r, &start), "replay");
	}
	world_process(w, name);
}

static void ids_follow_from_the_change(void **state)
{
	struct value first[64], second[64];
	struct world w;
	struct run *r;
	size_t n;

	(void)state;
	open_social(&w, 0);
	add_followers(&w, "ann", 3, true);
	post(&w, "p1", "{\"author\":\"ann\"}");
	assert_int_equal(world_process(&w, "tell"), 1);
	n = scan(&w.f, first, 64);
	/* The same change again: nothing is new, nothing is counted. */
	replay(&w, "tell");
	assert_int_equal(scan(&w.f, second, 64), n);
	assert_int_equal(number(item(&w.f, "User", "f000"), "unread"), 1);
	/* What is missing comes back as it was. */
	r = world_run(&w);
	for (size_t i = 0; i < n; i++)
		if (slice_is(value_bytes(value_get(first[i], SLICE("PK"))), "NOTES#f001"))
			must(r, write_remove(r, entity_named(r, "Note"), dyn_key_of(r, first[i])), "Note");
	assert_int_equal(count_keys(&w, "NOTES#"), 2);
	replay(&w, "tell");
	assert_int_equal(scan(&w.f, second, 64), n);
	for (size_t i = 0; i < n; i++)
		assert_true(value_equal(first[i], second[i]));
	/* Another change makes others. */
	post(&w, "p2", "{\"author\":\"ann\"}");
	assert_int_equal(world_process(&w, "tell"), 1);
	assert_int_equal(count_keys(&w, "NOTES#"), 6);
	assert_int_equal(number(item(&w.f, "User", "f000"), "unread"), 2);
	world_close(&w);
}

/* ---- delete, remove all, update ---- */

static void a_withdrawn_post_leaves_every_feed(void **state)
{
	struct world w;

	(void)state;
	open_social(&w, 130);
	post(&w, "p1", "{\"author\":\"ann\"}");
	post(&w, "p2", "{\"author\":\"ann\"}");
	assert_int_equal(world_process(&w, "deliver"), 2);
	deleted(&w.f, "!", "Entry", "f005/2026-01-15T10:30:00Z/p1");
	updated(&w.f, "!", "Post", "p1", "{\"hidden\":true}");
	assert_int_equal(world_process(&w, "withdraw"), 1);
	assert_int_equal(count_keys(&w, "FEED#"), 130);
	assert_false(is_stored(&w.f, "FEED#f099", "2026-01-15T10:30:00Z#p1"));
	assert_true(is_stored(&w.f, "FEED#f099", "2026-01-15T10:30:00Z#p2"));
	world_close(&w);
}

static void all_rows_of_a_pattern_go_in_steps(void **state)
{
	struct world w;
	int used;

	(void)state;
	world_open(&w, social);
	created(&w.f, "!", "Follow", "bob/ann", "{}");
	for (int i = 0; i < 230; i++) {
		char path[64];

		snprintf(path, sizeof(path), "bob/2026-01-15T10:30:00Z/p%03d", i);
		created(&w.f, "!", "Entry", path, i % 23 ? "{\"author\":\"ann\"}" : "{\"author\":\"eve\"}");
	}
	deleted(&w.f, "!", "Follow", "bob/ann");
	assert_int_equal(apply(&w, "unfollow", 1, NULL), EFFECT_FAILED);
	assert_int_equal(count_keys(&w, "FEED#"), 230 - 99);
	assert_int_equal(apply(&w, "unfollow", 100, &used), EFFECT_DONE);
	assert_int_equal(used, 2);
	assert_int_equal(count_keys(&w, "FEED#"), 10);
	world_close(&w);
}

static void a_counting_item_is_removed_with_its_count(void **state)
{
	struct world w;

	(void)state;
	open_social(&w, 0);
	add_followers(&w, "ann", 2, true);
	post(&w, "p1", "{\"author\":\"ann\"}");
	post(&w, "p2", "{\"author\":\"ann\"}");
	assert_int_equal(world_process(&w, "tell"), 2);
	assert_int_equal(count_keys(&w, "NOTES#f001"), 2);
	deleted(&w.f, "!", "User", "f001");
	assert_int_equal(world_process(&w, "forget"), 1);
	assert_int_equal(count_keys(&w, "NOTES#"), 2);
	assert_int_equal(number(item(&w.f, "User", "f000"), "unread"), 2);
	world_close(&w);
}

static void an_update_changes_existing_items_and_ignores_missing_ones(void **state)
{
	struct world w;

	(void)state;
	open_social(&w, 0);
	post(&w, "p1", "{\"author\":\"ann\",\"text\":\"a\"}");
	post(&w, "p2", "{\"author\":\"nobody\",\"text\":\"a\"}");
	updated(&w.f, "!", "Post", "p1", "{\"text\":\"b\"}");
	updated(&w.f, "!", "Post", "p2", "{\"text\":\"b\"}");
	assert_int_equal(world_process(&w, "rename"), 1);
	assert_text(item(&w.f, "User", "ann"), "name", "b");
	assert_false(is_stored(&w.f, "USER#nobody", "PROFILE"));
	world_close(&w);
}

/* ---- count ---- */

static void counting_creates_a_missing_target(void **state)
{
	struct world w;
	struct value m;

	(void)state;
	open_social(&w, 0);
	post(&w, "p1", "{\"author\":\"ann\"}");
	post(&w, "p2", "{\"author\":\"ann\"}");
	assert_int_equal(world_process(&w, "metrics"), 2);
	m = stored(&w.f, "METRIC#2026-01-15", "posts");
	assert_int_equal(number(m, "total"), 2);
	assert_text(m, "day", "2026-01-15");
	assert_text(m, "what", "posts");
	assert_text(m, "kind", "Metric");
	assert_text(m, "title", "none");
	world_close(&w);
}

static void counts_go_by_terms_and_nothing_is_no_write(void **state)
{
	struct world w;

	(void)state;
	open_social(&w, 0);
	post(&w, "p1", "{\"author\":\"ann\"}");
	updated(&w.f, "!", "Post", "p1", "{\"views\":7}");
	updated(&w.f, "!", "Post", "p1", "{\"text\":\"x\"}");
	updated(&w.f, "!", "Post", "p1", "{\"views\":5}");
	assert_int_equal(world_process(&w, "views"), 2);
	assert_int_equal(number(stored(&w.f, "METRIC#2026-01-15", "views"), "total"), 5);
	world_close(&w);
}

static void counts_of_many_rows_are_exact_through_crashes(void **state)
{
	struct world w;
	enum effect_end end = EFFECT_FAILED;

	(void)state;
	open_social(&w, 0);
	add_followers(&w, "ann", 250, true);
	deleted(&w.f, "!", "User", "f044");
	post(&w, "p1", "{\"author\":\"ann\"}");
	assert_int_equal(world_process(&w, "reach"), 1);
	assert_int_equal(number(stored(&w.f, "METRIC#all", "reach"), "total"), 250);
	/* Each user separately; one is missing, and counting creates it, since the entity requires nothing else. */
	for (int i = 0; end != EFFECT_DONE && i < 20; i++)
		end = apply(&w, "unread", 2, NULL);
	assert_int_equal(end, EFFECT_DONE);
	for (int i = 0; i < 250; i++) {
		char id[16];

		snprintf(id, sizeof(id), "f%03d", i);
		assert_int_equal(number(item(&w.f, "User", id), "unread"), 1);
	}
	world_close(&w);
}

/* ---- waking ---- */

static void only_changes_that_when_allows_wake_it(void **state)
{
	struct world w;
	struct change *list;
	size_t n, awake = 0;

	(void)state;
	open_social(&w, 1);
	post(&w, "p1", "{\"author\":\"ann\",\"hidden\":true}");
	updated(&w.f, "!", "Post", "p1", "{\"text\":\"x\"}");
	updated(&w.f, "!", "Post", "p1", "{\"hidden\":false}");
	updated(&w.f, "!", "Post", "p1", "{\"text\":\"y\"}");
	n = world_all(&w, &list);
	for (size_t i = 0; i < n; i++) {
		struct run *r = world_run(&w);
		bool wakes;

		must(r, effect_wakes(r, processor_named(&w, "deliver"), &list[i], &wakes), "when");
		awake += wakes;
	}
	assert_int_equal(awake, 1);
	world_close(&w);
}

/* ---- what lives while something is so ---- */

static const char doors[] =
	"entities:\n"
	"  Door:\n"
	"    path: /doors/<id>\n"
	"    attributes: {id: 'string, required, fixed', open: boolean}\n"
	"    keys: {PK: 'DOOR#<id>', SK: DOOR}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Guest:\n"
	"    path: /guests/<id>\n"
	"    attributes: {id: 'string, required, fixed', door: 'string, required', greeted: integer}\n"
	"    keys: {PK: 'GUEST#<id>', SK: GUEST}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Badge:\n" /* a companion makes it more than one action */
	"    path: /badges/<id>\n"
	"    attributes: {id: 'string, required, fixed', door: 'string, required'}\n"
	"    keys: {PK: 'BADGE#<id>', SK: BADGE}\n"
	"    companions: [{PK: 'BADGES#<door>', SK: '<id>'}]\n"
	"    lives while: [Door(door) if open = true]\n"
	"  Card:\n"
	"    path: /cards/<id>\n"
	"    attributes: {id: 'string, required, fixed', door: 'string, required'}\n"
	"    keys: {PK: 'CARD#<id>', SK: CARD}\n"
	"    lives while: [Door(door)]\n"
	"processors:\n"
	"  give a badge: {on: 'Guest created, updated', put: Badge, with: {id: id, door: door}}\n"
	"  take a badge: {on: 'Guest updated', delete: Badge(id)}\n"
	"  give a card: {on: 'Guest created, updated', put: Card, with: {id: id, door: door}}\n"
	"  take a card: {on: 'Guest updated', delete: Card(id)}\n";

static void what_lives_while_something_is_so_is_put_and_removed_by_that(void **state)
{
	struct world w = { 0 };
	const uint64_t *passed = w.passed_over.count;

	(void)state;
	world_open(&w, doors);
	created(&w.f, "!", "Guest", NULL, "{\"id\":\"g\",\"door\":\"d\"}");
	assert_int_equal(world_process(&w, "give a badge"), 0); /* there is no door */
	world_process(&w, "give a card");
	assert_int_equal(count_keys(&w, "BADGE") + count_keys(&w, "CARD#"), 0);
	assert_int_equal(passed[PASSED_OVER_REQUIREMENT], 2);
	assert_string_equal(w.passed_over.last,
			    "a Card is not put: the Door that it requires does not exist, or does not meet its condition");
	created(&w.f, "!", "Door", NULL, "{\"id\":\"d\",\"open\":false}");
	updated(&w.f, "!", "Guest", "g", "{\"greeted\":1}");
	assert_int_equal(world_process(&w, "give a badge"), 0); /* there is, and it is closed */
	world_process(&w, "give a card");
	assert_int_equal(count_keys(&w, "BADGE"), 0);
	assert_int_equal(count_keys(&w, "CARD#"), 1);
	updated(&w.f, "!", "Door", "d", "{\"open\":true}");
	updated(&w.f, "!", "Guest", "g", "{\"greeted\":2}");
	assert_int_equal(world_process(&w, "give a badge"), 1);
	assert_int_equal(count_keys(&w, "BADGE"), 2);
	assert_int_equal(passed[PASSED_OVER_NOTHING], 0);
	world_process(&w, "take a badge"); /* it is as it should be: it stays, for both changes */
	world_process(&w, "take a card");
	assert_int_equal(passed[PASSED_OVER_HOLDS], 4);
	assert_int_equal(count_keys(&w, "BADGE"), 2);
	assert_int_equal(count_keys(&w, "CARD#"), 1);
	updated(&w.f, "!", "Door", "d", "{\"open\":false}");
	updated(&w.f, "!", "Guest", "g", "{\"greeted\":3}");
	world_process(&w, "take a badge");
	world_process(&w, "take a card");
	assert_int_equal(count_keys(&w, "BADGE"), 0);
	assert_int_equal(count_keys(&w, "CARD#"), 1); /* lives while there is a door */
	deleted(&w.f, "!", "Door", "d");
	updated(&w.f, "!", "Guest", "g", "{\"greeted\":4}");
	world_process(&w, "take a card");
	assert_int_equal(count_keys(&w, "CARD#"), 0);
	updated(&w.f, "!", "Guest", "g", "{\"greeted\":5}");
	world_process(&w, "take a card");
	world_process(&w, "take a badge");
	assert_int_equal(passed[PASSED_OVER_NOTHING], 3); /* a card once, a badge twice */
	assert_int_equal(passed[PASSED_OVER_WHEN] + passed[PASSED_OVER_GONE], 0);
	world_close(&w);
}

static struct backend really; /* the backend as it is */
static struct world *late;    /* NULL: it has happened */
static const char *late_door;

/* A concurrent write comes right before a badge is written. */
static void come_late(const struct request_write *q)
{
	struct world *w = late;
	bool badge = false;

	for (size_t i = 0; i < q->count; i++) {
		struct value v = value_present(q->actions[i].item) ? q->actions[i].item : q->actions[i].key;

		badge = badge || slice_starts(value_bytes(value_get(v, SLICE("PK"))), SLICE("BADGE#"));
	}
	if (w && badge) {
		late = NULL;
		updated(&w->f, "!", "Door", "d", late_door);
	}
}

static void execute_late(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	if (q->kind == REQUEST_WRITE)
		come_late(&q->write);
	really.execute(b, a, q, reply);
}

static struct started *start_late(struct backend *b, struct arena *a, const struct request *q)
{
	come_late(&q->write);
	return really.start(b, a, q);
}

/* The first change that it has not seen; when it was too late, that is tried again later. */
static void try_next(struct world *w, const char *name)
{
	const struct processor *p = processor_named(w, name);
	struct shard_list shards = world_shards(w);

	for (size_t i = 0; i < shards.count; i++) {
		struct run *r = world_run(w);
		struct position at;
		struct change *list;
		size_t n;

		must(r, checkpoint_load(r, p->name, shards.list[i].id, &at), "position");
		n = world_changes(w, shards.stream_arn, shards.list[i].id, at.sequence, &list);
		for (size_t k = 0; late && k < n; k++)
			if (effect_apply(r, p, &list[k], &at) == EFFECT_FAILED)
				assert_int_equal(r->problem.type, PROBLEM_BUSY);
	}
}

static void process_late(struct world *w, const char *processor, const char *door)
{
	late = w;
	late_door = door;
	really = *w->f.backend;
	w->f.backend->execute = execute_late;
	w->f.backend->start = start_late;
	try_next(w, processor);
	*w->f.backend = really;
	assert_null(late);
	world_process(w, processor);
}

/* A badge is more than one action: what it lives while is asked in the same transaction. */
static void what_it_lives_while_may_change_right_before_the_write(void **state)
{
	struct world w = { 0 };

	(void)state;
	world_open(&w, doors);
	created(&w.f, "!", "Door", NULL, "{\"id\":\"d\",\"open\":true}");
	created(&w.f, "!", "Guest", NULL, "{\"id\":\"g\",\"door\":\"d\"}");
	process_late(&w, "give a badge", "{\"open\":false}");
	assert_int_equal(count_keys(&w, "BADGE"), 0);
	updated(&w.f, "!", "Door", "d", "{\"open\":true}");
	updated(&w.f, "!", "Guest", "g", "{\"greeted\":1}");
	world_process(&w, "give a badge");
	assert_int_equal(count_keys(&w, "BADGE"), 2);
	updated(&w.f, "!", "Door", "d", "{\"open\":false}");
	process_late(&w, "take a badge", "{\"open\":true}");
	assert_int_equal(count_keys(&w, "BADGE"), 2);
	world_close(&w);
}

/* ---- items of others ---- */

static void fits(struct world *w, const char *more, const char *why)
{
	struct run *r = world_run(w);
	struct slice text = arena_printf(r->arena, "{\"PK\":{\"S\":\"GUEST#g\"},\"SK\":{\"S\":\"GUEST\"}%s}", more),
		     told;
	struct error e = { 0 };
	struct value item;
	struct row row;

	assert_true(item_from_json(r->arena, json_parse(r->arena, text), &item, &e));
	row = row_lay(r->arena, entity_named(r, "Guest"), item);
	assert_int_equal(entity_fits(r, &row, &told), !why[0]);
	assert_true(slice_is(told, why));
	assert_int_equal(r->problem.type, PROBLEM_NONE);
}

static void an_item_fits_when_the_design_could_have_written_it(void **state)
{
	struct world w = { 0 };

	(void)state;
	world_open(&w, doors);
	fits(&w, ",\"id\":{\"S\":\"g\"},\"door\":{\"S\":\"d\"}", "");
	fits(&w, ",\"id\":{\"S\":\"g\"},\"greeted\":{\"NULL\":true},\"other\":{\"M\":{}}", "");
	fits(&w, "", "it has no id");
	fits(&w, ",\"id\":{\"NULL\":true}", "it has no id");
	fits(&w, ",\"id\":{\"S\":\"h\"}", "its id is not the one in its key");
	fits(&w, ",\"id\":{\"S\":\"g\"},\"greeted\":{\"S\":\"twice\"}", "its greeted is of type S and not N");
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_post_comes_into_every_feed_once),
		cmocka_unit_test(a_crash_between_steps_neither_repeats_nor_loses_a_row),
		cmocka_unit_test(rows_deleted_meanwhile_delay_no_others),
		cmocka_unit_test(when_is_evaluated_again_after_a_resume),
		cmocka_unit_test(a_null_takes_away),
		cmocka_unit_test(of_two_servers_one_gives_way),
		cmocka_unit_test(an_interrupted_effect_continues_later),
		cmocka_unit_test(expired_items_count_as_missing),
		cmocka_unit_test(an_existing_item_gets_the_attributes_of_with_and_keeps_the_rest),
		cmocka_unit_test(a_counting_item_is_put_with_its_count_and_only_on_existing_targets),
		cmocka_unit_test(rows_written_one_by_one_are_counted_once_through_crashes),
		cmocka_unit_test(ids_follow_from_the_change),
		cmocka_unit_test(a_withdrawn_post_leaves_every_feed),
		cmocka_unit_test(all_rows_of_a_pattern_go_in_steps),
		cmocka_unit_test(a_counting_item_is_removed_with_its_count),
		cmocka_unit_test(an_update_changes_existing_items_and_ignores_missing_ones),
		cmocka_unit_test(counting_creates_a_missing_target),
		cmocka_unit_test(counts_go_by_terms_and_nothing_is_no_write),
		cmocka_unit_test(counts_of_many_rows_are_exact_through_crashes),
		cmocka_unit_test(only_changes_that_when_allows_wake_it),
		cmocka_unit_test(what_lives_while_something_is_so_is_put_and_removed_by_that),
		cmocka_unit_test(what_it_lives_while_may_change_right_before_the_write),
		cmocka_unit_test(an_item_fits_when_the_design_could_have_written_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
