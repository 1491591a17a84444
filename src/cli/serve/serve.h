/* What `thorpe serve` was asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_SERVE_SERVE_H
#define THORPE_CLI_SERVE_SERVE_H

#include "base/log.h"
#include "cli/flags.h"
#include "cli/serve/serve_apps.h"
#include "cli/serve/serve_backend.h"
#include "fetch/smtp.h"
#include "http/server.h"
#include "media/media.h"
#include "table/db.h"

#define SERVE_DEFAULT_DATA "./thorpe-data"
#define SERVE_DESIGNS_MAX  64
#define SERVE_NAMES_MAX    64

struct serve_options {
	struct server_options http;
	struct db_options db;
	const char *data; /* NULL: the default */
	bool in_memory;
	const char *keys_file, *tls_cert, *tls_key;
	const char *hosts[SERVE_NAMES_MAX], *cors[SERVE_NAMES_MAX]; /* http.hosts and http.cors */
	bool no_auth;
	struct proxies proxies; /* --trusted-proxy */
	enum log_level log_level;
	enum log_format log_format;
	bool list_limits;
	const char *designs[SERVE_DESIGNS_MAX]; /* files */
	size_t design_count;
	struct serve_app apps[SERVE_APPS_MAX];
	size_t app_count;
	struct serve_backend backends[SERVE_BACKENDS_MAX];
	size_t backend_count;
	const char *peer_address; /* where other servers reach http.peer_listen; NULL: as it is bound */
	const char *secret_file;  /* NULL: in the data directory */
	struct smtp_given smtp;   /* url NULL: no mail server */
	const char *demo;         /* directory; NULL: no demo data */
	const char *fault;        /* a SPEC, checked; NULL: none */
	bool list_faults;
	struct media_options media;                            /* its directory: where; NULL: beside the data */
	unsigned media_most_mb, media_caller_mb, media_hold_s; /* 0: the defaults */
	const char *audit;                                     /* file, or "-"; NULL: no audit log */
	const char *ready_file;                                /* NULL: none; serve_ready.h */
	bool allow_check_errors; /* serve a design although `thorpe check` finds errors in it */
};

extern const struct flag serve_flags[];
void serve_print_limits(void);

#endif
