/* Terms: the one expression grammar of the design language (check, allow, when, filter, =, by, where).
 *
 * Grammar (words in any case; strings in single quotes):
 *   term    = or
 *   or      = and { "or" and }
 *   and     = not { "and" not }
 *   not     = "not" not | compare
 *   compare = sum [ ("=" | "<>" | "<" | "<=" | ">" | ">=") sum
 *                 | "in" "(" sum { "," sum } ")" | "between" sum "and" sum
 *                 | "is" [ "not" ] ("absent" | "present" | word) | "may" sum
 *                 | "begins with" sum | "contains" sum | "matches" 'text' ]
 *   sum     = product { ("+" | "-") ( product | number unit ) }   a timestamp plus 30 days; second, minute … year
 *   product = unary { ("*" | "/") unary }
 *   unary   = "-" unary | primary
 *   primary = 'text' | 12.5 | true | false | null | now | today | caller
 *           | "caller" "." name                             a claim of the caller's token
 *           | "exists" Entity "(" args ")"                  another item exists
 *           | "visible" Entity "(" args ")"                 exists, and the caller may read it
 *           | Entity "(" args ")" "." name                  an attribute of another item
 *           | function "(" args ")"                         term_call.c has them all
 *           | ("first" | "last") number "of" primary        the first n characters or elements
 *           | path | "(" term ")"
 *   path    = name { "." name | "[" number "]" }           attribute; old.x, input.x, or a loop variable
 *   args    = [ term { "," term } ]
 * A quote inside 'text' is written twice. first(n, x) is `first n of x`, first(x) the first element itself; so is
 * last. x + 30 days is later(x, 30, 'days').
 * `anyone` and `nobody` are true and false; `caller is admin` asks for a role, `caller is user` for any
 * logged-in caller; `caller may 'site:write'` for a permission.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_TERM_TERM_H
#define THORPE_DESIGN_TERM_TERM_H

#include "design/name.h"
#include "design/source/source.h"
#include "value/value.h"

struct attribute;
struct entity;
struct regex; /* regex.h */
struct row;

enum term_kind {
	TERM_LITERAL, /* value */
	TERM_PATH,    /* names, of, at */
	TERM_NOW,
	TERM_TODAY,
	TERM_CALLER,
	TERM_CLAIM, /* name, claim */
	TERM_NOT,
	TERM_NEGATE,
	TERM_AND,
	TERM_OR, /* args[0], args[1]; so all comparisons and arithmetic */
	TERM_EQ,
	TERM_NE,
	TERM_LT,
	TERM_LE,
	TERM_GT,
	TERM_GE,
	TERM_ADD,
	TERM_SUB,
	TERM_MUL,
	TERM_DIV,
	TERM_IN,      /* args[0] in args[1..] */
	TERM_BETWEEN, /* args[0] between args[1] and args[2] */
	TERM_PRESENT,
	TERM_ABSENT,
	TERM_BEGINS,
	TERM_CONTAINS,
	TERM_MATCHES, /* args[0], args[1]: a literal; regex */
	TERM_IS_ROLE, /* name: the role; args[0] is the caller */
	TERM_MAY,     /* args[0]: the permission */
	TERM_EXISTS,  /* name: the entity; args: its key values */
	TERM_VISIBLE, /* as EXISTS */
	TERM_FETCH,   /* name: the entity; args: its key values; attribute, at */
	TERM_CALL,    /* name, function; args */
	TERM_ALWAYS,
	TERM_NEVER, /* anyone, nobody */
};

/* What a path reads: x (a variable, attribute or parameter), old.x or input.x; in the second argument of sum(), any(),
 * all() and count() a member of the element */
enum term_of { TERM_OF_ITEM, TERM_OF_OLD, TERM_OF_INPUT, TERM_OF_ELEMENT };

