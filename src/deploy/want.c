/* What a design wants, and the words for it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/beside.h"
#include "deploy/deploy_internal.h"

/* ---- tags ---- */

/* Letters (of any script), digits, spaces and _ . : / = + - @ */
static bool is_tag_text(struct slice s, size_t least, size_t most)
{
	size_t characters = 0;

	for (size_t i = 0; i < s.n; i++) {
		uint8_t c = (uint8_t)s.p[i];

		characters += (c & 0xc0) != 0x80;
		if (c < 0x80 && !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
				  (c && strchr(" _.:/=+-@", c))))
			return false;
	}
	return characters >= least && characters <= most;
}

bool deploy_tag_is_valid(const struct deploy_tag *t)
{
	return is_tag_text(t->key, 1, 128) && is_tag_text(t->value, 0, 256) && !slice_starts(t->key, SLICE("aws:"));
}

/* ---- tables ---- */

/* The table beside it has a key of its own (app/db/beside.h); shared state has the attribute `expires`. */
static const struct design *beside(const struct design *d, struct arena *a)
{
	struct design *b = arena_new(a, struct design);

	b->name = d->name;
	b->table = beside_name(a, d->table);
	b->key = (struct key_schema){ .hash = { { .name = SLICE("PK"), .type = VALUE_S } },
				      .range = { { .name = SLICE("SK"), .type = VALUE_S } },
				      .hash_count = 1,
				      .range_count = 1 };
	b->ttl = SLICE("expires");
	return b;
}

void deploy_want(const struct design *d, const struct deploy_options *o, struct arena *a, struct deploy_want *out)
{
	struct deploy_tag *tags = arena_array(a, struct deploy_tag, o->tag_count + 1);
	struct deploy_table t = { .as = d, .protection = !o->no_protection, .tags = tags, .tag_count = o->tag_count + 1 };

	tags[0] = (struct deploy_tag){ SLICE("thorpe:design"), d->name };
	for (size_t i = 0; i < o->tag_count; i++)
		tags[i + 1] = o->tags[i];
	*out = (struct deploy_want){ .design = d, .tables = { t, t }, .probes = o->probes };
	/* What is beside it belongs to this table and is of no use to a restored one. */
	out->tables[0].recovery = !o->no_recovery;
	out->tables[1].as = beside(d, a);
}

/* ---- words ---- */

static void put_attribute(struct buf *b, const struct key_attr *k, bool *first)
{
	static const char *const types[] = { [VALUE_N] = " (number)", [VALUE_B] = " (binary)" };

	buf_str(b, *first ? "" : ", ");
	*first = false;
	buf_put(b, k->name);
	if (k->type == VALUE_N || k->type == VALUE_B)
		buf_str(b, types[k->type]);
}

void deploy_put_key_words(struct buf *b, const struct key_schema *k)
{
	bool first = true;

	for (size_t i = 0; i < k->hash_count; i++)
		put_attribute(b, &k->hash[i], &first);
	for (size_t i = 0; i < k->range_count; i++)
		put_attribute(b, &k->range[i], &first);
}

struct slice deploy_index_words(const struct design_index *i, struct arena *a)
{
	struct buf b;

	buf_init(&b, a);
	buf_put(&b, i->name);
	buf_lit(&b, ": ");
	deploy_put_key_words(&b, &i->key);
	switch (i->projection) {
	case PROJECT_ALL: buf_lit(&b, "; all attributes"); break;
	case PROJECT_KEYS_ONLY: buf_lit(&b, "; keys only"); break;
	case PROJECT_INCLUDE:
		buf_lit(&b, "; with ");
		for (size_t n = 0; n < i->include_count; n++) {
			buf_str(&b, n ? ", " : "");
			buf_put(&b, i->include[n]);
		}
		break;
	}
	return buf_slice(&b);
}

const char *deploy_view_words(enum stream_view v)
{
	switch (v) {
	case STREAM_KEYS_ONLY: return "keys only";
	case STREAM_NEW_IMAGE: return "new image";
	case STREAM_OLD_IMAGE: return "old image";
	case STREAM_NEW_AND_OLD: return "new and old images";
	case STREAM_NONE: break;
	}
	return "off";
}

struct slice deploy_billing_words(const struct design *d, struct arena *a)
{
	if (!d->provisioned)
		return SLICE("on demand");
	return arena_printf(a, "provisioned: %lld read and %lld write units, each index the same",
			    (long long)d->read_units, (long long)d->write_units);
}
