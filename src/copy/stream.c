/* The source's stream: positions before the scan, and the changes since, applied in order.
 *
 * A position may be too early: that costs work and changes nothing (C1, C2). DynamoDB does not tell the last sequence
 * number of a shard, so copy_stream_begin() reads each open shard to its end (at most four hours of changes with
 * Amazon), or as far as it gets within BEGIN_US. Shards that are closed by then have only changes before the scan.
 *
 * A page of changes is applied before the next one of its shard is read. If an item changed several times within a
 * page, only the last change is applied. A shard begins when its parent has ended.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "copy/copy_internal.h"
#include "value/codec.h"

#define PAGE           1000
#define BEGIN_US       60000000 /* for reading shards to their ends */
#define POLL_US        250000   /* DynamoDB lets a shard be read five times a second, by all together */
#define LIST_US        10000000
#define LIST_LEAST_US  500000 /* also when a shard has ended */
#define EMPTIES_ONCE   1
#define EMPTIES_SWITCH 3
#define QUIET_MS       2000
#define FAR_QUIET_MS   5000 /* a stream shows changes some time after they were made */

/* ---- shards ---- */

static struct source_shard *shard_of(struct job *j, struct slice id)
{
	struct source_shard *s = j->shards;

	while (s && !slice_is(id, s->id))
		s = s->next;
	return s;
}

/* The time since which a newly listed shard may have changes. */
static int64_t known_until(const struct job *j, int64_t now_ms)
{
	int64_t oldest = INT64_MAX, newest = 0;

	for (const struct source_shard *s = j->shards; s; s = s->next) {
		if (!s->ended && s->reached_ms < oldest)
			oldest = s->reached_ms;
		if (s->reached_ms > newest)
			newest = s->reached_ms;
	}
	return oldest != INT64_MAX ? oldest : newest ? newest : now_ms;
}

static bool add_shard(struct job *j, const struct json *in, bool begins, int64_t reached_ms)
{
	struct slice id = json_get_text(in, "ShardId"), parent = json_get_text(in, "ParentShardId");
	bool closed = json_get_text(json_get(in, "SequenceNumberRange"), "EndingSequenceNumber").n > 0;
	struct source_shard *s = mem_zalloc(sizeof(*s));

	if (s) {
		s->id = mem_strndup(id.p, id.n);
		s->parent = mem_strndup(parent.n ? parent.p : "", parent.n);
	}
	if (!s || !s->id || !s->parent) {
		if (s) {
			mem_free(s->id);
			mem_free(s->parent);
		}
		mem_free(s);
		return false;
	}
	s->reached_ms = reached_ms;
	s->listed = true;
	s->ended = s->is_old = begins && closed;
	s->next = j->shards;
	j->shards = s;
	return true;
}

static bool list_page(struct copier *c, struct slice after, struct backend_reply *r)
{
	struct buf b;

	buf_init(&b, &c->arena);
	buf_lit(&b, "{\"StreamArn\":");
	json_string(&b, slice_str(c->job->stream));
	if (after.n) {
		buf_lit(&b, ",\"ExclusiveStartShardId\":");
		json_string(&b, after);
	}
	buf_lit(&b, ",\"Limit\":100}");
	return copier_must(c, COPY_FROM, "DescribeStream", buf_slice(&b), r);
}

/* Drops shards that the stream no longer lists, if they had ended. Others have missed nothing, unless too much time
 * has passed. */
static void drop_unlisted(struct job *j, int64_t now_ms)
{
	struct source_shard **at = &j->shards;

	while (*at) {
		struct source_shard *s = *at;

		if (s->listed || s->busy) {
			at = &s->next;
			continue;
		}
		if (!s->ended && now_ms - s->reached_ms >= COPY_KEPT_MS)
			j->lost = true;
		*at = s->next;
		mem_free(s->id);
		mem_free(s->parent);
		mem_free(s->iterator);
		mem_free(s);
	}
}

