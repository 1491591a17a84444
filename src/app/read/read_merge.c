/* Several patterns as one list.
 *
 * With `by` the parts are read together, and the row that is first by that attribute comes next. Without it one part
 * follows the other. An item comes once: its rows have the same value of `by`, so a cursor only has to hold the keys
 * of the rows that share the last value.
 *
 * Parts do not wait for one another (backend_together()): the patterns that lead to them and the first rows of all are
 * read at once. In turn, the first part is read alone, since its rows may be enough; then all others together.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/read/read_internal.h"
#include "base/map.h"

#define FEW_PARTS 8
#define TIES_MOST 64 /* rows of one value of `by` that a cursor remembers */

struct part {
	struct flow *s;
	uint64_t id;
	struct found head;
	struct value by;
	bool has_head, done;
	bool in_group;                   /* in all: it has a row with the value of the group */
	const struct read_place *taken;  /* its place when the last row was handed on */
	const struct read_place *popped; /* its place after the last row taken from it */
};

struct merge_flow {
	struct flow s;
	struct pattern *p;
	struct part *parts;
	struct merge_part *runs;
	size_t count, at; /* at: without `by`, the part whose turn it is */
	bool descending, disjoint, replayed;
	bool opening;                 /* no part has been read yet */
	const struct read_place *tip; /* the place after the last row taken */
	/* in all: rows of one value of `by` */
	struct found first;
	struct value group;
	size_t members;
	struct map seen;                  /* keys of items handed on; value: the part + 1 */
	uint64_t tie_by, ties[TIES_MOST]; /* from the cursor */
	size_t tie_count;
};

/* ---- order ---- */

static struct value by_of(const struct access *a, const struct found *row)
{
	struct value v = VALUE_ABSENT;

	if (a->merge_by_at)
		v = row_get(&row->shown, a->merge_by_at);
	if (!value_present(v) && a->merge_by_at)
		v = row_get(&row->raw, a->merge_by_at); /* a key attribute of the row that led here */
	if (!value_present(v) && a->merge_else_at)
		v = row_get(&row->shown, a->merge_else_at);
	return v;
}

static int compare(const struct merge_flow *m, struct value x, struct value y)
{
	int c;

	if (!value_present(x) || !value_present(y)) /* rows without a value come last, in either order */
		return !value_present(x) - !value_present(y);
	if (value_type(x) != value_type(y))
		c = (int)value_type(x) - (int)value_type(y);
	else if (value_type(x) == VALUE_S || value_type(x) == VALUE_N || value_type(x) == VALUE_B)
		c = value_cmp(x, y);
	else
		c = slice_cmp(value_slice(x), value_slice(y));
	return m->descending ? -c : c;
}

static struct part *first_of(struct merge_flow *m)
{
	struct part *best = NULL;

	for (size_t i = 0; i < m->count; i++)
		if (m->parts[i].has_head && (!best || compare(m, m->parts[i].by, best->by) < 0))
			best = &m->parts[i];
	return best;
}

/* ---- an item once ---- */

static uint64_t key_hash_of(struct merge_flow *m, const struct found *row, struct slice *bytes)
{
	struct value key = dyn_key_of(m->p->g->r, row->stored);

	*bytes = value_slice(key);
	return read_hash(key);
}

/* Whether the item was handed on before; remembers it. */
static bool is_repeated(struct merge_flow *m, const struct found *row, size_t part, struct read_place *place)
{
	struct slice bytes;
	uint64_t key = key_hash_of(m, row, &bytes);
	struct map_entry *entry = map_find(&m->seen, bytes);

	place->by = read_hash(m->parts[part].by);
	if (entry && (entry->value == NULL || (uintptr_t)entry->value <= part)) /* NULL: in this call */
		return true;
	map_set(&m->seen, bytes, NULL);
	for (size_t i = 0; m->tie_by == place->by && i < m->tie_count; i++)
		if (m->ties[i] == key)
			return true;
	place->key = key;
	return false;
}

/* ---- together ---- */

