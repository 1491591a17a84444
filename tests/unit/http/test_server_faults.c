/* The server against slow, rude and vanishing clients; its limits, TLS, and its end.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/alloc.h"
#include "http/connection/exchange.h"

#include "wire.h"

static struct wire wire;

static void start(struct http_limits limits)
{
	wire_start(&wire, &(struct server_options){ .limits = limits });
}

static void assert_status(int fd, int status)
{
	struct wire_reply r;

	assert_true(wire_read(fd, &r));
	assert_int_equal(r.status, status);
	mem_free(r.body);
}

/* ---- limits ---- */

static void a_body_of_17_megabytes_is_refused_before_it_is_read(void **state)
{
	struct wire_reply r;
	char *body = mem_zalloc(17 << 20);
	int fd;

	(void)state;
	start((struct http_limits){ 0 });
	fd = wire_connect(&wire);
	/* The client sends all of it before it looks: the reply must not be lost by a reset. */
	wire_post(fd, "Echo", "", slice_make(body, 17 << 20));
	assert_true(wire_read(fd, &r));
	assert_int_equal(r.status, 413);
	assert_int_equal(r.decoded_chunks, 1);
	assert_non_null(memmem(r.body, r.body_n, "RequestEntityTooLargeException", 30));
	mem_free(r.body);
	mem_free(body);
	assert_true(wire_is_closed(fd));
	close(fd);
	wire_stop(&wire);
}

static void a_chunked_body_is_limited_too(void **state)
{
	int fd;

	(void)state;
	start((struct http_limits){ .body_bytes = 10 });
	fd = wire_connect(&wire);
	wire_send_text(fd, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
			   "8\r\n12345678\r\n8\r\n12345678\r\n");
	assert_status(fd, 413);
	assert_true(wire_is_closed(fd));
	close(fd);
	wire_stop(&wire);
}

static void nonsense_gets_400_and_the_end(void **state)
{
	int fd;

	(void)state;
	start((struct http_limits){ 0 });
	fd = wire_connect(&wire);
	wire_send_text(fd, "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\nwhat is this?\r\n\r\nGET / HTTP/1.1\r\n");
	assert_status(fd, 200);
	assert_status(fd, 400);
	assert_true(wire_is_closed(fd));
	close(fd);
	wire_stop(&wire);
}

static void too_many_connections_get_503(void **state)
{
	int a, b, c;

	(void)state;
	start((struct http_limits){ .connections = 2 });
	a = wire_connect(&wire);
	b = wire_connect(&wire);
	assert_true(wire_call(a, "Echo", "x", 200, "x"));
	assert_true(wire_call(b, "Echo", "x", 200, "x"));
	c = wire_connect(&wire);
	assert_status(c, 503);
	assert_true(wire_is_closed(c));
	assert_true(wire_call(a, "Echo", "x", 200, "x"));
	close(a);
	close(b);
	close(c);
	wire_stop(&wire);
}

static void a_trusted_proxy_may_have_all_connections(void **state)
{
	struct proxies proxies = { 0 };
	int fds[8], fd;
	char why[200];
	struct server_options o = {
		.limits = { .connections = 8, .connections_per_address = 2, .reserved_connections = 4 }
	};

	(void)state;
	wire_start(&wire, &o);
	fds[0] = wire_connect(&wire);
	fds[1] = wire_connect(&wire);
	assert_true(wire_call(fds[0], "Echo", "x", 200, "x") && wire_call(fds[1], "Echo", "x", 200, "x"));
	fd = wire_connect(&wire);
	wire_post(fd, "Echo", "", SLICE("x"));
	assert_status(fd, 503);
	assert_true(wire_is_closed(fd));
	close(fd);
	fd = wire_connect(&wire);
	wire_send_text(fd, "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n");
	assert_status(fd, 200);
	assert_true(wire_is_closed(fd)); /* one request, and the place is free */
	close(fd);
	close(fds[0]);
	close(fds[1]);
	wire_stop(&wire);

	assert_true(proxies_add(&proxies, "127.0.0.0/8", why, sizeof(why)));
	o.proxies = &proxies;
	wire_start(&wire, &o);
	for (int i = 0; i < 8; i++) {
		fds[i] = wire_connect(&wire);
		assert_true(wire_call(fds[i], "Echo", "x", 200, "x"));
	}
	for (int i = 0; i < 8; i++)
		close(fds[i]);
	wire_stop(&wire);
}

