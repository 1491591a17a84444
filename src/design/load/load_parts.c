/* Parts that several elements of a design have: references, requirements, rules, assignments, paths.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

struct load_scope *load_scope_of(struct load *l, const struct entity *e)
{
	struct load_scope *s = arena_new(l->a, struct load_scope);

	s->entity = e;
	s->old = s->input = true;
	return s;
}

struct load_scope *load_access_scope(struct load *l, const struct access *a, bool rows)
{
	struct load_scope *s = arena_new(l->a, struct load_scope);

	s->access = a;
	s->rows = rows;
	s->input = true;
	return s;
}

/* ---- for: x in list ---- */
const struct attribute *load_elements_of(const struct entity *e, const struct term *list)
{
	const struct attribute *a = list && term_name(list) ? entity_attribute(e, *term_name(list)) : NULL;

	return a && a->type == ATTR_LIST ? a->each : NULL;
}

const struct load_scope *load_each(struct load *l, struct each_rule *each, struct load_span loop,
				   const struct load_scope *scope)
{
	struct load_span list = loop, name;
	struct load_scope *inner;

	if (!span_split_word(&list, "in", &name) || !span_is_name(name) || !list.n) {
		load_error(l, span_place(l, loop), "wrong-value", "expected a loop, as in tag in tags");
		return scope;
	}
	if (l->entity && entity_attribute(l->entity, span_text(name)))
		load_error(l, span_place(l, name), "bad-name", "'%.*s' is an attribute already",
			   SLICE_ARG(span_text(name)));
	inner = load_scope_of(l, scope->entity);
	each->variable = inner->variable = span_text(name);
	each->list = load_span_term(l, list, scope);
	inner->each = scope->entity ? load_elements_of(scope->entity, each->list) : NULL;
	return inner;
}

/* The value of `for`, and what follows it after a comma. */
static const struct load_scope *take_for(struct load *l, const struct yaml *y, struct each_rule *each,
					 const struct load_scope *scope, struct load_span *rest)
{
	struct load_span loop;

	*rest = (struct load_span){ y, 0, 0 };
	if (!load_is_scalar(l, y, "a loop, as in tag in tags"))
		return scope;
	*rest = load_whole(y);
	span_split(rest, ',', &loop);
	return load_each(l, each, loop, scope);
}

/* ---- other items ---- */
const struct load_shape load_item_shape = { SHAPE_TEXT, "an item, as in Post(post_id)", .is_words = true };

bool load_reference(struct load *l, struct load_span *s, const struct load_scope *scope, struct reference *out)
{
	struct load_span whole = *s, name, args, one;
	const struct term **terms;
	size_t n = 0;

	if (!span_call(s, &name, &args) || !span_is_name(name)) {
		load_error(l, span_place(l, whole), "wrong-value", "expected an item, as in Post(post_id), not '%.*s'",
			   SLICE_ARG(span_text(whole)))
			->repair = slice_starts(span_text(whole), SLICE("-"))
					   ? SLICE("an element of a list begins with '- ', with a space")
					   : SLICE("");
		return false;
	}
	terms = arena_array(l->a, const struct term *, span_parts(args, ','));
	while (args.n) {
		bool more = span_split(&args, ',', &one);

		terms[n] = load_span_term(l, one, scope);
		if (!terms[n++])
			return false;
		if (more && !args.n)
			load_error(l, span_place(l, args), "wrong-value", "expected a term after ','");
	}
	*out = (struct reference){
		.entity = span_text(name), .args = terms, .arg_count = n, .place = span_place(l, name)
	};
	load_later_reference(l, out);
	return true;
}

bool load_item(struct load *l, const struct yaml *y, const char *expected, const struct load_scope *scope,
	       struct reference *out)
{
	struct load_span s;

	if (!load_is_scalar(l, y, expected))
		return false;
	s = load_whole(y);
	if (!load_reference(l, &s, scope, out))
		return false;
	if (s.n)
		load_error(l, span_place(l, s), "unknown-word", "expected nothing after the item, not '%.*s'",
			   SLICE_ARG(span_text(s)));
	return true;
}

