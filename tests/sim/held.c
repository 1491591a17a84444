/* The list. See held.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "held.h"

/* clang-format off */
static const char *const parts[SIM_PARTS] = {
	/* For good: the design itself says that what is left behind stays, and a counter that begins anew cannot know of it. */
	[SIM_ORPHANS] = "deleting or renaming what others count on, where the design lets them stay, leaves counters behind",
	/* For good: `count` counts again, as docs/processors.md says. */
	[SIM_RECOUNTS] = "a replay of a processor that counts counts again",
	/* For good: an operator may do what an action's requirements would refuse. */
	[SIM_MANAGED] = "operators who set managed attributes go past the actions that look after them",
	/* In runs of their own: of what hung on such an item, and of what it counted, nothing can be said (check.c). */
	[SIM_UNFIT] = "items that do not fit their entity leave differences that nothing mends",
	/* Until creating at an address that is taken is refused also where the key has more than the address. */
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
