/* One file as browsers get it: of the console (console/files.h), or of an app (console/app_files.h).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CONSOLE_WEB_FILE_H
#define THORPE_CONSOLE_WEB_FILE_H

#include <stdbool.h>

#include "base/slice.h"

struct web_file {
	const char *path; /* below its folder: "index.html", "assets/index-4f1c2a.js" */
	const char *type; /* Content-Type */
	const char *etag; /* with its quotes; of the file's bytes before compression */
	bool immutable;   /* the name has a hash of the content in it */
	const unsigned char *data;
	size_t stored, bytes; /* of the data; of the file */
	bool plain;           /* the data is the file; otherwise it is the file in gzip's format */
};

#endif
