/* Where mail goes out, as it was given: an address of a mail server, a password in a file, a sender.
 * SPDX-License-Identifier: Apache-2.0 */
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "fetch/smtp.h"
#include "wire/loopback.h"

#define LOCAL_MOST    64
#define ADDRESS_MOST  254
#define PASSWORD_MOST 1024
#define NAME_MOST     128

/* ---- addresses ---- */

static bool is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Words joined by single dots; never begins with '-'. */
static bool is_dotted(struct slice s, const char *others)
{
	char before = '.';

	if (!s.n || s.p[0] == '-')
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '.' ? before == '.' : !is_letter_or_digit(s.p[i]) && !(s.p[i] && strchr(others, s.p[i])))
			return false;
		before = s.p[i];
	}
	return before != '.';
}

bool smtp_is_address(struct slice s)
{
	const char *at = s.n && s.n <= ADDRESS_MOST ? memchr(s.p, '@', s.n) : NULL;
	struct slice local, domain;

	if (!at)
		return false;
	local = slice_make(s.p, (size_t)(at - s.p));
	domain = slice_make(at + 1, s.n - local.n - 1);
	return local.n <= LOCAL_MOST && is_dotted(local, "!#$%&'*+-/=?^_`{|}~") && is_dotted(domain, "-");
}

/* ---- the sender ---- */

/* A name is printable, and in no encoding that a header could not have: UTF-8 is encoded where it is written. */
static bool is_name(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
			return false;
	return s.n <= NAME_MOST;
}

static bool read_from(const char *given, struct smtp_settings *out, char *why, size_t n)
{
	struct slice text = slice_trim(slice_str(given), " "), name = { 0 };
	const char *open = text.n && text.p[text.n - 1] == '>' ? memchr(text.p, '<', text.n) : NULL;

	if (open) {
		name = slice_trim(slice_make(text.p, (size_t)(open - text.p)), " \"");
		text = slice_make(open + 1, text.n - (size_t)(open - text.p) - 2);
	}
	if (!smtp_is_address(text) || !is_name(name)) {
		snprintf(why, n, "'%s' is no sender, such as noreply@example.com or 'Example <noreply@example.com>'",
			 given);
		return false;
	}
	out->from = mem_strndup(text.p, text.n);
	out->from_name = name.n ? mem_strndup(name.p, name.n) : NULL;
	return true;
}

/* ---- the password ---- */

static bool read_password(const char *file, struct smtp_settings *out, char *why, size_t n)
{
	char line[PASSWORD_MOST + 2];
	FILE *f = fopen(file, "re");
	bool ok;

	if (!f) {
		snprintf(why, n, "cannot read %s: %s", file, strerror(errno));
		return false;
	}
	ok = fgets(line, sizeof(line), f) != NULL;
	fclose(f);
	if (ok)
		line[strcspn(line, "\r\n")] = '\0';
	if (!ok || !line[0] || strlen(line) > PASSWORD_MOST) {
		snprintf(why, n, "%s: its first line must be a password of at most %d bytes", file, PASSWORD_MOST);
		return false;
	}
	out->password = mem_strndup(line, strlen(line));
	explicit_bzero(line, sizeof(line));
	return true;
}

/* ---- the server ---- */

/* The parts of an address that a mail server may have; curl_free() each. */
struct parts {
	char *scheme, *host, *port, *user, *password, *path, *query;
};

static void parts_read(CURLU *u, struct parts *p)
{
	curl_url_get(u, CURLUPART_SCHEME, &p->scheme, 0);
	curl_url_get(u, CURLUPART_HOST, &p->host, 0);
	curl_url_get(u, CURLUPART_PORT, &p->port, 0);
	curl_url_get(u, CURLUPART_USER, &p->user, CURLU_URLDECODE);
	curl_url_get(u, CURLUPART_PASSWORD, &p->password, 0);
	curl_url_get(u, CURLUPART_PATH, &p->path, 0);
	curl_url_get(u, CURLUPART_QUERY, &p->query, 0);
}

static void parts_free(struct parts *p)
{
	curl_free(p->scheme);
	curl_free(p->host);
	curl_free(p->port);
	curl_free(p->user);
	curl_free(p->password);
	curl_free(p->path);
	curl_free(p->query);
}

static bool read_parts(const struct parts *p, struct smtp_settings *out, char *why, size_t n)
{
	char url[1024];
	bool tls;

	if (!p->scheme || !p->host || (strcmp(p->scheme, "smtp") && strcmp(p->scheme, "smtps")) ||
	    (p->path && strcmp(p->path, "/")) || p->query) {
		snprintf(why, n, "it must be smtp://[USER@]HOST[:PORT] or smtps://…");
		return false;
	}
	if (p->password) {
		snprintf(why, n,
			 "every user of this machine can read it there: put the password into --smtp-password-file");
		return false;
	}
	tls = !strcmp(p->scheme, "smtps");
	out->plain = !tls && host_is_loopback(p->host);
	if (snprintf(url, sizeof(url), "%s://%s%s%s/%s", p->scheme, p->host, p->port ? ":" : "", p->port ? p->port : "",
		     strchr(out->from, '@') + 1) >= (int)sizeof(url)) {
		snprintf(why, n, "it is too long");
		return false;
	}
	out->url = mem_strndup(url, strlen(url));
	out->user = p->user ? mem_strndup(p->user, strlen(p->user)) : NULL;
	return true;
}

static bool read_server(const char *given, struct smtp_settings *out, char *why, size_t n)
{
	struct parts p = { 0 };
	CURLU *u = curl_url();
	bool ok;

	if (u && curl_url_set(u, CURLUPART_URL, given, 0) == CURLUE_OK)
		parts_read(u, &p);
	ok = read_parts(&p, out, why, n);
	parts_free(&p);
	curl_url_cleanup(u);
	return ok;
}

bool smtp_settings_read(const struct smtp_given *given, struct smtp_settings *out, char *why, size_t n)
{
	*out = (struct smtp_settings){ 0 };
	if (!given->from) {
		snprintf(why, n, "mail needs a sender: --smtp-from");
		return false;
	}
	if (!read_from(given->from, out, why, n) || (out->from && !read_server(given->url, out, why, n)) ||
	    (given->password_file && !read_password(given->password_file, out, why, n)))
		return false;
	if (!out->user != !given->password_file) {
		snprintf(why, n, "a login needs both: a user, as in smtps://USER@HOST, and --smtp-password-file");
		return false;
	}
	out->ca_file = given->ca_file ? mem_strndup(given->ca_file, strlen(given->ca_file)) : NULL;
	if (out->from && out->url && (!out->user || out->password) && (!given->ca_file || out->ca_file))
		return true;
	snprintf(why, n, "not enough memory");
	return false;
}

void smtp_settings_release(struct smtp_settings *s)
{
	if (s->password)
		explicit_bzero(s->password, strlen(s->password));
	mem_free(s->url);
	mem_free(s->user);
	mem_free(s->password);
	mem_free(s->ca_file);
	mem_free(s->from);
	mem_free(s->from_name);
	*s = (struct smtp_settings){ 0 };
}
