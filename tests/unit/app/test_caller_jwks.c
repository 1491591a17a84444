/* Tokens of an outside issuer: its keys fetched from a server of this test, kept, rotated, out of reach.
 * SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <openssl/rsa.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include "caller_helper.h"

/* ---- the issuer ---- */
static struct issuer {
	int fd, port;
	pthread_t thread;
	pthread_mutex_t lock;
	char *reply; /* the whole of it; NULL: the connection is closed without one */
	size_t reply_length;
	int asked;
} issuer = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void answer(int fd)
{
	char request[4096];

	if (read(fd, request, sizeof(request)) <= 0)
		return;
	pthread_mutex_lock(&issuer.lock);
	issuer.asked++;
	for (size_t sent = 0; issuer.reply && sent < issuer.reply_length;) {
		ssize_t n = send(fd, issuer.reply + sent, issuer.reply_length - sent, MSG_NOSIGNAL);

		if (n <= 0) /* the other side has had enough */
			break;
		sent += (size_t)n;
	}
	pthread_mutex_unlock(&issuer.lock);
}

static void *serve(void *ctx)
{
	int fd;

	(void)ctx;
	while ((fd = accept(issuer.fd, NULL, NULL)) >= 0) {
		answer(fd);
		close(fd);
	}
	return NULL;
}

static void reply_with(const char *status, const char *headers, const char *body)
{
	size_t n = strlen(body) + 512;
	char *text = mem_alloc(n);

	n = (size_t)snprintf(text, n, "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n%s", status,
			     strlen(body), headers, body);
	pthread_mutex_lock(&issuer.lock);
	mem_free(issuer.reply);
	issuer.reply = text;
	issuer.reply_length = n;
	pthread_mutex_unlock(&issuer.lock);
}

static void reply_nothing(void)
{
	pthread_mutex_lock(&issuer.lock);
	mem_free(issuer.reply);
	issuer.reply = NULL;
	pthread_mutex_unlock(&issuer.lock);
}

static int asked(void)
{
	int n;

	pthread_mutex_lock(&issuer.lock);
	n = issuer.asked;
	pthread_mutex_unlock(&issuer.lock);
	return n;
}

static void start_issuer(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(at);

	issuer.fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(issuer.fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(issuer.fd, 16), 0);
	assert_int_equal(getsockname(issuer.fd, (struct sockaddr *)&at, &n), 0);
	issuer.port = ntohs(at.sin_port);
	issuer.asked = 0;
	assert_int_equal(pthread_create(&issuer.thread, NULL, serve, NULL), 0);
}

static void stop_issuer(void)
{
	shutdown(issuer.fd, SHUT_RDWR);
	pthread_join(issuer.thread, NULL);
	close(issuer.fd);
	reply_nothing();
}

/* ---- keys ---- */
static EVP_PKEY *rsa, *rsa2, *small, *p256, *p384;

static int make_keys(void **state)
{
	(void)state;
	rsa = EVP_RSA_gen(2048);
	rsa2 = EVP_RSA_gen(2048);
	small = EVP_RSA_gen(1024);
	p256 = EVP_EC_gen("P-256");
	p384 = EVP_EC_gen("P-384");
	return rsa && rsa2 && small && p256 && p384 ? 0 : -1;
}

static int drop_keys(void **state)
{
	(void)state;
	EVP_PKEY_free(rsa);
	EVP_PKEY_free(rsa2);
	EVP_PKEY_free(small);
	EVP_PKEY_free(p256);
	EVP_PKEY_free(p384);
	return 0;
}

static struct callers_fixture f;

static struct slice number_of(EVP_PKEY *key, const char *name, int size)
{
	uint8_t bytes[512];
	BIGNUM *n = NULL;

	assert_int_equal(EVP_PKEY_get_bn_param(key, name, &n), 1);
	size = size ? size : BN_num_bytes(n);
	BN_bn2binpad(n, bytes, size);
	BN_free(n);
	return url64(&f.app.arena, slice_make(bytes, (size_t)size));
}

