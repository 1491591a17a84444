/* xoshiro256++ seeded by the kernel: an id costs nanoseconds, and two threads never make the same one.
 * SPDX-License-Identifier: Apache-2.0 */
#include <sys/random.h>
#include <time.h>

#include "http/connection/request_id.h"

#define BITS_PER_CHARACTER  5
#define CHARACTERS_PER_WORD (64 / BITS_PER_CHARACTER)

void request_ids_init(struct request_ids *ids)
{
	struct timespec t;

	if (getrandom(ids->state, sizeof(ids->state), 0) == (ssize_t)sizeof(ids->state))
		return;
	/* Without the kernel's randomness (an old sandbox), uses time and address. */
	clock_gettime(CLOCK_REALTIME, &t);
	ids->state[0] = (uint64_t)t.tv_nsec | 1;
	ids->state[1] = (uint64_t)t.tv_sec;
	ids->state[2] = (uint64_t)(uintptr_t)ids;
	ids->state[3] = 0x9e3779b97f4a7c15u;
}

static uint64_t rotate(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

static uint64_t next_word(uint64_t s[4])
{
	uint64_t word = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return word;
}

void request_id_next(struct request_ids *ids, char *out)
{
	static const char alphabet[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
	uint64_t word = 0;

	for (int i = 0; i < REQUEST_ID_LENGTH; i++) {
		if (i % CHARACTERS_PER_WORD == 0)
			word = next_word(ids->state);
		out[i] = alphabet[word & 31];
		word >>= BITS_PER_CHARACTER;
	}
}