enum term_function {
	CALL_SIZE,
	CALL_LOWER,
	CALL_UPPER,
	CALL_FIRST,
	CALL_WORDS,
	CALL_SLUG,
	CALL_MIN,
	CALL_MAX,
	CALL_DATE,
	CALL_EPOCH,
	CALL_POWER,
	CALL_ROUND,
	CALL_DAYS_AGO,
	CALL_HOURS_AGO,
	CALL_MINUTES_AGO,
	CALL_CHOOSE,
	CALL_LAST,
	CALL_MOD,
	CALL_FLOOR,
	CALL_CEIL,
	CALL_ABS,
	CALL_HASH,
	CALL_GEOHASH,
	CALL_TRIM,
	CALL_TEXT,
	CALL_REPLACE,
	CALL_JOIN,
	CALL_SPLIT,
	CALL_HOUR,
	CALL_WEEK,
	CALL_MONTH,
	CALL_YEAR,
	CALL_LATER,
	CALL_SUM,
	CALL_ANY,
	CALL_ALL,
	CALL_COUNT,
	CALLS,
};

struct term {
	enum term_kind kind;
	struct place place;
	struct value value;        /* LITERAL */
	struct slice name;         /* IS_ROLE, EXISTS, VISIBLE, FETCH, CALL, CLAIM */
	struct slice attribute;    /* FETCH */
	const struct slice *names; /* PATH: 1 or more; elements of lists as [0] */
	size_t name_count;
	enum term_of of;             /* PATH */
	enum term_function function; /* CALL */
	/* Set by the loader; NULL and 0 in a term parsed by itself. */
	const struct name *at;          /* PATH: x of x, old.x, input.x; FETCH: the attribute */
	const struct attribute *member; /* PATH of an element: what its first name is */
	bool inside;  /* PATH of several names: it leads into an attribute of the item, not of a loop's variable */
	size_t claim; /* CLAIM: its place in the design's list, from 1 */
	const struct regex *regex;   /* MATCHES */
	const struct entity *entity; /* EXISTS, VISIBLE, FETCH */
	bool fine;     /* NOW, days_ago() …: with milliseconds, because it meets a timestamp that has them */
	uint32_t once; /* from 1: numbers the parts of a rule that read no path and so are the same for all items */
	uint32_t once_count; /* of a rule: how many such parts */
	const struct term *const *args;
	size_t arg_count;
};

/* Whether the step of a path is an element of a list: [0]. */
static inline bool term_is_element(struct slice name)
{
	return name.n && name.p[0] == '[';
}

/* Its number. */
uint32_t term_element(struct slice step);

/* days_ago(), hours_ago(), minutes_ago(): they depend on the time. */
static inline bool term_is_ago(enum term_function f)
{
	return f >= CALL_DAYS_AGO && f <= CALL_MINUTES_AGO;
}

/* sum(), any(), all(), count(): the second argument is evaluated for each element. */
static inline bool term_is_each(enum term_function f)
{
	return f >= CALL_SUM && f <= CALL_COUNT;
}

/* The name that the term is and nothing else; NULL: it is something else. */
static inline const struct slice *term_name(const struct term *t)
{
	return t->kind == TERM_PATH && t->name_count == 1 ? &t->names[0] : NULL;
}

/* Parses the whole text, whose place in the file is `p`. NULL, with a finding, when it is not a term: bad-term,
 * unknown-function, wrong-arguments. A term's place covers it from its first to its last character. */
const struct term *term_parse(struct arena *a, struct slice text, struct place p, struct findings *f);
/* Whether a function has this name. */
bool term_is_function(struct slice name);
/* The term as normalised text, for documents and messages. */
void term_print(struct buf *b, const struct term *t);

/* The names of a path: address.zip, lines[0].sku. */
void term_print_path(struct buf *b, const struct slice *names, size_t n);

/* Calls visit() for the term and all terms in it, outermost first. */
void term_walk(const struct term *t, void (*visit)(void *ctx, const struct term *t), void *ctx);
/* Whether this is so of the term, or of one in it; `t` NULL: no. */
bool term_any(const struct term *t, bool (*is)(const void *ctx, const struct term *t), const void *ctx);
/* Whether it depends on more than its item: the caller, the time, other items, old values, the request. */
bool term_reads_more(const struct term *t);

