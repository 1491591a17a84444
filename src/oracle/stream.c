/* The stream: changes that the keeper has not processed yet explain differences that it will mend; items that change
 * during a scan cannot be compared.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle/oracle_internal.h"
#include "app/db/beside.h"
#include "app/entity/renamed.h"
#include "app/write/keep.h"
#include "base/grow.h"
#include "process/checkpoint_table.h"
#include "process/keeper/keeper.h"

#define PAGE 1000

/* Whether a counter moved that something depends on. Without images in the stream it may have. */
static bool is_counted(const struct design *d, const struct change *c)
{
	for (size_t i = 0; i < c->entity->attribute_count; i++) {
		const struct attribute *a = &c->entity->attributes[i];

		if (a->counter && (d->stream != STREAM_NEW_AND_OLD || change_differs(c, a->at)) &&
		    keep_depends(c->entity, a->at))
			return true;
	}
	return false;
}

/* Whether an attribute that others copy changed, or a copy of the item's own is new or changed. */
static bool is_copied(const struct design *d, const struct change *c)
{
	bool all = d->stream != STREAM_NEW_AND_OLD || c->events != ON_UPDATED;

	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t k = 0; k < d->entities[i].attribute_count; k++) {
			const struct attribute *a = &d->entities[i].attributes[k];

			if (!a->kept_by.n)
				continue;
			if (&d->entities[i] == c->entity && (all || change_differs(c, a->at)))
				return true;
			if (a->copy_of == c->entity && (all || change_differs(c, a->copy_at)))
				return true;
		}
	return false;
}

static bool take_change(struct oracle *o, const struct change *c)
{
	const struct design *d = o->run.design;
	struct row full;
	uint64_t key = hash_bytes(slice_make(c->key.p, c->key.n));

	o->waiting++;
	if (!c->entity)
		return true;
	if (c->events != ON_DELETED) {
		/* It may be a soft deletion, whose cascade is still running. */
		if (c->entity->delete_.soft && c->entity->delete_.then_count && value_present(c->new_image) &&
		    !c->unfit.n) {
			full = entity_lay(&o->run, c->entity, c->new_image);
			imply_deleting(o, &full);
		}
		if (is_counted(d, c) && !hash_set_add(&o->counted, key))
			return run_fail(&o->run, PROBLEM_INTERNAL, "out of memory");
	}
	if (is_copied(d, c) && !hash_set_add(&o->copied, key))
		return run_fail(&o->run, PROBLEM_INTERNAL, "out of memory");
	if (c->events == ON_DELETED && value_present(c->old_image))
		imply_gone(o, &c->old, c->by_ttl);
	o->run.problem = (struct problem){ 0 };
	return !o->failed;
}

/* Before a server has run with the design there is no table of positions: then all changes are still to be seen. */
static bool has_positions(struct run *r)
{
	struct backend_reply reply;
	struct slice table = checkpoint_table(r);

	return dyn_call(r, "DescribeTable", arena_printf(r->arena, "{\"TableName\":\"%.*s\"}", SLICE_ARG(table)),
			&reply);
}

/* A change that a processor which removes items with `lives while` has not seen. */
static bool note(struct oracle *o, const struct change *c)
{
	return hash_set_add(&o->unseen, hash_bytes(slice_make(c->key.p, c->key.n))) ||
	       run_fail(&o->run, PROBLEM_INTERNAL, "out of memory");
}

static bool look_at_shard(struct oracle *o, struct slice stream, struct slice shard, struct slice reader,
			  bool positions, bool (*take_one)(struct oracle *o, const struct change *c))
{
	struct run *r = &o->run;
	struct shard_position at = { .where = AT_OLDEST };
	struct position was = { 0 };
	struct change_page page;
	struct slice iterator;

	if (positions && !checkpoint_load(r, reader, shard, &was))
		return false;
	if (was.sequence.n)
		at = (struct shard_position){ .where = AFTER_SEQUENCE, .sequence = was.sequence };
	if (!dyn_take_iterator(r, stream, shard, &at, &iterator))
		return false;
	if (!iterator.n) {
		at.where = AT_OLDEST;
		if (!dyn_take_iterator(r, stream, shard, &at, &iterator))
			return false;
	}
	while (iterator.n) {
		if (!change_read(r, iterator, PAGE, &page))
			return false;
		for (size_t i = 0; i < page.count; i++)
			if (!take_one(o, &page.list[i]))
				return false;
		if (!page.count)
			break;
		iterator = page.iterator;
	}
	return true;
}

