/* Items that a run has read, so that a rule evaluated for a hundred rows reads another item once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"
#include "app/entity/entity_key.h"
#include "app/entity/renamed.h"
#include "base/map.h"

#define ASKED_MOST  8
#define PLACES_MOST 8

/* A remembered identity and its item, so that the key is computed once, too. */
struct asked {
	const struct entity *entity; /* NULL: a free place */
	const struct value *args;
	const struct seen *seen;
	bool is_at; /* the item has that identity */
};

/* A remembered identity and its key. A write locates the same few items repeatedly: copies, rules, counts,
 * requirements. */
struct located {
	const struct entity *entity;
	const struct value *args;
	struct value key;
};

struct memo {
	struct map items; /* bytes of the key -> struct seen */
	struct asked asked[ASKED_MOST];
	size_t next; /* the entry to replace next */
	struct located places[PLACES_MOST];
	size_t place_count; /* added so far; the table has the latest ones */
};

struct seen {
	bool promised;       /* the write makes it so */
	bool unread;         /* `item` is still to be made from `stored` */
	struct value stored; /* absent: there is nothing */
	struct row item;     /* its entity NULL: there is nothing, or no item of an entity */
};

static struct seen *seen_of(struct run *r, struct value key)
{
	return r->memo ? map_get(&r->memo->items, value_slice(key)) : NULL;
}

/* Forgets whether the item has the identity: it is being read again. */
static void forget_asked(struct memo *m, const struct seen *s)
{
	for (size_t i = 0; i < ASKED_MOST; i++)
		if (m->asked[i].seen == s)
			m->asked[i] = (struct asked){ 0 };
}

static struct memo *memo_of(struct run *r)
{
	if (!r->memo) {
		r->memo = arena_new(r->arena, struct memo);
		map_init(&r->memo->items, r->arena);
	}
	return r->memo;
}

static struct seen *remember(struct run *r, struct value key)
{
	struct memo *m = memo_of(r);
	struct seen *s = seen_of(r, key);

	if (s) {
		forget_asked(m, s);
	} else {
		s = arena_new(r->arena, struct seen);
		map_set(&m->items, value_slice(value_copy(r->arena, key)), s);
	}
	*s = (struct seen){ 0 };
	return s;
}

bool entity_seen(struct run *r, struct value key, struct value *stored)
{
	const struct seen *s = seen_of(r, key);

	if (!s)
		return false;
	*stored = s->stored;
	return true;
}

/* While a request explores (run_explores()), an unknown item consists of its key alone. */
static bool is_explored(const struct run *r, struct value stored)
{
	return run_explores(r) &&
	       value_count(stored) == (size_t)r->design->key.hash_count + (size_t)r->design->key.range_count;
}

static struct seen *keep_stored(struct run *r, struct value key, struct value stored)
{
	struct seen *s = remember(r, key);

	s->stored = stored;
	s->unread = value_present(stored);
	return s;
}

void entity_foresee(struct run *r, struct value key, struct value stored)
{
	(void)keep_stored(r, key, stored);
}

void entity_promise(struct run *r, struct value key, struct value stored)
{
	keep_stored(r, key, stored)->promised = true;
}

static const struct seen *see(struct run *r, const struct entity *e, struct value key, bool fresh)
{
	struct seen *s = seen_of(r, key);
	struct value stored;

	if (!s || (fresh && !s->promised)) {
		if (!dyn_get(r, key, true, &stored))
			return NULL;
		s = keep_stored(r, key, stored);
	}
	if (s->unread)
		s->item = is_explored(r, s->stored) ? entity_lay(r, e, s->stored) : entity_recognise(r, s->stored, e);
	s->unread = false;
	return s;
}

static bool fetch(struct run *r, const struct entity *e, struct value key, bool fresh, struct row *out)
{
	const struct seen *s = see(r, e, key, fresh);

	*out = (struct row){ 0 };
	if (s && s->item.entity == e)
		*out = s->item;
	return s != NULL;
}

