/* What a sender sends, how it is signed, and what it makes of the answers.
 * SPDX-License-Identifier: Apache-2.0 */
#include <openssl/hmac.h>
#include "send_helper.h"

#define MOST 1200

static const struct change *list[MOST];
static enum send_end ends[MOST];
static struct slice why[MOST];
static struct sender *sender;

static int setup(void **state)
{
	(void)state;
	receiver_start();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sender_free(sender);
	sender = NULL;
	app_fixture_close(&f);
	receiver_stop();
	return 0;
}

static struct run *open_sender(const char *send)
{
	open_notes(send, "");
	sender = sender_new(processor(), &f.app, NULL);
	assert_non_null(sender);
	return app_fixture_run(&f, NULL);
}

#define WEBHOOK "to: 'http://127.0.0.1:%d/hook?x=1'"
#define SEARCH  "opensearch: 'http://127.0.0.1:%d/notes'"

static const struct json *body_of(size_t i)
{
	const struct json *j = json_parse(&f.arena, slice_str(receiver.list[i].body));

	assert_non_null(j);
	return j;
}

static void assert_text(const struct json *obj, const char *name, const char *expected)
{
	const struct json *j = json_get(obj, name);

	assert_true(json_is(j, JSON_STRING));
	assert_string_equal(arena_cstr(&f.arena, j->string), expected);
}

static void assert_header(size_t i, const char *name, const char *expected)
{
	char *value = received_header(&receiver.list[i], name);

	assert_non_null(value);
	assert_string_equal(value, expected);
	free(value);
}

/* ---- webhooks ---- */

static void a_change_is_sent_with_the_old_and_the_new_item(void **state)
{
	struct run *r = open_sender(WEBHOOK);
	const struct json *old, *new, *key;

	(void)state;
	put_note("alice", "a", 1);
	put_note("alice", "a", 2);
	assert_int_equal(changes(r, list, MOST), 2);
	assert_int_equal(sender_send(sender, r, list + 1, 1, ends, why), 1);
	assert_int_equal(ends[0], SEND_TAKEN);
	assert_true(!strncmp(receiver.list[0].text, "POST /hook?x=1 HTTP/1.1\r\n", 25));
	assert_header(0, "Content-Type", "application/json");
	assert_text(body_of(0), "design", "test");
	assert_text(body_of(0), "processor", "tell");
	assert_text(body_of(0), "event", "updated");
	assert_text(body_of(0), "entity", "Note");
	key = json_get(body_of(0), "key");
	assert_text(key, "PK", "USER#alice");
	assert_text(key, "SK", "NOTE#a");
	old = json_get(body_of(0), "old");
	new = json_get(body_of(0), "new");
	assert_int_equal(json_get(old, "n")->integer, 1);
	assert_int_equal(json_get(new, "n")->integer, 2);
	assert_text(new, "owner", "alice");
}

static void hidden_and_private_attributes_are_not_sent(void **state)
{
	struct run *r = open_sender(WEBHOOK);

	(void)state;
	put_note("alice", "a", 1);
	changes(r, list, MOST);
	sender_send(sender, r, list, 1, ends, why);
	assert_null(strstr(receiver.list[0].body, "geheim"));
	assert_null(strstr(receiver.list[0].body, "a@b.c"));
	assert_int_equal(json_get(body_of(0), "old")->type, JSON_NULL);
}

