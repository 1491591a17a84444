/* The rule for everywhere, `tenant = caller.tenant`, proved from keys.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_ISOLATION_H
#define THORPE_DESIGN_ISOLATION_H

#include "design/design.h"

/* Whether every row of the pattern keeps the rule by the partition that is read: the partition key of the query has the
 * caller's claim in the place where the items' keys have the attribute. False: rows are dropped one by one, or it is not
 * known. */
bool isolation_by_key(const struct design *d, const struct access *a);
/* Whether the partition key of the query fixes the attributes that the rule reads, by the claim or by a parameter: then a
 * query reads the rows of one tenant only. */
bool isolation_in_partition(const struct design *d, const struct access *a);
/* Whether the rules carry all attributes that the rule for everywhere reads, under their names. */
bool isolation_carried(const struct term *rule, const struct key_rule *rules, size_t n);

/* How each entity and access pattern keeps the rule, for people: by its key, row by row, or exempt with the reason. Nothing
 * for a design without such a rule. */
void isolation_report(const struct design *d, struct buf *out);

#endif
