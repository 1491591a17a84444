/* Which path and method leads to what: a tree of path segments, made once from the design and then read only.
 *
 * Literal segments win over mixed ones (`v<n>`), those over placeholders, leftmost first; a match without the method asked
 * for does not hide a less literal one that has it. Where several things claim one method of one path, the first of these
 * has it: openapi.json; access patterns and actions; entities that someone may create; other entities; internal ones; what
 * every design has (/me, /batch …). Of equals the one that is declared first.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_REST_ROUTES_H
#define THORPE_APP_REST_ROUTES_H

#include "app/app.h"
#include "app/rest/target.h"

/* app.c has a row for each */
enum route_kind {
	ROUTE_ITEM,
	ROUTE_CREATE,
	ROUTE_PUT,
	ROUTE_PATCH,
	ROUTE_DELETE,
	ROUTE_ACTION,
	ROUTE_ACCESS,
	ROUTE_EACH,
	ROUTE_LOGIN,
	ROUTE_ME,
	ROUTE_BATCH,
	ROUTE_CALL,
	ROUTE_OPENAPI,
	ROUTE_INDEX,
	ROUTE_KINDS,
};

struct route {
	enum route_kind kind;
	const struct entity *entity;
	const struct access *access;
	const struct action *action;
	struct slice name;                    /* EACH: the action of the rows */
	bool internal;                        /* for operators; not there for others */
	bool quick;                           /* as app_is_quick() has it, but for limits and callers */
	const struct slice *names;            /* of the placeholders, in order */
	const struct attribute *const *types; /* theirs; NULL elements: strings */
	size_t count;
};

#define ROUTE_MOST_SEGMENTS TARGET_MOST_SEGMENTS
#define ROUTE_MOST_VALUES   32
#define ROUTE_METHODS       APP_OTHER /* HEAD is looked up as GET */

struct route_match {
	const struct route *route; /* NULL: none for this method */
	unsigned allow;            /* then: bits 1 << enum app_method of what the path has; 0: no such path */
	struct slice values[ROUTE_MOST_VALUES]; /* of route->names */
	size_t count;
};

struct route_table;
/* Everything lives in the arena. */
const struct route_table *routes_new(struct arena *a, const struct design *d);
/* `segments`: decoded, without the slashes. `operator_`: internal routes are there. */
void routes_find(const struct route_table *t, const struct slice *segments, size_t n, enum app_method m, bool operator_,
		 struct route_match *out);

/* ---- types of parameters (routes_params.c) ---- */
/* The type of a parameter of a pattern; NULL: a string. One that is declared is as declared; one of the path has the type of
 * what it is compared with, but not its lengths and ranges: looking for what cannot be there finds nothing. */
const struct attribute *route_param(struct arena *a, const struct design *d, const struct access *access,
				    struct slice name);

#endif
