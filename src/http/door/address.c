/* Parses, prints and binds listening addresses.
 * SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "http/door/address.h"

#define BACKLOG 1024

/* Splits at the last colon; the host without brackets. False: no port. */
static bool split(const char *text, char *host, size_t room, const char **port)
{
	const char *colon = strrchr(text, ':');
	size_t n;

	if (!colon) {
		snprintf(host, room, "127.0.0.1");
		*port = text;
		return *text != '\0';
	}
	*port = colon + 1;
	n = (size_t)(colon - text);
	if (n >= 2 && text[0] == '[' && text[n - 1] == ']')
		text++, n -= 2;
	else if (memchr(text, ':', n))
		return false; /* IPv6 without brackets */
	if (!n || n >= room || !**port)
		return false;
	memcpy(host, text, n);
	host[n] = '\0';
	return true;
}

/* getaddrinfo() takes 99999 and keeps its lower 16 bits. */
static bool is_port(const char *port)
{
	char *end;
	long n = strtol(port, &end, 10);

	return *port >= '0' && *port <= '9' && !*end && n <= 65535;
}

bool address_parse(struct address *a, const char *text, char *why, size_t n)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *found = NULL;
	char host[256];
	const char *port;
	int rc;

	if (!split(text, host, sizeof(host), &port) || !is_port(port)) {
		snprintf(why, n,
			 "'%s' is not an address: expected ADDR:PORT, such as 127.0.0.1:8000 "
			 "or [::1]:8000",
			 text);
		return false;
	}
	rc = getaddrinfo(strcmp(host, "*") ? host : "0.0.0.0", port, &hints, &found);
	if (rc) {
		snprintf(why, n, "cannot understand the address '%s': %s", text, gai_strerror(rc));
		return false;
	}
	*a = (struct address){ .len = found->ai_addrlen };
	memcpy(&a->sa, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return true;
}

bool address_is_loopback(const struct address *a)
{
	if (a->sa.ss_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)&a->sa;

		return ntohl(in->sin_addr.s_addr) >> 24 == 127;
	}
	if (a->sa.ss_family == AF_INET6) {
		const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)&a->sa;

		return IN6_IS_ADDR_LOOPBACK(&in->sin6_addr) ||
		       (IN6_IS_ADDR_V4MAPPED(&in->sin6_addr) && in->sin6_addr.s6_addr[12] == 127);
	}
	return false;
}

static bool is_private_ipv4(uint32_t ip)
{
	return ip >> 24 == 127 || ip >> 24 == 10 || ip >> 20 == (172 << 4 | 1) || ip >> 16 == (192 << 8 | 168) ||
	       ip >> 16 == (169 << 8 | 254) || ip >> 22 == (100 << 2 | 1);
}

bool address_is_private(const struct address *a)
{
	if (a->sa.ss_family == AF_INET)
		return is_private_ipv4(ntohl(((const struct sockaddr_in *)&a->sa)->sin_addr.s_addr));
	if (a->sa.ss_family == AF_INET6) {
		const struct in6_addr *in = &((const struct sockaddr_in6 *)&a->sa)->sin6_addr;

		return address_is_loopback(a) || IN6_IS_ADDR_LINKLOCAL(in) || (in->s6_addr[0] & 0xfe) == 0xfc;
	}
	return false;
}

bool address_is_any(const struct address *a)
{
	if (a->sa.ss_family == AF_INET)
		return ((const struct sockaddr_in *)&a->sa)->sin_addr.s_addr == htonl(INADDR_ANY);
	return a->sa.ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)&a->sa)->sin6_addr);
}

void address_format(const struct address *a, char *out, size_t n)
{
	char host[INET6_ADDRSTRLEN] = "?";

	if (a->sa.ss_family == AF_INET6) {
		const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)&a->sa;

		inet_ntop(AF_INET6, &in->sin6_addr, host, sizeof(host));
		snprintf(out, n, "[%s]:%d", host, ntohs(in->sin6_port));
	} else {
		const struct sockaddr_in *in = (const struct sockaddr_in *)&a->sa;

		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(out, n, "%s:%d", host, ntohs(in->sin_port));
	}
}

int address_listen(struct address *a, char *why, size_t n)
{
	int one = 1, fd = socket(a->sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	char text[ADDRESS_TEXT];

	/* Not SO_REUSEPORT: a second server on the same port must be refused. */
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
	    bind(fd, (struct sockaddr *)&a->sa, a->len) == 0 && listen(fd, BACKLOG) == 0 &&
	    getsockname(fd, (struct sockaddr *)&a->sa, &a->len) == 0)
		return fd;
	address_format(a, text, sizeof(text));
	if (errno == EADDRINUSE)
		snprintf(why, n, "another process already listens on %s", text);
	else
		snprintf(why, n, "cannot listen on %s: %s", text, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}
