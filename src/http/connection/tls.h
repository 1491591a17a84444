/* TLS between two byte streams in memory: ciphertext on one side, plaintext on the other.
 *
 * Knows no socket: the connection feeds what it read and sends what is pending.
 * A context is shared by all threads, and lives until its last share is freed and its last connection has ended;
 * a struct tls belongs to one connection.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_CONNECTION_TLS_H
#define THORPE_HTTP_CONNECTION_TLS_H

#include "base/slice.h"

struct tls_context;
struct tls;

/* From PEM files: the certificate with its chain, and its private key.
 * NULL with a sentence in `why`. TLS 1.3, and 1.2 with ephemeral keys (ECDHE) and authenticated ciphers only.
 * A key that others can read and an expired certificate are accepted with a warning in the log. */
struct tls_context *tls_context_new(const char *cert, const char *key, char *why, size_t n);
struct tls_context *tls_context_share(struct tls_context *c); /* NULL is fine, as in tls_context_free() */
void tls_context_free(struct tls_context *c);

struct tls *tls_new(struct tls_context *c); /* NULL: out of memory */
void tls_free(struct tls *t);               /* NULL is fine */

/* Ciphertext from the peer. False: out of memory. */
bool tls_feed(struct tls *t, const char *p, size_t n) __attribute__((warn_unused_result));
/* Plaintext for us: > 0 bytes read; 0: feed more; < 0: the peer ended or broke the stream. */
long tls_read(struct tls *t, char *p, size_t room);
bool tls_is_established(const struct tls *t);
/* Plaintext to the peer; it becomes pending ciphertext. False: the stream is broken. */
bool tls_write(struct tls *t, const char *p, size_t n) __attribute__((warn_unused_result));
/* Tells the peer that no data follows. */
void tls_end(struct tls *t);
/* Ciphertext to send, valid until the next call; tls_sent() then discards it. */
struct slice tls_pending(struct tls *t);
void tls_sent(struct tls *t);

#endif