static bool list(struct copier *c, bool begins)
{
	int64_t now_ms = clock_now_ms(&clock_system), reached;
	struct job *j = c->job;
	struct slice after = SLICE("");
	struct backend_reply r;
	bool ok = true;

	pthread_mutex_lock(&j->lock);
	reached = begins ? now_ms : known_until(j, now_ms);
	for (struct source_shard *s = j->shards; s; s = s->next)
		s->listed = false;
	pthread_mutex_unlock(&j->lock);
	do {
		const struct json *d, *shards;

		if (!list_page(c, after, &r))
			return false;
		d = json_get(r.body, "StreamDescription");
		shards = json_get(d, "Shards");
		pthread_mutex_lock(&j->lock);
		for (size_t i = 0; ok && json_is(shards, JSON_ARRAY) && i < shards->count; i++) {
			struct source_shard *s = shard_of(j, json_get_text(&shards->items[i], "ShardId"));

			if (s)
				s->listed = true;
			else
				ok = add_shard(j, &shards->items[i], begins, reached);
		}
		pthread_mutex_unlock(&j->lock);
		after = json_get_text(d, "LastEvaluatedShardId");
	} while (ok && after.n);
	if (!ok)
		return copy_job_fail(j, "not enough memory");
	pthread_mutex_lock(&j->lock);
	drop_unlisted(j, now_ms);
	j->list_us = clock_monotonic_us();
	j->wants_list = false;
	pthread_mutex_unlock(&j->lock);
	return true;
}

/* ---- reading ---- */

enum read_end { READ_PAGE, READ_ENDED, READ_AGAIN, READ_GONE, READ_LOST, READ_FAILED };

static void drop_iterator(struct source_shard *s)
{
	mem_free(s->iterator);
	s->iterator = NULL;
}

static bool keep_iterator(struct copier *c, struct source_shard *s, struct slice text)
{
	drop_iterator(s);
	s->iterator = mem_strndup(text.p, text.n);
	return s->iterator || copy_job_fail(c->job, "not enough memory");
}

/* Nothing was missed if the end was seen within what a stream keeps. */
static enum read_end trimmed(struct source_shard *s)
{
	drop_iterator(s);
	if (clock_now_ms(&clock_system) - s->reached_ms >= COPY_KEPT_MS)
		return READ_LOST;
	s->from_oldest = true;
	return READ_AGAIN;
}

bool copy_take_iterator(struct copier *c, const struct source_shard *s, struct slice after, struct backend_reply *r)
{
	struct buf b;

	buf_init(&b, &c->arena);
	buf_lit(&b, "{\"StreamArn\":");
	json_string(&b, slice_str(c->job->stream));
	buf_lit(&b, ",\"ShardId\":");
	json_string(&b, slice_str(s->id));
	json_member_word(&b, "ShardIteratorType", after.n ? "AFTER_SEQUENCE_NUMBER" : "TRIM_HORIZON");
	if (after.n)
		json_member_string(&b, "SequenceNumber", after);
	buf_byte(&b, '}');
	return copier_call(c, COPY_FROM, "GetShardIterator", buf_slice(&b), r);
}

static enum read_end new_iterator(struct copier *c, struct source_shard *s)
{
	bool after = s->sequence[0] && !s->from_oldest;
	struct backend_reply r;

	/* A reader that begins at the oldest record gets no error about older ones. */
	if (!after && clock_now_ms(&clock_system) - s->reached_ms >= COPY_KEPT_MS)
		return READ_LOST;
	if (!copy_take_iterator(c, s, after ? slice_str(s->sequence) : SLICE(""), &r)) {
		if (slice_is(r.error, "TrimmedDataAccessException"))
			return trimmed(s);
		if (slice_is(r.error, "ResourceNotFoundException"))
			return READ_GONE;
		copier_refused(c, COPY_FROM, "GetShardIterator", &r);
		return READ_FAILED;
	}
	return keep_iterator(c, s, json_get_text(r.body, "ShardIterator")) ? READ_PAGE : READ_FAILED;
}

