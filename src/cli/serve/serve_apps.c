/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/serve/serve_apps.h"

#include <stdio.h>

#include "base/log.h"

#define NAME_MOST  64
#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

bool serve_app_parse(const char *value, struct serve_app *out, char *why, size_t n)
{
	const char *equals = strchr(value, '=');
	size_t len = equals ? (size_t)(equals - value) : 0;

	if (!len || len > NAME_MOST || strspn(value, NAME_BYTES) != len || !equals[1]) {
		snprintf(why, n, "'%s' is not NAME=DIR, such as social=examples/social-web/dist", value);
		return false;
	}
	*out = (struct serve_app){ slice_make(value, len), equals + 1 };
	return true;
}

static bool load_one(struct serve_apps *s, const struct serve_app *app, char *why, size_t n)
{
	struct app_site *site = &s->sites[s->http.count];
	char inside[512];

	for (size_t i = 0; i < s->http.count; i++)
		if (slice_equal(s->sites[i].name, app->name)) {
			snprintf(why, n, "--app: two apps are called %.*s", SLICE_ARG(app->name));
			return false;
		}
	site->name = app->name;
	site->dir = app->dir;
	if (!app_files_load(&site->files, &s->arena, app->dir, inside, sizeof(inside))) {
		snprintf(why, n, "--app %.*s: %s", SLICE_ARG(app->name), inside);
		return false;
	}
	s->http.count++;
	return true;
}

bool serve_apps_load(struct serve_apps *s, const struct serve_app *list, size_t count, char *why, size_t n)
{
	s->http.sites = s->sites;
	for (size_t i = 0; i < count; i++)
		if (!load_one(s, &list[i], why, n))
			return false;
	return true;
}

void serve_apps_greet(const struct serve_apps *s, const char *scheme, const char *address)
{
	for (size_t i = 0; i < s->http.count; i++)
		log_say("app      %s://%s" APPS_BASE "/%.*s/", scheme, address, SLICE_ARG(s->sites[i].name));
}

void serve_apps_release(struct serve_apps *s)
{
	arena_release(&s->arena);
}
