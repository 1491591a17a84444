/* Parts disabled in the simulation, each with its reason, so that every failure is new. Remove the line when the
 * reason is fixed; `sim --with PART` (or `--with all`) shows whether it is. SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SIM_HELD_H
#define THORPE_TESTS_SIM_HELD_H

#include "sim.h"

/* The parts that are disabled unless requested. */
unsigned held_parts(void);
/* The reason; NULL: it is not disabled. */
const char *held_why(enum sim_part p);

#endif
