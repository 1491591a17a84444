/* Feeds in every order: people unfollow, come back, are blocked; posts are deleted, hidden and shown again; and each
 * processor of designs/social.yaml runs at any time in between, or not before the end.
 *
 * What must hold when all have run: the row is in the feed exactly when the reader follows the author and the post is
 * there for followers. The steps of processors are taken by hand, a processor at a time, each up to the end of its
 * shards. SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "effect_helper.h"

#define PROCESSORS 5
static const char *const names[PROCESSORS] = {
	"deliver a post to followers",     "withdraw a post that is deleted or private now",
	"fill the feed of a new follower", "empty the feed after an unfollow",
	"empty the feed after a block",
};
enum { DELIVER = 1, WITHDRAW = 2, FILL = 4, UNFOLLOWED = 8, BLOCKED = 16 };

#define SHARDS   8
#define SEQUENCE 64

static struct world world;
static struct app_fixture *f = &world.f;
static struct arena whole; /* of the fixture; a scenario has its own */
static struct clock clock_fixed = { .now_ms = app_fixture_now };
static struct slice stream;
static char shards[SHARDS][SEQUENCE];
static size_t shard_count;
static struct track {          /* of a processor at a shard */
	char seen[SEQUENCE];   /* changes up to here have been looked at */
	char stored[SEQUENCE]; /* what the table has */
	bool is_stored;
} tracks[PROCESSORS][SHARDS];
static int scenario;
static char reader[32], author[32], post[32];

/* ---- the world ---- */

static const char *read_design(void)
{
	static char text[1 << 20];
	FILE *in = fopen(THORPE_ROOT "/designs/social.yaml", "rb");

	assert_non_null(in);
	assert_true(fread(text, 1, sizeof(text) - 1, in) > 0);
	fclose(in);
	return strstr(text, "\ndesign:") + 1;
}

static int setup(void **state)
{
	struct shard_list list;
	struct run *r;

	(void)state;
	app_fixture_open_with(f, read_design(), &(struct db_options){ .clock = &clock_fixed, .no_background = true });
	r = world_run(&world);
	must(r, checkpoint_provision(r), "the table of positions");
	list = world_shards(&world);
	stream = list.stream_arn;
	shard_count = list.count;
	assert_true(shard_count <= SHARDS);
	for (size_t i = 0; i < shard_count; i++)
		snprintf(shards[i], SEQUENCE, "%.*s", SLICE_ARG(list.list[i].id));
	memset(tracks, 0, sizeof(tracks));
	whole = f->arena;
	arena_init(&f->arena);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&f->arena);
	f->arena = whole;
	world_close(&world);
	return 0;
}

/* ---- processors ---- */

static void copy(char to[SEQUENCE], struct slice s)
{
	snprintf(to, SEQUENCE, "%.*s", SLICE_ARG(s));
}

static void step_shard(size_t p, size_t shard)
{
	const struct processor *processor = processor_named(&world, names[p]);
	struct track *t = &tracks[p][shard];
	struct shard_position from = { .where = t->seen[0] ? AFTER_SEQUENCE : AT_OLDEST,
				       .sequence = slice_str(t->seen) };
	struct run *r = world_run(&world);
	struct change_page page;
	struct slice iterator;

	must(r,
	     dyn_take_iterator(r, stream, slice_str(shards[shard]), &from, &iterator) &&
		     change_read(r, iterator, 1000, &page),
	     "changes");
	for (size_t i = 0; i < page.count; i++) {
		struct position at = { .processor = processor->name,
				       .shard = slice_str(shards[shard]),
				       .sequence = slice_str(t->stored),
				       .stored = t->is_stored };
		enum effect_end end = effect_apply(r, processor, &page.list[i], &at);

		if (end == EFFECT_FAILED && r->problem.type == PROBLEM_BUSY) { /* as a track does: from the reading */
			r->problem = (struct problem){ 0 };
			end = effect_apply(r, processor, &page.list[i], &at);
		}
		must(r, end == EFFECT_NONE || end == EFFECT_DONE, names[p]);
		copy(t->seen, page.list[i].sequence);
		if (end == EFFECT_DONE) {
			copy(t->stored, at.sequence);
			t->is_stored = true;
		}
	}
}