/* All rows of the page may come from one part. Asking a part twice is expensive if each time is a round trip; asking
 * every part for a whole page is expensive if there are many parts. */
static size_t rows_of_each(const struct merge_flow *m, size_t want)
{
	bool is_far = m->p->g->r->backend->together != NULL;

	return is_far && m->count <= FEW_PARTS ? want : want / m->count + 2;
}

static void end_opening(struct merge_flow *m)
{
	if (m->opening)
		backend_together(m->p->g->r->backend, false);
	m->opening = false;
}

/* *stuck: no more rows may be read. */
static bool fill_heads(struct merge_flow *m, size_t want, bool *stuck)
{
	size_t each = rows_of_each(m, want);
	bool got;

	*stuck = false;
	backend_together(m->p->g->r->backend, true);
	for (size_t i = 0; i < m->count; i++) {
		struct part *part = &m->parts[i];

		if (part->has_head || part->done)
			continue;
		if (!flow_next(part->s, each, &part->head, &got))
			return false;
		part->has_head = got;
		part->done = !got && part->s->ended;
		*stuck = *stuck || (!got && !part->done);
		if (got)
			part->by = by_of(m->p->access, &part->head);
	}
	backend_together(m->p->g->r->backend, false);
	end_opening(m);
	return true;
}

static struct read_place *take_head(struct merge_flow *m, struct part *part)
{
	struct read_place *place = arena_new(m->p->g->r->arena, struct read_place);

	place->child = (size_t)(part - m->parts);
	place->inner = part->popped = part->head.place;
	place->before = m->tip;
	m->tip = place;
	part->has_head = false;
	return place;
}

/* The places of all parts, to save where reading stops. */
static const struct read_place *place_of_all(struct merge_flow *m)
{
	const struct read_place **all = arena_array(m->p->g->r->arena, const struct read_place *, m->count);
	struct read_place *place = arena_new(m->p->g->r->arena, struct read_place);

	for (size_t i = 0; i < m->count; i++)
		all[i] = m->parts[i].has_head || m->parts[i].in_group ? m->parts[i].taken : m->parts[i].s->now;
	place->all = all;
	place->before = m->tip; /* for its ties */
	return place;
}

static void hand_on(struct merge_flow *m, struct found *row, struct read_place *place)
{
	if (is_repeated(m, row, place->child, place))
		return;
	row->place = place;
	flow_push(&m->s, row);
}

static void end_group(struct merge_flow *m)
{
	bool whole = m->members == m->count;

	for (size_t i = 0; i < m->count; i++) {
		m->parts[i].in_group = false;
		m->parts[i].taken = m->parts[i].popped;
	}
	m->members = 0;
	if (whole) {
		m->first.place = m->tip;
		flow_push(&m->s, &m->first);
	}
}

static void take_into_group(struct merge_flow *m, struct part *part)
{
	if (m->members && !value_equal(m->group, part->by))
		end_group(m);
	if (!m->members) {
		m->group = part->by;
		m->first = part->head;
	}
	m->members += !part->in_group;
	part->in_group = true;
	take_head(m, part);
}

static bool merge_together(struct merge_flow *m, size_t want)
{
	bool in_all = m->p->access->merge_in_all, stuck;

	while (m->s.count < want) {
		struct part *part;

		if (!fill_heads(m, want, &stuck))
			return false;
		if (stuck) {
			if (!m->s.count)
				m->s.now = place_of_all(m);
			return true;
		}
		part = first_of(m);
		if (!part) {
			if (m->members)
				end_group(m);
			m->s.ended = true;
			return true;
		}
		if (in_all) {
			take_into_group(m, part);
			continue;
		}
		hand_on(m, &part->head, take_head(m, part));
		part->taken = part->popped;
	}
	return true;
}

/* ---- one after the other ---- */

