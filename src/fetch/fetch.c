/* HTTP with libcurl: one request and its outcome.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fetch/fetch.h"
#include <curl/curl.h>
#include <stdio.h>
#include <strings.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "fetch/start.h"
#include "wire/loopback.h"

#define IDLE_S     45L /* servers close connections that are idle for a minute or more */
#define FIRST_ROOM 4096
#define KEPT_HOSTS 2L /* DynamoDB's and the streams' */

struct fetch {
	CURL *curl;
	const atomic_bool *stop;
	bool repeats;
	/* Of the request under way: */
	const struct fetch_request *request;
	struct fetch_reply *reply;
	size_t room;
	int64_t started_us;
	int sendings; /* connections that it was about to be sent over */
	bool too_large, no_memory;
	char error[CURL_ERROR_SIZE];
};

/* ---- what libcurl calls ---- */

static size_t on_body(char *p, size_t size, size_t count, void *ctx)
{
	struct fetch *f = ctx;
	struct fetch_reply *r = f->reply;
	size_t n = size * count;

	if (n > f->request->most - r->n) {
		f->too_large = true;
		return 0;
	}
	if (n > f->room - r->n) {
		size_t room = f->room ? f->room * 2 : FIRST_ROOM;
		char *bigger = mem_realloc(r->body, room < r->n + n ? r->n + n : room);

		if (!bigger) {
			f->no_memory = true;
			return 0;
		}
		f->room = room < r->n + n ? r->n + n : room;
		r->body = bigger;
	}
	if (n)
		memcpy(r->body + r->n, p, n);
	r->n += n;
	return n;
}

static bool is_header(const char *line, size_t n, const char *name, char value[128])
{
	size_t len = strlen(name), from = len + 1, i = 0;

	if (n <= len || line[len] != ':' || strncasecmp(line, name, len) != 0)
		return false;
	while (from < n && (line[from] == ' ' || line[from] == '\t'))
		from++;
	while (from < n && i < 127 && line[from] != '\r' && line[from] != '\n')
		value[i++] = line[from++];
	value[i] = '\0';
	return true;
}

static bool read_number(const char *text, uint64_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*out = strtoull(text, &end, 10);
	return !*end;
}

static void forget_headers(struct fetch_reply *r)
{
	r->gzip = r->has_crc32 = false;
	r->retry_after_ms = r->date_ms = r->total = -1;
	r->id[0] = r->type[0] = r->content_type[0] = '\0';
}

static size_t on_header(char *line, size_t size, size_t count, void *ctx)
{
	struct fetch_reply *r = ((struct fetch *)ctx)->reply;
	size_t n = size * count;
	char value[128];
	uint64_t number;

	if (n > 5 && !strncmp(line, "HTTP/", 5)) {
		forget_headers(r); /* an interim reply came before */
	} else if (is_header(line, n, "content-encoding", value)) {
		r->gzip = !strcasecmp(value, "gzip");
	} else if (is_header(line, n, "x-amz-crc32", value)) {
		r->has_crc32 = read_number(value, &number) && number <= UINT32_MAX;
		r->crc32 = r->has_crc32 ? (uint32_t)number : 0;
	} else if (is_header(line, n, "x-amz-retry-after", value)) {
		r->retry_after_ms = read_number(value, &number) && number < INT32_MAX ? (int64_t)number : -1;
	} else if (is_header(line, n, "date", value)) {
		time_t t = curl_getdate(value, NULL);

		r->date_ms = t > 0 ? (int64_t)t * 1000 : -1;
	} else if (is_header(line, n, "content-range", value)) {
		const char *slash = strchr(value, '/');

		r->total = slash && read_number(slash + 1, &number) && number < INT64_MAX ? (int64_t)number : -1;
	} else if (is_header(line, n, "content-type", value)) {
		snprintf(r->content_type, sizeof(r->content_type), "%s", value);
	} else if (is_header(line, n, "x-amzn-requestid", value)) {
		snprintf(r->id, sizeof(r->id), "%.*s", (int)sizeof(r->id) - 1, value);
	} else if (is_header(line, n, "x-amzn-errortype", value)) {
		snprintf(r->type, sizeof(r->type), "%.*s", (int)strcspn(value, ":"), value);
	}
	return n;
}

