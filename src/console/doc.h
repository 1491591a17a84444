/* Writing JSON documents member by member: commas look after themselves.
 *
 *     doc_open(b, '{');
 *     doc_member(b, "name", d->name);
 *     doc_name(b, "list"), doc_open(b, '[');
 *     doc_text(b, SLICE("one"));
 *     doc_close(b, ']'), doc_close(b, '}');
 *
 * A comma is due unless what was written last opened something or was a name. Text may be anything: what is no UTF-8 becomes
 * question marks, because it may be quoted from files and command lines.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CONSOLE_DOC_H
#define THORPE_CONSOLE_DOC_H

#include "design/design.h"

/* ---- values, in lists or after doc_name() ---- */
void doc_open(struct buf *b, char bracket);
void doc_close(struct buf *b, char bracket);
void doc_text(struct buf *b, struct slice text);
void doc_term(struct buf *b, const struct term *t); /* its own words, as a text */

/* ---- members ---- */
void doc_name(struct buf *b, const char *name);
void doc_member(struct buf *b, const char *name, struct slice text);
void doc_member_str(struct buf *b, const char *name, const char *text);
void doc_member_or_null(struct buf *b, const char *name, struct slice text); /* empty: null */
void doc_member_int(struct buf *b, const char *name, int64_t v);
void doc_member_bool(struct buf *b, const char *name, bool v);
void doc_member_term(struct buf *b, const char *name, const struct term *t); /* NULL: no member at all */
void doc_member_texts(struct buf *b, const char *name, const struct slice *list, size_t n);

#endif
