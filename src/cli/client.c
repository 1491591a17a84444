/* One request with libcurl.
 * SPDX-License-Identifier: Apache-2.0 */
#include <curl/curl.h>
#include <stdio.h>

#include "base/alloc.h"
#include "cli/client.h"

#define CONNECT_MS 5000L
#define TOTAL_MS   60000L

/* Not the arena's: its way out of memory must not lead through libcurl. */
struct received {
	char *p;
	size_t n;
};

static size_t on_data(char *p, size_t size, size_t count, void *ctx)
{
	struct received *r = ctx;
	char *bigger = mem_realloc(r->p, r->n + size * count + 1);

	if (!bigger)
		return 0;
	memcpy(bigger + r->n, p, size * count);
	r->p = bigger;
	r->n += size * count;
	return size * count;
}

static void free_curl(void *c)
{
	curl_easy_cleanup(c);
}

static void free_list(void *l)
{
	curl_slist_free_all(l);
}

static void free_received(void *r)
{
	mem_free(((struct received *)r)->p);
}

static struct curl_slist *headers_of(struct arena *a, const struct client_request *q)
{
	struct curl_slist *l = curl_slist_append(NULL, "Content-Type: application/json");

	if (l)
		arena_defer(a, free_list, l);
	if (l && q->token.n)
		l = curl_slist_append(l, arena_printf(a, "Authorization: Bearer %.*s%c", SLICE_ARG(q->token), 0).p);
	if (!l)
		arena_out_of_memory(a);
	return l;
}

static CURL *prepare(struct arena *a, const struct client_request *q, struct received *into)
{
	struct curl_slist *headers = headers_of(a, q);
	CURL *c = curl_easy_init();

	if (!c)
		arena_out_of_memory(a);
	arena_defer(a, free_curl, c);
	curl_easy_setopt(c, CURLOPT_URL, q->url);
	curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, q->method);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_NOPROXY, "localhost,127.0.0.1,::1");
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, TOTAL_MS);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, into);
	if (q->body.n) {
		curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body.n);
		curl_easy_setopt(c, CURLOPT_POSTFIELDS, q->body.p);
	}
	return c;
}

bool client_send(struct arena *a, const struct client_request *q, struct client_reply *r, char *why, size_t n)
{
	struct received *into = arena_new(a, struct received);
	CURLcode result;
	CURL *c;

	arena_defer(a, free_received, into);
	c = prepare(a, q, into);
	result = curl_easy_perform(c);
	if (result == CURLE_COULDNT_CONNECT) {
		snprintf(why, n, "nothing answers at %s: is 'thorpe serve' running?", q->url);
		return false;
	}
	if (result != CURLE_OK) {
		snprintf(why, n, "%s: %s", q->url, curl_easy_strerror(result));
		return false;
	}
	curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &r->status);
	r->body = slice_make(into->p, into->n);
	return true;
}
