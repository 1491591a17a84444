/* What items were when they were last read: never an answer, only a guess which items a request will want next (rehearse.h).
 *
 * Bounded; an item's place may be another's next. Any thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_GUESS_H
#define THORPE_APP_DB_GUESS_H

#include "value/value.h"

struct guesses;
struct guesses *guesses_new(void);    /* NULL: memory */
void guesses_free(struct guesses *g); /* NULL is fine */

/* In the arena; absent: there was nothing, or (*known false) nothing is known. `known` may be NULL. */
struct value guess_item(struct guesses *g, struct arena *a, struct value key, bool *known);
/* May forget it at once. */
void guess_learn(struct guesses *g, struct value key, struct value item);

#endif
