/* Numbers and the last problem of a processor.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/ledger.h"

#include <string.h>
#include "base/clock.h"
#include "base/log.h"

#define LOG_EVERY_US 10000000

void ledger_init(struct ledger *l, struct slice design, struct slice processor)
{
	*l = (struct ledger){ .design = design, .processor = processor };
	pthread_mutex_init(&l->lock, NULL);
}

void ledger_release(struct ledger *l)
{
	if (l->processor.n)
		pthread_mutex_destroy(&l->lock);
}

void ledger_problem(struct ledger *l, struct slice detail, int64_t now_ms)
{
	size_t n = slice_cut(detail, LEDGER_TEXT - 1).n;

	pthread_mutex_lock(&l->lock);
	if (n)
		memcpy(l->texts.problem, detail.p, n);
	l->texts.problem[n] = 0;
	l->texts.problem_ms = now_ms;
	pthread_mutex_unlock(&l->lock);
}

static void log_passed_over(struct ledger *l, const char *text)
{
	int64_t now = clock_monotonic_us();

	if (l->logged_us && now - l->logged_us < LOG_EVERY_US) {
		l->unlogged++;
		return;
	}
	if (l->unlogged)
		log_warn("%.*s, %.*s: passed over: %s (and %llu more since the last such line)", SLICE_ARG(l->design),
			 SLICE_ARG(l->processor), text, (unsigned long long)l->unlogged);
	else
		log_warn("%.*s, %.*s: passed over: %s", SLICE_ARG(l->design), SLICE_ARG(l->processor), text);
	l->logged_us = now;
	l->unlogged = 0;
}

void ledger_pass_over(struct ledger *l, const struct passed_over *what, int64_t now_ms)
{
	uint64_t any = 0;

	for (size_t i = 0; i < PASSED_OVER_REASONS; i++)
		any |= what->count[i];
	if (!any)
		return;
	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < PASSED_OVER_REASONS; i++)
		l->texts.passed_over.count[i] += what->count[i];
	if (what->last[0]) {
		memcpy(l->texts.passed_over.last, what->last, sizeof(what->last));
		l->texts.passed_ms = now_ms;
		log_passed_over(l, what->last);
	}
	pthread_mutex_unlock(&l->lock);
}

void ledger_read(struct ledger *l, struct ledger_texts *out)
{
	pthread_mutex_lock(&l->lock);
	*out = l->texts;
	pthread_mutex_unlock(&l->lock);
}
