/* Which hosts are this machine: plain text to them crosses no network.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_WIRE_LOOPBACK_H
#define THORPE_WIRE_LOOPBACK_H

#include <stdbool.h>

/* localhost, 127.0.0.0/8 or [::1], as the host of a URL. */
bool host_is_loopback(const char *host);

#endif
