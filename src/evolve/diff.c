/* The table, and what a design has beside its entities.
 * SPDX-License-Identifier: Apache-2.0 */
#include "evolve/diff_internal.h"

const char *const diff_need_names[DIFF_NEEDS] = { "nothing", "table", "judge",   "leave", "rewrite",
						  "count",   "guard", "convert", "move",  "cannot" };
const char *const diff_act_names[] = { "added", "removed", "changed", "renamed" };

struct diff_change *diff_add(struct differ *x, enum diff_need need, enum diff_act act, struct slice subject)
{
	struct diff_change *c;

	if (x->count == x->room) {
		size_t room = x->room ? 2 * x->room : 64;

		x->list = arena_grow(x->a, x->list, x->room * sizeof(*x->list), room * sizeof(*x->list));
		x->room = room;
	}
	c = &x->list[x->count++];
	*c = (struct diff_change){ .need = need, .act = act, .subject = subject };
	return c;
}

struct diff_change *diff_add_both(struct differ *x, enum diff_need need, struct slice subject, const struct yaml *was,
				  const struct yaml *is)
{
	struct diff_change *c = diff_add(x, need, !was ? DIFF_ADDED : !is ? DIFF_REMOVED : DIFF_CHANGED, subject);

	c->was = diff_flat(x->a, was);
	c->is = diff_flat(x->a, is);
	if (is || was)
		c->place = is ? is->place : was->place;
	return c;
}

/* ---- words ---- */
static const struct diff_word_row *row_of(const struct diff_word_row *rows, struct slice word)
{
	for (; rows->name; rows++) {
		struct slice name = slice_str(rows->name);

		if (slice_equal(name, word) || (name.p[name.n - 1] == ' ' && slice_starts(word, name)))
			return rows;
	}
	return NULL;
}

static void compare_word(struct differ *x, const struct diff_pair *p, const struct diff_word_row *rows,
			 struct slice prefix, struct slice word)
{
	const struct diff_word_row *row = row_of(rows, word);
	const struct yaml *was = diff_word(p->was, word), *is = diff_word(p->is, word);
	struct diff_change *c;

	if ((row && !row->means) || diff_same_now(x, p, was, is))
		return;
	c = diff_add_both(x, row ? row->need : DIFF_NOTHING,
			  arena_printf(x->a, "%.*s%.*s", SLICE_ARG(prefix), SLICE_ARG(word)), was, is);
	c->from = p->from, c->to = p->to;
	c->means = row ? slice_str(row->means) : SLICE("holds from now on");
}

void diff_words(struct differ *x, const struct diff_pair *p, const struct diff_word_row *rows, struct slice prefix)
{
	for (size_t i = 0; p->is && p->is->kind == YAML_MAP && i < p->is->count; i++)
		compare_word(x, p, rows, prefix, p->is->entries[i].key.text);
	for (size_t i = 0; p->was && p->was->kind == YAML_MAP && i < p->was->count; i++)
		if (!diff_word(p->is, p->was->entries[i].key.text))
			compare_word(x, p, rows, prefix, p->was->entries[i].key.text);
}

/* ---- maps of things with names: access patterns, processors, types ---- */
/* What each of them means; a thing that differs is one change. */
struct named {
	struct slice word;   /* in the file */
	const char *subject; /* before the name */
	const char *added, *changed, *removed;
};

static void compare_named(struct differ *x, const struct named *n, const struct yaml *was, const struct yaml *is,
			  struct slice name)
{
	const struct yaml *old = diff_word(was, name), *new = diff_word(is, name);
	struct diff_change *c;

	if (diff_same_now(x, NULL, old, new))
		return;
	c = diff_add_both(x, DIFF_NOTHING, arena_printf(x->a, "%s %.*s", n->subject, SLICE_ARG(name)), old, new);
	c->means = slice_str(c->act == DIFF_ADDED ? n->added : c->act == DIFF_REMOVED ? n->removed : n->changed);
}

static void compare_all_named(struct differ *x, const struct named *n, const struct diff_pair *files)
{
	const struct yaml *was = diff_word(files->was, n->word), *is = diff_word(files->is, n->word);

	for (size_t i = 0; is && is->kind == YAML_MAP && i < is->count; i++)
		compare_named(x, n, was, is, is->entries[i].key.text);
	for (size_t i = 0; was && was->kind == YAML_MAP && i < was->count; i++)
		if (!diff_word(is, was->entries[i].key.text))
			compare_named(x, n, was, is, was->entries[i].key.text);
}

/* ---- indexes ---- */
static bool same_key(const struct key_schema *a, const struct key_schema *b)
{
	if (a->hash_count != b->hash_count || a->range_count != b->range_count)
		return false;
	for (size_t i = 0; i < key_attr_count(a); i++)
		if (!slice_equal(key_attr_at(a, i)->name, key_attr_at(b, i)->name) ||
		    key_attr_at(a, i)->type != key_attr_at(b, i)->type)
			return false;
	return true;
}

static bool same_projection(const struct design_index *a, const struct design_index *b)
{
	if (a->projection != b->projection || a->include_count != b->include_count)
		return false;
	for (size_t i = 0; i < a->include_count; i++)
		if (!slice_among(b->include, b->include_count, a->include[i]))
			return false;
	return true;
}

