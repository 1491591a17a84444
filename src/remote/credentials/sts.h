/* AWS's Security Token Service: temporary credentials for a role.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REMOTE_CREDENTIALS_STS_H
#define THORPE_REMOTE_CREDENTIALS_STS_H

#include "remote/credentials/lookup.h"

struct sts_ask {
	const char *region; /* whose service is asked; NULL or "": us-east-1 */
	const char *role_arn;
	const char *session_name;      /* NULL: one of our own */
	const char *external_id;       /* NULL: none; so the next */
	const char *duration;          /* seconds */
	const char *web_token;         /* AssumeRoleWithWebIdentity: not signed */
	const struct found_keys *with; /* AssumeRole: who asks */
};
/* k->source is the caller's to set. */
enum found sts_assume(struct lookup *l, const struct sts_ask *q, struct found_keys *k);

#endif
