/* A design's table: created if missing, otherwise compared.
 *
 * On an existing table, missing indexes are added one at a time and TTL is enabled. Other differences (keys,
 * projections, the stream's view) cannot be changed in place or would be surprising, and are errors.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_PROVISION_H
#define THORPE_APP_DB_PROVISION_H

#include "request/backend.h"
#include "design/design.h"

enum provision_result { PROVISION_THERE, PROVISION_MADE, PROVISION_CHANGED, PROVISION_FAILED };

/* PROVISION_FAILED: e->message is a sentence for a person. Otherwise the indexes can be used. */
enum provision_result provision_table(struct backend *b, const struct design *d, struct arena *a,
				      struct error *e) MUST_CHECK;

/* Changes nothing: for a table that `thorpe deploy` creates. Whether the table, its keys, indexes and stream match
 * the design and are usable now, and <table>.thorpe exists. False: e->message is a sentence for a person, without
 * advice. */
bool provision_check(struct backend *b, const struct design *d, struct arena *a, struct error *e) MUST_CHECK;

/* The table <table>.thorpe (beside.h), whose key never changes: created, with its TTL, if missing. A design with
 * cascades or sessions gets it together with its own table. False: e->message. */
bool provision_beside(struct backend *b, const struct design *d, struct arena *a, struct error *e) MUST_CHECK;
/* Enables the TTL of one created without it. Failing is no reason not to serve: old items just stay. */
void provision_beside_ttl(struct backend *b, const struct design *d, struct arena *a);

#endif