static void step(size_t p)
{
	for (size_t i = 0; i < shard_count; i++)
		step_shard(p, i);
}

/* Those in the mask, beginning with the `first`. */
static void steps(unsigned mask, size_t first)
{
	for (size_t i = 0; i < PROCESSORS; i++)
		if (mask >> (i + first) % PROCESSORS & 1)
			step((i + first) % PROCESSORS);
}

/* ---- people ---- */

#define TEXT(...) arena_cstr(&f->arena, arena_printf(&f->arena, __VA_ARGS__))

static void happen(char event)
{
	const char *edge = TEXT("%s/%s", reader, author);

	switch (event) {
	case 'F': created(f, reader, "Follow", edge, "{}"); return;
	case 'U': deleted(f, reader, "Follow", edge); return;
	case 'M': acted(f, reader, "Follow", edge, "mute", NULL); return;
	case 'A': acted(f, reader, "Follow", edge, "unmute", NULL); return;
	case 'B': acted(f, author, "Follow", edge, "block", NULL); return;
	case 'N': deleted(f, author, "Follow", edge); return; /* unblocks */
	case 'D': deleted(f, author, "Post", post); return;
	case 'H': updated(f, author, "Post", post, "{\"visibility\":\"private\"}"); return;
	case 'S': updated(f, author, "Post", post, "{\"visibility\":\"followers\"}"); return;
	default: fail_msg("nobody knows what %c is", event);
	}
}

static bool is(struct value item, const char *name, const char *value)
{
	return value_type(value_get(item, slice_str(name))) == VALUE_S &&
	       slice_is(value_bytes(value_get(item, slice_str(name))), value);
}

static bool has_row(void)
{
	struct run *r = world_run(&world);
	struct dyn_condition where = { .attribute = SLICE("PK"),
				       .op = WHERE_EQ,
				       .value = value_make_s(r->arena, slice_str(TEXT("FEED#%s", reader))) };
	struct dyn_query q = { .where = &where, .where_count = 1, .consistent = true };
	struct dyn_page page;

	must(r, dyn_query(r, &q, &page), "the feed");
	assert_true(page.count <= 1);
	return page.count == 1;
}

/* ---- scenarios ---- */

static const char *schedule_text(const char *events, const unsigned *gaps, size_t first)
{
	struct buf b;

	buf_init(&b, &f->arena);
	for (size_t i = 0; events[i]; i++)
		buf_printf(&b, "%c [%x] ", events[i], gaps[i]);
	buf_printf(&b, "then all from %zu", first);
	return arena_cstr(&f->arena, buf_slice(&b));
}

static void begin(void)
{
	arena_clear(&f->arena);
	scenario++;
	snprintf(reader, sizeof(reader), "r%d", scenario);
	snprintf(author, sizeof(author), "a%d", scenario);
	snprintf(post, sizeof(post), "p%d", scenario);
	for (int i = 0; i < 2; i++) {
		const char *id = i ? author : reader;

		created(f, "!", "User", NULL,
			TEXT("{\"user_id\":\"%s\",\"username\":\"name%s\",\"email\":\"%s@example.com\"}", id, id, id));
	}
}

static void make_post(void)
{
	created(f, "!", "Post", NULL, TEXT("{\"post_id\":\"%s\",\"author_id\":\"%s\",\"content\":\"x\"}", post, author));
}

static bool should_have_row(void)
{
	struct value edge = stored(f, TEXT("USER#%s", reader), TEXT("FOLLOWING#%s", author));
	struct value item = stored(f, TEXT("POST#%s", post), "METADATA");

	return (is(edge, "status", "active") || is(edge, "status", "muted")) && value_present(item) &&
	       !value_bool(value_get(item, SLICE("is_deleted"))) && !is(item, "visibility", "private");
}

