/* The flags of `thorpe serve`.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/serve/serve.h"
#include "fault/fault.h"
#include "http/door/origin.h"

static bool number(const char *text, unsigned long long least, unsigned long long most, unsigned long long *out,
		   char *why, size_t n)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *out >= least && *out <= most)
		return true;
	snprintf(why, n, "'%s' is not a number from %llu to %llu", text, least, most);
	return false;
}

/* The position of `text` among `words`, or -1 with the choices in `why`. */
static int choice(const char *text, const char *const *words, char *why, size_t n)
{
	size_t used;

	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], text))
			return i;
	used = (size_t)snprintf(why, n, "'%s' is not one of", text);
	for (int i = 0; words[i] && used < n; i++)
		used += (size_t)snprintf(why + used, n - used, "%s %s", i ? "," : "", words[i]);
	return -1;
}

#define STRING_FLAG(field)                                                             \
	static bool set_##field(void *options, const char *value, char *why, size_t n) \
	{                                                                              \
		(void)why, (void)n;                                                    \
		((struct serve_options *)options)->field = value;                      \
		return true;                                                           \
	}
STRING_FLAG(data)
STRING_FLAG(keys_file)
STRING_FLAG(tls_cert)
STRING_FLAG(tls_key)
STRING_FLAG(secret_file)
STRING_FLAG(demo)
STRING_FLAG(audit)
STRING_FLAG(ready_file)
STRING_FLAG(peer_address)

#define SWITCH_FLAG(field)                                                             \
	static bool set_##field(void *options, const char *value, char *why, size_t n) \
	{                                                                              \
		(void)value, (void)why, (void)n;                                       \
		((struct serve_options *)options)->field = true;                       \
		return true;                                                           \
	}
SWITCH_FLAG(in_memory)
SWITCH_FLAG(no_auth)
SWITCH_FLAG(allow_check_errors)

static bool set_listen(void *options, const char *value, char *why, size_t n)
{
	struct serve_options *o = options;

	(void)why, (void)n;
	o->http.listen = value;
	return true;
}

static bool set_design(void *options, const char *value, char *why, size_t n)
{
	struct serve_options *o = options;

	if (o->design_count == SERVE_DESIGNS_MAX) {
		snprintf(why, n, "more than %d designs", SERVE_DESIGNS_MAX);
		return false;
	}
	o->designs[o->design_count++] = value;
	return true;
}

static bool set_backend(void *options, const char *value, char *why, size_t n)
{
	struct serve_options *o = options;

	if (o->backend_count == SERVE_BACKENDS_MAX) {
		snprintf(why, n, "more than %d backends", SERVE_BACKENDS_MAX);
		return false;
	}
	return serve_backend_parse(value, &o->backends[o->backend_count++], why, n);
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

static bool set_metrics_listen(void *options, const char *value, char *why, size_t n)
{
	struct serve_options *o = options;

	(void)why, (void)n;
	o->http.metrics_listen = value;
	return true;
}

static bool set_peer_listen(void *options, const char *value, char *why, size_t n)
{
	struct serve_options *o = options;

	(void)why, (void)n;
	o->http.peer_listen = value;
	return true;
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

static bool set_threads(void *options, const char *value, char *why, size_t n)
{
	struct serve_options *o = options;
	unsigned long long count;

	if (!number(value, 1, 256, &count, why, n))
		return false;
	o->http.threads = (unsigned)count;
	return true;
}

static bool set_cache(void *options, const char *value, char *why, size_t n)
{
	struct serve_options *o = options;
	unsigned long long megabytes;

	if (!number(value, 1, 1ULL << 24, &megabytes, why, n))
		return false;
	o->db.cache_bytes = (size_t)megabytes << 20;
	return true;
}

static bool set_durability(void *options, const char *value, char *why, size_t n)
{
	static const char *const words[] = { "synced", "relaxed", NULL };
	struct serve_options *o = options;
	int i = choice(value, words, why, n);

	o->db.durability = i == 1 ? DURABILITY_RELAXED : DURABILITY_SYNCED;
	return i >= 0;
}

static bool set_log_level(void *options, const char *value, char *why, size_t n)
{
	static const char *const words[] = { "debug", "info", "warn", "error", NULL };
	struct serve_options *o = options;
	int i = choice(value, words, why, n);

	o->log_level = i < 0 ? LOG_INFO : (enum log_level)i;
	return i >= 0;
}

static bool set_log_format(void *options, const char *value, char *why, size_t n)
{
	static const char *const words[] = { "text", "json", NULL };
	struct serve_options *o = options;
	int i = choice(value, words, why, n);

	o->log_format = i == 1 ? LOG_JSON : LOG_TEXT;
	return i >= 0;
}

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
	H(watch_bytes, "bytes that may wait for one watcher, before it is disconnected"),
	H(keep_alive_ms, "silence after which a watcher gets a sign of life"),
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
		if (!number(equals + 1, 1, 1ULL << 40, &to, why, n))
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
		snprintf(why, n, "it is given twice; all faults stand in one list");
		return false;
	}
	o->fault = value;
	return ok;
}

