/* Sessions of simulated clients: session.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SIM_SESSION_H
#define THORPE_TESTS_SIM_SESSION_H

#include "sim.h"

struct session {
	const struct entity *entity; /* of the account */
	struct value key;            /* … and where it is */
	struct value born;           /* … and when it was made */
	struct slice subject, authorization;
};

/* Logs in as some account, if there is one and its password is the usual one. */
void session_login(struct sim *s, struct backend *b, struct arena *a);
/* One that somebody has; false: the request is a trusted one's. */
bool session_draw(struct sim *s, struct session *out);

struct session_state {
	struct value account; /* stored; absent: it is not there */
	bool stands;          /* it is, is the same one, and may log in */
};
struct session_state session_look(struct sim *s, struct backend *b, struct arena *a, const struct session *x);
/* A request was answered, before and after which the account was like this. */
void session_judge(struct sim *s, const struct session *x, struct session_state before, struct session_state after,
		   int status);

#endif
