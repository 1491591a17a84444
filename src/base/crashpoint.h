/* Places where a test lets the process die, as by kill -9, to see what it leaves behind.
 *
 * With THORPE_CRASH_AT=name[:n] in the environment the n-th crash_point("name") (default: the
 * first) does not return. The variable is read once. Without it a point costs one comparison.
 * Threads: any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_CRASHPOINT_H
#define THORPE_BASE_CRASHPOINT_H

void crash_point(const char *name);

#endif
