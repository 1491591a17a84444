/* The environment, and two files in the form of ini files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/settings.h"
#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define FILE_MOST (1024 * 1024)

struct entry {
	struct entry *next;
	struct slice key; /* lower case */
	const char *value;
};

struct settings_section {
	struct settings_section *next;
	struct slice kind, name; /* kind: "profile", "sso-session", … */
	struct entry *entries;   /* the last one first: it wins */
};

static const char *from_process(void *ctx, const char *name)
{
	(void)ctx;
	return getenv(name);
}

const struct settings_env settings_process_env = { .get = from_process };

const char *settings_env(const struct settings *s, const char *name)
{
	const char *v = s->env->get(s->env->ctx, name);

	return v && *v ? v : NULL;
}

bool settings_env_is_true(const struct settings *s, const char *name)
{
	const char *v = settings_env(s, name);

	return v && !strcasecmp(v, "true");
}

/* ---- files ---- */

/* Into memory of the arena; closes the file before anything can leave by longjmp. */
const char *settings_read_file(struct arena *a, const char *path)
{
	char *text = arena_alloc(a, FILE_MOST + 1);
	FILE *f = fopen(path, "re");
	size_t n;
	bool ok;

	if (!f)
		return NULL;
	n = fread(text, 1, FILE_MOST, f);
	ok = !ferror(f) && (n < FILE_MOST || getc(f) == EOF);
	fclose(f);
	text[n] = '\0';
	return ok ? text : NULL;
}

static struct slice trim(struct slice s)
{
	while (s.n && isspace((unsigned char)s.p[0]))
		s = slice_make(s.p + 1, s.n - 1);
	while (s.n && isspace((unsigned char)s.p[s.n - 1]))
		s.n--;
	return s;
}

static struct slice unquoted(struct slice s)
{
	if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0])
		return slice_make(s.p + 1, s.n - 2);
	return s;
}

static struct slice lower(struct arena *a, struct slice s)
{
	char *p = arena_cstr(a, s);

	for (size_t i = 0; i < s.n; i++)
		p[i] = (char)tolower((unsigned char)p[i]);
	return slice_make(p, s.n);
}

/* "profile x", "default", "sso-session x"; in the credentials file every name is a profile's. */
static struct settings_section *make_section(struct arena *a, struct slice head, bool config)
{
	struct settings_section *s = arena_new(a, struct settings_section);
	size_t n = 0;

	head = trim(head);
	while (n < head.n && !isspace((unsigned char)head.p[n]))
		n++;
	if (!config || n == head.n) {
		s->kind = config && !slice_is(head, "default") ? SLICE("") : SLICE("profile");
		s->name = unquoted(head);
	} else {
		s->kind = slice_make(head.p, n);
		s->name = unquoted(trim(slice_make(head.p + n, head.n - n)));
	}
	return s;
}

static void add_entry(struct arena *a, struct settings_section *s, struct slice key, struct slice value)
{
	struct entry *e = arena_new(a, struct entry);

	e->key = lower(a, key);
	e->value = arena_cstr(a, value);
	e->next = s->entries;
	s->entries = e;
}

struct reading {
	struct arena *arena;
	struct settings_section **last;
	struct settings_section *section; /* NULL: before the first */
	struct slice parent;              /* the last key, if it has no value */
	bool config;
};

static void read_key(struct reading *r, struct slice line, bool indented)
{
	const char *eq = memchr(line.p, '=', line.n);
	struct slice key, value;

	if (!eq || !r->section)
		return;
	key = trim(slice_make(line.p, (size_t)(eq - line.p)));
	value = trim(slice_make(eq + 1, line.n - (size_t)(eq + 1 - line.p)));
	if (indented && r->parent.n) {
		key = arena_printf(r->arena, "%.*s.%.*s", SLICE_ARG(r->parent), SLICE_ARG(key));
	} else {
		r->parent = value.n ? SLICE("") : key;
	}
	add_entry(r->arena, r->section, key, value);
}

static void read_line(struct reading *r, struct slice raw)
{
	bool indented = raw.n && (raw.p[0] == ' ' || raw.p[0] == '\t');
	struct slice line = trim(raw);
	const char *end;

	if (!line.n || line.p[0] == '#' || line.p[0] == ';')
		return;
	if (line.p[0] != '[') {
		read_key(r, line, indented);
		return;
	}
	end = memchr(line.p, ']', line.n);
	r->parent = SLICE("");
	r->section = end ? make_section(r->arena, slice_make(line.p + 1, (size_t)(end - line.p - 1)), r->config) : NULL;
	if (r->section) {
		*r->last = r->section;
		r->last = &r->section->next;
	}
}

