/* `thorpe serve`: opens the database, listens, serves until a signal stops it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/audit.h"
#include "cli/commands.h"
#include "cli/permissions.h"
#include "cli/serve/serve.h"
#include "cli/serve/serve_designs.h"
#include "cli/serve/serve_ready.h"
#include "cli/serve/serve_reload.h"
#include "fault/fault.h"
#include "http/serve/console.h"
#include "http/serve/forward.h"
#include "http/serve/media.h"
#include "http/serve/peer.h"

#define WHY           1024
#define RESERVED_PART 8 /* of the descriptors for connections, those on the reserve have at most */
/* What malloc gets from the system apart, and gives back when it is freed; and what it keeps at the end of a heap.
 * Left to itself it learns from the first large documents to keep tens of megabytes in every thread's heap. Less would
 * make replies of a megabyte slower. */
#define MALLOC_APART (4 * 1024 * 1024)
#define MALLOC_KEEPS (16 * 1024 * 1024)
#define OTHER_FILES  320 /* what the database opens at most, and a handful of our own */
#define FEWEST_FILES \
	56 /* without which not even a small database is served: 42 when idle with two loops, of which newer libuvs have an io_uring each */
#define FEWEST_CONNECTIONS 4
#define PEER_ADDRESS_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]"

/* What is open, for one way out. */
struct running {
	struct serve_reload reload;
	struct server *server;
	struct faults *faults; /* NULL: none are asked for */
	struct db *db;
	struct api *api;
	struct serve_designs designs;
	struct console_http console;
	struct peer_http peers;
	struct serve_apps apps;
	struct http_route routes[CONSOLE_ROUTES + REST_METHODS + 2 + MEDIA_ROUTES];
	char address[ADDRESS_TEXT], peer_address[ADDRESS_TEXT];
	bool has_keys, has_tls;
};

static uint64_t connections_within(uint64_t files)
{
	uint64_t most = files > 2 * OTHER_FILES ? files - OTHER_FILES : files / 4;

	if (files >= most + FEWEST_FILES)
		return most;
	return files > FEWEST_FILES + FEWEST_CONNECTIONS ? files - FEWEST_FILES : FEWEST_CONNECTIONS;
}

/* As many connections as the system lets us have, beside the files of the database: without a
 * descriptor for a new one it would have to refuse writes. */
static void share_descriptors(struct http_limits *l)
{
	bool per_address_given = l->connections_per_address;
	struct rlimit limit;
	uint64_t most;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	http_limits_complete(l);
	most = connections_within(limit.rlim_cur);
	if (l->reserved_connections > most / RESERVED_PART)
		l->reserved_connections = most / RESERVED_PART;
	if (most > HTTP_RESERVE_BURST * l->reserved_connections)
		most -= HTTP_RESERVE_BURST * l->reserved_connections;
	if (l->connections <= most)
		return;
	log_info("at most %llu connections: the system allows %llu open files", (unsigned long long)most,
		 (unsigned long long)limit.rlim_cur);
	l->connections = most;
	if (!per_address_given)
		l->connections_per_address = http_default_per_address(most);
}

/* The listener for monitoring asks for no key: it is not for the internet. */
static int check_metrics(const struct serve_options *o)
{
	struct address address;
	char why[WHY];

	if (!o->http.metrics_listen)
		return 0;
	if (!address_parse(&address, o->http.metrics_listen, why, sizeof(why)))
		return complain(EXIT_USAGE, "--metrics-listen: %s", why);
	if (address_is_any(&address))
		log_warn("metrics need no key on %s: keep the internet away from it", o->http.metrics_listen);
	else if (!address_is_private(&address))
		return complain(EXIT_REFUSED,
				"--metrics-listen: the internet can reach %s, and metrics need no key there; "
				"choose a loopback or a private address",
				o->http.metrics_listen);
	return 0;
}

/* Only other servers should reach this address. */
static int check_peers(const struct serve_options *o)
{
	struct address address;
	char why[WHY];

	if (!o->http.peer_listen)
		return o->peer_address
			       ? complain(EXIT_USAGE,
					  "--peer-address says where --peer-listen is reached, which is not given")
			       : 0;
	if (!o->backend_count)
		return complain(EXIT_USAGE, "--peer-listen is for servers that share a table: it needs --backend");
	if (!address_parse(&address, o->http.peer_listen, why, sizeof(why)))
		return complain(EXIT_USAGE, "--peer-listen: %s", why);
	if (address_is_any(&address) && !o->peer_address)
		return complain(EXIT_USAGE,
				"--peer-listen %s: say with --peer-address HOST:PORT where other servers reach it",
				o->http.peer_listen);
	if (!address_is_any(&address) && !address_is_private(&address))
		return complain(EXIT_REFUSED,
				"--peer-listen: the internet can reach %s; choose a loopback or a private address",
				o->http.peer_listen);
	if (o->peer_address && strspn(o->peer_address, PEER_ADDRESS_BYTES) != strlen(o->peer_address))
		return complain(EXIT_USAGE, "--peer-address: '%s' is not HOST:PORT", o->peer_address);
	return 0;
}

