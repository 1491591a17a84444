/* The adversary: its words, its draws, views of the past, and shards that split.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "api/api.h"
#include "api/op/op_streams.h"
#include "base/alloc.h"
#include "fault/fault.h"
#include "table/control/control.h"

static struct arena arena;

static int arena_setup(void **state)
{
	arena_init(&arena);
	return 0;
}

static int arena_teardown(void **state)
{
	arena_release(&arena);
	return 0;
}

static void set(struct faults *f, const char *text)
{
	struct fault_spec spec;
	char why[512] = "";

	if (!fault_spec_parse(&arena, slice_str(text), &spec, why, sizeof(why)))
		fail_msg("%s: %s", text, why);
	assert_true(faults_set(f, &spec));
}

static const char *printed(struct faults *f)
{
	struct buf b;

	buf_init(&b, &arena);
	faults_print(f, &b);
	return arena_cstr(&arena, buf_slice(&b));
}

/* ---- words ---- */

static void what_is_read_is_printed(void **state)
{
	/* clang-format off */
	static const char *const specs[][2] = {
		{ "throttle=5%,seed=42", "throttle=5%,seed=42" },
		{ " latency=5ms..20ms , seed=1 ", "latency=5ms..20ms,seed=1" },
		{ "latency=1s,seed=1", "latency=1s,seed=1" },
		{ "latency=1.5s,seed=1", "latency=1500ms,seed=1" },
		{ "slow=0.5%:200ms,seed=1", "slow=0.5%:200ms,seed=1" },
		{ "drop=0.0001%,drop-after=12.25%,seed=1", "drop=0.0001%,drop-after=12.25%,seed=1" },
		{ "index-lag=2m,ttl-delay=1h,seed=18446744073709551615", "index-lag=120s,ttl-delay=3600s,seed=18446744073709551615" },
		{ "seed=3,conflict=100%,table=orders,conflict=0%", "conflict=100%,table=orders,conflict=0%,seed=3" },
		{ "seed=3,table=a.b-c_1,drop=1%,table=xyz,drop=2%,table=a.b-c_1,throttle=3%",
		  "table=a.b-c_1,drop=1%,throttle=3%,table=xyz,drop=2%,seed=3" },
		{ "none,seed=5", "none,seed=5" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		struct faults *f = faults_new();

		set(f, specs[i][0]);
		assert_string_equal(printed(f), specs[i][1]);
		assert_int_equal(faults_are_on(f), strncmp(specs[i][1], "none", 4) != 0);
		set(f, printed(f)); /* what is printed can be read */
		faults_free(f);
	}
}

static void senseless_specs_are_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		",",
		"throttle",
		"throttle=",
		"throttle=5",
		"throttle=%",
		"throttle=-1%",
		"throttle=100.1%",
		"throttle=1.%",
		"throttle=.5%",
		"throttle=5%%",
		"throttle=1e2%",
		"throttle=99999999999999999999%",
		"latency=",
		"latency=5",
		"latency=5 ms",
		"latency=..5ms",
		"latency=5ms..",
		"latency=6ms..5ms",
		"latency=31x",
		"index-lag=721h",
		"slow=5%",
		"slow=5ms",
		"slow=5ms:5%",
		"seed=",
		"seed=-1",
		"seed=18446744073709551616",
		"seed=4.2",
		"table=",
		"table=ab",
		"table=a b c,drop=1%",
		"table=abc",
		"none,drop=1%",
		"table=abc,none,drop=1%",
		"drop=1%,drop=1%",
		"nothing=5%",
		"THROTTLE=5%",
		"throttle=5%,",
		"=5%",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct fault_spec spec;
		char why[512] = "";

		if (fault_spec_parse(&arena, slice_str(wrong[i]), &spec, why, sizeof(why)))
			fail_msg("'%s' was taken", wrong[i]);
		assert_true(strlen(why) > 10);
	}
}