/* One schedule: after the i-th event those of gaps[i] run; in the end all do, beginning with `first`. */
static void play(const char *events, const unsigned *gaps, size_t first)
{
	begin();
	make_post();
	happen('F');
	steps(~0u, 0);
	assert_true(has_row());
	for (size_t i = 0; events[i]; i++) {
		happen(events[i]);
		steps(gaps[i], first);
	}
	steps(~0u, first);
	if (has_row() != should_have_row())
		fail_msg("%s: the row is %sthere", schedule_text(events, gaps, first), has_row() ? "" : "not ");
}

/* All subsets of the processors in `who` in each gap but the last, which is the end. */
static void play_all(const char *events, unsigned who)
{
	size_t n = strlen(events), places = 0, at[PROCESSORS * 8];
	unsigned gaps[8];

	assert_true(n <= 8);
	for (size_t g = 0; g + 1 < n; g++)
		for (size_t p = 0; p < PROCESSORS; p++)
			if (who >> p & 1)
				at[places++] = g * PROCESSORS + p;
	for (unsigned long choice = 0; choice < 1ul << places; choice++) {
		memset(gaps, 0, sizeof(gaps));
		for (size_t i = 0; i < places; i++)
			if (choice >> i & 1)
				gaps[at[i] / PROCESSORS] |= 1u << at[i] % PROCESSORS;
		play(events, gaps, (choice ^ choice >> 3) % PROCESSORS);
	}
}

static void a_post_is_deleted_while_its_reader_is_away(void **state)
{
	(void)state;
	play_all("UDF", WITHDRAW | FILL | UNFOLLOWED);
	play_all("DUF", WITHDRAW | FILL | UNFOLLOWED);
	play_all("UFD", WITHDRAW | FILL | UNFOLLOWED);
}

static void a_post_is_hidden_and_shown_while_its_reader_comes_and_goes(void **state)
{
	(void)state;
	play_all("UHF", DELIVER | WITHDRAW | FILL | UNFOLLOWED);
	play_all("HUS", DELIVER | WITHDRAW | UNFOLLOWED);
	play_all("HSU", DELIVER | WITHDRAW | UNFOLLOWED);
	play_all("HUFS", WITHDRAW | UNFOLLOWED);
	play_all("UHSF", WITHDRAW | UNFOLLOWED);
	play_all("UHFS", WITHDRAW | UNFOLLOWED);
}

static void a_reader_is_blocked_let_back_and_mutes(void **state)
{
	(void)state;
	play_all("BDNF", WITHDRAW | BLOCKED);
	play_all("BNFD", FILL | BLOCKED);
	play_all("MDA", WITHDRAW | FILL);
	play_all("UFU", FILL | UNFOLLOWED);
	play_all("UFUF", FILL | UNFOLLOWED);
}

/* ---- between the decision and the write ---- */

static struct backend really;   /* the backend as it is */
static const char *meanwhile;   /* events */
static unsigned meanwhile_runs; /* processors, after each */

/* Another processor's thread, and people, are quicker than the transaction that carries a row of a feed. */
static void come_between(const struct request_write *w)
{
	const char *events = meanwhile;
	bool feed = false;

	for (size_t i = 0; i < w->count; i++) {
		struct value v = value_present(w->actions[i].item) ? w->actions[i].item : w->actions[i].key;

		feed = feed || slice_starts(value_bytes(value_get(v, SLICE("PK"))), SLICE("FEED#"));
	}
	if (feed && w->count > 1) {
		meanwhile = "";
		for (; *events; events++) {
			happen(*events);
			steps(meanwhile_runs, 0);
		}
	}
}

static void execute_late(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	if (q->kind == REQUEST_WRITE)
		come_between(&q->write);
	really.execute(b, a, q, reply);
}

