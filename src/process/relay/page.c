/* Records to bytes and back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/relay/page.h"

#define VERSION      1
#define ENDED        1
#define TRIMMED      2
#define BY_TTL       128
#define RECORD_LEAST 22 /* bytes */
#define DEPTH        32

void page_begin(struct buf *b, enum page_kind kind, const struct tail_page *p)
{
	buf_byte(b, VERSION);
	buf_byte(b, (uint8_t)kind);
	buf_byte(b, (uint8_t)((p->ended ? ENDED : 0) | (p->trimmed ? TRIMMED : 0)));
	buf_be32(b, (uint32_t)p->wait_ms);
	buf_be32(b, (uint32_t)p->count);
}

static void put_value(struct buf *b, struct value v)
{
	buf_be32(b, (uint32_t)v.n);
	if (v.n)
		buf_add(b, (const char *)v.p, v.n);
}

void page_put_record(struct buf *b, const struct reply_record *r)
{
	buf_byte(b, (uint8_t)r->sequence.n);
	buf_add(b, r->sequence.p, r->sequence.n);
	buf_byte(b, (uint8_t)((int)r->event | (r->by_ttl ? BY_TTL : 0)));
	buf_be64(b, (uint64_t)r->created_ms);
	put_value(b, r->keys);
	put_value(b, r->old_image);
	put_value(b, r->new_image);
}

struct slice page_record_sequence(const char *record)
{
	return slice_make(record + 1, (unsigned char)record[0]);
}

/* ---- reading ---- */

struct reading {
	const uint8_t *p;
	size_t left;
	bool bad;
};

static const uint8_t *take_bytes(struct reading *g, size_t n)
{
	const uint8_t *p = g->p;

	if (g->bad || n > g->left) {
		g->bad = true;
		return NULL;
	}
	g->p += n;
	g->left -= n;
	return p;
}

static uint64_t take_number(struct reading *g, size_t bytes)
{
	const uint8_t *p = take_bytes(g, bytes);
	uint64_t v = 0;

	for (size_t i = 0; p && i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

/* Takes a map: keys and images are maps. */
static struct value take_value(struct reading *g)
{
	struct value v = { .n = (size_t)take_number(g, 4) };

	if (!v.n || g->bad)
		return VALUE_ABSENT;
	v.p = take_bytes(g, v.n);
	if (v.p && (value_type(v) != VALUE_M || !value_is_valid(v, DEPTH)))
		g->bad = true;
	return g->bad ? VALUE_ABSENT : v;
}

static void take_record(struct reading *g, struct reply_record *out)
{
	size_t n = (size_t)take_number(g, 1);
	const uint8_t *sequence = take_bytes(g, n);
	unsigned event = (unsigned)take_number(g, 1);

	out->sequence = slice_make(sequence, sequence ? n : 0);
	out->by_ttl = event & BY_TTL;
	event &= ~(unsigned)BY_TTL;
	out->created_ms = (int64_t)take_number(g, 8);
	out->keys = take_value(g);
	out->old_image = take_value(g);
	out->new_image = take_value(g);
	if (!g->bad && (!slice_is_digits(out->sequence) || out->sequence.n >= SPOT_ROOM || event < EVENT_INSERT ||
			event > EVENT_REMOVE || !value_present(out->keys)))
		g->bad = true;
	out->event = g->bad ? EVENT_INSERT : (enum stream_event)event;
}

bool page_read(struct arena *a, struct slice bytes, enum page_kind *kind, struct tail_page *out)
{
	struct reading g = { (const uint8_t *)bytes.p, bytes.n, false };
	uint64_t version = take_number(&g, 1), number = take_number(&g, 1), flags = take_number(&g, 1),
		 wait = take_number(&g, 4), count = take_number(&g, 4);

	*out = (struct tail_page){ .ended = flags & ENDED, .trimmed = flags & TRIMMED };
	if (g.bad || version != VERSION || number < PAGE_RECORDS || number > PAGE_CANNOT || wait > INT16_MAX ||
	    count > g.left / RECORD_LEAST)
		return false;
	*kind = (enum page_kind)number;
	out->wait_ms = (int)wait;
	out->count = (size_t)count;
	out->list = arena_array(a, struct reply_record, out->count);
	for (size_t i = 0; i < out->count && !g.bad; i++)
		take_record(&g, &out->list[i]);
	for (size_t i = 1; i < out->count && !g.bad; i++)
		g.bad = sequence_compare(out->list[i - 1].sequence, out->list[i].sequence) >= 0;
	return !g.bad && !g.left;
}