/* `more`: further members, each after a comma. */
static const char *jwk(EVP_PKEY *key, const char *kid, const char *more)
{
	struct arena *a = &f.app.arena;
	int size = (EVP_PKEY_get_bits(key) + 7) / 8;
	struct slice text;

	if (EVP_PKEY_is_a(key, "RSA"))
		text = arena_printf(a, "{\"kty\":\"RSA\",\"kid\":\"%s\",\"n\":\"%.*s\",\"e\":\"%.*s\"%s}", kid,
				    SLICE_ARG(number_of(key, OSSL_PKEY_PARAM_RSA_N, 0)),
				    SLICE_ARG(number_of(key, OSSL_PKEY_PARAM_RSA_E, 0)), more);
	else
		text = arena_printf(a,
				    "{\"kty\":\"EC\",\"crv\":\"P-%d\",\"kid\":\"%s\",\"x\":\"%.*s\",\"y\":\"%.*s\"%s}",
				    8 * size, kid, SLICE_ARG(number_of(key, OSSL_PKEY_PARAM_EC_PUB_X, size)),
				    SLICE_ARG(number_of(key, OSSL_PKEY_PARAM_EC_PUB_Y, size)), more);
	return arena_cstr(a, text);
}

static void publish(const char *first, const char *second)
{
	struct slice body = arena_printf(&f.app.arena, "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\"}%s%s%s%s]}",
					 first ? "," : "", first ? first : "", second ? "," : "", second ? second : "");

	reply_with("200 OK", "", arena_cstr(&f.app.arena, body));
}

#define ISSUER "https://issuer.example/pool"
#define NOTES                                         \
	"entities:\n  Note:\n    path: /notes/<id>\n" \
	"    attributes: {id: 'string, id'}\n    keys: {PK: NOTE#<id>, SK: N}\n"

static void open_with(const char *callers)
{
	char yaml[1024];

	start_issuer();
	snprintf(yaml, sizeof(yaml), "callers:\n  issuer: " ISSUER "\n  jwks: http://127.0.0.1:%d/keys\n%s" NOTES,
		 issuer.port, callers);
	callers_open(&f, yaml);
}

static int setup(void **state)
{
	(void)state;
	open_with("  groups: cognito:groups\n");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	callers_close(&f);
	stop_issuer();
	return 0;
}

#define CLAIMS                                                                                 \
	"{\"iss\":\"" ISSUER "\",\"sub\":\"u1\",\"token_use\":\"access\",\"client_id\":\"c\"," \
	"\"cognito:groups\":[\"admin\"],\"exp\":1768473600}"

static struct slice token(EVP_PKEY *key, const char *alg, const char *kid, const EVP_MD *md)
{
	struct slice head = arena_printf(&f.app.arena, "{\"alg\":\"%s\",\"kid\":\"%s\"}", alg, kid);

	return signed_with(&f.app.arena, arena_cstr(&f.app.arena, head), CLAIMS, key, md);
}

static struct slice rs256(EVP_PKEY *key, const char *kid)
{
	return token(key, "RS256", kid, EVP_sha256());
}

static struct slice claims(const char *text)
{
	return signed_with(&f.app.arena, "{\"alg\":\"RS256\",\"kid\":\"a\"}", text, rsa, EVP_sha256());
}

static bool may_block(struct slice t)
{
	return caller_may_block(&f.app.app, arena_printf(&f.app.arena, "Bearer %.*s", SLICE_ARG(t)));
}

