/* Warns about files with secrets that others can read.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_PRIVATE_FILE_H
#define THORPE_BASE_PRIVATE_FILE_H

#include <sys/types.h>

/* Logs a warning if a file of this mode can be read by others. `what` names its content, such as "keys". */
void private_file_warn(mode_t mode, const char *what, const char *path);

#endif
