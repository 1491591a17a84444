/* A design as the console shows it: each part with its line in the file. SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CONSOLE_DESIGN_DOC_H
#define THORPE_CONSOLE_DESIGN_DOC_H

#include "console/doc.h"

/* The whole document (types.ts: Design), with what `thorpe check` finds. In the arena. */
struct slice design_document(struct arena *a, const struct design *d);

/* ---- its parts; each writes one value ---- */
void design_entity_doc(struct buf *b, const struct design *d, const struct entity *e);
void design_access_doc(struct buf *b, const struct design *d, const struct access *x);
void design_processor_doc(struct buf *b, const struct processor *p);
void design_attribute_doc(struct buf *b, const struct attribute *x);
void design_findings_doc(struct buf *b, const struct design *d);                           /* a list */
void design_references_doc(struct buf *b, const struct design *d, const struct entity *e); /* a list */

/* ---- shared helpers ---- */
void design_parts_doc(struct buf *b, const struct template *t); /* the pieces of a template; NULL: an empty list */
void design_keys_doc(struct buf *b, const struct key_rule *rules, size_t n); /* a list */
struct slice design_type(struct arena *a, const struct attribute *x);        /* "list of string"; NULL: "string" */
void design_line(struct buf *b, struct place p);

#endif