/* ---- what is shown ---- */
static void rsa_and_ec_keys_verify_their_tokens(void **state)
{
	struct run *r;

	(void)state;
	publish(jwk(rsa, "a", ",\"use\":\"sig\",\"alg\":\"RS256\""), jwk(p256, "b", ""));
	r = accept_token(&f, rs256(rsa, "a"));
	SLICE_IS(r->caller.subject, "u1");
	assert_int_equal(r->caller.role_count, 1);
	assert_true(run_has_role(r, SLICE("admin")));
	assert_false(r->caller.operator_);
	accept_token(&f, token(p256, "ES256", "b", EVP_sha256()));
	assert_int_equal(asked(), 1);
	f.now_ms += 60000;
	publish(jwk(rsa2, "c", ""), jwk(p384, "d", ",\"alg\":\"ES384\""));
	accept_token(&f, token(rsa2, "RS384", "c", EVP_sha384()));
	accept_token(&f, token(rsa2, "RS512", "c", EVP_sha512()));
	accept_token(&f, token(p384, "ES384", "d", EVP_sha384()));
	assert_int_equal(asked(), 2);
}

static void only_the_algorithm_of_a_key_is_taken(void **state)
{
	struct arena *a = &f.app.arena;
	const char *document = jwk(rsa, "a", ",\"alg\":\"RS256\"");

	(void)state;
	publish(document, jwk(p256, "b", ""));
	accept_token(&f, rs256(rsa, "a"));
	refuse_token(&f, token(rsa, "RS384", "a", EVP_sha384()), "does not publish");
	refuse_token(&f, token(p256, "ES256", "a", EVP_sha256()), "does not publish");
	refuse_token(&f, token(rsa, "RS256", "b", EVP_sha256()), "does not publish");
	refuse_token(&f, token(p384, "ES384", "b", EVP_sha384()), "does not publish");
	/* The classic: the public key as the secret of an HMAC. */
	refuse_token(&f, hs256(a, "{\"alg\":\"HS256\",\"kid\":\"a\"}", CLAIMS, slice_str(document)), "not signed here");
	refuse_token(&f, with_signature(a, signed_part(a, "{\"alg\":\"none\",\"kid\":\"a\"}", CLAIMS), SLICE("x")),
		     "not accepted");
}

static void another_keys_signature_is_refused(void **state)
{
	struct slice good = token(p256, "ES256", "b", EVP_sha256());
	char zeros[64] = { 0 };

	(void)state;
	publish(jwk(rsa, "a", ""), jwk(p256, "b", ""));
	refuse_token(&f, rs256(rsa2, "a"), "not signed by its issuer");
	refuse_token(&f, token(p384, "ES256", "b", EVP_sha256()), "not signed by its issuer");
	refuse_token(&f,
		     with_signature(&f.app.arena, signed_part(&f.app.arena, "{\"alg\":\"ES256\",\"kid\":\"b\"}", CLAIMS),
				    slice_make(zeros, 64)),
		     "not signed by its issuer");
	refuse_token(&f, slice_make(good.p, good.n - 4), "");
	accept_token(&f, good);
}

static void claims_of_the_issuer_are_checked(void **state)
{
	struct run *r;

	(void)state;
	publish(jwk(rsa, "a", ""), NULL);
	refuse_token(&f, claims("{\"iss\":\"https://issuer.example/other\",\"sub\":\"u\",\"exp\":1768473600}"),
		     "another issuer");
	refuse_token(&f, claims("{\"iss\":\"thorpe\",\"aud\":\"test\",\"sub\":\"u\",\"exp\":1768473600}"),
		     "another issuer");
	refuse_token(&f, claims("{\"sub\":\"u\",\"exp\":1768473600}"), "another issuer");
	refuse_token(&f, claims("{\"iss\":\"" ISSUER "\",\"sub\":\"u\",\"exp\":1768472000}"), "expired");
	refuse_token(&f, claims("{\"iss\":\"" ISSUER "\",\"exp\":1768473600}"), "no subject");
	/* An outside issuer cannot make operators. */
	r = accept_token(&f, claims("{\"iss\":\"" ISSUER "\",\"sub\":\"u\",\"operator\":true,\"exp\":1768473600}"));
	assert_false(r->caller.operator_);
}

#define FOR(member) claims("{\"iss\":\"" ISSUER "\",\"sub\":\"u\",\"exp\":1768473600" member "}")