bool copy_get_records(struct copier *c, struct slice iterator, int limit, struct backend_reply *r)
{
	struct buf b;

	buf_init(&b, &c->arena);
	buf_lit(&b, "{\"ShardIterator\":");
	json_string(&b, iterator);
	buf_printf(&b, ",\"Limit\":%d}", limit);
	return copier_call(c, COPY_FROM, "GetRecords", buf_slice(&b), r);
}

/* READ_PAGE, READ_ENDED: there is a list of records, perhaps empty. */
static enum read_end read_records(struct copier *c, struct source_shard *s, const struct json **records,
				  struct slice *next)
{
	struct backend_reply r;

	if (!s->iterator) {
		enum read_end end = new_iterator(c, s);

		if (end != READ_PAGE)
			return end;
	}
	if (!copy_get_records(c, slice_str(s->iterator), PAGE, &r)) {
		if (slice_is(r.error, "ExpiredIteratorException")) {
			drop_iterator(s);
			return READ_AGAIN;
		}
		if (slice_is(r.error, "TrimmedDataAccessException"))
			return trimmed(s);
		if (slice_is(r.error, "ResourceNotFoundException"))
			return READ_GONE;
		copier_refused(c, COPY_FROM, "GetRecords", &r);
		return READ_FAILED;
	}
	*records = json_get(r.body, "Records");
	*next = json_get_text(r.body, "NextShardIterator");
	if (!json_is(*records, JSON_ARRAY)) {
		copy_job_fail(c->job, "the reply of %s to GetRecords cannot be read", c->job->o->from.name);
		return READ_FAILED;
	}
	return next->n ? READ_PAGE : READ_ENDED;
}

static int64_t created_ms(const struct json *record)
{
	const struct json *t = json_get(json_get(record, "dynamodb"), "ApproximateCreationDateTime");

	return json_is(t, JSON_INT) ? t->integer * 1000 : json_is(t, JSON_DOUBLE) ? (int64_t)(t->number * 1000) : 0;
}

static void keep_sequence(struct source_shard *s, const struct json *record)
{
	struct slice sequence = json_get_text(json_get(record, "dynamodb"), "SequenceNumber");

	if (sequence.n && sequence.n < COPY_SEQUENCE) {
		memcpy(s->sequence, sequence.p, sequence.n);
		s->sequence[sequence.n] = 0;
		s->from_oldest = false;
	}
}

/* ---- before the scan ---- */

/* Reads on to the shard's end, or until the time is up. */
static bool read_to_end(struct copier *c, struct source_shard *s, int64_t until_us)
{
	int64_t begun_ms = clock_now_ms(&clock_system);

	for (;;) {
		const struct json *records;
		struct slice next;

		arena_clear(&c->arena);
		switch (read_records(c, s, &records, &next)) {
		case READ_FAILED: return false;
		case READ_AGAIN: continue;
		case READ_LOST:
		case READ_GONE: return true;
		case READ_ENDED:
		case READ_PAGE: break;
		}
		pthread_mutex_lock(&c->job->lock); /* the state may be saved meanwhile */
		if (records->count)
			keep_sequence(s, &records->items[records->count - 1]);
		pthread_mutex_unlock(&c->job->lock);
		if (!next.n || !records->count || clock_monotonic_us() > until_us ||
		    created_ms(&records->items[records->count - 1]) >= begun_ms)
			return true;
		if (!keep_iterator(c, s, next))
			return false;
	}
}

bool copy_stream_begin(struct copier *c)
{
	int64_t until = clock_monotonic_us() + BEGIN_US;

	if (!c->job->stream[0])
		return true;
	if (!list(c, true))
		return false;
	for (struct source_shard *s = c->job->shards; s; s = s->next)
		if (!s->ended && !read_to_end(c, s, until))
			return false;
	/* The iterators are past changes that must be read again from the positions. */
	for (struct source_shard *s = c->job->shards; s; s = s->next)
		drop_iterator(s);
	return true;
}

