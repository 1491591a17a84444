/* The model that design_check() works on: the items a design can have, and the items each access pattern reaches.
 * Private to check/ and describe/traffic.c.
 *
 * To add a rule: a function in the check_*.c of its family and a row in that file's table; a section in
 * docs/design-check.md; an example in tests/unit/design/test_check.c. A new family is also declared below
 * (check_rules_…) and listed in check.c.
 *
 * The model is made once, in the findings' arena, before the first rule runs; rules only read it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_CHECK_CHECK_H
#define THORPE_DESIGN_CHECK_CHECK_H

#include "design/design.h"
#include "design/describe/traffic.h"

/* A kind of item: an entity's own, or one of its companions. */
struct shape {
	const struct entity *entity;
	const struct companion *companion; /* NULL: the entity's own item */
	struct slice name;                 /* "Post", or "Post's companion FOLLOWER#<follower_id>" */
};

#define CONDITIONS_MAX (KEY_HASH_MAX + KEY_RANGE_MAX)

/* One way in which a kind of item is in the table or in an index. An item with two forms of a key (POST#… when
 * published, DRAFT#… before) has two entries. */
struct entry {
	const struct shape *shape;
	const struct template *hash[KEY_HASH_MAX];
	const struct template *range[KEY_RANGE_MAX];
	const struct term *when[CONDITIONS_MAX]; /* all must hold */
	size_t when_count;
	bool read; /* some access pattern's query can return it */
};

/* The table or an index, and everything that can be in it. */
struct space {
	const struct design_index *index; /* NULL: the table */
	const struct key_schema *key;
	struct slice name; /* "the table", "GSI1" */
	struct entry *entries;
	size_t entry_count;
};

/* What a query can return. */
struct reach {
	const struct access *access;
	const struct space *space; /* NULL: no query, or one that names no whole partition */
	struct entry *entries;     /* those the key condition and the filter let through */
	size_t entry_count;
	size_t by_key_count; /* how many the key condition alone lets through */
};

/* A placeholder in a key. */
struct hole_visit {
	const struct space *space;
	const struct entry *entry;
	const struct template *template;
	const struct template_part *hole;
	const struct attribute *attribute; /* copies followed; NULL: a loop variable or unknown */
	bool sort;                         /* in a sort key */
	enum value_type type;              /* of the key attribute */
};

struct checker;

/* A row of a family's table. docs/design-check.md says what each rule finds. */
struct rule {
	const char *name;
	enum severity severity;
	const char *why, *repair;
	/* What it looks at, one after the other; the others are NULL. */
	void (*design)(struct checker *c);
	void (*index)(struct checker *c, const struct space *s);
	void (*entry)(struct checker *c, const struct space *s, const struct entry *x);
	void (*hole)(struct checker *c, const struct hole_visit *v); /* each key template once */
	void (*entity)(struct checker *c, const struct entity *e);
	void (*attribute)(struct checker *c, const struct entity *e, const struct attribute *a);
	void (*access)(struct checker *c, const struct reach *r);
	void (*processor)(struct checker *c, const struct processor *p);
};

/* What a finding is about, and where an `accept` may stand. */
struct about {
	const char *kind; /* "entity" */
	struct slice name;
	struct place place;
	const struct accepted *accepts[3];
};

struct checker {
	const struct design *d;
	struct findings *f;
	struct arena *arena;
	const struct rule *rule; /* the one that runs */
	struct about about;      /* what it looks at: the table, or an index, entity, access pattern or processor */
	struct finding *last;    /* of check_say(); NULL when it was accepted */
	struct shape *shapes;
	size_t shape_count;
	struct space *spaces; /* [0] is the table, then the indexes in order: EACH_INDEX */
	size_t space_count;
	struct reach *reaches; /* one per access pattern, in order */
	struct map *used;      /* acceptances that silenced something */
	bool tells_accepted;   /* accepted findings are reported, too */
};

/* Goes through the model's indexes. */
#define EACH_INDEX(s, c) EACH (struct space, s, (c)->spaces + 1, (c)->space_count - 1)

/* ---- reporting ---- */
struct about about_entity(const struct checker *c, const struct entity *e);
struct about about_access(const struct checker *c, const struct access *a);
struct about about_space(const struct checker *c, const struct space *s);

#define AT_SUBJECT ((struct place){ 0 })
/* Reports a finding of the running rule about c->about, with the rule's severity, reason and repair. AT_SUBJECT: at
 * the place of what it is about. */