static void the_oldest_on_the_reserve_makes_room(void **state)
{
	struct server_options o = { .limits = { .connections = 1, .reserved_connections = 2 } };
	int first, fds[6];

	(void)state;
	wire_start(&wire, &o);
	first = wire_connect(&wire);
	assert_true(wire_call(first, "Echo", "x", 200, "x"));
	for (int i = 0; i < 6; i++) {
		fds[i] = wire_connect(&wire);
		if (i >= 2)
			assert_status(fds[i - 2], 503); /* silent, and pushed out */
	}
	wire_send_text(fds[5], "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n");
	assert_status(fds[5], 200);
	assert_status(fds[4], 503); /* silent for too long */
	assert_true(wire_call(first, "Echo", "x", 200, "x"));
	for (int i = 0; i < 6; i++)
		close(fds[i]);
	close(first);
	wire_stop(&wire);
}

/* ---- the budget ---- */

static void bodies_share_a_budget_and_small_requests_do_without(void **state)
{
	enum { HEAD_LENGTH = 1 << 20 };
	char *body = mem_zalloc(HEAD_LENGTH), head[200];
	int a, b, c;

	(void)state;
	start((struct http_limits){ .request_memory = 1 << 20 });
	a = wire_connect(&wire);
	b = wire_connect(&wire);
	c = wire_connect(&wire);
	snprintf(head, sizeof(head),
		 "POST / HTTP/1.1\r\nHost: h\r\nX-Amz-Target: x.Echo\r\n"
		 "Content-Type: application/json\r\nContent-Length: 600000\r\n\r\n");
	wire_send_text(a, head);
	wire_send(a, body, 599999);
	assert_true(wire_call(c, "Echo", "x", 200, "x"));
	/* Until `a` has been read, `b` may be the one that finds room. */
	do {
		struct wire_reply r;
		bool full;

		wire_send_text(c, "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
		assert_true(wire_read(c, &r));
		full = strtoul(strstr(r.body, "\nthorpe_http_request_memory_bytes ") + 34, NULL, 10) >= 600000;
		mem_free(r.body);
		if (full)
			break;
	} while (true);
	wire_send_text(b, head);
	wire_send(b, body, 599999);
	assert_status(b, 503);
	assert_true(wire_is_closed(b));
	assert_true(wire_call(c, "Later", "x", 200, "x"));
	wire_send(a, body, 1);
	assert_status(a, 200);
	/* Its memory is free when it has been answered. */
	wire_post(c, "Echo", "", slice_make(body, 600000));
	assert_status(c, 200);
	/* And what can never fit is told so. */
	wire_post(c, "Echo", "", slice_make(body, HEAD_LENGTH));
	assert_status(c, 413);
	close(a);
	close(b);
	close(c);
	mem_free(body);
	wire_stop(&wire);
}

/* ---- time ---- */

static void an_idle_connection_is_closed(void **state)
{
	int fd, other;

	(void)state;
	start((struct http_limits){ .idle_ms = 50 });
	fd = wire_connect(&wire);
	other = wire_connect(&wire);
	assert_true(wire_call(fd, "Echo", "x", 200, "x"));
	assert_true(wire_is_closed(fd));
	assert_true(wire_is_closed(other));
	close(fd);
	close(other);
	wire_stop(&wire);
}

static void half_a_head_gets_408(void **state)
{
	int fd;

	(void)state;
	start((struct http_limits){ .header_ms = 50 });
	fd = wire_connect(&wire);
	wire_send_text(fd, "POST / HTTP/1.1\r\nHost: h\r\n");
	assert_status(fd, 408);
	assert_true(wire_is_closed(fd));
	close(fd);
	wire_stop(&wire);
}

static void half_a_body_gets_408(void **state)
{
	int fd;

	(void)state;
	start((struct http_limits){ .header_ms = 50, .body_ms = 50 });
	fd = wire_connect(&wire);
	wire_send_text(fd, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
	assert_status(fd, 408);
	assert_true(wire_is_closed(fd));
	close(fd);
	wire_stop(&wire);
}

static void a_client_that_does_not_read_is_dropped(void **state)
{
	struct wire_reply r;
	int fd, other, n = 0;

	(void)state;
	start((struct http_limits){ .write_ms = 50 });
	fd = wire_connect(&wire);
	other = wire_connect(&wire);
	for (int i = 0; i < 8; i++)
		wire_post(fd, "Huge", "", SLICE("{}"));
	/* The drop shows in the metrics; asking for them is what waits. */
	do {
		wire_send_text(other, "GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n");
		assert_true(wire_read(other, &r));
		n = strstr(r.body, "\nthorpe_http_timeouts_total 1\n") != NULL;
		mem_free(r.body);
	} while (!n);
	close(fd);
	close(other);
	wire_stop(&wire);
}

/* ---- vanishing ---- */

static void a_client_may_vanish_at_any_byte(void **state)
{
	static const char request[] = "POST / HTTP/1.1\r\nHost: h\r\nX-Amz-Target: x.Later\r\n"
				      "Content-Type: application/json\r\nContent-Length: 5\r\n\r\nhello";
	struct linger reset = { .l_onoff = 1 };
	int fd;

	(void)state;
	start((struct http_limits){ 0 });
	for (size_t n = 0; n < sizeof(request); n++) {
		fd = wire_connect(&wire);
		wire_send(fd, request, n);
		if (n % 2)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		close(fd);
	}
	fd = wire_connect(&wire);
	assert_true(wire_call(fd, "Later", "x", 200, "x"));
	close(fd);
	wire_stop(&wire);
}

static void a_client_may_vanish_while_the_api_works(void **state)
{
	int fds[5], other;

	(void)state;
	start((struct http_limits){ 0 });
	for (int i = 0; i < 5; i++) {
		fds[i] = wire_connect(&wire);
		wire_post(fds[i], "Hold", "", SLICE("x"));
		wire_post(fds[i], "Hold", "", SLICE("its turn never comes"));
	}
	fake_api_await_held(wire.api, 5);
	for (int i = 0; i < 5; i++)
		close(fds[i]);
	other = wire_connect(&wire);
	assert_true(wire_call(other, "Echo", "x", 200, "x"));
	fake_api_release(wire.api);
	assert_true(wire_call(other, "Later", "x", 200, "x"));
	close(other);
	wire_stop(&wire);
}

static void a_client_that_has_finished_sending_is_answered(void **state)
{
	int fd;

	(void)state;
	start((struct http_limits){ 0 });
	fd = wire_connect(&wire);
	wire_post(fd, "Later", "", SLICE("x"));
	wire_post(fd, "Echo", "", SLICE("y"));
	shutdown(fd, SHUT_WR);
	assert_status(fd, 200);
	assert_status(fd, 200);
	assert_true(wire_is_closed(fd));
	close(fd);
	wire_stop(&wire);
}

/* ---- stopping ---- */

static void stopping_answers_what_is_in_flight(void **state)
{
	struct wire_reply r;
	char value[32];
	int fd, idle;

	(void)state;
	/* One loop: when the idle connection is closed, the other one is draining as well. */
	wire_start(&wire, &(struct server_options){ .threads = 1 });
	fd = wire_connect(&wire);
	idle = wire_connect(&wire);
	assert_true(wire_call(idle, "Echo", "x", 200, "x"));
	wire_post(fd, "Hold", "", SLICE("held"));
	fake_api_await_held(wire.api, 1);
	server_stop(wire.server);
	assert_true(wire_is_closed(idle));
	fake_api_release(wire.api);
	assert_true(wire_read(fd, &r));
	assert_int_equal(r.status, 200);
	assert_true(wire_header(&r, "connection", value, sizeof(value)));
	assert_string_equal(value, "close");
	mem_free(r.body);
	close(fd);
	close(idle);
	wire_join(&wire);
	wire_stop(&wire);
}

static void stopping_does_not_wait_for_ever(void **state)
{
	int fd;

	(void)state;
	start((struct http_limits){ .drain_ms = 50 });
	fd = wire_connect(&wire);
	wire_send_text(fd, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
	server_stop(wire.server);
	assert_true(wire_is_closed(fd));
	wire_join(&wire);
	close(fd);
	wire_stop(&wire);
}

static void a_port_in_use_is_refused_in_a_sentence(void **state)
{
	char text[ADDRESS_TEXT], why[200], expected[200];
	struct server_options o = { .listen = text };

	(void)state;
	start((struct http_limits){ 0 });
	address_format(server_address(wire.server), text, sizeof(text));
	assert_null(server_new(&o, why, sizeof(why)));
	snprintf(expected, sizeof(expected), "another process already listens on %s", text);
	assert_string_equal(why, expected);
	wire_stop(&wire);
}

/* ---- memory ---- */

/* Lets as many allocations of the loop's thread succeed as the query says; none: all. */
static void handle_memory(struct exchange *ex, void *ctx)
{
	(void)ctx;
	exchange_reply(ex, 200, SLICE("text/plain"), SLICE("ok"));
	if (ex->req.query.n)
		alloc_fail_after(strtol(arena_cstr(&ex->arena, ex->req.query), NULL, 10));
	else
		alloc_fail_never();
}

static void memory_that_runs_out_costs_a_request_not_the_server(void **state)
{
	static const struct http_route routes[] = { { HTTP_GET, "/memory", 0, handle_memory } };
	static const char disarm[] = "GET /memory HTTP/1.1\r\nHost: h\r\n\r\n";
	int answered = 0, refused = 0;

	(void)state;
	wire_start(&wire, &(struct server_options){ .threads = 1, .routes = routes, .route_count = 1 });
	for (int n = 0; n < 12; n++) {
		int armed = wire_connect(&wire), fd = wire_connect(&wire);
		struct wire_reply r;
		char arm[100];

		/* Both are known to the loop, and an arena's first block is there for the
		 * disarming. */
		assert_true(wire_call(fd, "Echo", "x", 200, "x"));
		snprintf(arm, sizeof(arm), "GET /memory?%d HTTP/1.1\r\nHost: h\r\n\r\n", n);
		wire_send_text(armed, arm);
		assert_status(armed, 200);
		wire_post(fd, "Big", "Accept-Encoding: gzip\r\n", SLICE("{}"));
		if (wire_read(fd, &r)) {
			assert_true(r.status == 200 || r.status == 500);
			answered += r.status == 200;
			refused += r.status == 500;
			mem_free(r.body);
		} else {
			refused++;
		}
		wire_send_text(armed, disarm);
		assert_status(armed, 200);
		assert_true(wire_call(armed, "Later", "x", 200, "x"));
		close(fd);
		close(armed);
	}
	assert_true(answered > 0 && refused > 0);
	wire_stop(&wire);
}

/* ---- TLS ---- */

static char cert_path[64], key_path[64];

static void write_certificate(void)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = X509_new();
	FILE *f;

	snprintf(cert_path, sizeof(cert_path), "/tmp/thorpe-cert-%d.pem", (int)getpid());
	snprintf(key_path, sizeof(key_path), "/tmp/thorpe-key-%d.pem", (int)getpid());
	ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
	X509_gmtime_adj(X509_getm_notBefore(x), -60);
	X509_gmtime_adj(X509_getm_notAfter(x), 3600);
	X509_set_pubkey(x, key);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC, (const unsigned char *)"localhost", -1,
				   -1, 0);
	X509_set_issuer_name(x, X509_get_subject_name(x));
	assert_true(X509_sign(x, key, EVP_sha256()) > 0);
	f = fopen(cert_path, "w");
	PEM_write_X509(f, x);
	fclose(f);
	f = fopen(key_path, "w");
	PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL);
	fclose(f);
	X509_free(x);
	EVP_PKEY_free(key);
}

