/* The client's part of /metrics, in Prometheus' text format.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/remote.h"

struct writing {
	struct buf *out;
	struct slice backend;
};

/* Between quotes. */
static void put_value(struct buf *b, struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\n') {
			buf_lit(b, "\\n");
			continue;
		}
		if (s.p[i] == '\\' || s.p[i] == '"')
			buf_byte(b, '\\');
		buf_byte(b, (uint8_t)s.p[i]);
	}
}

static void put_label(struct buf *b, const char *name, const char *value)
{
	buf_printf(b, ",%s=\"", name);
	put_value(b, slice_str(value));
	buf_byte(b, '"');
}

static void head(struct writing *w, const char *name, const char *type, const char *help)
{
	buf_printf(w->out, "# HELP thorpe_backend_%s %s\n# TYPE thorpe_backend_%s %s\n", name, help, name, type);
}

static void begin(struct writing *w, const char *name)
{
	buf_printf(w->out, "thorpe_backend_%s{backend=\"", name);
	put_value(w->out, w->backend);
	buf_byte(w->out, '"');
}

static void end(struct writing *w, double v)
{
	buf_printf(w->out, "} %.17g\n", v);
}

static void one(struct writing *w, const char *name, const char *type, const char *help, double v)
{
	head(w, name, type, help);
	begin(w, name);
	end(w, v);
}

static void put_latency(struct writing *w, const struct remote_metrics *m)
{
	uint64_t below = 0;
	char bound[32];

	head(w, "call_seconds", "histogram", "Time of calls to the database, repetitions and pauses included");
	for (size_t i = 0; i < REMOTE_LATENCIES; i++) {
		below += m->latency[i];
		snprintf(bound, sizeof(bound), "%g", i < REMOTE_LATENCIES - 1 ? (double)remote_latency_ms[i] / 1000 : 0);
		begin(w, "call_seconds_bucket");
		put_label(w->out, "le", i < REMOTE_LATENCIES - 1 ? bound : "+Inf");
		end(w, (double)below);
	}
	begin(w, "call_seconds_sum");
	end(w, (double)m->latency_us / 1e6);
	begin(w, "call_seconds_count");
	end(w, (double)m->calls);
}

static void put_uses(struct writing *w, const struct remote_metrics *m)
{
	static const struct {
		const char *name, *help;
	} kinds[] = {
		{ "operations_total", "Calls by operation and what they were for" },
		{ "read_units_total", "Read units consumed" },
		{ "write_units_total", "Write units consumed" },
	};

	for (size_t k = 0; k < 3; k++) {
		head(w, kinds[k].name, "counter", kinds[k].help);
		for (size_t i = 0; i < m->use_count; i++) {
			const struct remote_use *u = &m->uses[i];
			double v = k == 0 ? (double)u->calls : k == 1 ? u->read_units : u->write_units;

			if (k && v == 0)
				continue;
			begin(w, kinds[k].name);
			put_label(w->out, "operation", u->operation);
			put_label(w->out, "pattern", u->label);
			end(w, v);
		}
	}
}

void remote_metrics_write(const struct remote_metrics *m, struct slice backend, struct buf *out)
{
	struct writing w = { out, backend };

	one(&w, "calls_total", "counter", "Calls to the database", (double)m->calls);
	one(&w, "attempts_total", "counter", "Requests sent for them", (double)m->attempts);
	one(&w, "retries_total", "counter", "Requests that repeated another", (double)m->retries);
	one(&w, "throttles_total", "counter", "Requests that the database throttled", (double)m->throttles);
	one(&w, "failures_total", "counter", "Calls that ended without an answer, with 5xx, or throttled", (double)m->failures);
	head(&w, "troubles_total", "counter", "Requests that failed, by kind");
	for (size_t i = 0; i < REMOTE_TROUBLES; i++) {
		begin(&w, "troubles_total");
		put_label(out, "kind", remote_trouble_names[i]);
		end(&w, (double)m->troubles[i]);
	}
	one(&w, "connections_busy", "gauge", "Connections with a request under way", m->connections_busy);
	one(&w, "retry_tokens", "gauge", "What is left for repetitions, of 500", m->retry_tokens);
	one(&w, "clock_skew_seconds", "gauge", "The database's clock minus this machine's, if requests had to be signed by it",
	    (double)m->skew_ms / 1000);
	one(&w, "credentials_found_total", "counter", "Times that credentials were found or renewed", (double)m->renewals);
	put_latency(&w, m);
	put_uses(&w, m);
}
