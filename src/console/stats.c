/* The numbers of the overview: counters, from which the console computes rates, and current values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "console/console_internal.h"
#include "console/doc.h"

#define REFUSING "The disk is full or refuses writes: writes are refused, reads continue. The log says more."

#define DAMAGED "Damaged data was found. The log says where."

static const char *health_of(const struct console_options *o)
{
	switch (store_health(db_store(o->db))) {
	case STORE_WELL: return "ok";
	case STORE_CORRUPT: return DAMAGED;
	default: return REFUSING;
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
	json_open(b, '{');
	doc_member(b, "name", t->name);
	json_member_int(b, "items", get(&t->stats->items));
	json_member_int(b, "bytes", get(&t->stats->bytes));
	json_member_int(b, "reads", get(&t->stats->reads));
	json_member_int(b, "writes", get(&t->stats->writes));
	json_member_int(b, "indexes", (int64_t)t->index_count);
	json_member_bool(b, "stream", t->stream != NULL);
	doc_member_or_null(b, "design", design_of(o, t->name));
	json_close(b, '}');
}

static void put_tables(struct buf *b, const struct console_options *o)
{
	const struct catalog *c = db_catalog(o->db, b->arena);

	json_member_open(b, "tables", '[');
	for (size_t i = 0; i < catalog_count(c); i++)
		put_table(b, o, catalog_at(c, i));
	json_close(b, ']');
}

static void put_processor(struct buf *b, const struct process_reading *r)
{
	json_open(b, '{');
	doc_member(b, "design", r->design);
	doc_member(b, "name", r->name);
	json_member_int(b, "lag_ms", r->lag_ms);
	json_member_int(b, "backlog", (int64_t)r->backlog);
	json_member_int(b, "parked", r->parked);
	json_member_bool(b, "paused", r->paused);
	json_close(b, '}');
}

static void put_processors(struct buf *b, const struct console_options *o)
{
	json_member_open(b, "processors", '[');
	for (size_t i = 0; i < o->process_count; i++)
		for (size_t k = 0; k < process_reading_count(o->processes[i]); k++) {
			struct process_reading r = process_reading(o->processes[i], k);

			put_processor(b, &r);
		}
	json_close(b, ']');
}

struct slice console_stats(struct console *c, struct arena *a, const struct console_server *s)
{
	const struct console_options *o = &c->options;
	struct db_metrics m = db_metrics(o->db);
	struct buf b;

	buf_init(&b, a);
	json_open(&b, '{');
	json_member_int(&b, "now_ms", clock_now_ms(db_clock(o->db)));
	json_member_int(&b, "uptime_ms", s->uptime_ms);
	json_member_int(&b, "memory_bytes", (int64_t)s->memory_bytes);
	json_member_int(&b, "disk_bytes", (int64_t)store_disk_bytes(db_store(o->db)));
	json_member_int(&b, "connections", (int64_t)s->connections);
	json_member_int(&b, "write_queue", (int64_t)m.queue_depth);
	doc_member_str(&b, "health", health_of(o));
	put_tables(&b, o);
	put_processors(&b, o);
	json_close(&b, '}');
	return buf_slice(&b);
}
