/* A page of changes: those that concern the processor are sent, tried again, and in the end parked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"
#include "base/log.h"
#include "process/effect/effect.h"
#include "process/send/send_lane.h"

#define ASKS     5    /* tries to find out whether a change concerns the processor */
#define ASKS_ALL 1000 /* with those to which the database had no answer */

/* the changes of one request */
struct delivery {
	struct lane *lane;
	struct run *run;
	const struct change **list; /* those that have not been taken */
	enum send_end *ends;
	struct slice *why;
	size_t count;
	int tries;
};

/* ---- waiting ---- */

/* False: interrupted. */
static bool wait_for(struct lane *l, int64_t seconds)
{
	if (!runner_interrupts(l->runner))
		runner_wait(l->runner, seconds * l->runner->second_ms, NULL);
	return !runner_interrupts(l->runner);
}

/* ---- parking ---- */

static bool write_parked(struct run *r, const struct parked *p)
{
	struct dyn_refusal refusal;

	r->problem = (struct problem){ 0 };
	switch (dyn_write(r, checkpoint_park(r, p), 1, SLICE(""), &refusal)) {
	case DYN_DONE: return true;
	case DYN_FAILED: return false;
	default: return run_fail(r, PROBLEM_BUSY, "the change could not be parked");
	}
}

/* Parks the change, retrying until that works, so that nothing is lost; doing it twice writes the same item. False:
 * interrupted. */
static bool park(struct lane *l, struct run *r, const struct change *c, struct slice why, int tries)
{
	struct parked p = {
		.processor = l->runner->p->name,
		.shard = slice_str(l->tail.shard),
		.sequence = c->sequence,
		.reason = why,
		.tries = tries,
		.parked_at_ms = app_now_ms(l->runner->app),
		.change = *c,
	};

	for (int asked = 1; !write_parked(r, &p); asked++) {
		log_warn("processor %.*s: change %.*s could not be parked: %.*s", SLICE_ARG(p.processor),
			 SLICE_ARG(c->sequence), SLICE_ARG(r->problem.detail));
		if (!wait_for(l, send_backoff(asked, 0)))
			return false;
	}
	atomic_fetch_add(&l->runner->ledger->parked, 1);
	ledger_problem(l->runner->ledger, why, app_now_ms(l->runner->app));
	log_warn("processor %.*s: change %.*s is parked: %.*s (tries: %d)", SLICE_ARG(p.processor),
		 SLICE_ARG(c->sequence), SLICE_ARG(why), tries);
	return true;
}

/* ---- a request's worth ---- */

/* One request, in memory of its own since there may be a dozen. Returns how many changes it had; 0: memory ran out. */
static size_t try_once(struct delivery *d)
{
	struct lane *l = d->lane;
	struct run r = *d->run;
	volatile size_t sent = 0;

	r.arena = &l->try_arena;
	r.memo = NULL;
	ARENA_TRY(&l->try_arena, { sent = sender_send(l->sender, &r, d->list, d->count, d->ends, d->why); }, { sent = 0; });
	if (sent && d->ends[0] != SEND_TAKEN && !d->why[0].n)
		d->why[0] = SLICE("not taken");
	for (size_t i = 0; i < sent; i++)
		d->why[i] = arena_copy(d->run->arena, d->why[i]);
	arena_clear(&l->try_arena);
	d->tries++;
	return sent;
}

#define OLD_MS (20 * 3600 * INT64_C(1000)) /* DynamoDB keeps 24 hours */

/* One try only for a change so old that waiting would lose it. Its age is the stream's own time, which no clock can
 * move and which stands still while no server runs. */
static int tries_for(const struct delivery *d, const struct change *c)
{
	struct database *database = d->lane->runner->database;
	uint64_t sequence = 0;

	if (!database->aging)
		return d->run->now_ms - c->created_ms > OLD_MS ? 1 : SEND_TRIES;
	for (size_t i = 0; i < c->sequence.n; i++)
		sequence = sequence * 10 + (uint64_t)(c->sequence.p[i] - '0');
	return sequence <= database->aging(database) ? 1 : SEND_TRIES;
}

/* Parks changes that were refused or tried often enough; keeps the others, in order. The first `sent` of `n` have a
 * result. */