static void a_token_must_be_for_one_of_the_audiences(void **state)
{
	static const char other[] = "meant for another audience";

	callers_close(&f);
	stop_issuer();
	open_with("  audience: [web, app]\n");
	(void)state;
	publish(jwk(rsa, "a", ""), NULL);
	accept_token(&f, FOR(",\"aud\":\"web\""));
	accept_token(&f, FOR(",\"aud\":[\"x\",\"app\"]"));
	accept_token(&f, FOR(",\"client_id\":\"web\"")); /* as Cognito's access tokens */
	refuse_token(&f, FOR(""), other);
	refuse_token(&f, FOR(",\"aud\":\"other\""), other);
	refuse_token(&f, FOR(",\"aud\":\"other\",\"client_id\":\"web\""), other);
	refuse_token(&f, FOR(",\"aud\":[],\"client_id\":\"web\""), other);
	refuse_token(&f, FOR(",\"aud\":null,\"client_id\":\"web\""), other);
	refuse_token(&f, FOR(",\"aud\":[\"we\",\"webb\",7,[\"web\"]]"), other);
	refuse_token(&f, FOR(",\"aud\":{\"web\":\"web\"}"), other);
	refuse_token(&f, FOR(",\"aud\":\"\""), other);
	refuse_token(&f, FOR(",\"client_id\":\"api\""), other);
	refuse_token(&f, FOR(",\"aud\":\"test\""), other); /* the design's name is our own tokens' */
}

static void groups_may_be_a_list_or_words(void **state)
{
	struct run *r;

	(void)state;
	publish(jwk(rsa, "a", ""), NULL);
	r = accept_token(&f, claims("{\"iss\":\"" ISSUER
				    "\",\"sub\":\"u\",\"exp\":1768473600,\"cognito:groups\":\" a, b c,\"}"));
	assert_int_equal(r->caller.role_count, 3);
	SLICE_IS(r->caller.roles[0], "a");
	SLICE_IS(r->caller.roles[2], "c");
	r = accept_token(&f, claims("{\"iss\":\"" ISSUER
				    "\",\"sub\":\"u\",\"exp\":1768473600,\"cognito:groups\":[1,\"x\",null]}"));
	assert_int_equal(r->caller.role_count, 1);
	r = accept_token(&f, claims("{\"iss\":\"" ISSUER "\",\"sub\":\"u\",\"exp\":1768473600,\"roles\":[\"admin\"]}"));
	assert_int_equal(r->caller.role_count, 0);
}

static void the_subject_may_be_another_claim(void **state)
{
	struct run *r;

	callers_close(&f);
	stop_issuer();
	open_with("  subject: username\n  groups: realm_access.roles\n");
	(void)state;
	publish(jwk(rsa, "a", ""), NULL);
	r = accept_token(&f, claims("{\"iss\":\"" ISSUER "\",\"sub\":\"u\",\"username\":\"n\",\"exp\":1768473600,"
				    "\"realm_access\":{\"roles\":[\"x\"]}}"));
	SLICE_IS(r->caller.subject, "n");
	SLICE_IS(r->caller.roles[0], "x");
	refuse_token(&f, claims("{\"iss\":\"" ISSUER "\",\"sub\":\"u\",\"exp\":1768473600}"), "no subject");
}

static void our_own_tokens_are_taken_too(void **state)
{
	struct token_request q = { .operator_ = true, .now_ms = f.now_ms, .seconds = 60 };
	struct slice own = caller_token(&f.app.arena, f.app.design->name, f.app.app.secret, &q);

	(void)state;
	assert_true(accept_token(&f, own)->caller.operator_);
	assert_false(may_block(own));
	assert_int_equal(asked(), 0);
}

