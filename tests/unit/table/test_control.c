/* Tables made, changed and removed: what stays, what goes, and DynamoDB's words when it may not be.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/layout.h"
#include "writes.h"

#define INVALID "One or more parameter values were invalid: "
#define ONE_AT_A_TIME                                                               \
	"Subscriber limit exceeded: Only 1 online index can be created or deleted " \
	"simultaneously per table"

static struct error change_table(struct fixture *f, const struct table_change *change)
{
	struct control c = { .kind = CONTROL_UPDATE_TABLE, .table = SLICE("t"), .change = change };

	return submit_control(f, &c).error;
}

static struct error control_by_name(struct fixture *f, enum control_kind kind, const char *table)
{
	struct control c = { .kind = kind, .table = slice_str(table), .change = &(struct table_change){ 0 } };

	return submit_control(f, &c).error;
}

static void assert_done(const struct error *e)
{
	if (e->code != ERR_NONE)
		fail_msg("%.*s", SLICE_ARG(e->message));
}

static void make_provisioned(struct fixture *f, const struct index *x, size_t n)
{
	struct key_attr definitions[32];
	struct table t = { .name = SLICE("t"),
			   .key = key_schema_of("pk:S"),
			   .attributes = definitions,
			   .indexes = x,
			   .index_count = n,
			   .throughput = { 5, 5 },
			   .max_read_units = -1,
			   .max_write_units = -1 };
	struct control c = { .kind = CONTROL_CREATE_TABLE, .spec = &t };

	t.attribute_count = definitions_of(definitions, &t.key, x, n);
	run_control(f, &c);
}

/* Number of keys in a family. */
static size_t count_keys(struct fixture *f, enum store_family family)
{
	struct slice all = SLICE("");
	struct store_iter *it = store_iter(&(struct store_at){ db_store(f->db), NULL, family },
					   &(struct store_walk){ all, all }, &f->arena);
	size_t n = 0;

	while (store_iter_next(it))
		n++;
	store_iter_close(it);
	return n;
}

/* ---- create, delete ---- */
static void a_table_is_there_after_reopening(void **state)
{
	struct fixture *f = *state;
	struct index x[] = { index_of("g", "g:S h:S | r:N", true, PROJECT_INCLUDE),
			     index_of("l", "pk:S l:S", false, PROJECT_KEYS_ONLY) };
	struct slice include[] = { SLICE("a"), SLICE("b") };
	struct slice before;

	x[0].include = include;
	x[0].include_count = 2;
	make_table(f, "Music", "pk:S sk:N", x, 2, STREAM_OLD_IMAGE);
	make_table(f, "Art", "pk:B", NULL, 0, STREAM_NONE);
	before = arena_printf(&f->arena, "%.*s", SLICE_ARG(table_of(f, "Music")->uuid));
	char uuid[40];

	snprintf(uuid, sizeof(uuid), "%.*s", SLICE_ARG(before));
	fixture_reopen(f);
	const struct table *t = table_of(f, "Music");

	assert_true(slice_is(t->uuid, uuid));
	assert_int_equal(catalog_count(f->catalog), 2);
	assert_true(slice_is(catalog_at(f->catalog, 0)->name, "Art"));
	assert_ptr_equal(catalog_table(f->catalog, table_arn(t, &f->arena)), t);
	assert_ptr_equal(catalog_table_by_id(f->catalog, t->id), t);
	assert_int_equal(t->indexes[0].key.hash_count, 2);
	assert_int_equal(t->indexes[0].include_count, 2);
	assert_true(t->has_local_indexes);
	assert_int_equal(t->stream->view, STREAM_OLD_IMAGE);
	assert_int_equal(t->stream->shards, 4);
	assert_true(slice_is(t->stream->label, "2027-01-15T08:00:00.000"));
	assert_int_equal(t->created_ms, FIXTURE_START_MS);
	assert_int_equal(t->status, STATUS_ACTIVE);
	assert_true(slice_is(t->region, "us-east-1"));
}

