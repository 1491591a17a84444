/* Writes and reads the keys and records of layout.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "table/layout.h"
#include "value/key.h"

#define HASH_SIZE   8
#define ID_SIZE     4
#define DIGEST_SIZE 32

/* ---- pieces ---- */
static void start(struct buf *b, struct arena *a, size_t room)
{
	buf_init(b, a);
	buf_room(b, room);
}

static void add_located_pk(struct buf *b, struct slice pk)
{
	assert(pk.n <= UINT16_MAX);
	buf_be64(b, key_hash(pk));
	key_add_counted(b, pk);
}

static void add_locator(struct buf *b, struct item_key k)
{
	add_located_pk(b, k.pk);
	buf_put(b, k.sk);
}

static bool read_locator(const uint8_t *p, const uint8_t *end, struct item_key *out)
{
	if (end - p < HASH_SIZE)
		return false;
	p += HASH_SIZE;
	if (!key_read_counted(&p, end, &out->pk))
		return false;
	out->sk = slice_make(p, (size_t)(end - p));
	return true;
}

static const uint8_t *bytes(struct slice s)
{
	return (const uint8_t *)s.p;
}

static const uint8_t *end_of(struct slice s)
{
	return (const uint8_t *)s.p + s.n;
}

static struct slice id_and_u64(struct arena *a, uint32_t id, uint64_t v)
{
	struct buf b;

	start(&b, a, ID_SIZE + 8);
	buf_be32(&b, id);
	buf_be64(&b, v);
	return buf_slice(&b);
}

/* ---- ITEMS ---- */
struct slice layout_item_key(struct arena *a, uint32_t table, struct item_key k)
{
	struct buf b;

	start(&b, a, ID_SIZE + HASH_SIZE + 2 + k.pk.n + k.sk.n);
	buf_be32(&b, table);
	add_locator(&b, k);
	return buf_slice(&b);
}

struct slice layout_item_from_hash(struct arena *a, uint32_t table, uint64_t hash)
{
	return id_and_u64(a, table, hash);
}

struct slice layout_item_partition(struct arena *a, uint32_t table, struct slice pk)
{
	return layout_item_key(a, table, (struct item_key){ .pk = pk });
}

bool layout_read_item_key(struct slice key, uint32_t *table, struct item_key *out)
{
	if (key.n < ID_SIZE)
		return false;
	*table = read_be32(key.p);
	return read_locator(bytes(key) + ID_SIZE, end_of(key), out);
}

/* ---- INDEX ---- */
void layout_index_partition(struct buf *b, const struct index *i, const struct slice *hash)
{
	struct buf counted;
	size_t n;

	buf_init(&counted, b->arena);
	for (n = 0; n < i->key.hash_count; n++)
		key_add_counted(&counted, hash[n]);
	buf_be32(b, i->id);
	buf_be64(b, key_hash(buf_slice(&counted)));
	buf_put(b, buf_slice(&counted));
}

struct slice layout_index_key(struct arena *a, const struct index *i, struct value item, struct item_key k)
{
	struct slice hash[KEY_HASH_MAX];
	struct buf b;
	size_t n;

	for (n = 0; n < i->key.hash_count; n++)
		hash[n] = value_bytes(value_get(item, i->key.hash[n].name));
	start(&b, a, 64 + k.pk.n + k.sk.n);
	layout_index_partition(&b, i, hash);
	for (n = 0; n < i->key.range_count; n++)
		key_add_escaped(&b, value_bytes(value_get(item, i->key.range[n].name)));
	key_add_counted(&b, k.pk);
	buf_put(&b, k.sk);
	return buf_slice(&b);
}

struct slice layout_index_from_hash(struct arena *a, uint32_t index, uint64_t hash)
{
	return id_and_u64(a, index, hash);
}

uint64_t layout_hash_of(struct slice key)
{
	assert(key.n >= ID_SIZE + HASH_SIZE);
	return read_be64(key.p + ID_SIZE);
}

bool layout_read_index_key(struct arena *a, const struct index *i, struct slice key, struct item_key *out)
{
	const uint8_t *p, *end = end_of(key);
	struct slice skipped;
	size_t n;

	if (key.n < ID_SIZE + HASH_SIZE)
		return false;
	p = bytes(key) + ID_SIZE + HASH_SIZE;
	for (n = 0; n < i->key.hash_count; n++)
		if (!key_read_counted(&p, end, &skipped))
			return false;
	for (n = 0; n < i->key.range_count; n++)
		if (!key_read_escaped(a, &p, end, &skipped))
			return false;
	if (!key_read_counted(&p, end, &out->pk))
		return false;
	out->sk = slice_make(p, (size_t)(end - p));
	return true;
}

