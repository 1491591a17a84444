/* What the parts of the loader share. Inside design/ only.
 *
 * Loading has two turns. The first reads the tree into the structs of design.h and says what is wrong with the
 * words; names of other things are noted with their place (load_later()). The second, when everything has been
 * read, looks each of them up. Reading goes on after an error, so a struct may be incomplete as soon as there is one.
 *
 * Invariant L1: arrays of entities and access patterns are allocated once; pointers to their elements stay.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_LOAD_LOAD_H
#define THORPE_DESIGN_LOAD_LOAD_H

#include "design/design.h"
#include "design/source/yaml.h"

/* Which names a term or template may use, besides caller, now and the like. */
struct load_scope {
	const struct entity *entity;       /* its attributes */
	const struct access *access;       /* its parameters */
	bool rows;                         /* attributes of the items an access pattern returns: `access`, or any */
	bool old;                          /* old.x */
	bool input;                        /* input.x: attributes of the entity, parameters of the access pattern */
	struct slice variable;             /* a loop's; empty: none */
	const struct processor *processor; /* what the variable stands for a row of, and `let` */
	struct slice target;               /* an entity by its name: its attributes only */
	struct slice over;                 /* with rows: those of this pattern instead */
	bool fetched;                      /* with rows: what `then` fetches instead */
	const char *also;                  /* one more name; NULL: none */
};

/* part of a scalar */
struct load_span {
	const struct yaml *y;
	size_t from, n; /* bytes of y->text */
};

struct load;

struct load_later {
	struct load_later *next;
	void (*resolve)(struct load *l, const struct load_later *what);
	struct slice name, of, subject;
	struct place place;
	struct load_span span;
	const void *thing;
	const struct load_scope *scope;
};

struct load {
	struct arena *a;
	struct findings *f;
	const struct source *source;
	struct design *d;
	struct entity *entities; /* d's, to be filled */
	struct access *accesses;
	struct slice subject; /* what is being read: "entity Post" */
	struct load_later *later, **later_end;
	struct map *scopes;                    /* of terms, by their address: load_term_scope() */
	struct load_named *named, **named_end; /* terms and templates that were read: load_names() */
	struct map *inferred;                  /* attributes whose type is known, by their address: load_infer() */
};

