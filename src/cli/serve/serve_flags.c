/* The flags of `thorpe serve`.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/serve/serve.h"
#include "fault/fault.h"
#include "http/door/origin.h"

static bool set_backend(void *options, const char *value, char *why, size_t n)
{
	struct serve_options *o = options;

	if (o->backend_count == SERVE_BACKENDS_MAX) {
		snprintf(why, n, "more than %d backends", SERVE_BACKENDS_MAX);
		return false;
	}
	return serve_backend_parse(value, &o->backends[o->backend_count++], why, n);
}

static bool set_app(void *options, const char *value, char *why, size_t n)
{
	struct serve_options *o = options;

	if (o->app_count == SERVE_APPS_MAX) {
		snprintf(why, n, "more than %d apps", SERVE_APPS_MAX);
		return false;
	}
	return serve_app_parse(value, &o->apps[o->app_count++], why, n);
}

/* Into http.hosts and http.cors, which point to the lists here. */
static bool add_name(const char **list, size_t *count, const char *value, char *why, size_t n)
{
	if (*count == SERVE_NAMES_MAX) {
		snprintf(why, n, "more than %d of them", SERVE_NAMES_MAX);
		return false;
	}
	list[(*count)++] = value;
	return true;
}

static bool set_host(void *options, const char *value, char *why, size_t n)
{
	struct serve_options *o = options;

	o->http.hosts = o->hosts;
	return origin_check_host(value, why, n) && add_name(o->hosts, &o->http.host_count, value, why, n);
}

static bool set_cors(void *options, const char *value, char *why, size_t n)
{
	struct serve_options *o = options;

	o->http.cors = o->cors;
	return origin_check_origin(value, why, n) && add_name(o->cors, &o->http.cors_count, value, why, n);
}

static bool set_trusted_proxy(void *options, const char *value, char *why, size_t n)
{
	struct serve_options *o = options;

	return proxies_add(&o->proxies, value, why, n);
}

static bool set_region(void *options, const char *value, char *why, size_t n)
{
	struct serve_options *o = options;

	if (!*value || strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(value)) {
		snprintf(why, n, "'%s' does not look like a region, such as eu-west-1", value);
		return false;
	}
	o->http.region = o->db.region = value;
	return true;
}

static bool set_cache(void *options, const char *value, char *why, size_t n)
{
	struct serve_options *o = options;
	unsigned long long megabytes;

	if (!flags_number(value, 1, 1ULL << 24, &megabytes, why, n))
		return false;
	o->db.cache_bytes = (size_t)megabytes << 20;
	return true;
}

/* As enum durability, enum log_level and enum log_format. */
static const char *const durabilities[] = { "synced", "relaxed", NULL };
static const char *const log_levels[] = { "debug", "info", "warn", "error", NULL };
static const char *const log_formats[] = { "text", "json", NULL };

static const struct {
	const char *name;
	size_t offset;
	unsigned long long otherwise;
} limits[] = {
#define X(name, otherwise) { #name, offsetof(struct http_limits, name), otherwise },
	HTTP_LIMIT_MAP(X)
#undef X
};

#define LIMITS (sizeof(limits) / sizeof(limits[0]))

/* What each limits. A limit of HTTP_LIMIT_MAP without a line here does not compile: see the assertion below. */
/* clang-format off */
static const struct limit_help {
	size_t offset;
	const char *text;
} limit_helps[] = {
#define H(name, text) { offsetof(struct http_limits, name), text }
	H(header_bytes, "size of a request's head"),
	H(header_count, "headers in a request"),
	H(body_bytes, "body of a DynamoDB request, also after unzipping"),
	H(rest_body_bytes, "body of a REST request; more where a design's attributes are longer"),
	H(request_memory, "memory for all requests in flight (default: an eighth of this machine's, 64 to 256 MB)"),
	H(pipelined, "requests in flight on one connection"),
	H(pipelined_bytes, "their bodies and replies, before reading pauses"),
	H(connections, "open connections"),
	H(connections_per_address, "of one client address (default: a quarter of connections, at least 64)"),
	H(reserved_connections, "beyond those, for health checks and operators"),
	H(idle_ms, "an idle connection is closed after this time"),
	H(header_ms, "a head must arrive, and a TLS handshake end, within this time"),
	H(body_ms, "window over which body_rate is measured"),
	H(body_rate, "bytes per second at which a body must arrive"),
	H(write_ms, "a client must take some of its reply within this time"),
	H(linger_ms, "how long to go on reading after a refusal, so that it arrives"),
	H(drain_ms, "how long requests in flight may take when the server stops"),
	H(workers, "threads for requests that wait for the database"),
	H(waiting, "requests that may wait for a worker, before 503"),
	H(hashers, "threads for password hashes (default: half of the processors, at least 1)"),
	H(hash_waiting, "requests that may wait for one, before 503; half of them for one client"),
	H(watchers, "watchers of lists at once; each has a connection"),
	H(watch_bytes, "bytes that may wait for one watcher before it is disconnected"),
	H(keep_alive_ms, "silence after which a watcher gets a keep-alive"),
#undef H
};
/* clang-format on */
_Static_assert(sizeof(limit_helps) / sizeof(limit_helps[0]) == LIMITS, "each limit has its line in limit_helps");

