/* Finds a file by its name.
 * SPDX-License-Identifier: Apache-2.0 */
#include "console/files.h"
#include "console/files_internal.h"

const struct web_file *console_file_at(size_t i)
{
	return console_files[i].path ? &console_files[i] : NULL;
}

const struct web_file *console_file(struct slice path)
{
	if (!path.n)
		path = SLICE("index.html");
	for (const struct web_file *f = console_files; f->path; f++)
		if (slice_is(path, f->path))
			return f;
	return NULL;
}
