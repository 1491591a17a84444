/* Notes of mail to send, in the table beside the design's.
 * SPDX-License-Identifier: Apache-2.0 */
#include <openssl/rand.h>
#include <pthread.h>
#include "app/auth/mail_internal.h"
#include "app/db/beside.h"
#include "app/run/state.h"
#include "base/alloc.h"
#include "base/waker.h"

#define ID_BYTES  16
#define PUTS      3
#define CONFLICTS 4
#define MEMBERS   16
#define PAGE      256
#define KEPT_S    60 /* beyond the end of its token */

static const struct slice partition = { "MAIL", 4 };

/* ---- in this process ---- */

struct mail_post {
	pthread_mutex_t lock; /* of the waker */
	struct waker *waker;
	atomic_bool open;
	_Atomic size_t waiting; /* at the last look, and those noted here since */
};

struct mail_post *mail_post_new(void)
{
	struct mail_post *p = mem_zalloc(sizeof(*p));

	if (p)
		pthread_mutex_init(&p->lock, NULL);
	return p;
}

void mail_post_free(struct mail_post *p)
{
	if (!p)
		return;
	pthread_mutex_destroy(&p->lock);
	mem_free(p);
}

void mail_post_open(struct mail_post *p, struct waker *w)
{
	pthread_mutex_lock(&p->lock);
	p->waker = w;
	pthread_mutex_unlock(&p->lock);
	atomic_store(&p->open, true);
}

bool mail_post_is_open(const struct mail_post *p)
{
	return atomic_load(&p->open);
}

void mail_post_counted(struct mail_post *p, size_t waiting)
{
	atomic_store(&p->waiting, waiting);
}

static void wake(struct mail_post *p)
{
	pthread_mutex_lock(&p->lock);
	if (p->waker)
		waker_wake(p->waker);
	pthread_mutex_unlock(&p->lock);
}

/* ---- items ---- */

struct parts {
	struct arena *arena;
	struct value_member list[MEMBERS];
	size_t n;
};

static void add_text(struct parts *p, const char *name, struct slice s)
{
	if (s.n)
		p->list[p->n++] = (struct value_member){ slice_str(name), value_make_s(p->arena, s) };
}

static void add_number(struct parts *p, const char *name, int64_t n)
{
	p->list[p->n++] = (struct value_member){ slice_str(name), value_make_i64(p->arena, n) };
}

static struct value item_of(struct run *r, const struct mail_note *n)
{
	const struct login_mail *m = &mail_login(r->design)->mail;
	int64_t seconds = n->kind == MAIL_RESET ? m->reset_seconds : m->proof_seconds;
	struct parts p = { .arena = r->arena };

	add_text(&p, "PK", partition);
	add_text(&p, "SK", n->id);
	add_number(&p, "kind", n->kind);
	add_number(&p, "asked", n->asked_ms);
	add_number(&p, "due", n->due_ms);
	add_number(&p, "tries", n->tries);
	add_text(&p, "entity", n->entity ? n->entity->name : SLICE(""));
	add_text(&p, "by", n->by ? n->by->text : SLICE(""));
	add_text(&p, "name", n->name);
	add_text(&p, "account", n->account);
	add_text(&p, "subject", n->subject);
	add_number(&p, BESIDE_TTL, n->asked_ms / 1000 + seconds + KEPT_S);
	return value_make_map(r->arena, p.list, p.n);
}

/* The design may have changed since: then the name of whichever attribute counts. */
static void read_names(struct run *r, struct value item, struct mail_note *n)
{
	struct slice by = beside_text(item, "by");

	n->entity = design_entity(r->design, beside_text(item, "entity"));
	if (n->entity && !n->entity->login.present)
		n->entity = NULL;
	for (size_t i = 0; n->entity && i < n->entity->login.by_count; i++)
		if (slice_equal(n->entity->login.by[i], by))
			n->by = n->entity->login.by_at[i];
}

static void read_note(struct run *r, struct value item, struct mail_note *n)
{
	*n = (struct mail_note){
		.kind = beside_number(item, "kind") == MAIL_PROOF ? MAIL_PROOF : MAIL_RESET,
		.id = beside_text(item, "SK"),
		.asked_ms = beside_number(item, "asked"),
		.due_ms = beside_number(item, "due"),
		.tries = beside_number(item, "tries"),
		.claim = beside_text(item, "claim"),
		.name = beside_text(item, "name"),
		.account = beside_text(item, "account"),
		.subject = beside_text(item, "subject"),
	};
	read_names(r, item, n);
}

/* ---- from outside ---- */

