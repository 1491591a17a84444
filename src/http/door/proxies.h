/* The proxies that are trusted to name their client: --trusted-proxy ADDR[/BITS].
 *
 *     proxies_trust()     whether a peer is one of them
 *     proxies_client()    the address of the client a request comes from
 *
 * Everyone can send X-Forwarded-For and Forwarded, so these headers count only when the peer, the other end of the
 * socket, is a trusted proxy. Each proxy appends the address it was called from: the client is the rightmost address
 * that is not a trusted proxy itself. Everything left of it was written by the client, and is ignored.
 *
 * Anything unreadable (no address, "unknown", an obfuscated name, white space within) ends the walk: the result is
 * then the last readable proxy, which no client can choose. If both headers are present and name different clients,
 * the result is the peer: a proxy writes one of the two and passes on the other as the client sent it.
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
 * bits set beyond them (usually a typing mistake), or too many. */
bool proxies_add(struct proxies *p, const char *text, char *why, size_t n) MUST_CHECK;
/* `p` may be NULL: none. */
bool proxies_trust(const struct proxies *p, const struct ip *peer);
/* `peer` itself if it is not a trusted proxy or names no client. */
struct ip proxies_client(const struct proxies *p, const struct ip *peer, const struct http_request *r);

#endif
