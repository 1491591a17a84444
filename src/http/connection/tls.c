/* OpenSSL over two memory BIOs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/private_file.h"
#include "http/connection/tls.h"

#define KEEP_BYTES       (64 * 1024) /* of pending ciphertext */
#define KEEP_INPUT_BYTES (16 * 1024)

/* TLS 1.2's ciphers with forward secrecy and authenticated encryption: no CBC, no SHA-1, no RSA key exchange. */
#define TLS12_CIPHERS "ECDHE+AESGCM:ECDHE+CHACHA20"

struct tls_context {
	atomic_uint shares;
	SSL_CTX *ctx;
};

struct tls {
	SSL *ssl;
	BIO *in, *out; /* owned by ssl */
	size_t fed;    /* the most bytes fed to `in` at once */
};

static void reason(char *why, size_t n, const char *what, const char *file)
{
	unsigned long code = ERR_peek_last_error();
	const char *text = code ? ERR_reason_error_string(code) : NULL;

	snprintf(why, n, "cannot use the %s in %s: %s", what, file, text ? text : "unreadable");
	ERR_clear_error();
}

/* OpenSSL compares key and certificate when it loads the key. */
static bool is_other_key(void)
{
	int reason = ERR_GET_REASON(ERR_peek_last_error());

	return reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH;
}

static void warn_of_files(SSL_CTX *ctx, const char *cert, const char *key)
{
	struct stat st;

	if (stat(key, &st) == 0)
		private_file_warn(st.st_mode, "private key", key);
	if (X509_cmp_current_time(X509_get0_notAfter(SSL_CTX_get0_certificate(ctx))) < 0)
		log_warn("the certificate in %s has expired", cert);
}

struct tls_context *tls_context_new(const char *cert, const char *key, char *why, size_t n)
{
	struct tls_context *c = mem_zalloc(sizeof(*c));

	if (c) {
		atomic_init(&c->shares, 1);
		c->ctx = SSL_CTX_new(TLS_server_method());
	}
	if (!c || !c->ctx) {
		snprintf(why, n, "not enough memory for TLS");
		tls_context_free(c);
		return NULL;
	}
	SSL_CTX_set_min_proto_version(c->ctx, TLS1_2_VERSION);
	if (SSL_CTX_set_cipher_list(c->ctx, TLS12_CIPHERS) != 1) {
		snprintf(why, n, "OpenSSL has none of the ciphers " TLS12_CIPHERS);
		tls_context_free(c);
		return NULL;
	}
	SSL_CTX_set_options(c->ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_mode(c->ctx, SSL_MODE_RELEASE_BUFFERS);
	if (SSL_CTX_use_certificate_chain_file(c->ctx, cert) != 1)
		reason(why, n, "certificate", cert);
	else if (SSL_CTX_use_PrivateKey_file(c->ctx, key, SSL_FILETYPE_PEM) != 1 && !is_other_key())
		reason(why, n, "private key", key);
	else if (SSL_CTX_check_private_key(c->ctx) != 1)
		snprintf(why, n, "the private key in %s does not belong to the certificate in %s", key, cert);
	else {
		warn_of_files(c->ctx, cert, key);
		return c;
	}
	ERR_clear_error();
	tls_context_free(c);
	return NULL;
}

struct tls_context *tls_context_share(struct tls_context *c)
{
	if (c)
		atomic_fetch_add(&c->shares, 1);
	return c;
}

void tls_context_free(struct tls_context *c)
{
	if (!c || atomic_fetch_sub(&c->shares, 1) > 1)
		return;
	SSL_CTX_free(c->ctx);
	mem_free(c);
}

struct tls *tls_new(struct tls_context *c)
{
	struct tls *t = mem_zalloc(sizeof(*t));

	if (!t)
		return NULL;
	t->ssl = SSL_new(c->ctx);
	t->in = BIO_new(BIO_s_mem());
	t->out = BIO_new(BIO_s_mem());
	if (!t->ssl || !t->in || !t->out) {
		BIO_free(t->in);
		BIO_free(t->out);
		SSL_free(t->ssl);
		mem_free(t);
		return NULL;
	}
	SSL_set_bio(t->ssl, t->in, t->out);
	SSL_set_accept_state(t->ssl);
	return t;
}

void tls_free(struct tls *t)
{
	if (t)
		SSL_free(t->ssl);
	mem_free(t);
}

/* As in tls_sent(): a connection that has received much must not keep a large buffer. */
static void shrink_input(struct tls *t)
{
	BIO *fresh;

	if (t->fed <= KEEP_INPUT_BYTES || BIO_ctrl_pending(t->in))
		return;
	fresh = BIO_new(BIO_s_mem());
	if (!fresh)
		return;
	SSL_set0_rbio(t->ssl, fresh); /* frees the old one */
	t->in = fresh;
	t->fed = 0;
}

bool tls_feed(struct tls *t, const char *p, size_t n)
{
	if (n > t->fed)
		t->fed = n;
	return n <= INT_MAX && BIO_write(t->in, p, (int)n) == (int)n;
}

long tls_read(struct tls *t, char *p, size_t room)
{
	size_t n = 0;
	int rc, why;

	ERR_clear_error();
	rc = SSL_read_ex(t->ssl, p, room, &n);
	if (rc == 1)
		return (long)n;
	why = SSL_get_error(t->ssl, rc);
	ERR_clear_error();
	shrink_input(t);
	return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

bool tls_is_established(const struct tls *t)
{
	return SSL_is_init_finished(t->ssl);
}

bool tls_write(struct tls *t, const char *p, size_t n)
{
	size_t wrote;

	if (!n)
		return true;
	ERR_clear_error();
	/* Writing to memory is never partial: everything or an error. */
	return SSL_write_ex(t->ssl, p, n, &wrote) == 1 && wrote == n;
}

void tls_end(struct tls *t)
{
	ERR_clear_error();
	if (SSL_is_init_finished(t->ssl))
		SSL_shutdown(t->ssl);
	ERR_clear_error();
}

struct slice tls_pending(struct tls *t)
{
	char *p = NULL;
	long n = BIO_get_mem_data(t->out, &p);

	return slice_make(p, n > 0 ? (size_t)n : 0);
}

/* A memory BIO never shrinks, and a reset clears all of it: after a large reply, a new one is cheaper than clearing
 * for every small reply that follows. */
void tls_sent(struct tls *t)
{
	BIO *fresh = tls_pending(t).n > KEEP_BYTES ? BIO_new(BIO_s_mem()) : NULL;

	if (!fresh) {
		(void)BIO_reset(t->out);
		return;
	}
	SSL_set0_wbio(t->ssl, fresh); /* frees the old one */
	t->out = fresh;
}
