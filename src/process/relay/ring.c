/* Rings: the newest records of shards.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/relay/ring.h"
#include "base/alloc.h"
#include "base/clock.h"

#define AHEAD_MOST    4  /* pages read at once to catch up with a reader that is ahead */
#define BUSY_MS       10 /* another thread is reading */
#define LATER_MOST_MS 500
#define FAILING_US \
	3000000 /* after failing for so long the answer is PAGE_CANNOT: the asking server may be able to read the stream */

struct entry {
	struct entry *next;
	size_t n;
	char bytes[]; /* page.h */
};

struct ring {
	struct ring *next;
	struct backend *backend;
	/* the reading thread's: */
	struct tail tail;
	struct tail_cursor cursor;
	struct arena arena;
	_Atomic uint64_t looks;
	/* under the lock: */
	unsigned users;
	bool reading;
	bool dead;              /* the shard is gone: not found any more */
	struct spot begin, end; /* G1 */
	bool trimmed;           /* the stream had forgotten what followed `begin` first */
	bool ended;             /* nothing follows `end` */
	bool more;              /* the last reading found something */
	struct entry *first, **last;
	size_t bytes;
	int64_t read_us, next_us, used_us;
	int64_t failing_us; /* since when; 0: it is not */
};

/* ---- entries ---- */

static void free_entries(struct entry *e)
{
	for (struct entry *next; e; e = next) {
		next = e->next;
		mem_free(e);
	}
}

static void clear(struct rings *s, struct ring *g)
{
	free_entries(g->first);
	g->first = NULL;
	g->last = &g->first;
	s->bytes -= g->bytes;
	g->bytes = 0;
}

/* Begins anew at a place. */
static void restart(struct rings *s, struct ring *g, struct slice after)
{
	clear(s, g);
	spot_set(&g->begin, after);
	g->end = g->begin;
	g->trimmed = g->ended = false;
}

/* G4 */
static void evict(struct rings *s, struct ring *g)
{
	while (g->first && (g->bytes > s->ring_bytes || s->bytes > s->all_bytes)) {
		struct entry *e = g->first;

		spot_set(&g->begin, page_record_sequence(e->bytes));
		g->trimmed = false;
		g->first = e->next;
		if (!g->first)
			g->last = &g->first;
		g->bytes -= e->n;
		s->bytes -= e->n;
		mem_free(e);
	}
}

/* ---- reading ---- */

/* the result of a reading, before it is in the ring */
struct catch
{
	enum tail_found found;
	struct entry *first, **last;
	size_t bytes;
	bool trimmed, whole;
};

static bool add_entry(struct catch *c, struct slice record)
{
	struct entry *e = mem_alloc(sizeof(*e) + record.n);

	if (!e)
		return false;
	e->next = NULL;
	e->n = record.n;
	memcpy(e->bytes, record.p, record.n);
	*c->last = e;
	c->last = &e->next;
	c->bytes += e->n;
	return true;
}

static bool add_entries(struct catch *c, struct arena *a, const struct change_page *page)
{
	for (size_t i = 0; i < page->count; i++) {
		struct buf b;

		buf_init(&b, a);
		page_put_record(&b, page->list[i].record);
		if (!add_entry(c, buf_slice(&b)))
			return false;
	}
	return true;
}

static void read_page(struct rings *s, struct ring *g, struct catch *c)
{
	struct run r = { .app = s->app,
			 .design = app_design(s->app),
			 .backend = g->backend,
			 .arena = &g->arena,
			 .now_ms = app_now_ms(s->app) };
	struct change_page page;

	backend_label(g->backend, SLICE("live lists"));
	c->found = tail_read(&g->tail, &g->cursor, &r, &page);
	c->trimmed = page.trimmed;
	c->whole = add_entries(c, &g->arena, &page);
}

/* Without the lock. */
static void read_shard(struct rings *s, struct ring *g, struct catch *c)
{
	*c = (struct catch){ .found = TAIL_LATER, .last = &c->first };
	ARENA_TRY(&g->arena, { read_page(s, g, c); }, { tail_failed(&g->tail, "the stream cannot be read", SLICE("out of memory"));
	});
	arena_clear(&g->arena);
}

