/* The writer: conditions, updates, batches, transactions, indexes, counters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/layout.h"
#include "writes.h"

#define ITEM_A "{'pk':{'S':'a'},'v':{'N':'1'}}"
#define KEY_A  "{'pk':{'S':'a'}}"

static void assert_counts(struct fixture *f, const char *table, int64_t items, int64_t bytes)
{
	const struct table *t = table_of(f, table);

	assert_int_equal(atomic_load(&t->stats->items), items);
	assert_int_equal(atomic_load(&t->stats->bytes), bytes);
}

/* ---- one action ---- */
static void a_put_replaces_and_shows_what_was(void **state)
{
	struct fixture *f = *state;
	struct write_action w;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	w = action(f, WRITE_PUT, "t", ITEM_A);
	submit(f, REQUEST_EACH, &w, 1);
	assert_int_equal(w.error.code, ERR_NONE);
	assert_false(value_present(w.old_item));
	assert_counts(f, "t", 1, 6);
	w = action(f, WRITE_PUT, "t", "{'pk':{'S':'a'},'long':{'S':'1234'}}");
	submit(f, REQUEST_EACH, &w, 1);
	assert_string_equal(item_text(f, w.old_item), ITEM_A);
	assert_counts(f, "t", 1, 11);
	w = action(f, WRITE_DELETE, "t", KEY_A);
	submit(f, REQUEST_EACH, &w, 1);
	assert_true(value_present(w.old_item));
	assert_false(value_present(w.new_item));
	assert_null(get(f, "t", KEY_A));
	assert_counts(f, "t", 0, 0);
}

static void a_failed_condition_leaves_no_trace(void **state)
{
	struct fixture *f = *state;
	struct write_action w;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NEW_IMAGE);
	put(f, "t", ITEM_A);
	w = action(f, WRITE_PUT, "t", "{'pk':{'S':'a'},'v':{'N':'2'}}");
	only_if(f, &w, "attribute_not_exists(pk)", NULL);
	submit(f, REQUEST_EACH, &w, 1);
	assert_error(f, &w.error, ERR_CONDITION_FAILED, "The conditional request failed");
	assert_false(value_present(w.old_item));
	assert_true(w.capacity.table_units == 1);
	w.return_old_on_failure = true;
	submit(f, REQUEST_EACH, &w, 1);
	assert_string_equal(item_text(f, w.old_item), ITEM_A);
	assert_string_equal(get(f, "t", KEY_A), ITEM_A);
}

static void an_update_makes_an_item_and_changes_it(void **state)
{
	struct fixture *f = *state;
	struct write_action w;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	for (int i = 0; i < 2; i++) {
		w = action(f, WRITE_UPDATE, "t", KEY_A);
		with_update(f, &w, "ADD v :one", "{':one':{'N':'1'}}");
		submit(f, REQUEST_EACH, &w, 1);
		assert_int_equal(w.error.code, ERR_NONE);
	}
	assert_string_equal(item_text(f, w.old_item), ITEM_A);
	assert_string_equal(get(f, "t", KEY_A), "{'pk':{'S':'a'},'v':{'N':'2'}}");
	w = action(f, WRITE_UPDATE, "t", "{'pk':{'S':'bare'}}");
	submit(f, REQUEST_EACH, &w, 1);
	assert_string_equal(get(f, "t", "{'pk':{'S':'bare'}}"), "{'pk':{'S':'bare'}}");
}

static void an_update_that_makes_a_bad_item_is_refused(void **state)
{
	struct fixture *f = *state;
	struct index g = index_of("g", "g:S", true, PROJECT_ALL);
	struct write_action w;
	char *big = arena_alloc(&f->arena, 300 * 1024 + 1);

	make_table(f, "t", "pk:S", &g, 1, STREAM_NONE);
	put(f, "t", "{'pk':{'S':'a'},'n':{'N':'1'}}");
	w = action(f, WRITE_UPDATE, "t", KEY_A);
	with_update(f, &w, "SET g = n", NULL);
	submit(f, REQUEST_EACH, &w, 1);
	assert_error(f, &w.error, ERR_VALIDATION,
		     "The update expression attempted to update the secondary index key to unsupported "
		     "type");
	memset(big, 'x', 300 * 1024);
	big[300 * 1024] = '\0';
	putf(f, "t", "{'pk':{'S':'a'},'big':{'S':'%s'}}", big);
	w = action(f, WRITE_UPDATE, "t", KEY_A);
	with_update(f, &w, "SET more = big", NULL);
	submit(f, REQUEST_EACH, &w, 1);
	assert_error(f, &w.error, ERR_VALIDATION, "Item size to update has exceeded the maximum allowed size");
	assert_verified(f);
}