static int make_certificate(void **state)
{
	(void)state;
	write_certificate();
	return 0;
}

static int remove_certificate(void **state)
{
	(void)state;
	unlink(cert_path);
	unlink(key_path);
	return 0;
}

/* See wire_recv(). */
static bool was_interrupted(SSL *ssl, int ok)
{
	return ok != 1 && SSL_get_error(ssl, ok) == SSL_ERROR_WANT_READ && errno == EINTR;
}

static bool read_some_tls(SSL *ssl, char *p, size_t n, size_t *k)
{
	int ok;

	do
		ok = SSL_read_ex(ssl, p, n, k);
	while (was_interrupted(ssl, ok));
	return ok;
}

static void read_tls(SSL *ssl, size_t n)
{
	char piece[16384];
	size_t k;

	while (n) {
		assert_true(read_some_tls(ssl, piece, n < sizeof(piece) ? n : sizeof(piece), &k));
		n -= k;
	}
}

/* Reads up to the end of a head. */
static void read_tls_head(SSL *ssl, char *head, size_t room)
{
	size_t n = 0, k;

	while (n < 4 || memcmp(head + n - 4, "\r\n\r\n", 4)) {
		assert_true(n < room - 1);
		assert_true(read_some_tls(ssl, head + n, 1, &k));
		n++;
	}
	head[n] = '\0';
}

