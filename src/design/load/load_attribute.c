/* One attribute: name: type, clause, clause…
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/ulid.h"
#include "design/term/regex.h"
#include "design/load/load.h"

/* an attribute being read */
struct reading {
	struct load *l;
	struct attribute *a;
	const struct entity *of;
	const struct yaml *siblings; /* the map of all attributes; NULL: parameters */
	const struct load_scope *scope;
	struct load_span type; /* what was written as the type */
	struct load_span kept_by;
	bool typed; /* the type is known; false for = term and copies */
	bool wrong; /* the range has been reported */
};

/* ---- ranges ---- */
/* 3..30, 3.., ..30 at the end of *s or all of it. */
static bool take_range(struct reading *r, struct load_span *s)
{
	struct slice t = span_text(*s);
	size_t start = t.n;
	struct load_span low, high;
	const char *dots;

	while (start > 0 && t.p[start - 1] != ' ')
		start--;
	dots = memmem(t.p + start, t.n - start, "..", 2);
	if (!dots)
		return false;
	low = span_cut(*s, start, (size_t)(dots - t.p) - start);
	high = span_cut(*s, (size_t)(dots - t.p) + 2, t.n - (size_t)(dots - t.p) - 2);
	r->a->has_min = span_decimal(low, &r->a->min);
	r->a->has_max = span_decimal(high, &r->a->max);
	r->wrong = (low.n && !r->a->has_min) || (high.n && !r->a->has_max) || (!low.n && !high.n);
	if (r->wrong)
		load_error(r->l, span_place(r->l, span_cut(*s, start, t.n - start)), "wrong-value",
			   "expected a range of numbers, as in 3..30");
	else if (low.n && high.n && r->a->min > r->a->max)
		load_error(r->l, span_place(r->l, span_cut(*s, start, t.n - start)), "out-of-range",
			   "nothing is in the range %.*s", SLICE_ARG(span_text(span_cut(*s, start, t.n - start))))
			->repair = SLICE("the smaller number comes first, as in 3..30");
	*s = span_cut(*s, 0, start);
	return true;
}

/* ---- patterns ---- */
/* 'it''s' without its quotes; false: it is not such a text. */
static bool take_quoted(struct load *l, struct load_span s, struct slice *out)
{
	struct slice t = span_text(s);
	char *text;
	size_t n = 0;

	if (!load_unquote(&t))
		return false;
	text = arena_alloc(l->a, t.n);
	for (size_t i = 0; i < t.n; i++) {
		text[n++] = t.p[i];
		if (t.p[i] == '\'' && ++i == t.n)
			return false;
	}
	*out = slice_make(text, n);
	return true;
}

/* matches '[A-Z]+' */
static void read_matches(struct reading *r, struct load_span whole, struct load_span s)
{
	struct slice text;
	const char *why;
	size_t at;

	if (r->a->matches)
		load_error(r->l, span_place(r->l, whole), "duplicate-key", "'matches' is here twice");
	if (!take_quoted(r->l, s, &text)) {
		load_error(r->l, span_place(r->l, whole), "wrong-value",
			   "expected a pattern in quotes, as in matches '[A-Z]{3}-[0-9]+'");
		return;
	}
	r->a->matches = regex_compile(r->l->a, text, &why, &at);
	r->a->matches_says = arena_cstr(r->l->a, arena_printf(r->l->a, "a text that matches %.*s", SLICE_ARG(text)));
	if (!r->a->matches)
		load_error(r->l, span_place(r->l, s), "bad-pattern", "this is not a pattern: %s, at character %zu", why,
			   at + 1)
			->repair =
			SLICE("a pattern is one of PCRE2, as in '[A-Z]{3}-[0-9]+'; a sign that stands for itself "
			      "needs \\ before it");
}

/* ---- types ---- */
static const struct {
	const char *name;
	enum attr_type type;
	enum attr_form form;
	double most; /* characters, unless a range says otherwise; 0: no limit */
	bool fine;
} types[] = {
	{ "string", ATTR_STRING, FORM_FREE, 0 },
	{ "text", ATTR_TEXT, FORM_FREE, 0 },
	{ "number", ATTR_NUMBER, FORM_FREE, 0 },
	{ "integer", ATTR_INTEGER, FORM_FREE, 0 },
	{ "boolean", ATTR_BOOLEAN, FORM_FREE, 0 },
	{ "timestamp", ATTR_TIMESTAMP, FORM_FREE, 0 },
	{ "epoch", ATTR_EPOCH, FORM_FREE, 0 },
	{ "list", ATTR_LIST, FORM_FREE, 0 },
	{ "map", ATTR_MAP, FORM_FREE, 0 },
	{ "binary", ATTR_BINARY, FORM_FREE, 0 },
	{ "email", ATTR_STRING, FORM_EMAIL, 254 },
	{ "url", ATTR_STRING, FORM_URL, 2048 },
	{ "slug", ATTR_STRING, FORM_SLUG, 200 },
	{ "name", ATTR_STRING, FORM_NAME, 64 },
	{ "timestamp ms", ATTR_TIMESTAMP, FORM_FREE, 0, true },
};
/* what else read_type() knows */
static const struct slice more_types[] = {
	{ "counter", 7 }, { "sequence", 8 }, { "set of string", 13 }, { "reference to", 12 }, { "file", 4 }
};

