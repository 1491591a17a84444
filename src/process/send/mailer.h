/* Sends the tokens that were asked for (app/auth/mail.h) to the design's webhook: a thread for each app that has one.
 *
 * POST of {"id","design","event": "reset" | "proof","to","subject","token","expires"}, signed as the design's other webhooks
 * (send.h). 2xx is taken, 410 refused; anything else is tried again, 1, 2, 4 … 60 s, eight times, then given up with a line in
 * the log. What waits is in memory: after a kill the caller asks again.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_SEND_MAILER_H
#define THORPE_PROCESS_SEND_MAILER_H

#include "app/app.h"

struct mailer;
/* Whether the app sends such tokens. */
bool mailer_is_needed(const struct app *app);
/* NULL: out of memory or threads. The app outlives it. */
struct mailer *mailer_start(struct app *app);
void mailer_stop(struct mailer *m); /* NULL is fine */

#endif