static int on_progress(void *ctx, curl_off_t down, curl_off_t downloaded, curl_off_t up, curl_off_t uploaded)
{
	const struct fetch *f = ctx;

	(void)down, (void)downloaded, (void)up, (void)uploaded;
	return f->stop && atomic_load(f->stop) &&
	       clock_monotonic_us() - f->started_us >= (int64_t)f->request->grace_ms * 1000;
}

/* Called before the request goes out over a connection. The second time is libcurl's own repetition (F1): refused. */
static int on_sending(void *ctx, char *to, char *from, int to_port, int from_port)
{
	struct fetch *f = ctx;

	(void)to, (void)from, (void)to_port, (void)from_port;
	return f->sendings++ && !f->repeats ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* ---- life ---- */

static bool set_options(struct fetch *f, const struct fetch_options *o)
{
	CURL *c = f->curl;

	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_QUICK_EXIT, 1L); /* does not wait for a resolver that does not answer */
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, o->redirects > 0 ? 1L : 0L);
	curl_easy_setopt(c, CURLOPT_MAXREDIRS, o->redirects);
	curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(c, CURLOPT_MAXCONNECTS, KEPT_HOSTS);
	curl_easy_setopt(c, CURLOPT_MAXAGE_CONN, IDLE_S);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "thorpe/" THORPE_VERSION);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, f->error);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, f);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, f);
	curl_easy_setopt(c, CURLOPT_PREREQFUNCTION, on_sending);
	curl_easy_setopt(c, CURLOPT_PREREQDATA, f);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(c, CURLOPT_XFERINFODATA, f);
	return curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, "https") == CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_NOPROXY, o->direct ? "*" : "localhost,127.0.0.1,::1") == CURLE_OK &&
	       (!o->ca_bundle || curl_easy_setopt(c, CURLOPT_CAINFO, o->ca_bundle) == CURLE_OK);
}

struct fetch *fetch_new(const struct fetch_options *o)
{
	struct fetch *f = mem_zalloc(sizeof(*f));

	fetch_start_curl();
	if (!f)
		return NULL;
	f->stop = o->stop;
	f->repeats = o->repeats;
	f->curl = curl_easy_init();
	if (f->curl && set_options(f, o))
		return f;
	fetch_free(f);
	return NULL;
}

void fetch_free(struct fetch *f)
{
	if (!f)
		return;
	if (f->curl)
		curl_easy_cleanup(f->curl);
	mem_free(f);
}

/* ---- addresses ---- */

bool fetch_is_private(const char *url)
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

/* ---- a request ---- */

static bool add_header(struct curl_slist **list, const char *header)
{
	struct curl_slist *more = curl_slist_append(*list, header);

	if (more)
		*list = more;
	return more != NULL;
}

/* Whether no header contains a line break: one in a token would inject another header. */
static bool are_lines(const char *const *headers)
{
	for (; headers && *headers; headers++)
		if (strpbrk(*headers, "\r\n"))
			return false;
	return true;
}

static struct curl_slist *header_list(const char *const *headers)
{
	struct curl_slist *list = NULL;
	bool ok = add_header(&list, "Expect:"); /* no "100 Continue": the body follows at once */

	ok = ok && add_header(&list, "Accept:");
	for (; ok && headers && *headers; headers++)
		ok = add_header(&list, *headers);
	if (ok)
		return list;
	curl_slist_free_all(list);
	return NULL;
}

