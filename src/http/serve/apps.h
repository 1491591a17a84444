/* /apps/<name>/: the files of apps (`--app NAME=DIR`, console/app_files.h), and nothing else.
 *
 * They are for anyone, also on a server with keys: what they show, they get from REST, with the rights of their user.
 * An app shares its origin with the console, so an operator serves only apps that are trusted as the console is. The
 * pages load scripts, styles and data only from this server, and pictures from anywhere with https.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_APPS_H
#define THORPE_HTTP_SERVE_APPS_H

#include "console/app_files.h"
#include "http/connection/route.h"

#define APPS_BASE "/apps"

struct app_site {
	struct slice name;
	const char *dir;
	struct app_files files;
};

struct apps_http {
	const struct app_site *sites;
	size_t count;
	const char *uploads; /* pages may send files there, and show them: a bucket's origin; "" or NULL: only here */
};

/* The row, which points to `a`. */
struct http_route apps_route(struct apps_http *a);

#endif
