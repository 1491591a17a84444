/* The design that a table's items follow, kept in <table>.thorpe.
 *
 * It is the design that was served last, and stays that while a change waits for work on the items: what has to be done
 * is the difference from it to the new one.
 *
 *   V1  A design is kept only when nothing has to be done for the items any more.
 *   V2  Looking writes nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EVOLVE_SERVED_H
#define THORPE_EVOLVE_SERVED_H

#include "evolve/diff.h"
#include "request/backend.h"

enum served_is {
	SERVED_FIRST,   /* none is kept: the table is new, or of a Thorpe that kept none */
	SERVED_SAME,    /* the same file */
	SERVED_CHANGED, /* `changes` */
	SERVED_UNKNOWN, /* one is kept that this Thorpe cannot read */
	SERVED_FAILED,  /* the database did not answer: `why` */
};

struct served {
	enum served_is is;
	const struct design *before; /* CHANGED */
	struct diff changes;         /* CHANGED */
	struct slice why;            /* UNKNOWN, FAILED: a sentence for a person, without a full stop */
};

/* Compares the design with the one that is kept. Lives in the arena. <table>.thorpe need not exist. */
void served_look(struct backend *b, const struct design *d, struct arena *a, struct served *out);
/* Keeps the design. <table>.thorpe must exist. False: e->message. */
bool served_keep(struct backend *b, const struct design *d, struct arena *a, struct error *e) MUST_CHECK;

#endif