static void writing_the_same_again_makes_no_record(void **state)
{
	struct fixture *f = *state;
	struct write_action w;
	uint64_t sequence;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NEW_AND_OLD);
	put(f, "t", ITEM_A);
	sequence = db_metrics(f->db).last_sequence;
	put(f, "t", ITEM_A);
	w = action(f, WRITE_DELETE, "t", "{'pk':{'S':'none'}}");
	submit(f, REQUEST_EACH, &w, 1);
	assert_int_equal(w.error.code, ERR_NONE);
	assert_true(db_metrics(f->db).last_sequence == sequence);
	f->now_ms -= 5000; /* a clock set back does not turn the order around (T5) */
	put(f, "t", "{'pk':{'S':'b'}}");
	assert_true(db_metrics(f->db).last_sequence == sequence + 1);
}

static void each_action_of_a_batch_stands_alone(void **state)
{
	struct fixture *f = *state;
	struct write_action w[3];

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	w[0] = action(f, WRITE_PUT, "t", ITEM_A);
	w[1] = action(f, WRITE_PUT, "t", "{'pk':{'S':'b'}}");
	only_if(f, &w[1], "attribute_exists(pk)", NULL);
	w[2] = action(f, WRITE_PUT, "t", "{'pk':{'S':'c'}}");
	assert_int_equal(submit(f, REQUEST_EACH, w, 3).error.code, ERR_NONE);
	assert_int_equal(w[1].error.code, ERR_CONDITION_FAILED);
	assert_non_null(get(f, "t", KEY_A));
	assert_null(get(f, "t", "{'pk':{'S':'b'}}"));
	assert_non_null(get(f, "t", "{'pk':{'S':'c'}}"));
	assert_counts(f, "t", 2, 9);
}

static void a_write_to_a_deleted_table_is_refused(void **state)
{
	struct fixture *f = *state;
	struct control c = { .kind = CONTROL_DELETE_TABLE, .table = SLICE("t") };
	struct write_action w;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	w = action(f, WRITE_PUT, "t", ITEM_A);
	run_control(f, &c);
	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	submit(f, REQUEST_EACH, &w, 1);
	assert_error(f, &w.error, ERR_NOT_FOUND, "Requested resource not found");
	assert_counts(f, "t", 0, 0);
}

static void a_put_prepared_before_a_new_index_is_checked_against_it(void **state)
{
	struct fixture *f = *state;
	struct write_action w;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	w = action(f, WRITE_PUT, "t", "{'pk':{'S':'a'},'g':{'N':'1'}}");
	add_index(f, "t", index_of("g", "g:S", true, PROJECT_ALL));
	submit(f, REQUEST_EACH, &w, 1);
	assert_error(f, &w.error, ERR_VALIDATION,
		     "One or more parameter values were invalid: Type mismatch for Index Key g "
		     "Expected: S "
		     "Actual: N IndexName: g");
	assert_int_equal(w.table->index_count, 1);
}

/* ---- indexes and capacity ---- */
static void index_units_are_counted_as_dynamodb_does(void **state)
{
	struct fixture *f = *state;
	struct index x[] = { index_of("g", "g:S", true, PROJECT_KEYS_ONLY), index_of("h", "h:S", true, PROJECT_ALL) };
	static const struct {
		const char *item;
		double g, h;
	} steps[] = {
		{ "{'pk':{'S':'a'},'g':{'S':'1'}}", 1, 0 },               /* in */
		{ "{'pk':{'S':'a'},'g':{'S':'1'},'v':{'N':'1'}}", 0, 0 }, /* not projected */
		{ "{'pk':{'S':'a'},'g':{'S':'2'},'v':{'N':'1'}}", 2, 0 }, /* moved */
		{ "{'pk':{'S':'a'},'h':{'S':'x'},'v':{'N':'1'}}", 1, 1 }, /* out, in */
		{ "{'pk':{'S':'a'},'h':{'S':'x'},'v':{'N':'2'}}", 0, 1 }, /* in place */
	};
	struct write_action w;

	make_table(f, "t", "pk:S", x, 2, STREAM_NONE);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		w = action(f, WRITE_PUT, "t", steps[i].item);
		submit(f, REQUEST_EACH, &w, 1);
		assert_true(w.capacity.table_units == 1);
		assert_true(w.capacity.index_units[0] == steps[i].g);
		assert_true(w.capacity.index_units[1] == steps[i].h);
		assert_verified(f);
	}
	w = action(f, WRITE_DELETE, "t", KEY_A);
	submit(f, REQUEST_EACH, &w, 1);
	assert_true(w.capacity.index_units[1] == 1);
	assert_int_equal(atomic_load(&table_of(f, "t")->indexes[1].stats->items), 0);
	assert_verified(f);
}

