/* Counting calls, and showing the counts to Prometheus.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/internal.h"

const int64_t latency_bound_us[LATENCY_BUCKETS] = {
	100, 250, 500, 1000, 2500, 5000, 10000, 50000, 250000, 1000000,
};

void metrics_count(struct api *api, size_t i, int status, int64_t us)
{
	struct op_metrics *m = &api->metrics[i];
	size_t bucket = 0;

	while (bucket < LATENCY_BUCKETS && us > latency_bound_us[bucket])
		bucket++;
	atomic_fetch_add_explicit(&m->calls, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&m->latency_us, (uint64_t)us, memory_order_relaxed);
	atomic_fetch_add_explicit(&m->latency_bucket[bucket], 1, memory_order_relaxed);
	if (status >= 500)
		atomic_fetch_add_explicit(&m->server_errors, 1, memory_order_relaxed);
	else if (status >= 400)
		atomic_fetch_add_explicit(&m->client_errors, 1, memory_order_relaxed);
}

static uint64_t get(_Atomic uint64_t *n)
{
	return atomic_load_explicit(n, memory_order_relaxed);
}

static void show_head(struct buf *b, const char *name, const char *type, const char *help)
{
	buf_printf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void show_latency(struct buf *b, const char *op, struct op_metrics *m)
{
	uint64_t below = 0;

	for (size_t i = 0; i < LATENCY_BUCKETS; i++) {
		below += get(&m->latency_bucket[i]);
		buf_printf(b, "thorpe_request_seconds_bucket{operation=\"%s\",le=\"%g\"} %llu\n", op,
			   (double)latency_bound_us[i] / 1e6, (unsigned long long)below);
	}
	below += get(&m->latency_bucket[LATENCY_BUCKETS]);
	buf_printf(b, "thorpe_request_seconds_bucket{operation=\"%s\",le=\"+Inf\"} %llu\n", op,
		   (unsigned long long)below);
	buf_printf(b, "thorpe_request_seconds_sum{operation=\"%s\"} %.6f\n", op, (double)get(&m->latency_us) / 1e6);
	buf_printf(b, "thorpe_request_seconds_count{operation=\"%s\"} %llu\n", op, (unsigned long long)below);
}

static void show_operations(struct api *api, struct buf *b)
{
	show_head(b, "thorpe_requests_total", "counter", "Requests by operation and outcome.");
	for (size_t i = 0; i < op_count(); i++) {
		struct op_metrics *m = &api->metrics[i];
		uint64_t calls = get(&m->calls), client = get(&m->client_errors), server = get(&m->server_errors);

		if (!calls)
			continue;
		buf_printf(b, "thorpe_requests_total{operation=\"%s\",outcome=\"ok\"} %llu\n", op_at(i)->facts.name,
			   (unsigned long long)(calls - client - server));
		buf_printf(b, "thorpe_requests_total{operation=\"%s\",outcome=\"client_error\"} %llu\n",
			   op_at(i)->facts.name, (unsigned long long)client);
		buf_printf(b, "thorpe_requests_total{operation=\"%s\",outcome=\"server_error\"} %llu\n",
			   op_at(i)->facts.name, (unsigned long long)server);
	}
	buf_printf(b, "thorpe_requests_total{operation=\"unknown\",outcome=\"client_error\"} %llu\n",
		   (unsigned long long)get(&api->unknown_calls));
	show_head(b, "thorpe_request_seconds", "histogram", "Time from request to reply.");
	for (size_t i = 0; i < op_count(); i++)
		if (get(&api->metrics[i].calls))
			show_latency(b, op_at(i)->facts.name, &api->metrics[i]);
}

static void show_tables(struct api *api, struct buf *b)
{
	const struct catalog *c = db_catalog(api->db, b->arena);

	show_head(b, "thorpe_table_items", "gauge", "Items by table.");
	for (size_t i = 0; i < catalog_count(c); i++) {
		const struct table *t = catalog_at(c, i);

		buf_printf(b, "thorpe_table_items{table=\"%.*s\"} %lld\n", SLICE_ARG(t->name),
			   (long long)atomic_load(&t->stats->items));
	}
	show_head(b, "thorpe_table_bytes", "gauge", "Bytes of items by table, as DynamoDB counts them.");
	for (size_t i = 0; i < catalog_count(c); i++) {
		const struct table *t = catalog_at(c, i);

		buf_printf(b, "thorpe_table_bytes{table=\"%.*s\"} %lld\n", SLICE_ARG(t->name),
			   (long long)atomic_load(&t->stats->bytes));
	}
}

static void show_one(struct buf *b, const char *name, const char *type, const char *help, uint64_t v)
{
	show_head(b, name, type, help);
	buf_printf(b, "%s %llu\n", name, (unsigned long long)v);
}

struct api_health api_health(struct api *api)
{
	enum store_health h = store_health(db_store(api->db));
	const char *words = h == STORE_WELL ? NULL : store_health_words(h);

	return (struct api_health){ .not_alive = h == STORE_FULL ? NULL : words, .not_ready = words };
}

void api_metrics(struct api *api, struct buf *b)
{
	struct db_metrics m = db_metrics(api->db);

	show_operations(api, b);
	show_tables(api, b);
	show_one(b, "thorpe_commits_total", "counter", "Batches committed to disk.", m.batches);
	show_one(b, "thorpe_committed_requests_total", "counter", "Write requests in those batches.", m.requests);
	show_one(b, "thorpe_committed_alone_total", "counter",
		 "Of those requests, written by the threads that received them.", m.alone);
	show_one(b, "thorpe_write_errors_total", "counter", "Batches the disk refused.", m.write_errors);
	show_one(b, "thorpe_refusing_writes", "gauge", "1 while writes are refused: the disk is full, or failed.",
		 store_is_refusing(db_store(api->db)));
	show_one(b, "thorpe_corruption_total", "counter", "Damaged data that reads, flushes and compactions met.",
		 store_corruptions(db_store(api->db)));
	show_one(b, "thorpe_write_queue", "gauge", "Write requests waiting.", m.queue_depth);
	show_one(b, "thorpe_ttl_deleted_total", "counter", "Items deleted by time to live.", m.ttl_deleted);
	if (api->faults)
		faults_metrics(api->faults, b);
	show_one(b, "thorpe_disk_bytes", "gauge", "Bytes on disk.", store_disk_bytes(db_store(api->db)));
}
