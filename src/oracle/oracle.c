/* Runs a check: one Scan of the table, or several.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle/oracle.h"
#include "app/db/dyn.h"
#include "base/alloc.h"
#include "oracle/oracle_internal.h"
#include "value/codec.h"

#define MEMORY ((size_t)64 << 20)

/* ---- the scan ---- */

static void begin_body(struct buf *body, struct arena *a, struct slice table)
{
	buf_init(body, a);
	buf_lit(body, "{\"TableName\":");
	json_string(body, table);
}

static bool read_stored(struct run *r, const struct json *j, struct value *item)
{
	struct error e = { 0 };

	*item = VALUE_ABSENT;
	return !j || item_from_json(r->arena, j, item, &e) || run_error(r, &e);
}

static uint64_t items_about(struct oracle *o)
{
	struct backend_reply reply;
	const struct json *n;
	struct buf body;

	begin_body(&body, o->run.arena, o->run.design->table);
	buf_byte(&body, '}');
	if (!dyn_call(&o->run, "DescribeTable", buf_slice(&body), &reply))
		return 0;
	n = json_get(json_get(reply.body, "Table"), "ItemCount");
	return n && n->type == JSON_INT && n->integer > 0 ? (uint64_t)n->integer : 0;
}

static bool read_page(struct oracle *o, struct arena *page, struct value start, const struct json **items,
		      struct value *last)
{
	struct arena *scratch = o->run.arena;
	struct backend_reply reply;
	struct buf body;
	bool ok;

	o->run.arena = page;
	begin_body(&body, page, o->run.design->table);
	json_member_bool(&body, "ConsistentRead", true);
	if (value_present(start)) {
		json_name(&body, "ExclusiveStartKey");
		item_to_json(&body, start);
	}
	buf_byte(&body, '}');
	ok = dyn_call(&o->run, "Scan", buf_slice(&body), &reply);
	if (!ok && slice_is(reply.error, "ResourceNotFoundException"))
		(void)run_fail(&o->run, PROBLEM_NOT_FOUND, "there is no table %.*s", SLICE_ARG(o->run.design->table));
	else if (!ok)
		(void)run_backend_error(&o->run, &reply);
	else
		ok = read_stored(&o->run, json_get(reply.body, "LastEvaluatedKey"), last);
	*items = ok ? json_get(reply.body, "Items") : NULL;
	o->run.arena = scratch;
	return ok;
}

static bool look_at(struct oracle *o, const struct json *j)
{
	struct value stored;
	bool expired;

	scratch_clear(o);
	if (!read_stored(&o->run, j, &stored))
		return false;
	expired = entity_expired(&o->run, stored);
	if (o->pass == 1) {
		o->summary->items++;
		o->summary->expired += expired;
	}
	imply_item(o, stored, expired ? FACT_EXPIRED : FACT_FULL);
	o->run.problem = (struct problem){ 0 };
	return !o->failed;
}

static bool report(struct oracle *o, uint64_t items, uint64_t of)
{
	struct oracle_progress p = { .items = items, .of = of, .pass = o->pass };

	o->stopped = o->options->progress && !o->options->progress(o->options->ctx, &p);
	return !o->stopped;
}

static void release(void *arena)
{
	arena_release(arena);
}

static bool scan(struct oracle *o)
{
	struct arena *pages = arena_array(&o->kept, struct arena, 2); /* a page's key begins the next one */
	struct value start = VALUE_ABSENT;
	uint64_t of = items_about(o), n = 0;
	const struct json *items;

	for (size_t i = 0; i < 2; i++) {
		arena_init(&pages[i]);
		pages[i].oom = o->kept.oom;
		arena_defer(&o->kept, release, &pages[i]);
	}
	for (size_t turn = 0;; turn = !turn) {
		arena_clear(&pages[turn]);
		if (!read_page(o, &pages[turn], start, &items, &start))
			return false;
		for (size_t i = 0; items && i < items->count; i++)
			if (!look_at(o, &items->items[i]))
				return false;
		n += items ? items->count : 0;
		if (!report(o, n, of > n ? of : n))
			return false;
		if (!value_present(start))
			return true;
	}
}

