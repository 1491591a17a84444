/* Marks, and their text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/tail/mark.h"
#include <stdio.h>
#include <xxhash.h>

#define SHARD_DIGITS 8
#define SINCE_DIGITS 15

static uint32_t mark_shard(struct slice id)
{
	return XXH32(id.p, id.n, 0);
}

struct mark_part *mark_add(struct mark *m, struct slice shard)
{
	struct mark_part *p = &m->list[m->count];

	if (m->count == MARK_MOST || mark_find(m, shard)) { /* two shards with one hash cannot be distinguished */
		m->is_full = true;
		return NULL;
	}
	*p = (struct mark_part){ .shard = mark_shard(shard), .kind = MARK_START };
	m->count++;
	return p;
}

const struct mark_part *mark_find(const struct mark *m, struct slice shard)
{
	uint32_t hash = mark_shard(shard);

	for (size_t i = 0; i < m->count; i++)
		if (m->list[i].shard == hash)
			return &m->list[i];
	return NULL;
}

size_t mark_text(const struct mark *m, char text[MARK_TEXT_ROOM])
{
	size_t n = 0;

	text[0] = 0;
	if (m->is_full)
		return 0;
	for (size_t i = 0; i < m->count; i++) {
		const struct mark_part *p = &m->list[i];
		const char *dot = i ? "." : "";
		char *to = text + n;
		size_t room = MARK_TEXT_ROOM - n;

		if (p->kind == MARK_AFTER)
			n += (size_t)snprintf(to, room, "%s%08x-%s", dot, p->shard, p->at.text);
		else if (p->kind == MARK_SINCE)
			n += (size_t)snprintf(to, room, "%s%08x~%lld", dot, p->shard, (long long)p->since_ms);
		else
			n += (size_t)snprintf(to, room, "%s%08x_", dot, p->shard);
	}
	return n;
}

/* ---- back ---- */

static bool take_shard(struct slice *rest, uint32_t *out)
{
	*out = 0;
	if (rest->n <= SHARD_DIGITS)
		return false;
	for (size_t i = 0; i < SHARD_DIGITS; i++) {
		char c = rest->p[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return false;
		*out = *out << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	*rest = slice_make(rest->p + SHARD_DIGITS, rest->n - SHARD_DIGITS);
	return true;
}

static bool parse_part(struct slice text, struct mark_part *p)
{
	struct slice value;

	*p = (struct mark_part){ .kind = MARK_START };
	if (!take_shard(&text, &p->shard))
		return false;
	value = slice_make(text.p + 1, text.n - 1);
	switch (*text.p) {
	case '_': return !value.n;
	case '-':
		p->kind = MARK_AFTER;
		spot_set(&p->at, value);
		return slice_is_digits(value) && !spot_is_empty(&p->at);
	case '~':
		p->kind = MARK_SINCE;
		for (size_t i = 0; i < value.n && i < SINCE_DIGITS; i++)
			p->since_ms = p->since_ms * 10 + (value.p[i] - '0');
		return slice_is_digits(value) && value.n <= SINCE_DIGITS;
	default: return false;
	}
}

bool mark_parse(struct slice text, struct mark *out)
{
	struct slice part;

	out->count = 0;
	out->is_full = false;
	while (slice_next(&text, '.', &part)) {
		if (out->count == MARK_MOST || !parse_part(part, &out->list[out->count]))
			return false;
		out->count++;
	}
	return out->count > 0;
}
