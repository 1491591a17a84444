/* One mail at a time to a mail server (SMTP), with libcurl.
 *
 * Invariants
 *   S1  Nothing is said in plain text to another machine: smtps:// is TLS from the start, smtp:// has to change to TLS
 *       (STARTTLS) before the login and the mail; only at this machine it need not, and does not.
 *   S2  An address that could be read as something else is refused before anything is sent: smtp_is_address().
 *   S3  SMTP_TAKEN means that the server has answered for the mail. After SMTP_AGAIN it may have it all the same: what is sent
 *       again has the same Message-ID.
 *   S4  The server's refusal of this mail (5xx to its sender, receiver or text) is final. What it says of the connection or the
 *       login is not: that is for an operator to mend, and the mail waits.
 *
 * Each mail has a connection of its own: mail servers close idle ones.
 * Lifetime: a struct smtp belongs to one thread at a time. No function here leaves by longjmp (arena.h A1).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_FETCH_SMTP_H
#define THORPE_FETCH_SMTP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/slice.h"

/* Where mail goes out, checked by smtp_settings_read(). */
struct smtp_settings {
	char *url;             /* smtp[s]://HOST[:PORT]/NAME: the name that the server is greeted with */
	char *user, *password; /* NULL: no login */
	char *ca_file;         /* certificates to trust; NULL: the system's */
	char *from;            /* address */
	char *from_name;       /* NULL: none */
	bool plain;            /* S1: a server on this machine, without TLS */
};

struct smtp_given {
	const char *url;           /* smtp://[USER@]HOST[:PORT] or smtps://… */
	const char *password_file; /* NULL: none. Its first line counts */
	const char *from;          /* ADDRESS, or NAME <ADDRESS> */
	const char *ca_file;       /* NULL: the system's */
};
/* False: `why` is a sentence. *out is to be released in any case. */
bool smtp_settings_read(const struct smtp_given *given, struct smtp_settings *out, char *why, size_t n)
	__attribute__((warn_unused_result));
void smtp_settings_release(struct smtp_settings *s); /* zero is fine */

/* S2: letters, digits and what else may be in an address without quotes; ASCII. Never begins with '-', no blank, no line break. */
bool smtp_is_address(struct slice s);

struct smtp;
/* The settings outlive it. `stop`: once true, a mail is given up within a second or two; NULL: never. NULL: memory. */
struct smtp *smtp_new(const struct smtp_settings *s, const atomic_bool *stop);
void smtp_free(struct smtp *m); /* NULL is fine */

enum smtp_end { SMTP_TAKEN, SMTP_AGAIN, SMTP_REFUSED };
#define SMTP_WHY 256
struct smtp_reply {
	enum smtp_end end;
	int code;           /* of the server's last line; 0: it said nothing */
	char why[SMTP_WHY]; /* a clause, unless taken */
};
/* `text`: headers and body, lines of at most 998 bytes that end with CRLF. */
void smtp_send(struct smtp *m, const char *to, struct slice text, struct smtp_reply *reply);

#endif
