/* Hosts of URLs that are this machine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/loopback.h"
#include <string.h>

bool host_is_loopback(const char *host)
{
	return !strcmp(host, "localhost") || !strcmp(host, "[::1]") ||
	       (!strncmp(host, "127.", 4) && strspn(host, "0123456789.") == strlen(host));
}
