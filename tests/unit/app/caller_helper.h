/* Tokens made by hand, right and wrong, and what caller_read() says of them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_CALLER_HELPER_H
#define THORPE_TESTS_CALLER_HELPER_H

#include "app_fixture.h"
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/hmac.h>
#include "app/auth/caller_internal.h"
#include "base/alloc.h"

#define NOW_S (APP_FIXTURE_NOW / 1000)

static inline int64_t fixture_now(void *ctx)
{
	return *(int64_t *)ctx;
}

struct callers_fixture {
	struct app_fixture app;
	int64_t now_ms;
	struct clock clock;
};

static inline void callers_open(struct callers_fixture *f, const char *yaml)
{
	app_fixture_open(&f->app, yaml);
	f->now_ms = APP_FIXTURE_NOW;
	f->clock = (struct clock){ fixture_now, &f->now_ms };
	f->app.app.clock = &f->clock;
	f->app.app.callers = callers_new(f->app.design, f->app.app.secret);
	assert_non_null(f->app.app.callers);
}

static inline void callers_close(struct callers_fixture *f)
{
	callers_free(f->app.app.callers);
	app_fixture_close(&f->app);
}

static inline struct run *callers_run(struct callers_fixture *f)
{
	struct run *r = app_fixture_run(&f->app, NULL);

	r->now_ms = f->now_ms;
	return r;
}

/* ---- tokens ---- */
static inline struct slice url64(struct arena *a, struct slice s)
{
	struct buf b;

	buf_init(&b, a);
	buf_base64(&b, s);
	for (size_t i = 0; i < b.n; i++)
		b.p[i] = b.p[i] == '+' ? '-' : b.p[i] == '/' ? '_' : b.p[i];
	while (b.n && b.p[b.n - 1] == '=')
		b.n--;
	return buf_slice(&b);
}

static inline struct slice signed_part(struct arena *a, const char *head, const char *claims)
{
	return arena_printf(a, "%.*s.%.*s", SLICE_ARG(url64(a, slice_str(head))),
			    SLICE_ARG(url64(a, slice_str(claims))));
}

static inline struct slice with_signature(struct arena *a, struct slice part, struct slice signature)
{
	return arena_printf(a, "%.*s.%.*s", SLICE_ARG(part), SLICE_ARG(url64(a, signature)));
}

static inline struct slice hs256(struct arena *a, const char *head, const char *claims, struct slice key)
{
	struct slice part = signed_part(a, head, claims);
	uint8_t mac[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	HMAC(EVP_sha256(), key.p, (int)key.n, (const uint8_t *)part.p, part.n, mac, &n);
	return with_signature(a, part, slice_make(mac, n));
}

/* Signs with a private key, in the form of a token. */
static inline struct slice signed_with(struct arena *a, const char *head, const char *claims, EVP_PKEY *key,
				       const EVP_MD *md)
{
	struct slice part = signed_part(a, head, claims);
	bool ec = EVP_PKEY_is_a(key, "EC");
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	uint8_t sig[1024], raw[96];
	size_t n = sizeof(sig), half = (size_t)(EVP_PKEY_get_bits(key) + 7) / 8;

	assert_int_equal(EVP_DigestSignInit(ctx, NULL, md, NULL, key), 1);
	assert_int_equal(EVP_DigestSign(ctx, sig, &n, (const uint8_t *)part.p, part.n), 1);
	EVP_MD_CTX_free(ctx);
	if (ec) {
		const uint8_t *p = sig;
		ECDSA_SIG *s = d2i_ECDSA_SIG(NULL, &p, (long)n);

		assert_true(half <= 48);
		BN_bn2binpad(ECDSA_SIG_get0_r(s), raw, (int)half);
		BN_bn2binpad(ECDSA_SIG_get0_s(s), raw + half, (int)half);
		ECDSA_SIG_free(s);
		return with_signature(a, part, slice_make(raw, 2 * half));
	}
	return with_signature(a, part, slice_make(sig, n));
}

/* ---- reading them ---- */
static inline struct run *read_header(struct callers_fixture *f, struct slice header, bool *ok)
{
	struct run *r = callers_run(f);

	*ok = caller_read(r, header);
	return r;
}

static inline struct run *accept_token(struct callers_fixture *f, struct slice token)
{
	bool ok;
	struct run *r = read_header(f, arena_printf(&f->app.arena, "Bearer %.*s", SLICE_ARG(token)), &ok);

	if (!ok)
		fail_msg("%.*s", SLICE_ARG(r->problem.detail));
	return r;
}

static inline void refuse_as(struct callers_fixture *f, struct slice token, enum problem_type type, const char *says)
{
	bool ok;
	struct run *r = read_header(f, arena_printf(&f->app.arena, "Bearer %.*s", SLICE_ARG(token)), &ok);

	assert_false(ok);
	assert_int_equal(r->problem.type, type);
	if (!memmem(r->problem.detail.p, r->problem.detail.n, says, strlen(says)))
		fail_msg("%.*s, not %s", SLICE_ARG(r->problem.detail), says);
	assert_int_equal(r->caller.subject.n, 0);
	assert_int_equal(r->caller.role_count, 0);
	assert_false(r->caller.operator_);
}

static inline void refuse_token(struct callers_fixture *f, struct slice token, const char *says)
{
	refuse_as(f, token, PROBLEM_UNAUTHENTICATED, says);
}

#define SLICE_IS(s, text) assert_true(slice_is((s), (text)))

#endif
