/* The console's own files, as `npm run build` in console/ left them when the server was built: in the binary, nowhere
 * else.
 *
 * The list is made by scripts/embed-console.py. If the console was not built, there is one page that says how to
 * build it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CONSOLE_FILES_H
#define THORPE_CONSOLE_FILES_H

#include "console/web_file.h"

/* All are compressed; their paths are below /console/. NULL: no such file. An empty path is index.html. Matches whole names only: decodes nothing and opens no file. */
const struct web_file *console_file(struct slice path);
/* For tests: the i-th; NULL after the last. */
const struct web_file *console_file_at(size_t i);
/* False if there is only the page that says how to build it. */
extern const bool console_is_built;

#endif
