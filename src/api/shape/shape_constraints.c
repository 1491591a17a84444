/* Required members, lengths, ranges, patterns, enums: all failures of a request in one message.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/shape/shape_constraints.h"

#define FAILURES_MAX 10 /* DynamoDB stops listing there */

struct failures {
	struct arena *arena;
	struct buf text;
	int count;
};

/* Where in the request a value stands: "keySchema.1.member.keyType". */
struct place {
	const struct place *parent;
	const char *member; /* a struct's member, or NULL: element `index` of a list or `key` of a map */
	size_t index;
	struct slice key;
};

static void print_place(struct buf *b, const struct place *p, bool terse)
{
	if (p->parent) {
		print_place(b, p->parent, terse);
		buf_lit(b, ".");
	}
	if (p->member) {
		char first = p->member[0];

		if (!terse && first >= 'A' && first <= 'Z')
			first = (char)(first - 'A' + 'a');
		buf_byte(b, (uint8_t)first);
		buf_str(b, p->member + 1);
	} else if (p->key.p) {
		buf_put(b, p->key);
		buf_lit(b, ".member");
	} else {
		buf_u64(b, p->index + 1);
		buf_lit(b, ".member");
	}
}

static void print_value(struct buf *b, const struct shape *s, const struct json *j);

static void print_struct(struct buf *b, const struct shape *s, const struct json *j)
{
	bool first = true;

	buf_str(b, s->class_name ? s->class_name : "");
	buf_lit(b, "(");
	for (const struct shape_member *m = s->members; m && m->name; m++) {
		const struct json *child = json_get(j, m->name);

		if (!child || child->type == JSON_NULL)
			continue;
		if (!first)
			buf_lit(b, ", ");
		first = false;
		struct place p = { .member = m->name };

		print_place(b, &p, false);
		buf_lit(b, "=");
		print_value(b, m->shape, child);
	}
	buf_lit(b, ")");
}

static void print_value(struct buf *b, const struct shape *s, const struct json *j)
{
	switch (j->type) {
	case JSON_NULL:
	case JSON_BOOL:
	case JSON_INT: json_write(b, j); break;
	case JSON_DOUBLE: buf_printf(b, "%.0f", j->number); break;
	case JSON_STRING: buf_put(b, j->string); break;
	case JSON_ARRAY:
		buf_lit(b, "[");
		for (size_t i = 0; i < j->count; i++) {
			if (i)
				buf_lit(b, ", ");
			if (s && s->element)
				print_value(b, s->element, &j->items[i]);
		}
		buf_lit(b, "]");
		break;
	case JSON_OBJECT:
		if (s && s->type == SHAPE_STRUCT) {
			print_struct(b, s, j);
			break;
		}
		if (s && s->type == SHAPE_ATTRIBUTE_VALUE) {
			buf_lit(b, "AttributeValue()");
			break;
		}
		buf_lit(b, "{");
		for (size_t i = 0; i < j->count; i++) {
			if (i)
				buf_lit(b, ", ");
			buf_put(b, j->members[i].name);
			buf_lit(b, "=");
			if (s && s->element)
				print_value(b, s->element, &j->members[i].value);
		}
		buf_lit(b, "}");
		break;
	}
}

/* Starts one failure; the caller appends the constraint's sentence. False once there are enough. */
static bool begin_failure(struct failures *f, const struct shape *s, const struct json *j, const struct place *p)
{
	bool terse = s && s->terse;

	if (f->count >= FAILURES_MAX)
		return false;
	if (f->count++)
		buf_lit(&f->text, "; ");
	buf_lit(&f->text, "Value ");
	if (!j || j->type == JSON_NULL) {
		buf_lit(&f->text, "null ");
	} else if (!terse) {
		buf_lit(&f->text, "'");
		print_value(&f->text, s, j);
		buf_lit(&f->text, "' ");
	}
	buf_lit(&f->text, "at '");
	print_place(&f->text, p, terse);
	buf_lit(&f->text, "' failed to satisfy constraint: ");
	return true;
}

static void check_range(struct failures *f, const struct shape *s, const struct json *j, double v, const char *what,
			const struct place *p)
{
	if (s->has_min && v < (double)s->min && begin_failure(f, s, j, p))
		buf_printf(&f->text, "Member must have %s greater than or equal to %lld", what, (long long)s->min);
	if (s->has_max && v > (double)s->max && begin_failure(f, s, j, p))
		buf_printf(&f->text, "Member must have %s less than or equal to %lld", what, (long long)s->max);
}

static bool in_enum(const char *const *values, struct slice s)
{
	for (; *values; values++)
		if (slice_is(s, *values))
			return true;
	return false;
}

static bool is_exempt_arn(const struct shape *s, const struct json *j)
{
	return s->arn_ok && slice_starts(j->string, SLICE("arn:"));
}

/* As Java counts: in units of UTF-16. */
static size_t length_of(struct slice s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		n += (c & 0xc0) != 0x80; /* not a continuation */
		n += c >= 0xf0;          /* a pair of surrogates */
	}
	return n;
}

