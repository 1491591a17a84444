/* Reads, prints and compares addresses.
 * SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "http/door/ip.h"

static const uint8_t v4_prefix[12] = { [10] = 0xff, [11] = 0xff };

static void set_v4(struct ip *ip, const void *four)
{
	memcpy(ip->bytes, v4_prefix, sizeof(v4_prefix));
	memcpy(ip->bytes + sizeof(v4_prefix), four, 4);
}

bool ip_of_peer(const struct sockaddr_storage *peer, struct ip *out)
{
	if (peer->ss_family == AF_INET)
		set_v4(out, &((const struct sockaddr_in *)peer)->sin_addr);
	else if (peer->ss_family == AF_INET6)
		memcpy(out->bytes, &((const struct sockaddr_in6 *)peer)->sin6_addr, sizeof(out->bytes));
	else
		return false;
	return true;
}

bool ip_parse(struct slice text, struct ip *out)
{
	char copy[IP_TEXT];
	uint8_t four[4];

	if (!text.n || text.n >= sizeof(copy) || memchr(text.p, 0, text.n))
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	if (inet_pton(AF_INET, copy, four) == 1) {
		set_v4(out, four);
		return true;
	}
	return inet_pton(AF_INET6, copy, out->bytes) == 1;
}

bool ip_is_v4(const struct ip *ip)
{
	return !memcmp(ip->bytes, v4_prefix, sizeof(v4_prefix));
}

size_t ip_format(const struct ip *ip, char out[IP_TEXT])
{
	bool v4 = ip_is_v4(ip);

	if (!inet_ntop(v4 ? AF_INET : AF_INET6, ip->bytes + (v4 ? sizeof(v4_prefix) : 0), out, IP_TEXT))
		out[0] = '\0';
	return strlen(out);
}

bool ip_shares_bits(const struct ip *x, const struct ip *y, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	if (memcmp(x->bytes, y->bytes, whole))
		return false;
	return !rest || !((x->bytes[whole] ^ y->bytes[whole]) >> (8 - rest));
}

uint64_t ip_client(const struct ip *ip)
{
	const uint8_t *from = ip_is_v4(ip) ? ip->bytes + 8 : ip->bytes;
	uint64_t n = 0;

	for (int i = 0; i < 8; i++)
		n = n << 8 | from[i];
	return n;
}
