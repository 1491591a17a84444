/* The state of a copy, kept in the target's <table>.thorpe and not in a file, because it describes the items there.
 * So a copy can continue from another machine, or from the data directory instead of its server; and a target that
 * was emptied or recreated is not mistaken for one that is half full.
 *
 *   {PK: COPY, SK: state, layout: 1, source, stream, owner, beat, phase, sweeps, items, segments: [{at, done}],
 *    shards: {<id>: {…}}}
 *
 * It is a single item, so that it is consistent. Its 400 KB hold 64 segments and some two thousand shards; segments
 * are left out once all are done, ended shards once the stream no longer lists them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "copy/copy_internal.h"

#define LAYOUT 1
#define KEY    "\"PK\":{\"S\":\"COPY\"},\"SK\":{\"S\":\"state\"}"

static const char *const phases[] = {
	[COPY_BEGINNING] = "beginning", [COPY_SCANNING] = "scanning",   [COPY_SWEEPING] = "sweeping",
	[COPY_FOLLOWING] = "following", [COPY_SWITCHING] = "switching", [COPY_SWITCHED] = "switched"
};
#define PHASES (sizeof(phases) / sizeof(*phases))

/* ---- out ---- */

static void put_text(struct buf *b, const char *name, const char *text)
{
	buf_printf(b, ",\"%s\":{\"S\":", name);
	json_string(b, slice_str(text));
	buf_byte(b, '}');
}

static void put_number(struct buf *b, const char *name, int64_t n)
{
	buf_printf(b, ",\"%s\":{\"N\":\"%lld\"}", name, (long long)n);
}

static void put_bool(struct buf *b, const char *name, bool v)
{
	buf_printf(b, ",\"%s\":{\"BOOL\":%s}", name, v ? "true" : "false");
}

static void put_segments(struct buf *b, const struct job *j)
{
	buf_lit(b, ",\"segments\":{\"L\":[");
	for (size_t i = 0; i < j->segment_count && j->phase == COPY_SCANNING; i++) {
		buf_printf(b, "%s{\"M\":{\"done\":{\"BOOL\":%s}", i ? "," : "", j->segments[i].done ? "true" : "false");
		if (j->segments[i].at)
			buf_printf(b, ",\"at\":{\"M\":%s}", j->segments[i].at);
		buf_lit(b, "}}");
	}
	buf_lit(b, "]}");
}

static void put_shards(struct buf *b, const struct job *j)
{
	bool first = true;

	buf_lit(b, ",\"shards\":{\"M\":{");
	for (const struct source_shard *s = j->shards; s; s = s->next) {
		buf_str(b, first ? "" : ",");
		first = false;
		json_string(b, slice_str(s->id));
		buf_printf(b, ":{\"M\":{\"reached\":{\"N\":\"%lld\"}", (long long)s->reached_ms);
		if (s->parent[0])
			put_text(b, "parent", s->parent);
		if (s->sequence[0])
			put_text(b, "sequence", s->sequence);
		if (s->ended)
			put_bool(b, "ended", true);
		if (s->is_old)
			put_bool(b, "old", true);
		buf_lit(b, "}}");
	}
	buf_lit(b, "}}");
}

void copy_state_put_item(struct buf *b, struct job *j, const char *owner)
{
	pthread_mutex_lock(&j->lock);
	buf_lit(b, "{" KEY);
	put_number(b, "layout", LAYOUT);
	put_text(b, "source", j->source);
	put_text(b, "stream", j->label);
	put_text(b, "owner", owner);
	put_number(b, "beat", (int64_t)++j->beat);
	put_text(b, "phase", phases[j->phase]);
	put_bool(b, "sweeps", j->sweeps);
	put_number(b, "items", (int64_t)atomic_load(&j->items));
	put_number(b, "changes", (int64_t)atomic_load(&j->changes));
	put_segments(b, j);
	put_shards(b, j);
	buf_byte(b, '}');
	pthread_mutex_unlock(&j->lock);
}

/* ---- in ---- */

static struct slice text_in(const struct json *item, const char *name)
{
	return json_get_text(json_get(item, name), "S");
}

