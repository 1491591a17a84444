/* Metrics of remote databases in Prometheus' format.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/remote.h"

static void put_head(struct buf *b, const char *name, const char *type, const char *help)
{
	buf_printf(b, "# HELP thorpe_backend_%s %s\n# TYPE thorpe_backend_%s %s\n", name, help, name, type);
}

/* thorpe_backend_<name>{backend="…" */
static void put_series(struct buf *b, const char *name, const struct remote_reading *r)
{
	buf_printf(b, "thorpe_backend_%s{backend=\"", name);
	buf_label(b, r->backend);
	buf_byte(b, '"');
}

static double calls_of(const struct remote_metrics *m)
{
	return (double)m->calls;
}
static double attempts_of(const struct remote_metrics *m)
{
	return (double)m->attempts;
}
static double retries_of(const struct remote_metrics *m)
{
	return (double)m->retries;
}
static double throttles_of(const struct remote_metrics *m)
{
	return (double)m->throttles;
}
static double failures_of(const struct remote_metrics *m)
{
	return (double)m->failures;
}
static double renewals_of(const struct remote_metrics *m)
{
	return (double)m->renewals;
}
static double busy_of(const struct remote_metrics *m)
{
	return m->connections_busy;
}
static double tokens_of(const struct remote_metrics *m)
{
	return m->retry_tokens;
}
static double skew_of(const struct remote_metrics *m)
{
	return (double)m->skew_ms / 1000;
}

static const struct {
	const char *name, *type, *help;
	double (*of)(const struct remote_metrics *m);
} rows[] = {
	{ "calls_total", "counter", "Calls to the database elsewhere", calls_of },
	{ "attempts_total", "counter", "Requests sent for them", attempts_of },
	{ "retries_total", "counter", "Requests that repeated another", retries_of },
	{ "throttles_total", "counter", "Requests that the database throttled", throttles_of },
	{ "failures_total", "counter", "Calls that ended without an answer, with 5xx, or throttled", failures_of },
	{ "credentials_renewed_total", "counter", "Renewals of credentials", renewals_of },
	{ "connections_busy", "gauge", "Connections in use", busy_of },
	{ "retry_tokens", "gauge", "What is left for retries", tokens_of },
	{ "clock_skew_seconds", "gauge", "The service's clock minus this one's", skew_of },
};

static void put_rows(struct buf *b, const struct remote_reading *list, size_t n)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		put_head(b, rows[i].name, rows[i].type, rows[i].help);
		for (size_t k = 0; k < n; k++) {
			put_series(b, rows[i].name, &list[k]);
			buf_printf(b, "} %.15g\n", rows[i].of(&list[k].m));
		}
	}
}

static void put_troubles(struct buf *b, const struct remote_reading *list, size_t n)
{
	put_head(b, "troubles_total", "counter", "Requests that failed, by kind");
	for (size_t k = 0; k < n; k++)
		for (int i = 0; i < REMOTE_TROUBLES; i++) {
			put_series(b, "troubles_total", &list[k]);
			buf_printf(b, ",kind=\"%s\"} %llu\n", remote_trouble_names[i],
				   (unsigned long long)list[k].m.troubles[i]);
		}
}

static void put_latency(struct buf *b, const struct remote_reading *list, size_t n)
{
	put_head(b, "call_seconds", "histogram", "How long calls took, with their retries");
	for (size_t k = 0; k < n; k++) {
		uint64_t sum = 0;

		for (int i = 0; i < REMOTE_LATENCIES; i++) {
			sum += list[k].m.latency[i];
			put_series(b, "call_seconds_bucket", &list[k]);
			if (i < REMOTE_LATENCIES - 1)
				buf_printf(b, ",le=\"%g\"} %llu\n", (double)remote_latency_ms[i] / 1000,
					   (unsigned long long)sum);
			else
				buf_printf(b, ",le=\"+Inf\"} %llu\n", (unsigned long long)sum);
		}
		put_series(b, "call_seconds_sum", &list[k]);
		buf_printf(b, "} %.6f\n", (double)list[k].m.latency_us / 1e6);
		put_series(b, "call_seconds_count", &list[k]);
		buf_printf(b, "} %llu\n", (unsigned long long)sum);
	}
}

static void put_use(struct buf *b, const char *name, const struct remote_reading *r, const struct remote_use *u,
		    double value)
{
	put_series(b, name, r);
	buf_printf(b, ",operation=\"%s\",pattern=\"", u->operation);
	buf_label(b, slice_str(u->label));
	buf_printf(b, "\"} %.15g\n", value);
}

static double calls_for(const struct remote_use *u)
{
	return (double)u->calls;
}
static double trips_for(const struct remote_use *u)
{
	return (double)u->trips;
}
static double read_units_for(const struct remote_use *u)
{
	return u->read_units;
}
static double write_units_for(const struct remote_use *u)
{
	return u->write_units;
}

static void put_uses(struct buf *b, const struct remote_reading *list, size_t n)
{
	static const struct {
		const char *name, *help;
		double (*of)(const struct remote_use *u);
	} kinds[] = {
		{ "operations_total", "Calls by operation, and by what they were for", calls_for },
		{ "round_trips_total", "The same, but calls made at the same time count as one", trips_for },
		{ "read_units_total", "Read units consumed, by operation and by what they were for", read_units_for },
		{ "write_units_total", "Write units consumed, by operation and by what they were for", write_units_for },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		put_head(b, kinds[i].name, "counter", kinds[i].help);
		for (size_t k = 0; k < n; k++)
			for (size_t u = 0; u < list[k].m.use_count; u++) {
				const struct remote_use *use = &list[k].m.uses[u];
				double value = kinds[i].of(use);

				if (i == 0 || value > 0)
					put_use(b, kinds[i].name, &list[k], use, value);
			}
	}
}

void remote_metrics_write(const struct remote_reading *list, size_t n, struct buf *out)
{
	if (!n)
		return;
	put_rows(out, list, n);
	put_troubles(out, list, n);
	put_latency(out, list, n);
	put_uses(out, list, n);
}