static struct started *start_late(struct backend *b, struct arena *a, const struct request *q)
{
	come_between(&q->write);
	return really.start(b, a, q);
}

/* `before` happens, and where it says | those in `ran` run; then `who` runs, and before it writes `events` happen, and
 * `run` run. */
static void interrupt(const char *before, unsigned ran, size_t who, const char *events, unsigned run)
{
	begin();
	for (; *before; before++)
		if (*before == '|')
			steps(ran, 0);
		else if (*before == 'P')
			make_post();
		else
			happen(*before);
	meanwhile = events;
	meanwhile_runs = run;
	really = *f->backend;
	f->backend->execute = execute_late;
	f->backend->start = start_late;
	step(who);
	*f->backend = really;
	assert_string_equal(meanwhile, ""); /* it was interrupted */
	steps(~0u, 0);
	if (has_row() != should_have_row())
		fail_msg("%zu, interrupted by %s: the row is %sthere", who, events, has_row() ? "" : "not ");
}

static void a_change_right_before_the_write_is_seen(void **state)
{
	(void)state;
	/* deliver: the reader leaves, or the post goes, and those who empty feeds are through before the row is put */
	interrupt("F|P", FILL, 0, "U", UNFOLLOWED);
	interrupt("F|P", FILL, 0, "D", WITHDRAW);
	interrupt("F|P", FILL, 0, "H", WITHDRAW);
	interrupt("F|P", FILL, 0, "B", BLOCKED);
	interrupt("F|P", FILL, 0, "UF", UNFOLLOWED | FILL);
	/* fill */
	interrupt("P|F", DELIVER, 2, "U", UNFOLLOWED);
	interrupt("P|F", DELIVER, 2, "D", WITHDRAW);
	interrupt("P|F", DELIVER, 2, "HS", WITHDRAW | DELIVER);
	/* whoever empties has decided, and the row becomes right before it goes */
	interrupt("PF|U", DELIVER | FILL, 3, "F", FILL);
	interrupt("PF|H", DELIVER | FILL, 1, "S", DELIVER);
}

static bool is_post(struct value key)
{
	return slice_starts(value_bytes(value_get(key, SLICE("PK"))), SLICE("POST#"));
}

/* Posts as they were before `meanwhile`, all else as it is after: a BatchGetItem is not a snapshot. */
static void read_slowly(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	const char *events = meanwhile;
	struct reply before;

	really.execute(b, a, q, reply);
	if (q->kind != REQUEST_BATCH_GET || q->batch.count < 2)
		return;
	before = *reply;
	meanwhile = "";
	for (; *events; events++) {
		happen(*events);
		steps(meanwhile_runs, 0);
	}
	really.execute(b, a, q, reply);
	for (size_t i = 0; i < q->batch.count; i++)
		reply->items[i] = is_post(q->batch.keys[i]) ? before.items[i] : reply->items[i];
}

static void kept_rows_were_right_at_one_moment(void **state)
{
	(void)state;
	begin();
	make_post();
	happen('F');
	steps(DELIVER | FILL, 0);
	happen('U');
	meanwhile = "DF";
	meanwhile_runs = WITHDRAW;
	really = *f->backend;
	f->backend->execute = read_slowly;
	step(3);
	*f->backend = really;
	assert_string_equal(meanwhile, "");
	steps(~0u, 0);
	assert_false(should_have_row());
	assert_false(has_row());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_post_is_deleted_while_its_reader_is_away, setup, teardown),
		cmocka_unit_test_setup_teardown(a_post_is_hidden_and_shown_while_its_reader_comes_and_goes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_reader_is_blocked_let_back_and_mutes, setup, teardown),
		cmocka_unit_test_setup_teardown(a_change_right_before_the_write_is_seen, setup, teardown),
		cmocka_unit_test_setup_teardown(kept_rows_were_right_at_one_moment, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
