/* Texts of any bytes as values and members of JSON documents (json/json.h): invalid UTF-8 becomes question marks. The
 * console quotes files and command lines.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CONSOLE_DOC_H
#define THORPE_CONSOLE_DOC_H

#include "design/design.h"
#include "json/json.h"

/* ---- values ---- */
void doc_text(struct buf *b, struct slice text);

/* ---- members ---- */
void doc_member(struct buf *b, const char *name, struct slice text);
void doc_member_str(struct buf *b, const char *name, const char *text);
void doc_member_or_null(struct buf *b, const char *name, struct slice text); /* empty: null */
void doc_member_term(struct buf *b, const char *name, const struct term *t); /* its own words; NULL: no member at all */
void doc_member_texts(struct buf *b, const char *name, const struct slice *list, size_t n);

#endif
