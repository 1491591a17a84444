/* `thorpe verify`: what was asked for, and its second half.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_VERIFY_H
#define THORPE_CLI_VERIFY_H

#include "cli/serve/serve.h"

struct verify_options {
	const char *data, *endpoint;
	const char *designs[SERVE_DESIGNS_MAX];
	size_t design_count;
	bool json, repair, yes;
};

/* With designs: asks the oracle. Returns the exit status. */
int verify_designs(const struct verify_options *o);

#endif
