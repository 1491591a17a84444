/* The table: keys, indexes, stream, billing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

#define INDEXES_GLOBAL_MAX 20
#define UNITS_MAX          1000000000

/* ---- keys ---- */
static const struct slice key_types[] = { { "string", 6 }, { "number", 6 }, { "binary", 6 } };

static enum value_type key_type(struct load *l, const struct yaml *y)
{
	static const enum value_type types[] = { VALUE_S, VALUE_N, VALUE_B, VALUE_S /* after an error */ };

	if (!load_is_scalar(l, y, "string, number or binary"))
		return VALUE_S;
	return types[load_choice(l, y->text, y->place, "type of a key called", &NAMES(key_types))];
}

/* PK, or PK: number */
static bool key_attribute(struct load *l, const struct yaml *y, struct key_attr *out)
{
	if (y->kind == YAML_MAP && y->count == 1) {
		*out = (struct key_attr){ y->entries[0].key.text, key_type(l, &y->entries[0].value) };
		return true;
	}
	if (!load_is_scalar(l, y, "an attribute, as in PK or starRating: number"))
		return false;
	if (memchr(y->text.p, ',', y->text.n) || memchr(y->text.p, ' ', y->text.n)) {
		load_error(l, y->place, "bad-name", "'%.*s' is not a name for an attribute", SLICE_ARG(y->text))->repair =
			SLICE("a key of two attributes is a list: [PK, SK]");
		return false;
	}
	*out = (struct key_attr){ y->text, VALUE_S };
	return true;
}

static size_t key_side(struct load *l, const struct yaml *y, struct key_attr *out)
{
	const struct yaml *items = y;
	size_t count = 1, n = 0;

	if (y->kind != YAML_MAP)
		items = load_list(l, y, "an attribute or a list of up to four", &count);
	if (count > KEY_HASH_MAX) {
		load_error(l, y->place, "too-many", "a key has at most %d attributes on each side", KEY_HASH_MAX);
		count = KEY_HASH_MAX;
	}
	for (size_t i = 0; i < count; i++)
		n += key_attribute(l, &items[i], &out[n]);
	return n;
}

static void read_hash(struct load *l, void *into, const struct yaml *y)
{
	struct key_schema *k = into;

	k->hash_count = (uint8_t)key_side(l, y, k->hash);
}

static void read_range(struct load *l, void *into, const struct yaml *y)
{
	struct key_schema *k = into;

	k->range_count = (uint8_t)key_side(l, y, k->range);
}

static const struct load_shape key_type_shape = { SHAPE_CHOICE, .choices = key_types,
						  .choice_count = LENGTH(key_types) };
static const struct load_shape typed_shape = { SHAPE_MAP, .of = &key_type_shape };
static const struct load_shape name_shape = { SHAPE_TEXT, .pattern = "[^ ,]+" };
static const struct load_shape *const attribute_shapes[] = { &name_shape, &typed_shape, NULL };
static const struct load_shape attribute_shape = { SHAPE_EITHER, "an attribute, as in PK or starRating: number",
						   .either = attribute_shapes };
static const struct load_shape side_shape = { SHAPE_LIST, .of = &attribute_shape, .most = KEY_HASH_MAX };

static const struct load_word key_words[] = {
	{ "hash", .read = read_hash, .shape = &side_shape },
	{ "range", .read = read_range, .shape = &side_shape },
	{ 0 },
};

static const char *const key_needs[] = { "hash", NULL };
static const struct load_shape key_map_shape = { SHAPE_WORDS, "a key", .words = key_words, .needed = key_needs };
static const struct load_shape key_list_shape = { SHAPE_LIST, .of = &attribute_shape, .most = 2 };
static const struct load_shape *const key_shapes[] = { &key_list_shape, &key_map_shape, NULL };
const struct load_shape load_key_shape = { SHAPE_EITHER, "the attributes of a key, as in [PK, SK]",
					   .either = key_shapes };

