/* What the keeper has not seen yet: it explains differences that are none for long.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle/oracle_internal.h"
#include "app/db/dyn.h"
#include "app/write/keep.h"
#include "process/checkpoint_table.h"
#include "process/keeper/keeper.h"

#define PAGE 1000

static bool differs(const struct change *c, struct slice name)
{
	return !value_equal(value_get(c->old_image, name), value_get(c->new_image, name));
}

/* A counter moved that something depends on. A stream without images tells nothing, and then it may have. */
static bool is_counted(const struct design *d, const struct change *c)
{
	for (size_t i = 0; i < c->entity->attribute_count; i++) {
		const struct attribute *a = &c->entity->attributes[i];

		if (a->counter && (d->stream != STREAM_NEW_AND_OLD || differs(c, a->name)) &&
		    keep_depends(c->entity, a->name))
			return true;
	}
	return false;
}

/* What others copy has changed, or the item has a copy, and is new or has another. */
static bool is_copied(const struct design *d, const struct change *c)
{
	bool all = d->stream != STREAM_NEW_AND_OLD || c->events != ON_UPDATED;

	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t k = 0; k < d->entities[i].attribute_count; k++) {
			const struct attribute *a = &d->entities[i].attributes[k];

			if (!a->kept_by.n)
				continue;
			if (&d->entities[i] == c->entity && (all || differs(c, a->name)))
				return true;
			if (slice_equal(a->copy_entity, c->entity->name) && (all || differs(c, a->copy_attribute)))
				return true;
		}
	return false;
}

static bool take(struct oracle *o, const struct change *c)
{
	const struct design *d = o->run.design;
	uint64_t key = hash_bytes(slice_make(c->key.p, c->key.n));

	o->waiting++;
	if (!c->entity)
		return true;
	if (c->events != ON_DELETED) {
		/* Of a soft deletion, perhaps: what goes with it is being removed. */
		if (c->entity->delete_.soft && c->entity->delete_.then_count && value_present(c->new_image) &&
		    !c->unfit.n)
			imply_deleting(o, c->entity, entity_full(&o->run, c->entity, c->new_image));
		if (is_counted(d, c) && !hash_set_add(&o->counted, key))
			return run_fail(&o->run, PROBLEM_INTERNAL, "out of memory");
	}
	if (is_copied(d, c) && !hash_set_add(&o->copied, key))
		return run_fail(&o->run, PROBLEM_INTERNAL, "out of memory");
	if (c->events == ON_DELETED && value_present(c->old_image))
		imply_gone(o, c->old_image, c->by_ttl);
	o->run.problem = (struct problem){ 0 };
	return !o->failed;
}

/* Where no server has run with the design, there is no table of positions, and everything waits. */
static bool has_positions(struct run *r)
{
	struct backend_reply reply;
	struct slice table = checkpoint_table(r);

	return dyn_call(r, "DescribeTable", arena_printf(r->arena, "{\"TableName\":\"%.*s\"}", SLICE_ARG(table)),
			&reply);
}

/* Keys alone, of what a processor has not seen that removes what `lives while`. */
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

/* A marker beside the table, {PK: DELETING#<Entity>, values: {…}}, says that what hangs on these values is being removed. */
static bool look_at_markers(struct oracle *o, const struct entity *e)
{
	struct run *r = &o->run;
	struct slice after = SLICE("");
	bool more = true;

	while (more) {
		struct dyn_page page;

		if (!checkpoint_query(r, checkpoint_key(r, "DELETING", e->name, after), after.n > 0, PAGE, &page))
			return false;
		for (size_t i = 0; i < page.count; i++)
			imply_deleting(o, e, value_get(page.items[i], SLICE("values")));
		if (page.count)
			after = value_bytes(value_get(page.items[page.count - 1], SLICE("SK")));
		more = value_present(page.last) && page.count;
	}
	return !o->failed;
}

static bool look_at_all_markers(struct oracle *o)
{
	const struct design *d = o->run.design;

	for (size_t i = 0; i < d->entity_count; i++)
		if (d->entities[i].delete_.then_count && !look_at_markers(o, &d->entities[i]))
			return false;
	return true;
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

	if (keeper_is_needed(d) && !look_at_shard(o, stream, shard, SLICE(KEEPER_NAME), positions, take))
		return false;
	for (size_t i = 0; i < d->processor_count; i++)
		if (lives_removes(d, &d->processors[i]) &&
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
