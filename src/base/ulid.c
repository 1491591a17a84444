/* Writes ULIDs, and makes new ones that keep their order within a millisecond.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#include "base/ulid.h"

#define ULID_TIME 10 /* characters of the time */

typedef unsigned __int128 wide;

static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

static const wide rest_limit = (wide)1 << (8 * ULID_REST);

/* The last one made, for the next one of the same millisecond. */
static struct {
	pthread_mutex_t lock;
	int64_t ms;
	wide rest;
} last = { .lock = PTHREAD_MUTEX_INITIALIZER, .ms = -1 };

void ulid_text(int64_t ms, const uint8_t rest[ULID_REST], char out[ULID_LENGTH])
{
	wide n = (uint64_t)ms & 0xffffffffffff;

	for (int i = 0; i < ULID_REST; i++)
		n = n << 8 | rest[i];
	for (int i = ULID_LENGTH - 1; i >= 0; i--, n >>= 5)
		out[i] = digits[n & 31];
}

/* The random part of the next ULID: `chance` itself, or a random step from the last one. */
static wide next_rest(int64_t ms, const uint8_t chance[ULID_REST])
{
	wide rest = 0;
	uint32_t step;

	memcpy(&step, chance, sizeof(step));
	for (int i = 0; i < ULID_REST; i++)
		rest = rest << 8 | chance[i];
	pthread_mutex_lock(&last.lock);
	/* At the end of the range, after 2^48 ULIDs in a millisecond, order is given up: a collision would be
	 * worse. */
	if (ms == last.ms && last.rest + step + 1 < rest_limit)
		rest = last.rest + step + 1;
	else if (ms != last.ms)
		rest >>= 1; /* room for those of the same millisecond */
	last.ms = ms;
	last.rest = rest;
	pthread_mutex_unlock(&last.lock);
	return rest;
}

bool ulid_new(int64_t ms, char out[ULID_LENGTH])
{
	uint8_t rest[ULID_REST];
	wide n;

	if (getrandom(rest, sizeof(rest), 0) != sizeof(rest))
		return false;
	n = next_rest(ms, rest);
	for (int i = ULID_REST - 1; i >= 0; i--, n >>= 8)
		rest[i] = (uint8_t)n;
	ulid_text(ms, rest, out);
	return true;
}

bool ulid_ms(const char *text, size_t n, int64_t *ms)
{
	const char *at = NULL;

	*ms = 0;
	for (size_t i = 0; n == ULID_LENGTH && i < ULID_TIME; i++) {
		at = text[i] ? strchr(digits, text[i]) : NULL;
		if (!at)
			return false;
		*ms = *ms << 5 | (at - digits);
	}
	return at && *ms <= 0xffffffffffff;
}
