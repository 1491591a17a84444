/* The designs `thorpe serve` was given: loaded, their tables made ready, their applications served.
 *
 *     serve_designs_load()     before anything is opened, so that a mistake costs nothing
 *     serve_designs_start()    with the database open: tables, applications, demo data, processors, the clock that ticks
 *     serve_designs_greet()    says where to look
 *     serve_designs_stop()     with the server ended and the database still open: what was gathered is written
 *     serve_designs_release()
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_SERVE_SERVE_DESIGNS_H
#define THORPE_CLI_SERVE_SERVE_DESIGNS_H

#include "api/local.h"
#include "cli/serve/serve.h"
#include "cli/serve/serve_ticker.h"
#include "http/serve/rest.h"
#include "http/server.h"
#include "process/process.h"

/* zero is none */
struct serve_designs {
	struct arena arena; /* holds the designs as long as the process lives */
	const struct serve_options *options;
	const struct design *list[SERVE_DESIGNS_MAX]; /* as options->designs */
	struct database_local local;
	struct database_remote remotes[SERVE_BACKENDS_MAX];
	size_t remote_count;
	struct media *media;                           /* NULL: no design has files */
	struct database *databases[SERVE_DESIGNS_MAX]; /* as the list */
	struct app *apps[SERVE_DESIGNS_MAX];
	struct slice accounts[SERVE_DESIGNS_MAX]; /* the logins of the demo data; empty: there is none */
	size_t count;
	struct rest rest;                             /* for server_options.routes */
	struct process *processes[SERVE_DESIGNS_MAX]; /* as the apps */
	size_t process_count;
	struct smtp_settings smtp;                 /* of options->smtp */
	struct mailer *mailers[SERVE_DESIGNS_MAX]; /* those that are needed */
	size_t mailer_count;
	struct relay *relays[SERVE_DESIGNS_MAX]; /* theirs */
	const char *peer_address; /* where other servers ask for records; NULL: nowhere. Set before serve_designs_start() */
	struct metrics_writer metrics; /* for server_options.metrics */
	struct serve_ticker *ticker;
};

/* False: what is wrong with the files has been printed to stderr, and `why` says so in a sentence. Release it in any
 * case. */
bool serve_designs_load(struct serve_designs *s, const struct serve_options *o, char *why, size_t n) MUST_CHECK;
/* False: `why` is a sentence. */
bool serve_designs_start(struct serve_designs *s, struct api *api, char *why, size_t n) MUST_CHECK;
void serve_designs_greet(const struct serve_designs *s, const char *scheme, const char *address);
void serve_designs_stop(struct serve_designs *s);
void serve_designs_release(struct serve_designs *s);

/* server_options.write_delay: as long as the app's processors ask for, or the slowest of all. ctx: the
 * serve_designs. */
int64_t serve_designs_delay_ms(void *ctx, const struct app *app);

/* server_options.ready: a remote database has not answered for some seconds. ctx: the serve_designs. The tick of each app asks
 * its database something every second, so silence is noticed without requests of its own. */
const char *serve_designs_not_ready(void *ctx);

/* serve_demo.c: loads DIR/<design>.json into each design whose table is empty, in parallel, and reports to stderr. */
void serve_demo(struct serve_designs *s, const char *dir);

#endif
