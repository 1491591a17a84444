/* A backend that knows some items, guesses others, and records which ones it guessed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/rehearse.h"
#include "app/db/dyn.h"
#include "app/run/state.h"
#include "base/clock.h"
#include "base/map.h"
#include "request/document.h"

#define REHEARSALS 16 /* after these, each item is read on demand */

/* A read of more than one item: usually a Query. */
struct question {
	struct slice text; /* identifies the request */
	struct request request;
	struct value page; /* guess_page_name() */
	bool was_guessed;  /* what it returns */
};

struct answer {
	struct reply reply;
	struct value page;
	bool is_learned;
};

struct rehearsal {
	struct backend backend;
	struct run run; /* of the remote backend */
	struct guesses *guesses;
	struct map known;    /* bytes of a key -> struct value, as read for this request */
	struct map answered; /* text of a Query -> struct answer: each is sent once, however often the request runs */
	struct map wanted;   /* bytes of a key -> itself: guessed in this rehearsal */
	struct map asked;    /* text of a question -> struct question: sent at the end of this rehearsal */
	struct arena *arena; /* of this run */
	bool writes;         /* rehearse_begin() */
	int rehearsals;
	int64_t begun_ms;
	unsigned trips;   /* round trips, one after the other */
	int together;     /* nesting depth of backend_together() */
	bool is_final;    /* no more guesses, and nothing is known */
	bool is_noted;    /* after backend_aside(), or after many rehearsals: no more guesses */
	bool was_assumed; /* this rehearsal assumed that a note had been made */
	bool is_complete; /* the previous rehearsal needed no more reads */
	bool was_ended;   /* by end(), not because memory ran out */
	bool was_blind;   /* an unknown item was taken as absent */
	bool was_empty;   /* a question without a guess was taken to find nothing */
	bool was_reached; /* it reached an effect that cannot be undone: exploring has found everything */
};

static bool is_guess(const struct rehearsal *h)
{
	return h->wanted.n || h->asked.n || h->was_assumed;
}

static void end(struct rehearsal *h)
{
	h->was_ended = true;
	arena_out_of_memory(h->arena);
}

/* The request is about to do something that cannot be undone. */
static void end_if_guessed(struct rehearsal *h)
{
	h->was_reached = true;
	if (is_guess(h))
		end(h);
}

static struct answer *keep_answer(struct rehearsal *h, struct slice question, struct value page)
{
	struct answer *answer = arena_zalloc(h->run.arena, sizeof(*answer));

	answer->page = page;
	map_set(&h->answered, question, answer);
	return answer;
}

/* Remembers a question, to send it together with the wanted items. Its request stays in the arena of this run until
 * then. Only the first page is asked for: whether more is needed depends on guesses. */
static void ask_later(struct rehearsal *h, const struct question *question)
{
	const struct request *q = &question->request;
	struct question *x = arena_new(h->run.arena, struct question);

	if (q->kind == REQUEST_QUERY && value_present(q->query.start) && h->wanted.n)
		return;
	*x = *question;
	map_set(&h->asked, x->text, x);
}

/* Continues with the rows of the last time, so that the items they lead to are read together with it. */
static bool guess_answer(struct rehearsal *h, struct question *x, struct reply *reply)
{
	if (h->is_noted || !value_present(x->page) || !guess_page(h->guesses, h->run.arena, x->page, reply))
		return false;
	x->was_guessed = true;
	ask_later(h, x);
	return true;
}

/* The reply outlives this rehearsal, as known items do. If other reads are to be sent with it, the request continues
 * as if nothing had been found. */
