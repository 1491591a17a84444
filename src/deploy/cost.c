/* What it costs a month, estimated.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include "deploy/deploy_internal.h"
#include "design/describe/traffic.h"

/* US dollars, us-east-1, Standard table class: https://aws.amazon.com/dynamodb/pricing/on-demand/ and …/provisioned/.
 * Request units, storage and recovery as AWS's price list was quoted in September 2026. Free tiers are not taken
 * off. */
const char deploy_prices[] = "us-east-1, September 2026, https://aws.amazon.com/dynamodb/pricing/";
static const struct {
	double write_million, read_million; /* on demand: request units */
	double write_hour, read_hour;       /* provisioned: one unit */
	double storage_gb, recovery_gb;     /* a month; recovery counts the table without its indexes */
	double stream_hundred_thousand;     /* GetRecords calls */
} price = { 0.625, 0.125, 0.00065, 0.00013, 0.25, 0.20, 0.02 };

#define HOURS           730.0
#define SECONDS         (HOURS * 3600)
#define GB              1e9
#define ITEM_BYTES      1024.0
#define ITEM_OVERHEAD   100.0 /* bytes that DynamoDB adds to each item and index entry */
#define WRITE_UNIT      1024.0
#define SHARDS_AT_FIRST 4.0    /* a new table on demand has four partitions */
#define SHARD_WRITES    1000.0 /* units a second of a partition */
/* At each shard, a second: once while nothing is written (cli/serve/serve_backend.c), once more for each write of a
 * server, which may be in any of them, and no more often than every 100 ms (process/process_page.c). */
#define LOOKS_IDLE 1.0
#define LOOKS_MOST 10.0
/* A server beats every 1.5 s and looks at the leases (process/lease.h). */
#define LEASE_WRITES (2 / 1.5)
#define LEASE_READS  (1 / 1.5)

static double on_demand(double write_units, double read_units)
{
	return SECONDS / 1e6 * (write_units * price.write_million + read_units * price.read_million);
}

static void take_load(const struct deploy_want *w, const struct deploy_load *l, double item_bytes, struct arena *a,
		      struct traffic_total *t)
{
	struct traffic_write mean;
	double read_units;

	design_traffic(w->design, item_bytes, a, t);
	design_mean_traffic(w->design, item_bytes, a, &read_units, &mean);
	if (l->reads >= 0) {
		t->read_calls = l->reads;
		t->reads = l->reads * read_units;
	}
	if (l->writes >= 0) {
		double n = l->writes;

		t->write_calls = n;
		t->writes =
			(struct traffic_write){ n * mean.actions, n * mean.indexed, n * mean.items, n * mean.copies };
		t->created = t->writes.items; /* none is known to be anything else */
		t->created_copies = t->writes.copies;
	}
}

static void price_units(const struct deploy_want *w, struct deploy_cost *out)
{
	const struct design *d = w->design;
	double tables = 1 + (double)d->index_count;

	if (d->provisioned) {
		out->writes = tables * (double)d->write_units * price.write_hour * HOURS;
		out->reads = tables * (double)d->read_units * price.read_hour * HOURS;
		return;
	}
	out->writes = on_demand(out->write_units, 0);
	out->reads = on_demand(0, out->read_units);
}

static void price_storage(const struct deploy_want *w, const struct deploy_plan *p, const struct deploy_load *l,
			  const struct traffic_total *t, double item_bytes, struct deploy_cost *out)
{
	double each = (item_bytes + ITEM_OVERHEAD) * SECONDS / GB;
	double table = (p ? p->table_bytes / GB : 0) + t->created * each / 2;
	double index = (p ? p->index_bytes / GB : 0) + t->created_copies * each / 2;

	out->growth_gb = (t->created + t->created_copies) * each;
	if (l->storage_gb >= 0) {
		double share = table + index > 0 ? table / (table + index) : 1;

		table = l->storage_gb * share;
		index = l->storage_gb - table;
	}
	out->storage_gb = table + index;
	out->storage = out->storage_gb * price.storage_gb;
	if (w->tables[0].recovery) {
		out->recovery_gb = table;
		out->recovery = table * price.recovery_gb;
	}
}

static void price_stream(const struct deploy_want *w, const struct traffic_total *t, struct deploy_cost *out)
{
	if (w->design->stream == STREAM_NONE)
		return;
	out->shards = fmax(SHARDS_AT_FIRST, ceil(t->writes.actions * 2 / SHARD_WRITES));
	out->stream = out->shards * fmin(LOOKS_IDLE + t->write_calls, LOOKS_MOST) * SECONDS / 1e5 *
		      price.stream_hundred_thousand;
	out->beside = on_demand(LEASE_WRITES, LEASE_READS);
}

void deploy_cost(const struct deploy_want *w, const struct deploy_plan *p, const struct deploy_load *l, struct arena *a,
		 struct deploy_cost *out)
{
	double item_bytes = l->item_bytes > 0 ? l->item_bytes : ITEM_BYTES;
	struct traffic_total t;

	*out = (struct deploy_cost){ 0 };
	take_load(w, l, item_bytes, a, &t);
	out->declared = t.read_calls > 0 || t.write_calls > 0;
	out->read_units = t.reads;
	/* Servers send single writes as transactions, too, so that a lost reply does no harm (remote/repeat.h). */
	out->write_units = (t.writes.actions * 2 + t.writes.indexed) * ceil(item_bytes / WRITE_UNIT);
	price_units(w, out);
	price_storage(w, p, l, &t, item_bytes, out);
	price_stream(w, &t, out);
	out->total = out->reads + out->writes + out->storage + out->recovery + out->stream + out->beside;
}
