/* Effects that create or change, several effects of one processor, loops over lists: each once, whatever happens in
 * between. SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"
#include "effect_helper.h"

static const char sensors[] =
	"entities:\n"
	"  Reading:\n"
	"    path: /readings/<id>\n"
	"    attributes: {id: 'string, fixed', device: string, value: number, at: timestamp, tags: list of string}\n"
	"    keys: {PK: 'READING#<id>', SK: READING}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Roll:\n"
	"    path: /rolls/<device>\n"
	"    attributes:\n"
	"      device: string, fixed\n"
	"      n: counter\n"
	"      sum: counter\n"
	"      mean: = sum / n\n"
	"      low: number\n"
	"      high: number 0..1000\n"
	"      high_at: timestamp\n"
	"      unit: string\n"
	"      first_id: string, fixed\n"
	"      changed: timestamp, touched\n"
	"    check: {low is absent or low > -100: It is never that cold.}\n"
	"    keys: {PK: 'ROLL#<device>', SK: ROLL, GSI1PK: ROLLS, GSI1SK: '<high:06>'}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Tag:\n"
	"    path: /tags/<tag>\n"
	"    attributes: {tag: 'string, fixed', n: counter, m: counter, about: string}\n"
	"    keys: {PK: 'TAG#<tag>', SK: TAG}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Mark:\n"
	"    path: /marks/<tag>/<id>\n"
	"    attributes: {tag: 'string, fixed', id: 'string, fixed', value: number}\n"
	"    keys: {PK: 'MARK#<tag>', SK: '<id>'}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Note:\n"
	"    path: /notes/<reading>/<id>\n"
	"    attributes: {reading: 'string, fixed', id: \"string, id 'n_', fixed\", about: string}\n"
	"    keys: {PK: 'NOTE#<reading>', SK: '<id>'}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Gate:\n"
	"    path: /gates/<id>\n"
	"    attributes: {id: 'string, fixed', open: boolean, lit: boolean}\n"
	"    keys: {PK: 'GATE#<id>', SK: GATE}\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"  Entry:\n"
	"    path: /entries/<gate>/<id>\n"
	"    attributes: {gate: 'string, fixed', id: 'string, fixed'}\n"
	"    keys: {PK: 'ENTRY#<gate>', SK: '<id>'}\n"
	"    requires: ['Gate(gate) if open = true', 'Gate(gate) if lit = true']\n"
	"    allow: {read, create, update, delete: anyone}\n"
	"access:\n"
	"  marks of: {query: table, where: {PK: 'MARK#<tag>'}}\n"
	"processors:\n"
	"  clear:\n"
	"    on: Tag deleted\n"
	"    each: mark in marks of(tag = tag)\n"
	"    effects:\n"
	"      - {update: Tag('last'), with: {about: mark.id}}\n"
	"      - {count: Tag('all').n by 1}\n"
	"      - {delete: 'Mark(mark.tag, mark.id)'}\n"
	"  enter:\n"
	"    on: Reading created\n"
	"    each: tag in tags\n"
	"    effects:\n"
	"      - {put: Entry, with: {gate: device, id: tag}}\n"
	"      - {count: Tag(tag).n by 1}\n"
	"  note:\n"
	"    on: Reading created\n"
	"    effects:\n"
	"      - {put: Note, with: {reading: id, about: device}}\n"
	"      - {put: Note, with: {reading: id, about: id}}\n"
	"  roll:\n"
	"    on: Reading created\n"
	"    upsert: Roll(device)\n"
	"    with: {unit: 'C', first_id: id}\n"
	"    add: {n: 1, sum: value}\n"
	"    lowest: {low: value}\n"
	"    highest: {high: value, high_at: at}\n"
	"  mark:\n"
	"    on: Reading created\n"
	"    each: tag in tags\n"
	"    effects:\n"
	"      - {put: Mark, with: {tag: tag, id: id, value: value}}\n"
	"      - {count: Tag(tag).n by 1}\n"
	"      - {count: Tag(tag).m by value}\n"
	"      - {when: value > 5, update: Tag(tag), with: {about: id}}\n"
	"  unmark:\n"
	"    on: Reading deleted\n"
	"    each: tag in tags\n"
	"    effects:\n"
	"      - {delete: 'Mark(tag, id)'}\n"
	"      - {count: Tag(tag).n by -1}\n";

static void reading(struct world *w, const char *id, const char *json)
{
	created(&w->f, "!", "Reading", id, json);
}

static void extremes_and_sums_do_not_depend_on_the_order(void **state)
{
	struct world w;
	struct value m;

	(void)state;
	world_open(&w, sensors);
	reading(&w, "a", "{\"device\":\"d\",\"value\":5,\"at\":\"2026-01-01T00:00:00Z\"}");
	reading(&w, "b", "{\"device\":\"d\",\"value\":9,\"at\":\"2026-01-02T00:00:00Z\"}");
	reading(&w, "c", "{\"device\":\"d\",\"value\":-2,\"at\":\"2026-01-03T00:00:00Z\"}");
	reading(&w, "d", "{\"device\":\"d\",\"value\":9,\"at\":\"2026-01-04T00:00:00Z\"}");
	reading(&w, "e", "{\"device\":\"d\"}"); /* without a value it is one more, and nothing else */
	assert_int_equal(world_process(&w, "roll"), 5);
	m = stored(&w.f, "ROLL#d", "ROLL");
	assert_int_equal(number(m, "n"), 5);
	assert_int_equal(number(m, "sum"), 21);
	assert_int_equal(number(m, "low"), -2);
	assert_int_equal(number(m, "high"), 9);
	assert_text(m, "GSI1SK", "000009");
	assert_text(m, "unit", "C");
	assert_int_equal(world_process(&w, "roll"), 0);
	world_close(&w);
}

