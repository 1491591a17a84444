/* JSON with its commas in place.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/openapi/openapi.h"
#include "app/entity/output.h"

static void begin(struct oas *o)
{
	if (o->comma)
		buf_byte(o->b, ',');
	o->comma = true;
}

void oas_open(struct oas *o, char bracket)
{
	begin(o);
	buf_byte(o->b, (uint8_t)bracket);
	o->comma = false;
}

void oas_close(struct oas *o, char bracket)
{
	buf_byte(o->b, (uint8_t)bracket);
	o->comma = true;
}

void oas_name(struct oas *o, struct slice name)
{
	begin(o);
	json_string(o->b, name);
	buf_byte(o->b, ':');
	o->comma = false;
}

void oas_text(struct oas *o, struct slice s)
{
	begin(o);
	json_string(o->b, s);
}

static void oas_number(struct oas *o, double v)
{
	begin(o);
	buf_printf(o->b, "%.15g", v);
}

static void oas_bool(struct oas *o, bool v)
{
	begin(o);
	buf_str(o->b, v ? "true" : "false");
}

void oas_value(struct oas *o, struct value v)
{
	begin(o);
	output_value(o->b, v);
}

void oas_printf(struct oas *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	oas_text(o, arena_vprintf(o->a, fmt, ap));
	va_end(ap);
}

void oas_object(struct oas *o, const char *name)
{
	oas_name(o, slice_str(name));
	oas_open(o, '{');
}

void oas_list(struct oas *o, const char *name)
{
	oas_name(o, slice_str(name));
	oas_open(o, '[');
}

void oas_member(struct oas *o, const char *name, const char *text)
{
	oas_member_slice(o, name, slice_str(text));
}

void oas_member_slice(struct oas *o, const char *name, struct slice text)
{
	oas_name(o, slice_str(name));
	oas_text(o, text);
}

void oas_member_number(struct oas *o, const char *name, double v)
{
	oas_name(o, slice_str(name));
	oas_number(o, v);
}

void oas_member_bool(struct oas *o, const char *name, bool v)
{
	oas_name(o, slice_str(name));
	oas_bool(o, v);
}

void oas_ref(struct oas *o, const char *kind, struct slice name)
{
	oas_open(o, '{');
	oas_name(o, SLICE("$ref"));
	oas_printf(o, "#/components/%s/%.*s", kind, SLICE_ARG(name));
	oas_close(o, '}');
}
