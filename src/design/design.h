/* A design: the whole of one YAML file, loaded and resolved. Immutable once loaded; lives in its arena.
 *
 * Loading reports everything it finds (source.h) and succeeds when there are no errors. Every element keeps its
 * place, for `thorpe check` and for messages. docs/design-language.md explains each concept.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_DESIGN_H
#define THORPE_DESIGN_DESIGN_H

#include "design/name.h"
#include "design/term/template.h"
#include "design/term/term.h"
#include "table/schema.h"

/* ---- accept: {rule: reason} on a table, index, entity, access pattern or processor ---- */
/* a finding of `thorpe check` that the author accepts, with the reason */
struct acceptance {
	struct slice rule, reason;
	struct place place;
};

struct accepted {
	const struct acceptance *list;
	size_t count;
};

/* ---- attributes ---- */
enum attr_type {
	ATTR_STRING,
	ATTR_TEXT,
	ATTR_NUMBER,
	ATTR_INTEGER,
	ATTR_BOOLEAN,
	ATTR_TIMESTAMP,
	ATTR_EPOCH,
	ATTR_LIST,
	ATTR_SET,
	ATTR_MAP,
	ATTR_BINARY,
	ATTR_ENUM,
};

/* What a string looks like, besides its length. */
enum attr_form { FORM_FREE, FORM_EMAIL, FORM_URL, FORM_SLUG, FORM_NAME };

struct reference;
struct regex; /* term/regex.h */
struct access;
struct slots;
struct map;

