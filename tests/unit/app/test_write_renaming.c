/* Items that are marked for a rename which they follow, and what another item's write does to them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "write_helper.h"

static const char design[] =
	"entities:\n"
	"  Folder:\n"
	"    path: /folders/<folder>\n"
	"    attributes: {folder: 'string, required'}\n"
	"    keys: {PK: FOLDER#<folder>, SK: FOLDER}\n"
	"    rename: {then move: entries}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Entry:\n"
	"    path: /folders/<folder>/entries/<entry>\n"
	"    attributes: {folder: 'string, required', entry: 'string, required'}\n"
	"    keys: {PK: FOLDER#<folder>, SK: ENTRY#<entry>}\n"
	"    requires: [Folder(folder)]\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Order:\n"
	"    path: /orders/<order>\n"
	"    attributes: {order: 'string, required', what: 'removal | rename', folder: string, entry: string}\n"
	"    keys: {PK: ORDER#<order>, SK: ORDER}\n"
	"    also:\n"
	"      - {on: created, when: what = 'removal', delete: 'Entry(folder, entry)'}\n"
	"      - {on: created, when: what = 'rename', update: Folder(folder), with: {folder: entry}}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"access:\n"
	"  entries: {query: table, where: {PK: FOLDER#<folder>, SK: begins with ENTRY#}, returns: Entry}\n";

static int setup(void **state)
{
	static struct app_fixture fixture;

	app_fixture_open(&fixture, design);
	*state = &fixture;
	created(*state, "ann", "Folder", "a", NULL);
	created(*state, "ann", "Entry", "a/one", NULL);
	return 0;
}

static int teardown(void **state)
{
	app_fixture_close(*state);
	return 0;
}

/* A backend that keeps what is written, and marks the entry before the first write. */
struct marker_backend {
	struct backend backend; /* first */
	struct backend *real;
	struct slice table;
	bool marks, removed_with_mark;
};

static struct slice key_of_entry(struct arena *a, struct slice table)
{
	return arena_printf(a,
			    "\"TableName\":\"%.*s\",\"Key\":{\"PK\":{\"S\":\"FOLDER#a\"},\"SK\":{\"S\":\"ENTRY#one\"}}",
			    SLICE_ARG(table));
}

static void mark_entry(struct backend *b, struct arena *a, struct slice table)
{
	struct slice key = key_of_entry(a, table);
	struct backend_reply reply;

	b->call(b, a, "UpdateItem",
		arena_printf(a,
			     "{%.*s,\"UpdateExpression\":\"SET #l = :l\",\"ExpressionAttributeNames\":{\"#l\":\"thorpe:leaves\"},"
			     "\"ExpressionAttributeValues\":{\":l\":{\"S\":\"x\"}}}",
			     SLICE_ARG(key)),
		&reply);
	assert_int_equal(reply.status, 200);
}

static const struct json *entry_now(struct backend *b, struct arena *a, struct slice table)
{
	struct slice key = key_of_entry(a, table);
	struct backend_reply reply;

	b->call(b, a, "GetItem", arena_printf(a, "{%.*s,\"ConsistentRead\":true}", SLICE_ARG(key)), &reply);
	assert_int_equal(reply.status, 200);
	return json_get(reply.body, "Item");
}

static void marking_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			 struct backend_reply *reply)
{
	struct marker_backend *m = (struct marker_backend *)b;
	bool reads = !strcmp(operation, "GetItem") || !strcmp(operation, "BatchGetItem") || !strcmp(operation, "Query");
	const struct json *before = NULL;

	if (!reads && m->marks) {
		m->marks = false;
		mark_entry(m->real, a, m->table);
	}
	if (!reads)
		before = entry_now(m->real, a, m->table);
	m->real->call(m->real, a, operation, body, reply);
	if (before && !entry_now(m->real, a, m->table) && json_get(before, "thorpe:leaves"))
		m->removed_with_mark = true;
}

static struct run run_with(struct app_fixture *f, struct marker_backend *m)
{
	struct run r = *app_fixture_run(f, "ann");

	m->backend.call = marking_call;
	m->real = f->backend;
	m->table = r.design->table;
	r.backend = &m->backend;
	return r;
}

static void one_that_is_marked_meanwhile_is_deleted_without_the_mark(void **state)
{
	struct app_fixture *f = *state;
	struct marker_backend m = { .marks = true };
	struct run r = run_with(f, &m);

	assert_true(try_delete(&r, "Entry", "a/one", NULL));
	assert_false(m.marks);
	assert_null(entry_now(f->backend, r.arena, m.table));
	assert_false(m.removed_with_mark);
}

static void one_that_is_marked_meanwhile_moves_without_the_mark(void **state)
{
	struct app_fixture *f = *state;
	struct marker_backend m = { .marks = true };
	struct run r = run_with(f, &m);
	struct write_result out;

	assert_true(try_update(&r, "Entry", "a/one", "{\"entry\":\"two\"}", NULL, &out));
	assert_null(entry_now(f->backend, r.arena, m.table));
	assert_false(m.removed_with_mark);
}

static void so_is_one_that_is_also_deleted(void **state)
{
	struct app_fixture *f = *state;
	struct marker_backend m = { 0 };
	struct run r = run_with(f, &m);
	struct write_result out;

	mark_entry(f->backend, r.arena, m.table);
	assert_true(try_create(&r, "Order", "1", "{\"what\":\"removal\",\"folder\":\"a\",\"entry\":\"one\"}", &out));
	assert_null(entry_now(f->backend, r.arena, m.table));
	assert_false(m.removed_with_mark);
}

/* No clock ticks here: the request carries the rename out. */
static void what_is_also_renamed_is_followed(void **state)
{
	struct app_fixture *f = *state;

	created(f, "ann", "Order", "1", "{\"what\":\"rename\",\"folder\":\"a\",\"entry\":\"b\"}");
	assert_true(value_present(item(f, "Entry", "b/one")));
	assert_false(value_present(item(f, "Entry", "a/one")));
	created(f, "ann", "Folder", "a", NULL);
}

#define MARKED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MARKED(one_that_is_marked_meanwhile_is_deleted_without_the_mark),
		MARKED(one_that_is_marked_meanwhile_moves_without_the_mark),
		MARKED(so_is_one_that_is_also_deleted),
		MARKED(what_is_also_renamed_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
