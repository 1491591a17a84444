/* Structures: the members of maps, by name in `types` or where they are used.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

enum reading_state { UNREAD, BEING_READ, READ };

/* those of `types`; one may contain another that stands below it */
struct load_structures {
	const struct yaml_entry *entries;
	struct structure *list;
	enum reading_state *states;
	size_t count;
};

/* ---- members ---- */
static bool has_constant_default(const struct attribute *a)
{
	return !a->default_ || a->default_->kind == TERM_LITERAL;
}

/* The clause that a member cannot have; NULL: it has none. */
static const char *wrong_clause(const struct attribute *a)
{
	const struct {
		bool is;
		const char *word;
	} clauses[] = {
		{ a->counter, a->sequence ? "sequence" : "counter" },
		{ a->derived != NULL, "= term" },
		{ a->copy_entity.n > 0, "copy of" },
		{ a->next != NULL, "next of" },
		{ a->after.n > 0, "after" },
		{ a->when != NULL, "when" },
		{ attribute_file(a) != NULL, "file" },
		{ a->id, "id" },
		{ a->now, "now" },
		{ a->touched, "touched" },
		{ a->fixed, "fixed" },
		{ a->managed, "managed" },
		{ a->unique, "unique" },
		{ a->hidden, "hidden" },
		{ a->private_, "private" },
		{ a->compressed, "compressed" },
		{ a->the_caller, "the caller" },
		{ a->from_key, "from the key" },
	};

	for (size_t i = 0; i < LENGTH(clauses); i++)
		if (clauses[i].is)
			return clauses[i].word;
	return NULL;
}

static void check_member(struct load *l, const struct attribute *a)
{
	const char *wrong = wrong_clause(a);

	if (!load_is_name(a->name))
		load_error(l, a->place, "bad-name",
			   "the name of a member has letters, digits and '_' and does not begin with a digit");
	if (wrong)
		load_error(l, a->place, "wrong-clause", "'%s' is for attributes of items, not for members", wrong)->repair =
			SLICE("members take 'required', 'default', 'lower', 'matches' and a range");
	else if (!has_constant_default(a))
		load_error(l, a->place, "wrong-value", "the default of a member is a word, a number or a text");
}

/* ---- depth ---- */
static int depth_of(const struct attribute *a)
{
	int inside = a->members ? a->members->depth : 0, each = a->each ? depth_of(a->each) : 0;

	return inside > each ? inside : each;
}

static void measure(struct load *l, struct structure *s)
{
	s->depth = 1;
	EACH (struct attribute, m, s->members, s->member_count)
		if (depth_of(m) + 1 > s->depth)
			s->depth = depth_of(m) + 1;
	if (s->depth == STRUCTURE_DEPTH_MAX + 1) /* those around it are no news */
		load_error(l, s->place, "out-of-range", "structures can be in one another %d deep", STRUCTURE_DEPTH_MAX);
}

/* ---- structures ---- */
static void read_open(struct load *l, struct structure *s, const struct yaml *y)
{
	struct slice t = load_text(l, y, "other members: anything");

	s->open = slice_is(t, "anything");
	if (t.n && !s->open)
		load_error(l, y->place, "wrong-value", "expected other members: anything");
}

static void read_structure(struct load *l, struct structure *s, const struct yaml *y)
{
	size_t count;
	const struct yaml_entry *entries =
		load_map(l, y, "members and their types, as in {street: string 1..100, required, zip: string}", &count);
	struct attribute *members = arena_array(l->a, struct attribute, count);
	struct yaml siblings = { .kind = YAML_MAP, .entries = NULL };

	s->place = y->place;
	for (size_t i = 0; i < count; i++) {
		struct attribute *m = &members[s->member_count];

		if (slice_is(entries[i].key.text, "other members")) {
			read_open(l, s, &entries[i].value);
			continue;
		}
		load_attribute(l, &entries[i], &siblings, NULL, m);
		check_member(l, m);
		s->member_count++;
	}
	s->members = members;
	if (!s->member_count && y->kind == YAML_MAP)
		load_error(l, y->place, "missing-value", "a structure has members, as in {street: string, city: string}")
			->repair = SLICE("a 'map' may hold anything");
	measure(l, s);
}

const struct structure *load_structure_here(struct load *l, const struct yaml *y)
{
	struct structure *s = arena_new(l->a, struct structure);

	*s = (struct structure){ 0 };
	read_structure(l, s, y);
	return s;
}

/* ---- types ---- */
static void read_named(struct load *l, struct load_structures *all, size_t i)
{
	struct slice subject = l->subject;

	all->states[i] = BEING_READ;
	load_subject(l, "type", all->list[i].name);
	read_structure(l, &all->list[i], &all->entries[i].value);
	l->subject = subject;
	all->states[i] = READ;
}

const struct structure *load_structure(struct load *l, struct slice name)
{
	struct load_structures *all = l->structures;

	for (size_t i = 0; all && i < all->count; i++) {
		if (!slice_equal(all->list[i].name, name))
			continue;
		if (all->states[i] == BEING_READ)
			load_error(l, all->entries[i].key.place, "circle", "'%.*s' contains itself", SLICE_ARG(name))
				->repair = SLICE("what contains others of its kind are items of their own");
		else if (all->states[i] == UNREAD)
			read_named(l, all, i);
		return &all->list[i];
	}
	return NULL;
}

void load_structure_names(struct load *l, struct load_names *names)
{
	for (size_t i = 0; l->structures && i < l->structures->count; i++)
		load_names_add(names, l->structures->list[i].name);
}

static void check_name(struct load *l, const struct yaml *key)
{
	if (!load_is_name(key->text) || key->text.p[0] < 'A' || key->text.p[0] > 'Z')
		load_error(l, key->place, "bad-name",
			   "the name of a type begins with a capital letter and has letters, digits and '_'")
			->repair = SLICE("as in 'Address' or 'Line'");
}

void load_structures(struct load *l, void *into, const struct yaml *y)
{
	struct load_structures *all = arena_new(l->a, struct load_structures);
	struct design *d = into;

	*all = (struct load_structures){ 0 };
	all->entries = load_map(l, y, "a map of types by name", &all->count);
	all->list = arena_array(l->a, struct structure, all->count);
	all->states = arena_array(l->a, enum reading_state, all->count);
	for (size_t i = 0; i < all->count; i++) {
		check_name(l, &all->entries[i].key);
		all->list[i].name = all->entries[i].key.text;
	}
	l->structures = all;
	for (size_t i = 0; i < all->count; i++)
		if (all->states[i] == UNREAD)
			read_named(l, all, i);
	d->types = all->list;
	d->type_count = all->count;
}