static const char *limit_help(size_t offset)
{
	for (size_t i = 0; i < LIMITS; i++)
		if (limit_helps[i].offset == offset)
			return limit_helps[i].text;
	return "";
}

/* The default as text; those that are worked out have it in their help. */
static void limit_default(size_t i, char *out, size_t n)
{
	if (limits[i].offset == offsetof(struct http_limits, request_memory))
		snprintf(out, n, "%llu", (unsigned long long)http_default_request_memory());
	else if (limits[i].otherwise)
		snprintf(out, n, "%llu", limits[i].otherwise);
	else
		snprintf(out, n, "-");
}

void serve_print_limits(void)
{
	char otherwise[32];

	puts("Limits of the HTTP server, for --limit NAME=N, with their defaults (_ms: milliseconds):\n");
	for (size_t i = 0; i < LIMITS; i++) {
		limit_default(i, otherwise, sizeof(otherwise));
		printf("  %-24s %10s  %s\n", limits[i].name, otherwise, limit_help(limits[i].offset));
	}
	puts("\nExample: thorpe serve --limit connections=500 --limit body_bytes=4194304");
}

/* NAME=N, or "help". */
static bool set_limit(void *options, const char *value, char *why, size_t n)
{
	struct serve_options *o = options;
	const char *equals = strchr(value, '=');
	size_t len = equals ? (size_t)(equals - value) : 0;
	unsigned long long to;

	if (!strcmp(value, "help")) {
		o->list_limits = true;
		return true;
	}
	for (size_t i = 0; i < LIMITS; i++) {
		if (strlen(limits[i].name) != len || memcmp(limits[i].name, value, len))
			continue;
		if (!flags_number(equals + 1, 1, 1ULL << 40, &to, why, n))
			return false;
		*(uint64_t *)((char *)&o->http.limits + limits[i].offset) = to;
		return true;
	}
	snprintf(why, n, "'%s' is not NAME=N with a known name; '--limit help' lists them", value);
	return false;
}

/* A SPEC, or "help". */
static bool set_fault(void *options, const char *value, char *why, size_t n)
{
	struct serve_options *o = options;
	struct fault_spec spec;
	struct arena a;
	bool ok;

	if (!strcmp(value, "help")) {
		o->list_faults = true;
		return true;
	}
	arena_init(&a);
	ok = fault_spec_parse(&a, slice_str(value), &spec, why, n);
	arena_release(&a);
	if (ok && o->fault) {
		snprintf(why, n, "it is given twice; put all faults in one list");
		return false;
	}
	o->fault = value;
	return ok;
}

