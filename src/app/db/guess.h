/* Items as last read. Never used as answers, only to guess which items a request will read next (rehearse.h).
 *
 * Bounded: an item may replace another. Any thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_GUESS_H
#define THORPE_APP_DB_GUESS_H

#include "request/request.h"
#include "value/value.h"

/* An attribute of no entity that never has the same value twice (write/joined.h). */
#define GUESS_JOINED SLICE("thorpe:joined")

struct clock;
struct guesses;
struct guesses *guesses_new(const struct clock *clock); /* NULL: memory */
void guesses_free(struct guesses *g);                   /* NULL is fine */

/* Returns the item, in the arena; absent: there was none, or it is unknown (*known false). `known` may be NULL. */
struct value guess_item(struct guesses *g, struct arena *a, struct value key, bool *known);
/* Remembers an item; may forget it at once. `item` may be outdated, as read from an index. */
void guess_learn(struct guesses *g, struct value key, struct value item);
/* Whether GUESS_JOINED of the item was seen with this value before, and when first, by the steady clock. It may have
 * had the value for longer. */
bool guess_joined(struct guesses *g, struct value key, struct value joined, int64_t *since_ms);

/* ---- the same of what a Query returned, or a GetItem of an account's sessions: pages of up to so many bytes ---- */
#define GUESS_PAGE_MOST 16384
/* Which Query it is: its index, the values that are equal in its key condition, its order and where it starts; not
 * ranges and filters, which have the time in them. Absent: it is none that is remembered. */
struct value guess_page_name(struct arena *a, const struct request *q);
/* False: nothing is known. What is in the reply is in the arena. */
bool guess_page(struct guesses *g, struct arena *a, struct value name, struct reply *reply);
void guess_learn_page(struct guesses *g, struct arena *a, struct value name, const struct reply *reply);

#endif
