/* Items that a run has read, so that a rule asked of a hundred rows reads another item once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/dyn.h"
#include "app/entity.h"
#include "base/map.h"

struct memo {
	struct map items; /* bytes of the key -> struct seen */
};

struct seen {
	bool stale;              /* changed since */
	struct value stored;     /* absent: there is nothing */
	struct entity_item item; /* its entity NULL: there is nothing, or no item of an entity */
};

static struct slice bytes_of(struct value key)
{
	return slice_make(key.p, key.n);
}

static struct seen *seen_of(struct run *r, struct value key)
{
	return r->memo ? map_get(&r->memo->items, bytes_of(key)) : NULL;
}

static struct seen *remember(struct run *r, struct value key)
{
	struct seen *s = seen_of(r, key);

	if (!r->memo) {
		r->memo = arena_new(r->arena, struct memo);
		map_init(&r->memo->items, r->arena);
	}
	if (!s) {
		s = arena_new(r->arena, struct seen);
		map_set(&r->memo->items, bytes_of(value_copy(r->arena, key)), s);
	}
	*s = (struct seen){ 0 };
	return s;
}

void entity_forget(struct run *r, struct value key)
{
	struct seen *s = seen_of(r, key);

	if (s)
		s->stale = true;
}

static const struct seen *see(struct run *r, const struct entity *e, struct value key, bool fresh)
{
	struct seen *s = seen_of(r, key);
	struct value stored;

	if (s && !s->stale && !fresh)
		return s;
	if (!dyn_get(r, key, true, &stored))
		return NULL;
	s = remember(r, key);
	s->stored = stored;
	if (value_present(stored))
		s->item = entity_recognise(r, stored, e);
	return s;
}

static bool fetch(struct run *r, const struct entity *e, struct value key, bool fresh, struct entity_item *out)
{
	const struct seen *s = see(r, e, key, fresh);

	*out = (struct entity_item){ 0 };
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
	if (s->item.entity == e)
		out->item = s->item;
	return true;
}

bool entity_look(struct run *r, const struct entity *e, const struct value *args, size_t n, struct entity_look *out)
{
	struct value key;

	*out = (struct entity_look){ 0 };
	return entity_locate(r, e, args, n, &key) && entity_look_at(r, e, key, false, out);
}

bool entity_fetch_key(struct run *r, const struct entity *e, struct value key, bool fresh, struct value *full)
{
	struct entity_item item;
	bool ok = fetch(r, e, key, fresh, &item);

	*full = item.full;
	return ok;
}

bool entity_fetch_item(struct run *r, const struct entity *e, const struct value *args, size_t n, bool fresh,
		       struct entity_item *out)
{
	struct value key;

	*out = (struct entity_item){ 0 };
	if (!entity_locate(r, e, args, n, &key))
		return false;
	if (value_present(key) && !fetch(r, e, key, fresh, out))
		return false;
	if (out->entity && !entity_is_at(r, e, out->full, args, n))
		*out = (struct entity_item){ 0 };
	return true;
}
