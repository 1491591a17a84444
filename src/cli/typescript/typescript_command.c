/* `thorpe client`: a client of a design's REST API, as source text.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "app/app.h"
#include "cli/commands.h"
#include "cli/design_file.h"
#include "cli/typescript/typescript.h"

struct client_options {
	bool typescript;
};

static const struct flag flags[] = {
	FLAG_SWITCH("typescript", struct client_options, typescript, "in TypeScript (and the only language so far)"),
	FLAG_END,
};

static bool write_client(struct arena *a, const char *path)
{
	const struct design *d = design_file_load(a, path);
	struct buf document, out;
	bool written;

	if (!d)
		return false;
	buf_init(&document, a);
	buf_init(&out, a);
	design_openapi(d, a, (struct slice){ 0 }, &document);
	typescript_client(&out, a, json_parse(a, buf_slice(&document)), d->name);
	written = fwrite(out.p, 1, out.n, stdout) == out.n && !fflush(stdout);
	return written || (complain(EXIT_REFUSED, "cannot write the client"), false);
}

static int run(void *options, char **words, int count)
{
	volatile int status = EXIT_REFUSED;
	struct arena a;

	if (!((struct client_options *)options)->typescript)
		return complain(EXIT_USAGE, "in which language? --typescript");
	arena_init(&a);
	ARENA_TRY(&a, {
		if (write_client(&a, words[0]))
			status = 0;
	}, { status = complain(EXIT_REFUSED, "out of memory"); });
	arena_release(&a);
	return status;
}

const struct command command_client = {
	.name = "client",
	.summary = "write a typed client of a design's REST API",
	.usage = "FILE --typescript > CLIENT.ts",
	.about = "Writes one TypeScript module without dependencies: the types of all items, a class with a method for\n"
		 "each operation, lists as async iterators, live lists, retries, and a class for each kind of error.\n"
		 "It runs in browsers and in Node.js 18 or later. The same design gives the same text.",
	.flags = flags,
	.examples = "  thorpe client designs/social.yaml --typescript > social.ts\n",
	.least_words = 1,
	.most_words = 1,
	.lacking = "of which design? Name its file",
	.size = sizeof(struct client_options),
	.run = run,
};
