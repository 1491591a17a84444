/* An attribute: its type, its flags, and where its value comes from. SPDX-License-Identifier: Apache-2.0 */
#include "console/design_doc.h"
#include "design/term/regex.h"

static const char *type_name(enum attr_type t)
{
	/* clang-format off */
	static const char *const names[] = {
		[ATTR_STRING] = "string",   [ATTR_TEXT] = "text",           [ATTR_NUMBER] = "number", [ATTR_INTEGER] = "integer",
		[ATTR_BOOLEAN] = "boolean", [ATTR_TIMESTAMP] = "timestamp", [ATTR_EPOCH] = "epoch",   [ATTR_LIST] = "list",
		[ATTR_SET] = "set",         [ATTR_MAP] = "map",             [ATTR_BINARY] = "binary", [ATTR_ENUM] = "choice",
	};
	/* clang-format on */

	return names[t];
}

struct slice design_type(struct arena *a, const struct attribute *x)
{
	if (!x)
		return SLICE("string");
	if (x->file)
		return arena_printf(a, "file %.*s", SLICE_ARG(file_rule_text(a, x->file)));
	if (x->each)
		return arena_printf(a, "%s of %.*s", type_name(x->type), SLICE_ARG(design_type(a, x->each)));
	if (x->members)
		return x->members->name.n ? x->members->name : SLICE("structure");
	if ((x->type == ATTR_LIST || x->type == ATTR_SET) && x->element != ATTR_MAP)
		return arena_printf(a, "%s of %s%s", type_name(x->type), type_name(x->element), x->fine ? " ms" : "");
	return x->fine ? SLICE("timestamp ms") : slice_str(type_name(x->type));
}

/* ---- flags ---- */

static void put_range(struct buf *b, const struct attribute *x)
{
	struct buf text;

	if (!x->has_min && !x->has_max)
		return;
	buf_init(&text, b->arena);
	if (x->has_min)
		buf_printf(&text, "%.15g", x->min);
	buf_lit(&text, "..");
	if (x->has_max)
		buf_printf(&text, "%.15g", x->max);
	doc_text(b, buf_slice(&text));
}

static void put_pattern(struct buf *b, const struct attribute *x)
{
	if (x->matches)
		doc_text(b, arena_printf(b->arena, "matches '%.*s'", SLICE_ARG(regex_text(x->matches))));
}

static void put_default(struct buf *b, const struct attribute *x)
{
	struct buf text;

	if (!x->default_)
		return;
	buf_init(&text, b->arena);
	buf_lit(&text, "default ");
	term_print(&text, x->default_);
	doc_text(b, buf_slice(&text));
}

static void put_flags(struct buf *b, const struct attribute *x)
{
	/* clang-format off */
	const struct {
		bool is;
		const char *word;
	} flags[] = {
		{ x->required, "required" },   { x->id, "id" },
		{ x->unique, "unique" },       { x->fixed, "fixed" },
		{ x->managed, "managed" },     { x->counter, "counter" },
		{ x->sequence, "sequence" },   { x->next != NULL, "next of" },
		{ x->derived, "derived" },     { x->copy_entity.n > 0, "copy" },
		{ x->now, "now" },             { x->touched, "touched" },
		{ x->lower, "lower" },         { x->hidden, "hidden" },
		{ x->private_, "private" },    { x->compressed, "compressed" },
		{ x->the_caller, "the caller" }, { x->from_key, "from the key" },
		{ x->last_writer, "last writer" }, { x->may_be_missing, "may be missing" },
		{ x->tree, "tree" },
	};
	/* clang-format on */

	json_member_open(b, "flags", '[');
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (flags[i].is)
			doc_text(b, slice_str(flags[i].word));
	put_range(b, x);
	put_pattern(b, x);
	put_default(b, x);
	json_close(b, ']');
}

/* ---- where the value comes from ---- */

static void say_copy(struct buf *b, const struct attribute *x)
{
	buf_printf(b, "copy of %.*s(", SLICE_ARG(x->copy_entity));
	for (size_t i = 0; i < x->copy_arg_count; i++) {
		buf_str(b, i ? ", " : "");
		term_print(b, x->copy_args[i]);
	}
	buf_printf(b, ").%.*s", SLICE_ARG(x->copy_attribute));
	if (x->copy_if) {
		buf_lit(b, " if ");
		term_print(b, x->copy_if);
	}
	if (x->kept_by.n)
		buf_printf(b, ", kept by %.*s", SLICE_ARG(x->kept_by));
}

static void say_after(struct buf *b, const struct attribute *x)
{
	static const struct {
		int64_t seconds;
		const char *unit;
	} units[] = { { 86400, "day" }, { 3600, "hour" }, { 60, "minute" }, { 1, "second" } };
	size_t i = 0;
	int64_t n;

	while (x->after_seconds % units[i].seconds)
		i++;
	n = x->after_seconds / units[i].seconds;
	buf_printf(b, "%lld %s%s after %.*s", (long long)n, units[i].unit, n == 1 ? "" : "s", SLICE_ARG(x->after));
}

static void put_from(struct buf *b, const struct attribute *x)
{
	struct buf text;

	buf_init(&text, b->arena);
	if (x->derived) {
		buf_lit(&text, "= ");
		term_print(&text, x->derived);
	} else if (x->copy_entity.n) {
		say_copy(&text, x);
	} else if (x->after.n) {
		say_after(&text, x);
	}
	if (text.n && x->when) {
		buf_lit(&text, " when ");
		term_print(&text, x->when);
	}
	if (text.n)
		doc_member(b, "from", buf_slice(&text));
}

/* The values that address the item: attributes, of which one is this. */
static void put_refers(struct buf *b, const struct attribute *x)
{
	if (!x->refers)
		return;
	json_member_open(b, "refers", '{');
	doc_member(b, "entity", x->refers->entity);
	json_member_open(b, "args", '[');
	for (size_t i = 0; i < x->refers->arg_count; i++) {
		struct buf text;

		buf_init(&text, b->arena);
		term_print(&text, x->refers->args[i]);
		doc_text(b, i == x->refers_part ? x->name : buf_slice(&text));
	}
	json_close(b, ']');
	json_close(b, '}');
}

static void put_file(struct buf *b, const struct attribute *x)
{
	if (!x->file)
		return;
	json_member_open(b, "file", '{');
	doc_member_texts(b, "types", x->file->types, x->file->type_count);
	json_member_int(b, "most", x->file->most);
	json_close(b, '}');
}

static void put_inside(struct buf *b, const struct attribute *x)
{
	if (x->members) {
		json_member_open(b, "members", '[');
		for (size_t i = 0; i < x->members->member_count; i++)
			design_attribute_doc(b, &x->members->members[i]);
		json_close(b, ']');
		if (x->members->open)
			json_member_bool(b, "open", true);
	}
	if (x->each) {
		json_name(b, "each");
		design_attribute_doc(b, x->each);
	}
}

void design_attribute_doc(struct buf *b, const struct attribute *x)
{
	json_open(b, '{');
	doc_member(b, "name", x->name);
	doc_member(b, "type", design_type(b->arena, x));
	if (x->choice_count)
		doc_member_texts(b, "choices", x->choices, x->choice_count);
	put_flags(b, x);
	put_from(b, x);
	put_refers(b, x);
	put_file(b, x);
	put_inside(b, x);
	design_line(b, x->place);
	json_close(b, '}');
}
