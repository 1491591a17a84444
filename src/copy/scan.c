/* Every item, by a parallel Scan: each worker takes a segment and copies it page by page.
 *
 * A segment's place in the state is after what has been written (C2). Which item is in which segment depends on how
 * many there are: their number stays what it was when the copy began.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "copy/copy_internal.h"

static struct segment *take_segment(struct job *j, size_t *index)
{
	struct segment *taken = NULL;

	pthread_mutex_lock(&j->lock);
	for (size_t i = 0; i < j->segment_count && !taken; i++)
		if (!j->segments[i].done && !j->segments[i].busy) {
			taken = &j->segments[i];
			taken->busy = true;
			*index = i;
		}
	pthread_mutex_unlock(&j->lock);
	return taken;
}

static struct slice scan_body(struct copier *c, const struct segment *s, size_t index)
{
	struct buf b = copy_body(c, c->job->table);

	buf_printf(&b, ",\"ConsistentRead\":true,\"Segment\":%zu,\"TotalSegments\":%zu", index, c->job->segment_count);
	if (s->at)
		buf_printf(&b, ",\"ExclusiveStartKey\":%s", s->at);
	buf_byte(&b, '}');
	return buf_slice(&b);
}

/* After the page has been written. */
static bool move_on(struct copier *c, struct segment *s, const struct json *last)
{
	char *at = NULL;

	if (last) {
		struct buf b;

		buf_init(&b, &c->arena);
		json_write(&b, last);
		at = mem_strndup(b.p, b.n);
		if (!at)
			return copy_job_fail(c->job, "not enough memory");
	}
	pthread_mutex_lock(&c->job->lock);
	mem_free(s->at);
	s->at = at;
	s->done = !last;
	pthread_mutex_unlock(&c->job->lock);
	return true;
}

static bool copy_page(struct copier *c, struct segment *s, size_t index)
{
	const struct json *items;
	struct backend_reply r;
	struct batch b;

	arena_clear(&c->arena);
	if (!copier_must(c, COPY_FROM, "Scan", scan_body(c, s, index), &r))
		return false;
	items = json_get(r.body, "Items");
	copy_batch_init(&b, c, c->job->table);
	for (size_t i = 0; json_is(items, JSON_ARRAY) && i < items->count; i++)
		if (!copy_batch_put(&b, &items->items[i]))
			return false;
	if (!copy_batch_flush(&b) || !move_on(c, s, json_get(r.body, "LastEvaluatedKey")))
		return false;
	atomic_fetch_add(&c->job->items, json_is(items, JSON_ARRAY) ? items->count : 0);
	return true;
}

static void copy_segments(struct copier *c)
{
	struct segment *s;
	size_t index = 0;

	while (!copy_job_halted(c->job) && (s = take_segment(c->job, &index)) != NULL)
		while (!s->done && copy_page(c, s, index))
			;
}

bool copy_scan_all(struct copier *c)
{
	struct job *j = c->job;
	size_t left = 0;

	copy_job_work(j, copy_job_parallel(j), copy_segments, NULL);
	for (size_t i = 0; i < j->segment_count; i++) {
		left += !j->segments[i].done;
		j->segments[i].busy = false;
	}
	return !left && !copy_job_halted(j);
}
