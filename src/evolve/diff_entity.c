/* Entities in both designs: what is stored for an item beside its attributes.
 *
 * Keys, companions and counts are compared by a text that says all of a rule, made from the loaded design: a rule of
 * the design before with the names that its parts have now.
 * SPDX-License-Identifier: Apache-2.0 */
#include "evolve/diff_internal.h"

const struct entity *diff_entity_before(const struct design *before, const struct entity *e)
{
	const struct entity *was = e->was.n ? design_entity(before, e->was) : NULL;

	return was ? was : design_entity(before, e->name); /* a `was` of an earlier change may still be written */
}

static struct slice renamed_if(const struct differ *x, const struct diff_pair *p, bool old, struct slice text)
{
	return old ? diff_renamed(x, p, text) : text;
}

static void put_when(struct buf *b, const char *word, const struct term *t)
{
	if (t) {
		buf_printf(b, " %s ", word);
		term_print(b, t);
	}
}

/* ---- keys ---- */
/* "USER#<id> when status = 'open'; …" of all rules for the attribute; empty: none */
static struct slice key_text(struct arena *a, const struct entity *e, struct slice attribute)
{
	struct buf b;

	buf_init(&b, a);
	EACH (struct key_rule, k, e->keys, e->key_count) {
		if (!slice_equal(k->attribute, attribute))
			continue;
		buf_str(&b, b.n ? "; " : "");
		buf_put(&b, k->template->text);
		put_when(&b, "when", k->when);
	}
	return buf_slice(&b);
}

static struct place key_place(const struct entity *e, struct slice attribute)
{
	EACH (struct key_rule, k, e->keys, e->key_count)
		if (slice_equal(k->attribute, attribute))
			return k->place;
	return e->place;
}

/* Whether the index of a key is in both designs, for `means`. */
static struct slice key_means(const struct differ *x, struct slice attribute, bool is)
{
	if (design_is_table_key(x->after, attribute))
		return SLICE("items get another key: each moves, with its companions, in one transaction");
	if (!is)
		return SLICE("is removed from the items");
	return design_is_key(x->after, attribute) ? SLICE("is made again for all items, which move in the index")
						  : SLICE("is made again for all items");
}

static void compare_key(struct differ *x, const struct diff_pair *p, struct slice attribute)
{
	struct slice was = key_text(x->a, p->from, attribute), is = key_text(x->a, p->to, attribute);
	struct diff_change *c;

	if (slice_equal(diff_renamed(x, p, was), is))
		return;
	c = diff_add(x, design_is_table_key(x->after, attribute) ? DIFF_MOVE : DIFF_REWRITE,
		     !was.n  ? DIFF_ADDED
		     : !is.n ? DIFF_REMOVED
			     : DIFF_CHANGED,
		     arena_printf(x->a, "%.*s keys %.*s", SLICE_ARG(p->to->name), SLICE_ARG(attribute)));
	c->from = p->from, c->to = p->to;
	c->was = was, c->is = is;
	c->means = key_means(x, attribute, is.n > 0);
	c->place = is.n ? key_place(p->to, attribute) : key_place(p->from, attribute);
}

/* Calls compare_key() once for each attribute that the rules set. */
static void compare_keys(struct differ *x, const struct diff_pair *p)
{
	for (size_t i = 0; i < p->to->key_count; i++) {
		bool seen = false;

		for (size_t k = 0; k < i; k++)
			seen = seen || slice_equal(p->to->keys[k].attribute, p->to->keys[i].attribute);
		if (!seen)
			compare_key(x, p, p->to->keys[i].attribute);
	}
	for (size_t i = 0; i < p->from->key_count; i++) {
		struct slice name = p->from->keys[i].attribute;
		bool seen = key_text(x->a, p->to, name).n > 0;

		for (size_t k = 0; k < i; k++)
			seen = seen || slice_equal(p->from->keys[k].attribute, name);
		if (!seen)
			compare_key(x, p, name);
	}
}

/* ---- companions ---- */
static struct slice companion_text(const struct differ *x, const struct diff_pair *p, const struct companion *c,
				   bool old)
{
	struct buf b;

	buf_init(&b, x->a);
	if (c->each_list) {
		buf_printf(&b, "for %.*s in ", SLICE_ARG(c->each_variable));
		term_print(&b, c->each_list);
		buf_lit(&b, ": ");
	}
	EACH (struct key_rule, k, c->rules, c->rule_count) {
		buf_printf(&b, "%s%.*s: %.*s", k == c->rules ? "" : ", ", SLICE_ARG(k->attribute),
			   SLICE_ARG(k->template->text));
		put_when(&b, "when", k->when);
	}
	put_when(&b, "when", c->when);
	if (c->unique.n)
		buf_printf(&b, " (guards %.*s)", SLICE_ARG(c->unique));
	return renamed_if(x, p, old, buf_slice(&b));
}

static bool has_companion(const struct differ *x, const struct diff_pair *p, bool in_old, struct slice text)
{
	const struct entity *e = in_old ? p->from : p->to;

	EACH (struct companion, c, e->companions, e->companion_count)
		if (slice_equal(companion_text(x, p, c, in_old), text))
			return true;
	return false;
}

static struct slice companion_name(struct differ *x, const struct entity *e, const struct companion *c)
{
	return arena_printf(x->a, "%.*s companion %.*s", SLICE_ARG(e->name),
			    SLICE_ARG(c->name.n     ? c->name
				      : c->unique.n ? c->unique
						    : c->rules[0].template->text));
}

