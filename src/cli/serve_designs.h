/* The designs `thorpe serve` was given: loaded, and their tables made ready.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_SERVE_DESIGNS_H
#define THORPE_CLI_SERVE_DESIGNS_H

#include "api/api.h"
#include "cli/serve.h"

/* Loads every --design file. False: what is wrong with them has been printed to stderr, and `why` says so in
 * a sentence. Called before anything is opened, so that a mistake costs nothing. */
bool serve_check_designs(const struct serve_options *o, char *why, size_t n) MUST_CHECK;
/* Makes or compares their tables, and says to stderr what it did. False: `why` is a sentence. */
bool serve_provision_designs(const struct serve_options *o, struct api *api, char *why, size_t n) MUST_CHECK;

#endif