static void post_tls(SSL *ssl, const char *operation, const char *body)
{
	char text[512];
	size_t k;

	snprintf(text, sizeof(text),
		 "POST / HTTP/1.1\r\nHost: h\r\nX-Amz-Target: x.%s\r\n"
		 "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
		 operation, strlen(body), body);
	assert_int_equal(SSL_write_ex(ssl, text, strlen(text), &k), 1);
}

static void tls_carries_small_large_and_pipelined_replies(void **state)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl = SSL_new(ctx);
	struct tls_context *tls;
	char head[2048], why[200];
	int fd, plain, connected;

	(void)state;
	tls = tls_context_new(cert_path, key_path, why, sizeof(why));
	assert_non_null(tls);
	wire_start(&wire, &(struct server_options){ .tls = tls });
	fd = wire_connect(&wire);
	SSL_set_fd(ssl, fd);
	do
		connected = SSL_connect(ssl);
	while (was_interrupted(ssl, connected));
	assert_int_equal(connected, 1);
	for (int i = 0; i < 50; i++)
		post_tls(ssl, i % 2 ? "Later" : "Echo", "hello");
	for (int i = 0; i < 50; i++) {
		read_tls_head(ssl, head, sizeof(head));
		assert_non_null(strstr(head, "HTTP/1.1 200 OK"));
		read_tls(ssl, 5);
	}
	for (int i = 0; i < 3; i++)
		post_tls(ssl, "Huge", "{}");
	for (int i = 0; i < 3; i++) {
		read_tls_head(ssl, head, sizeof(head));
		read_tls(ssl, 8 * 1000 * 1000);
	}
	plain = wire_connect(&wire);
	wire_send_text(plain, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
	shutdown(plain, SHUT_WR);
	while (wire_recv(plain, head, sizeof(head)) > 0)
		; /* an alert */
	close(plain);
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	close(fd);
	wire_stop(&wire);
	tls_context_free(tls);
}

