/* The apps that `thorpe serve --app NAME=DIR` serves.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_SERVE_SERVE_APPS_H
#define THORPE_CLI_SERVE_SERVE_APPS_H

#include "http/serve/apps.h"

#define SERVE_APPS_MAX 64

/* What --app says. */
struct serve_app {
	struct slice name;
	const char *dir;
};
/* "social=DIR"; false with a sentence in `why`. */
bool serve_app_parse(const char *value, struct serve_app *out, char *why, size_t n);

/* zero is none */
struct serve_apps {
	struct arena arena; /* holds the files as long as the process lives */
	struct app_site sites[SERVE_APPS_MAX];
	struct apps_http http; /* for apps_route() */
};

/* Reads their files. False: `why` is a sentence. Release it in any case. */
bool serve_apps_load(struct serve_apps *s, const struct serve_app *list, size_t count, char *why, size_t n)
	__attribute__((warn_unused_result));
void serve_apps_greet(const struct serve_apps *s, const char *scheme, const char *address);
void serve_apps_release(struct serve_apps *s);

#endif