static void larger_items_cost_the_larger_of_old_and_new(void **state)
{
	struct fixture *f = *state;
	char text[3000];
	struct write_action w;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	memset(text, 'x', sizeof(text));
	text[2500] = '\0';
	putf(f, "t", "{'pk':{'S':'a'},'t':{'S':'%s'}}", text);
	w = action(f, WRITE_PUT, "t", ITEM_A);
	submit(f, REQUEST_EACH, &w, 1);
	assert_true(w.capacity.table_units == 3);
	w = action(f, WRITE_DELETE, "t", KEY_A);
	submit(f, REQUEST_EACH, &w, 1);
	assert_true(w.capacity.table_units == 1);
}

static void item_collections_are_measured(void **state)
{
	struct fixture *f = *state;
	struct index local = index_of("l", "pk:S l:S", false, PROJECT_ALL);
	struct write_action w;

	make_table(f, "t", "pk:S sk:S", &local, 1, STREAM_NONE);
	w = action(f, WRITE_PUT, "t", "{'pk':{'S':'a'},'sk':{'S':'1'}}");
	submit(f, REQUEST_EACH, &w, 1);
	assert_int_equal(w.collection_bytes, 6);
	w = action(f, WRITE_PUT, "t", "{'pk':{'S':'a'},'sk':{'S':'2'},'l':{'S':'x'}}");
	submit(f, REQUEST_EACH, &w, 1);
	assert_int_equal(w.collection_bytes, 6 + 8 + 8);
	w = action(f, WRITE_DELETE, "t", "{'pk':{'S':'a'},'sk':{'S':'2'}}");
	submit(f, REQUEST_EACH, &w, 1);
	assert_int_equal(w.collection_bytes, 6);
	assert_verified(f);
}

static void an_item_collection_ends_at_10_gigabytes(void **state)
{
	struct fixture *f = *state;
	struct index local = index_of("l", "pk:S l:S", false, PROJECT_ALL);
	struct store_batch *b = store_batch_new();
	struct write_action w;
	struct error e;

	make_table(f, "t", "pk:S sk:S", &local, 1, STREAM_NONE);
	put(f, "t", "{'pk':{'S':'a'},'sk':{'S':'1'}}");
	store_batch_put(b, db_store(f->db), STORE_STATS,
			layout_collection_key(&f->arena, table_of(f, "t")->id, SLICE("a")),
			layout_u64_record(&f->arena, UINT64_C(10) << 30));
	assert_true(store_write(db_store(f->db), b, false, &f->arena, &e));
	store_batch_free(b);
	w = action(f, WRITE_PUT, "t", "{'pk':{'S':'a'},'sk':{'S':'2'}}");
	submit(f, REQUEST_EACH, &w, 1);
	assert_error(f, &w.error, ERR_COLLECTION_SIZE, "Collection size exceeded.");
	w = action(f, WRITE_DELETE, "t", "{'pk':{'S':'a'},'sk':{'S':'1'}}");
	submit(f, REQUEST_EACH, &w, 1);
	assert_int_equal(w.error.code, ERR_NONE);
}

