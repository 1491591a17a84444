/* The address a server listens on.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_DOOR_ADDRESS_H
#define THORPE_HTTP_DOOR_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/error.h"

struct address {
	struct sockaddr_storage sa;
	socklen_t len;
};

#define ADDRESS_TEXT 80 /* room for the longest, brackets and port included */

/* From 127.0.0.1:8000, [::1]:8000, localhost:8000, *:8000, or a port alone (on 127.0.0.1).
 * False with a sentence in `why`. */
bool address_parse(struct address *a, const char *text, char *why, size_t n) MUST_CHECK;
/* Whether only this machine can reach it. */
bool address_is_loopback(const struct address *a);
/* Whether the internet cannot reach it: loopback, and addresses for private use (RFC 1918, 4193, 6598, link-local). */
bool address_is_private(const struct address *a);
/* Whether it stands for all addresses of this machine. */
bool address_is_any(const struct address *a);
/* 127.0.0.1:8000, [::1]:8000 */
void address_format(const struct address *a, char *out, size_t n);
/* A non-blocking listening socket, or -1 with a sentence in `why`. On success *a is the bound address (port 0 becomes
 * the one chosen). */
int address_listen(struct address *a, char *why, size_t n) MUST_CHECK;

#endif
