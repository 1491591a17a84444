/* One header of a request.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_WIRE_HEADER_H
#define THORPE_WIRE_HEADER_H

#include "base/slice.h"

struct http_header {
	struct slice name;  /* lower case */
	struct slice value; /* without white space around it */
};

#endif
