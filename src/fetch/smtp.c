/* Mail with libcurl: one connection, one mail, and what its end means.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fetch/smtp.h"
#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "fetch/limits.h"
#include "fetch/start.h"

struct smtp {
	CURL *curl;
	const struct smtp_settings *settings;
	const atomic_bool *stop;
	/* Of the mail under way: */
	struct slice left;
	bool body_asked; /* the server has accepted sender and receiver */
	int64_t started_us;
	char line[256]; /* the server's last one that refuses */
	char error[CURL_ERROR_SIZE];
};

/* ---- what libcurl calls ---- */

static size_t on_read(char *to, size_t size, size_t count, void *ctx)
{
	struct smtp *m = ctx;
	size_t n = size * count;

	m->body_asked = true;
	if (n > m->left.n)
		n = m->left.n;
	if (n)
		memcpy(to, m->left.p, n);
	m->left.p += n;
	m->left.n -= n;
	return n;
}

/* A line of the server's that refuses something; QUIT is answered after it. Only printable ASCII of it gets into a log. */
static size_t on_line(char *p, size_t size, size_t count, void *ctx)
{
	struct smtp *m = ctx;
	size_t n = size * count, len = 0;

	if (!n || (p[0] != '4' && p[0] != '5'))
		return n;
	for (size_t i = 0; i < n && len + 1 < sizeof(m->line); i++)
		if (p[i] >= ' ' && p[i] <= '~')
			m->line[len++] = p[i];
	m->line[len] = '\0';
	return n;
}

static int on_progress(void *ctx, curl_off_t down, curl_off_t downloaded, curl_off_t up, curl_off_t uploaded)
{
	const struct smtp *m = ctx;

	(void)down, (void)downloaded, (void)up, (void)uploaded;
	return m->stop && atomic_load(m->stop) &&
	       clock_monotonic_us() - m->started_us >= (int64_t)FETCH_MAIL_GRACE_MS * 1000;
}

/* ---- life ---- */

static bool set_options(struct smtp *m)
{
	const struct smtp_settings *s = m->settings;
	CURL *c = m->curl;

	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_QUICK_EXIT, 1L);
	curl_easy_setopt(c, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(c, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, FETCH_MAIL_CONNECT_MS);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, FETCH_MAIL_MS);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, m->error);
	curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(c, CURLOPT_READFUNCTION, on_read);
	curl_easy_setopt(c, CURLOPT_READDATA, m);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_line);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, m);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(c, CURLOPT_XFERINFODATA, m);
	/* S1 */
	return curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "smtp,smtps") == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_USE_SSL, (long)(s->plain ? CURLUSESSL_NONE : CURLUSESSL_ALL)) == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_URL, s->url) == CURLE_OK &&
	       (!s->ca_file || curl_easy_setopt(c, CURLOPT_CAINFO, s->ca_file) == CURLE_OK) &&
	       (!s->user || (curl_easy_setopt(c, CURLOPT_USERNAME, s->user) == CURLE_OK &&
			     curl_easy_setopt(c, CURLOPT_PASSWORD, s->password) == CURLE_OK));
}

struct smtp *smtp_new(const struct smtp_settings *s, const atomic_bool *stop)
{
	struct smtp *m = mem_zalloc(sizeof(*m));

	fetch_start_curl();
	if (!m)
		return NULL;
	m->settings = s;
	m->stop = stop;
	m->curl = curl_easy_init();
	if (m->curl && set_options(m))
		return m;
	smtp_free(m);
	return NULL;
}

void smtp_free(struct smtp *m)
{
	if (!m)
		return;
	if (m->curl)
		curl_easy_cleanup(m->curl);
	mem_free(m);
}

/* ---- a mail ---- */

/* S4: libcurl reports a refused sender, receiver or DATA as CURLE_SEND_ERROR, a refused text as CURLE_WEIRD_SERVER_REPLY,
 * which is also what it says of a greeting. */
static bool is_final(const struct smtp *m, CURLcode code, long said)
{
	return said >= 500 && said != 530 && (code == CURLE_SEND_ERROR || m->body_asked);
}

static void say_why(const struct smtp *m, CURLcode code, long said, struct smtp_reply *r)
{
	if (said >= 400)
		snprintf(r->why, sizeof(r->why), "the mail server answered: %.200s", m->line[0] ? m->line : "an error");
	else
		snprintf(r->why, sizeof(r->why), "the mail server did not answer: %.200s",
			 m->error[0] ? m->error : curl_easy_strerror(code));
}

static bool set_mail(struct smtp *m, const char *from, struct curl_slist *to, size_t bytes)
{
	return curl_easy_setopt(m->curl, CURLOPT_MAIL_FROM, from) == CURLE_OK &&
	       curl_easy_setopt(m->curl, CURLOPT_MAIL_RCPT, to) == CURLE_OK &&
	       curl_easy_setopt(m->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)bytes) == CURLE_OK;
}

void smtp_send(struct smtp *m, const char *to, struct slice text, struct smtp_reply *r)
{
	struct curl_slist *list;
	CURLcode code = CURLE_OUT_OF_MEMORY;
	long said = 0;

	*r = (struct smtp_reply){ .end = SMTP_REFUSED };
	if (!smtp_is_address(slice_str(to))) { /* S2 */
		snprintf(r->why, sizeof(r->why), "the receiver is no address that mail can be sent to");
		return;
	}
	m->left = text;
	m->body_asked = false;
	m->started_us = clock_monotonic_us();
	m->line[0] = m->error[0] = '\0';
	list = curl_slist_append(NULL, to);
	if (list && set_mail(m, m->settings->from, list, text.n))
		code = curl_easy_perform(m->curl);
	curl_easy_getinfo(m->curl, CURLINFO_RESPONSE_CODE, &said);
	r->code = (int)said;
	r->end = code == CURLE_OK ? SMTP_TAKEN : is_final(m, code, said) ? SMTP_REFUSED : SMTP_AGAIN;
	if (r->end != SMTP_TAKEN)
		say_why(m, code, said, r);
	curl_easy_setopt(m->curl, CURLOPT_MAIL_RCPT, NULL);
	curl_slist_free_all(list);
}
