/* Work that the source's processors have not done yet (C5).
 *
 * When all changes have been applied, the job knows the last sequence number of each shard; a processor is done when
 * its position is there. Shards that were closed before the copy began were not read by the copy, so they are read
 * here.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "base/clock.h"
#include "base/map.h"
#include "copy/copy_internal.h"
#include "process/keeper/keeper.h"
#include "process/process.h"
#include "process/send/send.h"
#include "process/tail/spot.h"

#define PAGES_MOST     20 /* pages read of a closed shard: the first ones may be empty */
#define SETTLE_MS      60000
#define SETTLE_LOOK_MS 300

/* ---- positions ---- */

static bool read_positions(struct copier *c, struct slice processor, struct map *out)
{
	struct slice after = SLICE("");

	map_init(out, &c->arena);
	for (;;) {
		struct buf b = copy_body(c, copy_beside(c));
		const struct json *items, *last;
		struct backend_reply r;

		buf_lit(&b,
			",\"ConsistentRead\":true,\"KeyConditionExpression\":\"PK = :pk\",\"ExpressionAttributeValues\":{\":pk\":{\"S\":");
		json_string(&b, arena_printf(&c->arena, "POSITION#%.*s", SLICE_ARG(processor)));
		buf_lit(&b, "}}");
		if (after.n)
			buf_printf(&b, ",\"ExclusiveStartKey\":%.*s", SLICE_ARG(after));
		buf_byte(&b, '}');
		if (!copier_call(c, COPY_FROM, "Query", buf_slice(&b), &r))
			return slice_is(r.error, "ResourceNotFoundException") ||
			       copier_refused(c, COPY_FROM, "Query", &r);
		items = json_get(r.body, "Items");
		for (size_t i = 0; json_is(items, JSON_ARRAY) && i < items->count; i++)
			(void)map_set(out, json_get_text(json_get(&items->items[i], "SK"), "S"),
				      (void *)&items->items[i]);
		last = json_get(r.body, "LastEvaluatedKey");
		if (!last)
			return true;
		buf_init(&b, &c->arena);
		json_write(&b, last);
		after = buf_slice(&b);
	}
}

/* Whether a shard has changes after a position. Changes that it has forgotten cannot be processed any more. */
static bool has_more(struct copier *c, const struct source_shard *s, struct slice sequence, bool *out)
{
	struct slice iterator;
	struct backend_reply r;

	*out = false;
	if (!copy_take_iterator(c, s, sequence, &r))
		return r.error.n > 0;
	iterator = json_get_text(r.body, "ShardIterator");
	for (int i = 0; i < PAGES_MOST && iterator.n; i++) {
		const struct json *records;

		if (!copy_get_records(c, iterator, 1, &r))
			return r.error.n > 0;
		records = json_get(r.body, "Records");
		*out = json_is(records, JSON_ARRAY) && records->count;
		if (*out)
			return true;
		iterator = json_get_text(r.body, "NextShardIterator");
	}
	return true;
}

static bool look_for(struct copier *c, struct slice processor, size_t *behind)
{
	struct map positions;

	*behind = 0;
	if (!read_positions(c, processor, &positions))
		return false;
	for (const struct source_shard *s = c->job->shards; s; s = s->next) {
		const struct json *item = map_get(&positions, slice_str(s->id));
		struct slice at = json_get_text(json_get(item, "sequence"), "S");
		bool more = s->sequence[0] && sequence_compare(at, slice_str(s->sequence)) < 0;

		if (s->is_old && !s->sequence[0] && !has_more(c, s, at, &more))
			return false;
		*behind += more;
	}
	return true;
}

static bool note_processor(struct copier *c, struct slice processor, bool *any, char *why, size_t n)
{
	size_t behind, at = strlen(why);

	if (!look_for(c, processor, &behind))
		return false;
	if (behind)
		snprintf(why + at, n - at, "%s%.*s", *any ? ", " : "", SLICE_ARG(processor));
	*any = *any || behind;
	return true;
}

bool copy_undone_look(struct copier *c, bool *any, char *why, size_t n)
{
	const struct design *d = c->job->o->design;

	*any = false;
	why[0] = 0;
	if (!d || !c->job->stream[0])
		return true;
	for (size_t i = 0; i < d->processor_count; i++)
		if (d->processors[i].parts && !d->processors[i].every_seconds &&
		    (d->processors[i].effect != EFFECT_SEND || send_is_needed(&d->processors[i])) &&
		    !note_processor(c, d->processors[i].name, any, why, n))
			return false;
	return !keeper_is_needed(d) || note_processor(c, SLICE(KEEPER_NAME), any, why, n);
}

/* ---- doing it ---- */

static bool wait_for(struct copier *c, struct process *p)
{
	int64_t until = clock_monotonic_us() + SETTLE_MS * INT64_C(1000);
	char names[256];
	bool any = true;

	while (any && clock_monotonic_us() < until) {
		if (!copy_job_pause(c->job, SETTLE_LOOK_MS))
			return false;
		if (process_is_idle(p) && !copy_undone_look(c, &any, names, sizeof(names)))
			return false;
	}
	return true;
}

bool copy_undone_settle(struct copier *c)
{
	const struct copy_options *o = c->job->o;
	struct app_options options = { .design = o->design, .database = o->from.database };
	struct process_options process_options;
	struct process *p = NULL;
	char why[512] = "not enough memory";
	bool ok = false;

	memcpy(options.secret, o->secret, sizeof(options.secret));
	copy_job_say(c->job, "%.*s: running the processors of %.*s on the changes left at %s", SLICE_ARG(c->job->table),
		     SLICE_ARG(o->design->name), o->from.name);
	process_options.app = app_new(&options);
	if (process_options.app)
		p = process_new(&process_options);
	if (p && process_start(p, why, sizeof(why)))
		ok = wait_for(c, p);
	else
		copy_job_fail(c->job, "%s", why);
	if (p) {
		process_stop(p);
		process_free(p);
	}
	if (process_options.app)
		app_free(process_options.app);
	return ok;
}