/* With the lock held. */
static void take_in(struct rings *s, struct ring *g, struct catch *c)
{
	int64_t now = clock_monotonic_us();

	g->read_us = now;
	g->next_us = tail_next_us(&g->tail, &g->cursor);
	g->failing_us = !g->tail.failures ? 0 : g->failing_us ? g->failing_us : now;
	g->dead |= c->found == TAIL_GONE;
	g->more = c->found == TAIL_FOUND;
	if (!c->whole) { /* out of memory: the cursor may be past records that are missing here */
		free_entries(c->first);
		restart(s, g, spot_sequence(&g->cursor.at));
		return;
	}
	if (c->trimmed) {
		restart(s, g, spot_sequence(&g->end));
		g->trimmed = true;
	}
	if (c->first) {
		*g->last = c->first;
		g->last = c->last;
	}
	g->bytes += c->bytes;
	s->bytes += c->bytes;
	g->end = g->cursor.at;
	g->ended = g->cursor.ended;
	evict(s, g);
}

/* With the lock held, but not while it reads. */
static enum tail_found read_on(struct rings *s, struct ring *g)
{
	struct catch c;

	g->reading = true;
	atomic_fetch_add(&g->looks, 1);
	pthread_mutex_unlock(&s->lock);
	read_shard(s, g, &c);
	pthread_mutex_lock(&s->lock);
	g->reading = false;
	take_in(s, g, &c);
	return c.found;
}

/* ---- rings ---- */

static void free_ring(struct ring *g)
{
	free_entries(g->first);
	tail_release(&g->tail);
	arena_release(&g->arena);
	backend_free(g->backend);
	mem_free(g);
}

/* NULL: memory. */
static struct ring *new_ring(struct rings *s, const struct tail_ask *ask)
{
	struct database *d = app_database(s->app);
	struct ring *g = mem_zalloc(sizeof(*g));

	if (!g)
		return NULL;
	arena_init(&g->arena);
	g->backend = database_open(d);
	if (!tail_init(&g->tail, d, ask->stream, ask->shard) || !g->backend) {
		free_ring(g);
		return NULL;
	}
	g->tail.looks = &g->looks;
	cursor_set(&g->cursor, ask->after);
	restart(s, g, ask->after);
	g->more = true; /* not read yet */
	g->next = s->first;
	s->first = g;
	return g;
}

static struct ring *find_or_add_ring(struct rings *s, const struct tail_ask *ask)
{
	for (struct ring *g = s->first; g; g = g->next)
		if (!g->dead && slice_is(ask->shard, g->tail.shard) && slice_is(ask->stream, g->tail.stream))
			return g;
	return new_ring(s, ask);
}

void rings_init(struct rings *s, struct app *app)
{
	*s = (struct rings){ .app = app, .ring_bytes = RING_BYTES, .all_bytes = RINGS_BYTES };
	pthread_mutex_init(&s->lock, NULL);
}

static void drop_rings(struct rings *s, int64_t before_us)
{
	for (struct ring **at = &s->first; *at;) {
		struct ring *g = *at;

		if (g->users || (!g->dead && g->used_us >= before_us)) {
			at = &g->next;
			continue;
		}
		*at = g->next;
		s->bytes -= g->bytes;
		free_ring(g);
	}
}

void rings_release(struct rings *s)
{
	drop_rings(s, INT64_MAX);
	pthread_mutex_destroy(&s->lock);
}

void rings_sweep(struct rings *s, int64_t now_us)
{
	pthread_mutex_lock(&s->lock);
	drop_rings(s, now_us - RING_IDLE_US);
	pthread_mutex_unlock(&s->lock);
}

/* ---- answers ---- */

struct answer {
	enum page_kind kind;
	struct tail_page page;     /* without its records */
	const struct entry *first; /* the records */
	size_t bytes;
};

static int lies(const struct ring *g, struct slice after)
{
	return -spot_compare(&g->end, after); /* before, at or after its end */
}

static bool is_due(const struct rings *s, const struct ring *g, bool look)
{
	return g->more || look || clock_monotonic_us() - g->read_us >= app_database(s->app)->poll_ms * INT64_C(1000);
}