static void companion_change(struct differ *x, const struct diff_pair *p, const struct companion *c, bool is)
{
	struct slice text = companion_text(x, p, c, !is);
	struct diff_change *out;

	if (has_companion(x, p, is, text))
		return;
	out = diff_add(x, is && c->unique.n ? DIFF_GUARD : DIFF_REWRITE, is ? DIFF_ADDED : DIFF_REMOVED,
		       companion_name(x, p->to, c));
	out->from = p->from, out->to = p->to;
	*(is ? &out->is : &out->was) = text;
	out->means = !is           ? SLICE("is removed for the items that are there")
		     : c->unique.n ? SLICE("is put for the items that are there; items with the same value are reported")
				   : SLICE("is put for the items that are there");
	out->place = c->place;
}

static void compare_companions(struct differ *x, const struct diff_pair *p)
{
	EACH (struct companion, c, p->to->companions, p->to->companion_count)
		companion_change(x, p, c, true);
	EACH (struct companion, c, p->from->companions, p->from->companion_count)
		companion_change(x, p, c, false);
}

/* ---- counts ---- */
static struct slice count_target(const struct count_rule *c, struct arena *a)
{
	return arena_printf(a, "%.*s.%.*s", SLICE_ARG(c->target.entity), SLICE_ARG(c->attribute));
}

static struct slice count_text(const struct differ *x, const struct diff_pair *p, const struct count_rule *c, bool old)
{
	struct buf b;

	buf_init(&b, x->a);
	if (c->each.variable.n) {
		buf_printf(&b, "for %.*s in ", SLICE_ARG(c->each.variable));
		term_print(&b, c->each.list);
		buf_lit(&b, ": ");
	}
	buf_printf(&b, "%.*s(", SLICE_ARG(c->target.entity));
	for (size_t i = 0; i < c->target.arg_count; i++) {
		buf_str(&b, i ? ", " : "");
		term_print(&b, c->target.args[i]);
	}
	buf_printf(&b, ").%.*s", SLICE_ARG(c->attribute));
	put_when(&b, "by", c->by);
	put_when(&b, "when", c->when);
	put_when(&b, "if", c->if_);
	return renamed_if(x, p, old, buf_slice(&b));
}

static bool has_count(const struct differ *x, const struct diff_pair *p, bool in_old, struct slice text)
{
	const struct entity *e = in_old ? p->from : p->to;

	EACH (struct count_rule, c, e->counts, e->count_count)
		if (slice_equal(count_text(x, p, c, in_old), text))
			return true;
	return false;
}

static void count_change(struct differ *x, const struct diff_pair *p, const struct count_rule *c, bool is)
{
	struct slice text = count_text(x, p, c, !is);
	struct slice target = renamed_if(x, p, !is, count_target(c, x->a));
	struct diff_change *out;

	if (has_count(x, p, is, text))
		return;
	out = diff_add(x, DIFF_COUNT, is ? DIFF_ADDED : DIFF_REMOVED,
		       arena_printf(x->a, "%.*s counts %.*s", SLICE_ARG(p->to->name), SLICE_ARG(target)));
	out->from = p->from, out->to = p->to;
	*(is ? &out->is : &out->was) = text;
	out->means = arena_printf(x->a, "%.*s is counted again", SLICE_ARG(target));
	out->place = p->to->place;
}

static void compare_counts(struct differ *x, const struct diff_pair *p)
{
	EACH (struct count_rule, c, p->to->counts, p->to->count_count)
		count_change(x, p, c, true);
	EACH (struct count_rule, c, p->from->counts, p->from->count_count)
		count_change(x, p, c, false);
}

/* ---- the entity ---- */
static const struct diff_word_row rows[] = {
	{ "attributes", DIFF_NOTHING, NULL },
	{ "keys", DIFF_NOTHING, NULL },
	{ "keys when ", DIFF_NOTHING, NULL },
	{ "companions", DIFF_NOTHING, NULL },
	{ "counts", DIFF_NOTHING, NULL },
	{ "was", DIFF_NOTHING, NULL },
	{ "path", DIFF_NOTHING, "items have another address; links to the old one lead nowhere" },
	{ "requires", DIFF_JUDGE, "items whose requirement does not hold are reported" },
	{ "lives while", DIFF_JUDGE, "items that should not be there are reported" },
	{ "check", DIFF_JUDGE, "items that break it are reported" },
	{ "login", DIFF_NOTHING, "holds for logins from now on; passwords are not made again" },
	{ 0 },
};

void diff_entity(struct differ *x, const struct diff_pair *p)
{
	size_t before = x->count;

	if (!slice_equal(p->from->name, p->to->name)) {
		struct diff_change *c = diff_add(x, DIFF_NOTHING, DIFF_RENAMED,
						 arena_printf(x->a, "entity %.*s", SLICE_ARG(p->to->name)));

		c->was = p->from->name, c->is = p->to->name;
		c->means = SLICE("items stay as they are");
		c->place = p->to->place;
		c->from = p->from, c->to = p->to;
	}
	diff_attributes(x, p);
	compare_keys(x, p);
	compare_companions(x, p);
	compare_counts(x, p);
	diff_words(x, p, rows, arena_printf(x->a, "%.*s ", SLICE_ARG(p->to->name)));
	if (x->count == before && !diff_same_now(x, p, p->was, p->is)) {
		struct diff_change *c =
			diff_add_both(x, DIFF_NOTHING, arena_printf(x->a, "entity %.*s", SLICE_ARG(p->to->name)), NULL,
				      NULL);

		c->act = DIFF_CHANGED;
		c->means = SLICE("is written differently, and means the same");
		c->place = p->to->place;
		c->from = p->from, c->to = p->to;
	}
}
