/* for: n in shards. How many there are is what the keys say that the merge reads, so that no merge leaves one out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

struct shards {
	struct slice parameter; /* of the pattern that is run */
	int count;              /* 0: no key with shards has been found */
	bool differ;            /* two keys have different numbers of them */
};

/* Whether the placeholder of the pattern stands where the key has a shard. */
static void add_shards(struct shards *s, const struct template *asked, const struct template *key)
{
	if (!template_alike(asked, key))
		return;
	for (size_t i = 0; i < asked->part_count; i++) {
		const struct template_part *own = &key->parts[i], *p = &asked->parts[i];

		if (!p->names || !slice_equal(p->names[0], s->parameter) || own->format != FORMAT_SHARD)
			continue;
		s->differ = s->differ || (s->count && s->count != own->width);
		s->count = own->width;
	}
}

static void add_rules(struct shards *s, const struct where_rule *w, const struct key_rule *rules, size_t n)
{
	EACH (struct key_rule, k, rules, n)
		if (slice_equal(k->attribute, w->attribute))
			add_shards(s, w->value, k->template);
}

static struct shards find_shards(const struct load *l, const struct access *run, struct slice parameter)
{
	struct shards s = { .parameter = parameter };

	EACH (struct where_rule, w, run->where, run->where_count)
		EACH (struct entity, e, l->entities, l->d->entity_count) {
			add_rules(&s, w, e->keys, e->key_count);
			EACH (struct companion, c, e->companions, e->companion_count)
				add_rules(&s, w, c->rules, c->rule_count);
		}
	return s;
}

static void count_shards(struct load *l, struct access *a)
{
	struct shards s = { 0 };

	EACH (struct assignment, with, a->merge_with, a->merge_with_count) {
		const struct slice *name = term_name(with->term);

		if (a->merge_run && name && slice_equal(*name, a->range_variable) && !s.count)
			s = find_shards(l, a->merge_run, with->attribute);
	}
	if (s.differ)
		load_error(l, a->place, "wrong-value",
			   "keys that '%.*s' reads have different numbers of shards, and items would be missing",
			   SLICE_ARG(a->merge_pattern));
	else if (!s.count)
		load_error(l, a->place, "wrong-value", "'%.*s' reads no key with shards", SLICE_ARG(a->merge_pattern))
			->repair = arena_printf(l->a,
						"a key has them as in TASKS#<id:shard 10>, and the pattern reads "
						"one of them: TASKS#<%.*s>, with: {%.*s: <%.*s>}",
						SLICE_ARG(a->range_variable), SLICE_ARG(a->range_variable),
						SLICE_ARG(a->range_variable));
	a->range_from = 0;
	a->range_to = s.count - 1;
}

void load_shards(struct load *l)
{
	EACH (struct access, a, l->accesses, l->d->access_count) {
		load_subject(l, "access", a->name);
		if (a->range_shards)
			count_shards(l, OURS(struct access, a));
	}
	l->subject = SLICE("");
}