/* ---- transactions ---- */
static void a_transaction_is_whole_or_nothing(void **state)
{
	struct fixture *f = *state;
	struct write_action w[4];
	struct write_request r;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	make_table(f, "u", "pk:S", NULL, 0, STREAM_NONE);
	put(f, "u", "{'pk':{'S':'x'},'s':{'S':'text'}}");
	w[0] = action(f, WRITE_PUT, "t", ITEM_A);
	w[1] = action(f, WRITE_CHECK, "u", "{'pk':{'S':'none'}}");
	only_if(f, &w[1], "attribute_exists(pk)", NULL);
	w[2] = action(f, WRITE_UPDATE, "u", "{'pk':{'S':'x'}}");
	with_update(f, &w[2], "SET n = s + :one", "{':one':{'N':'1'}}");
	w[3] = action(f, WRITE_DELETE, "u", "{'pk':{'S':'y'}}");
	r = submit(f, REQUEST_ALL, w, 4);
	assert_int_equal(r.error.code, ERR_TRANSACTION_CANCELED);
	assert_int_equal(w[0].error.code, ERR_NONE);
	assert_int_equal(w[1].error.code, ERR_CONDITION_FAILED);
	assert_int_equal(w[2].error.code, ERR_VALIDATION);
	assert_int_equal(w[3].error.code, ERR_NONE);
	assert_null(get(f, "t", KEY_A));
	assert_counts(f, "t", 0, 0);
	w[1] = action(f, WRITE_CHECK, "u", "{'pk':{'S':'x'}}");
	only_if(f, &w[1], "attribute_exists(pk)", NULL);
	r = submit(f, REQUEST_ALL, w, 2);
	assert_int_equal(r.error.code, ERR_NONE);
	assert_non_null(get(f, "t", KEY_A));
	assert_verified(f);
}

static void two_actions_on_one_item_are_refused(void **state)
{
	struct fixture *f = *state;
	struct write_action w[2];
	struct write_request r;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	w[0] = action(f, WRITE_PUT, "t", ITEM_A);
	w[1] = action(f, WRITE_DELETE, "t", KEY_A);
	r = submit(f, REQUEST_ALL, w, 2);
	assert_error(f, &r.error, ERR_VALIDATION, "Transaction request cannot include multiple operations on one item");
}

#define BIG 12 /* items of 390 KB: more than 4 MB together */

static void a_transaction_looks_into_four_megabytes_of_items_at_most(void **state)
{
	struct fixture *f = *state;
	char *text = arena_zalloc(&f->arena, 390 * 1024 + 1);
	struct write_action updates[BIG], deletes[BIG];
	struct write_request r;

	memset(text, 'x', 390 * 1024);
	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	for (int i = 0; i < BIG; i++) {
		const char *key = arena_printf(&f->arena, "{'pk':{'S':'%d'}}", i).p;

		putf(f, "t", "{'pk':{'S':'%d'},'x':{'S':'%s'}}", i, text);
		updates[i] = action(f, WRITE_UPDATE, "t", key);
		with_update(f, &updates[i], "ADD n :one", "{':one':{'N':'1'}}");
		deletes[i] = action(f, WRITE_DELETE, "t", key);
	}
	r = submit(f, REQUEST_ALL, updates, BIG);
	assert_int_equal(r.error.code, ERR_VALIDATION);
	assert_counts(f, "t", BIG, (int64_t)BIG * (390 * 1024 + 4) + 2);
	r = submit(f, REQUEST_ALL, updates, BIG - 2);
	assert_int_equal(r.error.code, ERR_NONE);
	r = submit(f, REQUEST_ALL, deletes, BIG);
	assert_int_equal(r.error.code, ERR_NONE);
	assert_counts(f, "t", 0, 0);
}

static struct write_request with_token(struct fixture *f, struct write_action *w, const char *token, uint8_t digest)
{
	struct write_request r = {
		.arena = &f->arena, .mode = REQUEST_ALL, .actions = w, .action_count = 1, .token = slice_str(token)
	};

	memset(r.token_digest, digest, sizeof(r.token_digest));
	db_submit_wait(f->db, &r);
	return r;
}

static void a_token_makes_a_transaction_happen_once(void **state)
{
	struct fixture *f = *state;
	struct control sweep = { .kind = CONTROL_SWEEP_TOKENS };
	struct write_action w;
	struct write_request r;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	w = action(f, WRITE_UPDATE, "t", KEY_A);
	with_update(f, &w, "ADD v :one", "{':one':{'N':'1'}}");
	r = with_token(f, &w, "token", 1);
	assert_false(r.replayed);
	fixture_reopen(f);
	w = action(f, WRITE_UPDATE, "t", KEY_A);
	with_update(f, &w, "ADD v :one", "{':one':{'N':'1'}}");
	r = with_token(f, &w, "token", 1);
	assert_true(r.replayed);
	assert_true(w.capacity.read);
	assert_string_equal(get(f, "t", KEY_A), ITEM_A);
	r = with_token(f, &w, "token", 2);
	assert_int_equal(r.error.code, ERR_IDEMPOTENT_MISMATCH);
	f->now_ms += 10 * 60 * 1000;
	(void)db_step(f->db); /* time moves, and the token's time with it */
	r = with_token(f, &w, "token", 2);
	assert_int_equal(r.error.code, ERR_NONE);
	assert_false(r.replayed);
	run_control(f, &sweep);
	assert_int_equal(sweep.worked, 1);
	assert_true(with_token(f, &w, "token", 2).replayed); /* the sweep left the newer use alone */
	f->now_ms += 10 * 60 * 1000;
	run_control(f, &sweep);
	run_control(f, &sweep);
	assert_int_equal(sweep.worked, 0);
}

