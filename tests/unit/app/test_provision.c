/* A design's table: made, found as it should be, brought up to date, or refused with a sentence.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "api/local.h"
#include "app/db/provision.h"

struct fixture {
	struct db *db;
	struct api *api;
	struct backend *backend;
	struct arena arena;
};

static int setup(void **state)
{
	static struct fixture f;
	char why[256];

	memset(&f, 0, sizeof(f));
	if (db_open(&(struct db_options){ 0 }, &f.db, why, sizeof(why)) != STORE_OPENED)
		return -1;
	f.api = api_new(&(struct api_options){ .db = f.db });
	f.backend = backend_local_new(f.api);
	arena_init(&f.arena);
	*state = &f;
	return f.backend ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_release(&f->arena);
	backend_free(f->backend);
	db_close(f->db);
	api_free(f->api);
	return 0;
}

#define ENTITY                                                                             \
	"entities:\n"                                                                      \
	"  Note:\n"                                                                        \
	"    path: /notes/<id>\n"                                                          \
	"    attributes: {id: 'string, id', kind: string, score: integer, until: epoch}\n" \
	"    keys: {PK: NOTE#<id>, SK: NOTE}\n"                                            \
	"    keys when kind is present: {G1: KIND#<kind>, G2: <score>}\n"

static const struct design *design(struct fixture *f, const char *head)
{
	struct source s = { .file = SLICE("test.yaml") };
	struct findings findings;
	const struct design *d;

	s.text = arena_printf(&f->arena, "design: notes\ntitle: Notes\ntable: Notes\nkey: [PK, SK]\n%s%s", head, ENTITY);
	findings_init(&findings, &f->arena);
	d = design_load(&f->arena, s, NULL, NULL, &findings);
	if (!d) {
		struct buf out;

		buf_init(&out, &f->arena);
		findings_print(&out, &findings, &s);
		fail_msg("%.*s", SLICE_ARG(buf_slice(&out)));
	}
	return d;
}

static void expect(struct fixture *f, const char *head, enum provision_result expected, const char *message)
{
	struct error e = { 0 };
	enum provision_result r = provision_table(f->backend, design(f, head), &f->arena, &e);

	if (r != expected)
		fail_msg("%d: %.*s", (int)r, SLICE_ARG(e.message));
	if (message && !memmem(e.message.p, e.message.n, message, strlen(message)))
		fail_msg("%.*s", SLICE_ARG(e.message));
}

#define INDEX  "indexes: {byKind: {key: [G1, G2: number], projection: [score]}}\n"
#define STREAM "stream: new image\n"

static struct slice describe(struct fixture *f, const char *operation)
{
	struct backend_reply r;
	struct buf b;

	backend_call(f->backend, &f->arena, operation, SLICE("{\"TableName\":\"Notes\"}"), &r);
	assert_int_equal(r.status, 200);
	buf_init(&b, &f->arena);
	json_write(&b, r.body);
	return buf_slice(&b);
}

static void assert_has(struct slice text, const char *part)
{
	if (!memmem(text.p, text.n, part, strlen(part)))
		fail_msg("no %s in %.*s", part, SLICE_ARG(text));
}

static void a_table_is_made_as_the_design_says(void **state)
{
	struct fixture *f = *state;
	struct slice table;

	expect(f, INDEX STREAM "ttl: until\n", PROVISION_MADE, NULL);
	table = describe(f, "DescribeTable");
	assert_has(table, "\"IndexName\":\"byKind\"");
	assert_has(table, "\"NonKeyAttributes\":[\"score\"]");
	assert_has(table, "{\"AttributeName\":\"G2\",\"AttributeType\":\"N\"}");
	assert_has(table, "\"StreamViewType\":\"NEW_IMAGE\"");
	assert_has(table, "PAY_PER_REQUEST");
	assert_has(describe(f, "DescribeTimeToLive"), "\"AttributeName\":\"until\"");
	expect(f, INDEX STREAM "ttl: until\n", PROVISION_THERE, NULL);
}

static void provisioned_throughput_reaches_table_and_indexes(void **state)
{
	struct fixture *f = *state;

	expect(f, INDEX "billing: {read: 7, write: 3}\n", PROVISION_MADE, NULL);
	assert_has(describe(f, "DescribeTable"), "\"ReadCapacityUnits\":7");
}

static void what_is_missing_is_added(void **state)
{
	struct fixture *f = *state;

	expect(f, "", PROVISION_MADE, NULL);
	expect(f, INDEX "ttl: until\n", PROVISION_CHANGED, NULL);
	assert_has(describe(f, "DescribeTable"), "\"IndexStatus\":\"ACTIVE\"");
	assert_has(describe(f, "DescribeTimeToLive"), "ENABLED");
	expect(f, INDEX "ttl: until\n", PROVISION_THERE, NULL);
}

static void what_cannot_be_changed_is_refused_in_a_sentence(void **state)
{
	struct fixture *f = *state;

	expect(f, INDEX STREAM "ttl: until\n", PROVISION_MADE, NULL);
	expect(f, "indexes: {byKind: {key: [G1, G2: number]}}\n" STREAM, PROVISION_FAILED, "another projection");
	expect(f, "indexes: {byKind: {key: [G1], projection: [score]}}\n" STREAM, PROVISION_FAILED, "other keys");
	expect(f, INDEX "stream: keys only\n", PROVISION_FAILED, "disable it first");
	expect(f, INDEX STREAM "ttl: score\n", PROVISION_FAILED, "expire by until");
}

/* ---- a table that others make ---- */

