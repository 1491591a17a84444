/* What the keeper has not seen yet: it explains differences that are none for long.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle/oracle_internal.h"
#include "process/checkpoint.h"
#include "process/keeper.h"

#define PAGE 1000

/* An item that is gone and whose children, companions and counts wait for the keeper; one that has changed, and what follows. */
static bool take(struct oracle *o, const struct change *c)
{
	struct slice key = slice_make(c->key.p, c->key.n);

	o->waiting++;
	if (!hash_set_add(&o->touched, hash_bytes(key)))
		return run_fail(&o->run, PROBLEM_INTERNAL, "out of memory");
	if (c->events == ON_DELETED && value_present(c->old_image) && c->entity)
		imply_item(o, c->old_image, FACT_PENDING);
	o->run.problem = (struct problem){ 0 };
	return !o->failed;
}

static bool look_at_shard(struct oracle *o, struct slice stream, struct slice shard)
{
	struct run *r = &o->run;
	struct shard_position at = { .where = AT_OLDEST };
	struct position was;
	struct change_page page;
	struct slice iterator;

	if (!checkpoint_load(r, SLICE(KEEPER_NAME), shard, &was))
		return false;
	if (was.sequence.n)
		at = (struct shard_position){ .where = AFTER_SEQUENCE, .sequence = was.sequence };
	if (!change_iterator(r, stream, shard, &at, &iterator))
		return false;
	if (!iterator.n) {
		at.where = AT_OLDEST;
		if (!change_iterator(r, stream, shard, &at, &iterator))
			return false;
	}
	while (iterator.n) {
		if (!change_read(r, iterator, PAGE, &page))
			return false;
		for (size_t i = 0; i < page.count; i++)
			if (!take(o, &page.list[i]))
				return false;
		if (!page.count)
			break;
		iterator = page.iterator;
	}
	return true;
}

bool stream_look(struct oracle *o)
{
	struct run *r = &o->run;
	struct shard_list shards;
	struct oracle_finding f = { .kind = ORACLE_KEEPER_BEHIND, .weight = ORACLE_NOTE };
	bool ok = true;

	o->waiting = 0;
	if (r->design->stream == STREAM_NONE || !keeper_is_needed(r->design))
		return true;
	if (!change_shards(r, &shards)) {
		/* No stream, nothing waits. */
		ok = r->problem.type == PROBLEM_NOT_FOUND;
		r->problem = ok ? (struct problem){ 0 } : r->problem;
		return ok;
	}
	for (size_t i = 0; ok && i < shards.count; i++)
		ok = look_at_shard(o, shards.stream_arn, shards.list[i].id);
	if (!ok && r->problem.type == PROBLEM_NOT_FOUND) {
		r->problem = (struct problem){ 0 };
		ok = true;
	}
	o->behind = o->waiting > 0;
	if (o->waiting && o->pass == 1)
		tell(o, &f, "the keeper has not seen %llu change%s yet: what they explain is pending, and gone once the server has run",
		     (unsigned long long)o->waiting, o->waiting == 1 ? "" : "s");
	return ok;
}
