/* DynamoDB's operations with libcurl, which signs them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/remote.h"
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "base/alloc.h"

#define CONNECT_MS 5000L
#define TOTAL_MS 60000L
#define TRIES 6
#define FIRST_WAIT_MS 100

struct remote {
	struct backend backend;
	CURL *curl;
	char *url, *user, *scope, *session; /* session: the header; NULL: none */
	char *received;
	size_t n;
};

/* ---- one request ---- */

static size_t on_data(char *p, size_t size, size_t count, void *ctx)
{
	struct remote *r = ctx;
	char *bigger = mem_realloc(r->received, r->n + size * count + 1);

	if (!bigger)
		return 0;
	r->received = bigger;
	memcpy(bigger + r->n, p, size * count);
	r->n += size * count;
	return size * count;
}

static struct curl_slist *add_header(struct curl_slist *l, const char *text)
{
	struct curl_slist *more = l || text ? curl_slist_append(l, text) : NULL;

	if (!more)
		curl_slist_free_all(l);
	return more;
}

static CURLcode send_one(struct remote *r, struct arena *a, const char *operation, struct slice body, long *status)
{
	char *target = arena_cstr(a, arena_printf(a, "X-Amz-Target: %.*s", SLICE_ARG(api_target(a, operation))));
	struct curl_slist *headers = add_header(NULL, "Content-Type: application/x-amz-json-1.0");
	CURLcode result;

	headers = headers ? add_header(headers, target) : NULL;
	if (headers && r->session)
		headers = add_header(headers, r->session);
	if (!headers)
		return CURLE_OUT_OF_MEMORY;
	r->n = 0;
	curl_easy_setopt(r->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(r->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
	curl_easy_setopt(r->curl, CURLOPT_POSTFIELDS, body.p);
	result = curl_easy_perform(r->curl);
	curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, status);
	curl_slist_free_all(headers);
	return result;
}

/* com.amazonaws.dynamodb.v20120810#ResourceNotFoundException */
static void read_error(struct backend_reply *r)
{
	const struct json *type = json_get(r->body, "__type"), *message = json_get(r->body, "message");
	const char *sign;

	if (!message)
		message = json_get(r->body, "Message");
	r->error = json_is(type, JSON_STRING) ? type->string : SLICE("InternalServerError");
	sign = memchr(r->error.p, '#', r->error.n);
	if (sign)
		r->error = slice_make(sign + 1, r->error.n - (size_t)(sign + 1 - r->error.p));
	r->message = json_is(message, JSON_STRING) ? message->string : r->error;
}

static bool is_worth_another(const struct backend_reply *r)
{
	return r->status >= 500 || slice_is(r->error, "ThrottlingException") ||
	       slice_is(r->error, "ProvisionedThroughputExceededException") || slice_is(r->error, "RequestLimitExceeded");
}

static void wait_ms(long ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void call(struct backend *b, struct arena *a, const char *operation, struct slice body, struct backend_reply *reply)
{
	static const struct json empty = { .type = JSON_OBJECT };
	struct remote *r = (struct remote *)b;
	long wait = FIRST_WAIT_MS, status = 0;

	for (int i = 0; i < TRIES; i++, wait *= 2) {
		CURLcode result;

		if (i)
			wait_ms(wait);
		result = send_one(r, a, operation, body, &status);
		if (result == CURLE_OK) {
			struct slice text = arena_copy(a, slice_make(r->received, r->n));

			*reply = (struct backend_reply){ .status = (int)status, .body = json_parse(a, text) };
			if (!json_is(reply->body, JSON_OBJECT))
				reply->body = &empty;
			if (status != 200)
				read_error(reply);
			if (status == 200 || !is_worth_another(reply))
				return;
			continue;
		}
		*reply = (struct backend_reply){ .status = 500, .body = &empty, .error = SLICE("ServiceUnavailable"),
						 .message = slice_str(curl_easy_strerror(result)) };
		if (result == CURLE_OUT_OF_MEMORY)
			arena_out_of_memory(a);
	}
}

/* ---- life ---- */

static char *text(const char *a, const char *b, const char *c)
{
	size_t n = strlen(a) + strlen(b) + strlen(c) + 1;
	char *p = mem_alloc(n);

	if (p)
		snprintf(p, n, "%s%s%s", a, b, c);
	return p;
}

static const char *from_environment(const char *name, const char *otherwise)
{
	const char *v = getenv(name);

	return v && *v ? v : otherwise;
}

static bool set_up(struct remote *r, const char *endpoint)
{
	const char *key = from_environment("AWS_ACCESS_KEY_ID", "local");
	const char *session = from_environment("AWS_SESSION_TOKEN", NULL);
	size_t n = strlen(endpoint);

	r->url = text(endpoint, n && endpoint[n - 1] == '/' ? "" : "/", "");
	r->user = text(key, ":", from_environment("AWS_SECRET_ACCESS_KEY", "local"));
	r->scope = text("aws:amz:", from_environment("AWS_REGION", from_environment("AWS_DEFAULT_REGION", "us-east-1")), ":dynamodb");
	r->session = session ? text("X-Amz-Security-Token: ", session, "") : NULL;
	r->curl = curl_easy_init();
	if (!r->url || !r->user || !r->scope || (session && !r->session) || !r->curl)
		return false;
	curl_easy_setopt(r->curl, CURLOPT_URL, r->url);
	curl_easy_setopt(r->curl, CURLOPT_POST, 1L);
	curl_easy_setopt(r->curl, CURLOPT_AWS_SIGV4, r->scope);
	curl_easy_setopt(r->curl, CURLOPT_USERPWD, r->user);
	curl_easy_setopt(r->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(r->curl, CURLOPT_NOPROXY, "localhost,127.0.0.1,::1");
	curl_easy_setopt(r->curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(r->curl, CURLOPT_TIMEOUT_MS, TOTAL_MS);
	curl_easy_setopt(r->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(r->curl, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(r->curl, CURLOPT_WRITEDATA, r);
	return true;
}

struct backend *remote_new(const char *endpoint)
{
	struct remote *r = mem_zalloc(sizeof(*r));

	if (!r)
		return NULL;
	r->backend.call = call;
	r->backend.free = remote_free;
	if (set_up(r, endpoint))
		return &r->backend;
	remote_free(&r->backend);
	return NULL;
}

void remote_free(struct backend *b)
{
	struct remote *r = (struct remote *)b;

	if (!r)
		return;
	if (r->curl)
		curl_easy_cleanup(r->curl);
	mem_free(r->url);
	mem_free(r->user);
	mem_free(r->scope);
	mem_free(r->session);
	mem_free(r->received);
	mem_free(r);
}