/* ---- passes ---- */

static bool make_pass(struct oracle *o)
{
	bool ok;

	o->facts = facts_new(o->options->memory ? o->options->memory : MEMORY);
	if (!o->facts)
		return run_fail(&o->run, PROBLEM_INTERNAL, "out of memory");
	ok = (!o->options->stream || stream_look(o)) && scan(o) && files_scan(o);
	if (ok && o->options->passes > 1)
		stream_follow(o);
	ok = ok && refers_find_circles(o) && compare_all(o);
	if (!ok && !o->stopped && o->run.problem.type == PROBLEM_NONE)
		(void)run_fail(&o->run, PROBLEM_INTERNAL, "%s", facts_why(o->facts));
	facts_free(o->facts);
	o->facts = NULL;
	return ok;
}

/* The next pass looks only at groups in which this one found something. */
static void turn_over(struct oracle *o)
{
	hash_set_free(&o->seen_before);
	o->seen_before = o->seen;
	o->seen = (struct hash_set){ 0 };
	hash_set_free(&o->suspects);
	o->suspects = o->next_suspects;
	o->next_suspects = (struct hash_set){ 0 };
}

/* Whether all findings of this pass have been reported. */
static bool is_settled(const struct oracle *o)
{
	for (size_t i = 0; i < o->seen.room; i++)
		if (o->seen.slots[i] && !hash_set_has(&o->told, o->seen.slots[i]))
			return false;
	return true;
}

static bool check(struct oracle *o)
{
	unsigned passes = o->options->passes > 1 ? o->options->passes : 1;

	rules_make(&o->rules, o->run.design, &o->kept);
	if (o->options->notes)
		rules_tell(o);
	if (passes > 1)
		stream_watch(o);
	for (o->pass = 1; o->pass <= passes; o->pass++) {
		if (o->pass > 1 && o->options->settle)
			o->options->settle(o->options->ctx);
		if (!make_pass(o))
			return false;
		o->summary->passes = o->pass;
		if (passes == 1 || is_settled(o))
			break;
		turn_over(o);
	}
	o->summary->moved = o->candidates.count - o->told.count;
	return true;
}

static void oracle_release(struct oracle *o)
{
	facts_free(o->facts);
	hash_set_free(&o->suspects);
	hash_set_free(&o->next_suspects);
	hash_set_free(&o->seen);
	hash_set_free(&o->seen_before);
	hash_set_free(&o->told);
	hash_set_free(&o->candidates);
	hash_set_free(&o->counted);
	hash_set_free(&o->copied);
	hash_set_free(&o->unseen);
	hash_set_free(&o->touched);
	hash_set_free(&o->circled);
	mem_free(o->parents);
	arena_release(&o->group);
	arena_release(&o->scratch);
	arena_release(&o->kept);
}

bool oracle_check(struct backend *b, const struct design *d, const struct oracle_options *options,
		  struct oracle_summary *out, char *why, size_t n)
{
	struct oracle o = { .options = options, .summary = out };
	volatile bool ok = false;

	*out = (struct oracle_summary){ 0 };
	arena_init(&o.kept);
	arena_init(&o.scratch);
	arena_init(&o.group);
	o.run = (struct run){
		.design = d, .backend = b, .arena = &o.scratch, .now_ms = options->now_ms, .caller = { .operator_ = true }
	};
	ARENA_TRY(&o.kept, {
		o.scratch.oom = o.kept.oom;
		o.group.oom = o.kept.oom;
		ok = check(&o);
		if (!ok)
			snprintf(why, n, "%.*s", SLICE_ARG(o.stopped ? SLICE("it was stopped") : o.run.problem.detail));
	}, {
		ok = false;
		snprintf(why, n, "out of memory");
	});
	oracle_release(&o);
	return ok;
}