/* The type of the attribute, or of what it is a list of: `out` is the one or the other. */
static bool find_type(struct reading *r, struct slice name, enum attr_type *out)
{
	for (size_t i = 0; i < LENGTH(types); i++)
		if (slice_is(name, types[i].name)) {
			*out = types[i].type;
			r->a->form = types[i].form;
			r->a->fine = types[i].fine;
			if (types[i].most > 0 && !r->a->has_max && out == &r->a->type) {
				r->a->has_max = true;
				r->a->max = types[i].most;
			}
			return true;
		}
	return false;
}

/* string[] and list string are a list of string. */
static struct slice after_type(const struct reading *r, const char *type, struct slice rest)
{
	bool collection = !strcmp(type, "list") || !strcmp(type, "map");

	if (slice_is(rest, "[]"))
		return arena_printf(r->l->a, "write 'list of %s'", type);
	for (size_t i = 0; collection && i < LENGTH(types); i++)
		if (slice_starts(rest, slice_str(types[i].name)))
			return arena_printf(r->l->a, "write '%s of %.*s'", type, SLICE_ARG(rest));
	return SLICE("as in 'string 3..30, required' or 'number 0..'");
}

/* string required, string(30), string max 30: something follows the type without a comma. */
static bool follows_type(struct reading *r, struct load_span s)
{
	for (size_t i = 0; i < LENGTH(types); i++) {
		struct load_span rest = s;

		if (!span_take(&rest, types[i].name) || !rest.n)
			continue;
		load_error(r->l, span_place(r->l, rest), "wrong-value",
			   "expected a range or ',' after '%s', not '%.*s'", types[i].name, SLICE_ARG(span_text(rest)))
			->repair = after_type(r, types[i].name, span_text(rest));
		return true;
	}
	return false;
}

static void unknown_type(struct reading *r, struct load_span s)
{
	struct load_names known = { .a = r->l->a };
	struct finding *f;

	r->typed = false;
	r->a->type = ATTR_NUMBER; /* errors that follow from the unknown type are not reported */
	if (!s.n && !r->wrong)
		load_error(r->l, r->a->place, "missing-value", "expected a type, as in 'string, required'");
	if (!s.n || follows_type(r, s))
		return;
	for (size_t i = 0; i < LENGTH(types); i++)
		load_names_add(&known, slice_str(types[i].name));
	for (size_t i = 0; i < LENGTH(more_types); i++)
		load_names_add(&known, more_types[i]);
	load_structure_names(r->l, &known);
	f = load_unknown(r->l, span_place(r->l, s), "unknown-type", "type", span_text(s), &known);
	if (load_hint(HINT_TYPE, span_text(s)).n)
		f->repair = load_hint(HINT_TYPE, span_text(s));
	if (slice_starts(span_text(s), SLICE("{")))
		f->repair =
			SLICE("in a list or map a structure needs a name, as in types: {Line: {…}} and list of Line");
}

static void read_choices(struct reading *r, struct load_span s, enum attr_type *type)
{
	struct load_span rest = s, one;
	struct slice *choices;
	size_t most = span_parts(s, '|'), n = 0;

	choices = arena_array(r->l->a, struct slice, most);
	for (size_t i = 0; i < most; i++) {
		struct slice word;

		span_split(&rest, '|', &one);
		word = span_text(one);
		load_unquote(&word);
		if (!word.n)
			load_error(r->l, span_place(r->l, s), "wrong-value", "expected a word beside each '|'");
		else if (slice_among(choices, n, word))
			load_error(r->l, span_place(r->l, one), "duplicate-key", "'%.*s' is among the choices twice",
				   SLICE_ARG(word))
				->repair = SLICE("leave one of them out");
		else
			choices[n++] = word;
	}
	*type = ATTR_ENUM;
	r->a->choices = choices;
	r->a->choice_count = n;
}

static bool has_choices(struct load_span s)
{
	struct load_span head;

	return span_split(&s, '|', &head);
}

/* What each value of a list or map is, as an attribute of its own. */
static struct attribute *new_each(struct reading *r)
{
	struct attribute *each = arena_new(r->l->a, struct attribute);

	*each = (struct attribute){ .place = r->a->place, .element = ATTR_MAP };
	r->a->each = each;
	return each;
}

static bool take_structure(struct reading *r, struct load_span s)
{
	const struct structure *found = load_structure(r->l, span_text(s));

	if (!found)
		return false;
	r->a->type = ATTR_MAP;
	r->a->members = found;
	return true;
}