static void answer_once(struct rehearsal *h, const struct request *q, struct reply *reply)
{
	struct slice body = request_document(h->run.arena, q);
	struct question x = { .request = *q };
	struct answer *answer;

	x.text = arena_printf(h->run.arena, "%s %.*s", request_operation(q), SLICE_ARG(body));
	answer = map_get(&h->answered, x.text);
	if (!answer) {
		x.page = guess_page_name(h->run.arena, q);
		if (guess_answer(h, &x, reply))
			return;
	}
	if (!answer && (is_guess(h) || (h->together && !h->is_noted))) {
		h->was_empty = true;
		ask_later(h, &x);
		if (!h->together)
			end(h);
		*reply = (struct reply){ .status = 200 };
		return;
	}
	if (!answer) {
		answer = keep_answer(h, x.text, x.page);
		h->trips++;
		backend_execute(h->run.backend, h->run.arena, q, &answer->reply);
	}
	*reply = answer->reply;
}

static void together(struct backend *b, bool begins)
{
	struct rehearsal *h = (struct rehearsal *)b;

	h->together += begins ? 1 : -1;
	if (!h->together && h->asked.n && h->was_empty)
		end(h);
}

static void call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		 struct backend_reply *reply)
{
	struct rehearsal *h = (struct rehearsal *)b;

	end_if_guessed(h);
	h->is_final = true;
	backend_call(h->run.backend, a, operation, body, reply);
}

static void settle(struct backend *b)
{
	struct rehearsal *h = (struct rehearsal *)b;

	end_if_guessed(h);
	h->is_final = true;
}

static void label(struct backend *b, struct slice text)
{
	backend_label(((struct rehearsal *)b)->run.backend, text);
}

static void want(struct rehearsal *h, struct value key)
{
	struct value *copy;

	if (map_get(&h->wanted, value_slice(key)))
		return;
	copy = arena_new(h->run.arena, struct value);
	*copy = value_copy(h->run.arena, key);
	map_set(&h->wanted, value_slice(*copy), copy);
}

/* False: unknown; it must be read. */
static bool know(struct rehearsal *h, struct arena *a, struct value key, struct value *item)
{
	const struct value *known;
	bool is_seen;

	if (h->is_final)
		return false;
	known = map_get(&h->known, value_slice(key));
	if (known) {
		*item = *known;
		return true;
	}
	if (h->is_noted)
		return false;
	want(h, key);
	*item = guess_item(h->guesses, a, key, &is_seen);
	h->was_blind = h->was_blind || !is_seen;
	if (!value_present(*item) && h->backend.explores)
		*item = key;
	return true;
}
static bool know_get(struct rehearsal *h, struct arena *a, const struct request_get *q, struct reply *reply)
{
	return slice_equal(q->table, h->run.design->table) && !q->projection && know(h, a, q->key, &reply->item);
}

static bool know_batch(struct rehearsal *h, struct arena *a, const struct request_batch *q, struct reply *reply)
{
	if (!slice_equal(q->table, h->run.design->table) || h->is_final)
		return false;
	reply->items = arena_array(a, struct value, q->count);
	for (size_t i = 0; i < q->count; i++) {
		if (!know(h, a, q->keys[i], &reply->items[i]))
			return false;
		reply->count += value_present(reply->items[i]);
	}
	return true;
}

/* Measured reads must really be executed. */
static bool is_known(struct rehearsal *h, struct arena *a, const struct request *q, struct reply *reply)
{
	*reply = (struct reply){ .status = 200 };
	if (q->measured)
		return false;
	return q->kind == REQUEST_GET ? know_get(h, a, &q->get, reply)
				      : q->kind == REQUEST_BATCH_GET && know_batch(h, a, &q->batch, reply);
}

/* The written item is the best guess for the next request. After an update, it is the item as read before. */
static void learn_written(struct rehearsal *h, const struct request_write *w)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct request_action *a = &w->actions[i];

		if (!slice_equal(a->table, h->run.design->table))
			continue;
		if (a->kind == WRITE_PUT)
			guess_learn(h->guesses, dyn_key_of(&h->run, a->item), a->item);
		if (a->kind == WRITE_DELETE)
			guess_learn(h->guesses, a->key, VALUE_ABSENT);
	}
}

