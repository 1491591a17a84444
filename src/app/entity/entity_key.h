/* Key rules, and reading them backwards; what terms read. For the files of entity.h, the conditions of write/ and the oracle.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_ENTITY_KEY_H
#define THORPE_APP_ENTITY_ENTITY_KEY_H

#include "app/entity/entity.h"

#define TABLE_KEY_MOST 2

/* The table's key attributes; returns how many. */
size_t key_of_table(const struct design *d, const struct key_attr *out[TABLE_KEY_MOST]);
/* The key attribute of the table or of some index; NULL: it is none. */
const struct key_attr *key_attr_find(const struct design *d, struct slice name);

/* Of the rules for one attribute: the first whose condition holds, else the one without a condition, else NULL. */
bool key_rule_choose(struct scope *s, const struct key_rule *rules, size_t n, const struct name *attribute,
		     const struct key_rule **out) MUST_CHECK;
bool key_has_rule(const struct key_rule *rules, size_t n, const struct name *attribute);
/* Whether the value could have come from the template; *literals: how many of its characters are the template's own. */
bool key_matches(struct run *r, const struct template *t, struct value v, size_t *literals);

/* Sets what `f` lacks and the stored item's keys tell: attributes `from the key` and those of the identity; with `all`
 * whatever stands in the table's key. */
void key_read(struct run *r, const struct entity *e, struct value stored, struct row *f, bool all);

/* The key that this identity led to before in this run; NULL: it is not known. Only where the identity alone makes the key. */
const struct value *memo_place(const struct run *r, const struct entity *e, const struct value *args);
void memo_keep_place(struct run *r, const struct entity *e, const struct value *args, struct value key);

/* Whether it is a list or a set; one of its elements (of a list: as it is). */
bool has_many(struct value v);
struct value element_of(struct run *r, const struct value_iter *it);

/* The names a term or template reads by itself: attributes and computed keys of the item. */
typedef void names_fn(void *ctx, const struct name *name);
void names_each(const struct entity *e, const struct term *t, names_fn *fn, void *ctx);
void names_each_template(const struct entity *e, const struct template *t, names_fn *fn, void *ctx);

#endif
