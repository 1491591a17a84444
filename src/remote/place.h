/* Where a database is: what `--backend` says, and the addresses that follow from it.
 *
 *     aws                       Amazon DynamoDB in the region of the settings
 *     aws:eu-west-1             … in that region
 *     https://host[:port][/…]   any endpoint
 *     http://127.0.0.1:8000     plain text, on a loopback address only (127.…, ::1, localhost)
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REMOTE_PLACE_H
#define THORPE_REMOTE_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#define PLACE_REGION 64
#define PLACE_URL    512

/* zero: "aws" */
struct remote_place {
	char region[PLACE_REGION]; /* empty: the settings' */
	char url[PLACE_URL];       /* empty: Amazon's */
};

/* False with a sentence in `why`, which names the forms above. */
bool remote_parse(const char *text, struct remote_place *p, char *why, size_t n);

struct endpoint {
	char url[PLACE_URL];  /* with at least "/" as its path */
	char host[PLACE_URL]; /* as in the Host header */
	char path[PLACE_URL];
	bool loopback;
};
/* https, or http on a loopback address; neither user, query nor fragment. False with a sentence in `why`. */
bool endpoint_parse(const char *url, struct endpoint *e, char *why, size_t n);

enum endpoint_service { ENDPOINT_DYNAMODB, ENDPOINT_STREAMS, ENDPOINT_STS, ENDPOINT_SSO, ENDPOINT_OIDC };
/* Amazon's address of a service in a region, "https://dynamodb.eu-west-1.amazonaws.com". */
void endpoint_amazon(enum endpoint_service s, const char *region, bool fips, char url[PLACE_URL]);
/* Letters, digits and '-'. */
bool endpoint_is_region(const char *region);
/* The region in one of Amazon's own addresses of DynamoDB; false: it has none. */
bool endpoint_region(const struct endpoint *e, char region[PLACE_REGION]);

#endif
