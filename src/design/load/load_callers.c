/* Callers and traffic: who calls, and how often.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

/* One, or a list. Empty ones are left out: ${NAME:-} gives one. */
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

/* Group.permissions through my groups(user_id = caller) by groupName */
static void read_permissions(struct load *l, void *into, const struct yaml *y)
{
	const char *expected = "as in Group.permissions through my groups(user_id = caller) by groupName";
	static const struct load_scope nothing;
	struct callers *c = into;
	struct load_span s, what, entity, pattern;
	struct load_call call;

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
	load_later_found(l, NAME_ENTITY, c->permissions_entity, span_place(l, entity), SLICE(""), &c->permissions_of);
	load_later_name(l, NAME_ATTRIBUTE, c->permissions_attribute, span_place(l, what), c->permissions_entity);
	if (!load_pattern_call(l, pattern, &nothing, &call, &c->permissions_access))
		return;
	c->permissions_with = call.with;
	c->permissions_with_count = call.with_count;
	load_later_name(l, NAME_ITEM_ATTRIBUTE, c->permissions_ref, span_place(l, s), SLICE(""));
}

static const struct load_shape audience_shape = { SHAPE_LIST, "an audience, or a list of them", .of = &load_any_shape };
static const struct load_shape permissions_shape = {
	SHAPE_TEXT, "as in Group.permissions through my groups(user_id = caller) by groupName", ".+ through .+ by .+",
	.is_words = true
};

static const struct load_word words[] = {
	{ "roles", WORD_TEXTS, LIST_AT(callers, roles, role_count), "a list of roles" },
	{ "issuer", WORD_TEXT, AT(callers, issuer), "an issuer's address" },
	{ "jwks", WORD_TEXT, AT(callers, jwks), "the address of the issuer's keys" },
	{ "audience", .read = read_audience, .shape = &audience_shape },
	{ "subject", WORD_TEXT, AT(callers, subject_claim), "the name of a claim" },
	{ "groups", WORD_TEXT, AT(callers, groups_claim), "the name of a claim" },
	{ "claims", .read = load_claims, .shape = &load_claims_shape },
	{ "permissions", .read = read_permissions, .shape = &permissions_shape },
	{ 0 },
};

const struct load_shape load_callers_shape = { SHAPE_WORDS, "'callers'", .words = words };

/* roles: user, admin is one text to YAML. */
static void check_role(struct load *l, const struct yaml *y)
{
	if (y->kind == YAML_SCALAR && (memchr(y->text.p, ',', y->text.n) || memchr(y->text.p, ' ', y->text.n)))
		load_error(l, y->place, "bad-name", "a role is one word, without commas and spaces")->repair =
			SLICE("a list has brackets: [user, admin]");
}

static void check_roles(struct load *l, const struct yaml *y)
{
	check_role(l, y);
	for (size_t i = 0; y->kind == YAML_LIST && i < y->count; i++)
		check_role(l, &y->items[i]);
}

void load_callers(struct load *l, void *into, const struct yaml *y)
{
	struct callers *c = &((struct design *)into)->callers;

	c->place = y->place;
	l->subject = SLICE("callers");
	(void)load_words(l, y, "'callers'", words, c, NULL);
	for (size_t i = 0; y->kind == YAML_MAP && i < y->count; i++)
		if (slice_is(y->entries[i].key.text, "roles"))
			check_roles(l, &y->entries[i].value);
	l->subject = SLICE("");
}

/* ---- traffic ---- */
static bool read_rate(struct load_span s, double *out)
{
	struct load_span number;

	if (!span_split(&s, ' ', &number) || !span_decimal(number, out) || *out < 0 ||
	    (!span_take(&s, "a") && !span_take(&s, "an") && !span_take(&s, "per")))
		return false;
	if (load_seconds(span_text(s)))
		*out /= (double)load_seconds(span_text(s));
	return load_seconds(span_text(s));
}

static const struct load_shape rate_shape = { SHAPE_TEXT, "a rate, as in 100 a second", "[0-9.]+ +(a|an|per) +.+",
					      .is_words = true };
const struct load_shape load_traffic_shape = { SHAPE_MAP, "access patterns and rates", .of = &rate_shape };

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
		load_later_name(l, NAME_TRAFFIC, list[i].pattern, list[i].place, SLICE(""));
		if (load_is_scalar(l, &entries[i].value, expected) &&
		    !read_rate(load_whole(&entries[i].value), &list[i].per_second))
			load_expected(l, &entries[i].value, expected);
	}
	d->traffic = list;
	d->traffic_count = count;
	l->subject = SLICE("");
}
