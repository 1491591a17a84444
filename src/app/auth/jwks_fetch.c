/* GET of a JWKS document, by https, or by http from this machine.
 * SPDX-License-Identifier: Apache-2.0 */
#include <curl/curl.h>
#include <pthread.h>
#include "app/auth/jwks.h"
#include "base/alloc.h"
#include "base/log.h"
#include "wire/loopback.h"

#define MOST_BYTES (1024 * 1024)
#define SECONDS    5L
#define REDIRECTS  3L

struct body {
	char *p;
	size_t n;
};

static size_t receive_body(char *p, size_t size, size_t count, void *ctx)
{
	struct body *b = ctx;
	size_t n = size * count;
	char *grown = n <= MOST_BYTES - b->n ? mem_realloc(b->p, b->n + n) : NULL;

	if (!grown)
		return 0; /* ends the transfer with an error */
	memcpy(grown + b->n, p, n);
	b->p = grown;
	b->n += n;
	return n;
}

/* Keys that came over a network in plain text could be forged. */
static bool is_safe(const char *url)
{
	char *scheme = NULL, *host = NULL;
	CURLU *u = curl_url();
	bool ok = false;

	if (u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
	    curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
	    curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK)
		ok = !strcmp(scheme, "https") || (!strcmp(scheme, "http") && host_is_loopback(host));
	curl_free(scheme);
	curl_free(host);
	curl_url_cleanup(u);
	return ok;
}

static void start_curl(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void set_options(CURL *c, const char *url, struct body *b)
{
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_TIMEOUT, SECONDS);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(c, CURLOPT_MAXREDIRS, REDIRECTS);
	curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, "https");
	curl_easy_setopt(c, CURLOPT_FAILONERROR, 1L);
	curl_easy_setopt(c, CURLOPT_NOPROXY, "localhost,127.0.0.1,::1");
	curl_easy_setopt(c, CURLOPT_USERAGENT, "thorpe");
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, receive_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, b);
}

char *jwks_fetch(const char *url, size_t *n)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct body b = { 0 };
	CURLcode code = CURLE_OUT_OF_MEMORY;
	CURL *c;

	pthread_once(&once, start_curl);
	if (!is_safe(url)) {
		log_warn("keys are only fetched by https or from this machine, not from %s", url);
		return NULL;
	}
	c = curl_easy_init();
	if (c) {
		set_options(c, url, &b);
		code = curl_easy_perform(c);
		curl_easy_cleanup(c);
	}
	*n = b.n;
	if (code == CURLE_OK && b.p)
		return b.p;
	log_warn("cannot fetch keys from %s: %s", url, code == CURLE_OK ? "empty" : curl_easy_strerror(code));
	mem_free(b.p);
	return NULL;
}