/* ---- deletions that take time ---- */

/* A marker in <table>.thorpe, {PK: DELETING#<Entity>, values: {…}}, says that the rows under these values are being
 * removed. */
static bool look_at_markers(struct oracle *o, const struct entity *e)
{
	struct run *r = &o->run;
	struct slice after = SLICE("");
	bool more = true;

	while (more) {
		struct dyn_page page;

		if (!checkpoint_query(r, checkpoint_key(r, "DELETING", e->name, after), after.n > 0, PAGE, &page))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			struct row values = row_lay(r->arena, e, value_get(page.items[i], SLICE("values")));

			imply_deleting(o, &values);
		}
		if (page.count)
			after = value_bytes(value_get(page.items[page.count - 1], SLICE("SK")));
		more = value_present(page.last) && page.count;
	}
	return !o->failed;
}

/* ---- renames that take time ---- */

static const struct value *kept_args(struct oracle *o, const struct entity *e, struct value identity)
{
	const struct value *args = renamed_args(&o->run, e, identity);
	struct value *kept = arena_array(&o->kept, struct value, e->param_count);

	for (size_t i = 0; args && i < e->param_count; i++)
		kept[i] = value_copy(&o->kept, args[i]);
	return args ? kept : NULL;
}

/* A marker (app/entity/renamed.h) says that what names the item by its old name means the new one, and that rows under
 * the old name are on their way. Both markers of a rename say it; once is enough. */
static void take_rename(struct oracle *o, const struct entity *e, struct value marker)
{
	struct run *r = &o->run;
	struct renamed *x = arena_new(&o->kept, struct renamed);
	struct value from = value_get(marker, SLICE("from"));
	struct row values = row_lay(r->arena, e, value_get(marker, SLICE("values")));

	if (!value_equal(renamed_key(r, e, from), beside_key(r, beside_text(marker, "PK"), beside_text(marker, "SK"))))
		return;
	*x = (struct renamed){ r->renames, e, kept_args(o, e, from), kept_args(o, e, value_get(marker, SLICE("to"))),
			       false };
	imply_deleting(o, &values); /* under the old name */
	if (x->from && x->to)
		r->renames = x;
}

static bool look_at_renames(struct oracle *o, const struct entity *e)
{
	struct run *r = &o->run;
	struct dyn_page page = { .last = VALUE_ABSENT };

	do {
		if (!beside_query(r, renamed_kind(r, e), PAGE, page.last, &page))
			return false;
		for (size_t i = 0; i < page.count; i++)
			take_rename(o, e, page.items[i]);
	} while (value_present(page.last));
	return !o->failed;
}

static bool look_at_all_markers(struct oracle *o)
{
	const struct design *d = o->run.design;

	o->run.renames = NULL;
	for (size_t i = 0; i < d->entity_count; i++) {
		const struct entity *e = &d->entities[i];

		if ((e->delete_.then_count && !look_at_markers(o, e)) ||
		    (e->rename.then_count && !look_at_renames(o, e)))
			return false;
	}
	return true;
}

/* ---- what changes while others write ---- */

#define EMPTY_MOST 3 /* pages in a row: DynamoDB may answer with none before the last record */

static bool is_watched(const struct oracle *o, struct slice shard)
{
	for (size_t i = 0; i < o->watched_count; i++)
		if (slice_equal(o->watched[i].shard, shard))
			return true;
	return false;
}

static bool watch(struct oracle *o, struct slice stream, struct slice shard, const struct shard_position *at)
{
	struct watched w = { .shard = arena_copy(&o->kept, shard) };
	struct slice iterator;

	if (!dyn_take_iterator(&o->run, stream, shard, at, &iterator))
		return false;
	w.iterator = arena_copy(&o->kept, iterator);
	GROW_IN(&o->kept, o->watched, o->watched_count, o->watched_room, 8);
	o->watched[o->watched_count++] = w;
	return true;
}

