/* `thorpe processors`: looks at the processors of a design that is being served, and at what they have put aside.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/operator.h"
#include "json/json.h"
#include "wire/percent.h"

#define TOKEN_SECONDS 600
#define PAGE          100

struct processors_options {
	struct operator_options server;
	const char *from;
	bool all, json;
};

static const struct flag flags[] = {
	FLAG_TEXT("from", "TIME", struct processors_options, from,
		  "replay: the changes since then, 2026-01-15T10:30:00Z or 2026-01-15"),
	FLAG_SWITCH("all", struct processors_options, all, "retry, drop: all changes that the processor has parked"),
	FLAG_SWITCH("json", struct processors_options, json, "list: print the server's JSON"),
	OPERATOR_FLAGS(struct processors_options),
	FLAG_END,
};

struct ask {
	const struct processors_options *options;
	struct operator_talk talk;
	const char *verb, *name, *sequence;
};

/* ---- asking ---- */

/* /<design>/processors[/<name>[/<verb>]] */
static void put_path(struct ask *c, struct buf *b, const char *verb)
{
	buf_init(b, c->talk.arena);
	buf_printf(b, "/%s/processors", c->talk.design);
	if (!c->name)
		return;
	buf_byte(b, '/');
	percent_encode(b, slice_str(c->name));
	if (verb)
		buf_printf(b, "/%s", verb);
}

/* The reply to a request; NULL after a complaint. *raw is its text. */
static const struct json *send_request(struct ask *c, const char *method, struct buf *path, struct slice body,
				       struct slice *raw)
{
	const struct json *reply;
	struct client_reply r;

	if (!operator_ask(&c->talk, method, buf_slice(path), body, &r))
		return NULL;
	reply = r.status == 200 ? json_parse(c->talk.arena, r.body) : NULL;
	*raw = r.body;
	if (!reply)
		operator_complain(&c->talk, &r);
	return reply;
}

/* ---- list ---- */

/* The most urgent first. */
static const struct {
	const char *word, *text;
} passed_over[] = {
	{ "unfit", "that do not fit the design" },
	{ "gone", "whose item is not there" },
	{ "requirement", "whose requirement is not met" },
	{ "incomplete", "that lack something" },
	{ "refused", "that break a rule" },
	{ "nothing", "with nothing to remove or count" },
	{ "holds", "that still hold" },
	{ "there", "that are there already" },
	{ "when", "by `when`" },
};

static void print_passed_over(const struct json *p)
{
	const struct json *counts = json_get(p, "passed_over");
	struct slice last = json_get_text(p, "last_passed_over");
	const char *between = "  passed over: ";

	for (size_t i = 0; i < sizeof(passed_over) / sizeof(*passed_over); i++) {
		if (json_get_number(counts, passed_over[i].word) <= 0)
			continue;
		printf("%s%.0f %s", between, json_get_number(counts, passed_over[i].word), passed_over[i].text);
		between = ", ";
	}
	if (between[0] == ',')
		putchar('\n');
	if (last.n)
		printf("  last passed over, %.*s: %.*s\n", SLICE_ARG(json_get_text(p, "last_passed_over_at")),
		       SLICE_ARG(last));
}

static void print_one(const struct json *p)
{
	const struct json *paused = json_get(p, "paused");
	struct slice problem = json_get_text(p, "last_problem"), on = json_get_text(p, "on");
	bool stands_still = json_get_text(p, "stands_still").n > 0;
	double lag = json_get_number(p, "lag_seconds");

	printf("%.*s%s\n", SLICE_ARG(json_get_text(p, "name")),
	       stands_still                                    ? "  (stands still)"
	       : json_is(paused, JSON_BOOL) && paused->boolean ? "  (paused)"
							       : "");
	printf("  %.*s%s%.*s, %.0f done", SLICE_ARG(on), on.n ? ": " : "", SLICE_ARG(json_get_text(p, "effect")),
	       json_get_number(p, "done"));
	if (lag > 0)
		printf(", %.1f s behind", lag);
	if (json_get_number(p, "backlog") > 0)
		printf(", %.0f waiting", json_get_number(p, "backlog"));
	if (json_get_number(p, "retries") > 0)
		printf(", %.0f tried again", json_get_number(p, "retries"));
	if (json_get_number(p, "parked") > 0)
		printf(", %.0f parked", json_get_number(p, "parked"));
	if (json_get_number(p, "lost") > 0)
		printf(", %.0f times behind what the stream keeps", json_get_number(p, "lost"));
	putchar('\n');
	if (json_get_text(p, "next_run_at").n)
		printf("  last run %.*s, next %.*s\n",
		       SLICE_ARG(json_get_text(p, "last_run_at").n ? json_get_text(p, "last_run_at")
								   : slice_str("never")),
		       SLICE_ARG(json_get_text(p, "next_run_at")));
	if (problem.n)
		printf("  last problem, %.*s: %.*s\n", SLICE_ARG(json_get_text(p, "last_problem_at")),
		       SLICE_ARG(problem));
	print_passed_over(p);
}

