/* What a value of a design may look like, for editors: `thorpe schema` makes a JSON Schema of the rows of words
 * (struct load_word) and of these. A word whose type says it all (WORD_TEXT, WORD_TERM…) needs no shape; one with a
 * reader of its own (WORD_OWN) names the shape that its reader takes.
 *
 * A shape is never stricter than the reader. It may be wider: readers know names of other things, and editors do not.
 * Words and choices are those that the reader compares with, by pointer, so there is no second list.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_LOAD_SHAPE_H
#define THORPE_DESIGN_LOAD_SHAPE_H

#include "base/buf.h"

struct load_word;

enum shape_is {
	SHAPE_TEXT,   /* one scalar; `pattern` */
	SHAPE_CHOICE, /* one of `choices` */
	SHAPE_TYPE,   /* as a word of this `type` */
	SHAPE_LIST,   /* a list of `of`, or one of them */
	SHAPE_MAP,    /* names to `of`; `pattern` is of the names, `names` are those to suggest */
	SHAPE_WORDS,  /* the `words` of a table; `prefix`, `needed`, `one_of` */
	SHAPE_EITHER, /* one of `either` */
	SHAPE_DEF,    /* as the definition called `pattern`: for what contains itself */
	SHAPE_ANY,    /* anything */
};

struct load_shape {
	enum shape_is is;
	const char *what;                     /* for people; NULL: nothing to say */
	const char *pattern;                  /* without ^ and $, in JSON Schema's syntax; NULL: any */
	void (*write_pattern)(struct buf *b); /* in place of `pattern`: made of the reader's rows */
	void (*write_what)(struct buf *b);    /* in place of `what`, likewise */
	const struct slice *choices;          /* CHOICE; TEXT: to suggest, among others */
	size_t choice_count;
	int type;                    /* TYPE: enum word_type */
	bool is_words;               /* TEXT: never a number or true */
	size_t most;                 /* LIST: items; 0: any number */
	const struct load_shape *of; /* LIST, MAP */
	const char *const *names;    /* MAP */
	size_t name_count;
	const struct load_word *words;          /* WORDS: ended by one without a name */
	const char *prefix;                     /* WORDS: names that begin so have the shape `of`; NULL: none do */
	const char *const *needed;              /* WORDS: all of these; ends with NULL. NULL: none */
	const char *const *one_of[2];           /* WORDS: exactly one of each list; they end with NULL */
	const struct load_shape *const *either; /* EITHER: ends with NULL */
};

/* Of a whole file; and those that several tables use. */
extern const struct load_shape load_indexes_shape, load_stream_shape, load_billing_shape, load_callers_shape,
	load_entities_shape, load_accesses_shape, load_processors_shape, load_traffic_shape, load_companions_shape,
	load_actions_shape, load_delete_shape, load_rename_shape, load_login_shape, load_then_shape, load_merge_shape,
	load_walk_shape, load_rank_shape, load_tree_shape, load_show_shape, load_claims_shape, load_login_claims_shape,
	load_everywhere_shape, load_also_shape, load_structures_shape, load_mail_shape, load_member_shape;
extern const struct load_shape load_design_shape, load_key_shape, load_attribute_shape, load_where_shape,
	load_path_shape, load_item_shape, load_any_shape;

/* Calls `fn` with each word that load_design_shape reaches, and what it is a word of. For tests. */
void load_each_word(void (*fn)(void *ctx, const struct load_word *word, const char *of), void *ctx);

#endif
