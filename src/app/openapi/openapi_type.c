/* The schema of one value, and the description of an attribute.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input.h"
#include "app/entity/output.h"
#include "app/openapi/openapi.h"
#include "design/term/regex.h"

/* ---- types ---- */

const char *oas_json_type(enum attr_type t)
{
	switch (t) {
	case ATTR_NUMBER: return "number";
	case ATTR_INTEGER:
	case ATTR_EPOCH: return "integer";
	case ATTR_BOOLEAN: return "boolean";
	case ATTR_LIST:
	case ATTR_SET: return "array";
	case ATTR_MAP: return "object";
	default: return "string";
	}
}

static void put_type(struct oas *o, enum attr_type t, bool nullable)
{
	const struct slice types[] = { slice_str(oas_json_type(t)), SLICE("null") };

	if (nullable)
		json_member_strings(o->b, "type", types, 2);
	else
		json_member_string(o->b, "type", types[0]);
}

static void put_choices(struct oas *o, const struct attribute *a, bool nullable)
{
	json_member_open(o->b, "enum", '[');
	for (size_t i = 0; i < a->choice_count; i++)
		json_string(o->b, a->choices[i]);
	if (nullable)
		json_null(o->b);
	json_close(o->b, ']');
}

static void put_range(struct oas *o, const struct attribute *a)
{
	const char *min = "minLength", *max = "maxLength";

	switch (a->type) {
	case ATTR_NUMBER:
	case ATTR_INTEGER:
	case ATTR_EPOCH: min = "minimum", max = "maximum"; break;
	case ATTR_LIST:
	case ATTR_SET: min = "minItems", max = "maxItems"; break;
	case ATTR_MAP: min = "minProperties", max = "maxProperties"; break;
	case ATTR_BINARY: /* the limits count bytes, and the text is base64 */ return;
	default: break;
	}
	if (a->has_min && (a->min != 0 || min[3] == 'i'))
		oas_member_number(o, min, a->min);
	if (a->has_max)
		oas_member_number(o, max, a->max);
}

/* JSON Schema has no word for slugs and names. */
static void put_form(struct oas *o, enum attr_form form)
{
	if (form == FORM_EMAIL)
		json_member_word(o->b, "format", "email");
	else if (form == FORM_URL)
		json_member_word(o->b, "format", "uri");
}

/* JSON Schema's patterns are JavaScript's, and match anywhere unless they say otherwise. */
static void put_pattern(struct oas *o, const struct regex *x)
{
	struct buf b;

	if (!x || !regex_is_portable(x))
		return;
	buf_init(&b, o->a);
	buf_printf(&b, "^(?:%.*s)$", SLICE_ARG(regex_text(x)));
	json_member_string(o->b, "pattern", buf_slice(&b));
}

/* Members with a default are in every item; a body may leave them out. */
static void put_members(struct oas *o, const struct structure *s)
{
	struct slice *names = arena_array(o->a, struct slice, s->member_count);
	size_t n = 0;

	EACH (struct attribute, m, s->members, s->member_count)
		if (m->required && !m->default_ && !o->patch)
			names[n++] = m->name;
	if (n)
		json_member_strings(o->b, "required", names, n);
	json_member_open(o->b, "properties", '{');
	EACH (struct attribute, m, s->members, s->member_count) {
		json_name_string(o->b, m->name);
		json_open(o->b, '{');
		oas_value_schema(o, m, o->patch && !m->required);
		oas_attribute_description(o, m);
		if (m->default_ && !o->patch) {
			json_name(o->b, "default");
			output_value(o->b, m->default_->value);
		}
		json_close(o->b, '}');
	}
	json_close(o->b, '}');
	json_member_bool(o->b, "additionalProperties", s->open);
}

static void put_object(struct oas *o, const struct attribute *a)
{
	if (a->members) {
		put_members(o, a->members);
	} else if (a->each) {
		json_member_open(o->b, "additionalProperties", '{');
		oas_value_schema(o, a->each, o->patch);
		json_close(o->b, '}');
	} else {
		json_member_bool(o->b, "additionalProperties", true);
	}
}

static void put_file(struct oas *o, bool nullable)
{
	json_member_open(o->b, "oneOf", '[');
	if (o->input)
		oas_put(o, "{'type':'string','description':'The id of an uploaded file.'}");
	oas_ref_common(o, OAS_FILE);
	if (nullable)
		oas_put(o, "{'type':'null'}");
	json_close(o->b, ']');
}

