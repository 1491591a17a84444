/* `thorpe serve`: opens the database, listens, serves until told to stop.
 * SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/commands.h"
#include "cli/permissions.h"
#include "cli/serve.h"
#include "cli/serve_designs.h"
#include "http/console.h"

#define WHY 512
#define OTHER_FILES 320 /* what the database opens at most, and a handful of our own */

/* What is open, for one way out. */
struct running {
	struct keys *keys;
	struct tls_context *tls;
	struct server *server;
	struct db *db;
	struct api *api;
	struct serve_designs designs;
	struct console_http console;
	struct http_route routes[CONSOLE_ROUTES + REST_METHODS];
	char address[ADDRESS_TEXT];
};

static void print_help(void)
{
	puts("Usage: thorpe serve [options]\n\nServes the DynamoDB API over HTTP, the REST API of each --design, and the console.\n");
	flags_print(serve_flags);
	puts("\nExamples:\n"
	     "  thorpe serve                                   data in " SERVE_DEFAULT_DATA "\n"
	     "  thorpe serve --in-memory --listen 127.0.0.1:0  for tests: any port, nothing kept\n"
	     "  thorpe serve --design designs/social.yaml      and http://" SERVER_DEFAULT_LISTEN "/api/social\n"
	     "  thorpe serve --listen 0.0.0.0:8000 --keys keys --tls-cert c.pem --tls-key k.pem");
}

/* As many connections as the system lets us have, beside the files of the database: without a
 * descriptor for a new one it would have to refuse writes. */
static void share_descriptors(struct http_limits *l)
{
	struct rlimit limit;
	uint64_t most;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	http_limits_complete(l);
	most = limit.rlim_cur > 2 * OTHER_FILES ? limit.rlim_cur - OTHER_FILES : limit.rlim_cur / 4;
	if (l->connections <= most)
		return;
	log_info("at most %llu connections: the system allows %llu open files",
		 (unsigned long long)most, (unsigned long long)limit.rlim_cur);
	l->connections = most;
}

/* Contradictions between flags; 0 when there are none. */
static int check(const struct serve_options *o)
{
	struct address address;
	char why[WHY];

	if (o->in_memory && o->data)
		return complain(EXIT_USAGE, "--data and --in-memory exclude each other");
	if (o->keys_file && o->no_auth)
		return complain(EXIT_USAGE, "--keys and --no-auth exclude each other");
	if (!o->tls_cert != !o->tls_key)
		return complain(EXIT_USAGE, "TLS needs both --tls-cert and --tls-key");
	if (!address_parse(&address, o->http.listen, why, sizeof(why)))
		return complain(EXIT_USAGE, "--listen: %s", why);
	if (!address_is_loopback(&address) && !o->keys_file && !o->no_auth)
		return complain(EXIT_REFUSED,
				"others can reach %s, so it needs access keys (--keys FILE) "
				"or an explicit --no-auth", o->http.listen);
	return 0;
}

static bool open_http(struct running *r, struct serve_options *o, char *why)
{
	if (o->keys_file && !(r->keys = keys_load(o->keys_file, why, WHY)))
		return false;
	if (o->tls_cert && !(r->tls = tls_context_new(o->tls_cert, o->tls_key, why, WHY)))
		return false;
	o->http.keys = r->keys;
	o->http.tls = r->tls;
	o->http.handle_signals = true;
	console_routes(&r->console, r->routes);
	o->http.routes = r->routes;
	o->http.route_count = CONSOLE_ROUTES;
	if (r->designs.count) {
		memcpy(r->routes + CONSOLE_ROUTES, r->designs.rest.routes, sizeof(r->designs.rest.routes));
		o->http.route_count += REST_METHODS;
		o->http.local = rest_local;
		o->http.metrics = &r->designs.metrics;
		o->http.metric_count = 1;
		o->http.write_delay = (struct write_delay){ serve_designs_delay_ms, &r->designs };
	}
	r->server = server_new(&o->http, why, WHY);
	if (r->server)
		address_format(server_address(r->server), r->address, sizeof(r->address));
	return r->server != NULL;
}

static bool open_database(struct running *r, struct serve_options *o, char *why)
{
	struct api_options api = { .region = o->http.region, .endpoint = r->address };

	o->db.dir = o->in_memory ? NULL : o->data ? o->data : SERVE_DEFAULT_DATA;
	permissions_check_dir(o->db.dir);
	permissions_check_file("secret", o->secret_file);
	permissions_check_file("TLS key", o->tls_key);
	if (db_open(&o->db, &r->db, why, WHY) != STORE_OPENED)
		return false;
	api.db = r->db;
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

static void greet(const struct running *r, const struct serve_options *o)
{
	const char *scheme = r->tls ? "https" : "http";
	const char *region = o->http.region ? o->http.region : "us-east-1";

	fprintf(stderr, "console  %s://%s" CONSOLE_BASE "/\n", scheme, r->address);
	fprintf(stderr, "thorpe " THORPE_VERSION " serves DynamoDB's API on %s://%s, %s%s\n",
		scheme, r->address, o->in_memory ? "data in memory" : "data in ",
		o->in_memory ? "" : o->db.dir);
	fprintf(stderr, "  aws dynamodb list-tables --endpoint-url %s://%s --region %s\n", scheme,
		r->address, region);
	fprintf(stderr, "  SDKs: endpoint %s://%s, region %s, %s\n", scheme, r->address, region,
		r->keys ? "a key from --keys" : "any credentials");
	serve_designs_greet(&r->designs, scheme, r->address);
}

static void close_all(struct running *r)
{
	console_free(r->console.console);
	serve_designs_stop(&r->designs);
	if (r->api)
		api_free(r->api);
	db_close(r->db);
	server_free(r->server);
	tls_context_free(r->tls);
	keys_free(r->keys);
	serve_designs_release(&r->designs);
}

int command_serve(int argc, char **argv)
{
	struct serve_options o = { .http = { .listen = SERVER_DEFAULT_LISTEN },
				   .log_level = LOG_INFO };
	struct running r = { 0 };
	char why[WHY] = "";
	int status;

	switch (flags_parse(serve_flags, &o, argc, argv, "serve")) {
	case FLAGS_HELP:
		print_help();
		return 0;
	case FLAGS_WRONG:
		return EXIT_USAGE;
	case FLAGS_OK:
		break;
	}
	if (o.list_limits) {
		serve_print_limits();
		return 0;
	}
	status = check(&o);
	if (status)
		return status;
	log_set_level(o.log_level);
	signal(SIGPIPE, SIG_IGN);
	share_descriptors(&o.http.limits);
	if (!serve_designs_load(&r.designs, &o, why, sizeof(why)) || !open_http(&r, &o, why) ||
	    !open_database(&r, &o, why) || !serve_designs_start(&r.designs, r.api, why, sizeof(why)) ||
	    !open_console(&r, &o, why)) {
		close_all(&r);
		return complain(EXIT_REFUSED, "%s", why);
	}
	greet(&r, &o);
	status = server_run(r.server, r.api) ? 0 : EXIT_REFUSED;
	close_all(&r);
	return status;
}
