/* A design's table: made when there is none, compared when there is one.
 *
 * On a table that exists, missing indexes are added one at a time and TTL is turned on; everything else that
 * differs (keys, projections, the stream's view) cannot be changed in place or would surprise someone, and is an error.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_PROVISION_H
#define THORPE_APP_DB_PROVISION_H

#include "request/backend.h"
#include "design/design.h"

enum provision_result { PROVISION_THERE, PROVISION_MADE, PROVISION_CHANGED, PROVISION_FAILED };

/* PROVISION_FAILED: e->message is a sentence for a person. Otherwise the indexes can be used. */
enum provision_result provision_table(struct backend *b, const struct design *d, struct arena *a,
				      struct error *e) MUST_CHECK;

/* Makes and changes nothing: for a table that `thorpe deploy` makes. Whether it, its keys, its indexes and its stream are as the
 * design says and can be used now, and the table beside it is there. False: e->message is a sentence for a person, without
 * what to do. */
bool provision_check(struct backend *b, const struct design *d, struct arena *a, struct error *e) MUST_CHECK;

/* The table beside it (beside.h), for which keys and types never change: made, with its TTL, when there is none. A design that has
 * cascades gets it with its own table. False: e->message. */
bool provision_beside(struct backend *b, const struct design *d, struct arena *a, struct error *e) MUST_CHECK;
/* The TTL of one that was made without. That it has none is no reason not to serve: old items only stay. */
void provision_beside_ttl(struct backend *b, const struct design *d, struct arena *a);

#endif