void oas_value_schema(struct oas *o, const struct attribute *a, bool nullable)
{
	nullable |= input_default_is_null(a);
	if (a->file) {
		put_file(o, nullable);
		return;
	}
	put_type(o, a->type, nullable);
	put_range(o, a);
	if (a->type == ATTR_ENUM)
		put_choices(o, a, nullable);
	if (a->type == ATTR_LIST || a->type == ATTR_SET) {
		json_name(o->b, "items");
		oas_element(o, a);
	} else {
		put_form(o, a->form);
		put_pattern(o, a->matches);
	}
	if (a->type == ATTR_SET)
		json_member_bool(o->b, "uniqueItems", true);
	if (a->type == ATTR_TIMESTAMP)
		json_member_word(o->b, "format", "date-time");
	if (a->type == ATTR_EPOCH)
		json_member_word(o->b, "format", "int64");
	if (a->type == ATTR_BINARY)
		json_member_word(o->b, "contentEncoding", "base64");
	if (a->type == ATTR_MAP)
		put_object(o, a);
}

void oas_attribute(struct oas *o, const struct attribute *a)
{
	json_open(o->b, '{');
	if (a)
		oas_value_schema(o, a, false);
	else
		json_member_word(o->b, "type", "string");
	json_close(o->b, '}');
}

void oas_element(struct oas *o, const struct attribute *a)
{
	const struct attribute element = {
		.type = a->element,
		.element = ATTR_MAP,
		.form = a->form,
		.matches = a->matches,
		.choices = a->choices,
		.choice_count = a->choice_count,
	};
	bool patch = o->patch;

	o->patch = false; /* a list is given as a whole */
	if (a->each)
		oas_attribute(o, a->each);
	else if (a->element == ATTR_MAP)
		oas_put(o, "{}");
	else
		oas_attribute(o, &element);
	o->patch = patch;
}

/* ---- descriptions ---- */

__attribute__((format(printf, 2, 3))) static void say(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (b->n)
		buf_byte(b, ' ');
	buf_put(b, arena_vprintf(b->arena, fmt, ap));
	va_end(ap);
}

/* What the server makes of the value. */
static void say_source(struct buf *b, const struct attribute *a)
{
	if (a->sequence)
		say(b, "A sequence: the last number taken.");
	else if (a->counter)
		say(b, "A counter.");
	if (a->next)
		say(b, "The next number of `%.*s` of its %.*s.", SLICE_ARG(a->next_attribute),
		    SLICE_ARG(a->next->entity));
	if (a->copy_entity.n)
		say(b, "A copy of `%.*s` of %.*s.", SLICE_ARG(a->copy_attribute), SLICE_ARG(a->copy_entity));
	if (a->derived) {
		say(b, "Derived: `");
		term_print(b, a->derived);
		buf_lit(b, "`.");
	}
	if (a->refers)
		say(b, "%s to %.*s (`%.*s`), which %s.%s", attribute_has_references(a) ? "References" : "Reference",
		    SLICE_ARG(a->refers->to->name), SLICE_ARG(a->refers->to->path),
		    a->may_be_missing ? "may be missing" : "exists when it is set",
		    a->tree ? " The parent: no item is below itself." : "");
	if (a->the_caller)
		say(b, "Who created it.");
	if (a->now)
		say(b, "When it was created.");
	if (a->last_writer)
		say(b, "Who changed it last; absent when the server did.");
	if (a->touched)
		say(b, "When it was last changed.");
	if (a->id)
		say(b, "Generated if not given.");
}

void oas_attribute_description(struct oas *o, const struct attribute *a)
{
	struct buf b;

	buf_init(&b, o->a);
	if (a->type == ATTR_EPOCH)
		say(&b, "Seconds since 1970.");
	if (a->matches && !regex_is_portable(a->matches))
		say(&b, "Matches the PCRE2 pattern `%.*s`.", SLICE_ARG(regex_text(a->matches)));
	if (a->fine)
		say(&b, "With milliseconds: 2026-01-15T10:30:00.000Z.");
	if (attribute_file(a))
		say(&b, "%s %.*s.", a->file ? "A file" : "Files, each",
		    SLICE_ARG(file_rule_text(o->a, attribute_file(a))));
	say_source(&b, a);
	if (a->unique)
		say(&b, "Unique.");
	if (a->lower)
		say(&b, "Trimmed and in lower case.");
	if (a->fixed && !input_is_kept(a))
		say(&b, "Cannot change after creation.");
	if (a->private_)
		say(&b, "Visible only to those who may update the item.");
	if (b.n)
		json_member_string(o->b, "description", buf_slice(&b));
}