static void an_upsert_keeps_checks_and_touches_what_it_changes(void **state)
{
	struct world w = { 0 };
	struct value m;

	(void)state;
	world_open(&w, sensors);
	reading(&w, "a", "{\"device\":\"d\",\"value\":5}");
	reading(&w, "b", "{\"device\":\"d\",\"value\":7}");
	assert_int_equal(world_process(&w, "roll"), 2);
	m = stored(&w.f, "ROLL#d", "ROLL");
	assert_int_equal(number(m, "high"), 7);
	updated(&w.f, "!", "Roll", "d", "{\"changed\":\"2020-01-01T00:00:00Z\"}");
	reading(&w, "c", "{\"device\":\"d\",\"value\":9}");
	world_process(&w, "roll");
	m = stored(&w.f, "ROLL#d", "ROLL");
	assert_true(slice_cmp(value_bytes(value_get(m, SLICE("changed"))), SLICE("2020-01-01T00:00:01Z")) > 0);
	reading(&w, "d", "{\"device\":\"d\",\"value\":-200}"); /* beyond what `check` allows */
	world_process(&w, "roll");
	m = stored(&w.f, "ROLL#d", "ROLL");
	assert_int_equal(number(m, "low"), 5);
	assert_int_equal(number(m, "n"), 3);
	assert_int_equal(w.passed_over.count[PASSED_OVER_REQUIREMENT], 1);
	world_close(&w);
}

/* ---- a write in between ---- */

static struct backend really;
static struct world *late;
static const char *late_json;

static void execute_late(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	struct world *w = late;

	if (w && q->kind == REQUEST_WRITE && q->write.count > 1) {
		late = NULL;
		updated(&w->f, "!", "Roll", "d", late_json);
	}
	really.execute(b, a, q, reply);
}

static void a_higher_value_that_comes_in_between_stays(void **state)
{
	struct world w;
	struct value m;

	(void)state;
	world_open(&w, sensors);
	reading(&w, "a", "{\"device\":\"d\",\"value\":5}");
	assert_int_equal(world_process(&w, "roll"), 1);
	reading(&w, "b", "{\"device\":\"d\",\"value\":7}");
	late = &w;
	late_json = "{\"high\":8}";
	really = *w.f.backend;
	w.f.backend->execute = execute_late;
	w.f.backend->start = NULL;
	world_process(&w, "roll");
	*w.f.backend = really;
	assert_null(late);
	m = stored(&w.f, "ROLL#d", "ROLL");
	assert_int_equal(number(m, "high"), 8);
	assert_int_equal(number(m, "n"), 2);
	assert_int_equal(number(m, "sum"), 12);
	world_close(&w);
}