/* What may follow an item: [by t] [when t] [if t], in any order; `if` is about the item. */
struct tail {
	const struct term *by, *when, *if_;
};

static struct tail read_tail(struct load *l, struct load_span s, const struct load_scope *scope, struct slice entity,
			     bool may_count)
{
	static const char *const words[] = { "by", "when", "if" };
	struct load_span parts[3] = { 0 }, rest = s, head;
	struct load_scope *target = arena_new(l->a, struct load_scope);
	struct tail tail = { 0 };

	target->target = entity;
	target->input = true;
	for (int i = 0; i < 3; i++) { /* each ends where the next begins */
		struct load_span after = rest, end;

		if (!span_split_word(&after, words[i], &head))
			continue;
		parts[i] = after;
		for (int k = 0; k < 3; k++)
			if (k != i && parts[i].n) {
				end = parts[i];
				span_split_word(&end, words[k], &parts[i]);
			}
		if (!parts[i].n)
			load_error(l, span_place(l, rest), "wrong-value", "expected a term after '%s'", words[i]);
	}
	for (int i = 0; i < 3; i++)
		span_split_word(&rest, words[i], &head), rest = head;
	if (head.n || (parts[0].n && !may_count))
		load_error(l, span_place(l, head.n ? head : parts[0]), "unknown-word",
			   may_count ? "expected 'by', 'when' or 'if', not '%.*s'"
				     : "expected 'when' or 'if', not '%.*s'",
			   SLICE_ARG(span_text(head.n ? head : parts[0])));
	tail.by = parts[0].n ? load_span_term(l, parts[0], scope) : NULL;
	tail.when = parts[1].n ? load_span_term(l, parts[1], scope) : NULL;
	tail.if_ = parts[2].n ? load_span_term(l, parts[2], target) : NULL;
	return tail;
}

/* A count, or {for: x in list, count} */
static bool count_span(struct load *l, const struct yaml *y, const struct load_scope **scope, struct count_rule *out,
		       struct load_span *s)
{
	size_t count;
	const struct yaml_entry *entries;

	if (y->kind != YAML_MAP) {
		*s = load_whole(y);
		return load_is_scalar(l, y, "a count, as in User(author_id).posts_count");
	}
	entries = load_map(l, y, "", &count);
	if (count != 1 || !slice_is(entries[0].key.text, "for")) {
		load_error(l, y->place, "wrong-value",
			   "expected a count, as in {for: sku in skus, Product(sku).stock by -1}");
		return false;
	}
	*scope = take_for(l, &entries[0].value, &out->each, *scope, s);
	if (!s->n && out->each.list)
		load_error(l, y->place, "missing-value", "expected a count after the loop and a comma");
	return s->n > 0;
}

/* reactions[kind] */
static void take_key(struct load *l, const struct load_scope *scope, struct load_span *attribute, struct count_rule *out)
{
	struct slice t = span_text(*attribute);
	const char *open = memchr(t.p, '[', t.n);
	size_t at = open ? (size_t)(open - t.p) : 0;

	if (!open || t.p[t.n - 1] != ']')
		return;
	out->key = load_span_term(l, span_cut(*attribute, at + 1, t.n - at - 2), scope);
	*attribute = span_cut(*attribute, 0, at);
}

bool load_count(struct load *l, const struct yaml *y, const struct load_scope *scope, struct reference *target,
		struct count_rule *out)
{
	struct load_span s, attribute;
	struct tail tail;

	if (!count_span(l, y, &scope, out, &s))
		return false;
	if (!load_reference(l, &s, scope, target))
		return false;
	if (!span_take(&s, ".")) {
		load_error(l, y->place, "wrong-value", "expected the counter, as in User(author_id).posts_count");
		return false;
	}
	span_split(&s, ' ', &attribute);
	take_key(l, scope, &attribute, out);
	out->attribute = span_text(attribute);
	if (!out->key)
		load_later_name(l, NAME_ATTRIBUTE, out->attribute, span_place(l, attribute), target->entity);
	tail = read_tail(l, s, scope, target->entity, true);
	out->by = tail.by;
	out->when = tail.when;
	out->if_ = tail.if_;
	return true;
}

