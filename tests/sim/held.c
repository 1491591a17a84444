/* The list. See held.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "held.h"

/* clang-format off */
static const char *const parts[SIM_PARTS] = {
	/* Permanent: the design itself says that leftovers stay, and a fresh counter cannot include them. */
	[SIM_ORPHANS] = "deleting or renaming what others count on, where the design lets them stay, leaves counters behind",
	/* Permanent: `count` counts again, as docs/processors.md says. */
	[SIM_RECOUNTS] = "a replay of a processor that counts counts again",
	/* Permanent: an operator may do what an action's requirements would refuse. */
	[SIM_MANAGED] = "operators who set managed attributes go past the actions that look after them",
	/* In separate runs: dependents and counts of such an item are undefined (check.c). */
	[SIM_UNFIT] = "items that do not fit their entity leave differences that nothing mends",
	/* In separate runs: `--with splits`. */
	[SIM_SPLITS] = "each ended shard has a thread as long as a processor lags in it: a run can take minutes",
	/* Until creating at a taken address is refused even if the key has more than the address. */
	[SIM_INTERNAL] = "operators can make two items with one address, and credentials without an account",
};
/* clang-format on */

unsigned held_parts(void)
{
	unsigned held = 0;

	for (size_t i = 0; i < SIM_PARTS; i++)
		if (parts[i])
			held |= 1u << i;
	return held;
}

const char *held_why(enum sim_part p)
{
	return parts[p];
}