static int64_t number_in(const struct json *item, const char *name)
{
	struct slice t = json_get_text(json_get(item, name), "N");
	char text[32] = "";

	if (t.n < sizeof(text))
		memcpy(text, t.p, t.n);
	return strtoll(text, NULL, 10);
}

static bool bool_in(const struct json *item, const char *name)
{
	const struct json *v = json_get(json_get(item, name), "BOOL");

	return json_is(v, JSON_BOOL) && v->boolean;
}

static void free_segments(struct job *j)
{
	for (size_t i = 0; i < j->segment_count; i++)
		mem_free(j->segments[i].at);
	mem_free(j->segments);
	j->segments = NULL;
	j->segment_count = 0;
}

static void free_shards(struct job *j)
{
	for (struct source_shard *s = j->shards, *next; s; s = next) {
		next = s->next;
		mem_free(s->id);
		mem_free(s->parent);
		mem_free(s->iterator);
		mem_free(s);
	}
	j->shards = NULL;
}

void copy_state_reset(struct job *j)
{
	pthread_mutex_lock(&j->lock);
	free_segments(j);
	free_shards(j);
	j->lost = false;
	pthread_mutex_unlock(&j->lock);
	atomic_store(&j->items, 0);
}

void copy_job_release(struct job *j)
{
	free_segments(j);
	free_shards(j);
	for (size_t i = 0; i < COPY_KEYS_MOST; i++)
		mem_free(j->keys[i]);
	pthread_mutex_destroy(&j->lock);
}

/* Keeps the key as text, as the next Scan needs it. */
static char *keep_json(const struct json *key)
{
	struct arena a;
	struct buf b;
	char *kept;

	arena_init(&a);
	buf_init(&b, &a);
	json_write(&b, key);
	kept = mem_strndup(b.p, b.n);
	arena_release(&a);
	return kept;
}

static bool take_segments(struct job *j, const struct json *list)
{
	if (!json_is(list, JSON_ARRAY) || !list->count || list->count > COPY_SEGMENTS_MOST)
		return true;
	j->segments = mem_zalloc(list->count * sizeof(*j->segments));
	if (!j->segments)
		return false;
	j->segment_count = list->count;
	for (size_t i = 0; i < list->count; i++) {
		const struct json *m = json_get(&list->items[i], "M"), *at = json_get(json_get(m, "at"), "M");

		j->segments[i].done = bool_in(m, "done");
		if (at && !(j->segments[i].at = keep_json(at)))
			return false;
	}
	return true;
}

static bool take_shards(struct job *j, const struct json *map)
{
	for (size_t i = 0; json_is(map, JSON_OBJECT) && i < map->count; i++) {
		const struct json *m = json_get(&map->members[i].value, "M");
		struct slice id = map->members[i].name, parent = text_in(m, "parent"), sequence = text_in(m, "sequence");
		struct source_shard *s = mem_zalloc(sizeof(*s));

		if (!s)
			return false;
		s->next = j->shards;
		j->shards = s;
		s->id = mem_strndup(id.p, id.n);
		s->parent = mem_strndup(parent.n ? parent.p : "", parent.n);
		if (sequence.n && sequence.n < COPY_SEQUENCE)
			memcpy(s->sequence, sequence.p, sequence.n);
		s->reached_ms = number_in(m, "reached");
		s->ended = bool_in(m, "ended");
		s->is_old = bool_in(m, "old");
		if (!s->id || !s->parent)
			return false;
	}
	return true;
}

bool copy_state_take(struct job *j, const struct json *item, enum state_found *found)
{
	struct slice phase = text_in(item, "phase");

	*found = STATE_NEWER;
	if (number_in(item, "layout") != LAYOUT)
		return true;
	for (size_t i = 0; i < PHASES; i++)
		if (slice_is(phase, phases[i]))
			j->phase = (enum copy_phase)i;
	j->sweeps = bool_in(item, "sweeps");
	j->beat = (uint64_t)number_in(item, "beat");
	*found = slice_is(text_in(item, "source"), j->source) ? STATE_OURS : STATE_OTHER;
	if (*found == STATE_OTHER)
		return true;
	/* A new stream of the same table: changes between the two streams are in neither. */
	j->lost = text_in(item, "stream").n && !slice_is(text_in(item, "stream"), j->label);
	atomic_store(&j->items, (uint64_t)number_in(item, "items"));
	atomic_store(&j->changes, (uint64_t)number_in(item, "changes"));
	return take_segments(j, json_get(json_get(item, "segments"), "L")) &&
	       take_shards(j, json_get(json_get(item, "shards"), "M"));
}