void load_key(struct load *l, struct key_schema *k, const struct yaml *y)
{
	const struct yaml *items;
	size_t count;

	if (y->kind == YAML_MAP) {
		(void)load_words(l, y, "a key", key_words, k, NULL);
		if (!k->hash_count)
			load_error(l, y->place, "missing-word", "a key needs 'hash'");
		return;
	}
	items = load_list(l, y, "a list of one or two attributes, as in [PK, SK]", &count);
	if (y->kind == YAML_LIST && (count < 1 || count > 2)) {
		load_error(l, y->place, "wrong-value", "expected one or two attributes, as in [PK, SK], not %zu", count);
		count = count ? 2 : 0;
	}
	if (count > 0)
		k->hash_count = key_attribute(l, &items[0], &k->hash[0]);
	if (count > 1)
		k->range_count = key_attribute(l, &items[1], &k->range[0]);
}

/* ---- indexes ---- */
static void read_projection(struct load *l, void *into, const struct yaml *y)
{
	struct design_index *i = into;

	if (y->kind == YAML_LIST) {
		i->projection = PROJECT_INCLUDE;
		i->include_count = load_texts(l, y, "the name of an attribute", &i->include);
		for (size_t n = 0; n < y->count; n++)
			if (y->items[n].kind == YAML_SCALAR)
				load_later_name(l, NAME_PROJECTED, y->items[n].text, y->items[n].place, SLICE(""));
	} else if (y->kind == YAML_SCALAR && slice_is(y->text, "keys only")) {
		i->projection = PROJECT_KEYS_ONLY;
	} else if (y->kind != YAML_SCALAR || !slice_is(y->text, "all")) {
		load_expected(l, y, "'all', 'keys only' or a list of attributes");
	}
}

static const struct load_shape projection_shape = { SHAPE_LIST, "'all', 'keys only' or a list of attributes",
						    .of = &load_any_shape };

static const struct load_word index_words[] = {
	{ "key", WORD_KEY, AT(design_index, key) },
	{ "projection", .read = read_projection, .shape = &projection_shape },
	{ "accept", WORD_ACCEPT, AT(design_index, accepts) },
	{ 0 },
};

static const char *const index_needs[] = { "key", NULL };
static const struct load_shape index_shape = { SHAPE_WORDS, "an index", .words = index_words, .needed = index_needs };
const struct load_shape load_indexes_shape = { SHAPE_MAP, "indexes by name", "[A-Za-z0-9_.-]{3,255}",
					       .of = &index_shape };