/* ---- STREAM ---- */
struct slice layout_stream_key(struct arena *a, uint32_t stream, uint32_t shard, uint64_t sequence)
{
	struct buf b;

	assert(shard <= UINT8_MAX);
	start(&b, a, ID_SIZE + 1 + 8);
	buf_be32(&b, stream);
	buf_byte(&b, (uint8_t)shard);
	buf_be64(&b, sequence);
	return buf_slice(&b);
}

bool layout_read_stream_key(struct slice key, uint32_t *stream, uint32_t *shard, uint64_t *sequence)
{
	if (key.n != ID_SIZE + 1 + 8)
		return false;
	*stream = read_be32(key.p);
	*shard = bytes(key)[ID_SIZE];
	*sequence = read_be64(key.p + ID_SIZE + 1);
	return true;
}

#define RECORD_HEAD (8 + 1 + 1 + 4)

static void add_image(struct buf *b, struct value v)
{
	buf_be32(b, (uint32_t)v.n);
	buf_add(b, v.p, v.n);
}

struct slice layout_stream_record(struct arena *a, const struct stream_record *r)
{
	struct buf b;

	start(&b, a, RECORD_HEAD + 12 + r->keys.n + r->old_image.n + r->new_image.n);
	buf_be64(&b, (uint64_t)r->created_ms);
	buf_byte(&b, (uint8_t)r->event);
	buf_byte(&b, r->by_ttl ? STREAM_FLAG_TTL : 0);
	buf_be32(&b, (uint32_t)r->size_bytes);
	add_image(&b, r->keys);
	add_image(&b, r->old_image);
	add_image(&b, r->new_image);
	return buf_slice(&b);
}

static bool read_image(const uint8_t **p, const uint8_t *end, struct value *out)
{
	uint32_t n;

	if (end - *p < 4)
		return false;
	n = read_be32(*p);
	*p += 4;
	if ((size_t)(end - *p) < n)
		return false;
	*out = n ? (struct value){ *p, n } : VALUE_ABSENT;
	*p += n;
	return true;
}

bool layout_read_stream_record(struct slice record, struct stream_record *r)
{
	const uint8_t *p = bytes(record), *end = end_of(record);

	if (record.n < RECORD_HEAD)
		return false;
	r->created_ms = (int64_t)read_be64(p);
	r->event = (enum stream_event)p[8];
	r->by_ttl = p[9] & STREAM_FLAG_TTL;
	r->size_bytes = read_be32(p + 10);
	p += RECORD_HEAD;
	return read_image(&p, end, &r->keys) && read_image(&p, end, &r->old_image) &&
	       read_image(&p, end, &r->new_image) && p == end;
}

/* ---- TTL ---- */
struct slice layout_ttl_key(struct arena *a, uint32_t table, int64_t expiry, struct item_key k)
{
	struct buf b;

	assert(expiry >= 0);
	start(&b, a, ID_SIZE + 8 + HASH_SIZE + 2 + k.pk.n + k.sk.n);
	buf_be32(&b, table);
	buf_be64(&b, (uint64_t)expiry);
	add_locator(&b, k);
	return buf_slice(&b);
}

struct slice layout_ttl_from(struct arena *a, uint32_t table, int64_t expiry)
{
	assert(expiry >= 0);
	return id_and_u64(a, table, (uint64_t)expiry);
}

bool layout_read_ttl_key(struct slice key, uint32_t *table, int64_t *expiry, struct item_key *out)
{
	if (key.n < ID_SIZE + 8)
		return false;
	*table = read_be32(key.p);
	*expiry = (int64_t)read_be64(key.p + ID_SIZE);
	return read_locator(bytes(key) + ID_SIZE + 8, end_of(key), out);
}

/* Cuts a positive fractional number to whole seconds. */
static bool whole_seconds(struct number n, int64_t *out)
{
	while (n.exponent < 0 && n.digits) {
		n.digits /= 10;
		n.exponent++;
	}
	if (!n.digits)
		n.exponent = 0;
	return number_to_i64(&n, out);
}

