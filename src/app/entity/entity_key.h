/* Key rules: choosing, matching and reading them backwards; the names that terms read. For the files of entity.h, the
 * conditions of write/, and the oracle.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_ENTITY_KEY_H
#define THORPE_APP_ENTITY_ENTITY_KEY_H

#include "app/entity/entity.h"

#define TABLE_KEY_MOST 2

/* How many attributes the table's key has: design->key_at. */
static inline size_t key_count(const struct design *d)
{
	return (d->key_at[0] != NULL) + (d->key_at[1] != NULL);
}
/* One attribute of a key, which is a map of one or two. */
static inline struct value key_part(struct value key, const struct name *n)
{
	return value_get(key, n->text);
}

/* Chooses among the rules for one attribute: the first whose condition holds, else the one without a condition, else
 * NULL. */
bool key_rule_choose(struct scope *s, const struct key_rule *rules, size_t n, const struct name *attribute,
		     const struct key_rule **out) MUST_CHECK;
/* Whether the name is part of the entity's identity. */
bool entity_is_param(const struct entity *e, const struct name *n);
bool key_has_rule(const struct key_rule *rules, size_t n, const struct name *attribute);
/* Whether the value could have come from the template; *literals: how many of its characters are the template's own. */
bool key_matches(struct run *r, const struct template *t, struct value v, size_t *literals);
/* Whether rules of some companion, credentials or entity could have made the item's key. */
bool key_fits_rules(struct run *r, const struct key_rule *rules, size_t n, struct value stored);

/* Sets attributes that `f` lacks from the stored item's keys: those declared `from the key` and those of the
 * identity; with `all`, every placeholder of the table key. */
void key_read(struct run *r, const struct row *stored, struct row *f, bool all);

/* The key that this identity had earlier in this run; NULL: unknown. Only for keys that the identity alone makes. */
const struct value *memo_place(const struct run *r, const struct entity *e, const struct value *args);
void memo_keep_place(struct run *r, const struct entity *e, const struct value *args, struct value key);

/* The names a term or template reads by itself: attributes and computed keys of the item. */
typedef void names_fn(void *ctx, const struct name *name);
void names_each(const struct term *t, names_fn *fn, void *ctx);
void names_each_template(const struct template *t, names_fn *fn, void *ctx);

#endif
