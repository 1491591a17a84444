/* The documents that make a design's table.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_PROVISION_REQUEST_H
#define THORPE_APP_PROVISION_REQUEST_H

#include "design/design.h"

/* Members of these documents, each without a comma before it: AttributeDefinitions (each attribute of the table's and the
 * indexes' keys once), KeySchema, Projection. */
void provision_put_definitions(struct buf *b, const struct design *d);
void provision_put_key(struct buf *b, const struct key_schema *k);
void provision_put_projection(struct buf *b, const struct design_index *i);

struct slice provision_create_table(const struct design *d, struct arena *a);
struct slice provision_add_index(const struct design *d, const struct design_index *i, struct arena *a);
struct slice provision_enable_ttl(const struct design *d, struct arena *a);
/* {"TableName":"…"} */
struct slice provision_describe(const struct design *d, struct arena *a);
/* The same of the table beside it (beside.h). */
struct slice provision_describe_beside(const struct design *d, struct arena *a);
struct slice provision_create_beside(const struct design *d, struct arena *a);
struct slice provision_enable_ttl_beside(const struct design *d, struct arena *a);

#endif