static bool read_requirement(struct load *l, struct load_span s, const struct load_scope *scope, struct slice sentence,
			     struct requirement *out)
{
	struct tail tail;

	if (!load_reference(l, &s, scope, &out->target))
		return false;
	tail = read_tail(l, s, scope, out->target.entity, false);
	out->when = tail.when;
	out->if_ = tail.if_;
	out->sentence = sentence;
	return true;
}

static size_t map_of_requirements(struct load *l, const struct yaml *y, const struct load_scope *scope,
				  struct requirement *list)
{
	size_t n = 0, count;
	const struct yaml_entry *entries = load_map(l, y, "", &count);
	struct each_rule each = { 0 };
	struct load_span s;

	for (size_t i = 0; i < count; i++)
		if (slice_is(entries[i].key.text, "for")) {
			scope = take_for(l, &entries[i].value, &each, scope, &s);
			if (s.n && read_requirement(l, s, scope, SLICE(""), &list[n]))
				list[n++].each = each;
		}
	for (size_t i = 0; i < count; i++) {
		const struct yaml *key = &entries[i].key;

		if (slice_is(key->text, "for"))
			continue;
		if (load_is_scalar(l, key, "an item that must exist, as in Category(category)") &&
		    read_requirement(l, load_whole(key), scope, load_text(l, &entries[i].value, "a sentence"), &list[n]))
			list[n++].each = each;
	}
	return n;
}

static size_t one_requirement(struct load *l, const struct yaml *y, const struct load_scope *scope,
			      struct requirement *out)
{
	return load_is_scalar(l, y, "an item that must exist, as in Category(category)") &&
	       read_requirement(l, load_whole(y), scope, SLICE(""), out);
}

size_t load_requirements(struct load *l, const struct yaml *y, const struct load_scope *scope,
			 const struct requirement **out)
{
	size_t count = 0, room = y->count + 1, n = 0;
	const struct yaml *items = y;
	struct requirement *list;

	if (y->kind == YAML_MAP)
		count = 1;
	else
		items = load_list(l, y, "a list of items that must exist", &count);
	for (size_t i = 0; i < count; i++)
		room += items[i].kind == YAML_MAP ? items[i].count : 1;
	list = arena_array(l->a, struct requirement, room);
	for (size_t i = 0; i < count; i++)
		n += items[i].kind == YAML_MAP ? map_of_requirements(l, &items[i], scope, list + n)
					       : one_requirement(l, &items[i], scope, &list[n]);
	*out = list;
	return n;
}

/* ---- attribute: template ---- */
bool load_rule(struct load *l, const struct yaml_entry *e, const struct load_scope *scope, struct key_rule *out)
{
	const struct yaml *v = &e->value;

	if (!load_is_scalar(l, v, "a template, as in USER#<user_id>"))
		return false;
	*out = (struct key_rule){ .attribute = e->key.text, .place = e->key.place };
	out->template = load_span_template(l, (struct load_span){ v, 0, v->text.n }, scope);
	if (out->template)
		load_no_bounds(l, out->template);
	return out->template != NULL;
}

size_t load_rules(struct load *l, const struct yaml *y, const char *expected, const struct load_scope *scope,
		  const struct key_rule **out)
{
	size_t count, n = 0;
	const struct yaml_entry *entries = load_map(l, y, expected, &count);
	struct key_rule *rules = arena_array(l->a, struct key_rule, count);

	for (size_t i = 0; i < count; i++)
		n += load_rule(l, &entries[i], scope, &rules[n]);
	*out = rules;
	return n;
}

/* ---- attribute: term ---- */
static struct term *new_term(struct load *l, enum term_kind kind, struct place p)
{
	struct term *t = arena_new(l->a, struct term);

	t->kind = kind;
	t->place = p;
	return t;
}

