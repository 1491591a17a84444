/* POST with libcurl.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/send/send_http.h"
#include <curl/curl.h>
#include <pthread.h>
#include "base/alloc.h"
#include "base/clock.h"

#define GRACE_US 1000000 /* for a request that is under way when the sender stops */

struct send_http {
	CURL *curl;
	const atomic_bool *stop;
	int64_t started_us;
	/* the reply: not in an arena, for curl must not be left by longjmp */
	char *body;
	size_t n, most;
	bool full;
};

static size_t receive_body(char *p, size_t size, size_t count, void *ctx)
{
	struct send_http *h = ctx;
	size_t n = size * count;
	char *grown = n <= h->most - h->n ? mem_realloc(h->body, h->n + n + 1) : NULL;

	if (!grown) {
		h->full = true;
		return 0; /* ends the transfer */
	}
	memcpy(grown + h->n, p, n);
	h->body = grown;
	h->n += n;
	return n;
}

static int go_on(void *ctx, curl_off_t down, curl_off_t downloaded, curl_off_t up, curl_off_t uploaded)
{
	const struct send_http *h = ctx;

	(void)down, (void)downloaded, (void)up, (void)uploaded;
	return h->stop && atomic_load(h->stop) && clock_monotonic_us() - h->started_us > GRACE_US;
}

static void start_curl(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

static bool set_options(struct send_http *h, const char *url)
{
	CURL *c = h->curl;

	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)SEND_TIMEOUT_MS);
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(c, CURLOPT_NOPROXY, "localhost,127.0.0.1,::1");
	curl_easy_setopt(c, CURLOPT_USERAGENT, "thorpe/" THORPE_VERSION);
	curl_easy_setopt(c, CURLOPT_POST, 1L);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, receive_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, h);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, go_on);
	curl_easy_setopt(c, CURLOPT_XFERINFODATA, h);
	return curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_URL, url) == CURLE_OK;
}

struct send_http *send_http_new(const char *url, const atomic_bool *stop)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct send_http *h = mem_zalloc(sizeof(*h));

	pthread_once(&once, start_curl);
	if (!h)
		return NULL;
	h->stop = stop;
	h->curl = curl_easy_init();
	if (h->curl && set_options(h, url))
		return h;
	send_http_free(h);
	return NULL;
}

void send_http_free(struct send_http *h)
{
	if (!h)
		return;
	curl_easy_cleanup(h->curl);
	mem_free(h->body);
	mem_free(h);
}

/* ---- a request ---- */

static bool add_header(struct curl_slist **list, const char *header)
{
	struct curl_slist *more = curl_slist_append(*list, header);

	if (more)
		*list = more;
	return more != NULL;
}

static struct curl_slist *header_list(struct arena *a, const struct slice *headers, size_t n)
{
	const char **texts = arena_array(a, const char *, n); /* first: a longjmp would leak the list */
	struct curl_slist *list = NULL;
	bool ok;

	for (size_t i = 0; i < n; i++)
		texts[i] = arena_cstr(a, headers[i]);
	ok = add_header(&list, "Expect:"); /* no "100 Continue": the body follows at once */
	for (size_t i = 0; ok && i < n; i++)
		ok = add_header(&list, texts[i]);
	if (ok)
		return list;
	curl_slist_free_all(list);
	arena_out_of_memory(a);
}

static int64_t retry_after(CURL *c)
{
	curl_off_t seconds = 0;

	if (curl_easy_getinfo(c, CURLINFO_RETRY_AFTER, &seconds) != CURLE_OK || seconds < 0)
		return 0;
	return seconds < SEND_RETRY_AFTER_MOST ? seconds : SEND_RETRY_AFTER_MOST;
}

static void read_reply(struct send_http *h, struct arena *a, CURLcode code, struct send_reply *reply)
{
	long status = 0;

	curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK && !(code == CURLE_WRITE_ERROR && h->full)) {
		reply->why = arena_printf(a, "the receiver did not answer: %s", curl_easy_strerror(code));
		return;
	}
	reply->status = (int)status;
	reply->body = arena_copy(a, slice_make(h->body, h->n));
	reply->retry_after = retry_after(h->curl);
	if (!status)
		reply->why = SLICE("the receiver did not answer in HTTP");
	else if (status < 200 || status > 299)
		reply->why = arena_printf(a, "the receiver answered %ld", status);
}

void send_http_post(struct send_http *h, struct arena *a, const struct send_request *q, struct send_reply *reply)
{
	struct curl_slist *list = header_list(a, q->headers, q->header_count);
	CURLcode code;

	*reply = (struct send_reply){ 0 };
	h->n = 0;
	h->most = q->most;
	h->full = false;
	h->started_us = clock_monotonic_us();
	curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, list);
	curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, q->body.p);
	curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body.n);
	code = curl_easy_perform(h->curl);
	curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, NULL);
	curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, NULL);
	curl_slist_free_all(list);
	if (code == CURLE_OUT_OF_MEMORY)
		arena_out_of_memory(a);
	read_reply(h, a, code, reply);
}
