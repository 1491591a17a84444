/* Sums the loops' counters, while they go on counting.
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <unistd.h>

#include "base/audit.h"
#include "http/serve/metrics.h"
#include "http/server_internal.h"

/* Pages in use, from /proc; 0 where there is none. */
static uint64_t resident_bytes(void)
{
	unsigned long long size = 0, resident = 0;
	char text[128];
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	if (sscanf(text, "%llu %llu", &size, &resident) != 2)
		return 0;
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void metric(struct buf *out, const char *name, const char *type, const char *help, uint64_t v)
{
	buf_printf(out, "# HELP thorpe_%s %s\n# TYPE thorpe_%s %s\nthorpe_%s %llu\n", name, help, name, type, name,
		   (unsigned long long)v);
}

#define SUM(s, field)                                                                                              \
	({                                                                                                         \
		uint64_t sum_ = 0;                                                                                 \
		for (unsigned i_ = 0; i_ < (s)->thread_count; i_++)                                                \
			sum_ += atomic_load_explicit(&(s)->threads[i_].loop.counters.field, memory_order_relaxed); \
		sum_;                                                                                              \
	})

uint64_t metrics_watchers(const struct server *s)
{
	return SUM(s, watchers);
}

struct metrics_server metrics_server(const struct server *s)
{
	return (struct metrics_server){
		.uptime_ms = (clock_monotonic_us() - s->started_us) / 1000,
		.memory_bytes = resident_bytes(),
		.connections = SUM(s, open) + atomic_load_explicit(&s->on_reserve, memory_order_relaxed),
	};
}

void metrics_write(const struct server *s, struct buf *out)
{
	struct workers_metrics w = workers_metrics(s->workers), h = workers_metrics(s->hashers);

	metric(out, "http_connections", "gauge", "Connections open", SUM(s, open));
#define X(name, metric_name, help) metric(out, "http_" metric_name, "counter", help, SUM(s, name));
	LOOP_COUNTER_MAP(X)
#undef X
	metric(out, "http_connections_refused_total", "counter", "Connections over the limit",
	       atomic_load_explicit(&s->refused, memory_order_relaxed));
	metric(out, "http_connections_reserve", "gauge",
	       "Connections open beyond the limits, for health checks and operators",
	       atomic_load_explicit(&s->on_reserve, memory_order_relaxed));
	metric(out, "http_request_memory_bytes", "gauge", "Memory of requests that are being received and parsed",
	       atomic_load_explicit(&s->budget.used, memory_order_relaxed));
	metric(out, "http_request_memory_limit_bytes", "gauge", "Limit of that memory", s->budget.total);
	metric(out, "http_request_memory_refused_total", "counter", "Requests refused beyond that limit",
	       atomic_load_explicit(&s->budget.refused, memory_order_relaxed));
	metric(out, "http_workers", "gauge", "Threads for requests that block", w.threads);
	metric(out, "http_workers_idle", "gauge", "Those with nothing to do", w.idle);
	metric(out, "http_waiting", "gauge", "Requests that wait for one", w.waiting);
	metric(out, "http_busy_total", "counter", "Requests refused because too many waited", w.refused);
	metric(out, "http_hashers", "gauge", "Threads for password hashes", h.threads);
	metric(out, "http_hashers_idle", "gauge", "Those with nothing to do", h.idle);
	metric(out, "http_hash_waiting", "gauge", "Requests that wait for one", h.waiting);
	metric(out, "http_hash_busy_total", "counter", "Requests refused because too many waited for one", h.refused);
	metric(out, "audit_dropped_total", "counter", "Events that are missing in the audit log", audit_dropped());
	metric(out, "watchers", "gauge", "Watchers of lists", SUM(s, watchers));
	metric(out, "events_sent_total", "counter", "Events sent to watchers", SUM(s, events));
	metric(out, "watchers_cut_total", "counter", "Watchers cut off for being slow", SUM(s, watchers_cut));
	buf_lit(out, "# HELP thorpe_http_replies_total Replies by class of status\n"
		     "# TYPE thorpe_http_replies_total counter\n");
	for (unsigned digit = 1; digit < 6; digit++)
		buf_printf(out, "thorpe_http_replies_total{status=\"%uxx\"} %llu\n", digit,
			   (unsigned long long)SUM(s, status[digit]));
	metric(out, "uptime_seconds", "gauge", "Since the server started",
	       (uint64_t)(clock_monotonic_us() - s->started_us) / 1000000);
	buf_printf(out,
		   "# HELP process_resident_memory_bytes Resident memory\n"
		   "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes %llu\n",
		   (unsigned long long)resident_bytes());
	for (size_t i = 0; i < s->options.metric_count; i++)
		s->options.metrics[i].write(s->options.metrics[i].ctx, out);
}