const struct term *load_literal(struct load *l, struct slice text, struct place p)
{
	struct term *t = new_term(l, TERM_LITERAL, p);

	t->value = value_make_s(l->a, text);
	return t;
}

static const struct term *literal_list(struct load *l, const struct yaml *y)
{
	struct term *t = new_term(l, TERM_LITERAL, y->place);
	struct value *values = arena_array(l->a, struct value, y->count);
	size_t n = 0;

	if (y->kind == YAML_MAP) {
		if (y->count)
			load_error(l, y->place, "wrong-value", "expected a term, or {} for an empty map");
		t->value = value_make_map(l->a, NULL, 0);
		return t;
	}
	for (size_t i = 0; i < y->count; i++)
		if (load_is_scalar(l, &y->items[i], "a text"))
			values[n++] = value_make_s(l->a, y->items[i].text);
	t->value = value_make_list(l->a, values, n);
	return t;
}

/* <follower.follower_id>: a single placeholder is a path. */
static bool is_placeholder(struct load_span *s)
{
	struct slice t = span_text(*s);

	if (t.n < 3 || t.p[0] != '<' || t.p[t.n - 1] != '>' || memchr(t.p + 1, '<', t.n - 1))
		return false;
	*s = span_cut(*s, 1, t.n - 2);
	return true;
}

bool load_is_choice(const struct attribute *a, struct slice word)
{
	return a && slice_among(a->choices, a->choice_count, word);
}

void load_check_choice(struct load *l, const struct attribute *a, struct slice word, struct place p)
{
	if (a && a->type == ATTR_ENUM && !load_is_choice(a, word))
		load_unknown(l, p, "unknown-choice", arena_printf(l->a, "choice of %.*s called", SLICE_ARG(a->name)).p,
			     word, &(struct load_names){ .list = a->choices, .n = a->choice_count });
}

/* In { } a term with a comma needs YAML's quotes: 'min(a, b)'. Other texts in quotes are literals: '[deleted]'. */
static bool is_quoted_term(struct load *l, const struct yaml *y)
{
	struct findings unheard;
	const struct term *t;

	findings_init(&unheard, l->a);
	t = y->text.n ? term_parse(l->a, y->text, y->place, &unheard) : NULL;
	if (!t || unheard.count || t->kind == TERM_PATH)
		return false;
	return t->kind != TERM_LITERAL || y->text.p[0] == '\'';
}

static const struct term *assigned(struct load *l, const struct yaml *y, const struct load_scope *scope,
				   const struct attribute *a)
{
	struct load_span s;

	if (y->kind == YAML_LIST || y->kind == YAML_MAP)
		return literal_list(l, y);
	if (!load_is_scalar(l, y, "a term"))
		return NULL;
	if (load_is_choice(a, y->text) || (y->quoted && !is_quoted_term(l, y))) {
		load_check_choice(l, a, y->text, y->place);
		return load_literal(l, y->text, y->place);
	}
	s = load_whole(y);
	if (a && a->type == ATTR_ENUM && span_is_name(s) && !slice_is(y->text, "null") &&
	    !(scope->entity && load_entity_has(scope->entity, y->text))) {
		load_check_choice(l, a, y->text, y->place);
		return NULL;
	}
	is_placeholder(&s);
	return load_span_term(l, s, scope);
}

size_t load_assignments(struct load *l, const struct yaml *y, const struct load_scope *scope, struct slice target,
			const struct assignment **out)
{
	size_t count, n = 0;
	const struct yaml_entry *entries = load_map(l, y, "a map of attributes and terms", &count);
	struct assignment *list = arena_array(l->a, struct assignment, count);
	const struct entity *e = target.n ? design_entity(l->d, target) : NULL;

	for (size_t i = 0; i < count; i++) {
		const struct yaml *key = &entries[i].key;

		list[n] = (struct assignment){ .attribute = key->text, .place = key->place };
		list[n].term = assigned(l, &entries[i].value, scope, e ? entity_attribute(e, key->text) : NULL);
		if (target.n)
			load_later_name(l, NAME_ATTRIBUTE, key->text, key->place, target);
		n += list[n].term != NULL;
	}
	*out = list;
	return n;
}