/* ---- applying ---- */

/* the last one of an item in a page */
struct change_of {
	const struct json *keys, *image; /* NULL: it is gone */
	bool is_unknown;                 /* the stream has no images: it has to be looked up */
};

static bool look_up(struct copier *c, struct change_of *x)
{
	struct buf b = copy_body(c, c->job->table);
	struct backend_reply r;

	buf_lit(&b, ",\"ConsistentRead\":true,\"Key\":");
	json_write(&b, x->keys);
	buf_byte(&b, '}');
	if (!copier_must(c, COPY_FROM, "GetItem", buf_slice(&b), &r))
		return false;
	x->image = json_get(r.body, "Item");
	return true;
}

/* Numbers of a key have several texts, and its members no order: the binary form is the same for all. */
static bool key_bytes(struct copier *c, const struct json *keys, struct slice *out)
{
	struct error e = { 0 };
	struct value v;

	if (!item_from_json(&c->arena, keys, &v, &e))
		return copy_job_fail(c->job, "%s has a change without a key: %.*s", c->job->o->from.name,
				     SLICE_ARG(e.message));
	*out = value_slice(v);
	return true;
}

static bool apply(struct copier *c, const struct json *records)
{
	struct map last;
	struct batch b;

	map_init(&last, &c->arena);
	for (size_t i = 0; i < records->count; i++) {
		const struct json *d = json_get(&records->items[i], "dynamodb");
		struct change_of *x = arena_new(&c->arena, struct change_of);
		struct slice key;

		x->keys = json_get(d, "Keys");
		x->image = json_get(d, "NewImage");
		x->is_unknown = !x->image && !slice_is(json_get_text(&records->items[i], "eventName"), "REMOVE");
		if (!key_bytes(c, x->keys, &key))
			return false;
		(void)map_set(&last, key, x);
	}
	copy_batch_init(&b, c, c->job->table);
	for (size_t i = 0; i < last.n; i++) {
		struct change_of *x = last.entries[i].value;

		if (x->is_unknown && !look_up(c, x))
			return false;
		if (!(x->image ? copy_batch_put(&b, x->image) : copy_batch_delete(&b, x->keys)))
			return false;
	}
	return copy_batch_flush(&b);
}

/* ---- following ---- */

static bool may_begin(struct job *j, const struct source_shard *s)
{
	const struct source_shard *parent = s->parent[0] ? shard_of(j, slice_str(s->parent)) : NULL;

	return !parent || parent->ended;
}

static struct source_shard *take_shard(struct job *j)
{
	int64_t now = clock_monotonic_us();
	struct source_shard *taken = NULL;

	pthread_mutex_lock(&j->lock);
	for (struct source_shard *s = j->shards; s; s = s->next)
		if (!s->ended && !s->busy && s->next_us <= now && may_begin(j, s) &&
		    (!taken || s->next_us < taken->next_us))
			taken = s;
	if (taken)
		taken->busy = true;
	pthread_mutex_unlock(&j->lock);
	return taken;
}

/* Records what was applied, and whether the shard has ended. */
static void applied(struct job *j, struct source_shard *s, const struct json *records, bool ended)
{
	int64_t now_ms = clock_now_ms(&clock_system), now_us = clock_monotonic_us();

	pthread_mutex_lock(&j->lock);
	if (records->count) {
		const struct json *last = &records->items[records->count - 1];

		keep_sequence(s, last);
		if (created_ms(last) > s->reached_ms)
			s->reached_ms = created_ms(last);
		s->lag_ms = now_ms - created_ms(last);
		s->empties = 0;
		s->next_us = now_us;
	} else {
		s->reached_ms = now_ms;
		s->lag_ms = 0;
		s->empties++;
		s->next_us = now_us + POLL_US;
	}
	s->ended = ended;
	j->wants_list |= ended;
	pthread_mutex_unlock(&j->lock);
	if (!records->count)
		return;
	atomic_store(&j->change_us, now_us);
	atomic_fetch_add(&j->changes, records->count);
}