/* map of T */
static void read_map(struct reading *r, struct load_span s)
{
	struct reading inner = *r;

	r->a->type = ATTR_MAP;
	inner.a = new_each(r);
	inner.a->matches = r->a->matches;
	inner.a->matches_says = r->a->matches_says;
	r->a->matches = NULL;
	if (has_choices(s))
		read_choices(&inner, s, &inner.a->type);
	else if (!take_structure(&inner, s) && !find_type(&inner, span_text(s), &inner.a->type))
		unknown_type(&inner, s);
	r->typed = inner.typed;
	if (inner.a->matches && inner.a->type != ATTR_STRING && inner.a->type != ATTR_TEXT)
		load_error(r->l, span_place(r->l, s), "wrong-clause", "'matches' is for maps of strings and texts only");
}

/* list of Line */
static bool take_structures(struct reading *r, struct load_span s)
{
	const struct structure *found = load_structure(r->l, span_text(s));

	if (!found)
		return false;
	*new_each(r) =
		(struct attribute){ .place = r->a->place, .type = ATTR_MAP, .element = ATTR_MAP, .members = found };
	return true;
}

/* ---- references ---- */
static const struct term *own_name(struct reading *r, struct place p)
{
	struct term *t = arena_new(r->l->a, struct term);
	struct slice *name = arena_new(r->l->a, struct slice);

	*name = r->a->name;
	*t = (struct term){ .kind = TERM_PATH, .place = p, .names = name, .name_count = 1 };
	load_names_of_term(r->l, t);
	load_later_term(r->l, t, r->scope);
	return t;
}

/* E, whose identity is this attribute, or E(args), of which one is this attribute. */
static void read_reference(struct reading *r, struct load_span s)
{
	struct reference *ref = arena_new(r->l->a, struct reference);
	struct load_span rest = s, name;

	r->typed = false; /* load_infer() */
	if (!r->of) {
		load_error(r->l, span_place(r->l, r->type), "wrong-type",
			   "a reference is an attribute of an entity; elsewhere, write the type of what it names")
			->repair = SLICE("for members of lists: requires: {for: line in lines, Product(line.sku): …}");
		return;
	}
	if (span_is_name(s)) {
		const struct term **args = arena_array(r->l->a, const struct term *, 1);

		args[0] = own_name(r, span_place(r->l, s));
		*ref = (struct reference){
			.entity = span_text(s), .args = args, .arg_count = 1, .place = span_place(r->l, s)
		};
		load_later_reference(r->l, ref);
	} else if (!s.n) {
		load_error(r->l, span_place(r->l, r->type), "missing-value",
			   "expected an entity, as in reference to User");
		return;
	} else if (span_split(&rest, ' ', &name) && span_is_name(name) && rest.n && span_text(rest).p[0] != '(') {
		load_error(r->l, span_place(r->l, rest), "wrong-value", "expected ',' after '%.*s', not '%.*s'",
			   SLICE_ARG(span_text(name)), SLICE_ARG(span_text(rest)));
		return;
	} else if (!load_reference(r->l, &s, r->scope, ref)) {
		return;
	} else if (s.n) {
		load_error(r->l, span_place(r->l, s), "wrong-value", "expected ',' after the reference, not '%.*s'",
			   SLICE_ARG(span_text(s)));
	}
	r->a->refers = ref;
	r->a->refers_part = ref->arg_count;
	for (size_t i = 0; i < ref->arg_count; i++)
		if (term_name(ref->args[i]) && slice_equal(*term_name(ref->args[i]), r->a->name))
			r->a->refers_part = i;
	if (r->a->refers_part == ref->arg_count)
		load_error(r->l, ref->place, "wrong-value",
			   "one of the values that address the %.*s must be '%.*s' itself", SLICE_ARG(ref->entity),
			   SLICE_ARG(r->a->name))
			->repair = SLICE("as in repo: reference to Repo(owner, repo)");
}

static void read_collection(struct reading *r, struct load_span s, enum attr_type type)
{
	r->a->type = type;
	if (span_take(&s, "reference to")) {
		read_reference(r, s);
		return;
	}
	if (type == ATTR_LIST && span_take(&s, "file")) {
		load_file(r->l, s, new_each(r));
		return;
	}
	if (type == ATTR_LIST && take_structures(r, s))
		return;
	if (type == ATTR_SET && load_structure(r->l, span_text(s)))
		load_error(r->l, span_place(r->l, s), "wrong-value",
			   "a set holds strings, numbers or binaries; structures can be a list")
			->repair = arena_printf(r->l->a, "write 'list of %.*s'", SLICE_ARG(span_text(s)));
	else if (has_choices(s))
		read_choices(r, s, &r->a->element);
	else if (!find_type(r, span_text(s), &r->a->element))
		unknown_type(r, s);
	else if (type == ATTR_SET && r->a->element != ATTR_STRING && r->a->element != ATTR_NUMBER &&
		 r->a->element != ATTR_INTEGER && r->a->element != ATTR_BINARY && r->a->element != ATTR_TEXT)
		load_error(r->l, span_place(r->l, s), "wrong-value",
			   "a set holds strings, numbers or binaries; others can be a list")
			->repair = arena_printf(r->l->a, "write 'list of %.*s'", SLICE_ARG(span_text(s)));
}