static void a_canceled_transaction_does_not_use_its_token(void **state)
{
	struct fixture *f = *state;
	struct write_action w;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	w = action(f, WRITE_PUT, "t", ITEM_A);
	only_if(f, &w, "attribute_exists(pk)", NULL);
	assert_int_equal(with_token(f, &w, "token", 1).error.code, ERR_TRANSACTION_CANCELED);
	w.condition = NULL;
	assert_int_equal(with_token(f, &w, "token", 2).error.code, ERR_NONE);
	assert_non_null(get(f, "t", KEY_A));
}

/* ---- one batch ---- */
static void requests_of_one_batch_see_those_before(void **state)
{
	struct fixture *f = *state;
	struct index g = index_of("g", "g:S", true, PROJECT_ALL);
	struct write_action w[4];
	struct write_request r[4] = { 0 };
	uint64_t batches;

	make_table(f, "t", "pk:S", &g, 1, STREAM_NONE);
	w[0] = action(f, WRITE_PUT, "t", "{'pk':{'S':'a'},'g':{'S':'1'}}");
	w[1] = action(f, WRITE_PUT, "t", "{'pk':{'S':'a'},'g':{'S':'2'}}");
	only_if(f, &w[1], "attribute_exists(pk)", NULL);
	w[2] = action(f, WRITE_DELETE, "t", KEY_A);
	only_if(f, &w[2], "g = :one", "{':one':{'S':'1'}}");
	w[3] = action(f, WRITE_UPDATE, "t", KEY_A);
	with_update(f, &w[3], "SET g = :three", "{':three':{'S':'3'}}");
	for (size_t i = 0; i < 4; i++)
		r[i] = (struct write_request){
			.arena = i == 3 ? &f->arena : NULL, .mode = REQUEST_EACH, .actions = &w[i], .action_count = 1
		};
	batches = db_metrics(f->db).batches;
	submit_together(f, r, 4, -1);
	assert_true(db_metrics(f->db).batches == batches + 1);
	assert_int_equal(w[1].error.code, ERR_NONE);
	assert_int_equal(w[2].error.code, ERR_CONDITION_FAILED);
	assert_string_equal(item_text(f, w[3].old_item), "{'g':{'S':'2'},'pk':{'S':'a'}}");
	assert_string_equal(get(f, "t", KEY_A), "{'g':{'S':'3'},'pk':{'S':'a'}}");
	assert_verified(f);
}

static void a_table_may_come_and_go_within_a_batch(void **state)
{
	struct fixture *f = *state;
	struct control drop = { .kind = CONTROL_DELETE_TABLE, .table = SLICE("t") };
	struct write_action w[2];
	struct write_request r[3] = { 0 };

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	w[0] = action(f, WRITE_PUT, "t", ITEM_A);
	w[1] = action(f, WRITE_PUT, "t", "{'pk':{'S':'b'}}");
	r[0] = (struct write_request){ .mode = REQUEST_EACH, .actions = &w[0], .action_count = 1 };
	r[1] = (struct write_request){ .mode = REQUEST_CONTROL, .control = &drop };
	r[2] = (struct write_request){ .mode = REQUEST_EACH, .actions = &w[1], .action_count = 1 };
	submit_together(f, r, 3, -1);
	assert_int_equal(w[0].error.code, ERR_NONE);
	assert_int_equal(r[1].error.code, ERR_NONE);
	assert_int_equal(w[1].error.code, ERR_NOT_FOUND);
	assert_verified(f);
}

