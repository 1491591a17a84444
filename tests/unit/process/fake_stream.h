/* A fake stream: shards, records and their failures, with the replies of a database. SPDX-License-Identifier:
 * Apache-2.0 */
#ifndef THORPE_TESTS_FAKE_STREAM_H
#define THORPE_TESTS_FAKE_STREAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "app_fixture.h"
#include "json/json.h"

#define FAKE_SHARDS  16
#define FAKE_RECORDS 64

struct fake_shard {
	const char *id, *parent;
	bool closed, hidden;       /* hidden: no longer listed */
	int records[FAKE_RECORDS]; /* sequence numbers */
	int count, trimmed;        /* the first `trimmed` are gone */
};

static struct fake {
	struct fake_shard shards[FAKE_SHARDS];
	int shard_count;
	int page;                      /* records in one */
	int era;                       /* iterators of an earlier one have expired */
	int failing, empty, repeating; /* so many readings fail, find nothing, or give the page before once more */
	int calls, iterators;          /* how often records and iterators were asked for */
	bool gone;
	uint64_t latest;
} fake;

static inline struct fake_shard *fake_add(const char *id, const char *parent)
{
	struct fake_shard *s = &fake.shards[fake.shard_count++];

	*s = (struct fake_shard){ .id = id, .parent = parent };
	return s;
}

static inline void fake_write(struct fake_shard *s, int sequence)
{
	s->records[s->count++] = sequence;
	fake.latest++;
}

static inline struct fake_shard *fake_shard_of(struct slice id)
{
	for (int i = 0; i < fake.shard_count; i++)
		if (slice_is(id, fake.shards[i].id) && !fake.shards[i].hidden)
			return &fake.shards[i];
	return NULL;
}

static inline void fake_reply(struct arena *a, struct backend_reply *reply, struct slice text)
{
	*reply = (struct backend_reply){ .status = 200, .body = json_parse(a, text) };
	assert_non_null(reply->body);
}

static inline void fake_refuse(struct backend_reply *reply, const char *error)
{
	static const struct json empty = { .type = JSON_OBJECT };

	*reply = (struct backend_reply){ .status = strstr(error, "Internal") ? 500 : 400,
					 .body = &empty,
					 .error = slice_str(error),
					 .message = SLICE("no") };
}

static inline void fake_describe(struct arena *a, struct backend_reply *reply)
{
	struct buf b;

	buf_init(&b, a);
	buf_lit(&b, "{\"StreamDescription\":{\"Shards\":[");
	for (int i = 0, n = 0; i < fake.shard_count; i++) {
		const struct fake_shard *s = &fake.shards[i];

		if (s->hidden)
			continue;
		buf_printf(&b, "%s{\"ShardId\":\"%s\",\"SequenceNumberRange\":{%s}", n++ ? "," : "", s->id,
			   s->closed ? "\"EndingSequenceNumber\":\"9\"" : "");
		if (s->parent)
			buf_printf(&b, ",\"ParentShardId\":\"%s\"", s->parent);
		buf_byte(&b, '}');
	}
	buf_lit(&b, "]}}");
	fake_reply(a, reply, buf_slice(&b));
}

static inline struct slice fake_text(const struct json *body, const char *name)
{
	const struct json *j = json_get(body, name);

	return json_is(j, JSON_STRING) ? j->string : SLICE("");
}

static inline void fake_iterator(struct arena *a, const struct json *body, struct backend_reply *reply)
{
	struct fake_shard *s = fake_shard_of(fake_text(body, "ShardId"));
	struct slice type = fake_text(body, "ShardIteratorType");
	int at;

	fake.iterators++;
	if (!s || fake.gone) {
		fake_refuse(reply, "ResourceNotFoundException");
		return;
	}
	at = slice_is(type, "LATEST") ? s->count : s->trimmed;
	if (slice_is(type, "AFTER_SEQUENCE_NUMBER")) {
		long after = strtol(arena_cstr(a, fake_text(body, "SequenceNumber")), NULL, 10);

		for (at = 0; at < s->count && s->records[at] <= after; at++)
			;
		if (at < s->trimmed) {
			fake_refuse(reply, "TrimmedDataAccessException");
			return;
		}
	}
	fake_reply(a, reply, arena_printf(a, "{\"ShardIterator\":\"%d %d %d\"}", (int)(s - fake.shards), at, fake.era));
}

static inline void fake_records(struct arena *a, const struct json *body, struct backend_reply *reply)
{
	int shard, at, era, n = 0;
	struct fake_shard *s;
	struct buf b;

	fake.calls++;
	assert_int_equal(sscanf(arena_cstr(a, fake_text(body, "ShardIterator")), "%d %d %d", &shard, &at, &era), 3);
	s = &fake.shards[shard];
	if (fake.gone || s->hidden) {
		fake_refuse(reply, "ResourceNotFoundException");
	} else if (fake.failing && fake.failing--) {
		fake_refuse(reply, "InternalServerError");
	} else if (era != fake.era) {
		fake_refuse(reply, "ExpiredIteratorException");
	} else {
		bool empty = fake.empty && fake.empty--;

		if (fake.repeating && fake.repeating--)
			at = at > fake.page ? at - fake.page : 0;

		buf_init(&b, a);
		buf_lit(&b, "{\"Records\":[");
		for (; !empty && at < s->count && n < fake.page; at++, n++)
			buf_printf(&b,
				   "%s{\"eventName\":\"INSERT\",\"dynamodb\":{\"SequenceNumber\":\"%d\",\"ApproximateCreationDateTime\":%d,"
				   "\"Keys\":{\"PK\":{\"S\":\"N#%d\"},\"SK\":{\"S\":\"N\"}}}}",
				   n ? "," : "", s->records[at], s->records[at] + 1000000, s->records[at]);
		buf_byte(&b, ']');
		if (empty || !s->closed || at < s->count)
			buf_printf(&b, ",\"NextShardIterator\":\"%d %d %d\"", shard, at, fake.era);
		buf_byte(&b, '}');
		fake_reply(a, reply, buf_slice(&b));
	}
}

static inline void fake_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
			     struct backend_reply *reply)
{
	const struct json *in = json_parse(a, body);

	(void)b;
	if (!strcmp(operation, "DescribeTable"))
		fake_reply(a, reply, SLICE("{\"Table\":{\"LatestStreamArn\":\"arn:stream\"}}"));
	else if (!strcmp(operation, "DescribeStream"))
		fake_describe(a, reply);
	else if (!strcmp(operation, "GetShardIterator"))
		fake_iterator(a, in, reply);
	else if (!strcmp(operation, "GetRecords"))
		fake_records(a, in, reply);
	else /* nobody has a position */
		fake_reply(a, reply, SLICE("{}"));
}

static inline uint64_t fake_latest(struct database *d)
{
	(void)d;
	return fake.latest;
}

static struct backend fake_backend = { .call = fake_call };
static struct database fake_database = { .latest = fake_latest, .is_remote = true };

#endif