/* Copies are updated only when their source changes, so the condition must not depend on anything else. */
static void read_copy_if(struct reading *r, struct load_span s, struct slice source)
{
	struct load_scope *scope = arena_new(r->l->a, struct load_scope);

	scope->target = source;
	r->a->copy_if = load_span_term(r->l, s, scope);
	if (term_reads_more(r->a->copy_if))
		load_error(
			r->l, span_place(r->l, s), "wrong-value",
			"what a copy depends on must be attributes of its source, not other items, the caller or the time");
}

/* copy of E(ref).attr [if term] [kept by pattern] */
static void read_copy(struct reading *r, struct load_span s)
{
	struct reference *ref = arena_new(r->l->a, struct reference);
	struct load_span rest = s, head, condition = { 0 };

	r->typed = false;
	if (span_split_word(&rest, "kept by", &head))
		r->kept_by = rest;
	s = head;
	if (!load_reference(r->l, &s, r->scope, ref))
		return;
	rest = s;
	if (span_split_word(&rest, "if", &head)) {
		s = head;
		condition = rest;
	}
	if (!span_take(&s, ".") || !span_is_name(s)) {
		load_error(r->l, span_place(r->l, r->type), "wrong-value",
			   "expected the attribute to copy, as in copy of User(author_id).username");
		return;
	}
	r->a->copy_entity = ref->entity;
	r->a->copy_args = ref->args;
	r->a->copy_arg_count = ref->arg_count;
	r->a->copy_attribute = span_text(s);
	load_later_name(r->l, NAME_ATTRIBUTE, span_text(s), span_place(r->l, s), ref->entity);
	if (condition.n)
		read_copy_if(r, condition, ref->entity);
}

static void read_type(struct reading *r, struct load_span s)
{
	struct load_span pattern = s, head;

	r->type = s;
	r->typed = true;
	r->a->element = ATTR_MAP;
	if (span_take(&s, "=")) {
		r->typed = false;
		r->a->derived = load_span_term(r->l, s, r->scope);
		return;
	}
	if (span_take(&s, "copy of")) {
		read_copy(r, s);
		return;
	}
	if (span_split_word(&pattern, "matches", &head)) {
		read_matches(r, s, pattern);
		s = head;
	}
	if (span_take(&s, "file")) {
		load_file(r->l, s, r->a);
		return;
	}
	if (!has_choices(s) || slice_starts(span_text(s), SLICE("list of ")) ||
	    slice_starts(span_text(s), SLICE("set of ")) || slice_starts(span_text(s), SLICE("map of ")))
		take_range(r, &s);
	if (span_take(&s, "list of"))
		read_collection(r, s, ATTR_LIST);
	else if (span_take(&s, "set of"))
		read_collection(r, s, ATTR_SET);
	else if (span_take(&s, "map of"))
		read_map(r, s);
	else if (span_take(&s, "reference to"))
		read_reference(r, s);
	else if (has_choices(s))
		read_choices(r, s, &r->a->type);
	else if (slice_is(span_text(s), "counter"))
		r->a->counter = true, r->a->type = ATTR_INTEGER;
	else if (slice_is(span_text(s), "sequence"))
		r->a->counter = r->a->sequence = true, r->a->type = ATTR_INTEGER;
	else if (!take_structure(r, s) && !find_type(r, span_text(s), &r->a->type))
		unknown_type(r, s);
}

/* ---- clauses ---- */
static bool is_type(const struct reading *r, enum attr_type a, enum attr_type b)
{
	return !r->typed || r->a->type == a || r->a->type == b;
}

static void only_for(struct reading *r, struct load_span s, bool fits, const char *what)
{
	if (!fits)
		load_error(r->l, span_place(r->l, s), "wrong-clause", "'%.*s' is for %s only", SLICE_ARG(span_text(s)),
			   what)
			->repair = slice_is(slice_str(what), "epochs")
					   ? arena_printf(r->l->a, "declare it 'epoch, %.*s'", SLICE_ARG(span_text(s)))
					   : SLICE("leave it out, or change the type");
}

static bool is_sibling(const struct reading *r, struct slice name)
{
	for (size_t i = 0; r->siblings && i < r->siblings->count; i++)
		if (slice_equal(r->siblings->entries[i].key.text, name))
			return true;
	return false;
}

static bool is_reserved(struct slice s)
{
	static const char *const words[] = { "true", "false", "null", "now", "today", "caller", NULL };

	return load_is_one_of(s, words);
}

