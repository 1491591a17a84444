/* A mail as it goes out: RFC 5322 headers, a plain text in UTF-8 (RFC 2045, 2047).
 *
 * Nothing of an account or of a design can add a header: control characters in a subject become blanks, what is not plain ASCII
 * is encoded, and the text is base64.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_SEND_LETTER_H
#define THORPE_PROCESS_SEND_LETTER_H

#include "app/auth/mail.h"
#include "fetch/smtp.h"

/* The same bytes each time: the date is that of the request, the Message-ID that of the note. In the arena. */
struct slice letter_make(struct arena *a, const struct smtp_settings *s, const struct mail *m);

#endif
