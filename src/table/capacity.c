/* Capacity units: rounding and adding up.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/capacity.h"

#define READ_STEP  4096
#define WRITE_STEP 1024

static double steps(size_t bytes, size_t step)
{
	return bytes ? (double)((bytes + step - 1) / step) : 1;
}

double capacity_read_units(size_t bytes, bool consistent)
{
	return steps(bytes, READ_STEP) * (consistent ? 1 : 0.5);
}

double capacity_write_units(size_t bytes)
{
	return steps(bytes, WRITE_STEP);
}

double capacity_total(const struct capacity *c)
{
	double total = c->table_units;
	size_t i;

	for (i = 0; i < INDEXES_MAX; i++)
		total += c->index_units[i];
	return total;
}

void capacity_add(struct capacity *to, const struct capacity *from)
{
	size_t i;

	to->table_units += from->table_units;
	for (i = 0; i < INDEXES_MAX; i++)
		to->index_units[i] += from->index_units[i];
}

void capacity_scale(struct capacity *c, double by)
{
	size_t i;

	c->table_units *= by;
	for (i = 0; i < INDEXES_MAX; i++)
		c->index_units[i] *= by;
}