static void what_is_set_replaces_what_was_set_for_the_same_table(void **state)
{
	struct faults *f = faults_new();

	set(f, "throttle=5%,drop=1%,table=one,conflict=5%,table=two,conflict=6%,seed=1");
	set(f, "throttle=7%");
	assert_string_equal(printed(f), "throttle=7%,table=one,conflict=5%,table=two,conflict=6%,seed=1");
	set(f, "table=one,none");
	assert_string_equal(printed(f), "throttle=7%,table=two,conflict=6%,seed=1");
	set(f, "none");
	assert_string_equal(printed(f), "none,seed=1");
	assert_false(faults_are_on(f));
	set(f, "table=one,ttl-delay=2s");
	assert_int_equal(faults_ttl_delay_ms(f, SLICE("one")), 2000);
	assert_int_equal(faults_ttl_delay_ms(f, SLICE("two")), 0);
	faults_free(f);
}

/* ---- draws ---- */

static unsigned strikes(struct faults *f, const char *table, enum fault_kind k, unsigned n, char *pattern)
{
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++) {
		struct fault_plan p = { 0 };
		bool hit;

		faults_draw(f, slice_str(table), 3, &p);
		hit = fault_strikes(&p, k, slice_str(table), 0);
		assert_int_equal(fault_strikes(&p, k, slice_str(table), 0), hit); /* the same question, the same answer */
		count += hit;
		if (pattern)
			pattern[i] = hit ? 'x' : '.';
	}
	return count;
}

static void a_fault_strikes_as_often_as_it_is_said_to(void **state)
{
	struct faults *f = faults_new();
	unsigned n;

	set(f, "throttle=5%,conflict=100%,table=calm,throttle=0%,seed=42");
	n = strikes(f, "any", FAULT_THROTTLE, 20000, NULL);
	assert_true(n > 850 && n < 1150);
	assert_int_equal(strikes(f, "any", FAULT_CONFLICT, 1000, NULL), 1000);
	assert_int_equal(strikes(f, "calm", FAULT_THROTTLE, 1000, NULL), 0);
	assert_int_equal(strikes(f, "calm", FAULT_CONFLICT, 10, NULL), 10); /* what it does not say is as for all */
	faults_free(f);
}

static void the_same_seed_gives_the_same_faults(void **state)
{
	struct faults *f = faults_new();
	char first[300], again[300], other[300];

	set(f, "throttle=30%,seed=42");
	strikes(f, "any", FAULT_THROTTLE, sizeof(first), first);
	strikes(f, "any", FAULT_THROTTLE, sizeof(again), again);
	assert_memory_not_equal(first, again, sizeof(first)); /* it goes on */
	set(f, "seed=42");
	strikes(f, "other", FAULT_THROTTLE, sizeof(other), other); /* another table does not disturb it */
	strikes(f, "any", FAULT_THROTTLE, sizeof(again), again);
	assert_memory_equal(first, again, sizeof(first));
	assert_memory_not_equal(first, other, sizeof(first));
	set(f, "seed=43");
	strikes(f, "any", FAULT_THROTTLE, sizeof(again), again);
	assert_memory_not_equal(first, again, sizeof(first));
	faults_free(f);
}

static void latency_is_within_its_range_and_all_of_it(void **state)
{
	struct faults *f = faults_new();
	unsigned seen[8] = { 0 };

	set(f, "latency=3ms..7ms,slow=50%:9ms,seed=1");
	for (int i = 0; i < 2000; i++) {
		struct fault_plan p = { 0 };

		faults_draw(f, SLICE("any"), 1, &p);
		assert_true(p.delay_ms >= 3 && p.delay_ms <= 7);
		assert_true(p.hold_ms == 0 || p.hold_ms == 9);
		seen[p.delay_ms]++;
	}
	for (int i = 3; i <= 7; i++)
		assert_true(seen[i] > 250);
	faults_free(f);
}

/* ---- with a database ---- */

struct world {
	char dir[64];
	struct db *db;
	struct faults *faults;
	struct api *api;
	struct api_thread *thread;
};

static void world_open(struct world *w)
{
	char why[256] = "";

	if (db_open(&(struct db_options){ .no_background = true, .dir = w->dir[0] ? w->dir : NULL }, &w->db, why,
		    sizeof(why)) != STORE_OPENED)
		fail_msg("%s", why);
	w->faults = faults_new();
	assert_true(faults_attach(w->faults, w->db));
	w->api = api_new(&(struct api_options){ .db = w->db, .faults = w->faults });
	w->thread = api_thread_new(w->api);
}

