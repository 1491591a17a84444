/* Writes the shapes of a design as JSON Schema (2020-12).
 *
 * Two things of YAML are not in the text that a schema sees. `${NAME:-20}` is replaced before anything is read, so a
 * text with it fits everywhere. And `{name: string, required}` is read by YAML as name: string and required: null:
 * words and names without a value are allowed, because the loader joins them to their neighbour.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"
#include "json/json.h"

#define SCHEMA_VERSION "https://json-schema.org/draft/2020-12/schema"
#define VARIABLE       ".*\\$\\{.*"

static void write_shape(struct buf *b, const struct load_shape *s);

/* ---- scalars ---- */
static void write_scalar(struct buf *b, bool or_null)
{
	json_member_open(b, "type", '[');
	json_string(b, SLICE("string"));
	json_string(b, SLICE("number"));
	json_string(b, SLICE("boolean"));
	if (or_null)
		json_string(b, SLICE("null"));
	json_close(b, ']');
}

/* ^(pattern|a variable)$ */
static void write_pattern(struct buf *b, const char *member, struct slice pattern)
{
	struct buf whole;

	buf_init(&whole, b->arena);
	buf_printf(&whole, "^(%.*s|" VARIABLE ")$", SLICE_ARG(pattern));
	json_member_string(b, member, buf_slice(&whole));
}

static void write_what(struct buf *b, const char *what)
{
	if (what)
		json_member_string(b, "description", slice_str(what));
}

static struct slice pattern_of(struct buf *b, const struct load_shape *s)
{
	struct buf made;

	if (!s->write_pattern)
		return s->pattern ? slice_str(s->pattern) : SLICE("");
	buf_init(&made, b->arena);
	s->write_pattern(&made);
	return buf_slice(&made);
}

static void write_text(struct buf *b, const struct load_shape *s)
{
	struct slice pattern = pattern_of(b, s);

	if (s->choice_count) {
		json_member_open(b, "anyOf", '[');
		json_open(b, '{');
		json_member_strings(b, "enum", s->choices, s->choice_count);
		json_close(b, '}');
		json_open(b, '{');
	}
	if (s->is_words)
		json_member_word(b, "type", "string");
	else
		write_scalar(b, false);
	if (pattern.n)
		write_pattern(b, "pattern", pattern);
	if (s->choice_count) {
		json_close(b, '}');
		json_close(b, ']');
	}
}

static void write_choice(struct buf *b, const struct load_shape *s)
{
	json_member_open(b, "anyOf", '[');
	json_open(b, '{');
	json_member_strings(b, "enum", s->choices, s->choice_count);
	json_close(b, '}');
	json_open(b, '{');
	json_member_word(b, "type", "string");
	json_member_word(b, "pattern", VARIABLE);
	json_close(b, '}');
	json_close(b, ']');
}

/* ---- collections ---- */
static void write_list(struct buf *b, const struct load_shape *s)
{
	json_member_open(b, "anyOf", '[');
	json_open(b, '{');
	json_member_word(b, "type", "array");
	json_name(b, "items");
	write_shape(b, s->of);
	if (s->most)
		json_member_int(b, "maxItems", (int64_t)s->most);
	json_close(b, '}');
	write_shape(b, s->of);
	json_close(b, ']');
}

/* A value, or none: then the name is part of its neighbour. */
static void write_value_or_bare(struct buf *b, const struct load_shape *of)
{
	json_open(b, '{');
	json_member_open(b, "anyOf", '[');
	write_shape(b, of);
	json_open(b, '{');
	json_member_word(b, "type", "null");
	json_close(b, '}');
	json_close(b, ']');
	json_close(b, '}');
}

/* Names without a value; all others are wrong. */
static void write_bare_only(struct buf *b)
{
	json_member_open(b, "additionalProperties", '{');
	json_member_word(b, "type", "null");
	json_close(b, '}');
}

static void write_map(struct buf *b, const struct load_shape *s)
{
	struct slice pattern = pattern_of(b, s);

	json_member_word(b, "type", "object");
	if (s->name_count) {
		json_member_open(b, "properties", '{');
		for (size_t i = 0; i < s->name_count; i++) {
			json_name(b, s->names[i]);
			write_value_or_bare(b, s->of);
		}
		json_close(b, '}');
	}
	if (!pattern.n) {
		json_name(b, "additionalProperties");
		write_value_or_bare(b, s->of);
		return;
	}
	json_member_open(b, "patternProperties", '{');
	json_name_string(b, arena_printf(b->arena, "^(%.*s|" VARIABLE ")$", SLICE_ARG(pattern)));
	write_value_or_bare(b, s->of);
	json_close(b, '}');
	write_bare_only(b);
}

