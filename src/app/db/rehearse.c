/* A backend that knows some items, guesses others, and takes note of those.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/rehearse.h"
#include "app/db/dyn.h"
#include "base/map.h"
#include "request/document.h"

#define REHEARSALS 16 /* then each item is read when it is wanted */

/* A read that is no item's: a Query mostly. */
struct question {
	struct slice text; /* what it is told apart by */
	struct request request;
};

struct rehearsal {
	struct backend backend;
	struct run run; /* far away */
	struct guesses *guesses;
	struct map known;    /* bytes of a key -> struct value, as it is */
	struct map answered; /* a read that is no item's -> struct reply: asked once, however often the request runs */
	struct map wanted;   /* bytes of a key -> itself: guessed in this rehearsal */
	struct map asked;    /* text of a question -> struct question: waits for the end of this rehearsal */
	struct arena *arena; /* of this time */
	int rehearsals;
	int together;     /* how deep in backend_together() */
	bool is_final;    /* nothing is guessed any more, and nothing is known */
	bool is_noted;    /* backend_aside() was used, or there were many rehearsals: nothing is guessed any more */
	bool was_assumed; /* in this rehearsal something was taken for noted */
	bool is_complete; /* the rehearsal before wanted nothing */
	bool was_ended;   /* by rehearse_end(), not by memory */
};

static struct slice bytes_of(struct value v)
{
	return slice_make(v.p, v.n);
}

static bool is_guess(const struct rehearsal *h)
{
	return h->wanted.n || h->asked.n || h->was_assumed;
}

static void end(struct rehearsal *h)
{
	h->was_ended = true;
	arena_out_of_memory(h->arena);
}

/* It would do something that cannot be taken back, or ask what is not known. */
static void end_if_guessed(struct rehearsal *h)
{
	if (is_guess(h))
		end(h);
}

static struct reply *keep_answer(struct rehearsal *h, struct slice question)
{
	struct reply *answer = arena_new(h->run.arena, struct reply);

	map_set(&h->answered, question, answer);
	return answer;
}

/* To be asked with all that is wanted. What the request is made of is in the arena of this time, and there until then. */
static void ask_later(struct rehearsal *h, struct slice text, const struct request *q)
{
	struct question *x = arena_new(h->run.arena, struct question);

	*x = (struct question){ .text = text, .request = *q };
	map_set(&h->asked, text, x);
}

/* The reply outlives this time, as what is known of items does. Where other reads are to go out with it the request goes on as if
 * nothing had been found. */
static void answer_once(struct rehearsal *h, const struct request *q, struct reply *reply)
{
	struct slice body = request_document(h->run.arena, q);
	struct slice question = arena_printf(h->run.arena, "%s %.*s", request_operation(q), SLICE_ARG(body));
	struct reply *answer = map_get(&h->answered, question);

	if (!answer && (is_guess(h) || (h->together && !h->is_noted))) {
		ask_later(h, question, q);
		if (!h->together)
			end(h);
		*reply = (struct reply){ .status = 200 };
		return;
	}
	if (!answer) {
		answer = keep_answer(h, question);
		backend_execute(h->run.backend, h->run.arena, q, answer);
	}
	*reply = *answer;
}

static void together(struct backend *b, bool begins)
{
	struct rehearsal *h = (struct rehearsal *)b;

	h->together += begins ? 1 : -1;
	if (!h->together && h->asked.n)
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

/* False: it is to be read. */
static bool know(struct rehearsal *h, struct arena *a, struct value key, struct value *item)
{
	const struct value *known;

	if (h->is_final)
		return false;
	known = map_get(&h->known, bytes_of(key));
	if (known) {
		*item = *known;
		return true;
	}
	if (h->is_noted)
		return false;
	if (!map_get(&h->wanted, bytes_of(key))) {
		struct value *copy = arena_new(h->run.arena, struct value);

		*copy = value_copy(h->run.arena, key);
		map_set(&h->wanted, bytes_of(*copy), copy);
	}
	*item = guess_item(h->guesses, a, key);
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

/* What is measured is to be really done. */
static bool is_known(struct rehearsal *h, struct arena *a, const struct request *q, struct reply *reply)
{
	*reply = (struct reply){ .status = 200 };
	if (q->measured)
		return false;
	return q->kind == REQUEST_GET ? know_get(h, a, &q->get, reply)
				      : q->kind == REQUEST_BATCH_GET && know_batch(h, a, &q->batch, reply);
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
	/* Writes make old what is known; and what has been read for a write that was refused has changed. */
	h->is_final = h->is_final || !request_is_read(q);
	backend_execute(h->run.backend, a, q, reply);
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

struct rehearsal *rehearse_begin(const struct run *r, struct guesses *g)
{
	struct rehearsal *h = arena_zalloc(r->arena, sizeof(*h));

	h->backend = (struct backend){
		.call = call, .execute = execute, .label = label, .together = together, .settle = settle, .aside = aside
	};
	h->run = *r;
	h->guesses = g;
	map_init(&h->known, r->arena);
	map_init(&h->answered, r->arena);
	return h;
}

struct backend *rehearse_backend(struct rehearsal *h)
{
	return &h->backend;
}

void rehearse_next(struct rehearsal *h, struct arena *a)
{
	map_init(&h->wanted, h->run.arena);
	map_init(&h->asked, h->run.arena);
	h->arena = a;
	h->together = 0;
	h->was_ended = h->was_assumed = h->is_final = false;
	h->is_noted = h->rehearsals >= REHEARSALS;
}

static void learn(struct rehearsal *h, struct value key, struct value found)
{
	struct value *item = arena_new(h->run.arena, struct value);

	*item = found;
	map_set(&h->known, bytes_of(key), item);
	guess_learn(h->guesses, key, found);
}

/* Items that were guessed, when nothing else is asked with them; or those that the database has left. What cannot be read so is read
 * when it is wanted, and its problem told then. */
static void read_items(struct rehearsal *h, const struct value *keys, size_t n)
{
	struct run r = h->run;
	struct value *items = arena_array(r.arena, struct value, n);

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
	backend_execute_all(h->run.backend, h->run.arena, q, replies, first + h->asked.n);
	for (size_t i = 0; i < h->asked.n; i++)
		*keep_answer(h, ((const struct question *)h->asked.entries[i].value)->text) = replies[first + i];
	if (n)
		take_items(h, &q[0].batch, &replies[0]);
}

static void read_wanted(struct rehearsal *h)
{
	size_t n = h->wanted.n;
	struct value *keys = arena_array(h->run.arena, struct value, n);

	for (size_t i = 0; i < n; i++)
		keys[i] = *(const struct value *)h->wanted.entries[i].value;
	if (n > REQUEST_KEYS_MOST || !h->asked.n) {
		read_items(h, keys, n);
		n = 0;
	}
	if (h->asked.n)
		read_all(h, keys, n);
}

bool rehearse_counts(struct rehearsal *h)
{
	if (!is_guess(h))
		return true;
	h->rehearsals++;
	h->is_complete = !h->wanted.n && !h->asked.n;
	if (!h->is_complete)
		read_wanted(h);
	return false;
}
