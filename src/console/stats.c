/* The numbers of the overview: totals that only grow, from which the console makes rates, and what is the case now.
 * SPDX-License-Identifier: Apache-2.0 */
#include "console/console_internal.h"
#include "console/doc.h"

#define REFUSING "The disk is full or does not take writes: they are refused, reads go on. The log says more."

#define DAMAGED "Damaged data was met. The log says where."

static const char *health_of(const struct console_options *o)
{
	switch (store_health(db_store(o->db))) {
	case STORE_WELL:
		return "ok";
	case STORE_CORRUPT:
		return DAMAGED;
	default:
		return REFUSING;
	}
}

static struct slice design_of(const struct console_options *o, struct slice table)
{
	for (size_t i = 0; i < o->app_count; i++)
		if (slice_equal(app_design(o->apps[i])->table, table))
			return app_design(o->apps[i])->name;
	return (struct slice){ 0 };
}

static int64_t get(_Atomic int64_t *n)
{
	return atomic_load_explicit(n, memory_order_relaxed);
}

static void put_table(struct buf *b, const struct console_options *o, const struct table *t)
{
	doc_open(b, '{');
	doc_member(b, "name", t->name);
	doc_member_int(b, "items", get(&t->stats->items));
	doc_member_int(b, "bytes", get(&t->stats->bytes));
	doc_member_int(b, "reads", get(&t->stats->reads));
	doc_member_int(b, "writes", get(&t->stats->writes));
	doc_member_int(b, "indexes", (int64_t)t->index_count);
	doc_member_bool(b, "stream", t->stream != NULL);
	doc_member_or_null(b, "design", design_of(o, t->name));
	doc_close(b, '}');
}

static void put_tables(struct buf *b, const struct console_options *o)
{
	const struct catalog *c = db_catalog(o->db, b->arena);

	doc_name(b, "tables");
	doc_open(b, '[');
	for (size_t i = 0; i < catalog_count(c); i++)
		put_table(b, o, catalog_at(c, i));
	doc_close(b, ']');
}

static void put_processor(struct buf *b, const struct process_reading *r)
{
	doc_open(b, '{');
	doc_member(b, "design", r->design);
	doc_member(b, "name", r->name);
	doc_member_int(b, "lag_ms", r->lag_ms);
	doc_member_int(b, "backlog", (int64_t)r->backlog);
	doc_member_int(b, "parked", r->parked);
	doc_member_bool(b, "paused", r->paused);
	doc_close(b, '}');
}

static void put_processors(struct buf *b, const struct console_options *o)
{
	doc_name(b, "processors");
	doc_open(b, '[');
	for (size_t i = 0; i < o->process_count; i++)
		for (size_t k = 0; k < process_reading_count(o->processes[i]); k++) {
			struct process_reading r = process_reading(o->processes[i], k);

			put_processor(b, &r);
		}
	doc_close(b, ']');
}

struct slice console_stats(struct console *c, struct arena *a, const struct console_server *s)
{
	const struct console_options *o = &c->options;
	struct db_metrics m = db_metrics(o->db);
	struct buf b;

	buf_init(&b, a);
	doc_open(&b, '{');
	doc_member_int(&b, "now_ms", clock_now_ms(db_clock(o->db)));
	doc_member_int(&b, "uptime_ms", s->uptime_ms);
	doc_member_int(&b, "memory_bytes", (int64_t)s->memory_bytes);
	doc_member_int(&b, "disk_bytes", (int64_t)store_disk_bytes(db_store(o->db)));
	doc_member_int(&b, "connections", (int64_t)s->connections);
	doc_member_int(&b, "write_queue", (int64_t)m.queue_depth);
	doc_member_str(&b, "health", health_of(o));
	put_tables(&b, o);
	put_processors(&b, o);
	doc_close(&b, '}');
	return buf_slice(&b);
}