static void check_default(struct reading *r, struct load_span s)
{
	const struct term *t = r->a->default_;
	enum value_type v = t && t->kind == TERM_LITERAL ? value_type(t->value) : VALUE_NONE;

	if (!r->typed || v == VALUE_NONE || v == VALUE_NULL)
		return;
	if ((r->a->type == ATTR_BOOLEAN && v != VALUE_BOOL) ||
	    ((r->a->type == ATTR_NUMBER || r->a->type == ATTR_INTEGER || r->a->type == ATTR_EPOCH) && v != VALUE_N) ||
	    ((r->a->type == ATTR_STRING || r->a->type == ATTR_TEXT) && v != VALUE_S))
		load_error(r->l, span_place(r->l, s), "wrong-value", "%.*s is not a value of this type",
			   SLICE_ARG(span_text(s)))
			->repair = r->a->type == ATTR_BOOLEAN ? SLICE("write 'default true' or 'default false'")
				   : v == VALUE_S             ? SLICE("a number is written as in 'default 3'")
							      : SLICE("a text is written as in default 'x'");
}

/* Whether the default of an enum is one of its words, or is meant as one. `t`: the text without quotes. */
static bool is_word_of_choice(const struct reading *r, struct load_span s, struct slice t)
{
	if (!r->typed || r->a->type != ATTR_ENUM)
		return false;
	return load_is_choice(r->a, t) || t.n != s.n || (span_is_name(s) && !is_reserved(t) && !is_sibling(r, t));
}

static void read_default(struct reading *r, struct load_span s)
{
	struct slice t = span_text(s);

	if (!s.n) {
		load_error(r->l, r->a->place, "missing-value", "expected a value after 'default'");
		return;
	}
	if (r->a->type == ATTR_ENUM)
		load_unquote(&t);
	if (is_word_of_choice(r, s, t)) {
		load_check_choice(r->l, r->a, t, span_place(r->l, s));
		r->a->default_ = load_literal(r->l, t, span_place(r->l, s));
	} else if (slice_is(t, "[]") || slice_is(t, "{}")) {
		struct term *empty = arena_new(r->l->a, struct term);

		empty->kind = TERM_LITERAL;
		empty->place = span_place(r->l, s);
		empty->value = t.p[0] == '[' ? value_make_list(r->l->a, NULL, 0) : value_make_map(r->l->a, NULL, 0);
		r->a->default_ = empty;
	} else if (span_is_name(s) && !is_reserved(t) && !is_sibling(r, t)) {
		r->a->default_ = load_literal(r->l, t, span_place(r->l, s));
	} else {
		r->a->default_ = load_span_term(r->l, s, r->scope);
	}
	check_default(r, s);
}

static void read_id(struct reading *r, struct load_span whole, struct load_span s)
{
	r->a->id = true;
	only_for(r, whole, is_type(r, ATTR_STRING, ATTR_STRING), "strings");
	r->a->id_prefix = span_text(s);
	if (s.n && !load_unquote(&r->a->id_prefix))
		load_error(r->l, span_place(r->l, s), "wrong-value", "expected the prefix in quotes, as in id 'usr_'");
}

/* 30 days after created_at */
static bool read_after(struct reading *r, struct load_span s)
{
	struct load_span whole = s, amount, number;
	int64_t n;

	if (!span_split_word(&s, "after", &amount) || !span_split(&amount, ' ', &number))
		return false;
	if (!span_integer(number, &n) && !(n = slice_is(span_text(number), "one")))
		return false;
	r->a->after_seconds = n > 0 && n < 100000000 ? n * load_seconds(span_text(amount)) : 0;
	if (!r->a->after_seconds) {
		load_error(r->l, span_place(r->l, whole), "wrong-value",
			   "expected seconds, minutes, hours, days or weeks, as in 30 days after created_at");
		return true;
	}
	r->a->after = span_text(s);
	only_for(r, whole, is_type(r, ATTR_EPOCH, ATTR_NUMBER), "epochs");
	if (r->of)
		load_later_name(r->l, NAME_ATTRIBUTE, r->a->after, span_place(r->l, s), r->of->name);
	return true;
}

/* next of Board(board).card_numbers */
static void read_next(struct reading *r, struct load_span whole, struct load_span s)
{
	struct reference *ref = arena_new(r->l->a, struct reference);

	only_for(r, whole, is_type(r, ATTR_INTEGER, ATTR_NUMBER) && !r->a->counter, "integers");
	if (!load_reference(r->l, &s, r->scope, ref))
		return;
	if (!span_take(&s, ".") || !span_is_name(s)) {
		load_error(r->l, span_place(r->l, whole), "wrong-value",
			   "expected the sequence, as in next of Board(board).card_numbers");
		return;
	}
	r->a->next = ref;
	r->a->next_attribute = span_text(s);
	load_later_name(r->l, NAME_ATTRIBUTE, span_text(s), span_place(r->l, s), ref->entity);
}