/* A shard that was not listed before is new: all of its changes count. */
static bool watch_all(struct oracle *o)
{
	struct shard_position at = { .where = o->watches ? AT_OLDEST : AT_LATEST };
	struct shard_list shards;

	if (!dyn_list_shards(&o->run, &shards))
		return false;
	for (size_t i = 0; i < shards.count; i++)
		if (!is_watched(o, shards.list[i].id) && !watch(o, shards.stream_arn, shards.list[i].id, &at))
			return false;
	return true;
}

static bool follow(struct oracle *o, struct watched *w)
{
	struct dyn_records page;

	for (int empty = 0; w->iterator.n && empty < EMPTY_MOST; empty = page.count ? 0 : empty + 1) {
		if (!dyn_read_records(&o->run, w->iterator, PAGE, &page) || page.trimmed)
			return false;
		for (size_t i = 0; i < page.count; i++)
			if (!hash_set_add(&o->touched, hash_bytes(slice_make(page.list[i].keys.p, page.list[i].keys.n))))
				return false;
		w->iterator = arena_copy(&o->kept, page.iterator);
		scratch_clear(o);
	}
	return true;
}

/* Without a readable stream, two passes that agree must suffice. */
static void give_up_watching(struct oracle *o)
{
	o->watches = false;
	hash_set_free(&o->touched);
	o->run.problem = (struct problem){ 0 };
}

void stream_watch(struct oracle *o)
{
	o->watches = o->run.design->stream != STREAM_NONE && watch_all(o);
	if (!o->watches)
		give_up_watching(o);
}

void stream_follow(struct oracle *o)
{
	bool ok = o->watches && watch_all(o);

	hash_set_free(&o->touched);
	for (size_t i = 0; ok && i < o->watched_count; i++)
		ok = follow(o, &o->watched[i]);
	if (!ok)
		give_up_watching(o);
}

/* ---- all of it ---- */

static bool has_readers(const struct design *d)
{
	bool any = keeper_is_needed(d);

	for (size_t i = 0; i < d->processor_count && !any; i++)
		any = lives_removes(d, &d->processors[i]);
	return any;
}

static bool look_for_readers(struct oracle *o, struct slice stream, struct slice shard, bool positions)
{
	const struct design *d = o->run.design;

	if (keeper_is_needed(d) && !look_at_shard(o, stream, shard, SLICE(KEEPER_NAME), positions, take_change))
		return false;
	for (size_t i = 0; i < d->processor_count; i++)
		if (!d->processors[i].every_seconds && lives_removes(d, &d->processors[i]) &&
		    !look_at_shard(o, stream, shard, d->processors[i].name, positions, note))
			return false;
	return true;
}

static bool look_at_stream(struct oracle *o, bool positions)
{
	struct run *r = &o->run;
	struct shard_list shards;
	struct oracle_finding f = { .kind = ORACLE_KEEPER_BEHIND, .weight = ORACLE_NOTE };
	bool ok = true;

	if (r->design->stream == STREAM_NONE || !has_readers(r->design))
		return true;
	if (!dyn_list_shards(r, &shards)) {
		/* No stream, nothing waits. */
		ok = r->problem.type == PROBLEM_NOT_FOUND;
		r->problem = ok ? (struct problem){ 0 } : r->problem;
		return ok;
	}
	for (size_t i = 0; ok && i < shards.count; i++)
		ok = look_for_readers(o, shards.stream_arn, shards.list[i].id, positions);
	if (!ok && r->problem.type == PROBLEM_NOT_FOUND) {
		r->problem = (struct problem){ 0 };
		ok = true;
	}
	if (o->waiting && o->pass == 1)
		tell(o, &f,
		     "the keeper has not seen %llu change%s yet: what they explain is pending, and gone once the server has run",
		     (unsigned long long)o->waiting, o->waiting == 1 ? "" : "s");
	return ok;
}

bool stream_look(struct oracle *o)
{
	bool positions = has_positions(&o->run);

	o->waiting = 0;
	hash_set_free(&o->counted);
	hash_set_free(&o->copied);
	hash_set_free(&o->unseen);
	return (!positions || look_at_all_markers(o)) && look_at_stream(o, positions);
}
