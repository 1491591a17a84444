/* What a processor or the keeper was asked to do and did not do, by reason. docs/processors.md has the table for operators.
 *
 * A run that counts points to one (run->passed_over); what runs inside it (branches) counts there, too. A run of a request
 * has none, and nothing is counted.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_RUN_PASSED_OVER_H
#define THORPE_APP_RUN_PASSED_OVER_H

#include "app/run/run.h"

/*        name          as in GET /processors   told: also in the log and as the last one */
#define PASSED_OVER_MAP(X)                                                                          \
	X(WHEN, "when", false)              /* `when` does not hold for the change */               \
	X(THERE, "there", false)            /* a put of what is there already, as it is */          \
	X(HOLDS, "holds", false)            /* a removal of what still `lives while` */             \
	X(NOTHING, "nothing", false)        /* a deletion of nothing; a count of zero */            \
	X(GONE, "gone", true)               /* the item to be updated or counted on is not there */ \
	X(REQUIREMENT, "requirement", true) /* what a put requires or counts on is not so */        \
	X(INCOMPLETE, "incomplete", true)   /* a put lacks part of its key or what is required */   \
	X(UNFIT, "unfit", true)             /* an item in the table does not fit the design */      \
	X(REFUSED, "refused", true)         /* the keeper: what follows breaks a rule of the design */
enum passed_over_reason {
#define X(name, word, told) PASSED_OVER_##name,
	PASSED_OVER_MAP(X)
#undef X
		PASSED_OVER_REASONS
};
const char *passed_over_word(enum passed_over_reason reason);

#define PASSED_OVER_TEXT 256
struct passed_over {
	uint64_t count[PASSED_OVER_REASONS];
	char last[PASSED_OVER_TEXT]; /* the last one reported, as a sentence cut between characters; empty: none */
};

/* Counts one, and keeps the sentence where the reason is told. Nothing without run->passed_over. */
void run_pass_over(struct run *r, enum passed_over_reason reason, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
