/* The forms of strings: e-mail addresses, URLs, slugs, names, and what fits into an address.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/term/fits.h"
#include "design/term/regex.h"
#include "design/term/term_lex.h"
#include "design/term/term_text.h"

#define LABEL_MAX 63 /* of a host name, RFC 1035 */
#define LOCAL_MAX 64 /* of an e-mail address, RFC 5321 */

static bool is_alphanumeric(char c)
{
	return lex_is_digit(c) || lex_is_letter(c);
}

static bool is_one_of(char c, const char *list)
{
	return c && strchr(list, c);
}

/* ---- hosts ---- */
static bool is_label(struct slice s)
{
	if (!s.n || s.n > LABEL_MAX || s.p[0] == '-' || s.p[s.n - 1] == '-')
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_alphanumeric(s.p[i]) && s.p[i] != '-')
			return false;
	return true;
}

static bool is_domain(struct slice s)
{
	while (true) {
		const char *dot = s.n ? memchr(s.p, '.', s.n) : NULL;
		size_t n = dot ? (size_t)(dot - s.p) : s.n;

		if (!is_label(slice_make(s.p, n)))
			return false;
		if (!dot)
			return true;
		s = slice_make(dot + 1, s.n - n - 1);
	}
}

/* ---- e-mail: as browsers take it in <input type=email> ---- */
static bool is_email(struct slice s)
{
	const char *at = s.n ? memchr(s.p, '@', s.n) : NULL;
	size_t local = at ? (size_t)(at - s.p) : 0;

	if (!local || local > LOCAL_MAX)
		return false;
	for (size_t i = 0; i < local; i++)
		if (!is_alphanumeric(s.p[i]) && !is_one_of(s.p[i], ".!#$%&'*+/=?^_`{|}~-"))
			return false;
	return is_domain(slice_make(at + 1, s.n - local - 1));
}

/* ---- URLs: http and https, and nothing that ends one early or runs as a script ---- */
static bool begins_with(struct slice s, const char *lower)
{
	size_t n = strlen(lower);

	for (size_t i = 0; i < n; i++)
		if (i >= s.n || (s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] + 32 : s.p[i]) != lower[i])
			return false;
	return true;
}

static bool is_url(struct slice s)
{
	size_t scheme = begins_with(s, "https://") ? 8 : begins_with(s, "http://") ? 7 : 0;
	size_t host = 0;

	if (!scheme || text_has_unseen(s))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (is_one_of(s.p[i], " \"<>\\^`{|}"))
			return false;
	while (scheme + host < s.n && !is_one_of(s.p[scheme + host], "/?#"))
		host++;
	return host && s.p[scheme] != ':' && s.p[scheme + host - 1] != '@';
}

/* ---- slugs and names ---- */
static bool is_slug(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '-' && (i == 0 || i + 1 == s.n || s.p[i - 1] == '-'))
			return false;
	return s.n && text_is_letters(s, "-");
}

static bool is_name(struct slice s)
{
	return s.n && !is_one_of(s.p[0], "._-") && s.p[s.n - 1] != '.' && text_is_letters(s, "._-");
}

static const char *pattern_misses(const struct attribute *a, struct slice s)
{
	switch (regex_match(a->matches, s)) {
	case REGEX_YES: return NULL;
	case REGEX_NO: return a->matches_says;
	case REGEX_UNDECIDED: break;
	}
	return "a text that can be compared with its pattern: this one takes too long";
}

const char *attribute_form_misses(const struct attribute *a, struct slice s)
{
	const char *why;

	if (!s.n && a->has_min && a->min == 0 && a->type == ATTR_STRING)
		return NULL;
	why = a->matches ? pattern_misses(a, s) : NULL;
	if (why)
		return why;
	switch (a->form) {
	case FORM_FREE: return NULL;
	case FORM_EMAIL: return is_email(s) ? NULL : "an e-mail address like ann@example.com";
	case FORM_URL: return is_url(s) ? NULL : "a URL that begins with https:// or http://";
	case FORM_SLUG: return is_slug(s) ? NULL : "letters and digits with single hyphens between them";
	case FORM_NAME: return is_name(s) ? NULL : "letters and digits, and '.', '_' or '-' between them";
	}
	return NULL;
}

/* ---- addresses ---- */
const char *address_misses(struct slice s)
{
	if (slice_is(s, ".") || slice_is(s, ".."))
		return "is part of the address and cannot be '.' or '..'";
	if (s.n && (memchr(s.p, '/', s.n) || memchr(s.p, '\\', s.n)))
		return "is part of the address and cannot have a slash in it";
	if (s.n && (s.p[0] == ' ' || s.p[s.n - 1] == ' '))
		return "is part of the address and cannot begin or end with a space";
	if (text_has_unseen(s))
		return "is part of the address and cannot have invisible characters in it";
	return NULL;
}
