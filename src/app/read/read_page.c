/* Flows of rows: the queue they share, rows at hand, and all rows of a flow.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/read/read_internal.h"
#include "base/grow.h"

void flow_push(struct flow *s, const struct found *row)
{
	GROW_IN(s->g->r->arena, s->rows, s->count, s->capacity, 32);
	s->rows[s->count++] = *row;
}

bool flow_next(struct flow *s, size_t want, struct found *out, bool *got)
{
	*got = false;
	while (s->head == s->count) {
		if (s->ended || s->g->left <= 0)
			return true;
		s->head = s->count = 0;
		if (!s->ops->more(s, want))
			return false;
	}
	*out = s->rows[s->head++];
	s->now = out->place;
	*got = true;
	return true;
}

bool flow_all(struct flow *s, struct found **rows, size_t *n)
{
	struct arena *a = s->g->r->arena;
	struct found *list = NULL;
	size_t count = 0, capacity = 0;

	for (bool got = true;;) {
		GROW_IN(a, list, count, capacity, 64);
		if (!flow_next(s, READ_MOST_CHUNK, &list[count], &got))
			return false;
		if (!got)
			break;
		count++;
	}
	*rows = list;
	*n = count;
	return true;
}

/* ---- rows at hand ---- */

static bool rows_more(struct flow *s, size_t want)
{
	(void)want;
	s->ended = true; /* all rows were pushed when it was made */
	return true;
}

static void rows_save(struct flow *s, const struct read_place *p, struct buf *b)
{
	(void)s;
	buf_varint(b, (uint64_t)p->step);
}

static bool rows_load(struct flow *s, struct slice saved)
{
	uint64_t step;

	if (read_varint(saved.p, saved.p + saved.n, &step) != saved.n)
		return false;
	s->head = step < s->count ? (size_t)step : s->count;
	return true;
}

static const struct flow_ops rows_ops = { rows_more, rows_save, rows_load };

struct flow *flow_of_rows(struct reading *g, struct found *rows, size_t n)
{
	struct flow *s = arena_new(g->r->arena, struct flow);
	struct read_place *places = arena_array(g->r->arena, struct read_place, n);

	s->ops = &rows_ops;
	s->g = g;
	s->rows = rows;
	s->count = s->capacity = n;
	s->ended = true;
	for (size_t i = 0; i < n; i++) {
		places[i].step = (int64_t)i + 1;
		rows[i].place = &places[i];
	}
	return s;
}
