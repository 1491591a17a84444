/* The faults in force, and whether one strikes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fault/fault.h"

#include <openssl/rand.h>
#include <stdio.h>

#include "base/cond.h"
#include "base/alloc.h"
#include "fault/internal.h"
#include "json/json.h"

#define MILLION 1000000u

/* ---- draws ---- */

/* splitmix64: every bit of the result depends on every bit of both. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = a + 0x9e3779b97f4a7c15 * (b + 1);

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static uint64_t hash(struct slice s)
{
	uint64_t h = 0xcbf29ce484222325;

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (uint8_t)s.p[i]) * 0x100000001b3;
	return h;
}

/* Uniform in 0..n-1. */
static uint64_t below(uint64_t draw, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)draw * n) >> 64);
}

static bool is_hit(uint64_t draw, const struct fault_rule *r)
{
	return r->set && below(draw, MILLION) < r->chance;
}

/* ---- rules in force ---- */

static struct fault_entry *own_entry(const struct faults *f, struct slice table)
{
	for (struct fault_entry *e = f->tables; e; e = e->next)
		if (slice_is(table, e->table))
			return e;
	return NULL;
}

/* The rule in force for the table. Lock held. */
static struct fault_rule rule_of(const struct faults *f, enum fault_kind k, struct slice table)
{
	const struct fault_entry *own = own_entry(f, table);

	return own && own->rules[k].set ? own->rules[k] : f->all.rules[k];
}

int64_t fault_longest_ms(const struct faults *f, enum fault_kind k)
{
	int64_t most = f->all.rules[k].set ? f->all.rules[k].to_ms : 0;

	for (const struct fault_entry *e = f->tables; e; e = e->next)
		if (e->rules[k].set && e->rules[k].to_ms > most)
			most = e->rules[k].to_ms;
	return most;
}

int64_t fault_longest_lag_ms(const struct faults *f)
{
	int64_t index = fault_longest_ms(f, FAULT_INDEX_LAG), read = fault_longest_ms(f, FAULT_READ_LAG);

	return index > read ? index : read;
}

struct faults *faults_new(void)
{
	struct faults *f = mem_zalloc(sizeof(*f));

	if (!f)
		return NULL;
	if (RAND_bytes((unsigned char *)&f->seed, sizeof(f->seed)) != 1)
		f->seed = (uint64_t)clock_monotonic_us();
	f->seed %= MILLION; /* short enough to type */
	pthread_mutex_init(&f->lock, NULL);
	cond_init(&f->changed);
	return f;
}

static void entry_free(struct fault_entry *e)
{
	if (!e)
		return;
	mem_free(e->table);
	mem_free(e);
}

static void tables_free(struct fault_entry *e)
{
	while (e) {
		struct fault_entry *next = e->next;

		entry_free(e);
		e = next;
	}
}

void faults_free(struct faults *f)
{
	if (!f)
		return;
	faults_detach(f);
	tables_free(f->tables);
	pthread_cond_destroy(&f->changed);
	pthread_mutex_destroy(&f->lock);
	mem_free(f);
}

static struct fault_entry *entry_new(const struct fault_section *s)
{
	struct fault_entry *e = mem_zalloc(sizeof(*e));

	if (!e)
		return NULL;
	memcpy(e->rules, s->rules, sizeof(e->rules));
	e->table = mem_strndup(s->table.p, s->table.n);
	if (e->table)
		return e;
	mem_free(e);
	return NULL;
}

/* New entries, in a list, for the tables that the spec names. False: out of memory. */
static bool make_entries(const struct fault_spec *spec, struct fault_entry **out)
{
	*out = NULL;
	for (size_t i = 0; i < spec->count; i++) {
		struct fault_entry *e;

		if (!spec->sections[i].table.n || spec->sections[i].clears)
			continue;
		e = entry_new(&spec->sections[i]);
		if (!e) {
			tables_free(*out);
			return false;
		}
		e->next = *out;
		*out = e;
	}
	return true;
}

