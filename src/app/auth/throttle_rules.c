/* Which attempts wait, and for how long. Stores nothing, locks nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <openssl/evp.h>
#include <stdio.h>
#include "app/auth/throttle_rules.h"

#define SECOND INT64_C(1000)
#define DAY    (86400 * SECOND)

#define PAIR_FREE     5
#define ADDRESS_FREE  100
#define ADDRESS_EVERY (5 * SECOND)
#define NAME_FREE     50
#define NAME_EVERY    (72 * SECOND)
#define NETWORK_FIRST (60 * SECOND)

/* How failures are forgotten: all at once when the last one is that old, or one by one. */
static const struct {
	int64_t memory_ms, every_ms;
} rules[THROTTLE_KINDS] = {
	[THROTTLE_PAIR] = { .memory_ms = DAY },
	[THROTTLE_NETWORK] = { .memory_ms = 3600 * SECOND },
	[THROTTLE_ADDRESS] = { .every_ms = ADDRESS_EVERY },
	[THROTTLE_NAME] = { .every_ms = NAME_EVERY },
	[THROTTLE_KNOWN] = { .memory_ms = 30 * DAY },
};

/* ---- keys ---- */

/* With the lengths of both parts, so that "ab" + "c" differs from "a" + "bc". */
static bool digest(const uint8_t *salt, enum throttle_kind kind, struct slice name, struct slice place,
		   uint8_t out[THROTTLE_KEY_BYTES])
{
	uint64_t head[3] = { kind, name.n, place.n };
	uint8_t made[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = ctx && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1 &&
		  EVP_DigestUpdate(ctx, salt, THROTTLE_SALT_BYTES) == 1 &&
		  EVP_DigestUpdate(ctx, head, sizeof(head)) == 1 && EVP_DigestUpdate(ctx, name.p, name.n) == 1 &&
		  EVP_DigestUpdate(ctx, place.p, place.n) == 1 && EVP_DigestFinal_ex(ctx, made, NULL) == 1;

	EVP_MD_CTX_free(ctx);
	if (ok)
		memcpy(out, made, THROTTLE_KEY_BYTES);
	return ok;
}

/* the client that an address counts as, and its network */
struct place {
	char text[64];
	struct slice client, network;
};

static void read_place(struct slice address, struct place *p)
{
	struct in6_addr v6;
	struct in_addr v4;
	bool mapped;

	snprintf(p->text, sizeof(p->text), "%.*s", (int)(address.n < 63 ? address.n : 63), address.n ? address.p : "");
	p->client = p->network = slice_str(p->text);
	mapped = inet_pton(AF_INET6, p->text, &v6) == 1;
	if (mapped && !IN6_IS_ADDR_V4MAPPED(&v6)) {
		memcpy(p->text, &v6, 8);
		p->client = slice_make(p->text, 8);
		p->network = slice_make(p->text, 6);
		return;
	}
	if (mapped)
		memcpy(&v4, v6.s6_addr + 12, 4);
	else if (inet_pton(AF_INET, p->text, &v4) != 1)
		return;
	memcpy(p->text, &v4, 4);
	p->client = slice_make(p->text, 4);
	p->network = slice_make(p->text, 3);
}

bool throttle_make_keys(const uint8_t salt[THROTTLE_SALT_BYTES], const struct throttle_attempt *a,
			struct throttle_keys *k)
{
	static const struct slice none = { "", 0 };
	struct place p;

	if (!a->name.n)
		return false;
	read_place(a->address, &p);
	k->has_address = a->address.n > 0;
	return digest(salt, THROTTLE_PAIR, a->name, p.client, k->of[THROTTLE_PAIR]) &&
	       digest(salt, THROTTLE_NETWORK, a->name, p.network, k->of[THROTTLE_NETWORK]) &&
	       digest(salt, THROTTLE_ADDRESS, none, p.client, k->of[THROTTLE_ADDRESS]) &&
	       digest(salt, THROTTLE_NAME, a->name, none, k->of[THROTTLE_NAME]) &&
	       digest(salt, THROTTLE_KNOWN, a->name, p.client, k->of[THROTTLE_KNOWN]);
}

/* ---- levels ---- */

double throttle_level_now(const struct throttle_level *l, enum throttle_kind kind, int64_t now_ms)
{
	int64_t age = now_ms > l->at_ms ? now_ms - l->at_ms : 0;
	double left = l->level;

	if (rules[kind].memory_ms && age >= rules[kind].memory_ms)
		return 0;
	if (rules[kind].every_ms)
		left -= (double)age / (double)rules[kind].every_ms;
	return left > 0 ? left : 0;
}

int64_t throttle_level_ends(const struct throttle_level *l, enum throttle_kind kind)
{
	return l->at_ms + rules[kind].memory_ms + (int64_t)(l->level * (double)rules[kind].every_ms);
}

static double left_of(const struct throttle_levels *l, enum throttle_kind kind, int64_t now_ms)
{
	return throttle_level_now(&l->of[kind], kind, now_ms);
}

static void add_failures(struct throttle_levels *l, enum throttle_kind kind, double n, int64_t now_ms)
{
	struct throttle_level *e = &l->of[kind];
	double level = throttle_level_now(e, kind, now_ms);

	if (e->level <= 0 && n < 0)
		return;
	e->level = level + n > 0 ? level + n : 0;
	if (n > 0 || rules[kind].every_ms) /* taking one back does not make the wait longer */
		e->at_ms = now_ms;
}

void throttle_levels_count(struct throttle_levels *l, double n, int64_t now_ms)
{
	add_failures(l, THROTTLE_PAIR, n, now_ms);
	if (!l->has_address)
		return;
	add_failures(l, THROTTLE_NETWORK, n, now_ms);
	add_failures(l, THROTTLE_ADDRESS, n, now_ms);
	add_failures(l, THROTTLE_NAME, n, now_ms);
}

void throttle_levels_pass(struct throttle_levels *l, int64_t now_ms)
{
	throttle_levels_count(l, -1, now_ms);
	l->of[THROTTLE_PAIR].level = l->of[THROTTLE_NETWORK].level = 0;
	if (l->has_address)
		l->of[THROTTLE_KNOWN] = (struct throttle_level){ .at_ms = now_ms, .level = 1 };
}

/* ---- waiting ---- */

static int64_t doubled(int64_t first_ms, double times, int64_t longest_ms)
{
	int64_t ms = first_ms;

	for (int i = 1; i < times && ms < longest_ms; i++)
		ms *= 2;
	return ms < longest_ms ? ms : longest_ms;
}

/* Until the next attempt of a kind, when `free` failures cost nothing. */
static int64_t wait_after(const struct throttle_levels *l, enum throttle_kind kind, double free_, int64_t first_ms,
			  int64_t longest_ms, int64_t now_ms)
{
	double level = left_of(l, kind, now_ms);
	int64_t at_ms = l->of[kind].at_ms, wait, age;

	if (level < free_ || level <= 0)
		return 0;
	wait = doubled(first_ms, level - free_ + 1, longest_ms);
	age = now_ms > at_ms ? now_ms - at_ms : 0;
	return wait > age ? wait - age : 0;
}

static int64_t wait_of_address(const struct throttle_levels *l, int64_t now_ms) /* R3 */
{
	double over = left_of(l, THROTTLE_ADDRESS, now_ms) - (ADDRESS_FREE - 1);

	return over > 0 ? (int64_t)(over * ADDRESS_EVERY) + 1 : 0;
}

static int64_t longer(int64_t x, int64_t y)
{
	return x > y ? x : y;
}

int64_t throttle_levels_wait(const struct throttle_levels *l, int64_t now_ms)
{
	bool known = left_of(l, THROTTLE_KNOWN, now_ms) > 0;
	int64_t wait = wait_after(l, THROTTLE_PAIR, PAIR_FREE, SECOND,
				  (known ? THROTTLE_KNOWN_LONGEST_S : THROTTLE_LONGEST_S) * SECOND, now_ms); /* R1, R2 */

	if (known || !l->has_address)
		return wait;
	wait = longer(wait, wait_of_address(l, now_ms));
	if (left_of(l, THROTTLE_NAME, now_ms) > NAME_FREE) /* R4 */
		wait = longer(wait,
			      wait_after(l, THROTTLE_NETWORK, 1, NETWORK_FIRST, THROTTLE_LONGEST_S * SECOND, now_ms));
	return wait;
}

int throttle_seconds(int64_t ms)
{
	return (int)((ms + SECOND - 1) / SECOND);
}
