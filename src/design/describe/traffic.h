/* What the calls of a design cost, in DynamoDB's units: an estimate from the design alone.
 *
 * Writes: each action of a transaction counts twice, each index that an item is in once; what processors do afterwards is not
 * counted, unless the traffic names it (`create FeedEntry: 100 a second`). Updates, deletions and actions count as creations, which
 * is more than most of them take. Reads: full pages, eventually consistent unless the pattern says otherwise; nothing is cached.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_DESCRIBE_TRAFFIC_H
#define THORPE_DESIGN_DESCRIBE_TRAFFIC_H

#include "design/design.h"

/* of one item, each part of at most 1 KB */
struct traffic_write {
	double actions; /* items that the transaction writes or checks */
	double indexed; /* entries of indexes */
	double items;   /* that are there afterwards */
	double copies;  /* of them, in indexes */
};

/* a second */
struct traffic_total {
	double reads; /* read units */
	double read_calls, write_calls;
	struct traffic_write writes; /* sums */
	double created;              /* what of `writes` stays: creations only */
	double created_copies;
};

/* What the design's `traffic` comes to, with items of so many bytes. All 0: it declares none. */
void design_traffic(const struct design *d, double item_bytes, struct arena *a, struct traffic_total *out);
/* The means over its access patterns that have a path, and over its entities: for traffic that is given as numbers. */
void design_mean_traffic(const struct design *d, double item_bytes, struct arena *a, double *read_units,
			 struct traffic_write *write);

#endif
