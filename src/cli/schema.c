/* `thorpe schema`: the design language as JSON Schema, for editors.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cli/commands.h"
#include "design/design.h"

static const struct flag flags[] = { FLAG_END };

struct schema_options {
	char none;
};

static int run(void *options, char **words, int count)
{
	volatile int status = EXIT_REFUSED;
	struct arena a;
	struct buf b;

	(void)options, (void)words, (void)count;
	arena_init(&a);
	ARENA_TRY(&a, {
		buf_init(&b, &a);
		design_schema(&b);
		buf_byte(&b, '\n');
		if (fwrite(b.p, 1, b.n, stdout) == b.n && !fflush(stdout))
			status = 0;
		else
			complain(EXIT_REFUSED, "cannot write the schema");
	}, { status = complain(EXIT_REFUSED, "out of memory"); });
	arena_release(&a);
	return status;
}

const struct command command_schema = {
	.name = "schema",
	.summary = "print a JSON Schema of designs, with which editors complete and check",
	.usage = "> thorpe.schema.json",
	.about = "Prints a JSON Schema (2020-12) of design files. It is made from the words that the loader reads, so it\n"
		 "has what this version of thorpe knows. Editors see wrong words, types and values with it;\n"
		 "'thorpe check' sees everything. docs/howto/editors.md says how to use it.",
	.flags = flags,
	.examples = "  thorpe schema > thorpe.schema.json\n",
	.size = sizeof(struct schema_options),
	.run = run,
};
