/* The cost of a design's calls in DynamoDB's units, estimated from the design alone.
 *
 * Writes: each action of a transaction counts twice, each index entry once; what processors do afterwards is not
 * counted unless the traffic names it (`create FeedEntry: 100 a second`). Updates, deletions and actions count as
 * creations, which overestimates most of them. Reads: full pages, eventually consistent unless the pattern says
 * otherwise; no caching. SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_DESCRIBE_TRAFFIC_H
#define THORPE_DESIGN_DESCRIBE_TRAFFIC_H

#include "design/design.h"

/* of one item, each part of at most 1 KB */
struct traffic_write {
	double actions; /* items that the transaction writes or checks */
	double indexed; /* entries of indexes */
	double items;   /* items that exist afterwards */
	double copies;  /* their entries in indexes */
};

/* per second */
struct traffic_total {
	double reads; /* read units */
	double read_calls, write_calls;
	struct traffic_write writes; /* sums */
	double created;              /* items of `writes` that stay: creations only */
	double created_copies;
};

/* The sum of the design's `traffic`, for items of this size. All 0: it declares none. */
void design_traffic(const struct design *d, double item_bytes, struct arena *a, struct traffic_total *out);
/* The mean over access patterns with a path, and over entities: for traffic given as plain numbers. */
void design_mean_traffic(const struct design *d, double item_bytes, struct arena *a, double *read_units,
			 struct traffic_write *write);

#endif