static void index_change(struct differ *x, const struct diff_pair *files, struct slice name)
{
	const struct design_index *was = design_index(x->before, name), *is = design_index(x->after, name);
	const struct yaml *old = diff_word(diff_word(files->was, SLICE("indexes")), name);
	const struct yaml *new = diff_word(diff_word(files->is, SLICE("indexes")), name);
	bool same = was && is && same_key(&was->key, &is->key) && same_projection(was, is);
	struct diff_change *c;

	if (same && diff_same(old, new))
		return;
	c = diff_add_both(x, same ? DIFF_NOTHING : DIFF_TABLE, arena_printf(x->a, "index %.*s", SLICE_ARG(name)), old,
			  new);
	c->means = same   ? SLICE("is written differently, and means the same")
		   : !was ? SLICE("the database builds it from the items that are there")
		   : !is  ? SLICE("the database drops it")
			  : SLICE("the database builds it again; patterns that read it have to wait");
}

static void indexes(struct differ *x, const struct diff_pair *files)
{
	EACH (struct design_index, i, x->after->indexes, x->after->index_count)
		index_change(x, files, i->name);
	EACH (struct design_index, i, x->before->indexes, x->before->index_count)
		if (!design_index(x->after, i->name))
			index_change(x, files, i->name);
}

/* ---- the whole ---- */
static void key_of_table(struct differ *x, const struct diff_pair *files)
{
	struct diff_change *c;

	if (same_key(&x->before->key, &x->after->key))
		return;
	c = diff_add_both(x, DIFF_CANNOT, SLICE("key"), diff_word(files->was, SLICE("key")),
			  diff_word(files->is, SLICE("key")));
	c->means = SLICE("DynamoDB cannot change the key attributes of a table: a new table is needed");
}

static void entities(struct differ *x, const struct diff_pair *files)
{
	const struct yaml *olds = diff_word(files->was, SLICE("entities")),
			  *news = diff_word(files->is, SLICE("entities"));

	EACH (struct entity, e, x->after->entities, x->after->entity_count) {
		const struct entity *from = diff_entity_before(x->before, e);
		struct diff_pair p = { .from = from, .to = e, .is = diff_word(news, e->name) };
		struct diff_change *c;

		if (from) {
			p.was = diff_word(olds, from->name);
			diff_entity(x, &p);
			continue;
		}
		c = diff_add(x, DIFF_NOTHING, DIFF_ADDED, arena_printf(x->a, "entity %.*s", SLICE_ARG(e->name)));
		c->to = e;
		c->place = e->place;
		c->means = SLICE("there are no items of it yet");
	}
	EACH (struct entity, e, x->before->entities, x->before->entity_count) {
		struct diff_change *c;
		bool stays = false;

		EACH (struct entity, now, x->after->entities, x->after->entity_count)
			stays = stays || diff_entity_before(x->before, now) == e;
		if (stays)
			continue;
		c = diff_add(x, DIFF_LEAVE, DIFF_REMOVED, arena_printf(x->a, "entity %.*s", SLICE_ARG(e->name)));
		c->from = e;
		c->place = e->place;
		c->means = SLICE("its items stay in the table, and nothing shows them");
	}
}

static const struct diff_word_row rows[] = {
	{ "key", DIFF_NOTHING, NULL },
	{ "indexes", DIFF_NOTHING, NULL },
	{ "entities", DIFF_NOTHING, NULL },
	{ "types", DIFF_NOTHING, NULL },
	{ "access", DIFF_NOTHING, NULL },
	{ "processors", DIFF_NOTHING, NULL },
	{ "design", DIFF_NOTHING, "all addresses begin with the new name" },
	{ "table", DIFF_CANNOT, "it is another table: 'thorpe copy' brings the items there" },
	{ "stream", DIFF_TABLE, "the setting of the table is changed" },
	{ "ttl", DIFF_TABLE, "the setting of the table is changed" },
	{ "billing", DIFF_TABLE, "the setting of the table is changed" },
	{ 0 },
};

static const struct named named[] = {
	{ { "types", 5 }, "type", "nothing uses it before", "attributes of this type are listed above", "nothing uses it" },
	{ { "access", 6 }, "access pattern", "can be called from now on", "holds from now on", "can no longer be called" },
	{ { "processors", 10 },
	  "processor",
	  "sees changes from now on, not what was there before",
	  "holds for changes from now on",
	  "what it made stays" },
};

/* The text was read once already, so nothing is wrong with it. */
static const struct yaml *file_of(struct arena *a, const struct design *d)
{
	struct findings ignored;

	findings_init(&ignored, a);
	return yaml_parse(a, &d->source, NULL, NULL, &ignored);
}

void diff_designs(struct arena *a, const struct design *before, const struct design *after, struct diff *out)
{
	struct differ x = { .a = a, .before = before, .after = after };
	struct diff_pair files = { .was = file_of(a, before), .is = file_of(a, after) };

	key_of_table(&x, &files);
	diff_words(&x, &files, rows, SLICE(""));
	indexes(&x, &files);
	entities(&x, &files);
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		compare_all_named(&x, &named[i], &files);
	*out = (struct diff){ .list = x.list, .count = x.count };
	for (size_t i = 0; i < x.count; i++)
		if (x.list[i].need > out->most)
			out->most = x.list[i].need;
}