static void a_new_key_is_fetched_at_most_once_a_minute(void **state)
{
	(void)state;
	publish(jwk(rsa, "a", ""), NULL);
	assert_true(may_block(rs256(rsa, "a")));
	accept_token(&f, rs256(rsa, "a"));
	assert_false(may_block(rs256(rsa, "a")));
	publish(jwk(rsa2, "b", ""), NULL);
	f.now_ms += 59999;
	assert_false(may_block(rs256(rsa2, "b")));
	refuse_token(&f, rs256(rsa2, "b"), "does not publish");
	assert_int_equal(asked(), 1);
	f.now_ms += 1;
	assert_false(may_block(rs256(rsa, "a")));
	assert_true(may_block(rs256(rsa2, "b")));
	accept_token(&f, rs256(rsa2, "b"));
	assert_int_equal(asked(), 2);
	/* The old one went with the rotation. */
	refuse_token(&f, rs256(rsa, "a"), "does not publish");
	assert_int_equal(asked(), 2);
}

static void old_keys_are_fetched_again(void **state)
{
	(void)state;
	publish(jwk(rsa, "a", ""), NULL);
	accept_token(&f, rs256(rsa, "a"));
	publish(jwk(rsa2, "b", ""), NULL);
	f.now_ms += 3600000;
	assert_true(may_block(rs256(rsa, "a")));
	refuse_token(&f, rs256(rsa, "a"), "does not publish");
	assert_int_equal(asked(), 2);
}

static void without_the_issuer_its_last_keys_go_on(void **state)
{
	const char *lasting = "{\"iss\":\"" ISSUER "\",\"sub\":\"u\",\"exp\":1868473600}";

	(void)state;
	publish(jwk(rsa, "a", ""), NULL);
	accept_token(&f, rs256(rsa, "a"));
	reply_nothing();
	f.now_ms += 2 * 3600000;
	accept_token(&f, claims(lasting));
	assert_int_equal(asked(), 2);
	reply_with("200 OK", "", "no JSON");
	f.now_ms += 60000;
	accept_token(&f, claims(lasting));
	assert_int_equal(asked(), 3);
	reply_with("500 Internal Server Error", "", "{\"keys\":[]}");
	f.now_ms += 60000;
	accept_token(&f, claims(lasting));
	refuse_token(&f, rs256(rsa2, "b"), "does not publish");
	assert_int_equal(asked(), 4);
}

static void without_any_key_it_is_busy(void **state)
{
	(void)state;
	reply_nothing();
	refuse_as(&f, rs256(rsa, "a"), PROBLEM_BUSY, "cannot be fetched");
	refuse_as(&f, rs256(rsa, "a"), PROBLEM_BUSY, "cannot be fetched");
	assert_int_equal(asked(), 1); /* not with every request */
	publish(jwk(rsa, "a", ""), NULL);
	f.now_ms += 5000;
	accept_token(&f, rs256(rsa, "a"));
	assert_int_equal(asked(), 2);
}

static void a_token_without_a_key_id_fits_a_single_key(void **state)
{
	struct slice t = signed_with(&f.app.arena, "{\"alg\":\"RS256\"}", CLAIMS, rsa, EVP_sha256());

	(void)state;
	publish(jwk(rsa, "a", ""), jwk(p256, "b", ""));
	accept_token(&f, t);
	publish(jwk(rsa, "a", ""), jwk(rsa2, "b", ""));
	f.now_ms += 3600000 - 1000;
	refuse_token(&f, rs256(rsa, "x"), "does not publish");
	refuse_token(&f, t, "does not publish");
}

static void weak_and_strange_keys_are_left_out(void **state)
{
	(void)state;
	publish(jwk(small, "a", ""), jwk(rsa, "b", ",\"use\":\"enc\""));
	refuse_token(&f, rs256(small, "a"), "does not publish");
	refuse_token(&f, rs256(rsa, "b"), "does not publish");
	publish(jwk(rsa, "c", ",\"alg\":\"HS256\""),
		"{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"d\",\"x\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\","
		"\"y\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\"},7,null,{\"kty\":\"RSA\",\"n\":\"!\",\"e\":\"AQAB\"}");
	f.now_ms += 60000;
	refuse_token(&f, rs256(rsa, "c"), "does not publish");
	refuse_token(&f, token(p256, "ES256", "d", EVP_sha256()), "does not publish");
	assert_int_equal(asked(), 2);
}

