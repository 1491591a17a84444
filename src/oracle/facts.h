/* Facts: byte records, added in any order and read back sorted. When memory is full, a sorted run goes to an unnamed
 * file in TMPDIR; the runs are merged while they are read.
 *
 * Single-threaded. A record has at most FACT_MOST bytes; equal records all come back.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_ORACLE_FACTS_H
#define THORPE_ORACLE_FACTS_H

#include "base/error.h"
#include "base/slice.h"

#define FACT_MOST ((size_t)1 << 20)

struct facts;
/* `memory`: bytes held before a run goes to the file. NULL: out of memory. */
struct facts *facts_new(size_t memory);
void facts_free(struct facts *f); /* NULL is fine */
/* Errors: out of memory, or the disk; facts_why() says which. */
bool facts_add(struct facts *f, struct slice record) MUST_CHECK;
/* After the last facts_add(). */
bool facts_sort(struct facts *f) MUST_CHECK;
/* The next record, valid until the next call; *got false at the end. */
bool facts_next(struct facts *f, struct slice *record, bool *got) MUST_CHECK;
const char *facts_why(const struct facts *f);
/* For tests: how many runs went to the file. */
size_t facts_runs(const struct facts *f);

#endif
