/* Judges Host and Origin.
 * SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <strings.h>

#include "http/door/origin.h"

#define PORT_DIGITS 5

static bool equal_ignoring_case(struct slice a, struct slice b)
{
	return a.n == b.n && (!a.n || !strncasecmp(a.p, b.p, a.n));
}

static bool ends_with(struct slice s, const char *end)
{
	size_t n = strlen(end);

	return s.n > n && !strncasecmp(s.p + s.n - n, end, n);
}

/* ---- names and addresses ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Nothing, or a colon and a port (which may be empty, as in URLs). */
static bool is_port_part(struct slice s)
{
	if (!s.n)
		return true;
	if (s.p[0] != ':' || s.n > PORT_DIGITS + 1)
		return false;
	for (size_t i = 1; i < s.n; i++)
		if (!is_digit(s.p[i]))
			return false;
	return true;
}

/* The name or address of `name[:port]`, with its brackets, without the dot that may end it; empty: malformed. */
static struct slice name_of(struct slice authority)
{
	const char *end = authority.p + authority.n, *stop = NULL;
	struct slice name;

	if (!authority.n)
		return (struct slice){ 0 };
	if (authority.p[0] == '[') {
		stop = memchr(authority.p, ']', authority.n);
		stop = stop ? stop + 1 : end;
	} else {
		stop = memchr(authority.p, ':', authority.n);
		stop = stop ? stop : end;
	}
	if (!is_port_part(slice_make(stop, (size_t)(end - stop))))
		return (struct slice){ 0 };
	name = slice_make(authority.p, (size_t)(stop - authority.p));
	if (name.n > 1 && name.p[name.n - 1] == '.')
		name.n--;
	return name;
}

/* 127.x.y.z in digits: a name that only starts like that may be any host. */
static bool is_loopback_number(struct slice s)
{
	if (!slice_starts(s, SLICE("127.")))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_digit(s.p[i]) && s.p[i] != '.')
			return false;
	return true;
}

/* An address in brackets. */
static bool read_ipv6(struct slice name, struct in6_addr *out)
{
	char text[INET6_ADDRSTRLEN];

	if (name.n < 4 || name.p[0] != '[' || name.p[name.n - 1] != ']' || name.n - 2 >= sizeof(text))
		return false;
	memcpy(text, name.p + 1, name.n - 2);
	text[name.n - 2] = '\0';
	return inet_pton(AF_INET6, text, out) == 1;
}

static bool is_ipv4(struct slice name)
{
	char text[INET_ADDRSTRLEN];
	struct in_addr unused;

	if (!name.n || name.n >= sizeof(text))
		return false;
	memcpy(text, name.p, name.n);
	text[name.n] = '\0';
	return inet_pton(AF_INET, text, &unused) == 1;
}

static bool is_address(struct slice name)
{
	struct in6_addr unused;

	return is_ipv4(name) || read_ipv6(name, &unused);
}

static bool is_loopback_ipv6(struct slice name)
{
	struct in6_addr a;

	return read_ipv6(name, &a) && (IN6_IS_ADDR_LOOPBACK(&a) || (IN6_IS_ADDR_V4MAPPED(&a) && a.s6_addr[12] == 127));
}

static bool is_loopback_name(struct slice name)
{
	return is_loopback_number(name) || slice_equal_any_case(name, SLICE("localhost")) ||
	       ends_with(name, ".localhost") || is_loopback_ipv6(name);
}

/* ---- O1 ---- */

static bool takes_name(const struct origin_rules *rules, struct slice name)
{
	if (!name.n)
		return false;
	if (is_loopback_name(name) || (rules->takes_addresses && is_address(name)))
		return true;
	if (rules->own.n && equal_ignoring_case(name, rules->own))
		return true;
	for (size_t i = 0; i < rules->host_count; i++)
		if (slice_equal_any_case(name, slice_str(rules->hosts[i])))
			return true;
	return false;
}

static bool takes_host(const struct origin_rules *rules, struct slice host, struct origin_memo *memo)
{
	if (memo->host_n && slice_equal(host, slice_make(memo->host, memo->host_n)))
		return true;
	if (!takes_name(rules, name_of(host)))
		return false;
	if (host.n <= sizeof(memo->host)) {
		memcpy(memo->host, host.p, host.n);
		memo->host_n = host.n;
	}
	return true;
}

/* ---- O2 ---- */

/* The rest after http:// or https://; p is NULL: neither. */
static struct slice authority_of(struct slice origin)
{
	static const struct slice schemes[] = { { "http://", 7 }, { "https://", 8 } };

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (slice_starts(origin, schemes[i]))
			return slice_make(origin.p + schemes[i].n, origin.n - schemes[i].n);
	return (struct slice){ 0 };
}

static bool is_listed(const struct origin_rules *rules, struct slice origin)
{
	for (size_t i = 0; i < rules->origin_count; i++)
		if (slice_equal_any_case(origin, slice_str(rules->origins[i])))
			return true;
	return false;
}

static bool takes_any_origin(const struct origin_rules *rules)
{
	return is_listed(rules, SLICE("*"));
}

