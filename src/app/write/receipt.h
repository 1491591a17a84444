/* A write under an Idempotency-Key records in its own transaction that it was done (idempotency_shared.c has the
 * item).
 *
 * Invariants
 *   N1  The write is done if and only if its note says "written": both are one transaction.
 *   N2  The transaction's condition is that the note exists with this turn. So the write happens at most once, and not
 *       at all after the note was removed or taken over, even if the request arrives later.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_RECEIPT_H
#define THORPE_APP_WRITE_RECEIPT_H

#include "app/db/dyn.h"

struct receipt {
	struct value key;  /* of the note, in the table beside the design's */
	struct value turn; /* of the request that may change it */
};

/* The action added to a write of the item at `item`: a rider (dyn.h). If its condition fails, it sets the run's
 * rider_lost. */
struct dyn_write *receipt_rider(struct run *r, const struct receipt *n, struct value item);

#endif
