/* How `thorpe deploy` shows its plan, on stdout.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_DEPLOY_DEPLOY_PRINT_H
#define THORPE_CLI_DEPLOY_DEPLOY_PRINT_H

#include "deploy/deploy.h"

void deploy_print_plan(const struct deploy_want *w, const struct deploy_plan *p, const char *url, const char *region);
void deploy_print_cost(const struct deploy_want *w, const struct deploy_cost *c, const struct deploy_load *l);

#endif
