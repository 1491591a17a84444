/* The commands of `thorpe`, each in a file of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_COMMANDS_H
#define THORPE_CLI_COMMANDS_H

#include "cli/command.h"

extern const struct command command_call, command_check, command_client, command_copy, command_deploy, command_diff,
	command_doc, command_lsp, command_new, command_processors, command_role, command_salvage, command_schema,
	command_serve, command_token, command_verify;

#endif