/* Where several servers use the table: which of them reads what. */
static void print_shards(const struct json *reply)
{
	const struct json *shards = json_get(reply, "shards"), *servers = json_get(reply, "servers");

	if (!json_is(shards, JSON_ARRAY) || !json_is(servers, JSON_ARRAY))
		return;
	printf("%u server%s, %u shard%s\n", (unsigned)servers->count, servers->count == 1 ? "" : "s",
	       (unsigned)shards->count, shards->count == 1 ? "" : "s");
	for (uint32_t i = 0; i < shards->count; i++) {
		const struct json *s = &shards->items[i], *closed = json_get(s, "closed");
		struct slice owner = json_get_text(s, "owner");

		printf("  %.*s%s  ", SLICE_ARG(json_get_text(s, "shard")),
		       json_is(closed, JSON_BOOL) && closed->boolean ? " (closed)" : "");
		if (!owner.n) {
			puts("no server reads it");
			continue;
		}
		printf("%.*s", SLICE_ARG(owner));
		if (json_get_number(s, "lag_seconds") > 0)
			printf(", %.1f s behind, %.0f waiting", json_get_number(s, "lag_seconds"),
			       json_get_number(s, "backlog"));
		putchar('\n');
	}
}

static void print_json(struct ask *c, struct slice raw)
{
	struct buf out;

	buf_init(&out, c->talk.arena);
	json_text_indent(&out, raw, 0);
	printf("%.*s\n", SLICE_ARG(buf_slice(&out)));
}

static int run_list(struct ask *c)
{
	const struct json *reply, *list;
	struct slice raw;
	struct buf path;

	put_path(c, &path, NULL);
	reply = send_request(c, "GET", &path, (struct slice){ 0 }, &raw);
	if (!reply)
		return EXIT_REFUSED;
	list = json_get(reply, "processors");
	if (c->options->json) {
		print_json(c, raw);
		return 0;
	}
	for (uint32_t i = 0; json_is(list, JSON_ARRAY) && i < list->count; i++)
		print_one(&list->items[i]);
	print_shards(reply);
	if (json_is(list, JSON_ARRAY) && !list->count)
		puts("The design has no processors.");
	return 0;
}

/* ---- pause, resume, replay ---- */

static int run_switch(struct ask *c)
{
	struct slice body = { 0 }, raw;
	const struct json *reply;
	struct buf path, b;

	if (c->options->from) {
		buf_init(&b, c->talk.arena);
		buf_lit(&b, "{\"from\":");
		json_string(&b, slice_str(c->options->from));
		buf_byte(&b, '}');
		body = buf_slice(&b);
	}
	put_path(c, &path, c->verb);
	reply = send_request(c, "POST", &path, body, &raw);
	if (!reply)
		return EXIT_REFUSED;
	print_one(reply);
	return 0;
}

/* ---- parked ---- */

/* One page after the sequence number; *next empty: the last. NULL after a complaint. */
static const struct json *parked_page(struct ask *c, struct slice after, struct slice *next, struct slice *raw)
{
	const struct json *reply;
	struct buf path;

	put_path(c, &path, "parked");
	buf_printf(&path, "?limit=%d", PAGE);
	if (after.n)
		buf_printf(&path, "&after=%.*s", SLICE_ARG(after));
	reply = send_request(c, "GET", &path, (struct slice){ 0 }, raw);
	*next = json_get_text(reply, "next");
	return reply ? json_get(reply, "items") : NULL;
}

static int run_parked(struct ask *c)
{
	struct slice after = { 0 }, raw;
	uint32_t count = 0;

	do {
		const struct json *items = parked_page(c, after, &after, &raw);

		if (!items)
			return EXIT_REFUSED;
		for (uint32_t i = 0; json_is(items, JSON_ARRAY) && i < items->count; i++, count++) {
			const struct json *p = &items->items[i], *key = json_get(p, "key");
			struct buf b;

			buf_init(&b, c->talk.arena);
			if (key)
				json_write(&b, key);
			printf("%.*s  %.*s %.*s %.*s\n  %.*s (%.0f tries, parked %.*s)\n",
			       SLICE_ARG(json_get_text(p, "sequence")), SLICE_ARG(json_get_text(p, "entity")),
			       SLICE_ARG(json_get_text(p, "event")), SLICE_ARG(buf_slice(&b)),
			       SLICE_ARG(json_get_text(p, "reason")), json_get_number(p, "tries"),
			       SLICE_ARG(json_get_text(p, "parked_at")));
		}
	} while (after.n);
	if (!count)
		puts("Nothing is parked.");
	return 0;
}

