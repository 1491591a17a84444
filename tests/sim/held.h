/* What is held back from the simulation, each with its reason, so that a run that finds something has found something new.
 * When what is wrong has been mended, the line goes; `sim --with PART` (or `--with all`) is how to see whether it has been.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SIM_HELD_H
#define THORPE_TESTS_SIM_HELD_H

#include "oracle/oracle.h"
#include "sim.h"

/* The parts of what may happen that do not happen unless someone asks for them. */
unsigned held_parts(void);
/* Why; NULL: it is not held back. */
const char *held_why(enum sim_part p);
/* Whether items of the entity can be reached at an address that is not their own: a part of it is not in their key, and nobody compares. */
bool held_address(const struct sim *s, const struct entity *e);
/* Whether a finding of the oracle is known, and not told. */
bool held_finding(const struct sim *s, const struct oracle_finding *f);

#endif
