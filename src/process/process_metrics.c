/* The metrics of processors, for Prometheus.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/process_internal.h"

size_t process_reading_count(const struct process *p)
{
	return p->station_count;
}

struct process_reading process_reading(struct process *p, size_t i)
{
	struct station *s = &p->stations[i];
	struct ledger_texts texts;
	struct process_reading r = { .design = p->design->name,
				     .name = s->name,
				     .done = atomic_load(&s->ledger.done),
				     .retries = atomic_load(&s->ledger.retries),
				     .lost = atomic_load(&s->ledger.lost),
				     .parked = atomic_load(&s->ledger.parked),
				     .paused = atomic_load(&s->paused),
				     .scheduled = station_is_scheduled(s),
				     .stands_still = p->started && !atomic_load(&p->begun) };

	station_backlog(p, s, &r.lag_ms, &r.backlog);
	if (r.parked < 0)
		r.parked = 0;
	ledger_read(&s->ledger, &texts);
	memcpy(r.passed_over, texts.passed_over.count, sizeof(r.passed_over));
	return r;
}

/*        name            type       help                                                    value */
#define METRIC_MAP(X)                                                                                               \
	X("lag_seconds", "gauge", "Age of the oldest change that has not been processed", (double)r->lag_ms / 1000) \
	X("backlog", "gauge", "Changes known to wait", (double)r->backlog)                                          \
	X("done_total", "counter", "Changes that took effect", (double)r->done)                                     \
	X("retries_total", "counter", "Changes tried again", (double)r->retries)                                    \
	X("parked", "gauge", "Changes put aside after the last try", (double)r->parked)                             \
	X("paused", "gauge", "1: paused by an operator", r->paused)                                                 \
	X("stands_still", "gauge", "1: it could not be started, and the log says why", r->stands_still)             \
	X("lost_total", "counter", "Times the stream had forgotten what was next", (double)r->lost)

static const struct {
	const char *name, *type, *help;
} rows[] = {
#define X(name, type, help, value) { name, type, help },
	METRIC_MAP(X)
#undef X
};

#define METRICS (sizeof(rows) / sizeof(*rows))

static double metric(const struct process_reading *r, size_t i)
{
#define X(name, type, help, value) value,
	const double values[METRICS] = { METRIC_MAP(X) };
#undef X

	return values[i];
}

/* name{design="…",processor="…" and what follows is the caller's. */
static void put_labels(struct buf *b, const char *name, const struct process_reading *r)
{
	buf_printf(b, "thorpe_processor_%s{design=\"", name);
	buf_label(b, r->design);
	buf_lit(b, "\",processor=\"");
	buf_label(b, r->name);
	buf_byte(b, '"');
}

static void put_passed_over(const struct process_reading *list, size_t n, struct buf *b)
{
	buf_lit(b, "# HELP thorpe_processor_passed_over_total Changes and rows that were left as they are, by reason\n"
		   "# TYPE thorpe_processor_passed_over_total counter\n");
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < PASSED_OVER_REASONS; k++) {
			put_labels(b, "passed_over_total", &list[i]);
			buf_printf(b, ",reason=\"%s\"} %llu\n", passed_over_word(k),
				   (unsigned long long)list[i].passed_over[k]);
		}
}

static size_t count_stations(struct process *const *list, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += list[i]->station_count;
	return count;
}

static void put_stations(struct process *const *list, size_t n, struct buf *b)
{
	struct process_reading *readings = arena_array(b->arena, struct process_reading, count_stations(list, n) + 1);
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < list[i]->station_count; j++)
			readings[k++] = process_reading(list[i], j);
	for (size_t m = 0; m < METRICS; m++) {
		buf_printf(b, "# HELP thorpe_processor_%s %s\n# TYPE thorpe_processor_%s %s\n", rows[m].name,
			   rows[m].help, rows[m].name, rows[m].type);
		for (size_t i = 0; i < k; i++) {
			put_labels(b, rows[m].name, &readings[i]);
			buf_printf(b, "} %.15g\n", metric(&readings[i], m));
		}
	}
	put_passed_over(readings, k, b);
}

static void put_relay(struct process *const *list, size_t n, const char *name, const char *help,
		      uint64_t (*value)(const struct relay_numbers *), struct buf *out)
{
	bool told = false;

	for (size_t i = 0; i < n; i++) {
		struct relay_numbers numbers;

		if (!list[i]->relay)
			continue;
		if (!told)
			buf_printf(out, "# HELP thorpe_relay_%s_total %s\n# TYPE thorpe_relay_%s_total counter\n", name,
				   help, name);
		told = true;
		numbers = relay_numbers(list[i]->relay);
		buf_printf(out, "thorpe_relay_%s_total{design=\"%.*s\"} %llu\n", name, SLICE_ARG(list[i]->design->name),
			   (unsigned long long)value(&numbers));
	}
}

static uint64_t taken(const struct relay_numbers *x)
{
	return x->taken;
}

static uint64_t given(const struct relay_numbers *x)
{
	return x->given;
}

static uint64_t refused(const struct relay_numbers *x)
{
	return x->refused;
}

static uint64_t fallback(const struct relay_numbers *x)
{
	return x->fallback;
}

void process_metrics(struct process *const *list, size_t n, struct buf *out)
{
	if (!n)
		return;
	put_stations(list, n, out);
	buf_lit(out, "# HELP thorpe_writers_slowed_total Writes that had to wait because processors were behind\n"
		     "# TYPE thorpe_writers_slowed_total counter\n");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "thorpe_writers_slowed_total{design=\"%.*s\"} %llu\n", SLICE_ARG(list[i]->design->name),
			   (unsigned long long)atomic_load(&list[i]->slowed));
	buf_lit(out,
		"# HELP thorpe_writers_delay_seconds How long a write waits now\n# TYPE thorpe_writers_delay_seconds gauge\n");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "thorpe_writers_delay_seconds{design=\"%.*s\"} %.3f\n",
			   SLICE_ARG(list[i]->design->name), (double)atomic_load(&list[i]->delay_ms) / 1000);
	put_relay(list, n, "pages_taken", "Answers of other servers about the records of a shard", taken, out);
	put_relay(list, n, "pages_given", "Answers given to other servers", given, out);
	put_relay(list, n, "refused", "Requests for records that did not come from a server of the table", refused, out);
	put_relay(list, n, "fallbacks", "Reads of live lists that no server could answer: the stream was read instead",
		  fallback, out);
}