static void a_name_is_taken_once(void **state)
{
	struct fixture *f = *state;
	struct table t = { .name = SLICE("t"), .key = key_schema_of("pk:S") };
	struct control c = { .kind = CONTROL_CREATE_TABLE, .spec = &t };
	struct write_request r;

	run_control(f, &c);
	r = submit_control(f, &c);
	assert_error(f, &r.error, ERR_IN_USE, "Table already exists: t");
}

static void a_deleted_table_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct index x[] = { index_of("g", "g:S", true, PROJECT_ALL), index_of("l", "pk:S l:S", false, PROJECT_ALL) };
	struct table_change off = { .has_stream = true }, on = { .has_stream = true, .stream = STREAM_KEYS_ONLY };
	struct error e;

	make_table(f, "t", "pk:S sk:S", x, 2, STREAM_NEW_IMAGE);
	make_table(f, "other", "pk:S", NULL, 0, STREAM_NONE);
	put(f, "other", "{'pk':{'S':'a'}}");
	set_ttl(f, "t", "ttl", true);
	for (int i = 0; i < 2; i++) {
		putf(f, "t", "{'pk':{'S':'a'},'sk':{'S':'%d'},'g':{'S':'1'},'l':{'S':'1'},'ttl':{'N':'5'}}", i);
		e = change_table(f, i ? &on : &off);
		assert_done(&e);
	}
	struct control c = { .kind = CONTROL_DELETE_TABLE, .table = SLICE("t") };

	run_control(f, &c);
	assert_int_equal(c.result->index_count, 2);
	assert_int_equal(count_keys(f, STORE_ITEMS), 1);
	assert_int_equal(count_keys(f, STORE_STATS), 1);
	assert_int_equal(count_keys(f, STORE_CATALOG), 1);
	assert_int_equal(count_keys(f, STORE_INDEX), 0);
	assert_int_equal(count_keys(f, STORE_TTL), 0);
	assert_int_equal(count_keys(f, STORE_STREAM), 0);
	assert_verified(f);
	e = control_by_name(f, CONTROL_DELETE_TABLE, "t");
	assert_error(f, &e, ERR_NOT_FOUND, "Requested resource not found: Table: t not found");
	e = control_by_name(f, CONTROL_UPDATE_TABLE, "t");
	assert_error(f, &e, ERR_NOT_FOUND, "Requested resource not found: Table: t not found");
}

static void ids_are_never_used_again(void **state)
{
	struct fixture *f = *state;
	uint32_t first;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	first = table_of(f, "t")->id;
	assert_int_equal(control_by_name(f, CONTROL_DELETE_TABLE, "t").code, ERR_NONE);
	fixture_reopen(f);
	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	assert_true(table_of(f, "t")->id > first);
}

static void protection_keeps_a_table(void **state)
{
	struct fixture *f = *state;
	struct table_change c = { .has_deletion_protection = true, .deletion_protection = true };
	struct error e;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	e = change_table(f, &c);
	assert_done(&e);
	e = control_by_name(f, CONTROL_DELETE_TABLE, "t");
	assert_error(f, &e, ERR_VALIDATION,
		     "Resource cannot be deleted as it is currently protected against deletion. Disable "
		     "deletion protection first.");
	c.deletion_protection = false;
	e = change_table(f, &c);
	assert_done(&e);
	e = control_by_name(f, CONTROL_DELETE_TABLE, "t");
	assert_done(&e);
}