/* was email_address: only `thorpe diff` and `thorpe evolve` read it */
static void read_was(struct reading *r, struct load_span s)
{
	if (!span_is_name(s))
		load_error(r->l, span_place(r->l, s), "wrong-value",
			   "expected the attribute's name in the design before, as in was email_address");
	else if (is_sibling(r, span_text(s)))
		load_error(r->l, span_place(r->l, s), "name-in-use",
			   "'%.*s' is an attribute of this design, so nothing else can have been called so",
			   SLICE_ARG(span_text(s)))
			->repair = SLICE("remove one of the two");
	else
		r->a->was = span_text(s);
}

/* The clauses that are one word. */
static const struct {
	const char *word;
	size_t at;        /* the flag in struct attribute */
	const char *for_; /* NULL: any type */
	unsigned types;   /* bits of enum attr_type */
} flags[] = {
	{ "required", offsetof(struct attribute, required), NULL, 0 },
	{ "fixed", offsetof(struct attribute, fixed), NULL, 0 },
	{ "hidden", offsetof(struct attribute, hidden), NULL, 0 },
	{ "private", offsetof(struct attribute, private_), NULL, 0 },
	{ "compressed", offsetof(struct attribute, compressed), NULL, 0 },
	{ "managed", offsetof(struct attribute, managed), NULL, 0 },
	{ "unique", offsetof(struct attribute, unique), NULL, 0 },
	{ "from the key", offsetof(struct attribute, from_key), NULL, 0 },
	{ "now", offsetof(struct attribute, now), "timestamps and epochs", 1 << ATTR_TIMESTAMP | 1 << ATTR_EPOCH },
	{ "touched", offsetof(struct attribute, touched), "timestamps and epochs",
	  1 << ATTR_TIMESTAMP | 1 << ATTR_EPOCH },
	{ "lower", offsetof(struct attribute, lower), "strings and lists of strings",
	  1 << ATTR_STRING | 1 << ATTR_TEXT | 1 << ATTR_LIST | 1 << ATTR_SET },
	{ "the caller", offsetof(struct attribute, the_caller), "strings", 1 << ATTR_STRING },
	{ "last writer", offsetof(struct attribute, last_writer), "strings", 1 << ATTR_STRING },
	{ "may be missing", offsetof(struct attribute, may_be_missing), NULL, 0 },
	{ "tree", offsetof(struct attribute, tree), NULL, 0 },
};

/* what else read_clause() knows */
static const struct slice more_clauses[] = { { "default", 7 }, { "id", 2 },      { "when", 4 }, { "kept by", 7 },
					     { "next of", 7 }, { "matches", 7 }, { "was", 3 } };

static void unknown_clause(struct reading *r, struct load_span s)
{
	struct load_names known = { .a = r->l->a };
	struct load_span rest = s, first;
	struct slice hint = load_hint(HINT_CLAUSE, span_text(s));
	struct finding *f;

	for (size_t i = 0; i < LENGTH(flags); i++)
		load_names_add(&known, slice_str(flags[i].word));
	for (size_t i = 0; i < LENGTH(more_clauses); i++)
		load_names_add(&known, more_clauses[i]);
	span_split(&rest, ' ', &first);
	if (!s.n) {
		load_error(r->l, r->a->place, "missing-value", "expected a clause after ','");
		return;
	}
	if (!suggest_slice(span_text(s), known.list, known.n).n)
		s = first;
	f = load_unknown(r->l, span_place(r->l, s), "unknown-clause", "clause", span_text(s), &known);
	if (hint.n)
		f->repair = hint;
}

/* NULL: it is not such a clause. */
static bool *flag_of(struct reading *r, struct load_span s)
{
	for (size_t i = 0; i < LENGTH(flags); i++) {
		if (!slice_is(span_text(s), flags[i].word))
			continue;
		if (flags[i].for_)
			only_for(r, s, !r->typed || (flags[i].types >> r->a->type & 1), flags[i].for_);
		return (bool *)((char *)r->a + flags[i].at);
	}
	return NULL;
}

static void read_clause(struct reading *r, struct load_span s)
{
	struct load_span whole = s;
	bool *flag = flag_of(r, s);

	if (flag) {
		if (*flag)
			load_error(r->l, span_place(r->l, s), "duplicate-key", "'%.*s' is given twice",
				   SLICE_ARG(span_text(s)));
		*flag = true;
	} else if (span_take(&s, "default")) {
		read_default(r, s);
	} else if (span_take(&s, "id")) {
		read_id(r, whole, s);
	} else if (span_take(&s, "next of")) {
		read_next(r, whole, s);
	} else if (span_take(&s, "matches")) {
		read_matches(r, whole, s);
	} else if (span_take(&s, "was")) {
		read_was(r, s);
	} else if (span_take(&s, "kept by") && r->a->copy_entity.n) {
		r->kept_by = s;
	} else if (!read_after(r, whole) && !(take_range(r, &whole) && !whole.n)) {
		unknown_clause(r, whole);
	}
}