bool load_pattern_call(struct load *l, struct load_span s, const struct load_scope *scope, struct load_call *out,
		       const struct access **into)
{
	struct load_span whole = s, name, args, one, parameter;
	struct assignment *list;
	size_t n = 0;

	if (!span_call(&s, &name, &args) || s.n) {
		load_error(l, span_place(l, whole), "wrong-value",
			   "expected a pattern and its parameters: followers(user_id = author_id)");
		return false;
	}
	out->pattern = span_text(name);
	load_later_found(l, NAME_ACCESS, out->pattern, span_place(l, name), SLICE(""), into);
	list = arena_array(l->a, struct assignment, span_parts(args, ','));
	while (args.n) {
		span_split(&args, ',', &one);
		if (!span_split(&one, '=', &parameter) || !span_is_name(parameter)) {
			load_error(l, span_place(l, parameter), "wrong-value", "expected parameter = term, not '%.*s'",
				   SLICE_ARG(span_text(parameter)))
				->repair = SLICE("as in followers(user_id = author_id)");
			continue;
		}
		list[n] = (struct assignment){ .attribute = span_text(parameter), .place = span_place(l, parameter) };
		list[n].term = load_span_term(l, one, scope);
		load_later_name(l, NAME_PARAMETER, list[n].attribute, list[n].place, out->pattern);
		n += list[n].term != NULL;
	}
	out->with = list;
	out->with_count = n;
	return true;
}

bool load_loop(struct load *l, const struct yaml *y, const char *expected, struct slice *variable,
	       struct load_span *over)
{
	struct load_span name;

	if (!load_is_scalar(l, y, expected))
		return false;
	*over = load_whole(y);
	if (!span_split_word(over, "in", &name) || !span_is_name(name) || !over->n) {
		load_expected(l, y, expected);
		return false;
	}
	*variable = span_text(name);
	if (load_is_one_of(*variable, (const char *const[]){ "old", "input", "caller", NULL }))
		load_error(l, span_place(l, name), "bad-name",
			   "'%.*s' has a meaning in terms; a loop needs another name", SLICE_ARG(*variable));
	return true;
}

/* ---- paths ---- */
const struct load_shape load_path_shape = { SHAPE_TEXT, "a path, as in /posts/<post_id>", "/[^? ]*", .is_words = true };

struct load_path load_path(struct load *l, const struct yaml *y, const struct load_scope *scope)
{
	struct load_path path = { .text = load_text(l, y, "a path, as in /posts/<post_id>") };
	struct slice t = path.text, *names;

	if (!t.n)
		return path;
	if (t.p[0] != '/' || memchr(t.p, '?', t.n) || memchr(t.p, ' ', t.n))
		load_error(l, y->place, "bad-path", "a path begins with '/' and has neither spaces nor '?'")->repair =
			SLICE("as in /teams/<team>");
	else if (memchr(t.p, '{', t.n) || memmem(t.p, t.n, "/:", 2))
		load_error(l, y->place, "bad-path", "a placeholder of a path is a name between < and >")->repair =
			SLICE("as in /teams/<team>");
	path.template = load_span_template(l, (struct load_span){ y, 0, y->text.n }, scope);
	if (!path.template)
		return path;
	names = arena_array(l->a, struct slice, path.template->part_count);
	path.params = names;
	EACH (struct template_part, part, path.template->parts, path.template->part_count) {
		if (!part->names)
			continue;
		if (part->name_count != 1 || part->format != FORMAT_PLAIN)
			load_error(l, y->place, "bad-path", "a placeholder of a path is a plain name");
		else if (slice_among(names, path.count, part->names[0]))
			load_error(l, y->place, "bad-path", "'<%.*s>' is in the path twice", SLICE_ARG(part->names[0]));
		else
			names[path.count++] = part->names[0];
	}
	return path;
}
