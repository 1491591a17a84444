/* BatchWriteItem at the target, at the requested pace.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "copy/copy_internal.h"

#define MOST             25
#define MOST_BYTES       (8 << 20) /* DynamoDB takes 16 MB; Base64 and quotes are counted here, there they are not */
#define UNIT             1024.0
#define PAUSE_MS         50
#define LONGEST_PAUSE_MS 5000

void copy_batch_init(struct batch *b, struct copier *c, struct slice table)
{
	*b = (struct batch){ .copier = c, .table = table };
	buf_init(&b->body, &c->arena);
}

/* ---- the pace ---- */

/* Waits until so many units may be used. At most a second's worth is saved up. */
static bool wait_for_units(struct job *j, double units)
{
	for (;;) {
		int64_t now = clock_monotonic_us(), wait_ms;

		pthread_mutex_lock(&j->lock);
		j->allowance += j->allowance_us ? (double)(now - j->allowance_us) / 1e6 * j->o->units : j->o->units;
		j->allowance_us = now;
		if (j->allowance > j->o->units)
			j->allowance = j->o->units;
		/* A batch of more than a second's worth could never be saved up for: it leaves a debt. */
		if (j->allowance >= (units < j->o->units ? units : j->o->units)) {
			j->allowance -= units;
			pthread_mutex_unlock(&j->lock);
			return true;
		}
		wait_ms = (int64_t)(((units < j->o->units ? units : j->o->units) - j->allowance) / j->o->units * 1000) +
			  1;
		pthread_mutex_unlock(&j->lock);
		if (!copy_job_pause(j, wait_ms))
			return false;
	}
}

/* ---- a batch ---- */

static bool add_to_batch(struct batch *b, const char *kind, const char *member, const struct json *what)
{
	size_t before;

	if (b->count == MOST || b->body.n > MOST_BYTES) {
		if (!copy_batch_flush(b))
			return false;
	}
	if (b->count)
		buf_byte(&b->body, ',');
	before = b->body.n;
	buf_printf(&b->body, "{\"%s\":{\"%s\":", kind, member);
	json_write(&b->body, what);
	buf_lit(&b->body, "}}");
	b->count++;
	b->units += (double)(size_t)((double)(b->body.n - before) / UNIT) + 1;
	return true;
}

bool copy_batch_put(struct batch *b, const struct json *item)
{
	return add_to_batch(b, "PutRequest", "Item", item);
}

bool copy_batch_delete(struct batch *b, const struct json *key)
{
	return add_to_batch(b, "DeleteRequest", "Key", key);
}

static struct slice request(struct batch *b, struct slice list)
{
	struct buf q;

	buf_init(&q, &b->copier->arena);
	buf_lit(&q, "{\"RequestItems\":{");
	json_string(&q, b->table);
	buf_lit(&q, ":[");
	buf_put(&q, list);
	buf_lit(&q, "]}}");
	return buf_slice(&q);
}

/* Repeats unprocessed items until the target has taken all. */
bool copy_batch_flush(struct batch *b)
{
	struct copier *c = b->copier;
	struct slice body = request(b, buf_slice(&b->body));
	int64_t pause = PAUSE_MS;
	bool waited = false;

	if (!b->count)
		return true;
	if (c->job->o->units > 0 && !wait_for_units(c->job, b->units))
		return false;
	for (;;) {
		const struct json *left;
		struct backend_reply r;
		struct buf again;

		if (!copier_must(c, COPY_TO, "BatchWriteItem", body, &r))
			break;
		left = json_get_slice(json_get(r.body, "UnprocessedItems"), b->table);
		if (!json_is(left, JSON_ARRAY) || !left->count) {
			atomic_fetch_add(&c->job->bytes, b->body.n);
			b->body.n = b->count = 0;
			b->units = 0;
			if (waited)
				atomic_fetch_sub(&c->job->throttled, 1);
			return true;
		}
		if (!waited)
			atomic_fetch_add(&c->job->throttled, 1);
		waited = true;
		if (!copy_job_pause(c->job, pause))
			break;
		pause = pause * 2 < LONGEST_PAUSE_MS ? pause * 2 : LONGEST_PAUSE_MS;
		buf_init(&again, &c->arena);
		for (size_t i = 0; i < left->count; i++) {
			buf_str(&again, i ? "," : "");
			json_write(&again, &left->items[i]);
		}
		body = request(b, buf_slice(&again));
	}
	if (waited)
		atomic_fetch_sub(&c->job->throttled, 1);
	return false;
}