/* In what DescribeTable tells, this text is another one; or there is no table, so many times. */
struct odd {
	struct backend backend;
	struct fixture *f;
	const char *text, *instead;
	int hidden;
};

static void odd_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		     struct backend_reply *r)
{
	struct odd *o = (struct odd *)b;
	struct buf whole, changed;
	const char *at;

	backend_call(o->f->backend, a, operation, body, r);
	if (strcmp(operation, "DescribeTable"))
		return;
	if (o->hidden > 0 && o->hidden--) {
		r->status = 400;
		r->error = SLICE("ResourceNotFoundException");
		return;
	}
	if (!o->text || r->status != 200)
		return;
	buf_init(&whole, a);
	json_write(&whole, r->body);
	at = memmem(whole.p, whole.n, o->text, strlen(o->text));
	if (!at)
		return;
	buf_init(&changed, a);
	buf_add(&changed, whole.p, (size_t)(at - whole.p));
	buf_str(&changed, o->instead);
	at += strlen(o->text);
	buf_add(&changed, at, (size_t)(whole.p + whole.n - at));
	r->body = json_parse(a, buf_slice(&changed));
}

static void checked(struct fixture *f, const char *head, const char *text, const char *instead, const char *message)
{
	struct odd o = { .backend.call = odd_call, .f = f, .text = text, .instead = instead };
	struct error e = { 0 };
	bool ok = provision_check(&o.backend, design(f, head), &f->arena, &e);

	if (ok != !message)
		fail_msg("%d: %.*s", ok, SLICE_ARG(e.message));
	if (message && !memmem(e.message.p, e.message.n, message, strlen(message)))
		fail_msg("%.*s", SLICE_ARG(e.message));
}

static void a_table_that_is_only_looked_at_must_be_ready(void **state)
{
	struct fixture *f = *state;
	struct error e = { 0 };

	checked(f, INDEX STREAM, NULL, NULL, "there is no table Notes");
	expect(f, INDEX, PROVISION_MADE, NULL);
	checked(f, INDEX, NULL, NULL, "there is no table Notes.thorpe");
	assert_true(provision_beside(f->backend, design(f, ""), &f->arena, &e));
	checked(f, INDEX, NULL, NULL, NULL);
	checked(f, INDEX STREAM, NULL, NULL, "table Notes has no stream, the design says NEW_IMAGE");
	checked(f, "indexes: {other: {key: [G1]}}\n", NULL, NULL, "table Notes has no index other");
	checked(f, "indexes: {byKind: {key: [G1]}}\n", NULL, NULL, "an index's keys cannot be changed");
	checked(f, INDEX, "\"IndexStatus\":\"ACTIVE\"", "\"IndexStatus\":\"CREATING\"",
		"index byKind of table Notes is still being built");
	checked(f, INDEX, "\"TableStatus\":\"ACTIVE\"", "\"TableStatus\":\"CREATING\"",
		"cannot be used yet: it is CREATING");
	checked(f, INDEX, "\"TableStatus\":\"ACTIVE\"", "\"TableStatus\":\"UPDATING\"", NULL);
}