/* ---- words ---- */
static void write_ref(struct buf *b, const char *name)
{
	json_member_string(b, "$ref", arena_printf(b->arena, "#/$defs/%s", name));
}

static void write_integer(struct buf *b, int64_t most)
{
	json_member_open(b, "type", '[');
	json_string(b, SLICE("integer"));
	json_string(b, SLICE("string"));
	json_close(b, ']');
	json_member_int(b, "minimum", 1);
	json_member_int(b, "maximum", most);
	write_pattern(b, "pattern", SLICE("[0-9]+"));
}

/* The members of the schema of such a word. */
static void write_type(struct buf *b, enum word_type type, int64_t most)
{
	switch (type) {
	case WORD_OWN: break; /* has a shape */
	case WORD_TEXT: write_scalar(b, false); break;
	case WORD_TEXTS: write_ref(b, "texts"); break;
	case WORD_BOOL: write_ref(b, "boolean"); break;
	case WORD_INTEGER: write_integer(b, most); break;
	case WORD_DURATION: write_ref(b, "duration"); break;
	case WORD_TERM: write_ref(b, "term"); break;
	case WORD_RULES: write_ref(b, "templates"); break;
	case WORD_ASSIGNMENTS: write_ref(b, "assignments"); break;
	case WORD_REQUIREMENTS: write_ref(b, "requirements"); break;
	case WORD_KEY: write_ref(b, "key"); break;
	case WORD_ACCEPT: write_ref(b, "accept"); break;
	}
}

static void write_word(struct buf *b, const struct load_word *w)
{
	json_name(b, w->name);
	if (w->type == WORD_OWN && w->shape) {
		write_shape(b, w->shape);
		return;
	}
	json_open(b, '{');
	write_type(b, w->type, w->most);
	write_what(b, w->expected);
	json_close(b, '}');
}

static void write_names(struct buf *b, const char *const *names)
{
	json_member_open(b, "required", '[');
	for (; *names; names++)
		json_string(b, slice_str(*names));
	json_close(b, ']');
}

static void write_one_of(struct buf *b, const char *const *names)
{
	json_open(b, '{');
	json_member_open(b, "oneOf", '[');
	for (; *names; names++) {
		const char *one[] = { *names, NULL };

		json_open(b, '{');
		write_names(b, one);
		json_close(b, '}');
	}
	json_close(b, ']');
	json_close(b, '}');
}

static void write_words(struct buf *b, const struct load_shape *s)
{
	json_member_word(b, "type", "object");
	json_member_open(b, "properties", '{');
	for (const struct load_word *w = s->words; w->name; w++)
		write_word(b, w);
	json_close(b, '}');
	if (s->prefix) {
		json_member_open(b, "patternProperties", '{');
		json_name_string(b, arena_printf(b->arena, "^%s", s->prefix));
		write_shape(b, s->of);
		json_close(b, '}');
	}
	if (s->needed)
		write_names(b, s->needed);
	if (s->one_of[0]) {
		json_member_open(b, "allOf", '[');
		for (size_t i = 0; i < LENGTH(s->one_of); i++)
			if (s->one_of[i])
				write_one_of(b, s->one_of[i]);
		json_close(b, ']');
	}
	write_bare_only(b);
}

static void write_either(struct buf *b, const struct load_shape *s)
{
	json_member_open(b, "anyOf", '[');
	for (const struct load_shape *const *one = s->either; *one; one++)
		write_shape(b, *one);
	json_close(b, ']');
}

static void write_shape(struct buf *b, const struct load_shape *s)
{
	struct buf what;

	json_open(b, '{');
	switch (s->is) {
	case SHAPE_TEXT: write_text(b, s); break;
	case SHAPE_CHOICE: write_choice(b, s); break;
	case SHAPE_TYPE: write_type(b, (enum word_type)s->type, 0); break;
	case SHAPE_LIST: write_list(b, s); break;
	case SHAPE_MAP: write_map(b, s); break;
	case SHAPE_WORDS: write_words(b, s); break;
	case SHAPE_EITHER: write_either(b, s); break;
	case SHAPE_DEF: write_ref(b, s->pattern); break;
	case SHAPE_ANY: break;
	}
	if (s->write_what) {
		buf_init(&what, b->arena);
		s->write_what(&what);
		json_member_string(b, "description", buf_slice(&what));
	} else {
		write_what(b, s->what);
	}
	json_close(b, '}');
}

