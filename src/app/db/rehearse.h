/* Requests to a database that is a round trip away: what they read is read at once.
 *
 * A request reads one item, and then another that its rules ask for: the account of the session, the item, what it requires.
 * Each would be a round trip. So the request is rehearsed: it runs on what its items were when they were last read (guess.h),
 * until it would write or ask for something else than items. Which items it wanted is known then. They are read with one
 * BatchGetItem, strongly consistent, and the request runs again, on those. When it wants others than in the rehearsal, which
 * happens when a guess was wrong, it is rehearsed once more. A Query that comes up on the way ends the rehearsal, and goes out at
 * the same time as the BatchGetItem; between the calls of backend_together() the request goes on as if the Query had found nothing,
 * so that several go out at once. Whatever is answered or written was decided by what was read for
 * this request alone.
 *
 * Nothing that cannot be taken back may happen in a rehearsal. Writes end it, and so does backend_settle(), which is to be
 * called before anything else of this kind: counting a failed login, gathering an addition, writing to the audit log.
 *
 * A note that comes before the reading, such as an Idempotency-Key's, must not end it: then nothing would be known of what is read
 * after it. backend_aside() makes the request go on as if the note had been made. It is made the first time after a rehearsal that
 * wanted nothing any more, and from there on nothing is guessed: what turns out not to be known is read by itself.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_REHEARSE_H
#define THORPE_APP_DB_REHEARSE_H

#include "app/db/guess.h"
#include "app/run/run.h"

struct rehearsal; /* of one request */

/* `r`: app, design, arena and the backend that is far away. In its arena. */
struct rehearsal *rehearse_begin(const struct run *r, struct guesses *g);
/* Has what rehearsals before it have read. */
struct backend *rehearse_backend(struct rehearsal *h);

/* Before each time the request runs, with the arena it has for that (and only for that): what ends a rehearsal leaves by the
 * arena's exit, as memory that is out does. */
void rehearse_next(struct rehearsal *h, struct arena *a);
/* After it. True: what it did counts, and so does memory that ran out. False: it was a rehearsal; run it again. */
bool rehearse_counts(struct rehearsal *h);

#endif