static void check_string(struct failures *f, const struct shape *s, const struct json *j, const struct place *p)
{
	if (is_exempt_arn(s, j))
		return;
	if (s->matches && !s->matches(j->string) && begin_failure(f, s, j, p))
		buf_printf(&f->text, "Member must satisfy regular expression pattern: %s", s->pattern);
	check_range(f, s, j, (double)length_of(j->string), "length", p);
	if (s->values && !in_enum(s->values, j->string) && begin_failure(f, s, j, p)) {
		buf_lit(&f->text, "Member must satisfy enum value set: [");
		for (const char *const *v = s->values; *v; v++) {
			if (v != s->values)
				buf_lit(&f->text, ", ");
			buf_str(&f->text, *v);
		}
		buf_lit(&f->text, "]");
	}
}

static void check(struct failures *f, const struct shape *s, const struct json *j, const struct place *p);

/* Null is not a member of a list or map. (Attribute values say so themselves.) */
static void check_element(struct failures *f, const struct shape *s, const struct json *j, const struct place *p)
{
	if (j->type != JSON_NULL)
		check(f, s, j, p);
	else if (s->type != SHAPE_ATTRIBUTE_VALUE && begin_failure(f, s, NULL, p))
		buf_lit(&f->text, "Member must not be null");
}

static bool outside(const struct shape *s, size_t n)
{
	return (s->has_min && (int64_t)n < s->min) || (s->has_max && (int64_t)n > s->max);
}

static void check_map_keys(struct failures *f, const struct shape *s, const struct json *j, const struct place *p)
{
	const struct shape *k = s->key;

	for (size_t i = 0; i < j->count; i++) {
		struct slice name = j->members[i].name;

		if (!outside(k, length_of(name)) && (!k->matches || k->matches(name)))
			continue;
		if (!begin_failure(f, s, j, p))
			return;
		buf_printf(&f->text,
			   "Map keys must satisfy constraint: [Member must have length less than or equal to "
			   "%lld, Member must have length greater than or equal to %lld",
			   (long long)k->max, (long long)k->min);
		if (k->pattern)
			buf_printf(&f->text, ", Member must satisfy regular expression pattern: %s", k->pattern);
		buf_lit(&f->text, "]");
	}
}

static void check_map(struct failures *f, const struct shape *s, const struct json *j, const struct place *p)
{
	check_range(f, s, j, j->count, "length", p);
	if (s->key)
		check_map_keys(f, s, j, p);
	for (size_t i = 0; i < j->count; i++) {
		const struct json *v = &j->members[i].value;
		struct place here = { .parent = p, .key = j->members[i].name };

		if (s->checks_values && outside(s->element, v->count)) {
			if (begin_failure(f, s, j, p))
				buf_printf(&f->text,
					   "Map value must satisfy constraint: [Member must have length less "
					   "than or equal to %lld, Member must have length greater than or "
					   "equal to %lld]",
					   (long long)s->element->max, (long long)s->element->min);
			continue;
		}
		check_element(f, s->element, v, &here);
	}
}

static void check_struct(struct failures *f, const struct shape *s, const struct json *j, const struct place *p)
{
	for (const struct shape_member *m = s->members; m && m->name; m++) {
		const struct json *child = json_get(j, m->name);
		struct place here = { .parent = p, .member = m->name };

		if (child && child->type != JSON_NULL)
			check(f, m->shape, child, &here);
		else if (m->required == SHAPE_REQUIRED && begin_failure(f, m->shape, NULL, &here))
			buf_lit(&f->text, "Member must not be null");
	}
}

static void check(struct failures *f, const struct shape *s, const struct json *j, const struct place *p)
{
	switch (s->type) {
	case SHAPE_STRING: check_string(f, s, j, p); break;
	case SHAPE_INTEGER:
	case SHAPE_LONG:
	case SHAPE_DOUBLE:
		check_range(f, s, j, j->type == JSON_INT ? (double)j->integer : j->number, "value", p);
		break;
	case SHAPE_LIST:
		check_range(f, s, j, j->count, "length", p);
		for (size_t i = 0; i < j->count; i++) {
			struct place here = { .parent = p, .index = i };

			check_element(f, s->element, &j->items[i], &here);
		}
		break;
	case SHAPE_MAP: check_map(f, s, j, p); break;
	case SHAPE_STRUCT: check_struct(f, s, j, p); break;
	default: break;
	}
}

static bool report(const struct failures *f, struct error *e)
{
	return error_set(e, f->arena, ERR_VALIDATION, "%d validation error%s detected: %.*s", f->count,
			 f->count == 1 ? "" : "s", SLICE_ARG(buf_slice(&f->text)));
}

/* A table name that is missing or of the wrong length is all DynamoDB talks about. */
static bool check_parameters(const struct shape *s, const struct json *j, struct arena *a, struct error *e)
{
	for (const struct shape_member *m = s->members; m && m->name; m++) {
		struct place here = { .member = m->name };
		struct failures f = { .arena = a };
		const struct json *child;

		if (m->required != SHAPE_PARAMETER)
			continue;
		child = json_get(j, m->name);
		if (!child || child->type == JSON_NULL)
			return error_set(e, a, ERR_VALIDATION,
					 "The parameter '%s' is required but was not present in the request", m->name);
		buf_init(&f.text, a);
		if (!is_exempt_arn(m->shape, child))
			check_range(&f, m->shape, child, (double)child->string.n, "length", &here);
		if (f.count)
			return report(&f, e);
	}
	return true;
}

bool shape_check_constraints(const struct shape *s, const struct json *j, struct arena *a, struct error *e)
{
	struct failures f = { .arena = a };

	if (!check_parameters(s, j, a, e))
		return false;
	buf_init(&f.text, a);
	check_struct(&f, s, j, NULL);
	return !f.count || report(&f, e);
}
