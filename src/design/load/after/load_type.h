/* The types of terms, computed when a design is loaded. Private to design/load.
 *
 * A type is the set of kinds of values that a term can have, besides being absent. Where nothing is known it is
 * TYPE_ANY, so only terms that can never work are refused.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_LOAD_LOAD_TYPE_H
#define THORPE_DESIGN_LOAD_LOAD_TYPE_H

#include "design/load/load.h"

enum type_kind {
	TYPE_TEXT = 1,
	TYPE_TIME = 2, /* a timestamp: RFC 3339, as a string */
	TYPE_DATE = 4, /* YYYY-MM-DD, as a string */
	TYPE_NUMBER = 8,
	TYPE_BOOLEAN = 16,
	TYPE_LIST = 32,
	TYPE_SET = 64,
	TYPE_MAP = 128,
	TYPE_BINARY = 256,
	TYPE_NULL = 512,
	TYPE_FINE = 1024, /* a timestamp with milliseconds, as a string; now is both, TIME and FINE */
	TYPE_MOMENT = TYPE_TIME | TYPE_FINE,
	TYPE_STRING = TYPE_TEXT | TYPE_MOMENT | TYPE_DATE,
	TYPE_ORDERED = TYPE_STRING | TYPE_NUMBER | TYPE_BINARY,
	TYPE_ANY = 2047,
};

struct term_type {
	unsigned is;                /* of enum type_kind */
	unsigned element;           /* of lists and sets */
	const struct attribute *of; /* the attribute it is a bare reference to; NULL: computed, or several */
};

/* A term being typed. */
struct typing {
	struct load *l;
	const struct load_scope *scope;
	struct slice subject_of; /* the attribute the term is for; empty: none */
	bool quiet;              /* report nothing */
	int depth;               /* of `let` that name one another */
};

struct term_type type_of_attribute(const struct attribute *a);
/* The type of a path. */
struct term_type type_of_path(struct typing *y, const struct term *t);
/* Also reports parts that cannot work. */
struct term_type type_of_term(struct typing *y, const struct term *t);
/* Whether one can be compared with the other. */
bool type_comparable(unsigned x, unsigned y);
/* The term is a timestamp with milliseconds where it has a choice: now, days_ago() and texts. */
void type_refine(struct typing *y, const struct term *t);
/* "a number", "a text or a list"; for messages. */
const char *type_name(struct arena *a, unsigned is);
struct finding *type_error(struct typing *y, struct place p, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Reports an argument that can never be this part of the entity's identity; `a` NULL: its type is unknown. */
void type_check_argument(struct typing *y, const struct entity *e, const struct attribute *a, const struct term *arg);

/* Reports placeholders that lead to nothing, as <address.zop>. */
void type_check_template(struct load *l, const struct load_template *t);

#endif
