/* The proxies that are trusted to say which client they speak for: --trusted-proxy ADDR[/BITS].
 *
 *     proxies_trust()     whether a peer is one of them
 *     proxies_client()    the address of the client a request comes from
 *
 * Everyone can send X-Forwarded-For and Forwarded, so these headers count only when the peer, the other end of the
 * socket, is a trusted proxy. Each proxy appends the address it was called from: the client is the rightmost address
 * that is not a trusted proxy itself. What stands left of it was written by the client, and is not looked at.
 *
 * Anything that cannot be read (no address, "unknown", an obfuscated name, white space within) ends the walk: the
 * client is then the last proxy that could be read, which no client can choose. With both headers and different
 * clients in them it is the peer: a proxy writes one of the two and passes the other on as the client sent it.
 *
 * Immutable once the server runs: any thread may ask.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_DOOR_PROXIES_H
#define THORPE_HTTP_DOOR_PROXIES_H

#include "http/door/ip.h"
#include "http/parse/request.h"

#define PROXIES_MOST 64

/* zero: none */
struct proxies {
	struct {
		struct ip ip;
		unsigned bits;
	} ranges[PROXIES_MOST];
	size_t count;
};

/* 10.0.0.7, 10.0.0.0/8, 2001:db8::/32, ::1. False with a sentence in `why`: no address, bits out of range, address
 * bits set beyond them (most often a typing mistake), or too many. */
bool proxies_add(struct proxies *p, const char *text, char *why, size_t n) MUST_CHECK;
/* `p` may be NULL: none. */
bool proxies_trust(const struct proxies *p, const struct ip *peer);
/* `peer` itself when it is no trusted proxy, or says nothing. */
struct ip proxies_client(const struct proxies *p, const struct ip *peer, const struct http_request *r);

#endif
