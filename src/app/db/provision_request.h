/* The documents that create a design's table.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_PROVISION_REQUEST_H
#define THORPE_APP_DB_PROVISION_REQUEST_H

#include "design/design.h"

/* ---- parts, also used by deploy/ ---- */

/* `{"TableName":"…"` */
void provision_begin(struct buf *b, const struct design *d, struct arena *a);
/* Members. Without indexes, or without a stream, the respective members are left out. */
void provision_put_definitions(struct buf *b,
			       const struct design *d); /* each attribute of the table's and the indexes' keys once */
void provision_put_key(struct buf *b, const struct key_schema *k);
void provision_put_indexes(struct buf *b, const struct design *d);
void provision_put_billing(struct buf *b, const struct design *d); /* and the throughput where it is provisioned */
void provision_put_stream(struct buf *b, const struct design *d);
void provision_put_ttl(struct buf *b, struct slice attribute);
void provision_put_create(struct buf *b, const struct design *d); /* all of CreateTable except the name */

/* ---- whole documents ---- */

struct slice provision_create_table(const struct design *d, struct arena *a);
struct slice provision_add_index(const struct design *d, const struct design_index *i, struct arena *a);
struct slice provision_enable_ttl(const struct design *d, struct arena *a);
/* {"TableName":"…"} */
struct slice provision_describe(const struct design *d, struct arena *a);
/* The same for <table>.thorpe (beside.h). */
struct slice provision_describe_beside(const struct design *d, struct arena *a);
struct slice provision_create_beside(const struct design *d, struct arena *a);
struct slice provision_enable_ttl_beside(const struct design *d, struct arena *a);

#endif
