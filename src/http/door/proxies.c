/* Walks X-Forwarded-For and Forwarded from the right.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "http/door/proxies.h"

/* ---- ranges ---- */

static bool has_bits_beyond(const struct ip *ip, unsigned bits)
{
	for (unsigned i = bits; i < IP_BITS; i++)
		if (ip->bytes[i / 8] >> (7 - i % 8) & 1)
			return true;
	return false;
}

/* "/8" or nothing. */
static bool read_bits(const char *text, unsigned most, unsigned *out)
{
	unsigned n = 0;

	*out = most;
	if (!*text)
		return true;
	if (*text++ != '/' || !*text || strlen(text) > 3)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		n = n * 10 + (unsigned)(*text - '0');
	}
	*out = n;
	return n <= most;
}

bool proxies_add(struct proxies *p, const char *text, char *why, size_t n)
{
	size_t length = strcspn(text, "/");
	unsigned bits, before;
	struct ip ip;

	if (p->count == PROXIES_MOST) {
		snprintf(why, n, "more than %d trusted proxies", PROXIES_MOST);
		return false;
	}
	if (!ip_parse(slice_make(text, length), &ip)) {
		snprintf(why, n, "'%s' is not an address or range, such as 10.0.0.7, 10.0.0.0/8 or 2001:db8::/32", text);
		return false;
	}
	before = ip_is_v4(&ip) ? IP_V4_BITS : 0;
	if (!read_bits(text + length, IP_BITS - before, &bits)) {
		snprintf(why, n, "'%s': the bits after the '/' are 0 to %u", text, IP_BITS - before);
		return false;
	}
	if (has_bits_beyond(&ip, before + bits)) {
		snprintf(why, n, "'%s' has bits set beyond the first %u", text, bits);
		return false;
	}
	p->ranges[p->count].ip = ip;
	p->ranges[p->count++].bits = before + bits;
	return true;
}

bool proxies_trust(const struct proxies *p, const struct ip *peer)
{
	for (size_t i = 0; p && i < p->count; i++)
		if (ip_shares_bits(&p->ranges[i].ip, peer, p->ranges[i].bits))
			return true;
	return false;
}

/* ---- one hop ---- */

static bool is_port(struct slice s)
{
	return slice_is_digits(s) && s.n <= 5;
}

/* An address, perhaps with a port: 192.0.2.1, 192.0.2.1:80, 2001:db8::1, [2001:db8::1], [2001:db8::1]:80. */
static bool read_node(struct slice s, struct ip *out)
{
	const char *end, *colon;

	if (s.n && s.p[0] == '[') {
		end = memchr(s.p, ']', s.n);
		if (!end)
			return false;
		if (end + 1 < s.p + s.n &&
		    (end[1] != ':' || !is_port(slice_make(end + 2, (size_t)(s.p + s.n - end) - 2))))
			return false;
		s = slice_make(s.p + 1, (size_t)(end - s.p) - 1);
		return memchr(s.p, ':', s.n) && ip_parse(s, out);
	}
	colon = s.n ? memchr(s.p, ':', s.n) : NULL;
	if (colon && !memchr(colon + 1, ':', (size_t)(s.p + s.n - colon) - 1)) { /* one colon: a port */
		if (!is_port(slice_make(colon + 1, (size_t)(s.p + s.n - colon) - 1)))
			return false;
		s.n = (size_t)(colon - s.p);
	}
	return ip_parse(s, out);
}

/* Cuts the last part off the list. Separators within quotes do not count. */
static struct slice last_part(struct slice *list, char separator)
{
	size_t from = list->n;
	bool quoted = false;
	struct slice part;

	while (from && (quoted || list->p[from - 1] != separator)) {
		quoted ^= list->p[from - 1] == '"';
		from--;
	}
	part = http_trim(slice_make(list->p + from, list->n - from));
	list->n = from ? from - 1 : 0;
	return part;
}

/* for=192.0.2.60;proto=http;by=203.0.113.43 */
static bool read_forwarded(struct slice element, struct ip *out)
{
	bool found = false;

	while (element.n) {
		struct slice pair = last_part(&element, ';');

		if (pair.n < 4 || strncasecmp(pair.p, "for=", 4))
			continue;
		if (found || !read_node(slice_unquoted(slice_make(pair.p + 4, pair.n - 4)), out))
			return false;
		found = true;
	}
	return found;
}

/* ---- the walk ---- */

struct walk {
	const struct proxies *proxies;
	bool (*read)(struct slice part, struct ip *out);
	struct ip at; /* the address that called the last trusted hop */
	bool seen;    /* there was such a header */
	bool over;    /* `at` is the client */
};

static void walk_line(struct walk *w, struct slice line)
{
	while (line.n && !w->over) {
		struct slice part = last_part(&line, ',');
		struct ip ip;

		if (!part.n && line.n) /* RFC 9110 lets lists have empty elements */
			continue;
		if (!part.n)
			break;
		if (!w->read(part, &ip)) {
			w->over = true;
			return;
		}
		w->at = ip;
		w->over = !proxies_trust(w->proxies, &ip);
	}
}

/* Several lines of one name are one list. */
static void walk_header(struct walk *w, const struct http_request *r, struct slice name)
{
	for (size_t i = r->header_count; i-- && !w->over;)
		if (slice_equal(r->headers[i].name, name)) {
			w->seen = true;
			walk_line(w, r->headers[i].value);
		}
}

struct ip proxies_client(const struct proxies *p, const struct ip *peer, const struct http_request *r)
{
	struct walk x = { .proxies = p, .read = read_node, .at = *peer };
	struct walk standard = { .proxies = p, .read = read_forwarded, .at = *peer };

	if (!proxies_trust(p, peer))
		return *peer;
	walk_header(&x, r, SLICE("x-forwarded-for"));
	walk_header(&standard, r, SLICE("forwarded"));
	if (x.seen && standard.seen)
		return ip_shares_bits(&x.at, &standard.at, IP_BITS) ? x.at : *peer;
	return standard.seen ? standard.at : x.at;
}