static int until_ms(int64_t us)
{
	int64_t ms = (us - clock_monotonic_us()) / 1000 + 1;

	return ms < 1 ? 1 : ms < LATER_MOST_MS ? (int)ms : LATER_MOST_MS;
}

static struct answer later(int ms)
{
	return (struct answer){ .kind = PAGE_LATER, .page = { .wait_ms = ms } };
}

static struct answer records_after(const struct ring *g, struct slice after)
{
	struct answer x = { .kind = PAGE_RECORDS };
	const struct entry *e = g->first;

	while (e && sequence_compare(page_record_sequence(e->bytes), after) <= 0)
		e = e->next;
	x.first = e;
	for (; e && x.bytes < RING_PAGE && x.page.count < TAIL_PAGE_MOST; e = e->next) {
		x.bytes += e->n;
		x.page.count++;
	}
	x.page.ended = g->ended && !e;
	x.page.trimmed = g->trimmed && spot_is(&g->begin, after);
	return x;
}

/* The answer to a request at the end of the ring, or ahead of it. */
static struct answer answer_end(struct rings *s, struct ring *g, const struct tail_ask *ask, bool tried)
{
	bool is_ahead = lies(g, ask->after) > 0, is_failing = g->failing_us != 0;

	if (is_failing && clock_monotonic_us() - g->failing_us > FAILING_US)
		return (struct answer){ .kind = PAGE_CANNOT };
	if (is_failing)
		return later(until_ms(g->next_us));
	if (g->reading)
		return later(BUSY_MS);
	if (is_ahead) { /* too far ahead */
		restart(s, g, ask->after);
		cursor_set(&g->cursor, ask->after);
		g->more = true;
		return later(1);
	}
	/* The last read was a moment ago. */
	if (ask->look && !tried)
		return later(until_ms(g->next_us));
	return records_after(g, ask->after);
}

/* With the lock held; gives it up while it reads. */
static struct answer answer(struct rings *s, struct ring *g, const struct tail_ask *ask)
{
	bool tried = false;

	for (int i = 0; !g->reading && !g->ended && !g->dead && lies(g, ask->after) >= (i ? 1 : 0) && i < AHEAD_MOST;
	     i++) {
		if (!i && !lies(g, ask->after) && !is_due(s, g, ask->look))
			break;
		tried = read_on(s, g) != TAIL_LATER || tried;
	}
	if (g->dead)
		return (struct answer){ .kind = PAGE_CANNOT };
	if (spot_compare(&g->begin, ask->after) > 0)
		return (struct answer){ .kind = PAGE_LOST }; /* G2 */
	if (lies(g, ask->after) < 0 || g->ended)
		return records_after(g, ask->after);
	return answer_end(s, g, ask, tried);
}

/* Not in an arena, which must not run out of memory with the lock held. NULL: memory. */
static char *write(const struct answer *x, size_t *n)
{
	struct buf b = { .p = mem_alloc(PAGE_HEAD + x->bytes), .cap = PAGE_HEAD + x->bytes };
	const struct entry *e = x->first;

	if (!b.p)
		return NULL;
	page_begin(&b, x->kind, &x->page);
	for (size_t i = 0; i < x->page.count; i++, e = e->next)
		buf_add(&b, e->bytes, e->n);
	*n = b.n;
	return b.p;
}

static void free_bytes(void *p)
{
	mem_free(p);
}

struct slice rings_answer(struct rings *s, struct arena *a, const struct tail_ask *ask)
{
	struct answer x = { .kind = PAGE_CANNOT };
	struct ring *g;
	char *bytes;
	size_t n;

	pthread_mutex_lock(&s->lock);
	g = find_or_add_ring(s, ask);
	if (g) {
		g->users++;
		x = answer(s, g, ask);
		g->users--;
		g->used_us = clock_monotonic_us();
	}
	bytes = write(&x, &n);
	pthread_mutex_unlock(&s->lock);
	if (!bytes)
		arena_out_of_memory(a);
	arena_defer(a, free_bytes, bytes);
	return slice_make(bytes, n);
}