static void bad_certificates_are_refused_in_a_sentence(void **state)
{
	char why[200];

	(void)state;
	assert_null(tls_context_new("/nowhere.pem", key_path, why, sizeof(why)));
	assert_non_null(strstr(why, "cannot use the certificate in /nowhere.pem"));
	assert_null(tls_context_new(cert_path, cert_path, why, sizeof(why)));
	assert_non_null(strstr(why, "cannot use the private key in "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_body_of_17_megabytes_is_refused_before_it_is_read),
		cmocka_unit_test(a_chunked_body_is_limited_too),
		cmocka_unit_test(nonsense_gets_400_and_the_end),
		cmocka_unit_test(too_many_connections_get_503),
		cmocka_unit_test(a_trusted_proxy_may_have_all_connections),
		cmocka_unit_test(the_oldest_on_the_reserve_makes_room),
		cmocka_unit_test(bodies_share_a_budget_and_small_requests_do_without),
		cmocka_unit_test(an_idle_connection_is_closed),
		cmocka_unit_test(half_a_head_gets_408),
		cmocka_unit_test(half_a_body_gets_408),
		cmocka_unit_test(a_client_that_does_not_read_is_dropped),
		cmocka_unit_test(a_client_may_vanish_at_any_byte),
		cmocka_unit_test(a_client_may_vanish_while_the_api_works),
		cmocka_unit_test(a_client_that_has_finished_sending_is_answered),
		cmocka_unit_test(stopping_answers_what_is_in_flight),
		cmocka_unit_test(stopping_does_not_wait_for_ever),
		cmocka_unit_test(a_port_in_use_is_refused_in_a_sentence),
		cmocka_unit_test(memory_that_runs_out_costs_a_request_not_the_server),
		cmocka_unit_test(tls_carries_small_large_and_pipelined_replies),
		cmocka_unit_test(bad_certificates_are_refused_in_a_sentence),
	};

	return cmocka_run_group_tests(tests, make_certificate, remove_certificate);
}
