/* Places where a test makes the process die, as by kill -9, to check what is left on disk.
 *
 * With THORPE_CRASH_AT=name[:n] in the environment the n-th crash_point("name") (default: the
 * first) does not return. The variable is read once. Without it a point costs one comparison.
 * Threads: any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_CRASHPOINT_H
#define THORPE_BASE_CRASHPOINT_H

void crash_point(const char *name);

#endif