static bool settle(struct ask *c, struct slice sequence)
{
	struct slice raw;
	struct buf path;

	put_path(c, &path, "parked/");
	percent_encode(&path, sequence);
	buf_printf(&path, "/%s", c->verb);
	return send_request(c, "POST", &path, (struct slice){ 0 }, &raw) != NULL;
}

/* Those that fail again stay, and are not asked for twice. */
static int settle_all(struct ask *c)
{
	struct slice after = { 0 }, raw;
	uint32_t done = 0, failed = 0;

	do {
		const struct json *items = parked_page(c, after, &after, &raw);

		if (!items)
			return EXIT_REFUSED;
		for (uint32_t i = 0; json_is(items, JSON_ARRAY) && i < items->count; i++) {
			if (settle(c, json_get_text(&items->items[i], "sequence")))
				done++;
			else
				failed++;
		}
	} while (after.n);
	printf("%u %s", done, !strcmp(c->verb, "drop") ? "dropped" : "done");
	if (failed)
		printf(", %u not", failed);
	puts(".");
	return failed ? EXIT_REFUSED : 0;
}

static int run_settle(struct ask *c)
{
	if (c->options->all)
		return settle_all(c);
	if (!settle(c, slice_str(c->sequence)))
		return EXIT_REFUSED;
	puts(!strcmp(c->verb, "drop") ? "Dropped." : "Done.");
	return 0;
}

/* ---- the command ---- */

/* clang-format off */
static const struct verb {
	const char *name;
	int words; /* after it */
	int (*run)(struct ask *c);
} verbs[] = {
	{ "list", 0, run_list },     { "pause", 1, run_switch },  { "resume", 1, run_switch }, { "replay", 1, run_switch },
	{ "run", 1, run_switch },    { "parked", 1, run_parked }, { "retry", 2, run_settle }, { "drop", 2, run_settle },
};
/* clang-format on */

static const struct verb *find(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static int check_words(const struct ask *c, const struct verb *v, const char *design, int words)
{
	if (!v)
		return complain(EXIT_USAGE,
				"'%s' is not one of list, pause, resume, run, replay, parked, retry and drop", c->verb);
	if (words > v->words - (v->words == 2 && c->options->all))
		return complain(EXIT_USAGE, "too many words; a name of several words needs quotes");
	if (v->words && !c->name)
		return complain(EXIT_USAGE, "which processor? 'thorpe processors %s' lists them", design);
	if (v->words == 2 && !c->sequence && !c->options->all)
		return complain(EXIT_USAGE,
				"which change? 'thorpe processors %s parked NAME' lists them; --all: all of them",
				design);
	if (!strcmp(v->name, "replay") != !!c->options->from)
		return complain(EXIT_USAGE, c->options->from ? "--from belongs to replay" : "replay needs --from TIME");
	return 0;
}

static int carry_out(void *ctx)
{
	struct ask *c = ctx;

	return find(c->verb)->run(c);
}

static int run(void *options, char **words, int count)
{
	struct ask c = { .options = options };
	const struct verb *v;
	int status;

	c.verb = count > 1 ? words[1] : "list";
	c.name = count > 2 ? words[2] : NULL;
	c.sequence = count > 3 ? words[3] : NULL;
	v = find(c.verb);
	status = check_words(&c, v, words[0], count > 2 ? count - 2 : 0);
	if (status)
		return status;
	c.talk.options = &c.options->server;
	return operator_run(&c.talk, words[0], &(struct operator_token){ "thorpe-processors", TOKEN_SECONDS },
			    carry_out, &c);
}

const struct command command_processors = {
	.name = "processors",
	.summary = "see what a design's processors do, pause, resume, run and replay them",
	.usage = "DESIGN [list]\n"
		 "DESIGN pause|resume|run|parked NAME\n"
		 "DESIGN replay NAME --from TIME\n"
		 "DESIGN retry|drop NAME SEQUENCE|--all",
	.about = "Shows what the processors of a design on the running server do and which changes they have parked;\n"
		 "pauses and resumes them, and lets them run changes again.",
	.flags = flags,
	.examples = "  thorpe processors social\n"
		    "  thorpe processors social pause \"deliver a post to followers\"\n"
		    "  thorpe processors social retry \"tell followers of a post\" --all",
	.least_words = 1,
	.most_words = -1,
	.lacking = "which design? thorpe processors DESIGN [list]",
	.size = sizeof(struct processors_options),
	.run = run,
};