/* ---- evaluation ---- */
struct term_variable {
	const struct name *at; /* NULL: compared by text */
	struct slice name;
	struct value value;
};

/* The remembered result of a part of a rule, which is used either as a value or as a condition. */
struct term_known {
	bool known, holds;
	struct value value;
};

/* A path is, first match: old.x · input.x · variable[.x…] · an attribute of the item · a parameter. */
struct term_scope {
	void *ctx;
	const struct row *item, *old, *input; /* row.h; NULL: none */
	bool body;                            /* the input is a request body: only input.x reads it */
	const struct term_variable *variables;
	size_t variable_count;
	/* Called when an attribute of the item is read, in terms that the loader has seen. May be NULL. */
	void (*reads)(void *ctx, const struct name *n, struct value v);
	/* Reads an item of another entity by its key values: whether it exists, and the attribute of a FETCH. False:
	 * error set. */
	bool (*fetch)(void *ctx, const struct term *t, const struct value *args, bool *there, struct value *v,
		      struct error *e);
	/* Whether the item exists and the caller may read it. NULL: only whether it exists. */
	bool (*visible)(void *ctx, const struct term *t, const struct value *args, bool *out, struct error *e);
	bool (*has_role)(void *ctx, struct slice role);
	bool (*may)(void *ctx, struct slice permission);
	struct slice caller;        /* the caller's subject; empty: anonymous */
	const struct value *claims; /* of the caller, as many as the design has; NULL: none */
	int64_t now_ms;
	struct arena *arena;
	struct value element; /* which sum(), any(), all() or count() is at */
	/* For a rule evaluated for many items, with one caller and time: term_remember(). NULL: nothing is
	 * remembered. */
	struct term_known *known;
};

/* What a path of these names reads; its value, absent when there is none. */
enum term_of term_path_of(const struct slice *names, size_t n);
/* What these steps lead to in a value; absent: nothing. */
struct value term_inside(struct value v, const struct slice *names, size_t n);
struct value term_path(const struct term_scope *s, const struct slice *names, size_t n, enum term_of of,
		       const struct name *at);

/* As in DynamoDB, comparisons with an absent value or between different types are false (but <> is true), and
 * arithmetic with an absent value is absent. A value holds when it is the BOOL true. A function applied to a type it
 * does not support is absent. lower, upper and slug of a list or set of strings are lists; words() takes texts, lists
 * and sets and returns a list of distinct words without stop words. A sum or product that needs more than 38 digits is
 * rounded. An item whose identity is partly absent does not exist. + joins two strings. A division by zero is absent.
 * Errors: those of fetch; VALIDATION when operands of + - * / are no numbers, and for results outside a number's
 * range. */
bool term_value(const struct term *t, const struct term_scope *s, struct value *out, struct error *e) MUST_CHECK;
bool term_holds(const struct term *t, const struct term_scope *s, bool *out, struct error *e) MUST_CHECK;
/* From now on the scope remembers parts that read no path (caller, caller is admin, days_ago(7), User(caller).status):
 * they are evaluated once, when first needed, for all items that the scope is used for. */
void term_remember(const struct term *rule, struct term_scope *s);
/* Numbers these parts: for the loader, and for rules made otherwise. */
void term_prepare(struct term *rule);

/* ---- as a condition of DynamoDB's ---- */
struct test; /* expr/build.h */
/* Made in the scope's arena. Paths are the item's attributes and what is inside them; everything else (caller, now, input.x, also
 * functions, arithmetic and other items that involve no attribute of the item) is evaluated now. Parts whose result is
 * known are simplified away; if the whole result is known, the test always or never holds.
 * False: DynamoDB has no such condition (term_can_filter()), and *why says so; or evaluation failed: *why is NULL and
 * the error is set. */
bool term_to_test(const struct term *t, const struct term_scope *s, const struct test **out, const char **why,
		  struct error *e) MUST_CHECK;
/* The same question without a scope, for thorpe check. */
bool term_can_filter(const struct term *t, const char **why);
/* The innermost part of the term that no filter can express, for its place; NULL: none. */
const struct term *term_unfilterable(const struct term *t, const char **why);

#endif
