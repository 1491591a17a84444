/* Files that hold secrets should be readable by their owner only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_PRIVATE_FILE_H
#define THORPE_BASE_PRIVATE_FILE_H

#include <sys/types.h>

/* A line in the log when a file of this mode can be read by others. `what`: what it holds, such as "keys". */
void private_file_warn(mode_t mode, const char *what, const char *path);

#endif
