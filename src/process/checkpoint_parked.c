/* Changes that were put aside.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/checkpoint_table.h"
#include "app/db/beside.h"

/* An item has 400 KB, and a change two items. */
#define IMAGES_MOST (380 * 1000)

static struct value parked_key(struct run *r, struct slice processor, struct slice sequence)
{
	return checkpoint_key(r, "PARKED", processor, sequence);
}

struct dyn_write *checkpoint_park(struct run *r, const struct parked *p)
{
	struct dyn_write *w = arena_new(r->arena, struct dyn_write);
	const struct change *c = &p->change;
	bool cut = p->cut || value_size(c->old_image) + value_size(c->new_image) + p->progress.n > IMAGES_MOST;
	struct checkpoint_item i;

	checkpoint_item_init(&i, r, parked_key(r, p->processor, p->sequence));
	checkpoint_add_text(&i, "shard", p->shard);
	checkpoint_add_text(&i, "reason", p->reason);
	checkpoint_add_text(&i, "progress", p->progress);
	checkpoint_add(&i, "tries", value_make_i64(r->arena, p->tries));
	checkpoint_add_time(&i, "parked_at", p->parked_at_ms);
	checkpoint_add_text(&i, "event", slice_str(event_word(c->events)));
	checkpoint_add(&i, "by_ttl", value_make_bool(r->arena, c->by_ttl));
	checkpoint_add_time(&i, "created", c->created_ms);
	checkpoint_add(&i, "key", c->key);
	checkpoint_add(&i, "cut", value_make_bool(r->arena, cut));
	checkpoint_add(&i, "old", cut ? VALUE_ABSENT : c->old_image);
	checkpoint_add(&i, "new", cut ? VALUE_ABSENT : c->new_image);
	w->kind = DYN_PUT;
	w->table = checkpoint_table(r);
	w->item = checkpoint_item_made(&i);
	return w;
}

static void read_parked(struct run *r, struct slice processor, struct value item, struct parked *p)
{
	struct change *c = &p->change;

	*p = (struct parked){ .processor = processor };
	p->sequence = c->sequence = beside_text(item, "SK");
	p->shard = beside_text(item, "shard");
	p->reason = beside_text(item, "reason");
	p->progress = beside_text(item, "progress");
	p->tries = beside_number(item, "tries");
	p->parked_at_ms = checkpoint_time(item, "parked_at");
	p->cut = checkpoint_bool(item, "cut");
	c->events = event_named(beside_text(item, "event"));
	c->by_ttl = checkpoint_bool(item, "by_ttl");
	c->created_ms = checkpoint_time(item, "created");
	c->key = value_get(item, SLICE("key"));
	c->old_image = value_get(item, SLICE("old"));
	c->new_image = value_get(item, SLICE("new"));
	change_lay(r, c);
}

bool checkpoint_parked(struct run *r, struct slice processor, struct slice after, int limit, struct parked_page *out)
{
	struct value key = parked_key(r, processor, after.n ? after : SLICE("-"));
	struct dyn_page page;

	if (!checkpoint_query(r, key, after.n > 0, limit, &page))
		return false;
	*out = (struct parked_page){ .list = arena_array(r->arena, struct parked, page.count), .count = page.count };
	for (size_t i = 0; i < page.count; i++)
		read_parked(r, processor, page.items[i], &out->list[i]);
	if (value_present(page.last) && out->count)
		out->next = out->list[out->count - 1].sequence;
	return true;
}

bool checkpoint_parked_count(struct run *r, struct slice processor, int64_t *out)
{
	return checkpoint_count(r, parked_key(r, processor, SLICE("-")), out);
}

bool checkpoint_parked_one(struct run *r, struct slice processor, struct slice sequence, struct parked *out)
{
	struct value item;

	/* No key is longer, and none is empty. */
	if (!sequence.n || sequence.n > 128)
		return run_fail(r, PROBLEM_NOT_FOUND, "there is no such change among the parked ones");
	if (!checkpoint_get(r, parked_key(r, processor, sequence), &item))
		return false;
	if (!value_present(item))
		return run_fail(r, PROBLEM_NOT_FOUND, "there is no such change among the parked ones");
	read_parked(r, processor, item, out);
	return true;
}

bool checkpoint_unpark(struct run *r, struct slice processor, struct slice sequence)
{
	struct dyn_write w = { .kind = DYN_DELETE,
			       .table = checkpoint_table(r),
			       .key = parked_key(r, processor, sequence) };

	return checkpoint_write(r, &w, 1);
}