/* Reads again the parts before this page, where an item may come from several: what they have shown is not repeated. */
static bool replay(struct merge_flow *m)
{
	m->replayed = true;
	for (size_t i = 0; i <= m->at && i < m->count && !m->disjoint && (m->at || m->parts[0].s->now); i++) {
		struct reading again = { m->p->g->r, READ_MOST_ROWS, m->p->g->now_ms };
		struct merge_part run = m->runs[i];
		struct flow *s;
		struct found *rows;
		size_t n;

		run.pattern.g = &again;
		s = pattern_open(&run.pattern);
		if (!s || !flow_all(s, &rows, &n))
			return false;
		for (size_t k = 0; k < n; k++) {
			struct value key = dyn_key_of(m->p->g->r, rows[k].stored);

			if (!map_find(&m->seen, value_slice(key)))
				map_set(&m->seen, value_slice(key), (void *)(uintptr_t)(i + 1));
		}
	}
	return true;
}

/* Reads the parts in turn, up to the part `end`. */
static bool read_in_turn(struct merge_flow *m, size_t want, size_t end)
{
	while (m->s.count < want && (m->at < end || end == m->count)) {
		struct part *part = &m->parts[m->at];
		struct read_place *place = arena_new(m->p->g->r->arena, struct read_place);
		bool got;

		if (m->at == m->count) {
			m->s.ended = true;
			return true;
		}
		if (!flow_next(part->s, want, &part->head, &got))
			return false;
		place->child = m->at;
		place->inner = part->s->now;
		if (got) {
			hand_on(m, &part->head, place);
		} else if (part->s->ended) {
			m->at++;
		} else {
			if (!m->s.count)
				m->s.now = place;
			return true;
		}
	}
	return true;
}

static bool merge_in_turn(struct merge_flow *m, size_t want)
{
	struct backend *b = m->p->g->r->backend;
	size_t first = m->at;
	bool ok;

	end_opening(m);
	if (!m->replayed && !replay(m))
		return false;
	ok = read_in_turn(m, want, first + 1);
	if (!ok || m->s.count >= want || m->at == first)
		return ok;
	backend_together(b, true);
	ok = read_in_turn(m, want, m->count);
	backend_together(b, false);
	return ok;
}

static bool merge_more(struct flow *s, size_t want)
{
	struct merge_flow *m = (struct merge_flow *)s;

	if (!m->count) {
		end_opening(m);
		s->ended = true;
		return true;
	}
	return m->p->access->merge_by.n ? merge_together(m, want ? want : 1) : merge_in_turn(m, want ? want : 1);
}

/* ---- places ----
 * Each part that has moved: its id (8 bytes), then 0 and the length and bytes of its place, or 1 if it has ended. With
 * `by` these follow the hash of the last value and the hashes of the keys of its rows. */

static void save_ties(struct merge_flow *m, const struct read_place *place, struct buf *b)
{
	uint64_t by = 0, keys[TIES_MOST];
	size_t n = 0;

	for (const struct read_place *p = place; p && n < TIES_MOST; p = p->before) {
		if (!p->key)
			continue;
		if (!by)
			by = p->by;
		if (p->by != by)
			break;
		keys[n++] = p->key;
	}
	if (!by || by == m->tie_by)
		for (size_t i = 0; i < m->tie_count && n < TIES_MOST; i++)
			keys[n++] = m->ties[i];
	buf_be64(b, by ? by : m->tie_by);
	buf_varint(b, n);
	for (size_t i = 0; i < n; i++)
		buf_be64(b, keys[i]);
}

static void save_part(struct merge_flow *m, size_t i, const struct read_place *place, struct buf *b)
{
	struct part *part = &m->parts[i];
	bool in_turn = !m->p->access->merge_by.n;
	struct buf inner;

	if (!in_turn && part->done && !part->has_head && place == part->popped) {
		buf_be64(b, part->id);
		buf_byte(b, 1);
		return;
	}
	if (!place && !in_turn) /* the part whose turn it is counts even at its beginning */
		return;
	buf_init(&inner, m->p->g->r->arena);
	flow_save(part->s, place, &inner);
	buf_be64(b, part->id);
	buf_byte(b, 0);
	buf_part(b, buf_slice(&inner));
}