/* ---- throughput and billing ---- */
static void throughput_changes_are_dated(void **state)
{
	struct fixture *f = *state;
	struct table_change c = { .has_throughput = true, .throughput = { 10, 5 } };
	struct error e;

	make_provisioned(f, NULL, 0);
	e = change_table(f, &c);
	assert_done(&e);
	assert_int_equal(table_of(f, "t")->throughput.last_increase, f->now_ms);
	e = change_table(f, &c);
	assert_error(f, &e, ERR_VALIDATION,
		     "The provisioned throughput for the table will not change. The requested value "
		     "equals "
		     "the current value. Current ReadCapacityUnits provisioned for the table: 10. "
		     "Requested "
		     "ReadCapacityUnits: 10. Current WriteCapacityUnits provisioned for the table: 5. "
		     "Requested WriteCapacityUnits: 5. Refer to the Amazon DynamoDB Developer Guide for "
		     "current limits and how to request higher limits.");
	c.throughput = (struct throughput){ 1, 1 };
	e = change_table(f, &c);
	assert_done(&e);
	assert_int_equal(table_of(f, "t")->throughput.decreases_today, 1);
	assert_int_equal(table_of(f, "t")->throughput.read, 1);
}

static void billing_goes_both_ways(void **state)
{
	struct fixture *f = *state;
	struct index g = index_of("g", "g:S", true, PROJECT_ALL);
	struct table_change on_demand = { .has_billing = true, .on_demand = true };
	struct table_change provisioned = { .has_billing = true, .has_throughput = true, .throughput = { 3, 4 } };
	struct gsi_change gsi = { .kind = GSI_UPDATE,
				  .index = { .name = SLICE("g"), .throughput = { 7, 8 } },
				  .has_throughput = true };
	const struct table *t;
	struct error e;

	g.throughput = (struct throughput){ 5, 5 };
	make_provisioned(f, &g, 1);
	e = change_table(f, &on_demand);
	assert_done(&e);
	e = change_table(f, &on_demand); /* the same again is fine */
	assert_done(&e);
	t = table_of(f, "t");
	assert_true(t->on_demand && t->on_demand_since_ms == f->now_ms);
	assert_int_equal(t->throughput.read, 0);
	assert_int_equal(t->indexes[0].throughput.read, 0);
	on_demand.has_throughput = true;
	e = change_table(f, &on_demand);
	assert_error(f, &e, ERR_VALIDATION,
		     INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can "
			     "be specified when BillingMode is PAY_PER_REQUEST");
	e = change_table(f, &provisioned);
	assert_error(f, &e, ERR_VALIDATION, INVALID "ProvisionedThroughput must be specified for index: g");
	provisioned.indexes = &gsi;
	provisioned.index_count = 1;
	e = change_table(f, &provisioned);
	assert_done(&e);
	t = table_of(f, "t");
	assert_false(t->on_demand);
	assert_int_equal(t->throughput.write, 4);
	assert_int_equal(t->indexes[0].throughput.write, 8);
}

/* ---- global indexes ---- */
static struct error change_gsi(struct fixture *f, enum gsi_change_kind kind, struct index i)
{
	struct gsi_change g = { .kind = kind, .index = i };
	struct table_change c = {
		.attributes = i.key.hash, .attribute_count = i.key.hash_count, .indexes = &g, .index_count = 1
	};

	return change_table(f, &c);
}

static void one_index_at_a_time_comes_or_goes(void **state)
{
	struct fixture *f = *state;
	struct gsi_change two[] = {
		{ .kind = GSI_CREATE, .index = index_of("a", "a:S", true, PROJECT_ALL) },
		{ .kind = GSI_CREATE, .index = index_of("b", "b:S", true, PROJECT_ALL) },
	};
	struct table_change c = { .indexes = two, .index_count = 2 };
	struct error e;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	e = change_table(f, &c);
	assert_error(f, &e, ERR_LIMIT_EXCEEDED, ONE_AT_A_TIME);
	e = change_gsi(f, GSI_CREATE, two[0].index);
	assert_done(&e);
	assert_int_equal(table_of(f, "t")->indexes[0].status, STATUS_CREATING);
	e = change_gsi(f, GSI_CREATE, two[1].index);
	assert_error(f, &e, ERR_LIMIT_EXCEEDED, ONE_AT_A_TIME);
	while (db_step(f->db))
		;
	assert_int_equal(table_of(f, "t")->indexes[0].status, STATUS_ACTIVE);
	e = change_gsi(f, GSI_CREATE, two[1].index);
	assert_done(&e);
	e = change_gsi(f, GSI_DELETE, two[1].index); /* the one being made may be given up */
	assert_done(&e);
	assert_int_equal(table_of(f, "t")->index_count, 1);
}

