/* HTTP Basic: an access key as the user, its secret as the password. For monitoring, which can seldom sign.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_DOOR_BASIC_H
#define THORPE_HTTP_DOOR_BASIC_H

#include "http/door/keys.h"

/* Whether an Authorization header is of this kind. */
bool basic_is_present(struct slice authorization);
/* Whether a password may be sent this way: under TLS, or from this machine. `peer`: an address without port. */
bool basic_is_confidential(bool tls, struct slice peer);
/* Whether it holds a valid key and its secret. Compares secrets of equal length in constant time; keys are not
 * secret. */
bool basic_verify(struct slice authorization, const struct keys *keys);

#endif
