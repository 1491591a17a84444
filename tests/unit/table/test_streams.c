/* Streams: what a shard shows, in which order, for how long, and after the stream was closed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "table/layout.h"

#define HOUR_MS 3600000LL

struct records {
	struct fixture *f;
	struct buf text;
	uint64_t last_sequence;
	size_t count;
};

static void take_record(void *ctx, const struct stream_record *r)
{
	static const char *const events[] = { "?", "INSERT", "MODIFY", "REMOVE" };
	struct records *all = ctx;

	assert_true(all->count == 0 || r->sequence > all->last_sequence);
	assert_true(r->size_bytes > 0);
	all->last_sequence = r->sequence;
	all->count++;
	buf_printf(&all->text, "%s%s %s", all->text.n ? "; " : "", events[r->event], item_text(all->f, r->keys));
	if (value_present(r->old_image))
		buf_printf(&all->text, " old");
	if (value_present(r->new_image))
		buf_printf(&all->text, " new");
	if (r->by_ttl)
		buf_printf(&all->text, " ttl");
}

static struct records read_shard(struct fixture *f, const struct stream *s, uint32_t shard, uint64_t from,
				 int64_t limit, uint64_t *next)
{
	struct records all = { .f = f };
	struct error e = { 0 };
	uint64_t unused;

	buf_init(&all.text, &f->arena);
	if (!db_stream_read(f->db, &(struct stream_read){ s, shard, from, limit, take_record, &all }, &f->arena,
			    next ? next : &unused, &e))
		fail_msg("%.*s", SLICE_ARG(e.message));
	buf_byte(&all.text, 0);
	return all;
}

static size_t count_all(struct fixture *f, const struct stream *s)
{
	size_t n = 0;

	for (uint32_t shard = 0; shard < s->shards; shard++)
		n += read_shard(f, s, shard, 0, 0, NULL).count;
	return n;
}

static size_t stored_records(struct fixture *f, const struct stream *s)
{
	struct slice prefix = layout_id(&f->arena, s->id);
	struct store_iter *it =
		store_iter(&(struct store_at){ db_store(f->db), NULL, STORE_STREAM },
			   &(struct store_walk){ prefix, layout_after_prefix(&f->arena, prefix) }, &f->arena);
	size_t n = 0;

	while (store_iter_next(it))
		n++;
	store_iter_close(it);
	return n;
}

static void set_stream(struct fixture *f, const char *table, enum stream_view view)
{
	struct table_change tc = { .has_stream = true, .stream = view };
	struct control c = { .kind = CONTROL_UPDATE_TABLE, .table = slice_str(table), .change = &tc };

	run_control(f, &c);
}

static void changes_of_an_item_come_in_order(void **state)
{
	struct fixture *f = *state;
	const struct stream *s;
	uint64_t next, after;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_NEW_AND_OLD);
	put(f, "t", "{'pk':{'S':'a'},'x':{'N':'1'}}");
	put(f, "t", "{'pk':{'S':'a'},'x':{'N':'2'}}");
	del(f, "t", "{'pk':{'S':'a'}}");
	s = table_of(f, "t")->stream;
	struct records r = read_shard(f, s, stream_shard_of(s, SLICE("a")), 0, 0, &next);

	assert_string_equal(r.text.p, "INSERT {'pk':{'S':'a'}} new; MODIFY {'pk':{'S':'a'}} old new; "
				      "REMOVE {'pk':{'S':'a'}} old");
	assert_true(next > r.last_sequence);
	assert_true(next <= db_stream_latest(f->db));
	assert_int_equal(read_shard(f, s, stream_shard_of(s, SLICE("a")), next, 0, &after).count, 0);
	assert_true(after == next);
	put(f, "t", "{'pk':{'S':'a'}}");
	r = read_shard(f, s, stream_shard_of(s, SLICE("a")), next, 0, NULL);
	assert_string_equal(r.text.p, "INSERT {'pk':{'S':'a'}} new");
}

static void a_limit_leaves_the_rest_for_the_next_read(void **state)
{
	struct fixture *f = *state;
	const struct stream *s;
	uint64_t next = 0;
	uint32_t shard;

	make_table(f, "t", "pk:S sk:N", NULL, 0, STREAM_KEYS_ONLY);
	for (int i = 0; i < 5; i++)
		putf(f, "t", "{'pk':{'S':'a'},'sk':{'N':'%d'}}", i);
	s = table_of(f, "t")->stream;
	shard = stream_shard_of(s, SLICE("a"));
	assert_int_equal(read_shard(f, s, shard, next, 2, &next).count, 2);
	assert_int_equal(read_shard(f, s, shard, next, 2, &next).count, 2);
	assert_string_equal(read_shard(f, s, shard, next, 2, &next).text.p, "INSERT {'pk':{'S':'a'},'sk':{'N':'4'}}");
}

static void every_item_is_in_the_shard_of_its_partition(void **state)
{
	struct fixture *f = *state;
	const struct stream *s;
	uint32_t used = 0;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_KEYS_ONLY);
	for (int i = 0; i < 40; i++)
		putf(f, "t", "{'pk':{'S':'k%d'}}", i);
	s = table_of(f, "t")->stream;
	assert_int_equal(s->shards, 4);
	for (int i = 0; i < 40; i++) {
		struct slice pk = arena_printf(&f->arena, "k%d", i);
		uint32_t shard = stream_shard_of(s, pk);
		char *wanted = arena_cstr(&f->arena, arena_printf(&f->arena, "'%.*s'", SLICE_ARG(pk)));

		assert_true(shard < 4);
		used |= 1u << shard;
		assert_non_null(strstr(read_shard(f, s, shard, 0, 0, NULL).text.p, wanted));
	}
	assert_int_equal(used, 15);
	assert_int_equal(count_all(f, s), 40);
}

static void old_records_are_not_seen_and_then_gone(void **state)
{
	struct fixture *f = *state;
	const struct stream *s;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_KEYS_ONLY);
	put(f, "t", "{'pk':{'S':'a'}}");
	assert_false(db_step(f->db));
	f->now_ms += 23 * HOUR_MS;
	put(f, "t", "{'pk':{'S':'b'}}");
	s = table_of(f, "t")->stream;
	assert_int_equal(count_all(f, s), 2);
	assert_false(db_step(f->db));
	assert_int_equal(count_all(f, s), 2);
	f->now_ms += 2 * HOUR_MS;
	store_fail_after(db_store(f->db), 0); /* the disk has to wait; readers do not */
	assert_false(db_step(f->db));
	store_fail_after(db_store(f->db), -1);
	assert_int_equal(count_all(f, s), 1);
	assert_int_equal(stored_records(f, s), 2);
	assert_true(db_step(f->db));
	assert_int_equal(stored_records(f, s), 1);
	assert_false(db_step(f->db));
	assert_int_equal(count_all(f, s), 1);
	assert_true(db_stream_horizon(f->db, s) > s->first_sequence);
}

