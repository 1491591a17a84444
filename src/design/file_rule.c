/* What files an attribute may hold.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/design.h"

bool entity_has_files(const struct entity *e)
{
	EACH (struct attribute, a, e->attributes, e->attribute_count)
		if (attribute_file(a))
			return true;
	return false;
}

bool design_has_files(const struct design *d)
{
	EACH (struct entity, e, d->entities, d->entity_count)
		if (entity_has_files(e))
			return true;
	return false;
}

bool file_rule_allows(const struct file_rule *f, struct slice type)
{
	for (size_t i = 0; i < f->type_count; i++) {
		struct slice one = f->types[i];

		if (slice_equal(one, type))
			return true;
		if (one.p[one.n - 1] == '*' && type.n >= one.n && !memcmp(one.p, type.p, one.n - 1))
			return true;
	}
	return !f->type_count;
}

struct slice file_rule_text(struct arena *a, const struct file_rule *f)
{
	static const char *const units[] = { "KB", "MB", "GB" };
	int64_t n = f->most >> 10;
	size_t unit = 0;
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < f->type_count; i++) {
		buf_str(&b, !i ? "" : i + 1 < f->type_count ? ", " : " or ");
		buf_put(&b, f->types[i]);
	}
	for (; unit < 2 && !(n & 1023); unit++)
		n >>= 10;
	buf_printf(&b, "%sof at most %lld %s", f->type_count ? " " : "", (long long)n, units[unit]);
	return buf_slice(&b);
}