/* Goes through an array: EACH (struct attribute, a, e->attributes, e->attribute_count) … */
#define EACH(type, var, list, n) \
	for (const type *var = (list), *var##_end = (n) ? var + (n) : var; var != var##_end; var++)

/* a key that contains a copy of an attribute, `kept by` a pattern */
struct keyed_copy {
	const struct template *template; /* the copy's placeholder alone, named after the source attribute */
	bool each;                       /* applies to each element */
	struct slice entity;             /* the entity with the copy */
};

/* The members of a map: of `types`, or written where it is used. */
struct structure {
	struct slice name; /* empty: it is written where it is used */
	struct place place;
	const struct attribute *members; /* types, ranges, choices, forms, `required`, `lower`, constant defaults */
	size_t member_count;
	bool open; /* `other members: anything` */
	int depth; /* of structures in it; 1: none */
};
#define STRUCTURE_DEPTH_MAX 8

/* A file that is kept beside the table (app/file/file.h). The value is a map: its id, type, size, perhaps its name. */
struct file_rule {
	const struct slice *types; /* image/png, or all of a kind: image/ and a star */
	size_t type_count;         /* 0: any */
	int64_t most;              /* bytes */
};
#define FILE_MOST_BYTES (INT64_C(1) << 30)
#define FILE_TYPE_MOST  100 /* characters of a media type */
#define FILE_NAME_MOST  200 /* characters of a file's name */

struct attribute {
	struct slice name;
	struct slice group, word; /* of a counter in a map, named group.word; empty: none */
	struct slice was;         /* its name in the design before this one; empty: the same, or it is new */
	const struct name *at;    /* the same name as a number (name.h), as every `at` here */
	struct place place;
	enum attr_type type;
	enum attr_type element;          /* LIST, SET; ATTR_MAP for lists of anything, and of structures */
	const struct structure *members; /* MAP: it has these; NULL: anything, or `each` */
	const struct attribute *each; /* LIST of structures, `map of T`: what each value is, without a name; NULL: no such type */
	const struct file_rule *file; /* MAP: of a file; NULL: it is none */
	enum attr_form form;          /* STRING; of LIST and SET each element's */
	bool fine;                    /* TIMESTAMP: with milliseconds; of LIST each element */
	const struct regex *matches;  /* STRING, TEXT; of LIST and SET each element. NULL: any text */
	const char *matches_says;     /* "a text that matches …" */
	const struct slice *choices;  /* ENUM */
	size_t choice_count;
	bool required, id, now, touched, counter, fixed, lower, hidden, private_, compressed, the_caller;
	bool sequence;          /* a counter that moves only when a number is taken from it */
	bool managed;           /* set by actions, processors and operators, never by a body of create or update */
	bool last_writer;       /* the caller of each write; absent when the server itself wrote last */
	bool unique;            /* a companion must guard it */
	bool from_key;          /* not stored: read from the item's key */
	bool in_address;        /* part of the entity's identity: must fit into its path */
	struct slice id_prefix; /* id 'usr_' */
	bool has_min, has_max;
	double min, max;             /* range of a number; length of a string, text, list or set */
	const struct term *default_; /* NULL: none */
	const struct term *derived;  /* = term */
	/* copy of E(ref).attr if term */
	struct slice copy_entity, copy_attribute;
	const struct entity *copy_of; /* copy_entity; NULL: no copy */
	const struct name *copy_at;   /* copy_attribute */
	const struct term *copy_if;   /* a condition on the source's own attributes; NULL: none */
	const struct term *const *copy_args;
	size_t copy_arg_count;
	struct slice kept_by;             /* the access pattern that finds the copies; empty: none */
	const struct access *kept_access; /* that pattern; NULL: none */
	const struct keyed_copy *keyed;   /* keys with copies of this attribute, which must accept its values */
	size_t keyed_count;
	/* next of E(args).attr: managed and fixed */
	const struct reference *next; /* NULL: none */
	struct slice next_attribute;
	/* N days after x */
	struct slice after; /* the timestamp's name; empty: none */
	const struct name *after_at;
	int64_t after_seconds;
	const struct term *when; /* present only when this holds; NULL: always */
	/* reference to E, E(args): its type is that of the part of E's identity that it is. Of a list
	 * or set each element is a reference, and in `refers` the variable of a loop (requirement.each) */
	const struct reference *refers; /* NULL: none */
	size_t refers_part;             /* which argument it is */
	bool may_be_missing;            /* nothing asks whether the item exists */
	bool tree;                      /* the item is of the same kind: its parent */
	/* It names an item whose identity is `lower`, and is stored in lower case: always (then `lower`), or while one
	 * of these holds */
	const struct term **lower_when;
	size_t lower_when_count;
};

/* ---- keys ---- */
/* one attribute = one template, under a condition */
struct key_rule {
	struct slice attribute; /* PK, GSI1SK, entityType… any attribute computed from a template */
	const struct name *at;
	const struct template *template;
	const struct term *when; /* NULL: always */
	struct place place;
};

/* ---- companions ---- */
struct companion {
	struct place place;
	struct slice name;          /* for messages and the console; may be empty */
	struct slice unique;        /* attribute whose uniqueness it guards; empty: none */
	struct slice each_variable; /* for: x in list */
	const struct name *each_at;
	const struct term *each_list;
	const struct term *when;
	const struct key_rule *rules; /* PK, SK and every other attribute it carries */
	size_t rule_count;
};

/* ---- references to other items ---- */
/* E(args) */
struct reference {
	struct slice entity;
	const struct entity *to;        /* that entity */
	const struct term *const *args; /* values of the entity's path parameters, in their order */
	size_t arg_count;
	struct place place;
};

/* for: x in list */
struct each_rule {
	struct slice variable; /* empty: once, without a list */
	const struct name *at;
	const struct term *list;
};

/* E(args).attribute by term when term */
struct count_rule {
	struct reference target;
	struct each_rule each;
	struct slice attribute;
	const struct name *at;
	const struct term *key; /* while it is loaded: attribute[key] */
	const struct term *by;  /* NULL: 1 */
	const struct term *when;
	const struct term *if_; /* a condition on the target, besides its existence; NULL: none */
};

/* E(args) [when term] [if term]: sentence */
struct requirement {
	struct reference target;
	struct each_rule each;
	const struct term *when;
	const struct term *if_;
	struct slice sentence;      /* empty: a standard one */
	const struct attribute *of; /* made by that reference; NULL: it is written as a requirement */
};

struct check_rule {
	const struct term *term;
	bool of_counter; /* it reads a counter of the item */
	struct slice sentence;
	struct place place;
};

enum allow_verb { ALLOW_CREATE, ALLOW_READ, ALLOW_UPDATE, ALLOW_DELETE, ALLOW_LIST, ALLOW_VERBS };
extern const char *const allow_verb_names[ALLOW_VERBS];

/* attribute: term */
struct assignment {
	struct slice attribute;
	const struct name *at;
	const struct term *term;
	struct place place;
};

enum event_kind { ON_CREATED = 1, ON_UPDATED = 2, ON_DELETED = 4 };

/* also: another item that is written in the same transaction, by the rules of its entity */
enum also_kind { ALSO_PUT, ALSO_UPDATE, ALSO_DELETE };
extern const char *const also_kind_names[];
struct also_rule {
	struct place place;
	int events; /* enum event_kind: of the item; 0: whenever the action is done */
	enum also_kind kind;
	struct slice target;     /* the entity that is written */
	struct reference to_ref; /* UPDATE, DELETE: which item */
	const struct entity *to; /* target */
	struct each_rule each;
	const struct term *when;
	const struct assignment *with; /* PUT, UPDATE: attributes */
	size_t with_count;
	const struct assignment *add; /* UPDATE: counters, and by how much they move */
	size_t add_count;
};

struct action {
	struct slice name; /* POST …/<name> */
	struct place place;
	const struct term *when; /* must hold before, or the action fails with 409 and `otherwise` */
	struct slice otherwise;
	const struct term *allow; /* NULL: as update */
	const struct assignment *set;
	size_t set_count;
	const struct slice *remove;
	const struct name *const *remove_at;
	size_t remove_count;
	const struct slice *append; /* lists that the body has more elements of; also in `input`, as the next */
	const struct name *const *append_at;
	size_t append_count;
	const struct slice *cut; /* remove at: lists of which the body says which element to remove */
	const struct name *const *cut_at;
	size_t cut_count;
	const struct slice *input; /* attributes the body may set */
	const struct name *const *input_at;
	size_t input_count;
	const struct requirement *requires;
	size_t require_count;
	const struct assignment *add; /* counters moved by the value of a term */
	size_t add_count;
	const struct also_rule *also;
	size_t also_count;
	int64_t gather_seconds;       /* of an action that only adds: written once per interval; 0: at once */
	bool creates;                 /* creates the item if there is none: blocking a user who does not follow */
	const struct slice *patterns; /* ids */
	size_t pattern_count;
};

struct delete_rule {
	bool soft; /* set / remove instead of deleting */
	const struct assignment *set;
	size_t set_count;
	const struct slice *remove; /* attributes to remove; only with `set` */
	const struct name *const *remove_at;
	size_t remove_count;
	const struct slice *refuse_while; /* access patterns that must return nothing */
	const struct access *const *refuse_access;
	size_t refuse_count;
	const struct slice *then_remove; /* access patterns whose items the keeper removes, too */
	const struct access *const *then_access;
	size_t then_count;
	struct place place;
};

/* what goes along when an item gets another identity */
struct rename_rule {
	const struct slice *then_move; /* access patterns whose items get the new one, too */
	const struct access *const *then_access;
	size_t then_count;
	struct place place;
};

/* a claim of the login's tokens: an attribute of the account */
struct login_claim {
	struct slice claim, attribute;
	size_t index; /* in callers.claims, from 1 */
	const struct name *at;
	struct place place;
};

/* a text with placeholders: <token>, <expires>, <title>, or an attribute of the account */
struct letter_part {
	enum letter_is { LETTER_LITERAL, LETTER_TOKEN, LETTER_EXPIRES, LETTER_TITLE, LETTER_ATTRIBUTE } is;
	struct slice text; /* the literal, or the name of the attribute */
	const struct name *at;
};
struct letter_text {
	const struct letter_part *parts; /* none: not given */
	size_t count;
};
struct letter {
	struct letter_text subject, text;
};

/* mail: {to, address, verified, reset, proof, letters}: single-use tokens that are sent to the account's address */
struct login_mail {
	struct slice to, secret; /* the webhook that sends mail, empty: --smtp; signs it, empty: the design's own */
	struct letter reset_letter, proof_letter; /* for --smtp */
	struct slice address, verified; /* attributes: where it goes; that the address is proved, empty: none */
	const struct name *address_at, *verified_at;
	int64_t reset_seconds, proof_seconds; /* validity of the tokens */
	struct place place;
};

struct login {
	bool present;
	struct place place;
	const struct slice *by; /* attributes that identify a caller */
	size_t by_count;
	struct slice password;         /* hidden attribute of the entity itself holding the hash; or: */
	const struct key_rule *secret; /* keys of a separate credentials item (PK, SK) */
	size_t secret_count;
	struct slice subject; /* attribute that becomes the token's sub */
	struct slice role;    /* attribute that holds the role; empty: none */
	const struct name *const *by_at;
	const struct name *password_at, *subject_at, *role_at;
	const struct term *when; /* a condition on the account; NULL: none */
	int64_t session_seconds; /* a session lives on by renewal, and ends so long after the last one; 0: no renewal */
	int64_t token_seconds;   /* validity of a token */
	const struct login_claim *claims;
	size_t claim_count;
	struct login_mail mail;       /* its address empty: none */
	const struct slice *patterns; /* ids */
	size_t pattern_count;
};

struct entity {
	struct slice name;
	struct slice was; /* its name in the design before this one; empty: the same, or it is new */
	struct place place;
	struct slice path; /* /users/<user_id> */
	const struct template *path_template;
	const struct slice *params; /* the path's placeholders, in order: the entity's identity */
	const struct name *const *param_at;
	size_t param_count;
	const struct slots *slots; /* of its items (slots.h) */
	const struct attribute *attributes;
	size_t attribute_count;
	const struct key_rule *keys;
	size_t key_count;
	const struct companion *companions;
	size_t companion_count;
	const struct count_rule *counts;
	size_t count_count;
	const struct requirement *requires;
	size_t require_count;
	/* `lives while`: processors put an item only while all of these hold, and remove it only while one does not */
	const struct requirement *lives;
	size_t lives_count;
	const struct check_rule *checks;
	size_t check_count;
	const struct also_rule *also;
	size_t also_count;
	const struct term *allow[ALLOW_VERBS]; /* NULL: only operators */
	/* The rule for everywhere, already a part of `allow`, for what no `allow` decides. NULL: none, or exempt */
	const struct term *everywhere;
	bool everywhere_moves;  /* it must also hold for the item as an update leaves it */
	bool everywhere_begins; /* it must also hold for an item that is written together with another one */
	const struct action *actions;
	size_t action_count;
	struct delete_rule delete_;
	struct rename_rule rename;
	bool is_renamed; /* its items can be given up names that others still use: `rename` is said of it, or it follows */
	struct login login;
	struct slice version; /* attribute that If-Match compares: updated_at or a version counter */
	const struct name *version_at;
	struct slice found_by; /* access pattern that completes the key when the identity does not; empty: none */
	const struct access *found_access; /* the same */
	bool internal;                     /* no routes of its own: written by companions and processors only */
	const struct attribute *show; /* what its own read shows besides the item: `derived`, and its inferred type */
	size_t show_count;
	bool may_expire; /* its items can have the ttl attribute */
	/* access pattern ids that creating, updating, deleting and reading by key serve: "W-A17" */
	const struct slice *patterns[ALLOW_VERBS];
	size_t pattern_count[ALLOW_VERBS];
	struct accepted accepts;
};

/* ---- access patterns ---- */
enum access_kind { ACCESS_GET, ACCESS_QUERY, ACCESS_MERGE, ACCESS_BATCH };
enum where_op { WHERE_EQ, WHERE_BEGINS, WHERE_BETWEEN, WHERE_LT, WHERE_LE, WHERE_GT, WHERE_GE };

struct where_rule {
	struct slice attribute;
	const struct name *at;
	enum where_op op;
	const struct template *value, *upper;
	bool optional; /* left out when a parameter is not given: [from, to] windows */
	struct place place;
};

/* hydrate by BatchGetItem */
struct then_rule {
	struct slice entity;         /* whose items are fetched; empty: follow keys alone */
	const struct entity *of;     /* the same */
	const struct key_rule *keys; /* PK and SK from each row */
	size_t key_count;
	const struct term *keep; /* drop fetched items for which this does not hold */
};

struct access {
	struct slice name; /* "user posts" */
	struct place place;
	const struct slice *ids; /* "S-A02" */
	size_t id_count;
	struct slice path; /* empty: no route; for found by, then remove… */
	const struct template *path_template;
	const struct slice *params; /* of the path; without one: of where, in order */
	const struct name *const *param_at;
	size_t param_count;
	const struct attribute *query_params; /* further parameters in the query string */
	size_t query_param_count;
	enum access_kind kind;
	struct slice entity;              /* what it returns; empty: worked out from the keys */
	const struct entity *of;          /* the same */
	struct reference get;             /* GET: by the entity's identity; or where[] with full keys */
	struct slice index;               /* QUERY: empty: the table */
	const struct design_index *from;  /* the same; NULL: the table */
	const struct key_schema *key;     /* of the index or the table */
	const struct name *const *key_at; /* the same, hash before range */
	size_t key_count;
	const struct where_rule *where;
	size_t where_count;
	const struct term *filter;
	const struct term *allow; /* who may call it, besides the rules of its rows; NULL: anyone who may see a row */
	bool shows_all;           /* shows: all rows. Callers that `allow` admits see rows that their own rules hide */
	struct place shows_place;
	bool bound; /* a copy of a pattern, with attributes of an item as its parameters (load_bound.c): it has no route */
	bool descending, consistent, count_only, single;
	struct slice order; /* as written: "newest first"; empty: none */
	int64_t limit;      /* default page; 0: 20 */
	int64_t cache_seconds;
	struct then_rule then;
	bool has_then;
	/* merge: */
	struct slice merge_pattern, merge_over;      /* run merge_pattern for each row of merge_over */
	const struct access *merge_run, *merge_rows; /* the same */
	const struct assignment *merge_with;         /* its parameters from the row */
	size_t merge_with_count;
	struct slice merge_by; /* attribute the rows are ordered by */
	const struct name *merge_by_at, *merge_else_at;
	/* merge over a range of numbers: for n in 1..5 */
	struct slice range_variable;
	const struct name *range_at;
	int64_t range_from, range_to;
	bool range_shards; /* for: n in shards; the range is that of the keys */
	/* merge over a list: for word in words(input.q); range_variable is each element */
	const struct term *range_list;
	bool merge_in_all;    /* one row for each value of merge_by that every run returns */
	int64_t merge_levels; /* down a tree: so many levels and the start itself; 0: rows alone */
	/* walk: */
	struct slice walk_param;
	const struct name *walk_at;
	enum time_unit walk_unit;
	int64_t walk_step, walk_times; /* one day back, 7 times: -1; one month on: 1 */
	/* rank: */
	const struct term *rank;
	int64_t rank_keep; /* 0: each page is ordered by itself */
	bool operators_only;
	const struct slice *without; /* attributes left out of the rows */
	const struct name *const *without_at;
	size_t without_count;
	const struct attribute *show; /* what rows show besides the item: `derived`, and its inferred type */
	size_t show_count;
	const struct slice *merge_of;            /* merge: several patterns as one list, by merge_by, else merge_else */
	const struct access *const *merge_parts; /* the same */
	size_t merge_of_count;
	struct slice merge_else;
	struct slice tree_parent, tree_by; /* tree: rows nested under the one they name; empty: flat */
	struct slice unite;                /* the union of this list attribute instead of the rows; empty: no */
	const struct name *tree_parent_at, *tree_by_at, *unite_at;
	const struct slice *actions; /* of the rows, that can be done to all of them at once */
	size_t action_count;
	struct accepted accepts;
};

/* ---- processors ---- */
enum effect_kind {
	EFFECT_PUT,
	EFFECT_UPDATE,
	EFFECT_DELETE,
	EFFECT_COUNT,
	EFFECT_SEND,
	EFFECT_REMOVE_ALL,
	EFFECT_UPSERT,
};

/* highest: {score: points, at: played}: the first attribute keeps the highest (or lowest) value, and the others are set
 * together with it */
struct extreme {
	const struct assignment *list;
	size_t count;
	bool lowest;
	struct place place;
};

/* One effect of a processor. The effects of one processor follow one another in the design; all but what describes the
 * effect is the same in each. */
struct processor {
	struct slice name;
	size_t parts; /* of the first effect: how many there are; of the others 0 */
	struct place place;
	struct slice entity;
	const struct entity *of; /* that entity */
	int events;
	/* every: instead of `on`, at these times (UTC): offset + n * seconds since 1970 */
	int64_t every_seconds, every_offset; /* 0: on changes */
	struct slice every;                  /* as written */
	const struct term *when;
	const struct assignment *let;
	size_t let_count;
	const struct term *only_when; /* of this effect alone: asked for each row; NULL: always */
	struct slice each_variable, each_pattern;
	const struct term *each_list; /* a list of the item instead of a pattern; NULL: none */
	const struct name *each_at;
	const struct assignment *each_with;
	size_t each_with_count;
	enum effect_kind effect;
	struct slice target;                /* entity put, updated, deleted, or counted on; pattern for REMOVE_ALL */
	const struct entity *target_entity; /* the former */
	const struct access *target_access; /* the latter */
	const struct access *rows_access;   /* each_pattern, or without one target_access; NULL: there is one row */
	struct reference target_ref;        /* UPDATE, DELETE, COUNT, UPSERT */
	struct slice target_attribute;      /* COUNT */
	const struct name *target_at;       /* the same */
	const struct term *by;              /* COUNT; NULL: 1 */
	const struct assignment *with;      /* attributes of the target; parameters of the pattern for REMOVE_ALL */
	size_t with_count;
	const struct assignment *add; /* UPSERT: numbers that are added to */
	size_t add_count;
	const struct extreme *extremes; /* UPSERT */
	size_t extreme_count;
	struct slice send_url;    /* empty: nothing is sent */
	struct slice send_secret; /* signs a webhook; empty: the design's own */
	bool send_opensearch;
	struct accepted accepts;
};

/* ---- the design ---- */
struct design_index {
	struct slice name;
	struct place place;
	struct key_schema key;
	enum projection_kind projection;
	const struct slice *include;
	size_t include_count;
	struct accepted accepts;
};

/* caller.tenant */
struct claim {
	struct attribute attribute; /* its name and type; `at` is the name "caller.tenant" in templates */
	struct slice from;          /* of the outside issuer's claim */
};

struct callers {
	struct place place;
	const struct claim *claims;
	size_t claim_count;
	struct slice issuer, jwks, subject_claim, groups_claim; /* outside issuer; empty issuer: own accounts */
	const struct slice *audiences; /* a token of the issuer must name one of these; none: all its tokens are accepted */
	size_t audience_count;
	const struct slice *roles;
	size_t role_count;
	/* permissions: Entity.attribute through pattern(with) by ref */
	struct slice permissions_entity, permissions_attribute, permissions_ref;
	const struct access *permissions_access; /* the same, in this order */
	const struct entity *permissions_of;
	const struct name *permissions_at, *permissions_ref_at;
	const struct assignment *permissions_with;
	size_t permissions_with_count;
};

/* everywhere: a rule in addition to those of each entity */
struct exception {
	const struct entity *entity;
	unsigned verbs; /* bits 1 << enum allow_verb; all: the entity */
	struct slice reason;
	struct place place;
};

struct everywhere {
	const struct term *rule; /* that of some entity: each has its own copy. NULL: none */
	const struct exception *exceptions;
	size_t exception_count;
	struct place place;
};

struct traffic_rule {
	struct slice pattern; /* access pattern, or "create Post" */
	double per_second;
	struct place place;
};

struct design {
	struct source source;
	const struct structure *types; /* in the order of the file */
	size_t type_count;
	struct slice name, title, table;
	struct place table_place, ttl_place;
	struct key_schema key;
	const struct design_index *indexes;
	size_t index_count;
	enum stream_view stream;
	struct slice ttl;
	const struct name *ttl_at;             /* NULL: none */
	const struct name *key_at[2];          /* of the table: hash, range; NULL: none */
	const struct name *caller_at, *age_at; /* the runtime's variables: `caller` in templates, `age` in a rank */
	const struct name *const *key_names;   /* of the table and its indexes, in this order, each once */
	size_t key_name_count;
	size_t name_count;         /* of attributes, keys, parameters and variables */
	const struct map *by_name; /* by text: design_named() */
	bool provisioned;
	int64_t read_units, write_units;
	struct callers callers;
	const struct entity *entities;
	size_t entity_count;
	const struct access *accesses;
	size_t access_count;
	const struct processor *processors;
	size_t processor_count;
	struct everywhere everywhere;
	const struct traffic_rule *traffic;
	size_t traffic_count;
	struct accepted accepts;
};

/* Loads a file's text. NULL when there are errors among the findings. `env` gives ${NAME}; NULL: getenv(). */
const struct design *design_load(struct arena *a, struct source s, const char *(*env)(void *ctx, const char *name),
				 void *env_ctx, struct findings *f);
/* Appends a JSON Schema of design files, for editors: from the rows that design_load() reads with. */
void design_schema(struct buf *b);
/* Reads the file, then design_load(). */
const struct design *design_load_file(struct arena *a, const char *path, struct source *s, struct findings *f);

/* All of these return NULL when there is none of that name. */
const struct name *design_named(const struct design *d, struct slice text);
const struct entity *design_entity(const struct design *d, struct slice name);
const struct access *design_access(const struct design *d, struct slice name);
const struct design_index *design_index(const struct design *d, struct slice name);
const struct action *entity_action(const struct entity *e, struct slice name);
const struct attribute *entity_attribute(const struct entity *e, struct slice name);
/* Where new items of the entity are POSTed to: its path without the placeholders at its end; the path itself if there
 * are none. */
struct slice entity_collection(const struct entity *e);
bool attribute_is_number(const struct attribute *a);
/* Whether the index's projection has an attribute that is not a key. */
bool index_carries(const struct design_index *x, struct slice name);
/* NULL: the structure has no such member. */
const struct attribute *structure_member(const struct structure *s, struct slice name);
/* What a step into a value of the attribute leads to: a member, each value of a map or, with `element`, of a list.
 * NULL: nothing is known of it, *wrong: it has no such part. */
const struct attribute *attribute_inside(const struct attribute *a, struct slice name, bool element, bool *wrong);
/* Whether values of the attribute have a structure: they are checked inside. */
static inline bool attribute_is_structured(const struct attribute *a)
{
	return a->members || a->each;
}
/* The attribute that the reference is a value of: a part of the other item's identity. NULL: it is no reference, or not
 * resolved yet. */
const struct attribute *attribute_referred(const struct attribute *a);
/* Whether each element of the attribute is a reference, not the attribute. */
static inline bool attribute_has_references(const struct attribute *a)
{
	return a->refers && (a->type == ATTR_LIST || a->type == ATTR_SET);
}
/* What files the attribute holds, itself or as a list of them; NULL: none. */
static inline const struct file_rule *attribute_file(const struct attribute *a)
{
	return a->type == ATTR_LIST && a->each ? a->each->file : a->file;
}
/* Whether some attribute of the entity holds files. */
bool entity_has_files(const struct entity *e);
/* The same of some entity. */
bool design_has_files(const struct design *d);
/* Whether the rule allows the type, which is in lower case. */
bool file_rule_allows(const struct file_rule *f, struct slice type);
/* "image/png or image/webp of at most 5 MB" */
struct slice file_rule_text(struct arena *a, const struct file_rule *f);
/* Whether it tells items apart for ever: unique, and it never changes. NULL: no. */
static inline bool attribute_is_id(const struct attribute *a)
{
	return a && a->fixed && (a->id || a->unique);
}
/* Whether the pattern has a parameter of this name, in its path or its query string. */
bool access_has_parameter(const struct access *a, const struct name *n);
/* Whether the list assigns to an attribute of this name. */
bool is_assigned(const struct assignment *list, size_t n, struct slice attribute);
/* Whether an effect sets the attribute of its target, or adds to it. */
bool effect_sets(const struct processor *p, struct slice attribute);
/* Whether `is` holds for some rule under `also`, of an entity or one of its actions. */
typedef bool also_is(const void *ctx, const struct entity *from, const struct also_rule *x);
bool design_any_also(const struct design *d, also_is *is, const void *ctx);
/* Whether some rule under `also` puts such an item. */
bool design_also_puts(const struct design *d, const struct entity *e);
/* Whether some rule under `also` gives or moves the attribute. */
bool design_also_sets(const struct design *d, const struct entity *e, struct slice attribute);
/* Whether a new item takes a number from a sequence. */
bool entity_takes(const struct entity *e);
/* Whether the attribute is part of the table's own key; of any key, also of an index. */
bool design_is_table_key(const struct design *d, struct slice name);
bool design_is_key(const struct design *d, struct slice name);
/* Whether the reference names an item by attributes of the entity, so that they can follow when that item is renamed. */
bool reference_follows(const struct entity *e, const struct reference *r);
/* The i-th reference (requires, counts) by which items of the entity follow one of `to`; NULL after the last. */
const struct reference *entity_follows(const struct entity *e, const struct entity *to, size_t i);
/* The source of a copy; its entity is empty when the attribute is not a copy. */
struct reference attribute_source(const struct attribute *a);
/* The entity and the verb of "create Post" or "publish Post"; NULL: it is the name of an access pattern. */
const struct entity *design_call(const struct design *d, struct slice call, struct slice *verb);

/* Adds the findings of all check rules (`thorpe check`). */
void design_check(const struct design *d, struct findings *f);
/* The same, including accepted findings, whose `accepted` is the reason. */
void design_check_all(const struct design *d, struct findings *f);
/* The name of the i-th rule of design_check(); NULL after the last. */
const char *design_check_name(size_t i);

#endif