static void an_impossible_index_is_refused(void **state)
{
	struct fixture *f = *state;
	struct index g = index_of("g", "g:S", true, PROJECT_ALL);
	struct gsi_change undefined = { .kind = GSI_CREATE, .index = index_of("u", "u:S", true, PROJECT_ALL) };
	struct table_change c = { .indexes = &undefined, .index_count = 1 };
	struct error e;

	make_table(f, "t", "pk:S", &g, 1, STREAM_NONE);
	e = change_gsi(f, GSI_CREATE, g);
	assert_error(f, &e, ERR_VALIDATION, "Attempting to create an index which already exists");
	e = change_gsi(f, GSI_DELETE, undefined.index);
	assert_error(f, &e, ERR_NOT_FOUND, "Requested resource not found");
	e = change_table(f, &c);
	assert_error(f, &e, ERR_VALIDATION,
		     INVALID "Some index key attributes are not defined in AttributeDefinitions. "
			     "Keys: [u], AttributeDefinitions: [pk, g]");
	undefined.has_throughput = true;
	e = change_table(f, &c);
	assert_error(f, &e, ERR_VALIDATION,
		     INVALID "ProvisionedThroughput should not be specified for "
			     "index: u when BillingMode is PAY_PER_REQUEST");
}

static void a_removed_index_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct index x[] = { index_of("g", "g:S", true, PROJECT_ALL), index_of("h", "h:S", true, PROJECT_ALL) };
	struct error e;

	make_table(f, "t", "pk:S", x, 2, STREAM_NONE);
	put(f, "t", "{'pk':{'S':'a'},'g':{'S':'1'},'h':{'S':'1'}}");
	e = change_gsi(f, GSI_DELETE, (struct index){ .name = SLICE("g") });
	assert_done(&e);
	const struct table *t = table_of(f, "t");

	assert_int_equal(t->index_count, 1);
	assert_int_equal(t->attribute_count, 2);
	assert_int_equal(table_attribute_type(t, SLICE("g")), VALUE_NONE);
	assert_int_equal(count_keys(f, STORE_INDEX), 1);
	assert_int_equal(count_keys(f, STORE_STATS), 2);
	put(f, "t", "{'pk':{'S':'a'},'g':{'N':'1'},'h':{'S':'2'}}"); /* g is free now */
	assert_verified(f);
}

static void writes_keep_an_index_that_is_being_made(void **state)
{
	struct fixture *f = *state;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	for (int i = 0; i < 5; i++)
		putf(f, "t", "{'pk':{'S':'%d'},'g':{'S':'old'}}", i);
	add_index(f, "t", index_of("g", "g:S", true, PROJECT_ALL));
	put(f, "t", "{'pk':{'S':'0'},'g':{'S':'new'}}"); /* not backfilled yet */
	del(f, "t", "{'pk':{'S':'1'}}");
	put(f, "t", "{'pk':{'S':'2'}}");
	put(f, "t", "{'pk':{'S':'9'},'g':{'S':'new'}}");
	put(f, "t", "{'pk':{'S':'9'},'g':{'S':'newer'}}");
	while (db_step(f->db))
		;
	assert_int_equal(table_of(f, "t")->indexes[0].status, STATUS_ACTIVE);
	assert_int_equal(atomic_load(&table_of(f, "t")->indexes[0].stats->items), 4);
	assert_verified(f);
}

