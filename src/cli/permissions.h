/* Who else on the machine may read what this process keeps. A data directory has password hashes and secrets in it.
 *
 * What `thorpe` itself makes is for its owner alone: the directory 0700 (store/dir.c), files 0600. Whatever was there
 * before is left as it is, but for a warning with the command that closes it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_PERMISSIONS_H
#define THORPE_CLI_PERMISSIONS_H

/* Files that the process makes from here on are 0600. Not for the embedded library, whose process is another's. */
void permissions_close(void);
/* A line in the log when others may read the directory or a file in it. NULL is fine, and so is one that is not
 * there. */
void permissions_check_dir(const char *dir);
/* The same for a file with a secret; `what` names it. */
void permissions_check_file(const char *what, const char *path);

#endif