static void looking_makes_nothing(void **state)
{
	struct fixture *f = *state;
	struct backend_reply r;

	checked(f, INDEX STREAM, NULL, NULL, "there is no table Notes");
	backend_call(f->backend, &f->arena, "DescribeTable", SLICE("{\"TableName\":\"Notes\"}"), &r);
	assert_true(slice_is(r.error, "ResourceNotFoundException"));
	expect(f, "", PROVISION_MADE, NULL);
	checked(f, INDEX, NULL, NULL, "has no index");
	expect(f, INDEX, PROVISION_CHANGED, NULL); /* it was not there */
}

static void another_server_may_make_it_at_the_same_moment(void **state)
{
	struct fixture *f = *state;
	struct odd o = { .backend.call = odd_call, .f = f, .hidden = 1 };
	struct error e = { 0 };

	expect(f, INDEX STREAM, PROVISION_MADE, NULL);
	assert_int_equal(provision_table(&o.backend, design(f, INDEX STREAM), &f->arena, &e), PROVISION_THERE);
}

/* Each change is made by another server right before. */
struct late {
	struct backend backend;
	struct fixture *f;
	int changes;
};

static void late_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		      struct backend_reply *reply)
{
	struct late *l = (struct late *)b;

	if (!strncmp(operation, "Update", 6)) {
		backend_call(l->f->backend, a, operation, body, reply);
		assert_int_equal(reply->status, 200);
		l->changes++;
	}
	backend_call(l->f->backend, a, operation, body, reply);
}

static void what_another_server_adds_first_is_there(void **state)
{
	struct fixture *f = *state;
	struct late l = { .backend.call = late_call, .f = f };
	struct error e = { 0 };

	expect(f, "", PROVISION_MADE, NULL);
	if (provision_table(&l.backend, design(f, INDEX "ttl: until\n"), &f->arena, &e) == PROVISION_FAILED)
		fail_msg("%.*s", SLICE_ARG(e.message));
	assert_int_equal(l.changes, 2); /* index and TTL */
	expect(f, INDEX "ttl: until\n", PROVISION_THERE, NULL);
}

static struct slice call_beside(struct fixture *f, const char *operation, const char *more)
{
	struct backend_reply r;
	struct buf b;

	backend_call(f->backend, &f->arena, operation,
		     arena_printf(&f->arena, "{\"TableName\":\"Notes.thorpe\"%s}", more), &r);
	assert_int_equal(r.status, 200);
	buf_init(&b, &f->arena);
	json_write(&b, r.body);
	return buf_slice(&b);
}

static void what_servers_share_expires(void **state)
{
	struct fixture *f = *state;
	const struct design *d = design(f, "");
	struct error e = { 0 };

	assert_true(provision_beside(f->backend, d, &f->arena, &e));
	assert_has(call_beside(f, "DescribeTimeToLive", ""), "\"AttributeName\":\"expires\"");
	assert_true(provision_beside(f->backend, d, &f->arena, &e));
	provision_beside_ttl(f->backend, d, &f->arena);
	assert_has(call_beside(f, "DescribeTimeToLive", ""), "ENABLED");
}

static void what_was_made_without_expiry_gets_it_when_asked(void **state)
{
	struct fixture *f = *state;
	const struct design *d = design(f, "");
	struct error e = { 0 };

	(void)call_beside(
		f, "CreateTable",
		",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":["
		"{\"AttributeName\":\"PK\",\"AttributeType\":\"S\"},{\"AttributeName\":\"SK\",\"AttributeType\":\"S\"}],"
		"\"KeySchema\":[{\"AttributeName\":\"PK\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"SK\",\"KeyType\":\"RANGE\"}]");
	assert_true(provision_beside(f->backend, d, &f->arena, &e));
	assert_has(call_beside(f, "DescribeTimeToLive", ""), "DISABLED");
	provision_beside_ttl(f->backend, d, &f->arena);
	assert_has(call_beside(f, "DescribeTimeToLive", ""), "ENABLED");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_table_is_made_as_the_design_says, setup, teardown),
		cmocka_unit_test_setup_teardown(provisioned_throughput_reaches_table_and_indexes, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_missing_is_added, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_changed_is_refused_in_a_sentence, setup, teardown),
		cmocka_unit_test_setup_teardown(a_table_that_is_only_looked_at_must_be_ready, setup, teardown),
		cmocka_unit_test_setup_teardown(looking_makes_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(another_server_may_make_it_at_the_same_moment, setup, teardown),
		cmocka_unit_test_setup_teardown(what_another_server_adds_first_is_there, setup, teardown),
		cmocka_unit_test_setup_teardown(what_servers_share_expires, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_made_without_expiry_gets_it_when_asked, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
