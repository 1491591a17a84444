/* Shared by the parts of diff.h. Private to evolve/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EVOLVE_DIFF_INTERNAL_H
#define THORPE_EVOLVE_DIFF_INTERNAL_H

#include "design/source/yaml.h"
#include "evolve/diff.h"

struct differ {
	struct arena *a;
	const struct design *before, *after;
	struct diff_change *list;
	size_t count, room;
};

/* one entity in both designs, and where each is written */
struct diff_pair {
	const struct entity *from, *to;
	const struct yaml *was, *is; /* its map of words */
};

/* Adds a change; the caller fills in the rest. The pointer is good until the next one. */
struct diff_change *diff_add(struct differ *x, enum diff_need need, enum diff_act act, struct slice subject);
/* The same with both texts; the place is that of `is`, or of `was`. Which of them is NULL says what was done. */
struct diff_change *diff_add_both(struct differ *x, enum diff_need need, struct slice subject, const struct yaml *was,
				  const struct yaml *is);

/* ---- text ---- */
/* The value of the word; NULL: `map` is no map, or does not have it. */
const struct yaml *diff_word(const struct yaml *map, struct slice word);
/* In one line; NULL: empty. */
struct slice diff_flat(struct arena *a, const struct yaml *y);
/* Whether both say the same, whatever their layout and the order of a map; both may be NULL. */
bool diff_same(const struct yaml *a, const struct yaml *b);
/* A text of an entity of the design before, with the names that its parts have now. `p` NULL: of no entity. */
struct slice diff_renamed(const struct differ *x, const struct diff_pair *p, struct slice text);
/* diff_same() with the names that the parts of `was` have now. */
bool diff_same_now(const struct differ *x, const struct diff_pair *p, const struct yaml *was, const struct yaml *is);
/* Whether a term before says what one says now. */
bool diff_same_term(const struct differ *x, const struct diff_pair *p, const struct term *was, const struct term *is);

/* ---- parts ---- */
void diff_entity(struct differ *x, const struct diff_pair *p);
void diff_attributes(struct differ *x, const struct diff_pair *p);

/* What values of one type are in another. */
enum diff_fit {
	FIT_SAME,  /* or all of them fit */
	FIT_SOME,  /* some may not fit */
	FIT_OTHER, /* they have another form */
};
/* `*why` is what some do not fit: "a shorter text"; static. */
enum diff_fit diff_type(const struct attribute *was, const struct attribute *is, const char **why);

/* What a word of an entity, or of a design, means for items when it is written differently. */
struct diff_word_row {
	const char *name;
	enum diff_need need;
	const char *means; /* NULL: looked at elsewhere, so not here */
};
/* Adds a change for each word of the maps that differs. Words that are in no row mean nothing for items. `prefix`
 * stands before the word in the subject. */
void diff_words(struct differ *x, const struct diff_pair *p, const struct diff_word_row *rows, struct slice prefix);

#endif