static void a_closed_stream_ends_and_is_forgotten(void **state)
{
	struct fixture *f = *state;
	const struct table *t;
	const struct stream *s;
	struct slice arn;
	uint64_t next;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_KEYS_ONLY);
	put(f, "t", "{'pk':{'S':'a'}}");
	t = table_of(f, "t");
	arn = stream_arn(t, t->stream, &f->arena);
	set_stream(f, "t", STREAM_NONE);
	put(f, "t", "{'pk':{'S':'b'}}");
	assert_null(table_of(f, "t")->stream);
	s = catalog_stream(f->catalog, arn, &t);
	assert_non_null(s);
	assert_int_equal(count_all(f, s), 1);
	for (uint32_t shard = 0; shard < s->shards; shard++) {
		read_shard(f, s, shard, 0, 0, &next);
		assert_true(next > s->closed_sequence);
	}
	assert_false(db_step(f->db));
	f->now_ms += 23 * HOUR_MS;
	assert_false(db_step(f->db));
	assert_non_null(catalog_stream(db_catalog(f->db, &f->arena), arn, &t));
	f->now_ms += 2 * HOUR_MS;
	assert_true(db_step(f->db));
	assert_null(catalog_stream(db_catalog(f->db, &f->arena), arn, &t));
	assert_int_equal(stored_records(f, s), 0);
	assert_false(db_step(f->db));
	assert_verified(f);
}

static void a_stream_is_found_by_its_own_arn_only(void **state)
{
	struct fixture *f = *state;
	const struct table *t, *found;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_KEYS_ONLY);
	t = table_of(f, "t");
	struct slice arn = stream_arn(t, t->stream, &f->arena);

	assert_ptr_equal(catalog_stream(f->catalog, arn, &found), t->stream);
	assert_ptr_equal(found, t);
	arn.n--;
	assert_null(catalog_stream(f->catalog, arn, &found));
	assert_null(catalog_stream(f->catalog, table_arn(t, &f->arena), &found));
	assert_null(catalog_stream(f->catalog, SLICE("t"), &found));
	assert_null(catalog_stream(f->catalog, SLICE(""), &found));
}

static void sequences_go_on_rising_after_a_restart(void **state)
{
	struct fixture *f = *state;
	const struct stream *s;
	uint64_t before;

	make_table(f, "t", "pk:S", NULL, 0, STREAM_KEYS_ONLY);
	put(f, "t", "{'pk':{'S':'a'}}");
	before = db_stream_latest(f->db);
	f->now_ms -= HOUR_MS; /* a clock that was set back changes nothing */
	fixture_reopen(f);
	assert_true(db_stream_latest(f->db) >= before);
	put(f, "t", "{'pk':{'S':'a'},'x':{'N':'1'}}");
	s = table_of(f, "t")->stream;
	assert_string_equal(read_shard(f, s, stream_shard_of(s, SLICE("a")), 0, 0, NULL).text.p,
			    "INSERT {'pk':{'S':'a'}}; MODIFY {'pk':{'S':'a'}}");
}

int main(void)
{
#define TEST(name)      cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
#define DISK_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup_on_disk, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(changes_of_an_item_come_in_order),
		TEST(a_limit_leaves_the_rest_for_the_next_read),
		TEST(every_item_is_in_the_shard_of_its_partition),
		TEST(old_records_are_not_seen_and_then_gone),
		TEST(a_closed_stream_ends_and_is_forgotten),
		TEST(a_stream_is_found_by_its_own_arn_only),
		DISK_TEST(sequences_go_on_rising_after_a_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