static void check_signature(size_t i, struct slice secret)
{
	char *timestamp = received_header(&receiver.list[i], "Thorpe-Timestamp");
	char *signature = received_header(&receiver.list[i], "Thorpe-Signature");
	struct slice text = arena_printf(&f.arena, "%s.%s", timestamp, receiver.list[i].body);
	uint8_t made[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	struct buf b;

	HMAC(EVP_sha256(), secret.p, (int)secret.n, (const uint8_t *)text.p, text.n, made, &n);
	buf_init(&b, &f.arena);
	buf_lit(&b, "v1=");
	buf_hex(&b, slice_make(made, n));
	assert_string_equal(signature, arena_cstr(&f.arena, buf_slice(&b)));
	assert_true(llabs(strtoll(timestamp, NULL, 10) - time(NULL)) < 60);
	free(timestamp);
	free(signature);
}

static void the_signature_is_of_the_time_and_the_body(void **state)
{
	struct run *r = open_sender(WEBHOOK);
	struct slice secret = send_secret(&f.arena, SLICE("test"), f.app.secret);

	(void)state;
	assert_int_equal(secret.n, sizeof(SEND_SECRET_PREFIX) - 1 + 64);
	assert_false(slice_equal(secret, send_secret(&f.arena, SLICE("other"), f.app.secret)));
	put_note("alice", "a", 1);
	changes(r, list, MOST);
	sender_send(sender, r, list, 1, ends, why);
	check_signature(0, secret);
}

static void the_secret_can_be_given(void **state)
{
	struct run *r = open_sender(WEBHOOK ", secret: a secret of sixteen");

	(void)state;
	put_note("alice", "a", 1);
	changes(r, list, MOST);
	sender_send(sender, r, list, 1, ends, why);
	check_signature(0, SLICE("a secret of sixteen"));
}

static void the_id_is_that_of_the_change_and_stays(void **state)
{
	struct run *r = open_sender(WEBHOOK);
	char *first, *second;

	(void)state;
	put_note("alice", "a", 1);
	changes(r, list, MOST);
	sender_send(sender, r, list, 1, ends, why);
	sender_send(sender, r, list, 1, ends, why);
	first = received_header(&receiver.list[0], "Thorpe-Id");
	second = received_header(&receiver.list[1], "Thorpe-Id");
	assert_string_equal(first, second);
	assert_text(body_of(0), "id", first);
	assert_true(!strncmp(first, list[0]->sequence.p, list[0]->sequence.n));
	free(first);
	free(second);
}

static void send_expecting(struct run *r, enum send_end expected, const char *reason)
{
	sender_send(sender, r, list, 1, ends, why);
	assert_int_equal(ends[0], expected);
	if (!strstr(arena_cstr(&f.arena, why[0]), reason))
		fail_msg("'%.*s' does not say '%s'", SLICE_ARG(why[0]), reason);
}

static void answers_of_a_webhook(void **state)
{
	struct run *r = open_sender(WEBHOOK);
	size_t count;

	(void)state;
	put_note("alice", "a", 1);
	changes(r, list, MOST);
	receiver_answer("204 No Content", "", "");
	send_expecting(r, SEND_TAKEN, "");
	receiver_answer("410 Gone", "", "");
	send_expecting(r, SEND_REFUSED, "410");
	receiver_answer("500 Sorry", "", "");
	send_expecting(r, SEND_AGAIN, "500");
	receiver_answer("404 Not Found", "", "");
	send_expecting(r, SEND_AGAIN, "404");
	count = receiver_count();
	receiver_answer("307 Moved", "Location: /elsewhere\r\n", "");
	send_expecting(r, SEND_AGAIN, "307"); /* and nobody goes there */
	assert_int_equal(receiver_count(), count + 1);
	receiver_then(strdup("220 mail.example.org ESMTP\r\n"));
	send_expecting(r, SEND_AGAIN, "");
	receiver_then(strdup(""));
	send_expecting(r, SEND_AGAIN, "did not answer");
}

static void a_receiver_may_ask_for_time_but_not_for_more_than_five_minutes(void **state)
{
	struct run *r = open_sender(WEBHOOK);

	(void)state;
	put_note("alice", "a", 1);
	changes(r, list, MOST);
	receiver_answer("429 Slow down", "Retry-After: 7\r\n", "");
	send_expecting(r, SEND_AGAIN, "429");
	assert_int_equal(sender_retry_after(sender), 7);
	receiver_answer("503 Later", "Retry-After: 86400\r\n", "");
	send_expecting(r, SEND_AGAIN, "503");
	assert_int_equal(sender_retry_after(sender), 300);
	receiver_answer("500 Sorry", "", "");
	send_expecting(r, SEND_AGAIN, "500");
	assert_int_equal(sender_retry_after(sender), 0);
}

static void an_unreachable_receiver_is_retried(void **state)
{
	struct run *r = open_sender("to: 'http://127.0.0.1:1/%%3F%d'");

	(void)state;
	put_note("alice", "a", 1);
	changes(r, list, MOST);
	send_expecting(r, SEND_AGAIN, "did not answer");
}

static void an_endless_answer_is_not_read_to_its_end(void **state)
{
	struct run *r = open_sender(WEBHOOK);
	char *large = malloc(1 << 20);

	(void)state;
	memset(large, 'x', (1 << 20) - 1);
	large[(1 << 20) - 1] = 0;
	put_note("alice", "a", 1);
	changes(r, list, MOST);
	receiver_answer("200 OK", "", large);
	send_expecting(r, SEND_TAKEN, "");
	free(large);
}

static void a_request_without_answer_ends_soon_when_the_server_does(void **state)
{
	atomic_bool stop = true;
	struct run *r;

	(void)state;
	open_notes(WEBHOOK, "");
	sender = sender_new(processor(), &f.app, &stop);
	r = app_fixture_run(&f, NULL);
	put_note("alice", "a", 1);
	changes(r, list, MOST);
	receiver.hangs = true;
	send_expecting(r, SEND_AGAIN, "did not answer");
}

static void nothing_is_sent_without_an_address(void **state)
{
	(void)state;
	open_notes("to: '${NO_SUCH_ADDRESS%.0d:-}'", "");
	assert_false(send_is_needed(processor()));
}

/* ---- OpenSearch ---- */

#define LINES 16

static size_t lines_of(size_t i, const struct json *out[LINES])
{
	size_t n = 0;

	for (const char *at = receiver.list[i].body, *end; (end = strchr(at, '\n')); at = end + 1) {
		assert_true(n < LINES);
		out[n] = json_parse(&f.arena, slice_make(at, (size_t)(end - at)));
		assert_non_null(out[n++]);
	}
	return n;
}

#define ITEMS(...) "{\"took\":3,\"errors\":true,\"items\":[" __VA_ARGS__ "]}"

static void changes_go_into_the_index_under_stable_ids(void **state)
{
	struct run *r = open_sender(SEARCH);
	const struct json *line[LINES], *action;

	(void)state;
	put_note("al/ice", "a", 1);
	put_note("al/ice", "a", 2);
	delete_note("al/ice", "a");
	assert_int_equal(changes(r, list, MOST), 3);
	receiver_answer("200 OK", "",
			"{\"errors\":false,\"items\":[{\"index\":{\"status\":201}},{\"index\":{\"status\":200}},"
			"{\"delete\":{\"status\":200}}]}");
	assert_int_equal(sender_send(sender, r, list, 3, ends, why), 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(ends[i], SEND_TAKEN);
	assert_true(!strncmp(receiver.list[0].text, "POST /notes/_bulk?filter_path=", 30));
	assert_header(0, "Content-Type", "application/x-ndjson");
	assert_int_equal(lines_of(0, line), 5);
	for (size_t i = 0; i < 5; i += 2) {
		action = json_get(line[i], i < 4 ? "index" : "delete");
		assert_text(action, "_id", "/notes/al%2Fice/a");
		assert_text(action, "version_type", "external");
		assert_null(json_get(action, "_index"));
		assert_int_equal(json_get(action, "version")->integer,
				 strtoll(arena_cstr(&f.arena, list[i / 2]->sequence), NULL, 10));
	}
	assert_int_equal(json_get(line[3], "n")->integer, 2);
	assert_null(strstr(receiver.list[0].body, "geheim"));
	assert_null(strstr(receiver.list[0].body, "a@b.c"));
}

static void each_item_has_its_own_end(void **state)
{
	struct run *r = open_sender(SEARCH);
	static const enum send_end expected[] = { SEND_TAKEN, SEND_REFUSED, SEND_AGAIN,
						  SEND_TAKEN, SEND_AGAIN,   SEND_TAKEN };

	(void)state;
	for (int i = 0; i < 5; i++)
		put_note("alice", "a", i);
	delete_note("alice", "a");
	assert_int_equal(changes(r, list, MOST), 6);
	receiver_answer("200 OK", "",
			ITEMS("{\"index\":{\"status\":201}},"
			      "{\"index\":{\"status\":400,\"error\":{\"type\":\"mapper_parsing_exception\","
			      "\"reason\":\"n is not a date\"}}},"
			      "{\"index\":{\"status\":429,\"error\":{\"type\":\"rejected\",\"reason\":\"full\"}}},"
			      "{\"index\":{\"status\":409,\"error\":{\"type\":\"version_conflict_engine_exception\"}}},"
			      "{\"index\":{\"status\":503}},"
			      "{\"delete\":{\"status\":404}}"));
	assert_int_equal(sender_send(sender, r, list, 6, ends, why), 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(ends[i], expected[i]);
	assert_non_null(strstr(arena_cstr(&f.arena, why[1]), "mapper_parsing_exception: n is not a date"));
}

static void answers_that_make_no_sense_are_tried_again(void **state)
{
	/* clang-format off */
	static const char *const answers[] = {
		"", "<html>", "[]", "{}", "{\"errors\":false}", ITEMS(""), ITEMS("{}"), ITEMS("{\"index\":7}"),
		ITEMS("{\"index\":{\"status\":\"201\"}}"),
	};
	/* clang-format on */
	struct run *r = open_sender(SEARCH);

	(void)state;
	put_note("alice", "a", 1);
	changes(r, list, MOST);
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		receiver_answer("200 OK", "", answers[i]);
		send_expecting(r, SEND_AGAIN, "_bulk");
	}
	receiver_answer("500 Sorry", "", "");
	send_expecting(r, SEND_AGAIN, "500");
}

static void an_address_without_an_index_gets_one_for_each_entity(void **state)
{
	struct run *r = open_sender("opensearch: 'http://127.0.0.1:%d?pipeline=p'");
	const struct json *line[LINES];

	(void)state;
	put_note("alice", "a", 1);
	changes(r, list, MOST);
	sender_send(sender, r, list, 1, ends, why);
	assert_true(!strncmp(receiver.list[0].text, "POST /_bulk?pipeline=p&filter_path=", 35));
	lines_of(0, line);
	assert_text(json_get(line[0], "index"), "_index", "test-note");
}

static void a_request_is_as_large_as_the_receiver_takes(void **state)
{
	struct run *r = open_sender(SEARCH);

	(void)state;
	for (int i = 0; i < 8; i++)
		put_note("alice", "a", i);
	changes(r, list, MOST);
	receiver_then(receiver_reply("413 Too large", "", ""));
	receiver_then(receiver_reply("413 Too large", "", ""));
	receiver_then(receiver_reply("200 OK", "",
				     "{\"errors\":false,\"items\":[{\"index\":{\"status\":201}},"
				     "{\"index\":{\"status\":200}}]}"));
	assert_int_equal(sender_send(sender, r, list, 8, ends, why), 2);
	assert_int_equal(ends[1], SEND_TAKEN);
	receiver_answer("413 Too large", "", "");
	assert_int_equal(sender_send(sender, r, list, 1, ends, why), 1);
	assert_int_equal(ends[0], SEND_REFUSED);
}

static void a_request_has_five_hundred_changes_at_most(void **state)
{
	struct run *r = open_sender(SEARCH);

	(void)state;
	for (int i = 0; i < 2; i++)
		put_note("alice", "a", i);
	changes(r, list, 2);
	for (size_t i = 2; i < 600; i++)
		list[i] = list[i & 1];
	assert_int_equal(sender_send(sender, r, list, 600, ends, why), SEND_BULK_MOST);
}

/* ---- waiting ---- */

static void waits_double_up_to_five_minutes(void **state)
{
	static const int64_t expected[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300 };

	(void)state;
	for (int i = 0; i < SEND_TRIES - 1; i++)
		assert_int_equal(send_backoff(i + 1, 0), expected[i]);
	assert_int_equal(send_backoff(1, 60), 60);
	assert_int_equal(send_backoff(8, 60), 128);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_change_is_sent_with_the_old_and_the_new_item),
		TEST(hidden_and_private_attributes_are_not_sent),
		TEST(the_signature_is_of_the_time_and_the_body),
		TEST(the_secret_can_be_given),
		TEST(the_id_is_that_of_the_change_and_stays),
		TEST(answers_of_a_webhook),
		TEST(a_receiver_may_ask_for_time_but_not_for_more_than_five_minutes),
		TEST(an_unreachable_receiver_is_retried),
		TEST(an_endless_answer_is_not_read_to_its_end),
		TEST(a_request_without_answer_ends_soon_when_the_server_does),
		TEST(nothing_is_sent_without_an_address),
		TEST(changes_go_into_the_index_under_stable_ids),
		TEST(each_item_has_its_own_end),
		TEST(answers_that_make_no_sense_are_tried_again),
		TEST(an_address_without_an_index_gets_one_for_each_entity),
		TEST(a_request_is_as_large_as_the_receiver_takes),
		TEST(a_request_has_five_hundred_changes_at_most),
		cmocka_unit_test(waits_double_up_to_five_minutes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