/* ---- findings ---- */
struct finding *load_error(struct load *l, struct place p, const char *rule, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* "there is no <what> 'name'", with what was probably meant among `known`. */
struct finding *load_unknown(struct load *l, struct place p, const char *rule, const char *what, struct slice name,
			     const struct slice *known, size_t count);
/* "expected …, not a map". */
void load_expected(struct load *l, const struct yaml *y, const char *expected);

/* ---- maps by their words ---- */
struct load_word {
	const char *name; /* NULL ends the table */
	void (*read)(struct load *l, void *into, const struct yaml *value);
};
/* Calls the reader of each word, in the order of the table, wherever the words stand in the map; those that `other` (may be NULL) does not take either are errors.
 * `what` is what the map describes: "an access pattern". */
void load_words(struct load *l, const struct yaml *map, const char *what, const struct load_word *words, void *into,
		bool (*other)(struct load *l, void *into, const struct yaml_entry *e));
/* The entries of a map; none, with a finding, when it is something else. */
const struct yaml_entry *load_map(struct load *l, const struct yaml *y, const char *expected, size_t *count);
/* The items of a list, or a single scalar as a list of one. */
const struct yaml *load_list(struct load *l, const struct yaml *y, const char *expected, size_t *count);

/* ---- scalars ---- */
bool load_is_scalar(struct load *l, const struct yaml *y, const char *expected);
struct slice load_text(struct load *l, const struct yaml *y, const char *expected); /* empty after an error */
bool load_bool(struct load *l, const struct yaml *y);
int64_t load_integer(struct load *l, const struct yaml *y, int64_t least, int64_t most, const char *expected);
size_t load_texts(struct load *l, const struct yaml *y, const char *expected, const struct slice **out);
const struct term *load_term(struct load *l, const struct yaml *y, const struct load_scope *scope);

/* ---- part of a scalar: the mini-languages ---- */
struct load_span load_whole(const struct yaml *scalar);
struct slice span_text(struct load_span s);
struct place span_place(const struct load *l, struct load_span s);
struct load_span span_cut(struct load_span s, size_t from, size_t n); /* trimmed */
/* Cuts at the first `c` outside of 'text' and (…): *head is what stands before, *s what follows; false and all of it
 * in *head when there is none. Both trimmed. */
bool span_split(struct load_span *s, char c, struct load_span *head);
/* The same at a whole word, in spaces. */
bool span_split_word(struct load_span *s, const char *word, struct load_span *head);
/* Takes a whole word, or several, from the start. */
bool span_take(struct load_span *s, const char *words);
bool span_integer(struct load_span s, int64_t *out);
bool span_decimal(struct load_span s, double *out);
/* A name: a letter or _, then also digits. */
bool span_is_name(struct load_span s);
bool load_is_name(struct slice s);

const struct term *load_span_term(struct load *l, struct load_span s, const struct load_scope *scope);
const struct template *load_span_template(struct load *l, struct load_span s, const struct load_scope *scope);
/* name(args): args is empty text when there are none. False: it is not of this shape. */
bool span_call(struct load_span *s, struct load_span *name, struct load_span *args);

/* ---- parts that several things have ---- */
struct load_scope *load_scope_of(struct load *l, const struct entity *e); /* with old and input */
/* E(args); *s is then what follows. */
bool load_reference(struct load *l, struct load_span *s, const struct load_scope *scope, struct reference *out);
/* What may follow an item: [by t] [when t] [if t], in any order; `if` is about the item. */
struct load_tail {
	const struct term *by, *when, *if_;
};
struct load_tail load_reference_tail(struct load *l, struct load_span s, const struct load_scope *scope,
				     struct slice entity, bool may_count);
/* E(args) [when t] [if t], each perhaps with a sentence: {E(args): sentence} */
size_t load_requirements(struct load *l, const struct yaml *y, const struct load_scope *scope,
			 const struct requirement **out);
/* attribute: template */
size_t load_rules(struct load *l, const struct yaml *y, const char *expected, const struct load_scope *scope,
		  const struct key_rule **out);
/* attribute: term. The attributes belong to the entity `target`, when not empty: a choice may be a bare word. */
size_t load_assignments(struct load *l, const struct yaml *y, const struct load_scope *scope, struct slice target,
			const struct assignment **out);
/* pattern(parameter = term, …): the pattern's name and what is given to it. */
bool load_pattern_call(struct load *l, struct load_span s, const struct load_scope *scope, struct slice *pattern,
		       const struct assignment **with, size_t *count);
/* accept: {rule: reason} */
void load_accept(struct load *l, struct accepted *out, const struct yaml *y);
/* 30 s, 5 minutes: in seconds */
int64_t load_duration(struct load *l, const struct yaml *y);
/* A path and its placeholders; `scope` NULL: they may be called anything. */
void load_path(struct load *l, const struct yaml *y, const struct load_scope *scope, struct slice *path,
	       const struct template **template, const struct slice **params, size_t *count);
/* A word standing for itself: of a choice, or text. */
const struct term *load_literal(struct load *l, struct slice text, struct place p);
/* name: type, clause, clause… */
void load_attribute(struct load *l, const struct yaml_entry *e, const struct yaml *siblings, const struct entity *of,
		    struct attribute *out);

/* ---- the parts of a file ---- */
void load_key(struct load *l, void *into, const struct yaml *y);     /* struct key_schema */
void load_indexes(struct load *l, void *into, const struct yaml *y); /* struct design, as all below */
void load_stream(struct load *l, void *into, const struct yaml *y);
void load_billing(struct load *l, void *into, const struct yaml *y);
void load_check_keys(struct load *l);
void load_callers(struct load *l, void *into, const struct yaml *y);
void load_entity_names(struct load *l, const struct yaml *y); /* and attributes */
void load_entities(struct load *l, void *into, const struct yaml *y);
void load_companions(struct load *l, void *into, const struct yaml *y); /* struct entity, as below */
void load_actions(struct load *l, void *into, const struct yaml *y);
void load_delete(struct load *l, void *into, const struct yaml *y);
void load_login(struct load *l, void *into, const struct yaml *y);
void load_accesses(struct load *l, void *into, const struct yaml *y);
void load_where(struct load *l, struct access *into, const struct yaml *y);
void load_merge(struct load *l, void *into, const struct yaml *y); /* struct access, as below */
void load_then(struct load *l, void *into, const struct yaml *y);
void load_walk(struct load *l, void *into, const struct yaml *y);
void load_rank(struct load *l, void *into, const struct yaml *y);
void load_tree(struct load *l, void *into, const struct yaml *y);
void load_processors(struct load *l, void *into, const struct yaml *y);
void load_traffic(struct load *l, void *into, const struct yaml *y);

/* ---- the second turn ---- */
void load_later_entity(struct load *l, struct slice name, struct place p);
void load_later_attribute(struct load *l, struct slice name, struct place p, struct slice entity);
void load_later_access(struct load *l, struct slice name, struct place p);
/* A pattern whose parameters are the entity's attributes of the same names. */
void load_later_pattern_of(struct load *l, struct slice name, struct place p, struct slice entity);
void load_later_param(struct load *l, struct slice name, struct place p, struct slice access);
/* An attribute of what a pattern returns; NULL: of anything. */
void load_later_row_action(struct load *l, struct slice name, struct place p, const struct access *a);
void load_later_row_attribute(struct load *l, struct slice name, struct place p, const struct access *a);
/* An attribute that `where` asks for. */
void load_later_key(struct load *l, struct slice name, struct place p, const struct access *a);
void load_later_index(struct load *l, struct slice name, struct place p);
void load_later_reference(struct load *l, const struct reference *r);
void load_later_term(struct load *l, const struct term *t, const struct load_scope *scope);
void load_later_template(struct load *l, const struct template *t, struct load_span s, const struct load_scope *scope);
/* An access pattern, or create Post. */
void load_later_traffic(struct load *l, const struct traffic_rule *t);
void load_later(struct load *l, struct load_later what);
void load_resolve(struct load *l);
/* The types of derived attributes and copies. */
void load_infer(struct load *l);
/* Attributes that name other items are in the normal form of what they name. */
void load_refer(struct load *l);
/* Notes at each source in which keys its copies are (struct keyed_copy); when everything is known. */
void load_keyed(struct load *l);
/* Reports every term that can never work, and values that can never be what they are for. After load_infer(), when everything
 * has been found. */
void load_types(struct load *l);
/* The scope a term was read with; NULL: none, or it is a literal. */
const struct load_scope *load_term_scope(struct load *l, const struct term *t);
/* What is taken from sequences, and that nothing else moves them; after load_infer(). */
void load_check_sequences(struct load *l);
/* Numbers all names, puts them where they are used, and gives each entity its slots: the last of all, when there is no error. */
void load_names_of_term(struct load *l, const struct term *t);
void load_names_of_template(struct load *l, const struct template *t);
void load_names(struct load *l);
/* That a soft deletion removes nothing that cannot go; after load_infer(). */
void load_check_removed(struct load *l);

/* ---- between load_later.c and load_resolve.c ---- */
/* for suggestions */
struct load_names {
	struct arena *a;
	struct slice *list;
	size_t n, room;
};
bool load_names_add(void *names, struct slice name); /* false */
/* Whether there is such an entity; says so when not. */
bool load_check_entity(struct load *l, struct slice name, struct place p, const struct entity **out);
void load_check_attribute(struct load *l, const struct entity *e, struct slice name, struct place p);

/* Attributes, and those that keys set. */
bool load_entity_has(const struct entity *e, struct slice name);
/* Goes through the names a scope allows until `fn` says true; whether it did. */
bool load_each_name(struct load *l, const struct load_scope *scope, bool (*fn)(void *ctx, struct slice name), void *ctx);
/* The entities an access pattern's rows can be of; NULL: all. `fetched`: only what `then` fetches. Until `fn` says true. */
bool load_each_row_entity(struct load *l, const struct access *a, bool fetched,
			  bool (*fn)(void *ctx, const struct entity *e), void *ctx);
/* The attributes an access pattern's rows can have; NULL: any item. */
bool load_each_row_name(struct load *l, const struct access *a, bool fetched, bool (*fn)(void *ctx, struct slice name),
			void *ctx);

#endif
