/* Effects that a processor or the keeper skipped, by reason. docs/processors.md has the table for operators.
 *
 * A run that counts points to one (run->passed_over), as do its branches. A request's run has none and counts
 * nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_RUN_PASSED_OVER_H
#define THORPE_APP_RUN_PASSED_OVER_H

#include "app/run/run.h"

/*        name          as in GET /processors   told: also in the log and as the last one */
#define PASSED_OVER_MAP(X)                                                                              \
	X(WHEN, "when", false)              /* `when` does not hold for the change */                   \
	X(THERE, "there", false)            /* a put of an identical item */                            \
	X(HOLDS, "holds", false)            /* a removal while `lives while` still holds */             \
	X(NOTHING, "nothing", false)        /* a deletion of a missing item; a count of zero */         \
	X(GONE, "gone", true)               /* the item to update or count on does not exist */         \
	X(REQUIREMENT, "requirement", true) /* a put whose requirement or count target fails */         \
	X(INCOMPLETE, "incomplete", true)   /* a put without part of its key or a required attribute */ \
	X(UNFIT, "unfit", true)             /* an item in the table does not fit the design */          \
	X(REFUSED, "refused", true)         /* the keeper, a row of a schedule: the effect breaks a rule */
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

/* Counts one, and keeps the sentence if the reason is reported. Does nothing without run->passed_over. */
void run_pass_over(struct run *r, enum passed_over_reason reason, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