static void world_close(struct world *w)
{
	api_thread_free(w->thread);
	api_free(w->api);
	faults_detach(w->faults);
	db_close(w->db);
	faults_free(w->faults);
}

/* A call from outside; the reply's text. */
static const char *ask(struct world *w, const char *op, const char *body, int *status)
{
	struct api_call c = {
		.arena = &arena, .target = api_target(&arena, op), .body = slice_str(body), .outside = true
	};

	if (api_has_faults(w->api))
		(void)api_draw_faults(w->api, &c);
	api_call_wait(w->api, w->thread, &c);
	if (status)
		*status = c.status;
	return arena_cstr(&arena, c.reply);
}

static void must(struct world *w, const char *op, const char *body)
{
	int status;
	const char *reply = ask(w, op, body, &status);

	if (status != 200)
		fail_msg("%s: %s", op, reply);
}

#define CREATE                                                                                                                   \
	"{\"TableName\":\"things\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[{\"AttributeName\":\"pk\","     \
	"\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}],\"GlobalSecondaryIndexes\":[" \
	"{\"IndexName\":\"all\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}],\"Projection\":{"                \
	"\"ProjectionType\":\"ALL\"}}],\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"KEYS_ONLY\"}}"
#define PUT  "{\"TableName\":\"things\",\"Item\":{\"pk\":{\"S\":\"%d\"}}}"
#define SCAN "{\"TableName\":\"things\",\"IndexName\":\"all\",\"Select\":\"COUNT\"}"

static void put(struct world *w, int i)
{
	must(w, "PutItem", arena_cstr(&arena, arena_printf(&arena, PUT, i)));
}

static bool shows(struct world *w, int items)
{
	char expected[32];

	snprintf(expected, sizeof(expected), "\"Count\":%d,", items);
	return strstr(ask(w, "Scan", SCAN, NULL), expected) != NULL;
}

static void an_index_lags_from_the_moment_it_is_set(void **state)
{
	struct world w = { 0 };
	int64_t begun;

	world_open(&w);
	must(&w, "CreateTable", CREATE);
	put(&w, 1);
	assert_true(shows(&w, 1));
	set(w.faults, "index-lag=300ms");
	begun = clock_monotonic_us();
	put(&w, 2);
	assert_true(shows(&w, 1));
	while (!shows(&w, 2))
		usleep(5000);
	assert_true(clock_monotonic_us() - begun >= 300000);
	put(&w, 3);
	assert_true(shows(&w, 2));
	set(w.faults, "none");
	assert_true(shows(&w, 3));
	set(w.faults, "index-lag=10s"); /* and no view from before is left */
	put(&w, 4);
	assert_true(shows(&w, 3));
	arena_clear(&arena); /* requests have ended */
	world_close(&w);
}

/* Reads hold views while others are released (ASan, TSan). */
struct reader {
	struct world *w;
	atomic_bool *stop;
	pthread_t thread;
	unsigned long reads;
};

static void *read_on(void *arg)
{
	struct reader *r = arg;

	while (!atomic_load(r->stop)) {
		struct api_thread *t = api_thread_new(r->w->api);
		struct arena a;
		struct api_call c = { .arena = &a, .body = SLICE(SCAN), .outside = true };

		arena_init(&a);
		c.target = api_target(&a, "Scan");
		if (api_has_faults(r->w->api))
			(void)api_draw_faults(r->w->api, &c);
		api_call_wait(r->w->api, t, &c);
		if (c.status == 200)
			r->reads++;
		arena_release(&a);
		api_thread_free(t);
	}
	return NULL;
}

static void readers_and_operators_do_not_disturb_each_other(void **state)
{
	struct world w = { 0 };
	struct reader readers[3];
	atomic_bool stop = false;

	world_open(&w);
	must(&w, "CreateTable", CREATE);
	put(&w, 1);
	for (int i = 0; i < 3; i++) {
		readers[i] = (struct reader){ .w = &w, .stop = &stop };
		assert_int_equal(pthread_create(&readers[i].thread, NULL, read_on, &readers[i]), 0);
	}
	for (int i = 0; i < 40; i++) {
		set(w.faults, i % 3 ? "index-lag=20ms,table=things,throttle=10%,split-shards=10ms" : "none");
		(void)ask(&w, "PutItem", arena_cstr(&arena, arena_printf(&arena, PUT, i)), NULL);
		usleep(10000);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < 3; i++) {
		pthread_join(readers[i].thread, NULL);
		assert_true(readers[i].reads > 0);
	}
	world_close(&w);
}