void check_say(struct checker *c, struct place place, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Change the finding just made; nothing when it was accepted. */
void check_severity(struct checker *c, enum severity severity);
void check_repair(struct checker *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The tables of rules, by family; each ends with a row without a name. */
extern const struct rule check_rules_access[], check_rules_order[], check_rules_key[], check_rules_identity[],
	check_rules_index[], check_rules_visible[], check_rules_unique[], check_rules_count[], check_rules_copy[],
	check_rules_life[], check_rules_stream[], check_rules_limit[], check_rules_race[], check_rules_agree[],
	check_rules_everywhere[], check_rules_hold[];

/* ---- the model (check_shape.c) ---- */
void check_model(struct checker *c);
const struct space *check_space(const struct checker *c, struct slice index);
static inline const struct reach *check_reach(const struct checker *c, const struct access *a)
{
	return &c->reaches[a - c->d->accesses];
}
/* The condition on a key attribute; NULL: none. */
const struct where_rule *check_where(const struct access *a, struct slice attribute);
/* The template of an entry's i-th key attribute, in the order of key_attr_at(). */
static inline const struct template *entry_key(const struct space *s, const struct entry *x, size_t i)
{
	return i < s->key->hash_count ? x->hash[i] : x->range[i - s->key->hash_count];
}
/* The rules that compute an item's attributes, also those that are no keys. */
const struct key_rule *shape_rules(const struct shape *s, size_t *count);
/* Whether the attribute can be in such an item. */
bool shape_has(const struct shape *s, struct slice attribute);
bool reach_has_entity(const struct reach *r, const struct entity *e);
/* The first entry of the entity's own item; NULL: it is not in the space. */
const struct entry *space_entry(const struct space *s, const struct entity *e);
/* The template of the entity's own item for a key attribute of the table; NULL: none. */
const struct template *entity_key(const struct checker *c, const struct entity *e, bool hash);

/* ---- templates (check_match.c) ---- */
/* Whether some string has both forms. Placeholders stand for one or more characters other than '#'; a template that is
 * one bare placeholder stands for anything. `entity` tells the types of b's placeholders; may be NULL. */
bool template_meets(struct arena *arena, const struct template *a, const struct template *b,
		    const struct entity *entity);
/* The same when `a` needs only be the beginning. */
bool template_begins(struct arena *arena, const struct template *a, const struct template *b,
		     const struct entity *entity);
bool template_names(const struct template *t, struct slice attribute);
size_t template_holes(const struct template *t);
/* The i-th placeholder. */
const struct template_part *template_hole(const struct template *t, size_t i);

/* ---- attributes and terms (check_term.c) ---- */
/* What a placeholder of an entity's template stands for, copies followed to their source; NULL: unknown. */
const struct attribute *hole_attribute(const struct checker *c, const struct entity *e,
				       const struct template_part *hole);
bool attribute_is_time(const struct attribute *a);
bool attribute_can_be_absent(const struct entity *e, const struct attribute *a);
bool attribute_can_be_negative(const struct checker *c, const struct entity *e, const struct attribute *a);
bool attribute_can_change(const struct attribute *a);
bool is_parameter(const struct entity *e, struct slice name);
/* Whether some rule, key, filter or processor of the design looks at an attribute of this name. */
bool attribute_is_looked_at(const struct checker *c, struct slice name);
/* A name in lower case without _ and -: is_deleted and isDeleted are one. */
struct slice plain_name(struct arena *a, struct slice name);
/* Whether the plain name is one of the words (separated by spaces), ends with one, or contains one. */
bool name_is(struct arena *a, struct slice name, const char *words);
bool name_ends(struct arena *a, struct slice name, const char *words);
bool name_says_time(struct arena *a, struct slice name);
bool name_contains(struct arena *a, struct slice name, const char *words);

bool term_mentions(const struct term *t, struct slice attribute);
bool term_mentions_old(const struct term *t);
/* Whether the rule admits everyone, or every caller with a login. */
bool term_is_public(const struct design *d, const struct term *t);
/* Whether it compares the attribute with the caller. */
bool term_binds_caller(const struct term *t, struct slice attribute);
/* Whether the term can hold for such an item at all. */
bool term_can_hold(const struct checker *c, const struct term *t, const struct shape *s);

/* ---- references (check_refer.c) ---- */
/* How `from` refers to `to`: CHECKED by requires, counts or a copy; otherwise only by a key or a name. */
enum refers { REFERS_NOT, REFERS_BY_NAME, REFERS_BY_KEY, REFERS_CHECKED };
enum refers entity_refers(const struct checker *c, const struct entity *from, const struct entity *to,
			  const struct attribute **through);

/* ---- cost (traffic.c) ---- */
/* What creating an item of the entity takes. */
struct traffic_write check_write_of(const struct checker *c, const struct entity *e);

#endif