static void warn_of_pages(const struct serve_options *o)
{
	for (size_t i = 0; i < o->http.cors_count && !o->keys_file; i++)
		if (!strcmp(o->cors[i], "*"))
			log_warn("--cors '*' without --keys: every web page that is visited from where this server can be reached "
				 "can read and change all of its data");
}

/* Contradictions between flags; 0 when there are none. */
static int check_options(const struct serve_options *o)
{
	struct address address;
	char why[WHY];
	int status;

	if (o->in_memory && o->data)
		return complain(EXIT_USAGE, "--data and --in-memory exclude each other");
	if (o->keys_file && o->no_auth)
		return complain(EXIT_USAGE, "--keys and --no-auth exclude each other");
	if (!o->smtp.url && (o->smtp.from || o->smtp.password_file || o->smtp.ca_file))
		return complain(EXIT_USAGE,
				"--smtp says which mail server --smtp-from and the other two are for, and is not given");
	if (!o->tls_cert != !o->tls_key)
		return complain(EXIT_USAGE, "TLS needs both --tls-cert and --tls-key");
	if (!address_parse(&address, o->http.listen, why, sizeof(why)))
		return complain(EXIT_USAGE, "--listen: %s", why);
	if (!address_is_loopback(&address) && !o->keys_file && !o->no_auth)
		return complain(EXIT_REFUSED,
				"others can reach %s, so it needs access keys (--keys FILE) "
				"or an explicit --no-auth",
				o->http.listen);
	status = check_metrics(o);
	return status ? status : check_peers(o);
}

static bool open_http(struct running *r, struct serve_options *o, char *why)
{
	r->reload = (struct serve_reload){ .keys_file = o->keys_file, .tls_cert = o->tls_cert, .tls_key = o->tls_key };
	if (!serve_reload_load(&r->reload, &o->http.keys, &o->http.tls, why, WHY))
		return false;
	r->has_keys = o->http.keys;
	r->has_tls = o->http.tls;
	o->http.handle_signals = true;
	o->http.proxies = &o->proxies;
	console_routes(&r->console, r->routes);
	o->http.routes = r->routes;
	o->http.route_count = CONSOLE_ROUTES;
	if (r->designs.count) {
		memcpy(r->routes + CONSOLE_ROUTES, r->designs.rest.routes, sizeof(r->designs.rest.routes));
		o->http.route_count += REST_METHODS;
		o->http.local = rest_threads(&r->designs.rest);
		o->http.metrics = &r->designs.metrics;
		if (o->backend_count)
			o->http.forward = (struct http_forward){ forward_take, &r->designs.rest };
		o->http.metric_count = 1;
		o->http.ready = (struct http_ready){ serve_designs_not_ready, &r->designs };
		o->http.write_delay = (struct write_delay){ serve_designs_delay_ms, &r->designs };
		r->peers = (struct peer_http){ r->designs.relays, r->designs.count };
		r->routes[o->http.route_count++] = peer_route(&r->peers);
		media_routes(&r->designs.rest, r->routes + o->http.route_count);
		o->http.route_count += MEDIA_ROUTES;
	}
	if (r->apps.http.count)
		r->routes[o->http.route_count++] = apps_route(&r->apps.http);
	r->server = server_new(&o->http, why, WHY);
	keys_free(o->http.keys); /* the server has shares */
	tls_context_free(o->http.tls);
	if (!r->server)
		return false;
	address_format(server_address(r->server), r->address, sizeof(r->address));
	serve_reload_start(&r->reload, r->server);
	if (server_peer_address(r->server)) {
		address_format(server_peer_address(r->server), r->peer_address, sizeof(r->peer_address));
		r->designs.peer_address = o->peer_address ? o->peer_address : r->peer_address;
	}
	return true;
}

/* All designs have their tables elsewhere: then nothing is kept here unless --data says so. */
static bool are_elsewhere(const struct serve_options *o, const struct serve_designs *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (!serve_backend_of(o->backends, o->backend_count, s->list[i]->name))
			return false;
	return s->count;
}