/* ---- the table ---- */

bool copy_state_load(struct copier *c, enum state_found *found, struct slice *owner, uint64_t *beat)
{
	struct buf b = copy_body(c, copy_beside(c));
	struct backend_reply r;
	const struct json *item;

	*found = STATE_NONE;
	*owner = SLICE("");
	*beat = 0;
	buf_lit(&b, ",\"Key\":{" KEY "},\"ConsistentRead\":true}");
	if (!copier_call(c, COPY_TO, "GetItem", buf_slice(&b), &r))
		return slice_is(r.error, "ResourceNotFoundException") || copier_refused(c, COPY_TO, "GetItem", &r);
	item = json_get(r.body, "Item");
	if (!item)
		return true;
	*owner = text_in(item, "owner");
	*beat = (uint64_t)number_in(item, "beat");
	copy_state_reset(c->job);
	return copy_state_take(c->job, item, found) || copy_job_fail(c->job, "not enough memory");
}

static bool is_mine(struct copier *c, const char *owner)
{
	struct buf b = copy_body(c, copy_beside(c));
	struct backend_reply r;

	buf_lit(&b, ",\"Key\":{" KEY "},\"ConsistentRead\":true}");
	return copier_call(c, COPY_TO, "GetItem", buf_slice(&b), &r) && owner[0] &&
	       slice_is(text_in(json_get(r.body, "Item"), "owner"), owner);
}

/* Writes the state, on the condition that the owner is as expected. */
static bool put_state(struct copier *c, const char *to, bool exists, struct slice owner, int64_t beat)
{
	struct buf b = copy_body(c, copy_beside(c));
	struct backend_reply r;

	buf_lit(&b, ",\"Item\":");
	copy_state_put_item(&b, c->job, to);
	if (!exists) {
		buf_lit(&b, ",\"ConditionExpression\":\"attribute_not_exists(PK)\"}");
	} else {
		buf_lit(&b, ",\"ConditionExpression\":\"#owner = :owner");
		buf_str(&b, beat >= 0 ? " AND #beat = :beat" : "");
		buf_lit(&b, "\",\"ExpressionAttributeNames\":{\"#owner\":\"owner\"");
		buf_str(&b, beat >= 0 ? ",\"#beat\":\"beat\"" : "");
		buf_lit(&b, "},\"ExpressionAttributeValues\":{\":owner\":{\"S\":");
		json_string(&b, owner);
		buf_byte(&b, '}');
		if (beat >= 0)
			buf_printf(&b, ",\":beat\":{\"N\":\"%lld\"}", (long long)beat);
		buf_lit(&b, "}}");
	}
	if (copier_call(c, COPY_TO, "PutItem", buf_slice(&b), &r))
		return true;
	/* This may be the second attempt after a lost reply. */
	if (slice_is(r.error, "ConditionalCheckFailedException") && !is_mine(c, to))
		return copy_job_fail(c->job, "another copy has taken over %.*s at %s: this one ends",
				     SLICE_ARG(c->job->table), c->job->o->to.name);
	return slice_is(r.error, "ConditionalCheckFailedException") || copier_refused(c, COPY_TO, "PutItem", &r);
}

bool copy_state_claim(struct copier *c, bool exists, struct slice owner, uint64_t beat)
{
	struct job *j = c->job;

	if (!ulid_new(clock_now_ms(&clock_system), j->owner))
		return copy_job_fail(j, "cannot get random bytes");
	j->owner[ULID_LENGTH] = 0;
	j->is_saved = put_state(c, j->owner, exists, owner, (int64_t)beat);
	return j->is_saved;
}

bool copy_state_save(struct copier *c)
{
	return put_state(c, c->job->owner, true, slice_str(c->job->owner), -1);
}

bool copy_state_leave(struct copier *c)
{
	return put_state(c, "", true, slice_str(c->job->owner), -1);
}