bool layout_ttl_of_item(const struct table *t, struct value item, int64_t *expiry)
{
	struct value v;
	struct number n;

	if (t->ttl != TTL_ENABLED || !value_present(item))
		return false;
	v = value_get(item, t->ttl_attribute);
	if (value_type(v) != VALUE_N)
		return false;
	n = value_number(v);
	return !n.negative && whole_seconds(n, expiry);
}

/* ---- TOKENS ---- */
struct slice layout_token_key(struct arena *a, struct slice token)
{
	struct buf b;

	start(&b, a, 1 + token.n);
	buf_byte(&b, 'T');
	buf_put(&b, token);
	return buf_slice(&b);
}

struct slice layout_token_record(struct arena *a, int64_t expiry_ms, const uint8_t digest[32])
{
	struct buf b;

	start(&b, a, 8 + DIGEST_SIZE);
	buf_be64(&b, (uint64_t)expiry_ms);
	buf_add(&b, digest, DIGEST_SIZE);
	return buf_slice(&b);
}

bool layout_read_token_record(struct slice record, int64_t *expiry_ms, uint8_t digest[32])
{
	if (record.n != 8 + DIGEST_SIZE)
		return false;
	*expiry_ms = (int64_t)read_be64(record.p);
	memcpy(digest, record.p + 8, DIGEST_SIZE);
	return true;
}

struct slice layout_token_expiry_key(struct arena *a, int64_t expiry_ms, struct slice token)
{
	struct buf b;

	start(&b, a, 1 + 8 + token.n);
	buf_byte(&b, 'E');
	buf_be64(&b, (uint64_t)expiry_ms);
	buf_put(&b, token);
	return buf_slice(&b);
}

struct slice layout_token_expiry_from(struct arena *a, int64_t expiry_ms)
{
	return layout_token_expiry_key(a, expiry_ms, SLICE(""));
}

bool layout_read_token_expiry_key(struct slice key, int64_t *expiry_ms, struct slice *token)
{
	if (key.n < 9 || key.p[0] != 'E')
		return false;
	*expiry_ms = (int64_t)read_be64(key.p + 1);
	*token = slice_make(key.p + 9, key.n - 9);
	return true;
}

/* ---- STATS ---- */
static struct slice stats_key(struct arena *a, uint8_t kind, uint32_t id)
{
	struct buf b;

	start(&b, a, 1 + ID_SIZE);
	buf_byte(&b, kind);
	buf_be32(&b, id);
	return buf_slice(&b);
}

struct slice layout_stats_key(struct arena *a, uint32_t id)
{
	return stats_key(a, 'S', id);
}

struct slice layout_stats_record(struct arena *a, int64_t items, int64_t size)
{
	struct buf b;

	start(&b, a, 16);
	buf_be64(&b, (uint64_t)items);
	buf_be64(&b, (uint64_t)size);
	return buf_slice(&b);
}

bool layout_read_stats_record(struct slice record, int64_t *items, int64_t *size)
{
	if (record.n != 16)
		return false;
	*items = (int64_t)read_be64(record.p);
	*size = (int64_t)read_be64(record.p + 8);
	return true;
}

struct slice layout_collection_key(struct arena *a, uint32_t table, struct slice pk)
{
	struct buf b;

	start(&b, a, 1 + ID_SIZE + HASH_SIZE + 2 + pk.n);
	buf_byte(&b, 'C');
	buf_be32(&b, table);
	add_located_pk(&b, pk);
	return buf_slice(&b);
}

struct slice layout_collection_from(struct arena *a, uint32_t table)
{
	return stats_key(a, 'C', table);
}

struct slice layout_u64_record(struct arena *a, uint64_t v)
{
	struct buf b;

	start(&b, a, 8);
	buf_be64(&b, v);
	return buf_slice(&b);
}

bool layout_read_u64_record(struct slice record, uint64_t *v)
{
	if (record.n != 8)
		return false;
	*v = read_be64(record.p);
	return true;
}

/* ---- any family ---- */
struct slice layout_id(struct arena *a, uint32_t id)
{
	struct buf b;

	start(&b, a, ID_SIZE);
	buf_be32(&b, id);
	return buf_slice(&b);
}

struct slice layout_after_prefix(struct arena *a, struct slice prefix)
{
	struct buf b;
	bool exists;

	start(&b, a, prefix.n);
	buf_put(&b, prefix);
	exists = key_successor(&b);
	assert(exists);
	(void)exists;
	return buf_slice(&b);
}