static bool takes_origin(const struct origin_rules *rules, struct slice origin)
{
	return is_loopback_name(name_of(authority_of(origin))) || is_listed(rules, origin);
}

/* A proxy may speak TLS for us: the scheme is not compared. */
static bool is_same_origin(struct slice origin, struct slice host)
{
	struct slice authority = authority_of(origin);

	return authority.n && equal_ignoring_case(authority, host);
}

/* ---- O3 ---- */

static bool is_visit(const struct http_request *r)
{
	return (r->method == HTTP_GET || r->method == HTTP_HEAD) &&
	       slice_is(request_header(r, SLICE("sec-fetch-mode")), "navigate") &&
	       slice_is(request_header(r, SLICE("sec-fetch-dest")), "document");
}

/* Other ports of a loopback name or of an address are on the same machine; a sibling of a name may be any host. */
static bool takes_site(struct slice site, struct slice host)
{
	if (!site.n || slice_is(site, "same-origin") || slice_is(site, "none"))
		return true;
	if (slice_is(site, "same-site"))
		return is_loopback_name(name_of(host)) || is_address(name_of(host));
	return false;
}

/* ---- the whole judgement ---- */

/* The headers that count, found in one pass over all of them. */
struct provenance {
	struct slice host, origin, site;
};

static struct provenance provenance_of(const struct http_request *r)
{
	struct provenance p = { 0 };

	for (size_t i = 0; i < r->header_count; i++) {
		const struct http_header *h = &r->headers[i];

		switch (h->name.n) {
		case 4:
			if (slice_is(h->name, "host"))
				p.host = h->value;
			break;
		case 6:
			if (slice_is(h->name, "origin") && !p.origin.p)
				p.origin = h->value;
			break;
		case 14:
			if (slice_is(h->name, "sec-fetch-site"))
				p.site = h->value;
			break;
		}
	}
	return p;
}

static bool takes_page(const struct origin_rules *rules, const struct http_request *r, const struct provenance *p,
		       bool visitable)
{
	if (p->origin.p)
		return is_same_origin(p->origin, p->host) || takes_origin(rules, p->origin) || takes_any_origin(rules);
	return takes_site(p->site, p->host) || (visitable && is_visit(r)) || takes_any_origin(rules);
}

enum origin_verdict origin_judge(const struct origin_rules *rules, const struct http_request *r, bool visitable,
				 struct origin_memo *memo)
{
	struct provenance p;

	memo->has_no_origin = false;
	if (!rules->open)
		return ORIGIN_FINE;
	p = provenance_of(r);
	memo->has_no_origin = !p.origin.p;
	if (!takes_host(rules, p.host, memo) && (p.host.p || !r->http10))
		return ORIGIN_FOREIGN_HOST;
	if ((p.origin.p || p.site.p) && !takes_page(rules, r, &p, visitable))
		return ORIGIN_FOREIGN_PAGE;
	return ORIGIN_FINE;
}

const char *origin_advice(enum origin_verdict v)
{
	switch (v) {
	case ORIGIN_FOREIGN_HOST:
		return "This server has no access keys, so it answers only as localhost or 127.0.0.1. "
		       "To use another name, start it with --host NAME.";
	case ORIGIN_FOREIGN_PAGE:
		return "This server refuses requests of web pages of other origins. "
		       "To allow a page, start it with --cors ORIGIN, such as --cors https://app.example.com.";
	case ORIGIN_FINE: break;
	}
	return "";
}

struct slice origin_allowed(const struct origin_rules *rules, const struct http_request *r)
{
	struct slice origin = request_header(r, SLICE("origin"));

	if (!origin.p)
		return (struct slice){ 0 };
	if (takes_any_origin(rules))
		return SLICE("*");
	return takes_origin(rules, origin) ? origin : (struct slice){ 0 };
}

/* ---- options ---- */

static bool is_name(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!s.p[i] || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_", s.p[i]))
			return false;
	return s.n > 0;
}

bool origin_check_host(const char *text, char *why, size_t n)
{
	if (is_name(slice_str(text)) || is_address(slice_str(text)))
		return true;
	snprintf(why, n, "'%s' is not the name of a host, such as thorpe.internal (without scheme and port)", text);
	return false;
}

/* Browsers leave out a default port. */
static bool has_default_port(struct slice origin)
{
	return (slice_starts(origin, SLICE("http://")) && ends_with(origin, ":80")) ||
	       (slice_starts(origin, SLICE("https://")) && ends_with(origin, ":443")) || ends_with(origin, ":");
}

/* As browsers write it: a scheme, a host, and a port unless it is the scheme's default. */
bool origin_check_origin(const char *text, char *why, size_t n)
{
	const char *colon = strstr(text, "://");
	struct slice name;

	if (!strcmp(text, "*"))
		return true;
	if (colon && colon > text && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789+-.") == (size_t)(colon - text)) {
		name = name_of(slice_str(colon + 3));
		if ((is_name(name) || is_address(name)) && !has_default_port(slice_str(text)))
			return true;
	}
	snprintf(why, n,
		 "'%s' is not an origin, such as https://app.example.com or http://10.0.0.7:3000 (without a path, and without "
		 "the scheme's own port), nor * for all",
		 text);
	return false;
}