static void execute(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	struct rehearsal *h = (struct rehearsal *)b;

	if (is_known(h, a, q, reply))
		return;
	if (!h->is_final && request_is_read(q) && q->kind != REQUEST_RECORDS) {
		answer_once(h, q, reply);
		return;
	}
	end_if_guessed(h);
	/* A write makes known items stale; if it was refused, an item read for it has changed. */
	h->is_final = h->is_final || !request_is_read(q);
	h->trips++;
	backend_execute(h->run.backend, a, q, reply);
	if (q->kind == REQUEST_WRITE && reply->status == 200)
		learn_written(h, &q->write);
}

static void execute_all(struct backend *b, struct arena *a, const struct request *q, struct reply *replies, size_t n)
{
	struct rehearsal *h = (struct rehearsal *)b;

	if (h->is_final) {
		backend_execute_all(h->run.backend, a, q, replies, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		execute(b, a, &q[i], &replies[i]);
}

static struct backend *aside(struct backend *b)
{
	struct rehearsal *h = (struct rehearsal *)b;

	if (!h->is_final && !h->is_noted && (h->wanted.n || h->asked.n || !h->is_complete)) {
		h->was_assumed = true;
		return NULL;
	}
	h->is_noted = true;
	return h->run.backend;
}

struct rehearsal *rehearse_begin(const struct run *r, struct guesses *g, bool writes)
{
	struct rehearsal *h = arena_zalloc(r->arena, sizeof(*h));

	h->backend = (struct backend){ .call = call,
				       .execute = execute,
				       .execute_all = execute_all,
				       .label = label,
				       .together = together,
				       .settle = settle,
				       .aside = aside };
	h->run = *r;
	h->guesses = g;
	h->writes = writes;
	h->begun_ms = r->app ? clock_steady_ms(r->app->clock) : 0;
	map_init(&h->known, r->arena);
	map_init(&h->answered, r->arena);
	return h;
}

struct backend *rehearse_backend(struct rehearsal *h)
{
	return &h->backend;
}

unsigned rehearse_trips(const struct backend *b)
{
	return b->execute == execute ? ((const struct rehearsal *)b)->trips : 0;
}

int64_t rehearse_begun_ms(const struct backend *b)
{
	return b->execute == execute ? ((const struct rehearsal *)b)->begun_ms : 0;
}

void rehearse_next(struct rehearsal *h, struct arena *a)
{
	if (!h->backend.explores) { /* exploring adds to the wanted items */
		map_init(&h->wanted, h->run.arena);
		map_init(&h->asked, h->run.arena);
	}
	h->arena = a;
	h->together = 0;
	h->was_ended = h->was_assumed = h->was_blind = h->was_empty = h->was_reached = h->is_final = false;
	h->is_noted = h->rehearsals >= REHEARSALS;
}

static void learn(struct rehearsal *h, struct value key, struct value found)
{
	struct value *item = arena_new(h->run.arena, struct value);

	*item = found;
	map_set(&h->known, value_slice(key), item);
	guess_learn(h->guesses, key, found);
}

/* Reads guessed items if nothing else is sent with them, or unprocessed ones. A failed read is repeated on demand,
 * and reports its problem then. */
static void read_items(struct rehearsal *h, const struct value *keys, size_t n)
{
	struct run r = h->run;
	struct value *items = arena_array(r.arena, struct value, n);

	h->trips++;
	if (!dyn_batch_get(&r, keys, n, true, items)) {
		h->rehearsals = REHEARSALS;
		return;
	}
	for (size_t i = 0; i < n; i++)
		learn(h, keys[i], items[i]);
}

static void take_items(struct rehearsal *h, const struct request_batch *q, const struct reply *reply)
{
	struct value *left = arena_array(h->run.arena, struct value, q->count);
	size_t n = 0;

	for (size_t i = 0; i < q->count; i++)
		if (reply->status != 200 || (reply->left && reply->left[i]))
			left[n++] = q->keys[i];
		else
			learn(h, q->keys[i], reply->items[i]);
	if (n)
		read_items(h, left, n);
}

/* ---- pages ---- */

static void learn_page(struct rehearsal *h, struct answer *x)
{
	if (value_present(x->page) && !x->is_learned && x->reply.status == 200)
		guess_learn_page(h->guesses, h->run.arena, x->page, &x->reply);
	x->is_learned = true;
}

/* Items are wanted after these answers, so the next time they are worth a guess. */
static void learn_pages(struct rehearsal *h)
{
	for (size_t i = 0; i < h->answered.n; i++)
		learn_page(h, h->answered.entries[i].value);
}

/* Everything that was guessed or is asked, at once. */
static void read_all(struct rehearsal *h, const struct value *keys, size_t n)
{
	struct request *q = arena_array(h->run.arena, struct request, h->asked.n + 1);
	struct reply *replies = arena_array(h->run.arena, struct reply, h->asked.n + 1);
	size_t first = n > 0;

	q[0] = (struct request){ .kind = REQUEST_BATCH_GET,
				 .batch = {
					 .table = h->run.design->table, .keys = keys, .count = n, .consistent = true } };
	for (size_t i = 0; i < h->asked.n; i++)
		q[first + i] = ((const struct question *)h->asked.entries[i].value)->request;
	h->trips++;
	backend_execute_all(h->run.backend, h->run.arena, q, replies, first + h->asked.n);
	for (size_t i = 0; i < h->asked.n; i++) {
		const struct question *x = h->asked.entries[i].value;
		struct answer *answer = keep_answer(h, x->text, x->page);

		answer->reply = replies[first + i];
		if (x->was_guessed)
			learn_page(h, answer);
	}
	if (n)
		take_items(h, &q[0].batch, &replies[0]);
}

static void read_wanted(struct rehearsal *h)
{
	size_t n = h->wanted.n;
	struct value *keys = arena_array(h->run.arena, struct value, n);

	for (size_t i = 0; i < n; i++)
		keys[i] = *(const struct value *)h->wanted.entries[i].value;
	if (n)
		learn_pages(h);
	if (n > REQUEST_KEYS_MOST || !h->asked.n) {
		read_items(h, keys, n);
		n = 0;
	}
	if (h->asked.n)
		read_all(h, keys, n);
}

/* Whether exploring may find more: the run stopped at an unknown item, or it is meant to write and would be refused. */
static bool is_to_explore(const struct rehearsal *h)
{
	return (h->was_blind || h->writes) && !h->was_reached && !h->backend.explores;
}

bool rehearse_counts(struct rehearsal *h)
{
	if (!is_guess(h))
		return true;
	h->backend.explores = is_to_explore(h);
	if (h->backend.explores)
		return false;
	h->rehearsals++;
	h->is_complete = !h->wanted.n && !h->asked.n;
	if (!h->is_complete)
		read_wanted(h);
	return false;
}

/* ---- a part of a request ---- */

static void release_arena(void *arena)
{
	arena_release(arena);
}

bool rehearse_reads(struct run *r, struct guesses *g, rehearse_part *fn, void *ctx)
{
	struct rehearsal *h = rehearse_begin(r, g, false);
	struct arena *own = arena_new(r->arena, struct arena);
	struct run *part = arena_new(r->arena, struct run);
	volatile bool ok = false, ended;

	arena_init(own);
	arena_defer(r->arena, release_arena, own);
	do {
		ended = false;
		*part = *r;
		part->backend = rehearse_backend(h);
		part->arena = own;
		part->memo = NULL;
		if (!part->backend->explores)
			arena_clear(own);
		rehearse_next(h, own);
		ARENA_TRY(own, { ok = fn(part, ctx); }, { ended = true; });
	} while (!rehearse_counts(h));
	if (ended)
		arena_out_of_memory(r->arena);
	if (!ok)
		r->problem = part->problem;
	return ok;
}