/* ---- several effects ---- */

static void all_effects_of_a_row_happen_and_equal_elements_are_one(void **state)
{
	struct world w;
	struct value m;

	(void)state;
	world_open(&w, sensors);
	reading(&w, "a", "{\"value\":3,\"tags\":[\"x\",\"y\",\"x\"]}");
	reading(&w, "b", "{\"value\":9,\"tags\":[\"x\"]}");
	reading(&w, "c", "{\"value\":1,\"tags\":[]}");
	reading(&w, "d", "{\"value\":1}");
	assert_int_equal(world_process(&w, "mark"), 2);
	m = stored(&w.f, "TAG#x", "TAG");
	assert_int_equal(number(m, "n"), 2);
	assert_int_equal(number(m, "m"), 12);
	assert_text(m, "about", "b");
	m = stored(&w.f, "TAG#y", "TAG");
	assert_int_equal(number(m, "n"), 1);
	assert_true(is_stored(&w.f, "MARK#x", "a"));
	deleted(&w.f, "!", "Reading", "a");
	assert_int_equal(world_process(&w, "unmark"), 1);
	assert_false(is_stored(&w.f, "MARK#x", "a"));
	assert_int_equal(number(stored(&w.f, "TAG#x", "TAG"), "n"), 1);
	world_close(&w);
}

static void each_put_of_a_processor_makes_an_id_of_its_own(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, sensors);
	reading(&w, "a", "{\"device\":\"d\"}");
	assert_int_equal(world_process(&w, "note"), 1);
	assert_int_equal(count_keys(&w, "NOTE#a"), 2);
	assert_int_equal(world_process(&w, "note"), 0);
	world_close(&w);
}

static void all_requirements_on_one_item_are_kept(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, sensors);
	created(&w.f, "!", "Gate", "dark", "{\"open\":true,\"lit\":false}");
	created(&w.f, "!", "Gate", "shut", "{\"open\":false,\"lit\":true}");
	created(&w.f, "!", "Gate", "good", "{\"open\":true,\"lit\":true}");
	reading(&w, "a", "{\"device\":\"dark\",\"tags\":[\"x\",\"y\"]}");
	reading(&w, "b", "{\"device\":\"shut\",\"tags\":[\"x\",\"y\"]}");
	reading(&w, "c", "{\"device\":\"good\",\"tags\":[\"x\",\"y\"]}");
	assert_int_equal(world_process(&w, "enter"), 3);
	assert_int_equal(count_keys(&w, "ENTRY#dark"), 0);
	assert_int_equal(count_keys(&w, "ENTRY#shut"), 0);
	assert_int_equal(count_keys(&w, "ENTRY#good"), 2);
	assert_int_equal(number(stored(&w.f, "TAG#y", "TAG"), "n"), 3);
	world_close(&w);
}

/* A backend that stops answering after so many transactions: the process has died. */
struct mortal {
	struct backend backend;
	struct backend *inner;
	int left;
};

static void mortal_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			struct backend_reply *reply)
{
	static const struct json empty = { .type = JSON_OBJECT };
	struct mortal *m = (struct mortal *)b;

	if (!strcmp(operation, "TransactWriteItems") && m->left-- <= 0) {
		*reply = (struct backend_reply){ .status = 500, .body = &empty, .error = SLICE("InternalServerError") };
		return;
	}
	backend_call(m->inner, a, operation, body, reply);
}

static enum effect_end apply(struct world *w, const char *name, int transactions)
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
	return end;
}

