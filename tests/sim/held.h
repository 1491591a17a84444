/* What is held back from the simulation, each with its reason, so that a run that finds something has found something new.
 * When what is wrong has been mended, the line goes; `sim --with PART` (or `--with all`) is how to see whether it has been.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SIM_HELD_H
#define THORPE_TESTS_SIM_HELD_H

#include "sim.h"

/* The parts of what may happen that do not happen unless someone asks for them. */
unsigned held_parts(void);
/* Why; NULL: it is not held back. */
const char *held_why(enum sim_part p);

#endif
