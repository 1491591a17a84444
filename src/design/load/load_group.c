/* Counters in a map: `reactions: counter for each like | heart`.
 *
 * DynamoDB adds to top-level attributes only, so each word is a counter of its own, `reactions.like`; only replies and
 * terms show a map. `counts: Post(post_id).reactions[kind]` is a count for each word, while `kind` is that word.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

#define BEGINS "counter for each "

static bool is_group(const struct yaml_entry *e)
{
	return e->value.kind == YAML_SCALAR && slice_starts(e->value.text, SLICE(BEGINS));
}

/* The words, and the clauses after them, with the comma. */
static struct load_span words_of(const struct yaml *y, struct slice *clauses)
{
	struct load_span rest = span_cut(load_whole(y), sizeof(BEGINS) - 1, y->text.n - (sizeof(BEGINS) - 1)), words;

	span_split(&rest, ',', &words);
	*clauses = rest.n ? slice_make(words.y->text.p + words.from + words.n, y->text.n - words.from - words.n)
			  : SLICE("");
	return words;
}

size_t load_group_room(const struct yaml_entry *e)
{
	struct slice clauses;

	return is_group(e) ? span_parts(words_of(&e->value, &clauses), '|') : 1;
}

static struct slice group_name(struct load *l, struct slice group, struct slice word)
{
	return arena_printf(l->a, "%.*s.%.*s", SLICE_ARG(group), SLICE_ARG(word));
}

size_t load_group(struct load *l, const struct yaml_entry *e, const struct yaml *siblings, const struct entity *of,
		  struct attribute *list)
{
	struct load_span rest, one;
	struct slice clauses;
	bool more = true;
	size_t n = 0;

	if (!is_group(e)) {
		load_attribute(l, e, siblings, of, list);
		return 1;
	}
	rest = words_of(&e->value, &clauses);
	while (more) {
		struct yaml_entry counter = *e;

		more = span_split(&rest, '|', &one);
		if (!span_is_name(one)) {
			load_error(l, span_place(l, one), "wrong-value",
				   "expected a word of letters, digits and '_', as in counter for each like | heart");
			continue;
		}
		for (size_t i = 0; i < n; i++)
			if (slice_equal(list[i].word, span_text(one)))
				load_error(l, span_place(l, one), "duplicate-key", "'%.*s' is among the words twice",
					   SLICE_ARG(span_text(one)));
		if (n == LOAD_GROUP_MOST) {
			load_error(l, span_place(l, one), "out-of-range", "at most %d words", LOAD_GROUP_MOST);
			break;
		}
		counter.key.text = group_name(l, e->key.text, span_text(one));
		counter.value.text = arena_printf(l->a, "counter%.*s", SLICE_ARG(clauses));
		load_attribute(l, &counter, siblings, of, &list[n]);
		list[n].group = e->key.text;
		list[n++].word = span_text(one);
	}
	return n;
}

/* ---- counts: Post(post_id).reactions[kind] ---- */
static const struct term *new_term(struct load *l, enum term_kind kind, const struct term *a, const struct term *b)
{
	struct term *t = arena_new(l->a, struct term);
	const struct term **args = arena_array(l->a, const struct term *, 2);

	args[0] = a;
	args[1] = b;
	*t = (struct term){ .kind = kind, .place = a->place, .args = args, .arg_count = 2 };
	return t;
}

static void check_words(struct load *l, const struct entity *to, struct slice group, const struct load_scope *scope,
			const struct term *key)
{
	const struct attribute *a =
		scope->entity && term_name(key) ? entity_attribute(scope->entity, *term_name(key)) : NULL;

	for (size_t i = 0; a && i < a->choice_count; i++)
		if (!entity_attribute(to, group_name(l, group, a->choices[i])))
			load_error(l, key->place, "unknown-choice", "'%.*s' of %.*s has no counter in '%.*s' of %.*s",
				   SLICE_ARG(a->choices[i]), SLICE_ARG(a->name), SLICE_ARG(group), SLICE_ARG(to->name));
}

size_t load_group_counts(struct load *l, const struct load_scope *scope, struct count_rule *list)
{
	struct count_rule of = *list;
	const struct entity *to = design_entity(l->d, of.target.entity);
	const struct term *key = list->key;
	size_t n = 0;

	if (!key)
		return 1;
	EACH (struct attribute, a, to ? to->attributes : NULL, to ? to->attribute_count : 0) {
		const struct term *is;

		if (!slice_equal(a->group, of.attribute))
			continue;
		list[n] = of;
		is = new_term(l, TERM_EQ, key, load_literal(l, a->word, key->place));
		list[n].when = of.when ? new_term(l, TERM_AND, is, of.when) : is;
		list[n].attribute = a->name;
		list[n].key = NULL;
		load_keep_scope(l, list[n].when, scope);
		if (n)
			load_later_reference(l, &list[n].target);
		n++;
	}
	if (to && !n)
		load_error(l, key->place, "wrong-type", "'%.*s' of %.*s is no `counter for each …`",
			   SLICE_ARG(of.attribute), SLICE_ARG(to->name));
	else if (to)
		check_words(l, to, of.attribute, scope, key);
	return n;
}

/* ---- reactions.like in terms and templates ---- */
/* Whether the names from `at` on are a counter in a map; then *joined is its name. */
bool load_group_path(struct load *l, const struct load_scope *scope, const struct slice *names, size_t n, size_t at,
		     struct slice *joined)
{
	if (n < at + 2)
		return false;
	*joined = group_name(l, names[at], names[at + 1]);
	return load_scope_has(l, scope, *joined);
}