static void remove_entry(struct faults *f, struct slice table)
{
	struct fault_entry **at = &f->tables;

	while (*at && !slice_is(table, (*at)->table))
		at = &(*at)->next;
	if (*at) {
		struct fault_entry *gone = *at;

		*at = gone->next;
		entry_free(gone);
	}
}

static void replace_section(struct faults *f, const struct fault_section *s)
{
	if (s->table.n) {
		remove_entry(f, s->table);
		return;
	}
	f->all = (struct fault_entry){ 0 };
	memcpy(f->all.rules, s->rules, sizeof(s->rules));
	if (!s->clears)
		return;
	tables_free(f->tables);
	f->tables = NULL;
}

static void set_seed(struct faults *f, uint64_t seed)
{
	f->seed = seed;
	memset(f->all.calls, 0, sizeof(f->all.calls));
	for (struct fault_entry *e = f->tables; e; e = e->next)
		memset(e->calls, 0, sizeof(e->calls));
}

static bool is_anything_set(const struct faults *f)
{
	for (size_t i = 0; i < FAULT_KINDS; i++)
		if (f->all.rules[i].set)
			return true;
	return f->tables != NULL;
}

bool faults_set(struct faults *f, const struct fault_spec *spec)
{
	struct fault_entry *made;
	int64_t lag_ms;

	if (!make_entries(spec, &made))
		return false;
	pthread_mutex_lock(&f->lock);
	for (size_t i = 0; i < spec->count; i++) /* all tables first: `none` there clears the others */
		if (!spec->sections[i].table.n)
			replace_section(f, &spec->sections[i]);
	for (size_t i = 0; i < spec->count; i++)
		if (spec->sections[i].table.n)
			replace_section(f, &spec->sections[i]);
	while (made) {
		struct fault_entry *next = made->next;

		made->next = f->tables;
		f->tables = made;
		made = next;
	}
	if (spec->has_seed)
		set_seed(f, spec->seed);
	atomic_store(&f->on, is_anything_set(f));
	lag_ms = fault_longest_lag_ms(f);
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
	if (f->past) /* views apply to later writes only, or lag is now off */
		past_take(f->past, db_store(f->db), lag_ms);
	return true;
}

bool faults_are_on(const struct faults *f)
{
	return atomic_load_explicit(&f->on, memory_order_relaxed);
}

int64_t faults_time_ms(struct faults *f, enum fault_kind k, struct slice table)
{
	struct fault_rule r;

	pthread_mutex_lock(&f->lock);
	r = rule_of(f, k, table);
	pthread_mutex_unlock(&f->lock);
	return r.set ? r.to_ms : 0;
}

int64_t faults_ttl_delay_ms(void *ctx, struct slice table)
{
	struct faults *f = ctx;

	return faults_are_on(f) ? faults_time_ms(f, FAULT_TTL_DELAY, table) : 0;
}

/* ---- one request ---- */

void faults_count(struct faults *f, enum fault_kind k)
{
	atomic_fetch_add_explicit(&f->struck[k], 1, memory_order_relaxed);
}

bool fault_strikes(const struct fault_plan *p, enum fault_kind k, struct slice table, size_t i)
{
	struct fault_rule r;

	pthread_mutex_lock(&p->faults->lock);
	r = rule_of(p->faults, k, table);
	pthread_mutex_unlock(&p->faults->lock);
	if (!is_hit(mix(mix(p->base, k), i), &r))
		return false;
	faults_count(p->faults, k);
	return true;
}

static int64_t draw_time(struct faults *f, uint64_t base, enum fault_kind k, const struct fault_rule *r)
{
	uint64_t draw = mix(base, k);
	int64_t ms;

	if (!is_hit(draw, r))
		return 0;
	ms = r->from_ms + (int64_t)below(mix(draw, 1), (uint64_t)(r->to_ms - r->from_ms) + 1);
	if (ms)
		faults_count(f, k);
	return ms;
}

