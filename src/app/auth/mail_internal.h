/* Shared by the files of mail.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_AUTH_MAIL_INTERNAL_H
#define THORPE_APP_AUTH_MAIL_INTERNAL_H

#include "app/auth/mail.h"

/* Whether requests are noted at all. */
bool mail_post_is_open(const struct mail_post *p);
/* Leaves the note, with a new id, and wakes the sender. */
bool mail_note_put(struct run *r, const struct mail_note *n) MUST_CHECK;

#endif