/* ---- streams, TTL, tags ---- */
static void a_stream_closes_and_a_new_one_opens(void **state)
{
	struct fixture *f = *state;
	struct table_change on = { .has_stream = true, .stream = STREAM_NEW_IMAGE };
	struct table_change off = { .has_stream = true };
	const struct table *t;
	struct error e;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	e = change_table(f, &off);
	assert_int_equal(e.code, ERR_VALIDATION);
	e = change_table(f, &on);
	assert_done(&e);
	e = change_table(f, &on);
	assert_int_equal(e.code, ERR_VALIDATION);
	put(f, "t", "{'pk':{'S':'a'}}");
	e = change_table(f, &off);
	assert_done(&e);
	put(f, "t", "{'pk':{'S':'b'}}"); /* in no stream */
	e = change_table(f, &on);
	assert_done(&e);
	t = table_of(f, "t");
	assert_int_equal(t->closed_stream_count, 1);
	assert_int_equal(count_keys(f, STORE_STREAM), 1);
	assert_false(slice_equal(t->stream->label, t->closed_streams[0].label));
	assert_true(t->closed_streams[0].closed_sequence < t->stream->first_sequence);
	struct control c = { .kind = CONTROL_DROP_STREAM, .table_id = t->id, .stream_id = t->closed_streams[0].id };

	run_control(f, &c);
	assert_int_equal(table_of(f, "t")->closed_stream_count, 0);
	assert_int_equal(count_keys(f, STORE_STREAM), 0);
}

static struct error change_ttl(struct fixture *f, const char *attribute, bool enable)
{
	struct control c = { .kind = CONTROL_UPDATE_TTL,
			     .table = SLICE("t"),
			     .ttl_enable = enable,
			     .ttl_attribute = slice_str(attribute) };

	return submit_control(f, &c).error;
}

static void ttl_is_on_or_off(void **state)
{
	struct fixture *f = *state;
	struct error e;

	e = change_ttl(f, "ttl", true);
	assert_error(f, &e, ERR_NOT_FOUND, "Requested resource not found: Table: t not found");
	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	put(f, "t", "{'pk':{'S':'a'},'ttl':{'N':'7'}}");
	e = change_ttl(f, "ttl", false);
	assert_error(f, &e, ERR_VALIDATION, "TimeToLive is already disabled");
	e = change_ttl(f, "ttl", true);
	assert_done(&e);
	e = change_ttl(f, "ttl", true);
	assert_error(f, &e, ERR_VALIDATION, "TimeToLive is already enabled");
	e = change_ttl(f, "other", true);
	assert_error(f, &e, ERR_VALIDATION,
		     "TimeToLive is active on a different AttributeName: current "
		     "AttributeName is ttl");
	put(f, "t", "{'pk':{'S':'b'},'ttl':{'N':'7'}}");
	assert_int_equal(count_keys(f, STORE_TTL), 1);
	e = change_ttl(f, "ttl", false);
	assert_done(&e);
	assert_int_equal(count_keys(f, STORE_TTL), 0);
}

static void tags_are_added_replaced_and_removed(void **state)
{
	struct fixture *f = *state;
	struct tag tags[] = { { SLICE("a"), SLICE("1") }, { SLICE("b"), SLICE("2") } };
	struct tag again = { SLICE("a"), SLICE("3") };
	struct slice gone = SLICE("b");
	struct control c = { .kind = CONTROL_TAG, .table = SLICE("t"), .tags = tags, .tag_count = 2 };
	struct write_request r;

	r = submit_control(f, &c);
	assert_error(f, &r.error, ERR_NOT_FOUND, "Requested resource not found: ResourcArn: t not found");
	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	run_control(f, &c);
	c.tags = &again;
	c.tag_count = 1;
	run_control(f, &c);
	c = (struct control){ .kind = CONTROL_UNTAG, .table = SLICE("t"), .tag_keys = &gone, .tag_key_count = 1 };
	run_control(f, &c);
	assert_int_equal(c.result->tag_count, 1);
	assert_true(slice_is(c.result->tags[0].value, "3"));
}