static void a_redirect_to_plain_http_is_not_followed(void **state)
{
	char location[128];

	(void)state;
	snprintf(location, sizeof(location), "Location: http://127.0.0.1:%d/other\r\n", issuer.port);
	reply_with("302 Found", location, "");
	refuse_as(&f, rs256(rsa, "a"), PROBLEM_BUSY, "cannot be fetched");
	assert_int_equal(asked(), 1);
}

static void a_document_without_end_is_refused(void **state)
{
	size_t n = 2 * 1024 * 1024;
	char *body = mem_alloc(n + 1);

	(void)state;
	memset(body, ' ', n);
	body[n] = 0;
	reply_with("200 OK", "", body);
	mem_free(body);
	refuse_as(&f, rs256(rsa, "a"), PROBLEM_BUSY, "cannot be fetched");
}

static void other_addresses_are_never_asked(void **state)
{
	static const char *const urls[] = { "file:///etc/passwd",
					    "http://example.org/keys",
					    "ftp://127.0.0.1/keys",
					    "http://127.0.0.1@example.org/",
					    "http://127.0.0.1.example.org/",
					    "gopher://localhost/",
					    "",
					    "keys.json" };
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
		assert_null(jwks_fetch(urls[i], &n));
}

static void *read_in_thread(void *ctx)
{
	struct jwks *j = f.app.app.callers->jwks;
	EVP_PKEY *key = NULL;

	(void)ctx;
	for (int i = 0; i < 200; i++) {
		if (jwks_find(j, SLICE("a"), JWT_RS256, APP_FIXTURE_NOW + i * INT64_C(3600000), &key) != JWKS_FOUND)
			return (void *)1;
		EVP_PKEY_free(key);
	}
	return NULL;
}

static void many_threads_share_the_keys(void **state)
{
	pthread_t threads[4];
	void *failed;

	(void)state;
	publish(jwk(rsa, "a", ""), NULL);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_in_thread, NULL), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
}

static void running_out_of_memory_is_like_an_issuer_out_of_reach(void **state)
{
	struct slice url = arena_printf(&f.app.arena, "http://127.0.0.1:%d/keys", issuer.port);
	enum jwks_answer answer = JWKS_UNREACHABLE;

	(void)state;
	publish(jwk(rsa, "a", ""), jwk(p256, "b", ""));
	for (long n = 0; n < 50 && answer != JWKS_FOUND; n++) {
		struct jwks *j = jwks_new(url);
		EVP_PKEY *key = NULL;

		alloc_fail_after(n);
		answer = jwks_find(j, SLICE("b"), JWT_ES256, f.now_ms, &key);
		alloc_fail_never();
		assert_true((answer == JWKS_FOUND) == (key != NULL));
		EVP_PKEY_free(key);
		jwks_free(j);
	}
	assert_int_equal(answer, JWKS_FOUND);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rsa_and_ec_keys_verify_their_tokens),
		TEST(only_the_algorithm_of_a_key_is_taken),
		TEST(another_keys_signature_is_refused),
		TEST(claims_of_the_issuer_are_checked),
		TEST(a_token_must_be_for_one_of_the_audiences),
		TEST(groups_may_be_a_list_or_words),
		TEST(the_subject_may_be_another_claim),
		TEST(our_own_tokens_are_taken_too),
		TEST(a_new_key_is_fetched_at_most_once_a_minute),
		TEST(old_keys_are_fetched_again),
		TEST(without_the_issuer_its_last_keys_go_on),
		TEST(without_any_key_it_is_busy),
		TEST(a_token_without_a_key_id_fits_a_single_key),
		TEST(weak_and_strange_keys_are_left_out),
		TEST(a_redirect_to_plain_http_is_not_followed),
		TEST(a_document_without_end_is_refused),
		TEST(other_addresses_are_never_asked),
		TEST(many_threads_share_the_keys),
		TEST(running_out_of_memory_is_like_an_issuer_out_of_reach),
	};

	return cmocka_run_group_tests(tests, make_keys, drop_keys);
}