/* ---- what the types of words stand for ---- */
const struct load_shape load_any_shape = { .is = SHAPE_TEXT };

static void write_def(struct buf *b, const char *name, const struct load_shape *s)
{
	json_name(b, name);
	write_shape(b, s);
}

static void write_defs(struct buf *b)
{
	static const struct load_shape term = { SHAPE_TEXT, "a term, as in user_id = caller" };
	static const struct load_shape texts = { SHAPE_LIST, .of = &load_any_shape };
	static const struct load_shape map = { SHAPE_MAP, .of = &load_any_shape };
	static const struct load_shape *const item[] = { &load_any_shape, &map, NULL };
	static const struct load_shape item_or_map = { SHAPE_EITHER, .either = item };
	static const struct load_shape requirements = { SHAPE_LIST, .of = &item_or_map,
							.what = "items that must exist, as in Category(category)" };
	static const struct load_shape empty = { SHAPE_MAP, .pattern = "(?!.)", .of = &load_any_shape };
	static const struct load_shape *const value[] = { &texts, &empty, NULL };
	static const struct load_shape literal = { SHAPE_EITHER, .either = value };
	static const struct load_shape assignments = { SHAPE_MAP, "attributes and terms", .of = &literal };
	static const struct load_shape templates = { SHAPE_MAP, "attributes and templates, as in PK: USER#<user_id>",
						     .of = &load_any_shape };
	static const struct load_shape accept = { SHAPE_MAP, "rules of thorpe check, and why they are right here",
						  .of = &load_any_shape };
	static const struct slice words[] = { { "true", 4 }, { "false", 5 } };

	json_member_open(b, "$defs", '{');
	write_def(b, "term", &term);
	write_def(b, "texts", &texts);
	write_def(b, "requirements", &requirements);
	write_def(b, "assignments", &assignments);
	write_def(b, "templates", &templates);
	write_def(b, "accept", &accept);
	write_def(b, "key", &load_key_shape);
	write_def(b, "member", &load_member_shape);
	json_member_open(b, "boolean", '{');
	json_member_open(b, "anyOf", '[');
	json_open(b, '{');
	json_member_word(b, "type", "boolean");
	json_close(b, '}');
	json_open(b, '{');
	json_member_strings(b, "enum", words, LENGTH(words));
	json_close(b, '}');
	json_open(b, '{');
	json_member_word(b, "type", "string");
	json_member_word(b, "pattern", VARIABLE);
	json_close(b, '}');
	json_close(b, ']');
	json_close(b, '}');
	json_member_open(b, "duration", '{');
	json_member_word(b, "type", "string");
	write_pattern(b, "pattern", arena_printf(b->arena, "[0-9]+ +(%.*s)", SLICE_ARG(load_units_pattern(b->arena))));
	write_what(b, "a time, as in 30 s, 5 min, 1 h or 1 day");
	json_close(b, '}');
	json_close(b, '}');
}

void design_schema(struct buf *b)
{
	struct buf root;

	buf_init(&root, b->arena);
	write_shape(&root, &load_design_shape);
	json_open(b, '{');
	json_member_word(b, "$schema", SCHEMA_VERSION);
	json_member_word(b, "title", "A design of Thorpe");
	buf_byte(b, ',');
	buf_add(b, root.p + 1, root.n - 2); /* its members */
	write_defs(b);
	json_close(b, '}');
}

/* ---- for tests ---- */
static void visit(const struct load_shape *s, void (*fn)(void *ctx, const struct load_word *word, const char *of),
		  void *ctx)
{
	if (s->of)
		visit(s->of, fn, ctx);
	for (const struct load_shape *const *one = s->either; one && *one; one++)
		visit(*one, fn, ctx);
	for (const struct load_word *w = s->words; w && w->name; w++) {
		fn(ctx, w, s->what ? s->what : "a map");
		if (w->shape)
			visit(w->shape, fn, ctx);
	}
}

void load_each_word(void (*fn)(void *ctx, const struct load_word *word, const char *of), void *ctx)
{
	visit(&load_design_shape, fn, ctx);
	visit(&load_key_shape, fn, ctx);
}
