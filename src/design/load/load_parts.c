/* Parts that several things of a design have: references, requirements, rules, assignments, paths.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

struct load_scope *load_scope_of(struct load *l, const struct entity *e)
{
	struct load_scope *s = arena_new(l->a, struct load_scope);

	s->entity = e;
	s->old = s->input = true;
	return s;
}

/* ---- other items ---- */
bool load_reference(struct load *l, struct load_span *s, const struct load_scope *scope, struct reference *out)
{
	struct load_span whole = *s, name, args, one;
	const struct term **terms;
	size_t most = 1, n = 0;

	if (!span_call(s, &name, &args) || !span_is_name(name)) {
		load_error(l, span_place(l, whole), "wrong-value", "expected an item, as in Post(post_id), not '%.*s'",
			   SLICE_ARG(span_text(whole)));
		return false;
	}
	for (size_t i = 0; i < args.n; i++)
		most += args.y->text.p[args.from + i] == ',';
	terms = arena_array(l->a, const struct term *, most);
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

struct load_tail load_reference_tail(struct load *l, struct load_span s, const struct load_scope *scope,
				     struct slice entity, bool may_count)
{
	static const char *const words[] = { "by", "when", "if" };
	struct load_span parts[3] = { 0 }, rest = s, head;
	struct load_scope *target = arena_new(l->a, struct load_scope);
	struct load_tail tail = { 0 };

	target->target = entity;
	target->input = true;
	for (int i = 0; i < 3; i++) { /* each ends where another begins */
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

static bool read_requirement(struct load *l, const struct yaml *y, const struct load_scope *scope,
			     struct slice sentence, struct requirement *out)
{
	struct load_span s;
	struct load_tail tail;

	if (!load_is_scalar(l, y, "an item that must exist, as in Category(category)"))
		return false;
	s = load_whole(y);
	if (!load_reference(l, &s, scope, &out->target))
		return false;
	tail = load_reference_tail(l, s, scope, out->target.entity, false);
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

	for (size_t i = 0; i < count; i++)
		n += read_requirement(l, &entries[i].key, scope, load_text(l, &entries[i].value, "a sentence"),
				      &list[n]);
	return n;
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
					       : read_requirement(l, &items[i], scope, SLICE(""), &list[n]);
	*out = list;
	return n;
}

/* ---- attribute: template ---- */
size_t load_rules(struct load *l, const struct yaml *y, const char *expected, const struct load_scope *scope,
		  const struct key_rule **out)
{
	size_t count, n = 0;
	const struct yaml_entry *entries = load_map(l, y, expected, &count);
	struct key_rule *rules = arena_array(l->a, struct key_rule, count);

	for (size_t i = 0; i < count; i++) {
		const struct yaml *v = &entries[i].value;

		if (!load_is_scalar(l, v, "a template, as in USER#<user_id>"))
			continue;
		rules[n] = (struct key_rule){ .attribute = entries[i].key.text, .place = entries[i].key.place };
		rules[n].template = load_span_template(l, (struct load_span){ v, 0, v->text.n }, scope);
		n += rules[n].template != NULL;
	}
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

/* A choice that stands for itself. */
static bool is_choice(const struct attribute *a, struct slice word)
{
	for (size_t i = 0; a && i < a->choice_count; i++)
		if (slice_equal(a->choices[i], word))
			return true;
	return false;
}

static void check_choice(struct load *l, const struct attribute *a, struct slice word, struct place p)
{
	if (a && a->type == ATTR_ENUM && !is_choice(a, word))
		load_unknown(l, p, "unknown-choice", arena_printf(l->a, "choice of %.*s called", SLICE_ARG(a->name)).p,
			     word, a->choices, a->choice_count);
}

/* In { } a term with a comma needs YAML's quotes: 'min(a, b)'. Other texts in quotes stand for
 * themselves: '[deleted]'. */
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
	if (is_choice(a, y->text) || (y->quoted && !is_quoted_term(l, y))) {
		check_choice(l, a, y->text, y->place);
		return load_literal(l, y->text, y->place);
	}
	s = load_whole(y);
	if (a && a->type == ATTR_ENUM && span_is_name(s) && !slice_is(y->text, "null") &&
	    !(scope->entity && load_entity_has(scope->entity, y->text))) {
		check_choice(l, a, y->text, y->place);
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
			load_later_attribute(l, key->text, key->place, target);
		n += list[n].term != NULL;
	}
	*out = list;
	return n;
}

bool load_pattern_call(struct load *l, struct load_span s, const struct load_scope *scope, struct slice *pattern,
		       const struct assignment **with, size_t *count)
{
	struct load_span whole = s, name, args, one, parameter;
	struct assignment *list;
	size_t most = 1, n = 0;

	if (!span_call(&s, &name, &args) || s.n) {
		if (s.n || memchr(span_text(whole).p, '(', whole.n)) {
			load_error(l, span_place(l, whole), "wrong-value",
				   "expected a pattern and its parameters: followers(user_id = "
				   "author_id)");
			return false;
		}
		name = whole;
		args = span_cut(whole, whole.n, 0);
	}
	*pattern = span_text(name);
	load_later_access(l, *pattern, span_place(l, name));
	for (size_t i = 0; i < args.n; i++)
		most += args.y->text.p[args.from + i] == ',';
	list = arena_array(l->a, struct assignment, most);
	while (args.n) {
		span_split(&args, ',', &one);
		if (!span_split(&one, '=', &parameter) || !span_is_name(parameter)) {
			load_error(l, span_place(l, parameter), "wrong-value", "expected parameter = term, not '%.*s'",
				   SLICE_ARG(span_text(parameter)));
			continue;
		}
		list[n] = (struct assignment){ .attribute = span_text(parameter), .place = span_place(l, parameter) };
		list[n].term = load_span_term(l, one, scope);
		load_later_param(l, list[n].attribute, list[n].place, *pattern);
		n += list[n].term != NULL;
	}
	*with = list;
	*count = n;
	return true;
}

void load_accept(struct load *l, struct accepted *out, const struct yaml *y)
{
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of rules and reasons", &count);
	struct acceptance *list = arena_array(l->a, struct acceptance, count);

	for (size_t i = 0; i < count; i++)
		list[i] = (struct acceptance){ entries[i].key.text, load_text(l, &entries[i].value, "a reason"),
					       entries[i].key.place };
	*out = (struct accepted){ list, count };
}

int64_t load_duration(struct load *l, const struct yaml *y)
{
	static const struct {
		const char *names[5];
		int64_t seconds;
	} units[] = {
		{ { "s", "second", "seconds", "sec" }, 1 },
		{ { "min", "minute", "minutes", "m" }, 60 },
		{ { "h", "hour", "hours" }, 3600 },
		{ { "day", "days", "d" }, 86400 },
	};
	const char *expected = "a time, as in 30 s, 5 min, 1 h or 1 day";
	struct load_span s, number;
	int64_t n;

	if (!load_is_scalar(l, y, expected))
		return 0;
	s = load_whole(y);
	span_split(&s, ' ', &number);
	if (span_integer(number, &n) && n > 0 && n <= 1000000)
		for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
			for (size_t k = 0; units[i].names[k]; k++)
				if (slice_is(span_text(s), units[i].names[k]))
					return n * units[i].seconds;
	load_expected(l, y, expected);
	return 0;
}

/* ---- paths ---- */
static bool is_known(const struct slice *list, size_t n, struct slice s)
{
	for (size_t i = 0; i < n; i++)
		if (slice_equal(list[i], s))
			return true;
	return false;
}

void load_path(struct load *l, const struct yaml *y, const struct load_scope *scope, struct slice *path,
	       const struct template **template, const struct slice **params, size_t *count)
{
	struct slice *names;

	*path = load_text(l, y, "a path, as in /posts/<post_id>");
	if (!path->n)
		return;
	if (path->p[0] != '/' || memchr(path->p, '?', path->n) || memchr(path->p, ' ', path->n))
		load_error(l, y->place, "bad-path", "a path begins with '/' and has neither spaces nor '?'");
	*template = load_span_template(l, (struct load_span){ y, 0, y->text.n }, scope);
	if (!*template)
		return;
	names = arena_array(l->a, struct slice, (*template)->part_count);
	*params = names;
	*count = 0;
	for (size_t i = 0; i < (*template)->part_count; i++) {
		const struct template_part *part = &(*template)->parts[i];

		if (!part->names)
			continue;
		if (part->name_count != 1 || part->format != FORMAT_PLAIN)
			load_error(l, y->place, "bad-path", "a placeholder of a path is a plain name");
		else if (is_known(names, *count, part->names[0]))
			load_error(l, y->place, "bad-path", "'<%.*s>' stands in the path twice",
				   SLICE_ARG(part->names[0]));
		else
			names[(*count)++] = part->names[0];
	}
}
