/* What became of a processor's changes: numbers since the start, the last problem, the last change that was passed
 * over. Each processor has one, whether it writes to the table or sends; its threads write it, operators and metrics
 * read it. Any thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_LEDGER_H
#define THORPE_PROCESS_LEDGER_H

#include <pthread.h>
#include <stdatomic.h>
#include "app/run/passed_over.h"

#define LEDGER_TEXT PASSED_OVER_TEXT

/* Texts end with a whole character; empty: there was none. */
struct ledger_texts {
	char problem[LEDGER_TEXT];
	int64_t problem_ms;             /* when */
	struct passed_over passed_over; /* counts by reason, and the last one that is reported */
	int64_t passed_ms;              /* when that was */
};

struct ledger {
	struct slice design, processor; /* for the log */
	_Atomic uint64_t done, retries, lost;
	_Atomic int64_t parked; /* now */
	/* inside: */
	pthread_mutex_t lock; /* of the rest */
	struct ledger_texts texts;
	int64_t logged_us; /* when the log last got a line about a change passed over */
	uint64_t unlogged; /* changes since then */
};

/* The names outlive it. */
void ledger_init(struct ledger *l, struct slice design, struct slice processor);
void ledger_release(struct ledger *l); /* a zeroed one is fine */

/* Keeps the last problem. The caller logs it. */
void ledger_problem(struct ledger *l, struct slice detail, int64_t now_ms);
/* Adds what was passed over; the log gets a line at most every ten seconds. */
void ledger_pass_over(struct ledger *l, const struct passed_over *what, int64_t now_ms);
void ledger_read(struct ledger *l, struct ledger_texts *out);

#endif
