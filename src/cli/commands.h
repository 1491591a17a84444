/* The commands of `thorpe`. Each gets what follows its name and returns the exit status.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_COMMANDS_H
#define THORPE_CLI_COMMANDS_H

int command_call(int argc, char **argv);
int command_check(int argc, char **argv);
int command_copy(int argc, char **argv);
int command_deploy(int argc, char **argv);
int command_doc(int argc, char **argv);
int command_processors(int argc, char **argv);
int command_serve(int argc, char **argv);
int command_token(int argc, char **argv);
int command_verify(int argc, char **argv);
int command_salvage(int argc, char **argv);

#endif
