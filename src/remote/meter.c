/* Counters, a histogram, and a table of operations and labels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/meter.h"
#include <pthread.h>
#include <stdio.h>
#include "base/alloc.h"

#define SLOTS     1024 /* a power of two */
#define USES_MOST 768  /* after that, labels count as "other" */

const int64_t remote_latency_ms[REMOTE_LATENCIES - 1] = { 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000 };

/* clang-format off */
const char *const remote_trouble_names[REMOTE_TROUBLES] = {
	[REMOTE_CONNECT] = "connect",
	[REMOTE_CUT] = "cut",
	[REMOTE_LATE] = "timeout",
	[REMOTE_BUSY] = "no_connection_free",
	[REMOTE_SERVER] = "server",
	[REMOTE_THROTTLED] = "throttled",
	[REMOTE_DAMAGED] = "checksum",
	[REMOTE_SKEWED] = "clock_skew",
	[REMOTE_CREDENTIALS] = "credentials",
	[REMOTE_REFUSED] = "refused",
};
/* clang-format on */

struct meter {
	pthread_mutex_t lock;
	struct remote_metrics total;
	size_t use_count;
	struct remote_use uses[SLOTS]; /* operation empty: free */
};

struct meter *meter_new(void)
{
	struct meter *m = mem_zalloc(sizeof(*m));

	if (m)
		pthread_mutex_init(&m->lock, NULL);
	return m;
}

void meter_free(struct meter *m)
{
	if (!m)
		return;
	pthread_mutex_destroy(&m->lock);
	mem_free(m);
}

static size_t hash(const char *a, const char *b)
{
	uint32_t h = 2166136261u;

	for (; *a; a++)
		h = (h ^ (uint8_t)*a) * 16777619u;
	for (h = (h ^ 31) * 16777619u; *b; b++)
		h = (h ^ (uint8_t)*b) * 16777619u;
	return h;
}

/* With the lock. There is always room for the operations with the label "other". */
static struct remote_use *use_of(struct meter *m, const char *operation, const char *label)
{
	size_t i = hash(operation, label) & (SLOTS - 1);

	while (m->uses[i].operation[0]) {
		if (!strcmp(m->uses[i].operation, operation) && !strcmp(m->uses[i].label, label))
			return &m->uses[i];
		i = (i + 1) & (SLOTS - 1);
	}
	if (m->use_count == SLOTS - 1)
		return NULL;
	if (m->use_count >= USES_MOST && strcmp(label, "other") != 0)
		return use_of(m, operation, "other");
	m->use_count++;
	snprintf(m->uses[i].operation, sizeof(m->uses[i].operation), "%s", operation);
	snprintf(m->uses[i].label, sizeof(m->uses[i].label), "%s", label);
	return &m->uses[i];
}

static unsigned bucket_of(int64_t us)
{
	unsigned i = 0;

	while (i < REMOTE_LATENCIES - 1 && us > remote_latency_ms[i] * 1000)
		i++;
	return i;
}

void meter_add(struct meter *m, const struct meter_call *c)
{
	struct remote_use *u;

	pthread_mutex_lock(&m->lock);
	m->total.calls++;
	m->total.attempts += c->attempts;
	m->total.retries += c->attempts > 1 ? c->attempts - 1 : 0;
	m->total.throttles += c->throttles;
	m->total.failures += c->failed;
	for (unsigned i = 0; i < REMOTE_TROUBLES; i++)
		m->total.troubles[i] += c->troubles[i];
	m->total.latency[bucket_of(c->us)]++;
	m->total.latency_us += (uint64_t)c->us;
	u = use_of(m, c->operation, c->label);
	if (u) {
		u->calls++;
		u->trips += c->trips;
		u->read_units += c->read_units;
		u->write_units += c->write_units;
	}
	pthread_mutex_unlock(&m->lock);
}

void meter_read(struct meter *m, struct arena *a, struct remote_metrics *out)
{
	/* Before the lock: memory that runs out leaves by longjmp. */
	struct remote_use *uses = arena_array(a, struct remote_use, SLOTS);

	pthread_mutex_lock(&m->lock);
	*out = m->total;
	out->uses = uses;
	for (size_t i = 0; i < SLOTS; i++)
		if (m->uses[i].operation[0])
			uses[out->use_count++] = m->uses[i];
	pthread_mutex_unlock(&m->lock);
}
