/* Records as changes of a design.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/tail/change.h"

#include "app/write/joined.h"
#include "app/write/renaming/renaming.h"
#include "app/run/passed_over.h"

/* Whether something only joined the item (app/write/joined.h), or it was marked for a rename (app/write/renaming/renaming.h):
 * then the change concerns no processor. */
static bool is_only_joined(struct run *r, struct change *c)
{
	struct value old = renaming_hidden(r->arena, joined_hidden(r->arena, c->old_image));
	struct value now = renaming_hidden(r->arena, joined_hidden(r->arena, c->new_image));
	bool only = (old.p != c->old_image.p || now.p != c->new_image.p) && value_present(old) && value_equal(old, now);

	c->follows = (c->events == ON_CREATED && renaming_came(c->new_image)) ||
		     (c->events == ON_DELETED && !c->by_ttl && renaming_leaves(c->old_image));
	c->old_image = old;
	c->new_image = now;
	return only;
}

static struct value image_of(const struct change *c)
{
	return value_present(c->new_image) ? c->new_image : c->old_image;
}

void change_lay(struct run *r, struct change *c)
{
	if (value_present(image_of(c)))
		c->entity = entity_of(r, image_of(c));
	if (!c->entity)
		return;
	c->old = row_lay(r->arena, c->entity, c->old_image);
	c->now = row_lay(r->arena, c->entity, c->new_image);
}

static void find_entity(struct run *r, struct change *c)
{
	if (is_only_joined(r, c))
		return;
	change_lay(r, c);
	if (c->entity && entity_fits(r, value_present(c->new_image) ? &c->now : &c->old, &c->unfit))
		c->unfit = SLICE("");
}

static const struct {
	int event;
	const char *word;
} words[] = { { ON_CREATED, "created" }, { ON_UPDATED, "updated" }, { ON_DELETED, "deleted" } };

const char *event_word(int event)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i].event == event)
			return words[i].word;
	return "updated";
}

int event_named(struct slice word)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (slice_is(word, words[i].word))
			return words[i].event;
	return ON_UPDATED;
}

bool change_is_passed_over(struct run *r, const struct change *c)
{
	if (!c->unfit.n)
		return false;
	run_pass_over(r, PASSED_OVER_UNFIT, "%.*s does not fit %.*s: %.*s", SLICE_ARG(entity_key_text(r, c->key)),
		      SLICE_ARG(c->entity->name), SLICE_ARG(c->unfit));
	return true;
}

bool change_make(struct run *r, const struct reply_record *records, size_t n, struct change_page *out)
{
	static const int events[] = {
		[EVENT_INSERT] = ON_CREATED, [EVENT_MODIFY] = ON_UPDATED, [EVENT_REMOVE] = ON_DELETED
	};

	out->list = arena_array(r->arena, struct change, n);
	out->count = n;
	for (size_t i = 0; i < n; i++) {
		const struct reply_record *in = &records[i];

		if (!in->sequence.n || in->sequence.n >= SPOT_ROOM)
			return run_fail(r, PROBLEM_INTERNAL,
					"a record of the stream has no sequence number, or one that is too long");
		out->list[i] = (struct change){
			.sequence = in->sequence,
			.events = events[in->event],
			.by_ttl = in->by_ttl,
			.created_ms = in->created_ms,
			.key = in->keys,
			.old_image = in->old_image,
			.new_image = in->new_image,
			.record = in,
		};
		find_entity(r, &out->list[i]);
	}
	return true;
}

bool change_read(struct run *r, struct slice iterator, int limit, struct change_page *out)
{
	struct dyn_records found;

	*out = (struct change_page){ 0 };
	if (!dyn_read_records(r, iterator, limit, &found))
		return false;
	out->iterator = found.iterator;
	out->trimmed = found.trimmed;
	return change_make(r, found.list, found.count, out);
}
