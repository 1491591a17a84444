/* A design that a command was given.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_DESIGN_FILE_H
#define THORPE_CLI_DESIGN_FILE_H

#include "design/design.h"

/* In the arena. NULL: what is wrong with it has been printed to stderr. */
const struct design *design_file_load(struct arena *a, const char *path);
/* The same, and what `thorpe check` calls an error in it: printed to stderr and counted. NULL: it could not be
 * loaded. */
const struct design *design_file_check(struct arena *a, const char *path, size_t *errors);

#endif
