/* Sends the tokens that were asked for (app/auth/mail.h): a thread for each app that has an address for them.
 *
 * By a webhook where the design has one (`to`): POST of {"id","design","event": "reset" | "proof","to","subject","token",
 * "expires"}, signed as the design's other webhooks (send.h); 2xx is taken, 400, 410, 413, 415 and 422 refused. Otherwise by a
 * mail server (`--smtp`): a letter (letter.h); 5xx to the mail itself is refused. Anything else is tried again, 1, 2, 4 … 300 s,
 * twelve times, then given up with a line in the log.
 *
 * What waits are items (mail.h L3). A server that finds another one's claim waits until it has not changed for a minute by its
 * own clock; in a table that no other process can have open it waits for nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_SEND_MAILER_H
#define THORPE_PROCESS_SEND_MAILER_H

#include "app/app.h"
#include "base/buf.h"

struct mailer;
struct smtp_settings;
/* Whether the app sends such tokens; `smtp` NULL: no mail server. */
bool mailer_is_needed(const struct app *app, const struct smtp_settings *smtp);
/* NULL: out of memory or threads. The app and the settings outlive it. */
struct mailer *mailer_start(struct app *app, const struct smtp_settings *smtp);
void mailer_stop(struct mailer *m); /* NULL is fine */

/* Prometheus: thorpe_mail_sent_total, _retries_total, _given_up_total and _waiting, by design. */
void mailer_metrics(struct mailer *const *list, size_t n, struct buf *out);

#endif