void faults_draw(struct faults *f, struct slice table, unsigned operation, struct fault_plan *out)
{
	uint64_t name = mix(hash(table), operation);
	struct fault_rule latency, slow;
	struct fault_entry *e;

	pthread_mutex_lock(&f->lock);
	e = own_entry(f, table);
	out->faults = f;
	out->base = mix(mix(f->seed, name), (e ? e : &f->all)->calls[name % FAULT_CALLS]++);
	latency = rule_of(f, FAULT_LATENCY, table);
	slow = rule_of(f, FAULT_SLOW, table);
	pthread_mutex_unlock(&f->lock);
	out->delay_ms = draw_time(f, out->base, FAULT_LATENCY, &latency);
	out->hold_ms = draw_time(f, out->base, FAULT_SLOW, &slow);
	/* At most one: the first that strikes. */
	if (fault_strikes(out, FAULT_DROP, table, 0))
		out->hangs_up = out->fails_before = true;
	else if (fault_strikes(out, FAULT_ERROR_BEFORE, table, 0))
		out->fails_before = true;
	else if (fault_strikes(out, FAULT_DROP_AFTER, table, 0))
		out->hangs_up = out->fails_after = true;
	else if (fault_strikes(out, FAULT_ERROR_AFTER, table, 0))
		out->fails_after = true;
}

/* ---- reports ---- */

struct told {
	char table[256]; /* empty: all */
	struct fault_rule rules[FAULT_KINDS];
};

static size_t count_tables(struct faults *f)
{
	size_t n = 0;

	pthread_mutex_lock(&f->lock);
	for (const struct fault_entry *e = f->tables; e; e = e->next)
		n++;
	pthread_mutex_unlock(&f->lock);
	return n;
}

/* Copies at most n + 1: nothing may be allocated with the lock held, as that may leave by longjmp. */
static size_t copy_entries(struct faults *f, struct told *into, size_t n, uint64_t *seed)
{
	size_t count = 1;

	pthread_mutex_lock(&f->lock);
	memcpy(into[0].rules, f->all.rules, sizeof(into[0].rules));
	for (const struct fault_entry *e = f->tables; e && count <= n; e = e->next, count++) {
		snprintf(into[count].table, sizeof(into[count].table), "%s", e->table);
		memcpy(into[count].rules, e->rules, sizeof(e->rules));
	}
	*seed = f->seed;
	pthread_mutex_unlock(&f->lock);
	return count;
}

void faults_print(struct faults *f, struct buf *out)
{
	size_t tables = count_tables(f), before = out->n, count;
	struct told *list = arena_array(out->arena, struct told, tables + 1);
	uint64_t seed;

	count = copy_entries(f, list, tables, &seed);
	for (size_t i = 0; i < count; i++) {
		struct buf one;

		buf_init(&one, out->arena);
		fault_rules_print(&one, list[i].rules);
		if (!one.n)
			continue;
		if (list[i].table[0])
			buf_printf(out, "table=%s,", list[i].table);
		buf_put(out, buf_slice(&one));
		buf_lit(out, ",");
	}
	if (out->n == before)
		buf_lit(out, "none,");
	buf_printf(out, "seed=%llu", (unsigned long long)seed);
}

void faults_show(struct faults *f, struct buf *out)
{
	struct buf spec;

	buf_init(&spec, out->arena);
	faults_print(f, &spec);
	json_open(out, '{');
	json_member_string(out, "faults", buf_slice(&spec));
	json_member_open(out, "injected", '{');
	for (size_t i = 0; i < FAULT_KINDS; i++)
		json_member_int(out, fault_name(i), (int64_t)atomic_load(&f->struck[i]));
	json_close(out, '}');
	json_close(out, '}');
}

void faults_metrics(struct faults *f, struct buf *out)
{
	buf_lit(out, "# HELP thorpe_faults_injected_total Faults that were asked for and struck.\n"
		     "# TYPE thorpe_faults_injected_total counter\n");
	for (size_t i = 0; i < FAULT_KINDS; i++)
		buf_printf(out, "thorpe_faults_injected_total{fault=\"%s\"} %llu\n", fault_name(i),
			   (unsigned long long)atomic_load(&f->struck[i]));
}
