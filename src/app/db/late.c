/* Which patterns read an index.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/late.h"

#define DEEP 4 /* patterns that are made of patterns */

static bool reads_index(const struct design *d, struct slice pattern, int depth)
{
	const struct access *x = pattern.n && depth ? design_access(d, pattern) : NULL;

	return x &&
	       (x->index.n || reads_index(d, x->merge_pattern, depth - 1) || reads_index(d, x->merge_over, depth - 1));
}

bool late_reads_index(const struct design *d, struct slice pattern)
{
	return reads_index(d, pattern, DEEP);
}
