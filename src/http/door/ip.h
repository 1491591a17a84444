/* A client's IP address: 16 bytes, an IPv4 address as ::ffff:a.b.c.d, so that there is one form to compare.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_DOOR_IP_H
#define THORPE_HTTP_DOOR_IP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/slice.h"

#define IP_BITS    128
#define IP_V4_BITS 96 /* those before an IPv4 address */
#define IP_TEXT    46 /* room for the longest, its NUL included */

struct ip {
	uint8_t bytes[16];
};

/* False: neither IPv4 nor IPv6. */
bool ip_of_peer(const struct sockaddr_storage *peer, struct ip *out) MUST_CHECK;
/* From 192.0.2.1 or 2001:db8::1: no port, brackets, zone or white space. */
bool ip_parse(struct slice text, struct ip *out) MUST_CHECK;
/* An IPv4 address as a.b.c.d. Ends with a NUL; returns the length. */
size_t ip_format(const struct ip *ip, char out[IP_TEXT]);
bool ip_is_v4(const struct ip *ip);
/* Whether the first `bits` of both are the same. */
bool ip_shares_bits(const struct ip *x, const struct ip *y, unsigned bits);
/* A number that identifies a client: its IPv4 address, or the /64 of its IPv6 address. */
uint64_t ip_client(const struct ip *ip);

#endif
