/* What changed in a design since its items were written. SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_SERVE_SERVE_CHANGES_H
#define THORPE_CLI_SERVE_SERVE_CHANGES_H

#include "design/design.h"
#include "request/backend.h"

/* Logs the changes, and keeps the design if they mean no work for the items. The table must be ready. `path`: its
 * file, for advice. */
void serve_changes_say(const struct design *d, const char *path, struct backend *b, struct arena *a);

#endif