/* clang-format off */
const struct flag serve_flags[] = {
	{ "listen", "ADDR:PORT", "where to listen (" SERVER_DEFAULT_LISTEN "); port 0 takes a free one", set_listen },
	{ "ready-file", "FILE", "write the address (http://ADDR:PORT) to FILE once it serves; removed at exit", set_ready_file },
	{ "data", "DIR", "where the data is kept (" SERVE_DEFAULT_DATA ")", set_data },
	{ "in-memory", NULL, "keep nothing: the data is gone when the server stops", set_in_memory },
	{ "design", "FILE", "serve this design under /api/<its name>; repeatable", set_design },
	{ "allow-check-errors", NULL, "serve a design even if 'thorpe check' finds errors in it", set_allow_check_errors },
	{ "backend", "[DESIGN=]WHERE", "keep the tables of all designs, or of this one, elsewhere: aws, aws:REGION, https://…, or http:// on this machine", set_backend },
	{ "peer-listen", "ADDR:PORT", "with --backend: hand records of the stream to live lists of other servers there, on a private address", set_peer_listen },
	{ "peer-address", "HOST:PORT", "where other servers reach --peer-listen (the same address)", set_peer_address },
	{ "demo", "DIR", "load DIR/<design>.json into each design whose table is empty", set_demo },
	{ "secret-file", "FILE", "the secret that signs tokens, made if missing (default: in the data directory)", set_secret_file },
	{ "durability", "synced|relaxed", "relaxed: answer before the data is on disk, sync on a timer (synced)", set_durability },
	{ "cache", "MB", "memory for data that is read often (an eighth of the machine's; it fills with use)", set_cache },
	{ "threads", "N", "event loops (one per processor)", set_threads },
	{ "keys", "FILE", "accept only requests signed with a key in FILE: ACCESS_KEY SECRET per line", set_keys_file },
	{ "no-auth", NULL, "accept every caller, even on an address that others can reach", set_no_auth },
	{ "host", "NAME", "without keys: answer to this name as well as to localhost; repeatable", set_host },
	{ "cors", "ORIGIN", "let web pages of this origin call, such as https://app.example.com; repeatable", set_cors },
	{ "metrics-listen", "ADDR:PORT", "serve /metrics and health checks there, without keys and in plain HTTP", set_metrics_listen },
	{ "tls-cert", "FILE", "serve HTTPS with this certificate (PEM, with its chain)", set_tls_cert },
	{ "tls-key", "FILE", "its private key (PEM)", set_tls_key },
	{ "trusted-proxy", "ADDR[/BITS]", "a proxy whose X-Forwarded-For or Forwarded names the client; repeatable", set_trusted_proxy },
	{ "region", "REGION", "the region in ARNs and in signatures (us-east-1)", set_region },
	{ "fault", "SPEC", "for tests: let DynamoDB's API fail as Amazon's does, such as throttle=5%,index-lag=2s; '--fault help' lists all", set_fault },
	{ "audit", "FILE", "append logins, refused callers and operators' actions to FILE, one JSON object per line (-: stderr)", set_audit },
	{ "log-level", "LEVEL", "debug, info, warn or error (info)", set_log_level },
	{ "log-format", "text|json", "json: one object per line, with the id of the request (text)", set_log_format },
	{ "limit", "NAME=N", "change a limit of the HTTP server; '--limit help' lists them", set_limit },
	{ 0 },
};
/* clang-format on */