static void step(struct copier *c, struct source_shard *s)
{
	const struct json *records;
	struct job *j = c->job;
	struct slice next;
	enum read_end end;

	arena_clear(&c->arena);
	end = read_records(c, s, &records, &next);
	switch (end) {
	case READ_PAGE:
	case READ_ENDED:
		if (!apply(c, records) || (next.n && !keep_iterator(c, s, next)))
			drop_iterator(s); /* halted: a later run continues from the position */
		else
			applied(j, s, records, end == READ_ENDED);
		break;
	case READ_GONE:
	case READ_LOST:
		pthread_mutex_lock(&j->lock);
		j->wants_list = true;
		j->lost |= end == READ_LOST;
		s->next_us = clock_monotonic_us() + POLL_US;
		pthread_mutex_unlock(&j->lock);
		break;
	case READ_AGAIN:
	case READ_FAILED: break;
	}
	pthread_mutex_lock(&j->lock);
	s->busy = false;
	pthread_mutex_unlock(&j->lock);
}

static void follow(struct copier *c)
{
	while (!copy_job_halted(c->job) && !atomic_load(&c->job->follow_ends)) {
		struct source_shard *s = take_shard(c->job);

		if (s)
			step(c, s);
		else
			(void)copy_job_pause(c->job, 10);
	}
}

/* Whether the latest reads of all shards brought nothing. */
static bool is_drained(struct job *j, enum copy_mode mode)
{
	int64_t quiet = (j->o->quiet_ms ? j->o->quiet_ms : j->o->from.is_far ? FAR_QUIET_MS : QUIET_MS) * 1000;
	int64_t change = atomic_load(&j->change_us);
	unsigned least = mode == COPY_SWITCH && !j->o->from.is_directory ? EMPTIES_SWITCH : EMPTIES_ONCE;
	int64_t lag = 0;
	bool drained = true;

	pthread_mutex_lock(&j->lock);
	for (const struct source_shard *s = j->shards; s; s = s->next) {
		if (!s->ended && s->lag_ms > lag)
			lag = s->lag_ms;
		drained = drained && (s->ended || s->empties >= least);
	}
	pthread_mutex_unlock(&j->lock);
	atomic_store(&j->lag_ms, lag);
	if (mode == COPY_SWITCH && !j->o->from.is_directory && clock_monotonic_us() - change < quiet)
		return false;
	return drained;
}

/* Lists shards now and then, and decides when to stop. A list made after the latest read shows shards that were
 * unknown then. */
static bool watch(struct copier *c)
{
	struct job *j = c->job;
	int64_t now = clock_monotonic_us();
	bool wants, lost, drained = is_drained(j, j->following);

	pthread_mutex_lock(&j->lock);
	wants = now - j->list_us > (j->wants_list ? LIST_LEAST_US : LIST_US);
	lost = j->lost;
	pthread_mutex_unlock(&j->lock);
	if (lost)
		return false;
	if (!wants && !(drained && j->following != COPY_FOLLOW))
		return true;
	if (!list(c, false))
		return false;
	return j->following == COPY_FOLLOW || !drained || !is_drained(j, j->following);
}

bool copy_stream_follow(struct copier *c, enum copy_mode mode)
{
	struct job *j = c->job;

	if (!j->stream[0])
		return true;
	j->following = mode;
	if (!atomic_load(&j->change_us))
		atomic_store(&j->change_us, clock_monotonic_us());
	j->list_us = 0;
	j->wants_list = true;
	for (struct source_shard *s = j->shards; s; s = s->next) {
		s->empties = 0;
		s->next_us = 0;
		s->busy = false;
	}
	atomic_store(&j->follow_ends, j->lost);
	copy_job_work(j, copy_job_parallel(j), follow, watch);
	return !copy_job_halted(j);
}
