/* Who calls, and how often.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

static void read_roles(struct load *l, void *into, const struct yaml *y)
{
	struct callers *c = into;

	c->role_count = load_texts(l, y, "a list of roles", &c->roles);
}

static void read_issuer(struct load *l, void *into, const struct yaml *y)
{
	((struct callers *)into)->issuer = load_text(l, y, "an issuer's address");
}

static void read_jwks(struct load *l, void *into, const struct yaml *y)
{
	((struct callers *)into)->jwks = load_text(l, y, "the address of the issuer's keys");
}

/* One, or a list. Empty ones are left out, as ${NAME:-} leaves them. */
static void read_audience(struct load *l, void *into, const struct yaml *y)
{
	struct callers *c = into;
	const struct slice *given;
	size_t count = load_texts(l, y, "an audience, or a list of them", &given);
	struct slice *list = arena_array(l->a, struct slice, count);

	for (size_t i = 0; i < count; i++)
		if (given[i].n)
			list[c->audience_count++] = given[i];
	c->audiences = list;
}

static void read_subject(struct load *l, void *into, const struct yaml *y)
{
	((struct callers *)into)->subject_claim = load_text(l, y, "the name of a claim");
}

static void read_groups(struct load *l, void *into, const struct yaml *y)
{
	((struct callers *)into)->groups_claim = load_text(l, y, "the name of a claim");
}

/* Group.permissions through my groups(user_id = caller) by groupName */
static void read_permissions(struct load *l, void *into, const struct yaml *y)
{
	const char *expected = "as in Group.permissions through my groups(user_id = caller) by groupName";
	struct callers *c = into;
	struct load_span s, what, entity, pattern;
	static const struct load_scope nothing;

	if (!load_is_scalar(l, y, expected))
		return;
	s = load_whole(y);
	if (!span_split_word(&s, "through", &what) || !span_split(&what, '.', &entity) || !span_is_name(entity) ||
	    !span_is_name(what) || !span_split_word(&s, "by", &pattern) || !span_is_name(s)) {
		load_expected(l, y, expected);
		return;
	}
	c->permissions_entity = span_text(entity);
	c->permissions_attribute = span_text(what);
	c->permissions_ref = span_text(s);
	load_later_entity(l, c->permissions_entity, span_place(l, entity));
	load_later_attribute(l, c->permissions_attribute, span_place(l, what), c->permissions_entity);
	if (load_pattern_call(l, pattern, &nothing, &c->permissions_pattern, &c->permissions_with,
			      &c->permissions_with_count))
		load_later_row_attribute(l, c->permissions_ref, span_place(l, s), NULL);
}

static const struct load_word words[] = {
	{ "roles", read_roles },
	{ "issuer", read_issuer },
	{ "jwks", read_jwks },
	{ "audience", read_audience },
	{ "subject", read_subject },
	{ "groups", read_groups },
	{ "permissions", read_permissions },
	{ 0 },
};

void load_callers(struct load *l, void *into, const struct yaml *y)
{
	struct callers *c = &((struct design *)into)->callers;

	c->place = y->place;
	l->subject = SLICE("callers");
	load_words(l, y, "'callers'", words, c, NULL);
	l->subject = SLICE("");
}

/* ---- traffic ---- */
static bool read_rate(struct load_span s, double *out)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = { { "second", 1 }, { "minute", 60 }, { "hour", 3600 }, { "day", 86400 } };
	struct load_span number;

	if (!span_split(&s, ' ', &number) || !span_decimal(number, out) || *out < 0 ||
	    (!span_take(&s, "a") && !span_take(&s, "an") && !span_take(&s, "per")))
		return false;
	for (size_t i = 0; i < 4; i++)
		if (slice_is(span_text(s), units[i].name)) {
			*out /= units[i].seconds;
			return true;
		}
	return false;
}

void load_traffic(struct load *l, void *into, const struct yaml *y)
{
	const char *expected = "a rate, as in 100 a second";
	struct design *d = into;
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of access patterns and rates", &count);
	struct traffic_rule *list = arena_array(l->a, struct traffic_rule, count);

	l->subject = SLICE("traffic");
	for (size_t i = 0; i < count; i++) {
		list[i].pattern = entries[i].key.text;
		list[i].place = entries[i].key.place;
		load_later_traffic(l, &list[i]);
		if (load_is_scalar(l, &entries[i].value, expected) &&
		    !read_rate(load_whole(&entries[i].value), &list[i].per_second))
			load_expected(l, &entries[i].value, expected);
	}
	d->traffic = list;
	d->traffic_count = count;
	l->subject = SLICE("");
}
