/* A design that sends what happens to notes to the receiver of the test, and its changes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SEND_HELPER_H
#define THORPE_TESTS_SEND_HELPER_H

#include "app_fixture.h"
#include "base/clock.h"
#include "process/send/send_run.h"
#include "receiver.h"

static struct app_fixture f;

#define NOTES                                                                          \
	"entities:\n"                                                                  \
	"  Note:\n"                                                                    \
	"    path: /notes/<owner>/<id>\n"                                              \
	"    attributes:\n"                                                            \
	"      owner: string\n      id: string\n      n: number\n      text: string\n" \
	"      password: string, hidden\n      email: string, private\n"               \
	"    keys: {PK: USER#<owner>, SK: NOTE#<id>}\n"                                \
	"    allow: {read: anyone, update: anyone}\n"

/* `send`: "to: 'http://…/%d…'", with the port filled in. `when` may be empty. */
static inline void open_notes(const char *send, const char *when)
{
	char *yaml = NULL, *address = NULL;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	assert_true(asprintf(&address, send, receiver.port) > 0);
#pragma GCC diagnostic pop
	assert_true(asprintf(&yaml,
			     NOTES "processors:\n  tell:\n    on: Note created, updated, deleted\n%s    send: {%s}\n",
			     when, address) > 0);
	app_fixture_open_with(&f, yaml, &(struct db_options){ 0 }); /* the runner goes by the system's clock */
	f.app.clock = &clock_system;
	free(yaml);
	free(address);
}

static inline const struct processor *processor(void)
{
	return &f.design->processors[0];
}

static inline void call(const char *operation, struct slice body)
{
	struct backend_reply reply;

	backend_call(f.backend, &f.arena, operation, body, &reply);
	if (reply.status != 200)
		fail_msg("%s: %.*s", operation, SLICE_ARG(reply.message));
}

static inline void put_note(const char *owner, const char *id, int n)
{
	call("PutItem",
	     arena_printf(&f.arena,
			  "{\"TableName\":\"Test\",\"Item\":{\"PK\":{\"S\":\"USER#%s\"},\"SK\":{\"S\":\"NOTE#%s\"},"
			  "\"owner\":{\"S\":\"%s\"},\"id\":{\"S\":\"%s\"},\"n\":{\"N\":\"%d\"},"
			  "\"password\":{\"S\":\"geheim\"},\"email\":{\"S\":\"a@b.c\"}}}",
			  owner, id, owner, id, n));
}

static inline void delete_note(const char *owner, const char *id)
{
	call("DeleteItem", arena_printf(&f.arena,
					"{\"TableName\":\"Test\",\"Key\":{\"PK\":{\"S\":\"USER#%s\"},"
					"\"SK\":{\"S\":\"NOTE#%s\"}}}",
					owner, id));
}

/* All changes there are, shard by shard. */
static inline size_t changes(struct run *r, const struct change **out, size_t most)
{
	struct shard_position oldest = { .where = AT_OLDEST };
	struct shard_list shards;
	size_t n = 0;

	assert_true(dyn_list_shards(r, &shards));
	for (size_t i = 0; i < shards.count; i++) {
		struct change_page page;
		struct slice iterator;

		assert_true(dyn_take_iterator(r, shards.stream_arn, shards.list[i].id, &oldest, &iterator));
		assert_true(change_read(r, iterator, 1000, &page));
		for (size_t k = 0; k < page.count && n < most; k++)
			out[n++] = &page.list[k];
	}
	return n;
}

#endif