static bool make_id(struct run *r, struct slice *out)
{
	uint8_t id[ID_BYTES];
	struct buf b;

	if (RAND_bytes(id, sizeof(id)) != 1)
		return run_fail(r, PROBLEM_INTERNAL, "there are no random numbers");
	buf_init(&b, r->arena);
	buf_hex(&b, slice_make(id, sizeof(id)));
	*out = buf_slice(&b);
	return true;
}

/* A put whose outcome is not known is repeated: it is the same item. */
static bool put(struct run *r, const struct mail_note *n)
{
	struct dyn_write w = { .kind = DYN_PUT, .table = beside_table(r), .item = item_of(r, n) };
	struct dyn_refusal refusal;

	for (int i = 0; i < PUTS; i++) {
		enum dyn_outcome end = dyn_write(r, &w, 1, SLICE(""), &refusal);

		if (end == DYN_DONE)
			return true;
		if (end == DYN_FAILED && !r->is_unsure)
			return false;
		r->problem = (struct problem){ 0 };
	}
	return run_busy(r);
}

bool mail_note_put(struct run *r, const struct mail_note *n)
{
	struct mail_post *p = r->app->mail;
	struct mail_note made = *n;

	if (atomic_load(&p->waiting) >= MAIL_NOTES_MOST)
		return run_busy(r);
	if (!make_id(r, &made.id))
		return false;
	made.asked_ms = made.due_ms = r->now_ms;
	if (!put(r, &made))
		return false;
	atomic_fetch_add(&p->waiting, 1);
	wake(p);
	return true;
}

bool mail_notes_read(struct run *r, struct mail_note **list, size_t *n)
{
	struct dyn_page page = { 0 };

	*list = arena_array(r->arena, struct mail_note, MAIL_NOTES_MOST);
	*n = 0;
	do {
		if (!beside_query(r, partition, PAGE, page.last, &page))
			return false;
		for (size_t i = 0; i < page.count && *n < MAIL_NOTES_MOST; i++)
			read_note(r, page.items[i], &(*list)[(*n)++]);
	} while (value_present(page.last) && *n < MAIL_NOTES_MOST);
	return true;
}

static struct value text_or_absent(struct run *r, struct slice s)
{
	return s.n ? value_make_s(r->arena, s) : VALUE_ABSENT;
}

/* L3 */
static enum dyn_outcome change(struct run *r, const struct mail_note *n, struct dyn_write *w)
{
	struct value_member same[2] = { { SLICE("tries"), value_make_i64(r->arena, n->tries) },
					{ SLICE("claim"), text_or_absent(r, n->claim) } };
	enum dyn_outcome end = DYN_CONFLICT;
	struct dyn_refusal refusal;

	w->table = beside_table(r);
	w->key = beside_key(r, partition, n->id);
	w->equal = same;
	w->equal_count = 2;
	for (int i = 0; i < CONFLICTS && end == DYN_CONFLICT; i++)
		end = dyn_write(r, w, 1, SLICE(""), &refusal);
	return end;
}

enum mail_claimed mail_note_claim(struct run *r, struct mail_note *n, struct slice claim)
{
	struct value_member set[2] = { { SLICE("claim"), value_make_s(r->arena, claim) },
				       { SLICE("tries"), value_make_i64(r->arena, n->tries + 1) } };
	struct dyn_write w = { .kind = DYN_UPDATE, .set = set, .set_count = 2 };

	switch (change(r, n, &w)) {
	case DYN_DONE: break;
	case DYN_REFUSED:
	case DYN_CONFLICT: return MAIL_TAKEN;
	default: return MAIL_FAILED;
	}
	n->claim = claim;
	n->tries++;
	return MAIL_CLAIMED;
}

/* Refused: another server has ended the claim. */
static bool is_changed(struct run *r, enum dyn_outcome end)
{
	return end == DYN_DONE || end == DYN_REFUSED || (end == DYN_FAILED ? false : run_busy(r));
}

bool mail_note_again(struct run *r, const struct mail_note *n, int64_t due_ms)
{
	struct value_member set[2] = { { SLICE("due"), value_make_i64(r->arena, due_ms) },
				       { SLICE("claim"), VALUE_ABSENT } };
	struct dyn_write w = { .kind = DYN_UPDATE, .set = set, .set_count = 2 };

	return is_changed(r, change(r, n, &w));
}

bool mail_note_done(struct run *r, const struct mail_note *n)
{
	struct dyn_write w = { .kind = DYN_DELETE };

	return is_changed(r, change(r, n, &w));
}
