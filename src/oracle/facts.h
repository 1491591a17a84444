/* Facts: records of bytes, given in any order and taken back in order of their bytes. What does not fit in memory goes, sorted, to a
 * file without a name in TMPDIR, run after run, and the runs are merged while they are read.
 *
 * One thread. Records are at most FACT_MOST bytes; equal ones all come back.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_ORACLE_FACTS_H
#define THORPE_ORACLE_FACTS_H

#include "base/error.h"
#include "base/slice.h"

#define FACT_MOST ((size_t)1 << 20)

struct facts;
/* `memory`: bytes that are held before they go to the file. NULL: memory is out. */
struct facts *facts_new(size_t memory);
void facts_free(struct facts *f); /* NULL is fine */
/* Errors: no memory, or the disk; `why` in facts_why(). */
bool facts_add(struct facts *f, struct slice record) MUST_CHECK;
/* No more come. */
bool facts_sort(struct facts *f) MUST_CHECK;
/* The next one, valid until the call after; *got false: that was all. */
bool facts_next(struct facts *f, struct slice *record, bool *got) MUST_CHECK;
const char *facts_why(const struct facts *f);
/* For tests: how many runs went to the file. */
size_t facts_runs(const struct facts *f);

#endif