static void check_range(struct reading *r)
{
	enum attr_type t = r->a->type;

	if ((r->a->has_min || r->a->has_max) && r->typed &&
	    (t == ATTR_BOOLEAN || t == ATTR_TIMESTAMP || t == ATTR_ENUM || t == ATTR_EPOCH || r->a->counter ||
	     r->a->members))
		load_error(r->l, span_place(r->l, r->type), "wrong-clause",
			   "a range is for numbers, strings, texts, lists, sets, maps and binaries only")
			->repair = SLICE("leave the range out");
}

static bool is_text(enum attr_type t)
{
	return t == ATTR_STRING || t == ATTR_TEXT;
}

static void check_pattern(struct reading *r)
{
	const struct attribute *a = r->a;
	bool many = a->type == ATTR_LIST || a->type == ATTR_SET;

	if (a->matches && a->copy_entity.n)
		load_error(r->l, a->place, "wrong-clause", "a copy has the form of its source");
	if (a->matches && r->typed && !is_text(a->type) && !(many && is_text(a->element)))
		load_error(r->l, a->place, "wrong-clause",
			   "'matches' is for strings, texts, and lists and sets of them only");
}

/* Whether the server always computes its value. */
static bool is_computed(const struct attribute *a)
{
	return a->derived || a->copy_entity.n || a->counter || a->next;
}

static void check_reference(struct reading *r)
{
	const struct attribute *a = r->a;
	bool many = a->type == ATTR_LIST || a->type == ATTR_SET;
	const char *no = a->id                                       ? "id"
			 : a->now || a->touched                      ? "now"
			 : a->after.n                                ? "after"
			 : a->next                                   ? "next of"
			 : a->compressed                             ? "compressed"
			 : a->matches                                ? "matches"
			 : a->lower                                  ? "lower"
			 : !many && (a->has_min || a->has_max)       ? "a range"
			 : many && (a->the_caller || a->last_writer) ? "the caller"
								     : NULL;

	if (!a->refers && (a->may_be_missing || a->tree))
		load_error(r->l, a->place, "wrong-clause", "'%s' is for references only",
			   a->tree ? "tree" : "may be missing")
			->repair = SLICE("as in author: reference to User, may be missing");
	if (!a->refers)
		return;
	if (no)
		load_error(r->l, a->place, "wrong-clause", "a reference has the form of what it names: no %s%s%s",
			   no[1] == ' ' ? "" : "'", no, no[1] == ' ' ? "" : "'");
	if (a->tree && many)
		load_error(r->l, a->place, "wrong-clause",
			   "in a tree an item has one parent: 'tree' is for one reference");
	else if (a->tree && a->may_be_missing)
		load_error(r->l, a->place, "wrong-clause", "in a tree parents exist: no 'may be missing'");
}

/* Its value names something outside of the item: it is neither packed nor made by a term. */
static void check_file(struct reading *r)
{
	const struct attribute *a = r->a;
	bool none = a->default_ && a->default_->kind == TERM_LITERAL && value_type(a->default_->value) != VALUE_S &&
		    !value_count(a->default_->value);

	if (attribute_file(a) && (a->compressed || a->from_key || (a->default_ && !none)))
		load_error(r->l, a->place, "wrong-clause",
			   "a file is uploaded: no 'compressed', 'from the key' or 'default'");
}

static void check_clauses(struct reading *r)
{
	const struct attribute *a = r->a;

	check_range(r);
	check_pattern(r);
	check_file(r);
	if (a->copy_entity.n && r->kept_by.n) {
		r->a->kept_by = span_text(r->kept_by);
		load_later_found(r->l, NAME_ACCESS_BY, a->kept_by, span_place(r->l, r->kept_by), a->copy_entity,
				 &r->a->kept_access);
	}
	if (is_computed(a) &&
	    (a->required || a->id || a->now || a->touched || a->the_caller || a->default_ || a->after.n))
		load_error(r->l, a->place, "wrong-clause",
			   "%s gets its value by itself: no 'required', 'default', 'id', 'now' or 'the caller'",
			   a->derived    ? "a derived attribute"
			   : a->sequence ? "a sequence"
			   : a->counter  ? "a counter"
			   : a->next     ? "a number taken from a sequence"
					 : "a copy")
			->repair = SLICE("leave the clause out");
	if (a->id && a->has_max && a->max < (double)(ULID_LENGTH + a->id_prefix.n))
		load_error(r->l, a->place, "out-of-range",
			   "an id that is made has %zu characters, and at most %.15g are allowed",
			   ULID_LENGTH + a->id_prefix.n, a->max);
	if (a->next)
		r->a->managed = r->a->fixed = true;
	if (a->last_writer && (is_computed(a) || a->required || a->fixed || a->the_caller || a->default_ || a->id))
		load_error(
			r->l, a->place, "wrong-clause",
			"the last writer is set with every write, and absent when the server itself wrote: no 'required', 'fixed', 'default', 'id' or 'the caller'");
	if (a->hidden && a->private_)
		load_error(r->l, a->place, "wrong-clause", "'hidden' and 'private' exclude one another");
	check_reference(r);
}