/* What goes wrong on purpose: before the database, which asks about TTL. */
static bool open_faults(struct running *r, struct serve_options *o, char *why)
{
	struct fault_spec spec;
	struct arena a;
	bool ok;

	if (!o->fault)
		return true;
	r->faults = faults_new();
	arena_init(&a);
	ok = r->faults && fault_spec_parse(&a, slice_str(o->fault), &spec, why, WHY) && faults_set(r->faults, &spec);
	arena_release(&a);
	if (!ok) /* it has been parsed before: nothing else can be wrong */
		snprintf(why, WHY, "not enough memory");
	o->db.ttl_delay_ms = faults_ttl_delay_ms;
	o->db.ttl_delay_ctx = r->faults;
	return ok;
}

static bool open_database(struct running *r, struct serve_options *o, char *why)
{
	struct api_options api = { .region = o->http.region, .endpoint = r->address };

	if (!o->data && are_elsewhere(o, &r->designs))
		o->in_memory = true;
	o->db.dir = o->in_memory ? NULL : o->data ? o->data : SERVE_DEFAULT_DATA;
	permissions_check_dir(o->db.dir);
	permissions_check_file("secret", o->secret_file);
	permissions_check_file("TLS key", o->tls_key);
	permissions_check_file("mail password", o->smtp.password_file);
	if (db_open(&o->db, &r->db, why, WHY) != STORE_OPENED)
		return false;
	api.db = r->db;
	api.faults = r->faults;
	if (r->faults && !faults_attach(r->faults, r->db)) {
		snprintf(why, WHY, "not enough memory");
		return false;
	}
	r->api = api_new(&api);
	if (!r->api)
		snprintf(why, WHY, "not enough memory");
	return r->api != NULL;
}

static bool open_console(struct running *r, const struct serve_options *o, char *why)
{
	const struct serve_designs *s = &r->designs;

	r->console.console = console_new(&(struct console_options){
		.db = r->db,
		.region = o->http.region,
		.in_memory = o->in_memory,
		.relaxed = o->db.durability == DURABILITY_RELAXED,
		.apps = s->apps,
		.app_count = s->count,
		.processes = s->processes,
		.process_count = s->process_count,
	});
	if (!r->console.console)
		snprintf(why, WHY, "not enough memory");
	return r->console.console != NULL;
}

/* Pages of apps and the console send files where the designs keep them. */
static bool let_pages_upload(struct running *r)
{
	r->apps.http.uploads = r->designs.media ? media_origin(r->designs.media) : NULL;
	r->console.uploads = r->apps.http.uploads;
	return true;
}

static void greet_metrics(const struct server *s)
{
	const struct address *a = server_monitor_address(s);
	char text[ADDRESS_TEXT];

	if (!a)
		return;
	address_format(a, text, sizeof(text));
	log_say("metrics  http://%s/metrics", text);
}

static void greet_faults(const struct running *r)
{
	struct arena a;
	struct buf b;

	if (!r->faults)
		return;
	arena_init(&a);
	buf_init(&b, &a);
	faults_print(r->faults, &b);
	log_warn("DynamoDB's API goes wrong on purpose (--fault): %.*s", SLICE_ARG(buf_slice(&b)));
	arena_release(&a);
}

/* How to get a token, for a server whose secret `thorpe token` would not find by itself. */
static void greet_tokens(const struct running *r, const struct serve_options *o)
{
	if (!r->designs.count || o->backend_count)
		return;
	if (o->secret_file)
		log_say("  tokens: thorpe token %.*s --subject NAME --secret-file %s",
			SLICE_ARG(r->designs.list[0]->name), o->secret_file);
	else if (o->in_memory)
		log_say("  tokens: only by login; start with --secret-file FILE to use thorpe token and thorpe call");
}

/* "data in …" is not about tables that are elsewhere. */
static void greet_backends(const struct running *r, const struct serve_options *o)
{
	for (size_t i = 0; i < r->designs.count; i++) {
		const struct serve_backend *b =
			serve_backend_of(o->backends, o->backend_count, r->designs.list[i]->name);

		if (b)
			log_say("  the table of %.*s is at %s", SLICE_ARG(r->designs.list[i]->name), b->where);
	}
}