static bool set_request(struct fetch *f, const struct fetch_request *q, struct curl_slist *headers)
{
	CURL *c = f->curl;
	bool get = !strcmp(q->method, "GET");

	curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, q->connect_ms);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, q->total_ms);
	curl_easy_setopt(c, get ? CURLOPT_HTTPGET : CURLOPT_POST, 1L);
	if (!get) {
		curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body.n);
		curl_easy_setopt(c, CURLOPT_POSTFIELDS, q->body.n ? q->body.p : "");
	}
	return curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, get || !strcmp(q->method, "POST") ? NULL : q->method) ==
		       CURLE_OK &&
	       curl_easy_setopt(c, CURLOPT_URL, q->url) == CURLE_OK;
}

static bool was_sent(struct fetch *f)
{
	curl_off_t sent = 0;

	if (!f->sendings)
		return false;
	if (f->sendings > 1)
		return true; /* the numbers belong to the second sending, which was stopped */
	curl_easy_getinfo(f->curl, CURLINFO_SIZE_UPLOAD_T, &sent);
	return (size_t)sent >= f->request->body.n;
}

static enum fetch_end end_of(struct fetch *f, CURLcode code)
{
	if (code == CURLE_OK || (f->too_large && f->request->cut))
		return FETCH_ANSWERED;
	if (f->no_memory || code == CURLE_OUT_OF_MEMORY)
		return FETCH_NO_MEMORY;
	if (code == CURLE_ABORTED_BY_CALLBACK && (f->sendings < 2 || f->repeats))
		return FETCH_STOPPED;
	if (!was_sent(f))
		return FETCH_NOT_SENT;
	return code == CURLE_OPERATION_TIMEDOUT ? FETCH_LATE : FETCH_CUT;
}

static void say_why(const struct fetch *f, CURLcode code, struct fetch_reply *r)
{
	const char *text = f->error[0] ? f->error : curl_easy_strerror(code);

	if (code == CURLE_BAD_FUNCTION_ARGUMENT)
		text = "a header has a line break";
	else if (f->too_large)
		text = "the reply is too large";
	else if (r->end == FETCH_STOPPED)
		text = "stopping";
	else if (f->sendings > 1 || code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR ||
		 code == CURLE_PARTIAL_FILE)
		text = "the connection was closed";
	else if (code == CURLE_OPERATION_TIMEDOUT)
		text = f->sendings ? "no answer in time" : "could not connect in time";
	snprintf(r->why, sizeof(r->why), "%s", text);
}

void fetch_send(struct fetch *f, const struct fetch_request *q, struct fetch_reply *r)
{
	struct curl_slist *headers = header_list(q->headers);
	CURLcode code = CURLE_OUT_OF_MEMORY;
	curl_off_t seconds = 0;
	long status = 0;

	*r = (struct fetch_reply){ 0 };
	forget_headers(r);
	f->request = q;
	f->reply = r;
	f->room = 0;
	f->started_us = clock_monotonic_us();
	f->sendings = 0;
	f->too_large = f->no_memory = false;
	f->error[0] = '\0';
	if (!are_lines(q->headers))
		code = CURLE_BAD_FUNCTION_ARGUMENT;
	else if (headers && set_request(f, q, headers))
		code = curl_easy_perform(f->curl);
	r->end = end_of(f, code);
	if (r->end == FETCH_ANSWERED) {
		curl_easy_getinfo(f->curl, CURLINFO_RESPONSE_CODE, &status);
		r->status = (int)status;
		if (curl_easy_getinfo(f->curl, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK && seconds > 0)
			r->retry_after_s = seconds;
	} else {
		r->no_listener = code == CURLE_COULDNT_CONNECT;
		say_why(f, code, r);
		mem_free(r->body);
		r->body = NULL;
		r->n = 0;
	}
	curl_easy_setopt(f->curl, CURLOPT_HTTPHEADER, NULL);
	curl_easy_setopt(f->curl, CURLOPT_POSTFIELDS, NULL);
	curl_slist_free_all(headers);
	f->request = NULL;
	f->reply = NULL;
}