/* ---- faults ---- */
static void memory_failing_at_each_point_of_a_change_leaves_the_table(void **state)
{
	struct fixture *f = *state;
	bool failed = true;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	for (long n = 0; failed; n++) {
		struct index g = index_of("g", "g:S", true, PROJECT_ALL);
		struct table t = { .name = SLICE("new"),
				   .key = key_schema_of("pk:S"),
				   .attributes = t.key.hash,
				   .attribute_count = 1,
				   .indexes = &g,
				   .index_count = 1 };
		struct control c = { .kind = CONTROL_CREATE_TABLE, .spec = &t };
		struct arena arena;
		struct write_request r = { .arena = &arena, .mode = REQUEST_CONTROL, .control = &c };
		bool there;

		arena_init(&arena);
		submit_together(f, &r, 1, n);
		failed = writer_fail_never(f);
		there = catalog_table(db_catalog(f->db, &f->arena), SLICE("new")) != NULL;
		assert_true(there == (r.error.code == ERR_NONE));
		assert_true(there || failed);
		if (there)
			assert_int_equal(control_by_name(f, CONTROL_DELETE_TABLE, "new").code, ERR_NONE);
		arena_release(&arena);
		arena_clear(&f->arena);
	}
	assert_verified(f);
}

static void a_change_that_is_not_written_did_not_happen(void **state)
{
	struct fixture *f = *state;
	struct table_change c = { .has_stream = true, .stream = STREAM_NEW_IMAGE };
	struct error e;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	store_fail_after(db_store(f->db), 0);
	e = change_table(f, &c);
	assert_int_equal(e.code, ERR_INTERNAL);
	e = control_by_name(f, CONTROL_DELETE_TABLE, "t");
	assert_int_equal(e.code, ERR_INTERNAL);
	store_fail_after(db_store(f->db), -1);
	assert_null(table_of(f, "t")->stream);
	fixture_reopen(f);
	assert_null(table_of(f, "t")->stream);
	put(f, "t", "{'pk':{'S':'a'}}");
	assert_verified(f);
}

static void opening_without_memory_fails_cleanly(void **state)
{
	struct fixture *f = *state;
	enum store_open_result result = STORE_FAILED;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NONE);
	arena_clear(&f->arena);
	db_close(f->db);
	for (long n = 0; result != STORE_OPENED; n++) {
		struct db_options o = { .dir = f->dir, .clock = &f->clock, .no_background = true };
		char why[256] = "";

		alloc_fail_after(n);
		result = db_open(&o, &f->db, why, sizeof(why));
		alloc_fail_never();
		assert_true(result == STORE_OPENED || why[0]);
	}
	assert_non_null(table_of(f, "t"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
#define DISK(name) cmocka_unit_test_setup_teardown(name, fixture_setup_on_disk, fixture_teardown)
	static const struct CMUnitTest tests[] = {
		DISK(a_table_is_there_after_reopening),
		TEST(a_name_is_taken_once),
		TEST(a_deleted_table_leaves_nothing),
		DISK(ids_are_never_used_again),
		TEST(protection_keeps_a_table),
		TEST(throughput_changes_are_dated),
		TEST(billing_goes_both_ways),
		TEST(one_index_at_a_time_comes_or_goes),
		TEST(an_impossible_index_is_refused),
		TEST(a_removed_index_leaves_nothing),
		TEST(writes_keep_an_index_that_is_being_made),
		TEST(a_stream_closes_and_a_new_one_opens),
		TEST(ttl_is_on_or_off),
		TEST(tags_are_added_replaced_and_removed),
		TEST(memory_failing_at_each_point_of_a_change_leaves_the_table),
		DISK(a_change_that_is_not_written_did_not_happen),
		DISK(opening_without_memory_fails_cleanly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