static bool is_resource_name(struct slice s)
{
	return s.n >= 3 && s.n <= 255 &&
	       load_consists_of(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
}

void load_indexes(struct load *l, void *into, const struct yaml *y)
{
	struct design *d = into;
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of indexes by name", &count);
	struct design_index *list = arena_array(l->a, struct design_index, count);

	for (size_t i = 0; i < count; i++) {
		const struct yaml *key = &entries[i].key;

		load_subject(l, "index", key->text);
		list[i].name = key->text;
		list[i].place = key->place;
		if (!is_resource_name(key->text) || slice_is(key->text, "table"))
			load_error(l, key->place, "bad-name",
				   "the name of an index has 3 to 255 letters, digits, '_', '-' or '.'");
		(void)load_words(l, &entries[i].value, "an index", index_words, &list[i], NULL);
		if (!list[i].key.hash_count && entries[i].value.kind == YAML_MAP)
			load_error(l, key->place, "missing-word", "an index needs 'key'")->repair =
				SLICE("as in GSI1: {key: [GSI1PK, GSI1SK]}");
	}
	if (count > INDEXES_GLOBAL_MAX)
		load_error(l, y->place, "too-many", "a table has at most %d indexes", INDEXES_GLOBAL_MAX)->repair =
			SLICE("one index serves several kinds of items: give their keys prefixes, POST#… and CARD#…");
	d->indexes = list;
	d->index_count = count;
	l->subject = SLICE("");
}

/* ---- settings ---- */
static const struct slice stream_names[] = {
	{ "off", 3 }, { "keys only", 9 }, { "new image", 9 }, { "old image", 9 }, { "new and old images", 18 }
};
const struct load_shape load_stream_shape = { SHAPE_CHOICE, "what the stream shows", .choices = stream_names,
					      .choice_count = LENGTH(stream_names) };

void load_stream(struct load *l, void *into, const struct yaml *y)
{
	static const enum stream_view views[] = { STREAM_NONE,      STREAM_KEYS_ONLY,   STREAM_NEW_IMAGE,
						  STREAM_OLD_IMAGE, STREAM_NEW_AND_OLD, STREAM_NONE /* after an error */ };

	if (!load_is_scalar(l, y, "what the stream shows, as in 'new and old images'"))
		return;
	((struct design *)into)->stream =
		views[load_choice(l, y->text, y->place, "kind of stream called", &NAMES(stream_names))];
}

static const struct load_word billing_words[] = {
	{ "read", WORD_INTEGER, AT(design, read_units), "a number of units", .most = UNITS_MAX },
	{ "write", WORD_INTEGER, AT(design, write_units), "a number of units", .most = UNITS_MAX },
	{ 0 },
};

static const char *const billing_needs[] = { "read", "write", NULL };
static const struct load_shape units_shape = { SHAPE_WORDS, "billing", .words = billing_words, .needed = billing_needs };
static const struct slice on_demand[] = { { "on demand", 9 } };
static const struct load_shape on_demand_shape = { SHAPE_CHOICE, .choices = on_demand, .choice_count = 1 };
static const struct load_shape *const billing_shapes[] = { &on_demand_shape, &units_shape, NULL };
const struct load_shape load_billing_shape = { SHAPE_EITHER, "'on demand' or {read: …, write: …}",
					       .either = billing_shapes };

void load_billing(struct load *l, void *into, const struct yaml *y)
{
	struct design *d = into;

	if (y->kind != YAML_MAP) {
		if (y->kind != YAML_SCALAR || !slice_equal(y->text, on_demand[0]))
			load_expected(l, y, "'on demand' or {read: …, write: …}");
		return;
	}
	d->provisioned = true;
	(void)load_words(l, y, "billing", billing_words, d, NULL);
	if (!d->read_units || !d->write_units)
		load_error(l, y->place, "missing-word", "billing needs 'read' and 'write'");
}

/* ---- all keys together ---- */
/* the first use of each key attribute */
struct seen_keys {
	struct seen_key {
		const struct key_attr *attr;
		struct slice where;
	} * list;
	size_t n;
};

/* Reports attributes of the key that another key has with another type. */
static void see_key(struct load *l, struct seen_keys *seen, const struct key_schema *key, struct place p,
		    struct slice where)
{
	for (size_t i = 0; i < key_attr_count(key); i++) {
		const struct key_attr *attr = key_attr_at(key, i);
		const struct seen_key *first = seen->list, *end = first + seen->n;

		while (first < end && !slice_equal(first->attr->name, attr->name))
			first++;
		if (first == end)
			seen->list[seen->n++] = (struct seen_key){ attr, where };
		else if (first->attr->type != attr->type)
			load_error(l, p, "key-type", "'%.*s' is %s here and %s as a key of %.*s", SLICE_ARG(attr->name),
				   value_type_name(attr->type), value_type_name(first->attr->type),
				   SLICE_ARG(first->where));
	}
}

static void check_twice(struct load *l, const struct key_schema *k, struct place p)
{
	EACH (struct key_attr, x, k->hash, k->hash_count)
		EACH (struct key_attr, y, k->range, k->range_count)
			if (slice_equal(x->name, y->name))
				load_error(l, p, "duplicate-key", "'%.*s' is in one key twice", SLICE_ARG(y->name));
}

void load_check_keys(struct load *l)
{
	const struct design *d = l->d;
	struct seen_keys seen = {
		arena_array(l->a, struct seen_key, (d->index_count + 1) * (KEY_HASH_MAX + KEY_RANGE_MAX)), 0
	};

	if (d->table.n && !is_resource_name(d->table))
		load_error(l, d->table_place, "bad-name",
			   "the name of a table has 3 to 255 letters, digits, '_', '-' or '.'")
			->repair = SLICE("use a longer name, or '-' in place of other signs");
	check_twice(l, &d->key, d->table_place);
	if (d->key.hash_count > 1 || d->key.range_count > 1)
		load_error(l, d->table_place, "too-many",
			   "the table's own key has one hash and at most one range attribute");
	see_key(l, &seen, &d->key, d->table_place, SLICE("the table"));
	EACH (struct design_index, x, d->indexes, d->index_count) {
		load_subject(l, "index", x->name);
		check_twice(l, &x->key, x->place);
		see_key(l, &seen, &x->key, x->place, x->name);
	}
	l->subject = SLICE("");
}