static bool sort_out(struct delivery *d, size_t sent)
{
	struct send_runner *s = d->lane->runner;
	size_t kept = 0;

	for (size_t i = 0; i < d->count; i++) {
		const struct change *c = d->list[i];

		if (i < sent && d->ends[i] == SEND_TAKEN) {
			atomic_fetch_add(&s->ledger->done, 1);
		} else if (i < sent && (d->ends[i] == SEND_REFUSED || d->tries >= tries_for(d, c))) {
			if (!park(d->lane, d->run, c, d->why[i], d->tries))
				return false;
		} else {
			d->why[kept] = i < sent ? d->why[i] : SLICE("");
			d->list[kept++] = c;
		}
	}
	d->count = kept;
	d->lane->sent = true;
	return true;
}

/* Sends until no change is left. False: interrupted. */
static bool deliver_all(struct delivery *d)
{
	struct send_runner *s = d->lane->runner;

	while (d->count) {
		size_t before = d->count, sent;

		if (runner_interrupts(s))
			return false;
		sent = try_once(d);
		if (runner_leaves(s) && sent &&
		    d->ends[0] == SEND_AGAIN) /* it may have failed only because it was interrupted */
			return false;
		if (!sort_out(d, sent))
			return false;
		if (!d->count)
			break;
		if (sent && d->count == before - sent) { /* all of them are finished: the next ones have their first try */
			d->tries = 0;
			continue;
		}
		atomic_fetch_add(&s->ledger->retries, 1);
		ledger_problem(s->ledger, d->why[0], app_now_ms(s->app));
		if (d->tries == 1)
			log_warn("processor %.*s: trying again: %.*s", SLICE_ARG(s->p->name), SLICE_ARG(d->why[0]));
		if (!wait_for(d->lane, send_backoff(d->tries, sender_retry_after(d->lane->sender))))
			return false;
	}
	return true;
}

static bool deliver(struct lane *l, struct run *r, const struct change **list, size_t n)
{
	struct delivery d = { .lane = l, .run = r, .list = list, .count = n };

	if (!n)
		return true;
	atomic_store(&l->oldest_ms, list[0]->created_ms);
	d.ends = arena_array(r->arena, enum send_end, n);
	d.why = arena_array(r->arena, struct slice, n);
	return deliver_all(&d);
}

/* ---- a page ---- */

/* Whether a change wakes the processor. If that cannot be determined, even after a while, parks it. False:
 * interrupted. */
static bool wakes(struct lane *l, struct run *r, const struct change *c, bool *out)
{
	atomic_bool unserved;
	int judged = 0;
	bool ok;

	*out = false;
	for (int asked = 1;; asked++) {
		r->problem = (struct problem){ 0 };
		atomic_init(&unserved, false);
		r->unserved = &unserved;
		ok = effect_wakes(r, l->runner->p, c, out);
		r->unserved = NULL;
		if (ok) {
			/* The deletion of an item that did not fit the design is sent all the same: the item may have
			 * fitted earlier. */
			if (*out && c->events != ON_DELETED && change_is_passed_over(r, c))
				*out = false;
			return true;
		}
		*out = false;
		judged += !atomic_load(&unserved);
		if (judged == ASKS || asked == ASKS_ALL)
			return park(l, r, c, r->problem.detail, asked);
		if (!wait_for(l, send_backoff(asked, 0)))
			return false;
	}
}

/* Older than what a replay asks for. */
static bool is_passed_over(struct lane *l, const struct change *c)
{
	if (!l->since[0])
		return false;
	if (c->created_ms < checkpoint_since_ms(slice_str(l->since)))
		return true;
	l->since[0] = 0;
	return false;
}

static bool deliver_page(struct lane *l, struct run *r)
{
	const struct change_page *page = &l->page;
	size_t most = sender_most(l->sender), n = 0;
	const struct change **list = arena_array(r->arena, const struct change *, most);

	for (size_t i = 0; i < page->count; i++) {
		const struct change *c = &page->list[i];
		bool woken = false;

		if (spot_compare(&l->done, c->sequence) >= 0)
			continue; /* done before the interruption */
		if (runner_interrupts(l->runner))
			return false;
		if (!is_passed_over(l, c) && !wakes(l, r, c, &woken))
			return false;
		if (woken)
			list[n++] = c;
		if (n && n < most && i + 1 < page->count)
			continue;
		if (!deliver(l, r, list, n))
			return false;
		n = 0;
		spot_set(&l->done, c->sequence);
		l->current_ms = c->created_ms ? c->created_ms : l->current_ms;
	}
	return true;
}

bool lane_deliver(struct lane *l, struct run *r)
{
	bool ok;

	l->passed_over = (struct passed_over){ 0 };
	r->passed_over = &l->passed_over;
	ok = deliver_page(l, r);
	r->passed_over = NULL;
	ledger_pass_over(l->runner->ledger, &l->passed_over, app_now_ms(l->runner->app));
	return ok;
}
