/* Sessions of simulated clients: session.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SIM_SESSION_H
#define THORPE_TESTS_SIM_SESSION_H

#include "sim.h"

struct session {
	const struct entity *entity; /* of the account */
	struct value key;            /* … its key */
	struct value born;           /* … its creation time */
	struct slice subject, authorization;
};

/* Logs in as some account, if there is one and its password is the usual one. */
void session_login(struct sim *s, struct backend *b, struct arena *a);
/* Draws a session; false: make a trusted request. */
bool session_draw(struct sim *s, struct session *out);

struct session_state {
	struct value account; /* as stored; absent: none */
	bool stands;          /* it exists, is the same one, and may log in */
};
struct session_state session_look(struct sim *s, struct backend *b, struct arena *a, const struct session *x);
/* Call after a reply, with the account's state before and after the request. */
void session_judge(struct sim *s, const struct session *x, struct session_state before, struct session_state after,
		   int status);

#endif
