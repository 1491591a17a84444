/* What scripts/embed-console.py makes: the files, ended by one without a path.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CONSOLE_FILES_INTERNAL_H
#define THORPE_CONSOLE_FILES_INTERNAL_H

#include "console/files.h"

extern const struct web_file console_files[];

#endif