static struct settings_section *read_sections(struct arena *a, const char *path, bool config)
{
	const char *text = *path ? settings_read_file(a, path) : NULL;
	struct settings_section *first = NULL;
	struct reading r = { .arena = a, .last = &first, .config = config };

	while (text && *text) {
		size_t n = strcspn(text, "\n");

		read_line(&r, slice_make(text, n));
		text += text[n] ? n + 1 : n;
	}
	return first;
}

/* ---- looking ---- */

static const char *find_home(const struct settings *s)
{
	const char *home = settings_env(s, "HOME");
	struct passwd pw, *found = NULL;
	char text[4096];

	if (home || s->env != &settings_process_env)
		return home;
	if (getpwuid_r(getuid(), &pw, text, sizeof(text), &found) || !found)
		return NULL;
	return arena_cstr(s->arena, slice_str(pw.pw_dir));
}

const char *settings_path(const struct settings *s, const char *path)
{
	if (path[0] != '~' || path[1] != '/')
		return path;
	return s->home ? arena_cstr(s->arena, arena_printf(s->arena, "%s%s", s->home, path + 1)) : "";
}

static const char *path_of(struct settings *s, const char *variable, const char *otherwise)
{
	const char *path = settings_env(s, variable);

	return settings_path(s, path ? path : otherwise);
}

void settings_load(struct settings *s, struct arena *a, const struct settings_env *env)
{
	*s = (struct settings){ .arena = a, .env = env ? env : &settings_process_env };
	s->home = find_home(s);
	s->profile = settings_env(s, "AWS_PROFILE");
	if (!s->profile)
		s->profile = settings_env(s, "AWS_DEFAULT_PROFILE");
	s->profile_is_named = s->profile != NULL;
	if (!s->profile)
		s->profile = "default";
	s->config_path = path_of(s, "AWS_CONFIG_FILE", "~/.aws/config");
	s->credentials_path = path_of(s, "AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials");
	s->config = read_sections(a, s->config_path, true);
	s->credentials = read_sections(a, s->credentials_path, false);
}

static const char *value_in(const struct settings_section *list, const char *kind, const char *name, const char *key)
{
	for (const struct settings_section *s = list; s; s = s->next) {
		if (!slice_is(s->kind, kind) || !slice_is(s->name, name))
			continue;
		for (const struct entry *e = s->entries; e; e = e->next)
			if (slice_is(e->key, key) && *e->value)
				return e->value;
	}
	return NULL;
}

static bool has_section(const struct settings_section *list, const char *name)
{
	for (const struct settings_section *s = list; s; s = s->next)
		if (slice_is(s->kind, "profile") && slice_is(s->name, name))
			return true;
	return false;
}

bool settings_has_profile(const struct settings *s, const char *profile)
{
	return has_section(s->config, profile) || has_section(s->credentials, profile);
}

const char *settings_get(const struct settings *s, const char *profile, const char *key, enum settings_file where)
{
	const char *v = where & SETTINGS_CREDENTIALS ? value_in(s->credentials, "profile", profile, key) : NULL;

	return v || !(where & SETTINGS_CONFIG) ? v : value_in(s->config, "profile", profile, key);
}

const char *settings_get_of(const struct settings *s, const char *kind, const char *name, const char *key)
{
	return value_in(s->config, kind, name, key);
}

const char *settings_find(const struct settings *s, const char *variable, const char *key)
{
	const char *v = settings_env(s, variable);

	return v ? v : settings_get(s, s->profile, key, SETTINGS_BOTH);
}

const char *settings_endpoint(const struct settings *s, const char *variable_part, const char *service)
{
	const char *services = settings_get(s, s->profile, "services", SETTINGS_BOTH), *v;
	const char *ignore = settings_find(s, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "ignore_configured_endpoint_urls");
	char text[128];

	if (ignore && !strcasecmp(ignore, "true"))
		return NULL;
	snprintf(text, sizeof(text), "AWS_ENDPOINT_URL_%s", variable_part);
	v = settings_env(s, text);
	if (!v)
		v = settings_env(s, "AWS_ENDPOINT_URL");
	snprintf(text, sizeof(text), "%s.endpoint_url", service);
	if (!v && services)
		v = settings_get_of(s, "services", services, text);
	return v ? v : settings_get(s, s->profile, "endpoint_url", SETTINGS_BOTH);
}
