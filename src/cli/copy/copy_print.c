/* Lines for a person.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/copy/copy_print.h"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include "base/clock.h"

#define TELL_US 5000000 /* where lines stay */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_open; /* the terminal's line is not ended */

static void end_line(void)
{
	if (is_open)
		fputs("\r\033[K", stderr);
	is_open = false;
}

void copy_print_end(void)
{
	pthread_mutex_lock(&lock);
	end_line();
	pthread_mutex_unlock(&lock);
}

void copy_print_line(struct slice line)
{
	pthread_mutex_lock(&lock);
	end_line();
	fprintf(stderr, "%.*s\n", SLICE_ARG(line));
	pthread_mutex_unlock(&lock);
}

/* ---- progress ---- */

/* "1 h 20 min", "45 s" */
static void put_time(char *out, size_t n, double seconds)
{
	long s = (long)seconds + 1;

	if (s >= 3600)
		snprintf(out, n, "%ld h %ld min", s / 3600, s % 3600 / 60);
	else if (s >= 120)
		snprintf(out, n, "%ld min", s / 60);
	else
		snprintf(out, n, "%ld s", s);
}

static int put_items(char *out, size_t n, const struct copy_progress *p, double rate, const char *verb)
{
	char rest[48] = "";
	int used = snprintf(out, n, "%s %llu", verb, (unsigned long long)p->items);

	if (p->about >= p->items && p->about)
		used += snprintf(out + used, n - (size_t)used, " of about %llu (%llu %%)", (unsigned long long)p->about,
				 (unsigned long long)(p->items * 100 / p->about));
	used += snprintf(out + used, n - (size_t)used, " items, %.0f/s", rate);
	if (p->about > p->items && rate > 0) {
		put_time(rest, sizeof(rest), (double)(p->about - p->items) / rate);
		used += snprintf(out + used, n - (size_t)used, ", about %s left", rest);
	}
	return used;
}

static void put_progress(char *out, size_t n, const struct copy_progress *p, double rate)
{
	int used = snprintf(out, n, "%.*s: ", SLICE_ARG(p->table));

	out += used;
	n -= (size_t)used;
	switch (p->phase) {
	case COPY_BEGINNING: used = snprintf(out, n, "reading where the stream is"); break;
	case COPY_SCANNING: used = put_items(out, n, p, rate, "copied"); break;
	case COPY_COMPARING: used = put_items(out, n, p, rate, "compared"); break;
	case COPY_SWEEPING:
		used = snprintf(out, n, "removing what the source does not have: %llu items",
				(unsigned long long)p->removed);
		break;
	case COPY_FOLLOWING:
	case COPY_SWITCHING:
	case COPY_SWITCHED:
		used = snprintf(out, n, "following, %llu changes, %.0f/s, %.1f s behind",
				(unsigned long long)p->changes, rate, (double)p->lag_ms / 1000);
		break;
	}
	if (p->is_throttled)
		snprintf(out + used, n - (size_t)used, " (throttled)");
}

void copy_print_progress(struct copy_printer *x, const struct copy_progress *p)
{
	bool follows = p->phase >= COPY_FOLLOWING && p->phase != COPY_COMPARING;
	uint64_t done = follows ? p->changes : p->items;
	int64_t now = clock_monotonic_us();
	bool changes = isatty(STDERR_FILENO);
	char line[512];

	pthread_mutex_lock(&lock);
	if (!x->began || x->phase != p->phase) {
		x->began = true;
		x->phase = p->phase;
		x->first = done;
		x->first_us = x->told_us = now;
	}
	if (changes || now - x->told_us >= TELL_US) {
		double seconds = (double)(now - x->first_us) / 1e6;

		x->told_us = now;
		put_progress(line, sizeof(line), p,
			     seconds > 0 && done > x->first ? (double)(done - x->first) / seconds : 0);
		end_line();
		fprintf(stderr, changes ? "%s" : "%s\n", line);
		fflush(stderr);
		is_open = changes;
	}
	pthread_mutex_unlock(&lock);
}

/* ---- the plan ---- */

static const char *phase_words(enum copy_phase p)
{
	switch (p) {
	case COPY_SCANNING:
	case COPY_SWEEPING: return "items are being copied";
	case COPY_FOLLOWING: return "all items are there, changes are followed";
	case COPY_SWITCHING: return "the switch has begun";
	case COPY_SWITCHED: return "the switch is done";
	case COPY_BEGINNING:
	case COPY_COMPARING: break;
	}
	return "it has hardly begun";
}

static void print_target(const struct copy_options *o, const struct copy_plan *p)
{
	if (!p->target_exists)
		printf("  + the table is made at %s, %s\n", o->to.name,
		       o->design ? "as the design says" : "with the key, the indexes and the billing of the source");
	else if (p->differs.n)
		printf("  ! the table at %s cannot take the items: %.*s\n", o->to.name, SLICE_ARG(p->differs));
	else if (p->is_ours && p->phase != COPY_BEGINNING)
		printf("  = a copy was begun: %s\n", phase_words(p->phase));
	else if (p->target_has_items)
		printf("  %s the table at %s has items%s\n", o->replace ? "-" : "!", o->to.name,
		       o->replace ? ", which are replaced" : ": --replace would replace them");
	else
		printf("  = the table at %s is there, and empty\n", o->to.name);
	if (p->target_has_stream || p->target_has_ttl)
		printf("  - its %s off until the switch\n", p->target_has_stream && p->target_has_ttl
								    ? "stream and TTL are"
							    : p->target_has_ttl ? "TTL is"
										: "stream is");
}

void copy_print_plan(const struct copy_options *o, const struct copy_plan *p)
{
	printf("%.*s: from %s to %s\n", SLICE_ARG(o->table), o->from.name, o->to.name);
	printf("  about %lld items, %.1f MB", (long long)p->items, (double)p->bytes / 1e6);
	if (p->source_has_stream)
		printf("; changes are followed by the stream\n");
	else
		printf("; no stream: changes made meanwhile %s\n",
		       o->enable_stream ? "are followed: it is turned on" : "may be missed");
	print_target(o, p);
	if (o->design)
		printf("  + of %.*s.thorpe what belongs to the data: deletions under way, parked changes, answers under Idempotency-Keys,\n"
		       "    failed logins, the secret of tokens; not positions and leases\n",
		       SLICE_ARG(o->table));
	fflush(stdout);
}
