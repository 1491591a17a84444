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

/* The elements of a list or set. ATTR_MAP stands for anything. */
static void put_element(struct oas *o, const struct attribute *a)
{
	bool patch = o->patch;

	if (a->each) {
		o->patch = false; /* a list is given as a whole */
		json_name(o->b, "items");
		oas_attribute(o, a->each);
		o->patch = patch;
		return;
	}
	json_member_open(o->b, "items", '{');
	if (a->element != ATTR_MAP)
		put_type(o, a->element, false);
	if (a->element == ATTR_TIMESTAMP)
		json_member_word(o->b, "format", "date-time");
	put_form(o, a->form);
	put_pattern(o, a->matches);
	if (a->element == ATTR_BINARY)
		json_member_word(o->b, "contentEncoding", "base64");
	if (a->element == ATTR_ENUM)
		put_choices(o, a, false);
	if (a->element == ATTR_LIST)
		oas_put(o, "'items':{}");
	json_close(o->b, '}');
}

void oas_value_schema(struct oas *o, const struct attribute *a, bool nullable)
{
	nullable |= input_default_is_null(a);
	put_type(o, a->type, nullable);
	put_range(o, a);
	if (a->type == ATTR_ENUM)
		put_choices(o, a, nullable);
	if (a->type == ATTR_LIST || a->type == ATTR_SET) {
		put_element(o, a);
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

/* ---- descriptions ---- */

static void add_sentence(struct buf *b, const char *sentence)
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
		add_sentence(&b, "Seconds since 1970.");
	if (a->matches && !regex_is_portable(a->matches))
		buf_printf(&b, "Matches the PCRE2 pattern `%.*s`.", SLICE_ARG(regex_text(a->matches)));
	if (a->fine)
		add_sentence(&b, "With milliseconds: 2026-01-15T10:30:00.000Z.");
	if (a->sequence)
		add_sentence(&b, "A sequence: the last number taken.");
	else if (a->counter)
		add_sentence(&b, "A counter.");
	if (a->next)
		buf_printf(&b, "%sThe next number of `%.*s` of its %.*s.", b.n ? " " : "", SLICE_ARG(a->next_attribute),
			   SLICE_ARG(a->next->entity));
	if (a->copy_entity.n)
		buf_printf(&b, "A copy of `%.*s` of %.*s.", SLICE_ARG(a->copy_attribute), SLICE_ARG(a->copy_entity));
	if (a->derived) {
		add_sentence(&b, "Derived: `");
		term_print(&b, a->derived);
		buf_lit(&b, "`.");
	}
	if (a->the_caller)
		add_sentence(&b, "Who created it.");
	if (a->now)
		add_sentence(&b, "When it was created.");
	if (a->touched)
		add_sentence(&b, "When it was last changed.");
	if (a->id)
		add_sentence(&b, "Generated if not given.");
	if (a->unique)
		add_sentence(&b, "Unique.");
	if (a->lower)
		add_sentence(&b, "Trimmed and in lower case.");
	if (a->fixed && !input_is_kept(a))
		add_sentence(&b, "Cannot change after creation.");
	if (a->private_)
		add_sentence(&b, "Visible only to those who may update the item.");
	if (b.n)
		json_member_string(o->b, "description", buf_slice(&b));
}