/* ---- shards ---- */

static const struct table *things(struct world *w)
{
	return catalog_table(db_catalog(w->db, &arena), SLICE("things"));
}

static void split(struct world *w)
{
	const struct table *t = things(w);
	struct control c = { .kind = CONTROL_SPLIT_STREAM, .table_id = t->id, .stream_id = t->stream->id };
	struct write_request r = { .arena = &arena, .mode = REQUEST_CONTROL, .control = &c };

	db_submit_wait(w->db, &r);
	assert_true(r.error.code == ERR_NONE && c.worked == 1);
}

/* Every (sequence number, hash) is in exactly one shard, and shards go from parents to children without a gap. */
static void check_shards(const struct stream *s)
{
	size_t n = shards_count(s, true);
	struct slice before = SLICE("");

	for (size_t i = 0; i < n; i++) {
		struct shard shard = shards_at(s, true, i), back;
		struct slice id = shard_id_text(s, shard, &arena);
		struct shard_facts f, parent;

		assert_true(shard_find(s, true, shard, &f));
		assert_true(slice_cmp(before, id) < 0);
		before = id;
		assert_true(shard_id_parse(s, true, id, &back) && back.era == shard.era && back.number == shard.number);
		assert_true(f.first < f.end && f.fixed < s->shards && f.fixed == shard.number >> f.depth);
		assert_int_equal(f.has_parent, shard.era != 0);
		if (!f.has_parent)
			continue;
		assert_true(shard_find(s, true, f.parent, &parent));
		assert_true(parent.end == f.first && parent.fixed == f.fixed && parent.depth <= f.depth);
		assert_int_equal(f.parent.number, shard.number >> (f.depth - parent.depth));
	}
}

static void count_record(void *ctx, const struct stream_record *r)
{
	(void)r;
	++*(int *)ctx;
}

/* A reader has looked the shard up; then the shard is split, and there are more records. They are its children's
 * alone. */
static void records_after_a_split_are_not_in_the_parent_though_it_was_looked_up_before(void **state)
{
	struct world w = { .dir = "/tmp/thorpe-fault-XXXXXX" };
	struct op_state s = { .arena = &arena, .outside = true };
	struct records_place places[4], again;
	struct shard_iterator it;
	struct error e = { 0 };
	int before = 0, after = 0;
	struct slice next;

	(void)state;
	assert_non_null(mkdtemp(w.dir));
	world_open(&w);
	must(&w, "CreateTable", CREATE);
	for (int i = 0; i < 10; i++)
		put(&w, i);
	s.db = w.db;
	it = (struct shard_iterator){ .arn = stream_arn(things(&w), things(&w)->stream, &arena) };
	it.issued_ms = db_time_ms(w.db);
	for (size_t i = 0; i < 4; i++) {
		it.shard = shards_at(things(&w)->stream, true, i);
		assert_true(records_at(&s, shard_iterator_text(&it, &arena), &places[i], &e));
	}
	split(&w);
	for (int i = 10; i < 40; i++)
		put(&w, i);
	for (size_t i = 0; i < 4; i++) {
		assert_true(records_read(&s, &places[i], 0, (struct records_sink){ count_record, &before }, &next, &e));
		assert_true(next.n > 0); /* that it has ended is for the next page to say */
		assert_true(records_at(&s, next, &again, &e));
		assert_true(records_read(&s, &again, 0, (struct records_sink){ count_record, &after }, &next, &e));
		assert_int_equal(next.n, 0);
	}
	assert_int_equal(before, 10);
	assert_int_equal(after, 0);
	world_close(&w);
}

