/* Shared by the parts of the loader. Private to design/load, and to design/editor, which shows its words.
 *
 * Loading has two passes. The first reads the tree into the structs of design.h and reports wrong words and values;
 * each name of something else is noted with its place (load_later_name()). The second pass, when everything has been
 * read, looks these names up and stores what they name. Reading goes on after an error, so a struct may be incomplete
 * once there is one.
 *
 * Invariant L1: arrays of entities and access patterns are allocated once; pointers to their elements stay valid.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_LOAD_LOAD_H
#define THORPE_DESIGN_LOAD_LOAD_H

#include "design/design.h"
#include "design/load/shape.h"
#include "design/source/yaml.h"

/* Elements of an array. */
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
/* A pointer to something that the loader has made, for changing it until design_load() returns. */
#define OURS(type, x) ((type *)(uintptr_t)(x))

/* The names a term or template may use, besides caller, now and the like. */
struct load_scope {
	const struct entity *entity;       /* its attributes */
	const struct access *access;       /* its parameters */
	bool rows;                         /* attributes of the items that `access` returns; without it, of any item */
	bool old;                          /* old.x */
	bool input;                        /* input.x: attributes of the entity, parameters of the access pattern */
	struct slice variable;             /* of a loop; empty: none */
	const struct attribute *each;      /* what the variable is; NULL: anything */
	const struct processor *processor; /* for its `let`, and for the pattern that the variable loops over */
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

/* a template that was read */
struct load_template {
	struct load_template *next;
	const struct template *template;
	struct load_span span;
	const struct load_scope *scope;
};

struct load;

/* something to look up in the second pass */
struct load_later {
	struct load_later *next;
	/* Returns the entity, access pattern or index of the name; NULL: none. */
	const void *(*resolve)(struct load *l, const struct load_later *what);
	struct slice name, of, subject;
	struct place place;
	struct load_span span;
	const void *thing;
	void *into; /* the address of the pointer that gets it; NULL: none */
	const struct load_scope *scope;
};

struct load {
	struct arena *a;
	struct findings *f;
	const struct source *source;
	struct design *d;
	struct entity *entities; /* d's, to be filled */
	struct access *accesses;
	struct load_structures *structures; /* of `types`; NULL: none */
	struct entity *entity;              /* being read; NULL: none */
	struct access *access;              /* being read; NULL: none */
	const struct load_scope *scope;     /* of the terms being read */
	struct slice subject;               /* of findings: "entity Post" */
	const struct yaml *everywhere;      /* the rule; NULL: none */
	struct load_later *later, **later_end;
	struct map *scopes;                    /* of terms, by address: load_term_scope() */
	struct load_template *templates;       /* with their scopes */
	struct load_named *named, **named_end; /* terms and templates read so far: load_names() */
	struct load_bound *bound;              /* patterns with bound parameters, to be made after the second pass */
	size_t bound_count;
	struct map *inferred;     /* attributes whose type is known, by address: load_infer() */
	struct load_names *stray; /* words that nothing knows, and what they probably are: what they would have declared
				   * is not reported as missing */
};

/* ---- findings ---- */
/* a list of names: for suggestions, and for words that have to be one of several */
struct load_names {
	struct arena *a; /* NULL: nothing can be added */
	const struct slice *list;
	size_t n, room;
};
#define NAMES(array) ((struct load_names){ .list = (array), .n = LENGTH(array) })
void load_names_add(struct load_names *names, struct slice name);
/* Adds the names a scope allows. */
void load_names_of(struct load *l, const struct load_scope *scope, struct load_names *names);

struct finding *load_error(struct load *l, struct place p, const char *rule, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* "there is no <what> 'name'", and which of the known names was probably meant. */
struct finding *load_unknown(struct load *l, struct place p, const char *rule, const char *what, struct slice name,
			     const struct load_names *known);
/* Returns what this language has instead of the word that begins `text`, which other languages use as a type, a
 * clause or a part of a term; empty: unknown. */
enum load_hint_of { HINT_TYPE, HINT_CLAUSE, HINT_TERM, HINT_VERB };
struct slice load_hint(enum load_hint_of of, struct slice text);
/* A word for what other languages call `word`, which `is_known` has; NULL: none. */
const char *load_synonym(struct slice word, bool (*is_known)(const void *ctx, const char *word), const void *ctx);
/* Whether something of this name, or a part of the file that would declare it, is a stray word. */
bool load_is_stray(const struct load *l, const char *part, struct slice name);
/* "expected …, not a map". */
void load_expected(struct load *l, const struct yaml *y, const char *expected);
/* Findings are about this from now on: "entity" and "Post". */
void load_subject(struct load *l, const char *kind, struct slice name);

/* ---- names declared elsewhere ---- */
enum load_name {
	NAME_NONE,
	NAME_ENTITY,
	NAME_ATTRIBUTE,      /* of the entity `of` */
	NAME_ACCESS,         /* an access pattern */
	NAME_ACCESS_BY,      /* an access pattern whose parameters are attributes of the entity `of` */
	NAME_PARAMETER,      /* of the access pattern `of` */
	NAME_ROW_ATTRIBUTE,  /* of the items that the access pattern `of` returns */
	NAME_ITEM_ATTRIBUTE, /* of any item */
	NAME_ROW_ACTION,     /* of the items that the access pattern `of` returns */
	NAME_WHERE,          /* an attribute in `where` of the access pattern `of` */
	NAME_INDEX,
	NAME_PROJECTED, /* an attribute in the projection of an index */
	NAME_TRAFFIC,   /* an access pattern, or "create Post" */
	NAMES_OF,
};
/* Reports in the second pass a name that is not one of these. */
void load_later_name(struct load *l, enum load_name kind, struct slice name, struct place p, struct slice of);
/* The same; `into`, the address of a pointer, gets the entity, access pattern or index of that name. */
void load_later_found(struct load *l, enum load_name kind, struct slice name, struct place p, struct slice of,
		      void *into);

/* ---- maps by their words: one row per word ---- */
enum word_type {
	WORD_OWN,         /* read() does it */
	WORD_TEXT,        /* struct slice */
	WORD_TEXTS,       /* const struct slice *, and its length: one text, or a list of them */
	WORD_BOOL,        /* bool */
	WORD_INTEGER,     /* int64_t: 1 to `most` */
	WORD_DURATION,    /* int64_t: seconds */
	WORD_TERM,        /* const struct term *, in l->scope, as the next three */
	WORD_RULES,       /* const struct key_rule *, and its length */
	WORD_ASSIGNMENTS, /* const struct assignment *, and its length: attributes of the entity being read, if one is */
	WORD_REQUIREMENTS, /* const struct requirement *, and its length */
	WORD_KEY,          /* struct key_schema */
	WORD_ACCEPT,       /* struct accepted */
};
struct load_word {
	const char *name; /* NULL ends the table */
	enum word_type type;
	size_t at, count_at;  /* where it goes: offsets in the struct being read */
	const char *expected; /* TEXT, TEXTS, INTEGER, RULES: for messages */
	enum load_name names; /* TEXT, TEXTS: looked up in the second pass, of the entity or access pattern being read */
	size_t found_at;      /* offset of the pointer to what is found; TEXTS: to an array of these. 0: none */
	int64_t most;         /* INTEGER */
	void (*read)(struct load *l, void *into, const struct yaml *value); /* OWN */
	const struct load_shape *shape; /* OWN: what read() takes, for `thorpe schema` */
};
#define AT(type, member)             offsetof(struct type, member), 0
#define LIST_AT(type, member, count) offsetof(struct type, member), offsetof(struct type, count)
#define FOUND(type, member)          .found_at = offsetof(struct type, member)

/* Reads each word of the table, in the table's order, wherever it stands in the map. Words that are in neither the
 * table nor accepted by `other` (may be NULL) are errors. `what` is what the map describes: "an access pattern".
 * Returns whether there was no error. */
bool load_words(struct load *l, const struct yaml *map, const char *what, const struct load_word *words, void *into,
		bool (*other)(struct load *l, void *into, const struct yaml_entry *e));
/* Whether the map has the word; false when it is not a map. */
bool load_has_word(const struct yaml *map, const char *word);
/* How many of these words the map has. It may have one: reports the second with `sentence`. */
size_t load_one_of(struct load *l, const struct yaml *map, const char *const *words, const char *sentence);
/* The entries of a map; none, with a finding, when it is something else. */
const struct yaml_entry *load_map(struct load *l, const struct yaml *y, const char *expected, size_t *count);
/* The items of a list, or a single scalar as a list of one. */
const struct yaml *load_list(struct load *l, const struct yaml *y, const char *expected, size_t *count);

/* ---- scalars ---- */
bool load_is_scalar(struct load *l, const struct yaml *y, const char *expected);
struct slice load_text(struct load *l, const struct yaml *y, const char *expected); /* empty after an error */
/* The same; looked up in the second pass, of the entity or access pattern being read. */
struct slice load_name(struct load *l, const struct yaml *y, const char *expected, enum load_name names);
size_t load_texts(struct load *l, const struct yaml *y, const char *expected, const struct slice **out);
/* The text's place in `names`; names->n, with a finding, when it is none of them. `what`: "order called". */
size_t load_choice(struct load *l, struct slice text, struct place p, const char *what, const struct load_names *names);
const struct term *load_term(struct load *l, const struct yaml *y, const struct load_scope *scope);
/* Whether it is one of the words, of which NULL is the last. */
bool load_is_one_of(struct slice s, const char *const *words);
/* The seconds of "s", "minutes", "day"…; 0: it is not a unit of time. */
int64_t load_seconds(struct slice unit);
struct slice load_units_pattern(struct arena *a); /* all of them, for a regular expression: "s|second|…" */
/* 'text' becomes text; false: it is not in quotes. */
bool load_unquote(struct slice *s);

/* ---- part of a scalar: the mini-languages ---- */
struct load_span load_whole(const struct yaml *scalar);
struct slice span_text(struct load_span s);
struct place span_place(const struct load *l, struct load_span s);
struct load_span span_cut(struct load_span s, size_t from, size_t n); /* trimmed */
/* Cuts at the first `c` outside 'text' and (…): *head is what precedes it, *s what follows, both trimmed. Without one:
 * false, and all of it in *head. */
bool span_split(struct load_span *s, char c, struct load_span *head);
/* The same at a whole word, between spaces. */
bool span_split_word(struct load_span *s, const char *word, struct load_span *head);
/* Takes one or several whole words from the start. */
bool span_take(struct load_span *s, const char *words);
bool span_integer(struct load_span s, int64_t *out);
bool span_decimal(struct load_span s, double *out);
/* A letter or _, then also digits. */
bool span_is_name(struct load_span s);
bool load_is_name(struct slice s);
/* name(args): args is empty text when there are none. False: it is not of this shape. */
bool span_call(struct load_span *s, struct load_span *name, struct load_span *args);
/* How many parts commas (or another sign) can cut it into. */
size_t span_parts(struct load_span s, char sign);

/* NULL, with findings, when it is malformed. Names in it are looked up in the second pass; `scope` NULL: they are
 * not. */
const struct term *load_span_term(struct load *l, struct load_span s, const struct load_scope *scope);
const struct template *load_span_template(struct load *l, struct load_span s, const struct load_scope *scope);

/* ---- parts that several declarations share ---- */
struct load_scope *load_scope_of(struct load *l, const struct entity *e); /* with old and input */
/* The pattern's parameters and input.x; `rows`: also the attributes of its rows. */
struct load_scope *load_access_scope(struct load *l, const struct access *a, bool rows);
/* E(args); *s is then what follows. The reference must outlive the second pass, also in load_item() and
 * load_count(). */
bool load_reference(struct load *l, struct load_span *s, const struct load_scope *scope, struct reference *out);
/* A scalar that is E(args) and nothing else. */
bool load_item(struct load *l, const struct yaml *y, const char *expected, const struct load_scope *scope,
	       struct reference *out);
/* E(args).attribute [by t] [when t] [if t], or {for: x in list, that}; `out` gets all but its target. */
bool load_count(struct load *l, const struct yaml *y, const struct load_scope *scope, struct reference *target,
		struct count_rule *out);
/* E(args) [when t] [if t], each perhaps with a sentence: {E(args): sentence}, or for each element of a list:
 * {for: x in list, E(args): sentence} */
size_t load_requirements(struct load *l, const struct yaml *y, const struct load_scope *scope,
			 const struct requirement **out);
/* attribute: template */
size_t load_rules(struct load *l, const struct yaml *y, const char *expected, const struct load_scope *scope,
		  const struct key_rule **out);
/* The rule of one entry; false, with findings, when its value is not a template. */
bool load_rule(struct load *l, const struct yaml_entry *e, const struct load_scope *scope, struct key_rule *out);
/* attribute: term. When `target` is not empty, the attributes are that entity's, and a choice may be a bare word. */
size_t load_assignments(struct load *l, const struct yaml *y, const struct load_scope *scope, struct slice target,
			const struct assignment **out);
/* pattern(parameter = term, …): the pattern's name and its arguments. */
struct load_call {
	struct slice pattern;
	const struct assignment *with;
	size_t with_count;
};
/* `into` gets the access pattern, in the second pass. */
bool load_pattern_call(struct load *l, struct load_span s, const struct load_scope *scope, struct load_call *out,
		       const struct access **into);
/* What a loop over the list gives: the elements of an attribute with structures; NULL: not known. */
const struct attribute *load_elements_of(const struct entity *e, const struct term *list);
/* variable in what follows */
bool load_loop(struct load *l, const struct yaml *y, const char *expected, struct slice *variable,
	       struct load_span *over);
/* What the elements of a list are that is an attribute of the entity; NULL: anything. */
const struct attribute *load_elements_of(const struct entity *e, const struct term *list);
/* for: x in list, of the entity being read. Returns the scope with the variable. */
const struct load_scope *load_each(struct load *l, struct each_rule *each, struct load_span loop,
				   const struct load_scope *scope);
/* A path and its placeholders; `scope` NULL: they may have any name. */
struct load_path {
	struct slice text;
	const struct template *template;
	const struct slice *params;
	size_t count;
};
struct load_path load_path(struct load *l, const struct yaml *y, const struct load_scope *scope);
/* name: term; each as a derived attribute, whose type load_infer() finds. */
size_t load_show(struct load *l, const struct yaml *y, const struct load_scope *scope, const struct attribute **out);
/* A literal: the word of a choice, or text. */
const struct term *load_literal(struct load *l, struct slice text, struct place p);
#define LOAD_GROUP_MOST 64 /* words */
/* `counter for each a | b`: how many attributes the entry is; reading them, or one of any other kind; how many. */
size_t load_group_room(const struct yaml_entry *e);
size_t load_group(struct load *l, const struct yaml_entry *e, const struct yaml *siblings, const struct entity *of,
		  struct attribute *list);
/* Makes a count with a key a count for each word, in place; how many. */
size_t load_group_counts(struct load *l, const struct load_scope *scope, struct count_rule *list);
/* Whether the names from `at` on are a counter in a map; then *joined is its name. */
bool load_group_path(struct load *l, const struct load_scope *scope, const struct slice *names, size_t n, size_t at,
		     struct slice *joined);
bool load_is_choice(const struct attribute *a, struct slice word); /* `a` may be NULL */
/* Reports a word that is not one of the attribute's choices, if it has choices. */
void load_check_choice(struct load *l, const struct attribute *a, struct slice word, struct place p);
/* name: type, clause, clause… */
void load_attribute(struct load *l, const struct yaml_entry *e, const struct yaml *siblings, const struct entity *of,
		    struct attribute *out);
/* For editors: calls `fn` with the names of all types, or with all clauses. */
void load_attribute_words(bool types_only, void (*fn)(void *ctx, struct slice word), void *ctx);
/* The structure of that name in `types`; NULL: there is none. */
const struct structure *load_structure(struct load *l, struct slice name);
/* Adds the names of all structures. */
void load_structure_names(struct load *l, struct load_names *names);
/* One that is written where it is used: a map of members. Never NULL. */
const struct structure *load_structure_here(struct load *l, const struct yaml *y);
/* file image/png | image/webp up to 5 MB, after 'file': makes `out` a map of what is known of the file. */
void load_file(struct load *l, struct load_span s, struct attribute *out);
/* Whether it is not empty and has only characters of `allowed`. */
bool load_consists_of(struct slice s, const char *allowed);

/* ---- the parts of a file ---- */
void load_key(struct load *l, struct key_schema *k, const struct yaml *y);
void load_indexes(struct load *l, void *into, const struct yaml *y); /* struct design, as all below */
void load_stream(struct load *l, void *into, const struct yaml *y);
void load_billing(struct load *l, void *into, const struct yaml *y);
void load_claims(struct load *l, void *into, const struct yaml *y);       /* struct callers */
void load_login_claims(struct load *l, void *into, const struct yaml *y); /* struct login */
void load_callers(struct load *l, void *into, const struct yaml *y);
void load_structures(struct load *l, void *into, const struct yaml *y);
void load_entities(struct load *l, void *into, const struct yaml *y);
void load_companions(struct load *l, void *into, const struct yaml *y); /* struct entity, as below */
void load_actions(struct load *l, void *into, const struct yaml *y);
void load_also(struct load *l, void *into, const struct yaml *y);
void load_also_of_action(struct load *l, void *into, const struct yaml *y); /* struct action */
void load_delete(struct load *l, void *into, const struct yaml *y);
void load_mail(struct load *l, void *login, const struct yaml *y); /* load_mail.c */
void load_rename(struct load *l, void *into, const struct yaml *y);
void load_login(struct load *l, void *into, const struct yaml *y);
void load_accesses(struct load *l, void *into, const struct yaml *y); /* struct design */
void load_where(struct load *l, void *into, const struct yaml *y);    /* struct access, as below */
void load_filter(struct load *l, void *into, const struct yaml *y);
void load_merge(struct load *l, void *into, const struct yaml *y);
void load_then(struct load *l, void *into, const struct yaml *y);
void load_walk(struct load *l, void *into, const struct yaml *y);
void load_rank(struct load *l, void *into, const struct yaml *y);
void load_tree(struct load *l, void *into, const struct yaml *y);
void load_everywhere(struct load *l, void *into, const struct yaml *y);
void load_processors(struct load *l, void *into, const struct yaml *y); /* struct design, as below */
/* After the second pass: the effects of a processor share what is not the effect. */
void load_share_processors(struct load *l);
void load_traffic(struct load *l, void *into, const struct yaml *y);

/* ---- the second pass ---- */
void load_later_reference(struct load *l, struct reference *r);
void load_later_term(struct load *l, const struct term *t, const struct load_scope *scope);
void load_later_template(struct load *l, const struct template *t, struct load_span s, const struct load_scope *scope);
/* The place of the name in the placeholder that opens at or after *at, which moves past it. */
struct place load_placeholder_place(const struct load *l, struct load_span s, size_t *at);
void load_later(struct load *l, struct load_later what);
void load_resolve(struct load *l);

/* NULL, with a finding, when there is no such pattern. */
const struct access *load_check_access(struct load *l, struct slice name, struct place p);
/* How many patterns may be bound: room to leave after the last one. Before the second pass. */
size_t load_bound_count(const struct load *l);
/* pattern(parameter = attribute, …): the pattern that is made of it. *is: it is written so. */
const void *load_bind(struct load *l, const struct load_later *w, bool *is);

/* ---- after the second pass, in this order ---- */
/* Makes the patterns with bound parameters, which follow the others. */
void load_make_bound(struct load *l);
/* Names and types of the keys of the table and its indexes. */
void load_check_keys(struct load *l);
/* Before the second pass: makes the rule for everywhere a part of all others. */
void load_spread_everywhere(struct load *l);
/* The claims of logins are declared ones, of their type. */
void load_check_claims(struct load *l);
/* Its place in callers.claims, from 1; 0, with a finding, when there is none. */
size_t load_find_claim(struct load *l, struct slice name, struct place p);
/* Attributes that are references become requirements. */
void load_make_references(struct load *l);
/* The types of derived attributes, copies and references. */
void load_infer(struct load *l);
/* Counters that may be moved by fractions become numbers. Part of load_infer(). */
void load_fractions(struct load *l);
/* Numbers are taken from sequences, and nothing else moves a sequence. */
void load_check_sequences(struct load *l);
/* What `also` writes is complete, and does not lead to itself. */
void load_check_also(struct load *l);
/* Deletions and updates remove only attributes that can be removed. */
void load_check_removed(struct load *l);
/* What follows a rename can be given the new identity. */
void load_check_renames(struct load *l);
/* Attributes that name other items take the normal form of the identity they name. */
void load_refer(struct load *l);
/* Reports each attribute of the table's key for which there is neither a rule nor an attribute of `e`, which may be
 * NULL; `what` needs them. */
void load_needs_keys(struct load *l, const char *what, const struct entity *e, const struct key_rule *rules, size_t n,
		     struct place p);
/* Records on each attribute in which keys its copies are (struct keyed_copy). Only without errors, as the rest. */
void load_keyed(struct load *l);
/* A parameter that a filter compares with must be given, unless the filter says what happens without it. */
void load_require_filtered(struct load *l);
/* Files are set by clients only, and something notices when they are no longer used. */
void load_check_files(struct load *l);
/* Reports circles, and parameters that nothing gives. */
void load_sound(struct load *l);
/* Reports terms that can never work, and values that can never be what they are used for. */
void load_types(struct load *l);
/* Reports <x:ulid>, which is the bound of a range and no value of an item. */
void load_no_bounds(struct load *l, const struct template *t);
/* for: n in shards: how many there are. */
void load_shards(struct load *l);
/* Numbers all names, stores them where they are used, and gives each entity its slots. */
void load_names(struct load *l);
/* Notes what load_names() has to visit. */
void load_names_of_term(struct load *l, const struct term *t);
void load_names_of_template(struct load *l, const struct template *t);

/* ---- look-ups ---- */
/* The scope a term was read with; NULL: none, or the term is a literal. */
const struct load_scope *load_term_scope(struct load *l, const struct term *t);
/* Notes the scope of a term that the loader makes of terms it has read. */
void load_keep_scope(struct load *l, const struct term *t, const struct load_scope *scope);
/* NULL, with a finding, when there is no such entity. */
const struct entity *load_check_entity(struct load *l, struct slice name, struct place p);
void load_check_attribute(struct load *l, const struct entity *e, struct slice name, struct place p);
/* Whether it is an attribute of the entity, or one that its keys set. */
bool load_entity_has(const struct entity *e, struct slice name);

/* What `name` in name.x reads: old, input, or the rows of the loop whose variable it is. False: none of these. */
bool load_scope_inside(const struct load_scope *scope, struct slice name, struct load_scope *inner);
/* A name that a scope allows, and what it means: nothing is known, or one of these. */
struct load_meaning {
	struct slice name;
	const struct attribute *attribute;
	const struct template *template; /* of an item of the entity `of` */
	const struct entity *of;
	const struct term *let;
	bool number;
};
typedef bool load_name_fn(void *ctx, const struct load_meaning *x);
/* Calls `fn` for each until it returns true; returns whether it did. */
bool load_each_name(struct load *l, const struct load_scope *scope, load_name_fn *fn, void *ctx);
bool load_scope_has(struct load *l, const struct load_scope *scope, struct slice name);

#endif
