/* The files of an app: a directory of web pages that a server serves beside its designs (`--app NAME=DIR`).
 *
 * The directory is read once, into memory, so requests open no file, and what browsers get is what was there when the
 * server started. Names that begin with a dot and maps for debuggers (*.map) are left out; symbolic links are refused,
 * so nothing outside the directory is served.
 *
 * Immutable after app_files_load(): any thread may ask.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CONSOLE_APP_FILES_H
#define THORPE_CONSOLE_APP_FILES_H

#include "base/map.h"
#include "console/web_file.h"

#define APP_FILES_MOST 10000
#define APP_BYTES_MOST (256u << 20) /* of all files together */
#define APP_DEPTH_MOST 16

struct app_files {
	struct map files; /* path -> struct web_file */
};

/* In the arena. False: `why` is a sentence. A directory without index.html is no app. */
bool app_files_load(struct app_files *out, struct arena *a, const char *dir, char *why, size_t n)
	__attribute__((warn_unused_result));
/* NULL: no such file. An empty path, or one that ends with a slash, is the index.html there. */
const struct web_file *app_file(const struct app_files *files, struct arena *a, struct slice path);

#endif
