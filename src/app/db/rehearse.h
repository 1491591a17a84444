/* Requests to a remote database: all their reads in one round trip.
 *
 * A request reads one item after another: the account of the session, the item, the items that rules require. Each
 * would be a round trip. So the request is rehearsed first:
 *
 *   1. It runs on guesses: items as they were last read (guess.h). The rehearsal ends when it would write.
 *   2. The items it wanted are now known. One BatchGetItem reads them, strongly consistent, and Queries that came up
 *      go out at the same time.
 *   3. The request runs again on those answers. If it wants other items, because a guess was wrong, back to 2.
 *
 * Answers and writes are decided only by items read for this request; guesses only decide what to read.
 *
 * A Query during a rehearsal: if its rows led to items the last time, the rehearsal continues with the same rows, so
 * that their items are read together with it; an unchanged page is one round trip, and otherwise only new items take
 * another. Else the Query ends the rehearsal. Between the calls of backend_together() the request continues as if the
 * Query had found nothing, so that several Queries go out at once.
 *
 * Some items are unknown: the server has just started, or they were never read. Taken as absent, they may end the
 * request early, with 404; so may items that another server has written since. Then the request runs once more to
 * explore, before anything is read: absent items exist, with only their keys, rules are evaluated to their end, and
 * conditions are taken as met. Items read on that path are needed too. So even then everything that follows from the
 * request and the design alone is read at once; only reads that depend on values of an unknown item take another
 * round trip.
 *
 * Nothing that cannot be undone may happen in a rehearsal. Writes end it, and so does backend_settle(); call it
 * before any other such effect: counting a failed login, gathering an addition, writing to the audit log.
 *
 * A note written before the reads, such as an Idempotency-Key's, must not end the rehearsal, or the later reads would
 * stay unknown. backend_aside() lets the request continue as if the note had been made. The note is really made after
 * a rehearsal that needed no more reads. From then on there are no more guesses: unknown items are read one by one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_REHEARSE_H
#define THORPE_APP_DB_REHEARSE_H

#include "app/db/guess.h"
#include "app/run/run.h"

struct rehearsal; /* of one request */

/* `r`: app, design, arena and the remote backend. The rehearsal lives in its arena. `writes`: the request is meant to
 * write; if it reaches no write, a guess was wrong or the request is refused. */
struct rehearsal *rehearse_begin(const struct run *r, struct guesses *g, bool writes);
/* The backend for each run of the request: it answers from what earlier rehearsals have read. */
struct backend *rehearse_backend(struct rehearsal *h);
/* The sequential round trips of the request so far. 0: not rehearsed; each of its requests is one. */
unsigned rehearse_trips(const struct backend *b);
/* The time before its first read, by the steady clock. 0: not rehearsed. */
int64_t rehearse_begun_ms(const struct backend *b);

/* Call before each run of the request, with the arena for that run only: a rehearsal ends by the arena's exit, like
 * running out of memory. The arena may be cleared before, unless the backend explores: then it holds the questions of
 * the previous run. */
void rehearse_next(struct rehearsal *h, struct arena *a);
/* Call after each run. True: it counts, even if memory ran out. False: it was a rehearsal; run it again. */
bool rehearse_counts(struct rehearsal *h);

/* The same for a read-only part of a request, after writes: sends its reads at once. `fn` may run several times, each
 * time with another run; its results, except the problem, must not be in that run's arena. */
typedef bool rehearse_part(struct run *r, void *ctx);
bool rehearse_reads(struct run *r, struct guesses *g, rehearse_part *fn, void *ctx) MUST_CHECK;

#endif