static void greet(const struct running *r, const struct serve_options *o)
{
	const char *scheme = r->has_tls ? "https" : "http";
	const char *region = o->http.region ? o->http.region : "us-east-1";

	log_say("console  %s://%s" CONSOLE_BASE "/", scheme, r->address);
	serve_apps_greet(&r->apps, scheme, r->address);
	log_say("thorpe " THORPE_VERSION " serves DynamoDB's API on %s://%s, %s%s", scheme, r->address,
		o->in_memory ? "data in memory" : "data in ", o->in_memory ? "" : o->db.dir);
	greet_backends(r, o);
	log_say("  %saws dynamodb list-tables --endpoint-url %s://%s --region %s",
		r->has_keys ? "" : "AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_PAGER= ", scheme,
		r->address, region);
	log_say("  SDKs: endpoint %s://%s, region %s, %s", scheme, r->address, region,
		r->has_keys ? "a key from --keys" : "any credentials");
	greet_faults(r);
	serve_designs_greet(&r->designs, scheme, r->address);
	greet_tokens(r, o);
	greet_metrics(r->server);
	if (r->designs.peer_address)
		log_say("  other servers of the table take records of its stream from %s", r->designs.peer_address);
}

/* The socket listens already: connections wait until server_run() takes them. */
static bool announce(struct running *r, const struct serve_options *o, char *why)
{
	if (!serve_ready_write(o->ready_file, r->has_tls ? "https" : "http", r->address, why, WHY))
		return false;
	greet(r, o);
	return true;
}

static void close_all(struct running *r)
{
	console_free(r->console.console);
	serve_designs_stop(&r->designs);
	if (r->api)
		api_free(r->api);
	faults_detach(r->faults);
	db_close(r->db);
	faults_free(r->faults);
	server_free(r->server);
	serve_designs_release(&r->designs);
	serve_apps_release(&r->apps);
	audit_close();
}

static int run(void *options, char **words, int count)
{
	struct serve_options *o = options;
	struct running r = { 0 };
	char why[WHY] = "";
	int status;

	(void)words, (void)count;
	if (o->list_faults) {
		fault_print_help();
		return 0;
	}
	if (o->list_limits) {
		serve_print_limits();
		return 0;
	}
	log_set_level(o->log_level);
	status = check_options(o);
	if (status)
		return status;
	log_set_format(o->log_format);
	warn_of_pages(o);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN); /* until the server listens, which handles it */
	mallopt(M_MMAP_THRESHOLD, MALLOC_APART);
	mallopt(M_TRIM_THRESHOLD, MALLOC_KEEPS);
	share_descriptors(&o->http.limits);
	if (!serve_ready_clear(o->ready_file, why, sizeof(why)) ||
	    (o->audit && !audit_open(o->audit, why, sizeof(why))) ||
	    !serve_apps_load(&r.apps, o->apps, o->app_count, why, sizeof(why)) ||
	    !serve_designs_load(&r.designs, o, why, sizeof(why)) || !open_http(&r, o, why) || !open_faults(&r, o, why) ||
	    !open_database(&r, o, why) || !serve_designs_start(&r.designs, r.api, why, sizeof(why)) ||
	    !open_console(&r, o, why) || !let_pages_upload(&r) || !announce(&r, o, why)) {
		close_all(&r);
		if (o->log_format == LOG_TEXT)
			return complain(EXIT_REFUSED, "%s", why);
		log_error("%s", why);
		return EXIT_REFUSED;
	}
	status = server_run(r.server, r.api) ? 0 : EXIT_REFUSED;
	serve_ready_remove(o->ready_file);
	close_all(&r);
	if (!status)
		log_info("stopped");
	return status;
}

static const struct serve_options defaults = { .http = { .listen = SERVER_DEFAULT_LISTEN }, .log_level = LOG_INFO };

const struct command command_serve = {
	.name = "serve",
	.summary = "serve the DynamoDB API, the REST API of designs, and the console",
	.usage = "[options]",
	.about = "Serves the DynamoDB API over HTTP, the REST API of each --design, and the console.",
	.flags = serve_flags,
	.examples =
		"  thorpe serve                                  data in " SERVE_DEFAULT_DATA "\n"
		"  thorpe serve --design designs/social.yaml     and http://" SERVER_DEFAULT_LISTEN "/api/social\n"
		"  thorpe serve --in-memory --listen 127.0.0.1:0 --ready-file ready   for tests: a free port, nothing kept\n"
		"  thorpe serve --listen 0.0.0.0:8000 --keys keys --tls-cert cert.pem --tls-key key.pem",
	.notes = "SIGTERM and SIGINT stop it; SIGHUP reloads keys and certificate.\n"
		 "Exits with 0 when stopped, 1 when it cannot start, 2 when the options are wrong.",
	.size = sizeof(struct serve_options),
	.defaults = &defaults,
	.run = run,
};
