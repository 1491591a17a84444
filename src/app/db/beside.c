/* Requests to the table beside the design's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/beside.h"

#include <openssl/evp.h>

#define KEY_MOST 512 /* bytes of values stored as they are; DynamoDB allows 1024 */

struct slice beside_name(struct arena *a, struct slice table)
{
	return arena_printf(a, "%.*s" BESIDE_ENDING, SLICE_ARG(table));
}

struct slice beside_table(struct run *r)
{
	return beside_name(r->arena, r->design->table);
}

struct value beside_key(struct run *r, struct slice pk, struct slice sk)
{
	struct value_member members[] = {
		{ SLICE("PK"), value_make_s(r->arena, pk) },
		{ SLICE("SK"), value_make_s(r->arena, sk) },
	};

	return value_make_map(r->arena, members, 2);
}

bool beside_get(struct run *r, struct value key, struct value *item)
{
	return dyn_get_from(r, beside_table(r), key, true, item);
}

bool beside_batch_get(struct run *r, const struct value *keys, size_t n, struct value *items)
{
	return dyn_batch_get_from(r, beside_table(r), keys, n, true, items);
}

static bool query(struct run *r, struct slice pk, struct dyn_query *q, struct dyn_page *page)
{
	struct dyn_condition where = { SLICE("PK"), WHERE_EQ, value_make_s(r->arena, pk), VALUE_ABSENT };

	q->table = beside_table(r);
	q->where = &where;
	q->where_count = 1;
	q->consistent = true;
	return dyn_query(r, q, page);
}

bool beside_query(struct run *r, struct slice pk, int limit, struct value start, struct dyn_page *page)
{
	return query(r, pk, &(struct dyn_query){ .limit = limit, .start = start }, page);
}

bool beside_count(struct run *r, struct slice pk, int64_t *out)
{
	struct dyn_query q = { .count_only = true };
	struct dyn_page page;

	*out = 0;
	do {
		if (!query(r, pk, &q, &page))
			return false;
		*out += (int64_t)page.count;
		q.start = page.last;
	} while (value_present(page.last));
	return true;
}

int64_t beside_number(struct value item, const char *name)
{
	struct value v = value_get(item, slice_str(name));
	struct number n;
	int64_t out;

	if (value_type(v) != VALUE_N)
		return 0;
	n = value_number(v);
	return number_to_i64(&n, &out) ? out : 0;
}

struct slice beside_text(struct value item, const char *name)
{
	struct value v = value_get(item, slice_str(name));

	return value_type(v) == VALUE_S ? value_bytes(v) : SLICE("");
}

/* ---- values as a key ---- */

static void put_plain(struct buf *b, struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		uint8_t c = (uint8_t)s.p[i];

		if (c < 0x21 || c == 0x7F || c == '%' || c == '&' || c == '=' || c == ':' || c == '#')
			buf_printf(b, "%%%02X", c);
		else
			buf_byte(b, (char)c);
	}
}

static bool put_value(struct buf *b, struct slice name, struct value v)
{
	char text[NUMBER_TEXT_MAX];
	struct number n;

	if (b->n)
		buf_byte(b, '&');
	put_plain(b, name);
	buf_byte(b, '=');
	switch (value_type(v)) {
	case VALUE_S: put_plain(b, value_bytes(v)); return true;
	case VALUE_N:
		n = value_number(v);
		buf_byte(b, ':');
		buf_put(b, slice_make(text, number_format(&n, text)));
		return true;
	default: return false;
	}
}

static struct slice digest(struct run *r, struct value values)
{
	uint8_t hash[EVP_MAX_MD_SIZE];
	unsigned n;
	struct buf b;

	if (!EVP_Digest(values.p, values.n, hash, &n, EVP_sha256(), NULL))
		arena_out_of_memory(r->arena);
	buf_init(&b, r->arena);
	buf_byte(&b, '#');
	for (unsigned i = 0; i < n; i++)
		buf_printf(&b, "%02x", hash[i]);
	return buf_slice(&b);
}

struct slice beside_values(struct run *r, struct value values)
{
	struct value_iter it = value_iter(values);
	struct buf b;

	buf_init(&b, r->arena);
	while (value_next(&it))
		if (!put_value(&b, it.name, it.value) || b.n > KEY_MOST)
			return digest(r, values);
	return b.n ? buf_slice(&b) : digest(r, values); /* a pattern without parameters */
}
