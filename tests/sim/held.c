/* The list. See held.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "held.h"

static const char *const parts[SIM_PARTS] = {
	/* For good: the design itself says that what is left behind stays, and a counter that begins anew cannot know of it. */
	[SIM_ORPHANS] = "deleting or renaming what others count on, where the design lets them stay, leaves counters behind",
	/* For good: `count` counts again, as docs/processors.md says. */
	[SIM_RECOUNTS] = "a replay of a processor that counts counts again",
	/* Until a deletion is a state that the table knows. */
	[SIM_CASCADES] = "what is deleted and made again under the same identity meets what is left of the old",
	/* Until an item that does not fit is reported and passed over. */
	[SIM_UNFIT] = "an item that does not fit its entity stops the keeper",
	/* Until creating at an address that is taken is refused also where the key has more than the address. */
	[SIM_INTERNAL] = "operators can make two items with one address, and credentials without an account",
};

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

static bool is_about(const struct oracle_finding *f, enum oracle_kind kind, const struct sim *s, const char *design, const char *entity)
{
	return f->kind == kind && slice_is(s->design->name, design) && f->entity && slice_is(f->entity->name, entity);
}

bool held_finding(const struct sim *s, const struct oracle_finding *f)
{
	/* The design's own deletion empties the body, below what a body may be. */
	return is_about(f, ORACLE_ATTRIBUTE_UNFIT, s, "blog", "Comment") && slice_is(f->attribute, "body");
}
