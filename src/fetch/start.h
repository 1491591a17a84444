/* libcurl's own beginning: once for the process, before its first use. For the files of this room only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_FETCH_START_H
#define THORPE_FETCH_START_H

void fetch_start_curl(void);

#endif
