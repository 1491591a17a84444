/* Concurrent transactions of a fan-out: every row is written exactly once, whichever transaction fails, and whatever
 * other servers do. SPDX-License-Identifier: Apache-2.0 */
#include "effect_helper.h"

#define READERS 520 /* five full transactions, and some */

static const char design[] = "entities:\n"
			     "  Note:\n"
			     "    path: /notes/<id>\n"
			     "    attributes: {id: 'string, required, fixed'}\n"
			     "    keys: {PK: 'NOTE#<id>', SK: NOTE}\n"
			     "    allow: {read, create, update, delete: anyone}\n"
			     "  Reader:\n"
			     "    path: /readers/<name>\n"
			     "    attributes: {name: 'string, required, fixed', rung: counter}\n"
			     "    keys: {PK: READERS, SK: '<name>'}\n"
			     "    allow: {read, create, delete: anyone}\n"
			     "  Bell:\n"
			     "    path: /bells/<name>\n"
			     "    attributes: {name: 'string, required, fixed', rung: counter}\n"
			     "    keys: {PK: 'BELL#<name>', SK: BELL}\n"
			     "    allow: {read, create, delete: anyone}\n"
			     "access:\n"
			     "  readers: {query: table, where: {PK: READERS}}\n"
			     "processors:\n"
			     "  ring:\n"
			     "    on: Note created\n"
			     "    each: reader in readers()\n"
			     "    count: Bell(reader.name).rung\n";

static struct world w;

/* ---- a backend that something happens to at the n-th transaction ---- */

struct eventful {
	struct backend backend; /* the real one's, but for writes */
	struct backend *inner;
	int left; /* transactions until then */
	int started;
	enum effect_end rival;
	bool dies; /* nothing is written from then on; otherwise a rival does the change */
};

static enum effect_end apply(struct backend *b);

static bool happens(struct eventful *x)
{
	if (x->left-- > 0)
		return false;
	if (x->dies)
		return true;
	if (x->left == -1)
		x->rival = apply(x->inner);
	return false;
}

static void eventful_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			  struct backend_reply *reply)
{
	backend_call(((struct eventful *)b)->inner, a, operation, body, reply);
}

static void eventful_execute(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	struct eventful *x = (struct eventful *)b;
	bool writes = q->kind == REQUEST_WRITE && request_is_transaction(&q->write);

	if (writes && happens(x)) {
		*reply = (struct reply){ .status = 500, .error = SLICE("InternalServerError") };
		return;
	}
	x->started += writes;
	backend_execute(x->inner, a, q, reply);
}

static struct started *eventful_start(struct backend *b, struct arena *a, const struct request *q)
{
	struct eventful *x = (struct eventful *)b;

	if (happens(x))
		return NULL;
	x->started++;
	return backend_start(x->inner, a, q);
}

static struct eventful eventful(int left, bool dies)
{
	return (struct eventful){
		.backend = { .call = eventful_call, .execute = eventful_execute, .start = eventful_start },
		.inner = w.f.backend,
		.left = left,
		.dies = dies
	};
}

/* ---- the change ---- */

static int setup(void **state)
{
	struct run *r;

	(void)state;
	world_open(&w, design);
	r = app_fixture_run(&w.f, "!");
	for (int i = 0; i < READERS; i++) {
		struct row f;
		bool made;

		row_init(&f, r->arena, NULL);
		row_put(&f, SLICE("name"), value_make_s(r->arena, arena_printf(r->arena, "r%03d", i)));
		must(r, write_put(r, entity_named(r, "Reader"), &f, &made), "Reader");
		must(r, write_put(r, entity_named(r, "Bell"), &f, &made), "Bell");
	}
	created(&w.f, "!", "Note", "n", "{}");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	world_close(&w);
	return 0;
}

/* From where the table says. */
static enum effect_end apply(struct backend *b)
{
	const struct processor *p = processor_named(&w, "ring");
	struct shard_list shards = world_shards(&w);
	enum effect_end end = EFFECT_NONE;

	for (size_t i = 0; i < shards.count && end == EFFECT_NONE; i++) {
		struct run *r = world_run(&w);
		struct position at;
		struct change *list;
		size_t n;

		must(r, checkpoint_load(r, p->name, shards.list[i].id, &at), "position");
		n = world_changes(&w, shards.stream_arn, shards.list[i].id, at.sequence, &list);
		r->backend = b;
		for (size_t k = 0; k < n && end == EFFECT_NONE; k++)
			end = effect_apply(r, p, &list[k], &at);
	}
	return end;
}

/* How many times all bells have rung together; none of them more than once. */
static int rung(void)
{
	int sum = 0;

	for (int i = 0; i < READERS; i++) {
		struct run *r = world_run(&w);
		struct value v = stored(&w.f, arena_cstr(r->arena, arena_printf(r->arena, "BELL#r%03d", i)), "BELL");
		int64_t n = value_present(v) ? number(v, "rung") : 0;

		assert_in_range(n, 0, 1);
		sum += (int)n;
	}
	return sum;
}

/* ---- tests ---- */

static void several_are_under_way_and_each_row_is_written_once(void **state)
{
	struct eventful x = eventful(1000, true);

	(void)state;
	assert_int_equal(apply(&x.backend), EFFECT_DONE);
	assert_int_equal(x.started, 6);
	assert_int_equal(rung(), READERS);
	assert_int_equal(apply(w.f.backend), EFFECT_NONE);
}

static void after_a_death_the_rest_is_done(void **state)
{
	int deaths = 0;

	(void)state;
	for (int i = 0; i < 20; i++) {
		struct eventful x = eventful(i % 3, true);
		enum effect_end end = apply(&x.backend);

		if (end == EFFECT_DONE) {
			assert_true(deaths > 2);
			assert_int_equal(rung(), READERS);
			assert_int_equal(apply(w.f.backend), EFFECT_NONE);
			return;
		}
		assert_int_equal(end, EFFECT_FAILED);
		deaths++;
		(void)rung();
	}
	fail_msg("it comes to no end");
}

static void after_a_refusal_later_ones_are_repeated(void **state)
{
	struct eventful x = eventful(1000, true);

	(void)state;
	deleted(&w.f, "!", "Bell", "r150"); /* in the second: it has to be made first */
	deleted(&w.f, "!", "Bell", "r519"); /* in the last */
	assert_int_equal(apply(&x.backend), EFFECT_DONE);
	assert_int_equal(rung(), READERS);
	assert_int_equal(apply(w.f.backend), EFFECT_NONE);
}

static void of_two_servers_one_gives_way(void **state)
{
	(void)state;
	for (int i = 0; i < 6; i++) {
		struct eventful x;

		if (i) {
			teardown(NULL);
			setup(NULL);
		}
		x = eventful(i, false);
		/* With some of the first one's transactions under way, either may have to start again. */
		if (apply(&x.backend) == EFFECT_DONE)
			assert_int_equal(x.rival, EFFECT_LOST);
		else
			assert_true(i || x.rival == EFFECT_DONE);
		while (apply(w.f.backend) != EFFECT_NONE)
			;
		assert_int_equal(rung(), READERS);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(several_are_under_way_and_each_row_is_written_once),
		TEST(after_a_death_the_rest_is_done),
		TEST(after_a_refusal_later_ones_are_repeated),
		TEST(of_two_servers_one_gives_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
