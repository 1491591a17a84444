/* The schema of one value, and what a person should know of an attribute.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input.h"
#include "app/openapi/openapi.h"

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
	if (!nullable) {
		oas_member(o, "type", oas_json_type(t));
		return;
	}
	oas_list(o, "type");
	oas_text(o, slice_str(oas_json_type(t)));
	oas_text(o, SLICE("null"));
	oas_close(o, ']');
}

static void put_choices(struct oas *o, const struct attribute *a, bool nullable)
{
	oas_list(o, "enum");
	for (size_t i = 0; i < a->choice_count; i++)
		oas_text(o, a->choices[i]);
	if (nullable)
		oas_value(o, value_make_null(o->a));
	oas_close(o, ']');
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
	case ATTR_BINARY: /* counts bytes, and the text is base64 */ return;
	default: break;
	}
	if (a->has_min && (a->min != 0 || min[3] == 'i'))
		oas_member_number(o, min, a->min);
	if (a->has_max)
		oas_member_number(o, max, a->max);
}

/* What JSON Schema calls the forms of strings; slugs and names have no word there. */
static void put_form(struct oas *o, enum attr_form form)
{
	if (form == FORM_EMAIL)
		oas_member(o, "format", "email");
	else if (form == FORM_URL)
		oas_member(o, "format", "uri");
}

/* What lists and sets are of. ATTR_MAP stands for anything. */
static void put_element(struct oas *o, const struct attribute *a)
{
	oas_object(o, "items");
	if (a->element != ATTR_MAP)
		put_type(o, a->element, false);
	if (a->element == ATTR_TIMESTAMP)
		oas_member(o, "format", "date-time");
	put_form(o, a->form);
	if (a->element == ATTR_BINARY)
		oas_member(o, "contentEncoding", "base64");
	if (a->element == ATTR_ENUM)
		put_choices(o, a, false);
	if (a->element == ATTR_LIST)
		oas_object(o, "items"), oas_close(o, '}');
	oas_close(o, '}');
}

void oas_value_schema(struct oas *o, const struct attribute *a, bool nullable)
{
	nullable |= input_default_is_null(a);
	put_type(o, a->type, nullable);
	put_range(o, a);
	if (a->type == ATTR_ENUM)
		put_choices(o, a, nullable);
	if (a->type == ATTR_LIST || a->type == ATTR_SET)
		put_element(o, a);
	else
		put_form(o, a->form);
	if (a->type == ATTR_SET)
		oas_member_bool(o, "uniqueItems", true);
	if (a->type == ATTR_TIMESTAMP)
		oas_member(o, "format", "date-time");
	if (a->type == ATTR_EPOCH)
		oas_member(o, "format", "int64");
	if (a->type == ATTR_BINARY)
		oas_member(o, "contentEncoding", "base64");
	if (a->type == ATTR_MAP)
		oas_member_bool(o, "additionalProperties", true);
}

void oas_attribute(struct oas *o, const struct attribute *a)
{
	oas_open(o, '{');
	if (a)
		oas_value_schema(o, a, false);
	else
		oas_member(o, "type", "string");
	oas_close(o, '}');
}

/* ---- what a person should know of an attribute ---- */
static void say(struct buf *b, const char *sentence)
{
	if (b->n)
		buf_byte(b, ' ');
	buf_str(b, sentence);
}

void oas_attribute_description(struct oas *o, const struct attribute *a)
{
	struct buf b;

	buf_init(&b, o->a);
	if (a->type == ATTR_EPOCH)
		say(&b, "Seconds since 1970.");
	if (a->sequence)
		say(&b, "A sequence: the number that was taken last.");
	else if (a->counter)
		say(&b, "A counter.");
	if (a->next)
		buf_printf(&b, "%sThe next number of `%.*s` of its %.*s.", b.n ? " " : "", SLICE_ARG(a->next_attribute),
			   SLICE_ARG(a->next->entity));
	if (a->copy_entity.n)
		buf_printf(&b, "A copy of `%.*s` of %.*s.", SLICE_ARG(a->copy_attribute), SLICE_ARG(a->copy_entity));
	if (a->derived) {
		say(&b, "Derived: `");
		term_print(&b, a->derived);
		buf_lit(&b, "`.");
	}
	if (a->the_caller)
		say(&b, "Who created it.");
	if (a->now)
		say(&b, "When it was created.");
	if (a->touched)
		say(&b, "When it was last changed.");
	if (a->id)
		say(&b, "Made when not given.");
	if (a->unique)
		say(&b, "No two have the same.");
	if (a->lower)
		say(&b, "Trimmed and in lower case.");
	if (a->fixed && !input_is_kept(a))
		say(&b, "Cannot change after creation.");
	if (a->private_)
		say(&b, "Shown only to who may update the item.");
	if (b.n)
		oas_member_slice(o, "description", buf_slice(&b));
}
