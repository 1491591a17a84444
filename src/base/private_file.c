/* Warns about secrets that others can read.
 * SPDX-License-Identifier: Apache-2.0 */
#include <sys/stat.h>

#include "base/log.h"
#include "base/private_file.h"

void private_file_warn(mode_t mode, const char *what, const char *path)
{
	if (S_ISREG(mode) && (mode & (S_IRGRP | S_IROTH)))
		log_warn("the %s in %s can be read by %s: run chmod 600 %s", what, path,
			 mode & S_IROTH ? "every user of this machine" : "its group", path);
}
