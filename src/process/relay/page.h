/* An answer of the relay as bytes.
 *
 *   OFFSET SIZE  MEANING
 *   0      1     1: the version
 *   1      1     enum page_kind
 *   2      1     1: the shard has ended; 2: trimmed
 *   3      4     milliseconds to wait (PAGE_LATER)
 *   7      4     records; then each:
 *          1     length of the sequence number, and it
 *          1     enum stream_event; + 128: by TTL
 *          8     when, milliseconds
 *          3 ×   length (4; 0: absent) and bytes of the key, the old image and the new one (value/value.h)
 * Numbers are big-endian.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_RELAY_PAGE_H
#define THORPE_PROCESS_RELAY_PAGE_H

#include "process/tail/tail.h"

enum page_kind {
	PAGE_RECORDS = 1, /* the records after the position: all, or the first ones */
	PAGE_LATER,       /* ask again */
	PAGE_LOST,        /* some of the records after the position are gone from here */
	PAGE_NOT_OWNER,   /* another server reads the shard */
	PAGE_CANNOT,      /* the stream cannot be read from here */
};

#define PAGE_HEAD 11
/* The head; p->count records follow. */
void page_begin(struct buf *b, enum page_kind kind, const struct tail_page *p);
void page_put_record(struct buf *b, const struct reply_record *r);
/* Of the bytes of a record. */
struct slice page_record_sequence(const char *record);

/* Checks everything: the bytes come from another server. The records point into `bytes`. */
bool page_read(struct arena *a, struct slice bytes, enum page_kind *kind, struct tail_page *out) MUST_CHECK;

#endif