static void shards_split_until_there_are_enough_of_them(void **state)
{
	struct world w = { .dir = "/tmp/thorpe-fault-XXXXXX" };
	const size_t expected[] = { 4, 12, 20, 36, 52 };
	const struct stream *s;
	char command[128];
	struct shard shard;
	struct slice ids;
	struct buf b;

	assert_non_null(mkdtemp(w.dir));
	world_open(&w);
	must(&w, "CreateTable", CREATE);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(shards_count(things(&w)->stream, true), expected[i]);
		check_shards(things(&w)->stream);
		put(&w, i);
		split(&w);
	}
	for (int i = 0; i < 2 * STREAM_SPLITS_MAX; i++)
		split(&w);
	s = things(&w)->stream;
	assert_int_equal(s->split_count, STREAM_SPLITS_MAX);
	check_shards(s);
	assert_int_equal(shards_count(s, false), 4); /* in this process nothing was split */
	assert_false(shard_id_parse(s, false, shard_id_text(s, shards_at(s, true, 50), &arena), &shard));
	buf_init(&b, &arena);
	for (size_t i = 0; i < shards_count(s, true); i++)
		buf_put(&b, shard_id_text(s, shards_at(s, true, i), &arena));
	ids = buf_slice(&b);
	world_close(&w);
	world_open(&w);
	s = things(&w)->stream;
	check_shards(s);
	buf_init(&b, &arena);
	for (size_t i = 0; i < shards_count(s, true); i++)
		buf_put(&b, shard_id_text(s, shards_at(s, true, i), &arena));
	assert_true(slice_equal(ids, buf_slice(&b)));
	world_close(&w);
	snprintf(command, sizeof(command), "rm -rf %s", w.dir);
	assert_int_equal(system(command), 0);
}

/* ---- memory ---- */

static void memory_that_runs_out_gives_a_clean_reply(void **state)
{
	/* clang-format off */
	static const struct {
		const char *op, *body;
	} calls[] = {
		{ "BatchWriteItem", "{\"RequestItems\":{\"things\":[{\"PutRequest\":{\"Item\":{\"pk\":{\"S\":\"1\"}}}},{\"PutRequest\":{\"Item\":"
				    "{\"pk\":{\"S\":\"2\"}}}},{\"DeleteRequest\":{\"Key\":{\"pk\":{\"S\":\"3\"}}}}]}}" },
		{ "BatchGetItem", "{\"RequestItems\":{\"things\":{\"Keys\":[{\"pk\":{\"S\":\"1\"}},{\"pk\":{\"S\":\"2\"}}]}}}" },
		{ "TransactWriteItems", "{\"TransactItems\":[{\"Put\":{\"TableName\":\"things\",\"Item\":{\"pk\":{\"S\":\"1\"}}}}]}" },
		{ "PutItem", "{\"TableName\":\"things\",\"Item\":{\"pk\":{\"S\":\"1\"}}}" },
		{ "Scan", SCAN },
	};
	/* clang-format on */
	struct world w = { 0 };

	world_open(&w);
	must(&w, "CreateTable", CREATE);
	set(w.faults, "throttle=50%,conflict=20%,index-lag=1s,error-after=10%,seed=1");
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		for (long n = 0; n < 40; n++) {
			struct arena a;
			struct api_call c = { .arena = &a, .body = slice_str(calls[i].body), .outside = true };

			arena_init(&a);
			c.target = api_target(&a, calls[i].op);
			(void)api_draw_faults(w.api, &c);
			alloc_fail_after(n / 2);
			api_call_wait(w.api, w.thread, &c);
			alloc_fail_never();
			assert_true(c.status == 200 || c.status == 400 || c.status == 500);
			assert_true(c.reply.n >= 2 && c.reply.p[0] == '{' && c.reply.p[c.reply.n - 1] == '}');
			assert_non_null(json_parse(&arena, c.reply));
			arena_release(&a);
		}
	world_close(&w);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_is_read_is_printed),
		TEST(senseless_specs_are_refused),
		TEST(what_is_set_replaces_what_was_set_for_the_same_table),
		TEST(a_fault_strikes_as_often_as_it_is_said_to),
		TEST(the_same_seed_gives_the_same_faults),
		TEST(latency_is_within_its_range_and_all_of_it),
		TEST(an_index_lags_from_the_moment_it_is_set),
		TEST(readers_and_operators_do_not_disturb_each_other),
		TEST(records_after_a_split_are_not_in_the_parent_though_it_was_looked_up_before),
		TEST(shards_split_until_there_are_enough_of_them),
		TEST(memory_that_runs_out_gives_a_clean_reply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
