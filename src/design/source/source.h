/* Places in a design file, and findings about them.
 *
 * A loader or checker adds findings to a list and goes on, so that all of them are shown at once.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_SOURCE_SOURCE_H
#define THORPE_DESIGN_SOURCE_SOURCE_H

#include "base/buf.h"

struct source {
	struct slice file; /* name as given, for messages */
	struct slice text; /* the whole file, for showing the offending line */
};

/* 1-based; line 0: no particular place. */
struct place {
	int line, column, length; /* length in characters, for underlining; 0: unknown */
};

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE };

struct finding {
	enum severity severity;
	const char *rule; /* stable name: "unknown-word", "needs-scan", "number-in-key"… */
	struct place place;
	struct slice message; /* what is wrong, one sentence */
	struct slice why;     /* why it matters; may be empty */
	struct slice repair;  /* what to do; may be empty */
	/* What it is about, for tests and tools: "entity Post", "access user posts", … */
	struct slice subject;
	struct slice accepted; /* the reason in `accept`; empty: not accepted */
};

struct findings {
	struct arena *arena;
	struct finding *list;
	size_t count, room;
};

void findings_init(struct findings *f, struct arena *a);
/* Adds one and returns it, so that why and repair can be filled in. */
struct finding *findings_add(struct findings *f, enum severity severity, const char *rule, struct place p,
			     const char *fmt, ...) __attribute__((format(printf, 5, 6)));
size_t findings_errors(const struct findings *f);
/* Sorts by place, then rule. What is said twice of one place, once for each entity, is kept once. */
void findings_sort(struct findings *f);

/* As a compiler shows them:
 *   designs/social.yaml:41:7: error: no index is called GSI9 [unknown-index]
 *      41 |     query: GSI9
 *         |            ^~~~
 *     why: …
 *     repair: … */
void findings_print(struct buf *out, const struct findings *f, const struct source *s);
/* A JSON array of objects {file, line, column, severity, rule, subject, message, why, repair}. */
void findings_json(struct buf *out, const struct findings *f, const struct source *s);
/* Only the objects, for an array over several files; *first: none has been written yet. */
void findings_json_members(struct buf *out, const struct findings *f, const struct source *s, bool *first);

/* The word of `words` (NULL-terminated) that `s` most likely meant, or NULL: for "did you mean". */
const char *suggest_word(struct slice s, const char *const *words);
/* The same among slices; empty when none is near. */
struct slice suggest_slice(struct slice s, const struct slice *words, size_t n);

/* The length in bytes of the UTF-8 character at the start of `s`; 0: there is none. */
size_t source_character(struct slice s);

#endif
