/* The routes of a design: a tree of path segments, made once and then read only.
 *
 * Literal segments win over mixed ones (`v<n>`), mixed ones over placeholders, from left to right. A match without the
 * method does not hide a less literal one that has it. Where several claim one method of one path, the first of
 * these gets it: openapi.json; access patterns and actions; entities that a caller may create; other entities;
 * internal entities; the operations of every design (/me, /batch …). Among equals the first declared.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_REST_ROUTES_H
#define THORPE_APP_REST_ROUTES_H

#include "app/rest/app_request.h"
#include "app/rest/target.h"

/* app_dispatch.c has a row for each */
enum route_kind {
	ROUTE_ITEM,
	ROUTE_CREATE,
	ROUTE_PUT,
	ROUTE_PATCH,
	ROUTE_DELETE,
	ROUTE_ACTION,
	ROUTE_PUT_ENTRY,
	ROUTE_DELETE_ENTRY,
	ROUTE_FILE,     /* asks for an upload for an item */
	ROUTE_FILE_NEW, /* for an item that will be created */
	ROUTE_ACCESS,
	ROUTE_EACH,
	ROUTE_LOGIN,
	ROUTE_RENEW,
	ROUTE_LOGOUT,
	ROUTE_ROLE,
	ROUTE_RESET_SEND,
	ROUTE_RESET,
	ROUTE_PROOF_SEND,
	ROUTE_PROOF,
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
	const struct attribute *map;      /* PUT_ENTRY, DELETE_ENTRY: a `map of` something */
	const struct attribute *file;     /* FILE, FILE_NEW: holds files */
	struct slice name;                /* EACH: the action */
	const struct action *const *each; /* EACH: the action of each entity, in the design's order; NULL: it has none */
	bool internal;                    /* for operators; others get 404 */
	bool quick;                       /* for app_is_quick(), which also looks at the limit and the token */
	const struct slice *names;        /* of the placeholders, in order */
	const struct name *const *at;     /* the same; NULL: not a name of the design's */
	const struct attribute *const *types; /* of the placeholders; NULL: a string */
	size_t count;
};

#define ROUTE_MOST_SEGMENTS TARGET_MOST_SEGMENTS
#define ROUTE_MOST_VALUES   32
#define ROUTE_METHODS       APP_OTHER /* HEAD is looked up as GET */

struct route_match {
	const struct route *route;              /* NULL: none for this method */
	unsigned allow;                         /* the path's methods, bits 1 << enum app_method; 0: no such path */
	struct slice values[ROUTE_MOST_VALUES]; /* by placeholder */
	size_t count;
};

struct route_table;
/* Everything lives in the arena. */
const struct route_table *routes_new(struct arena *a, const struct design *d);
/* `segments`: decoded, without slashes. `operator_`: internal routes count. */
void routes_find(const struct route_table *t, const struct slice *segments, size_t n, enum app_method m, bool operator_,
		 struct route_match *out);

/* Calls visit() for each path, as /users/{}/posts, with its routes by method (NULL: none). */
void routes_each(const struct route_table *t, struct arena *a,
		 void (*visit)(void *ctx, struct slice path, const struct route *const *routes), void *ctx);

/* ---- types of parameters (routes_params.c) ---- */
/* The type of a pattern's parameter; NULL: a string. A declared parameter has its declared type. One of the path has
 * the type of the attribute it is compared with, but not its lengths and ranges: a value outside of them finds
 * nothing. */
const struct attribute *route_param(struct arena *a, const struct design *d, const struct access *access,
				    const struct name *param);

#endif