static void steps_happen_once_through_crashes(void **state)
{
	struct buf json;
	struct world w;
	enum effect_end end = EFFECT_FAILED;
	int tries = 0;

	(void)state;
	world_open(&w, sensors);
	buf_init(&json, &w.f.arena);
	buf_lit(&json, "{\"value\":9,\"tags\":[");
	for (int i = 0; i < 60; i++)
		buf_printf(&json, "%s\"t%d\"", i ? "," : "", i);
	buf_lit(&json, "]}");
	reading(&w, "a", arena_cstr(&w.f.arena, buf_slice(&json)));
	while (end != EFFECT_DONE && tries++ < 400)
		end = apply(&w, "mark", 2);
	assert_int_equal(end, EFFECT_DONE);
	assert_true(tries > 20);
	for (int i = 0; i < 60; i++) {
		struct value m;
		char pk[32];

		snprintf(pk, sizeof(pk), "TAG#t%d", i);
		m = stored(&w.f, pk, "TAG");
		assert_int_equal(number(m, "n"), 1);
		assert_int_equal(number(m, "m"), 9);
		assert_text(m, "about", "a");
	}
	assert_int_equal(count_keys(&w, "MARK#"), 60);
	assert_int_equal(world_process(&w, "mark"), 0);
	world_close(&w);
}

static void rows_that_their_own_effect_removes_happen_once_through_crashes(void **state)
{
	struct world w;
	enum effect_end end = EFFECT_FAILED;
	int tries = 0;

	(void)state;
	world_open(&w, sensors);
	created(&w.f, "!", "Tag", "last", "{}");
	created(&w.f, "!", "Tag", "x", "{}");
	for (int i = 0; i < 30; i++) {
		char json[64];

		snprintf(json, sizeof(json), "{\"tag\":\"x\",\"id\":\"m%02d\"}", i);
		created(&w.f, "!", "Mark", NULL, json);
	}
	deleted(&w.f, "!", "Tag", "x");
	while (end != EFFECT_DONE && tries++ < 200)
		end = apply(&w, "clear", 1 + tries % 3); /* after this step or that */
	assert_int_equal(end, EFFECT_DONE);
	assert_true(tries > 10);
	assert_int_equal(count_keys(&w, "MARK#"), 0);
	assert_int_equal(number(stored(&w.f, "TAG#all", "TAG"), "n"), 30);
	assert_text(stored(&w.f, "TAG#last", "TAG"), "about", "m29");
	world_close(&w);
}

static void a_row_may_have_more_effects_than_a_transaction_has_actions(void **state)
{
	struct buf yaml;
	struct arena a;
	struct world w;

	(void)state;
	arena_init(&a);
	buf_init(&yaml, &a);
	buf_put(&yaml, slice_str(sensors));
	buf_lit(&yaml, "  many:\n    on: Reading created\n    each: tag in tags\n    effects:\n");
	for (int i = 0; i < 250; i++)
		buf_printf(&yaml, "      - {count: Tag('t%d').n by 1}\n", i);
	world_open(&w, arena_cstr(&a, buf_slice(&yaml)));
	reading(&w, "a", "{\"tags\":[\"x\",\"y\"]}");
	assert_int_equal(world_process(&w, "many"), 1);
	for (int i = 0; i < 250; i++) {
		char pk[32];

		snprintf(pk, sizeof(pk), "TAG#t%d", i);
		assert_int_equal(number(stored(&w.f, pk, "TAG"), "n"), 2);
	}
	world_close(&w);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(extremes_and_sums_do_not_depend_on_the_order),
		cmocka_unit_test(an_upsert_keeps_checks_and_touches_what_it_changes),
		cmocka_unit_test(a_higher_value_that_comes_in_between_stays),
		cmocka_unit_test(all_effects_of_a_row_happen_and_equal_elements_are_one),
		cmocka_unit_test(each_put_of_a_processor_makes_an_id_of_its_own),
		cmocka_unit_test(all_requirements_on_one_item_are_kept),
		cmocka_unit_test(steps_happen_once_through_crashes),
		cmocka_unit_test(a_row_may_have_more_effects_than_a_transaction_has_actions),
		cmocka_unit_test(rows_that_their_own_effect_removes_happen_once_through_crashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
