/* A design as DynamoDB requests: what each access pattern and each write become. For documents and the console; tests
 * compare it with what the runtime does (docs/access-patterns.md).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_DESCRIBE_DESCRIBE_H
#define THORPE_DESIGN_DESCRIBE_DESCRIBE_H

#include "design/design.h"

/* One id of a requirements list and what serves it. */
struct service {
	struct slice id;      /* "S-A02" */
	struct slice name;    /* "user posts", "create Post", "Post: publish", "log in" */
	const char *method;   /* "GET"; NULL: no route (for the runtime itself) */
	struct slice path;    /* "/users/<user_id>/posts" */
	struct slice request; /* "Query GSI1: GSI1PK = USER#<user_id>, begins_with(GSI1SK, POST#), newest first" */
};
struct services {
	struct service *list;
	size_t count;
};

/* Everything that has an id, sorted by id, once per id. */
void describe_services(struct arena *a, const struct design *d, struct services *out);
/* The requests of one access pattern. */
void describe_access(struct buf *b, const struct design *d, const struct access *x);
/* " + ConditionCheck Order(id) as read" for each other item that rules and terms of the write may read; false: none. */
bool describe_looks(struct buf *b, const struct entity *e, enum allow_verb verb, const struct action *action);
/* "Order(id)" */
void describe_reference(struct buf *b, const struct reference *r);
/* The words, and the term after them; nothing without a term. */
void describe_term(struct buf *b, const char *words, const struct term *t);
/* "put Membership for user in users when role <> 'guest'" */
void describe_also(struct buf *b, const struct also_rule *x);
/* The request that a write of the entity becomes. `action` NULL: of the verb (ALLOW_READ: GetItem). */
void describe_write(struct buf *b, const struct design *d, const struct entity *e, enum allow_verb verb,
		    const struct action *action);

#endif