void load_attribute(struct load *l, const struct yaml_entry *e, const struct yaml *siblings, const struct entity *of,
		    struct attribute *out)
{
	struct reading r = { .l = l, .a = out, .of = of, .siblings = siblings };
	struct load_span rest, one, head;
	bool more;

	r.scope = of ? l->scope : arena_new(l->a, struct load_scope);
	*out = (struct attribute){ .name = e->key.text, .place = e->key.place };
	if (e->value.kind == YAML_MAP) {
		out->type = out->element = ATTR_MAP;
		out->members = load_structure_here(l, &e->value);
		return;
	}
	if (!load_is_scalar(l, &e->value, "a type and clauses, as in 'string 3..30, required'"))
		return;
	rest = load_whole(&e->value);
	more = span_split(&rest, ',', &one);
	if (span_split_word(&one, "when", &head)) { /* string when x: the term may have commas */
		if (more)
			rest.n += rest.from - one.from, rest.from = one.from;
		else
			rest = one;
		out->when = load_span_term(l, rest, r.scope);
		rest.n = 0;
		more = false;
	}
	read_type(&r, head);
	while (more) {
		struct load_span clause = rest;

		if (span_take(&clause, "when")) {
			out->when = load_span_term(l, clause, r.scope);
			break;
		}
		more = span_split(&rest, ',', &one);
		if (span_split_word(&one, "when", &head))
			out->when = load_span_term(l, one, r.scope);
		read_clause(&r, head);
	}
	check_clauses(&r);
}

/* ---- for editors ---- */
/* A type that is known, a term, a copy, a choice; clauses follow a comma. */
static void write_attribute_pattern(struct buf *b)
{
	buf_lit(b,
		"= *.+|copy of .+|reference to .+|file( .+)?|(list|set|map) of .+|[A-Z][A-Za-z0-9_]*( *,.*)?|[^,]*\\|.*|(");
	for (size_t i = 0; i < LENGTH(types); i++)
		buf_printf(b, "%s|", types[i].name);
	for (size_t i = 0; i < LENGTH(more_types); i++)
		buf_printf(b, "%.*s%s", SLICE_ARG(more_types[i]), i + 1 < LENGTH(more_types) ? "|" : "");
	buf_lit(b, ")( +[^ ,]*[.][.][^ ,]*)?( +(matches|when) .*)?( *,.*)?");
}

static void write_attribute_what(struct buf *b)
{
	buf_lit(b, "A type and clauses, as in 'string 3..30, required'. Types:");
	for (size_t i = 0; i < LENGTH(types); i++)
		buf_printf(b, " %s,", types[i].name);
	for (size_t i = 0; i < LENGTH(more_types); i++)
		buf_printf(b, " %.*s,", SLICE_ARG(more_types[i]));
	buf_lit(b, " Item, 'a | b', '= term', 'copy of Item(id).attribute'. Clauses: a range");
	for (size_t i = 0; i < LENGTH(flags); i++)
		buf_printf(b, ", %s", flags[i].word);
	for (size_t i = 0; i < LENGTH(more_clauses); i++)
		buf_printf(b, ", %.*s", SLICE_ARG(more_clauses[i]));
	buf_byte(b, '.');
}

void load_attribute_words(bool types_only, void (*fn)(void *ctx, struct slice word), void *ctx)
{
	for (size_t i = 0; types_only && i < LENGTH(types); i++)
		fn(ctx, slice_str(types[i].name));
	for (size_t i = 0; types_only && i < LENGTH(more_types); i++)
		fn(ctx, more_types[i]);
	for (size_t i = 0; !types_only && i < LENGTH(flags); i++)
		fn(ctx, slice_str(flags[i].word));
	for (size_t i = 0; !types_only && i < LENGTH(more_clauses); i++)
		fn(ctx, more_clauses[i]);
}

static const struct load_shape type_shape = { SHAPE_TEXT, .write_what = write_attribute_what,
					      .write_pattern = write_attribute_pattern, .is_words = true };
static const struct load_shape member_shape = { SHAPE_DEF, .pattern = "member" };
static const char *const other_members[] = { "other members" };
static const struct load_shape members_shape = { SHAPE_MAP, "members and their types", .of = &member_shape,
						 .names = other_members, .name_count = 1 };
/* `other members: anything` is among the members. */
static const struct load_shape anything_shape = { SHAPE_TEXT, "other members: anything", "anything" };
static const struct load_shape *const member_shapes[] = { &type_shape, &members_shape, &anything_shape, NULL };
const struct load_shape load_member_shape = { SHAPE_EITHER, .either = member_shapes };
static const struct load_shape *const attribute_shapes[] = { &type_shape, &members_shape, NULL };
const struct load_shape load_attribute_shape = { SHAPE_EITHER, .either = attribute_shapes };
const struct load_shape load_structures_shape = { SHAPE_MAP, "structures by name", "[A-Z][A-Za-z0-9_]*",
						  .of = &members_shape };
