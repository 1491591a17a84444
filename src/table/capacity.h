/* Capacity units, counted as DynamoDB bills them.
 *
 * Reads: 4 KB a unit, half when eventually consistent, double in a transaction; what is added up
 * before rounding is said at each function. Writes: 1 KB a unit, double in a transaction; the
 * larger of old and new item; each index entry written, deleted or replaced by itself.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_CAPACITY_H
#define THORPE_TABLE_CAPACITY_H

#include "table/schema.h"

/* Units by table and by index, of one action or added up. table_units excludes the indexes. */
struct capacity {
	double table_units;
	double index_units[INDEXES_MAX]; /* by position in table->indexes */
	bool read;                       /* ReadCapacityUnits or WriteCapacityUnits */
};

double capacity_read_units(size_t bytes, bool consistent); /* at least one step of 4 KB */
double capacity_write_units(size_t bytes);                 /* at least one step of 1 KB */
double capacity_total(const struct capacity *c);
void capacity_add(struct capacity *to, const struct capacity *from);
void capacity_scale(struct capacity *c, double by); /* transactions: 2 */

#endif