/* clang-format off */
const struct flag serve_flags[] = {
	FLAG_TEXT("listen", "ADDR:PORT", struct serve_options, http.listen, "where to listen (" SERVER_DEFAULT_LISTEN "); port 0 takes a free one"),
	FLAG_TEXT("ready-file", "FILE", struct serve_options, ready_file, "write the address (http://ADDR:PORT) to FILE once it serves; removed at exit"),
	FLAG_TEXT("data", "DIR", struct serve_options, data, "where the data is kept (" SERVE_DEFAULT_DATA ")"),
	FLAG_SWITCH("in-memory", struct serve_options, in_memory, "keep nothing: the data is gone when the server stops"),
	FLAG_LIST("design", "FILE", struct serve_options, designs, design_count, "serve this design under /api/<its name>; repeatable"),
	FLAG_SWITCH("allow-check-errors", struct serve_options, allow_check_errors, "serve a design even if 'thorpe check' finds errors in it"),
	FLAG_READ("app", "NAME=DIR", set_app, "serve the web pages in DIR under /apps/NAME/; repeatable"),
	FLAG_READ("backend", "[DESIGN=]WHERE", set_backend, "keep the tables of all designs, or of this one, elsewhere: aws, aws:REGION, https://…, or http:// on this machine"),
	FLAG_TEXT("peer-listen", "ADDR:PORT", struct serve_options, http.peer_listen, "with --backend: hand records of the stream to live lists of other servers there, on a private address"),
	FLAG_TEXT("peer-address", "HOST:PORT", struct serve_options, peer_address, "where other servers reach --peer-listen (the same address)"),
	FLAG_TEXT("media", "DIR|s3://BUCKET[/PREFIX]", struct serve_options, media.where, "where the files of designs are kept (in the data directory, under media)"),
	FLAG_TEXT("media-endpoint", "URL", struct serve_options, media.endpoint, "the service of that bucket, if it is not Amazon S3"),
	FLAG_NUMBER("media-most", "MB", struct serve_options, media_most_mb, 1, 1ULL << 30, "files of the directory altogether (as long as the disk has room)"),
	FLAG_NUMBER("media-caller-most", "MB", struct serve_options, media_caller_mb, 1, 1ULL << 30, "files of one caller of a design (1024)"),
	FLAG_NUMBER("media-hold", "SECONDS", struct serve_options, media_hold_s, 1, 604800, "a file is uploaded and written into its item within this time, or removed (3600)"),
	FLAG_TEXT("demo", "DIR", struct serve_options, demo, "load DIR/<design>.json into each design whose table is empty"),
	FLAG_TEXT("secret-file", "FILE", struct serve_options, secret_file, "the secret that signs tokens, made if missing (default: in the data directory)"),
	FLAG_TEXT("smtp", "URL", struct serve_options, smtp.url, "send the mail of designs by this server: smtps://USER@HOST or smtp://USER@HOST, which must offer STARTTLS"),
	FLAG_TEXT("smtp-from", "SENDER", struct serve_options, smtp.from, "the sender: noreply@example.com, or 'Example <noreply@example.com>'"),
	FLAG_TEXT("smtp-password-file", "FILE", struct serve_options, smtp.password_file, "the password of --smtp's USER"),
	FLAG_TEXT("smtp-ca", "FILE", struct serve_options, smtp.ca_file, "certificates that the mail server's must come from (the system's)"),
	FLAG_CHOICE("durability", "synced|relaxed", struct serve_options, db.durability, durabilities, "relaxed: answer before the data is on disk, sync on a timer (synced)"),
	FLAG_READ("cache", "MB", set_cache, "memory for data that is read often (an eighth of the machine's; it fills with use)"),
	FLAG_NUMBER("threads", "N", struct serve_options, http.threads, 1, 256, "event loops (one per processor)"),
	FLAG_TEXT("keys", "FILE", struct serve_options, keys_file, "accept only requests signed with a key in FILE: ACCESS_KEY SECRET per line"),
	FLAG_SWITCH("no-auth", struct serve_options, no_auth, "accept every caller, even on an address that others can reach"),
	FLAG_READ("host", "NAME", set_host, "without keys: answer to this name as well as to localhost; repeatable"),
	FLAG_READ("cors", "ORIGIN", set_cors, "let web pages of this origin call, such as https://app.example.com; repeatable"),
	FLAG_TEXT("metrics-listen", "ADDR:PORT", struct serve_options, http.metrics_listen, "serve /metrics and health checks there, without keys and in plain HTTP"),
	FLAG_TEXT("tls-cert", "FILE", struct serve_options, tls_cert, "serve HTTPS with this certificate (PEM, with its chain)"),
	FLAG_TEXT("tls-key", "FILE", struct serve_options, tls_key, "its private key (PEM)"),
	FLAG_READ("trusted-proxy", "ADDR[/BITS]", set_trusted_proxy, "a proxy whose X-Forwarded-For or Forwarded names the client; repeatable"),
	FLAG_READ("region", "REGION", set_region, "the region in ARNs and in signatures (us-east-1)"),
	FLAG_READ("fault", "SPEC", set_fault, "for tests: let DynamoDB's API fail as Amazon's does, such as throttle=5%,index-lag=2s; '--fault help' lists all"),
	FLAG_TEXT("audit", "FILE", struct serve_options, audit, "append logins, refused callers and operators' actions to FILE, one JSON object per line (-: stderr)"),
	FLAG_CHOICE("log-level", "LEVEL", struct serve_options, log_level, log_levels, "debug, info, warn or error (info)"),
	FLAG_CHOICE("log-format", "text|json", struct serve_options, log_format, log_formats, "json: one object per line, with the id of the request (text)"),
	FLAG_READ("limit", "NAME=N", set_limit, "change a limit of the HTTP server; '--limit help' lists them"),
	FLAG_END,
};
/* clang-format on */
