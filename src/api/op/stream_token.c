/* Names of the Streams API: shard ids, sequence numbers, shard iterators.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/stream_token.h"
#include "value/base64.h"

bool sequence_parse(struct slice text, uint64_t *out)
{
	uint64_t v = 0;

	for (size_t i = 0; i < text.n; i++) {
		unsigned digit = (unsigned)(text.p[i] - '0');

		if (digit > 9 || __builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)digit, &v))
			return false;
	}
	*out = v;
	return text.n > 0;
}

struct slice sequence_text(uint64_t sequence, struct arena *a)
{
	return arena_printf(a, "%021llu", (unsigned long long)sequence);
}

struct slice shard_iterator_text(const struct shard_iterator *it, struct arena *a)
{
	struct slice plain = arena_printf(a, "%.*s|%u|%llu|%llu|%llu|%d|%lld", SLICE_ARG(it->arn), it->shard.number,
					  (unsigned long long)it->shard.era, (unsigned long long)it->before,
					  (unsigned long long)it->sequence, it->at_end, (long long)it->issued_ms);
	struct buf b;

	buf_init(&b, a);
	buf_base64(&b, plain);
	return buf_slice(&b);
}

/* Cuts the number after the last '|' off `s`. */
static bool take_number(struct slice *s, uint64_t *out)
{
	const char *bar = s->n ? memrchr(s->p, '|', s->n) : NULL;

	if (!bar || !sequence_parse(slice_make(bar + 1, (size_t)(s->p + s->n - bar - 1)), out))
		return false;
	s->n = (size_t)(bar - s->p);
	return true;
}

/* Our ARNs are printable ASCII; other bytes could not be quoted in an error's text. */
static bool is_printable(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] > '~')
			return false;
	return s.n > 0;
}

bool shard_iterator_parse(struct slice text, struct arena *a, struct shard_iterator *out)
{
	uint8_t *plain = arena_alloc(a, text.n);
	uint64_t issued, shard, at_end;
	struct slice rest;
	size_t n;

	if (text.n % 4 || !base64_decode(text, plain, &n))
		return false;
	rest = slice_make(plain, n);
	if (!take_number(&rest, &issued) || !take_number(&rest, &at_end) || !take_number(&rest, &out->sequence) ||
	    !take_number(&rest, &out->before) || !take_number(&rest, &out->shard.era) || !take_number(&rest, &shard) ||
	    issued > INT64_MAX || shard > UINT32_MAX || !is_printable(rest))
		return false;
	out->arn = rest;
	out->shard.number = (uint32_t)shard;
	out->at_end = at_end;
	out->issued_ms = (int64_t)issued;
	return true;
}
