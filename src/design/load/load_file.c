/* Files: file image/png | image/webp up to 5 MB, and what a design must have for them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/ulid.h"
#include "design/load/load.h"

/* ---- types and length ---- */
/* image/png, or image/ and a star */
static bool is_media_type(struct slice s)
{
	const char *slash = s.n ? memchr(s.p, '/', s.n) : NULL;
	struct slice kind, rest;

	if (!slash || s.n > FILE_TYPE_MOST)
		return false;
	kind = slice_make(s.p, (size_t)(slash - s.p));
	rest = slice_make(slash + 1, s.n - kind.n - 1);
	return load_consists_of(kind, "abcdefghijklmnopqrstuvwxyz0123456789-") &&
	       (slice_is(rest, "*") || load_consists_of(rest, "abcdefghijklmnopqrstuvwxyz0123456789!#$&^_.+-"));
}

static void read_types(struct load *l, struct load_span s, struct file_rule *f)
{
	size_t most = span_parts(s, '|');
	struct slice *types = arena_array(l->a, struct slice, most);
	struct load_span one;

	for (size_t i = 0; i < most; i++) {
		span_split(&s, '|', &one);
		if (!is_media_type(span_text(one)))
			load_error(l, span_place(l, one), "wrong-value",
				   "expected a media type such as image/png or image/*, not '%.*s'",
				   SLICE_ARG(span_text(one)));
		else if (slice_among(types, f->type_count, span_text(one)))
			load_error(l, span_place(l, one), "duplicate-key", "'%.*s' is here twice",
				   SLICE_ARG(span_text(one)));
		else
			types[f->type_count++] = span_text(one);
	}
	f->types = types;
}

/* 5 MB */
static bool read_length(struct load_span s, int64_t *out)
{
	static const char *const units[] = { "KB", "MB", "GB" };
	struct load_span number;
	int64_t n;

	if (!span_split(&s, ' ', &number) || !span_integer(number, &n) || n < 1 || n > 1 << 20)
		return false;
	for (size_t i = 0; i < LENGTH(units); i++)
		if (slice_is(span_text(s), units[i])) {
			*out = n << (10 * (i + 1));
			return *out <= FILE_MOST_BYTES;
		}
	return false;
}

/* ---- the value ---- */
static struct attribute member(const char *name, struct place p, double most)
{
	return (struct attribute){ .name = slice_str(name),
				   .place = p,
				   .type = ATTR_STRING,
				   .element = ATTR_MAP,
				   .required = true,
				   .has_min = true,
				   .min = 1,
				   .has_max = true,
				   .max = most };
}

static const struct structure *make_members(struct load *l, struct place p, const struct file_rule *f)
{
	struct structure *s = arena_new(l->a, struct structure);
	struct attribute *m = arena_array(l->a, struct attribute, 4);

	m[0] = member("file", p, ULID_LENGTH);
	m[1] = member("type", p, FILE_TYPE_MOST);
	m[2] = member("size", p, (double)f->most);
	m[2].type = ATTR_INTEGER;
	m[3] = member("name", p, FILE_NAME_MOST);
	m[3].required = false;
	*s = (struct structure){ .place = p, .members = m, .member_count = 4, .depth = 1 };
	return s;
}

void load_file(struct load *l, struct load_span s, struct attribute *out)
{
	struct file_rule *f = arena_new(l->a, struct file_rule);
	struct load_span types = { 0 };

	*f = (struct file_rule){ .most = 1 };
	if (!span_take(&s, "up to") && !span_split_word(&s, "up to", &types))
		s.n = 0;
	if (!s.n || !read_length(s, &f->most))
		load_error(l, s.n ? span_place(l, s) : out->place, "wrong-value",
			   "expected how long a file may be, at most 1 GB, as in 'file image/png up to 5 MB'");
	else if (types.n)
		read_types(l, types, f);
	out->type = out->element = ATTR_MAP;
	out->file = f;
	out->members = make_members(l, out->place, f);
}

/* ---- the whole design ---- */
static bool is_null(const struct term *t)
{
	return t->kind == TERM_LITERAL &&
	       (value_type(t->value) == VALUE_NULL || (value_type(t->value) == VALUE_L && !value_count(t->value)));
}

static void check_assigned(struct load *l, const struct entity *e, const struct assignment *list, size_t n)
{
	EACH (struct assignment, s, list, n) {
		const struct attribute *a = e ? entity_attribute(e, s->attribute) : NULL;

		if (a && attribute_file(a) && !is_null(s->term))
			load_error(l, s->place, "wrong-type",
				   "'%.*s' of %.*s is a file: only a client that has uploaded it can set it",
				   SLICE_ARG(a->name), SLICE_ARG(e->name))
				->repair = SLICE("set it to null, or take it in as `input`");
	}
}

static void check_also(struct load *l, const struct also_rule *list, size_t n)
{
	EACH (struct also_rule, x, list, n)
		check_assigned(l, x->to, x->with, x->with_count);
}

/* Something has to see that an item no longer holds a file, whichever way that came about. */
static void check_stream(struct load *l, const struct attribute *a)
{
	if (l->d->stream != STREAM_NEW_AND_OLD)
		load_error(l, a->place, "no-stream",
			   "a file is removed when its item no longer has it, which the table's stream tells")
			->repair = SLICE("add 'stream: new and old images' to the table");
}

static void check_entity(struct load *l, const struct entity *e)
{
	EACH (struct attribute, a, e->attributes, e->attribute_count) {
		const struct attribute *of =
			a->copy_of && a->copy_attribute.n ? entity_attribute(a->copy_of, a->copy_attribute) : NULL;

		if (attribute_file(a) && !a->copy_entity.n)
			check_stream(l, a);
		if (of && attribute_file(of))
			load_error(l, a->place, "wrong-type",
				   "'%.*s' of %.*s is a file, which belongs to one attribute of one item",
				   SLICE_ARG(of->name), SLICE_ARG(a->copy_of->name))
				->repair = SLICE("let readers follow the item, as with `then`");
	}
	EACH (struct action, x, e->actions, e->action_count) {
		check_assigned(l, e, x->set, x->set_count);
		check_also(l, x->also, x->also_count);
	}
	check_assigned(l, e, e->delete_.set, e->delete_.set_count);
	check_also(l, e->also, e->also_count);
}

void load_check_files(struct load *l)
{
	EACH (struct entity, e, l->d->entities, l->d->entity_count) {
		load_subject(l, "entity", e->name);
		check_entity(l, e);
	}
	EACH (struct processor, p, l->d->processors, l->d->processor_count) {
		load_subject(l, "processor", p->name);
		check_assigned(l, p->target_entity, p->with, p->with_count);
	}
	EACH (struct access, x, l->d->accesses, l->d->access_count) {
		load_subject(l, "access", x->name);
		EACH (struct attribute, q, x->query_params, x->query_param_count)
			if (attribute_file(q))
				load_error(l, q->place, "wrong-type", "a file is an attribute of an item, no parameter");
	}
	l->subject = SLICE("");
}