bool entity_look_at(struct run *r, const struct entity *e, struct value key, bool fresh, struct entity_look *out)
{
	const struct seen *s = value_present(key) ? see(r, e, key, fresh) : NULL;

	*out = (struct entity_look){ .key = key };
	if (!s)
		return !value_present(key);
	out->stored = s->stored;
	out->promised = s->promised;
	if (s->item.entity == e)
		out->item = s->item;
	return true;
}

static void tell_identity(struct run *r, struct row *item, const struct value *args, size_t n)
{
	struct row copy;

	row_copy(&copy, r->arena, item);
	for (size_t i = 0; i < n; i++)
		if (!row_has(&copy, item->entity->param_at[i]))
			row_set(&copy, item->entity->param_at[i], args[i]);
	*item = row_lay(r->arena, item->entity, row_item(&copy));
}

bool entity_look(struct run *r, const struct entity *e, const struct value *args, size_t n, struct entity_look *out)
{
	struct value key;

	*out = (struct entity_look){ 0 };
	if (r->renames)
		args = renamed_now(r, e, args, n);
	if (!entity_locate(r, e, args, n, &key) || !entity_look_at(r, e, key, false, out))
		return false;
	if (out->item.entity && !entity_is_at(r, &out->item, args, n))
		out->item = (struct row){ 0 };
	if (out->item.entity && is_explored(r, out->stored))
		tell_identity(r, &out->item, args, n);
	return true;
}

bool entity_fetch_key(struct run *r, const struct entity *e, struct value key, bool fresh, struct value *full)
{
	struct row item;
	bool ok = fetch(r, e, key, fresh, &item);

	*full = item.full;
	return ok;
}

/* ---- by identity ---- */

static const struct value *copied(struct run *r, const struct value *args, size_t n)
{
	struct value *copy = arena_array(r->arena, struct value, n);

	for (size_t i = 0; i < n; i++)
		copy[i] = value_copy(r->arena, args[i]);
	return copy;
}

const struct value *memo_place(const struct run *r, const struct entity *e, const struct value *args)
{
	for (size_t i = 0; r->memo && i < PLACES_MOST && i < r->memo->place_count; i++) {
		const struct located *p = &r->memo->places[i];

		if (p->entity == e && values_equal(p->args, args, e->param_count))
			return &p->key;
	}
	return NULL;
}

void memo_keep_place(struct run *r, const struct entity *e, const struct value *args, struct value key)
{
	struct memo *m = memo_of(r);

	m->places[m->place_count++ % PLACES_MOST] =
		(struct located){ .entity = e, .args = copied(r, args, e->param_count), .key = key };
}

static const struct asked *asked_before(struct run *r, const struct entity *e, const struct value *args, size_t n)
{
	for (size_t i = 0; r->memo && i < ASKED_MOST; i++) {
		const struct asked *k = &r->memo->asked[i];

		if (k->entity == e && values_equal(k->args, args, n))
			return k;
	}
	return NULL;
}

/* Not for entities with `found by`: the next search may find another item. */
static void remember_asked(struct run *r, const struct entity *e, const struct value *args, size_t n,
			   const struct seen *seen, bool is_at)
{
	if (e->found_by.n)
		return;
	r->memo->asked[r->memo->next] =
		(struct asked){ .entity = e, .args = copied(r, args, n), .seen = seen, .is_at = is_at };
	r->memo->next = (r->memo->next + 1) % ASKED_MOST;
}

bool entity_fetch(struct run *r, const struct entity *e, const struct value *args, size_t n, bool fresh, struct row *out)
{
	const struct asked *before;
	const struct seen *s;
	struct value key;
	bool is_at;

	*out = (struct row){ 0 };
	if (r->renames)
		args = renamed_now(r, e, args, n);
	before = fresh ? NULL : asked_before(r, e, args, n);
	if (before) {
		if (before->is_at)
			*out = before->seen->item;
		return true;
	}
	if (!entity_locate(r, e, args, n, &key))
		return false;
	if (!value_present(key))
		return true;
	s = see(r, e, key, fresh);
	if (!s)
		return false;
	is_at = s->item.entity == e && entity_is_at(r, &s->item, args, n);
	if (is_at)
		*out = s->item;
	if (is_at && is_explored(r, s->stored))
		tell_identity(r, out, args, n);
	remember_asked(r, e, args, n, s, is_at);
	return true;
}