static void a_thread_that_may_wait_writes_itself_if_no_other_thread_does(void **state)
{
	struct fixture *f = *state;
	struct write_action w[3];
	struct write_request r[3] = { 0 };
	uint64_t before;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	before = db_metrics(f->db).alone;
	put(f, "t", ITEM_A);
	assert_int_equal(db_metrics(f->db).alone, before + 1);
	/* Another thread writes and others wait: this write comes after them. */
	for (int i = 0; i < 3; i++) {
		w[i] = action(f, WRITE_PUT, "t", "{'pk':{'S':'b'}}");
		only_if(f, &w[i], i ? "attribute_exists(pk)" : "attribute_not_exists(pk)", NULL);
		r[i] = (struct write_request){
			.mode = REQUEST_EACH, .actions = &w[i], .action_count = 1, .may_wait = i > 0
		};
	}
	submit_together(f, r, 3, -1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(w[i].error.code, ERR_NONE);
	assert_int_equal(db_metrics(f->db).alone, before + 1);
}

/* ---- many threads ---- */
struct adder {
	struct fixture *f;
	const struct table *table;
	const struct update *update;
	int times;
};

static void *add_many(void *arg)
{
	struct adder *x = arg;
	struct arena a;

	arena_init(&a);
	for (int i = 0; i < x->times; i++) {
		struct write_action w = {
			.kind = WRITE_UPDATE, .table = x->table, .key = { .pk = SLICE("a") }, .update = x->update
		};
		struct write_request r = { .arena = &a, .mode = REQUEST_EACH, .actions = &w, .action_count = 1 };

		w.key_item = value_make_map(&a, &(struct value_member){ SLICE("pk"), value_make_s(&a, SLICE("a")) }, 1);
		db_submit_wait(x->f->db, &r);
		arena_clear(&a);
	}
	arena_release(&a);
	return NULL;
}

static void increments_of_many_threads_all_count(void **state)
{
	struct fixture *f = *state;
	struct write_action w;
	struct adder x = { .f = f, .times = 200 };
	pthread_t threads[4];

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	w = action(f, WRITE_UPDATE, "t", KEY_A);
	with_update(f, &w, "ADD v :one", "{':one':{'N':'1'}}");
	x.update = w.update;
	x.table = w.table;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_many, &x), 0);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_string_equal(get(f, "t", KEY_A), "{'pk':{'S':'a'},'v':{'N':'800'}}");
	assert_true(db_metrics(f->db).queue_depth == 0);
}

static void counters_survive_reopening(void **state)
{
	struct fixture *f = *state;
	struct index g = index_of("g", "g:S", true, PROJECT_ALL);

	make_table(f, "t", "pk:S", &g, 1, STREAM_NEW_IMAGE);
	put(f, "t", "{'pk':{'S':'a'},'g':{'S':'1'}}");
	put(f, "t", ITEM_A);
	put(f, "t", "{'pk':{'S':'b'},'g':{'S':'1'}}");
	uint64_t sequence = db_metrics(f->db).last_sequence;
	fixture_reopen(f);
	assert_counts(f, "t", 2, 11);
	assert_int_equal(atomic_load(&table_of(f, "t")->indexes[0].stats->items), 1);
	assert_true(db_metrics(f->db).last_sequence == sequence);
	assert_verified(f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
#define DISK(name) cmocka_unit_test_setup_teardown(name, fixture_setup_on_disk, fixture_teardown)
	static const struct CMUnitTest tests[] = {
		TEST(a_put_replaces_and_shows_what_was),
		TEST(a_failed_condition_leaves_no_trace),
		TEST(an_update_makes_an_item_and_changes_it),
		TEST(an_update_that_makes_a_bad_item_is_refused),
		TEST(writing_the_same_again_makes_no_record),
		TEST(each_action_of_a_batch_stands_alone),
		TEST(a_write_to_a_deleted_table_is_refused),
		TEST(a_put_prepared_before_a_new_index_is_checked_against_it),
		TEST(index_units_are_counted_as_dynamodb_does),
		TEST(larger_items_cost_the_larger_of_old_and_new),
		TEST(item_collections_are_measured),
		TEST(an_item_collection_ends_at_10_gigabytes),
		TEST(a_transaction_is_whole_or_nothing),
		TEST(two_actions_on_one_item_are_refused),
		TEST(a_transaction_looks_into_four_megabytes_of_items_at_most),
		DISK(a_token_makes_a_transaction_happen_once),
		TEST(a_canceled_transaction_does_not_use_its_token),
		TEST(requests_of_one_batch_see_those_before),
		TEST(a_table_may_come_and_go_within_a_batch),
		TEST(a_thread_that_may_wait_writes_itself_if_no_other_thread_does),
		TEST(increments_of_many_threads_all_count),
		DISK(counters_survive_reopening),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