/* The place of each part: the newest in the chain, or its beginning. */
static const struct read_place **places_at(struct merge_flow *m, const struct read_place *place)
{
	const struct read_place **all = arena_array(m->p->g->r->arena, const struct read_place *, m->count);
	bool *known = arena_array(m->p->g->r->arena, bool, m->count);

	for (; place; place = place->before) {
		for (size_t i = 0; place->all && i < m->count; i++)
			all[i] = known[i] ? all[i] : place->all[i];
		if (place->all)
			break;
		if (!known[place->child])
			all[place->child] = place->inner;
		known[place->child] = true;
	}
	return all;
}

static void merge_save(struct flow *s, const struct read_place *place, struct buf *b)
{
	struct merge_flow *m = (struct merge_flow *)s;
	const struct read_place **all;

	if (!m->p->access->merge_by.n) {
		save_part(m, place->child, place->inner, b);
		return;
	}
	save_ties(m, place, b);
	all = places_at(m, place);
	for (size_t i = 0; i < m->count; i++)
		save_part(m, i, all[i], b);
}

static bool load_ties(struct merge_flow *m, const char **p, const char *end)
{
	uint64_t n;
	size_t used;

	if (end - *p < 9)
		return false;
	m->tie_by = read_be64(*p);
	*p += 8;
	used = read_varint(*p, end, &n);
	*p += used;
	if (!used || n > TIES_MOST || n * 8 > (size_t)(end - *p))
		return false;
	for (m->tie_count = 0; m->tie_count < n; *p += 8)
		m->ties[m->tie_count++] = read_be64(*p);
	return true;
}

/* Skips parts that are no longer run; new parts begin at their beginning. */
static bool load_part(struct merge_flow *m, const char **p, const char *end)
{
	struct part *part = NULL;
	uint64_t id, n;
	size_t used;

	if (end - *p < 9)
		return false;
	id = read_be64(*p);
	for (size_t i = 0; i < m->count && !part; i++)
		if (m->parts[i].id == id) {
			part = &m->parts[i];
			m->at = i;
		}
	*p += 9;
	if ((*p)[-1] == 1) {
		if (part)
			part->done = part->s->ended = true;
		return true;
	}
	used = read_varint(*p, end, &n);
	*p += used;
	if (!used || n > (size_t)(end - *p) || (part && !flow_load(part->s, slice_make(*p, n))))
		return false;
	if (part)
		part->taken = part->popped = part->s->now;
	*p += n;
	return true;
}

static bool merge_load(struct flow *s, struct slice saved)
{
	struct merge_flow *m = (struct merge_flow *)s;
	const char *p = saved.p, *end = saved.p + saved.n;

	if (m->p->access->merge_by.n && !load_ties(m, &p, end))
		return false;
	while (p < end)
		if (!load_part(m, &p, end))
			return false;
	if (!m->p->access->merge_by.n) {
		struct read_place *place = arena_new(m->p->g->r->arena, struct read_place);

		place->child = m->at;
		place->inner = m->count ? m->parts[m->at].s->now : NULL;
		s->now = place;
	} else {
		m->tip = s->now = place_of_all(m);
	}
	return true;
}

static const struct flow_ops merge_ops = { merge_more, merge_save, merge_load };

struct flow *merge_open(struct pattern *p)
{
	struct merge_flow *m = arena_new(p->g->r->arena, struct merge_flow);

	m->s.ops = &merge_ops;
	m->s.g = p->g;
	m->p = p;
	map_init(&m->seen, p->g->r->arena);
	m->opening = true;
	backend_together(p->g->r->backend, true);
	if (!merge_parts(p, &m->runs, &m->count))
		return NULL;
	m->parts = arena_array(p->g->r->arena, struct part, m->count + 1);
	for (size_t i = 0; i < m->count; i++) {
		m->parts[i].id = m->runs[i].id;
		m->parts[i].s = pattern_open(&m->runs[i].pattern);
		if (!m->parts[i].s)
			return NULL;
	}
	m->descending = p->access->order.n || p->ordered ? p->descending : m->count && m->runs[0].pattern.descending;
	m->disjoint = merge_is_disjoint(p);
	return &m->s;
}
