/* A design's stream in a test: its changes, and a processor's position among them.
 *
 *     struct world w;
 *     world_open(&w, "entities: …");          app_fixture.h, and the table of the positions
 *     world_process(&w, "deliver");           every change that this processor has not seen yet
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_EFFECT_HELPER_H
#define THORPE_TESTS_EFFECT_HELPER_H

#include "write_helper.h"
#include "app/run/passed_over.h"
#include "process/effect/effect.h"
#include "process/keeper/keeper.h"

struct world {
	struct app_fixture f;
	struct passed_over passed_over; /* by world_process() */
};

static inline struct run *world_run(struct world *w)
{
	return app_fixture_run(&w->f, NULL);
}

static inline void world_provision(struct world *w)
{
	struct run *r = world_run(w);

	must(r, checkpoint_provision(r), "the table of positions");
}

static inline void world_open(struct world *w, const char *yaml)
{
	app_fixture_open(&w->f, yaml);
	world_provision(w);
}

static inline void world_close(struct world *w)
{
	app_fixture_close(&w->f);
}

static inline const struct processor *processor_named(struct world *w, const char *name)
{
	for (size_t i = 0; i < w->f.design->processor_count; i++)
		if (slice_is(w->f.design->processors[i].name, name))
			return &w->f.design->processors[i];
	fail_msg("there is no processor %s", name);
	return NULL;
}

static inline bool is_after(struct slice sequence, struct slice other)
{
	return !other.n || sequence.n > other.n || (sequence.n == other.n && slice_cmp(sequence, other) > 0);
}

/* The changes of a shard after a sequence number (empty: all). */
static inline size_t world_changes(struct world *w, struct slice arn, struct slice shard, struct slice after,
				   struct change **out)
{
	struct run *r = world_run(w);
	struct shard_position at = { .where = AT_OLDEST };
	struct slice iterator;
	struct change_page page;
	size_t n = 0;

	*out = arena_array(r->arena, struct change, 5000);
	must(r, dyn_take_iterator(r, arn, shard, &at, &iterator), "iterator");
	do {
		must(r, change_read(r, iterator, 1000, &page), "changes");
		for (size_t i = 0; i < page.count; i++)
			if (is_after(page.list[i].sequence, after)) {
				assert_true(n < 5000);
				(*out)[n++] = page.list[i];
			}
		iterator = page.iterator;
	} while (page.count && iterator.n);
	return n;
}

static inline struct shard_list world_shards(struct world *w)
{
	struct run *r = world_run(w);
	struct shard_list shards;

	must(r, dyn_list_shards(r, &shards), "shards");
	return shards;
}

/* One change after the other, as a thread of process.h does; how many had an effect. */
static inline size_t world_process(struct world *w, const char *name)
{
	const struct processor *p = processor_named(w, name);
	struct shard_list shards = world_shards(w);
	size_t effects = 0;

	for (size_t i = 0; i < shards.count; i++) {
		struct run *r = world_run(w);
		struct position at;
		struct change *list;
		size_t n;

		r->passed_over = &w->passed_over;
		must(r, checkpoint_load(r, p->name, shards.list[i].id, &at), "position");
		n = world_changes(w, shards.stream_arn, shards.list[i].id, at.sequence, &list);
		for (size_t k = 0; k < n; k++) {
			enum effect_end end = effect_apply(r, p, &list[k], &at);

			must(r, end == EFFECT_NONE || end == EFFECT_DONE, name);
			if (end == EFFECT_DONE) {
				effects++;
				assert_true(slice_equal(at.sequence, list[k].sequence));
				assert_int_equal(at.progress.n, 0);
			}
		}
	}
	return effects;
}

/* All changes of all shards, in order per item; for the keeper. */
static inline size_t world_all(struct world *w, struct change **out)
{
	struct shard_list shards = world_shards(w);
	size_t n = 0;

	*out = arena_array(&w->f.arena, struct change, 20000);
	for (size_t i = 0; i < shards.count; i++) {
		struct change *list;
		size_t count = world_changes(w, shards.stream_arn, shards.list[i].id, SLICE(""), &list);

		assert_true(n + count <= 20000);
		memcpy(*out + n, list, count * sizeof(*list));
		n += count;
	}
	return n;
}

/* Items straight into the table: "entity" with its attributes as JSON, without what follows from them elsewhere. */
static inline size_t count_keys(struct world *w, const char *prefix)
{
	struct value *items = arena_array(&w->f.arena, struct value, 5000);
	size_t n = scan(&w->f, items, 5000), found = 0;

	for (size_t i = 0; i < n; i++)
		found += slice_starts(value_bytes(value_get(items[i], SLICE("PK"))), slice_str(prefix));
	return found;
}

#endif
