/* `thorpe new`: begins a design, from an example or from nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "design/design.h"

#define NAME_MOST   64
#define ANSWER_MOST 200

struct new_options {
	const char *from; /* NULL: a minimal one */
};

static const struct flag flags[] = {
	FLAG_TEXT("from", "EXAMPLE", struct new_options, from,
		  "begin with this example: a name such as social, or a file"),
	FLAG_END,
};

static bool is_name(const char *name)
{
	size_t n = strlen(name);

	return n && n <= NAME_MOST && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

/* ---- examples ---- */
/* Where examples are, relative to the working directory or to the program: a source tree, or an installation. */
static const char *const folders[] = { "designs", "designs/examples", NULL };
static const char *const beside_program[] = { "../designs", "../designs/examples", "../share/thorpe/designs",
					      "../share/thorpe/designs/examples", NULL };

/* The folder of the running program; NULL: unknown. */
static const char *program_folder(struct arena *a)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (n <= 0)
		return NULL;
	path[n] = 0;
	slash = strrchr(path, '/');
	return slash ? arena_cstr(a, slice_make(path, (size_t)(slash - path))) : NULL;
}

static const char *example_in(struct arena *a, const char *base, const char *const *list, const char *name)
{
	for (; *list; list++) {
		const char *path = arena_printf(a, "%s%s/%s.yaml%c", base, *list, name, 0).p;

		if (access(path, R_OK) == 0)
			return path;
	}
	return NULL;
}

/* NULL: there is no such example. */
static const char *find_example(struct arena *a, const char *name)
{
	const char *folder = program_folder(a), *path = NULL;

	if (strchr(name, '/') || strchr(name, '.'))
		return access(name, R_OK) == 0 ? name : NULL;
	path = example_in(a, "", folders, name);
	if (!path && folder)
		path = example_in(a, arena_printf(a, "%s/%c", folder, 0).p, beside_program, name);
	return path;
}

/* my-notes as MyNotes */
static struct slice in_capitals(struct arena *a, const char *name)
{
	struct buf b;
	bool first = true;

	buf_init(&b, a);
	for (; *name; name++) {
		if (*name != '-')
			buf_byte(&b,
				 first && *name >= 'a' && *name <= 'z' ? (uint8_t)(*name - 'a' + 'A') : (uint8_t)*name);
		first = *name == '-';
	}
	return b.n >= 3 ? buf_slice(&b) : arena_printf(a, "%.*sTable", SLICE_ARG(buf_slice(&b)));
}

/* The file with another name and table; everything else stays, comments too. */
static void put_renamed(struct buf *out, struct slice text, const char *name)
{
	const char *p = text.p, *end = text.p + text.n;

	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		struct slice line = slice_make(p, (size_t)((stop ? stop + 1 : end) - p));

		if (slice_starts(line, SLICE("design:")))
			buf_printf(out, "design: %s\n", name);
		else if (slice_starts(line, SLICE("table:")))
			buf_printf(out, "table: %.*s\n", SLICE_ARG(in_capitals(out->arena, name)));
		else
			buf_put(out, line);
		p += line.n;
	}
}

static bool put_example(struct buf *out, const char *example, const char *name)
{
	const char *path = find_example(out->arena, example);
	struct findings findings;
	struct source source;
	struct buf problems;

	if (!path)
		return complain(EXIT_REFUSED,
				"there is no example '%s': name a file, or one of designs/ or designs/examples/",
				example),
		       false;
	findings_init(&findings, out->arena);
	if (!design_load_file(out->arena, path, &source, &findings)) {
		buf_init(&problems, out->arena);
		findings_print(&problems, &findings, &source);
		fwrite(problems.p, 1, problems.n, stderr);
		return complain(EXIT_REFUSED, "%s is no design to begin with", path), false;
	}
	put_renamed(out, source.text, name);
	return true;
}

/* ---- from nothing ---- */
struct answers {
	struct slice entity; /* Note */
	bool has_login;
};

static bool is_entity_name(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!memchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", s.p[i], 62))
			return false;
	return s.n && s.n <= 40 && s.p[0] >= 'A' && s.p[0] <= 'Z' && !slice_is(s, "User");
}

/* Empty: nothing was said, or the input has ended. */
static struct slice ask(struct arena *a, const char *question)
{
	char line[ANSWER_MOST];
	size_t n;

	fputs(question, stderr);
	if (!fgets(line, sizeof(line), stdin)) {
		fputc('\n', stderr);
		return SLICE("");
	}
	n = strcspn(line, "\n");
	while (n && (line[n - 1] == ' ' || line[n - 1] == '\r'))
		n--;
	return arena_copy(a, slice_make(line, n));
}

/* Questions only where a person can answer them. */
static struct answers ask_all(struct arena *a)
{
	struct answers x = { .entity = SLICE("Note") };
	struct slice said;

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return x;
	for (;;) {
		said = ask(a, "What is one item called? A capital letter first, then letters and digits (Note): ");
		if (!said.n || is_entity_name(said))
			break;
		fprintf(stderr, "'%.*s' is no such name.\n", SLICE_ARG(said));
	}
	if (said.n)
		x.entity = said;
	said = ask(a, "Do people log in, and own what they write? y or n (n): ");
	x.has_login = said.n && (said.p[0] == 'y' || said.p[0] == 'Y');
	return x;
}

static struct slice in_lower(struct arena *a, struct slice name)
{
	char *p = arena_cstr(a, name);

	for (size_t i = 0; i < name.n; i++)
		if (p[i] >= 'A' && p[i] <= 'Z')
			p[i] = (char)(p[i] - 'A' + 'a');
	return slice_make(p, name.n);
}

static struct slice in_upper(struct arena *a, struct slice name)
{
	char *p = arena_cstr(a, name);

	for (size_t i = 0; i < name.n; i++)
		if (p[i] >= 'a' && p[i] <= 'z')
			p[i] = (char)(p[i] - 'a' + 'A');
	return slice_make(p, name.n);
}

/* In what follows Note, note and NOTE stand for the item's name, DESIGN and TABLE for theirs. */
static const char head[] =
	"# Notes and how they are read. docs/design-language.md explains every word; 'thorpe check' reviews it.\n"
	"design: DESIGN\n"
	"table: TABLE\n"
	"key: [PK, SK]\n"
	"\n"
	"entities:\n";

static const char for_all[] =
	"  Note:\n"
	"    path: /notes/<note_id>\n"
	"    attributes:\n"
	"      note_id: string, id, managed, fixed\n"
	"      text: text 1..5000, required\n"
	"      created_at: timestamp, now\n"
	"    keys:\n"
	"      PK: NOTES\n"
	"      SK: NOTE#<note_id>\n"
	"    accept:\n"
	"      hot-partition: one list of all; to be spread before it takes a thousand writes a second\n"
	"    allow:\n"
	"      create, read: anyone                 # 'update' and 'delete' are for operators until they stand here\n"
	"\n"
	"access:\n"
	"  notes:\n"
	"    path: /notes\n"
	"    query: table\n"
	"    where: {PK: NOTES, SK: begins with NOTE#}\n"
	"    order: newest first\n"
	"    limit: 20\n";

static const char with_accounts[] = "  User:\n"
				    "    path: /users/<user_id>\n"
				    "    attributes:\n"
				    "      user_id: name 3..30, required, lower, fixed\n"
				    "      password_hash: string, hidden, managed\n"
				    "      created_at: timestamp, now\n"
				    "    keys:\n"
				    "      PK: USER#<user_id>\n"
				    "      SK: PROFILE\n"
				    "    login:\n"
				    "      by: [user_id]\n"
				    "      password: password_hash\n"
				    "      subject: user_id\n"
				    "    allow:\n"
				    "      create, read: anyone\n"
				    "      update, delete: user_id = caller\n"
				    "    delete: {then remove: notes}\n"
				    "  Note:\n"
				    "    path: /users/<user_id>/notes/<note_id>\n"
				    "    attributes:\n"
				    "      user_id: string, required, fixed\n"
				    "      note_id: string, id, managed, fixed\n"
				    "      text: text 1..5000, required\n"
				    "      created_at: timestamp, now\n"
				    "    keys:\n"
				    "      PK: USER#<user_id>\n"
				    "      SK: NOTE#<note_id>\n"
				    "    requires:\n"
				    "      - {User(user_id): there is no such user}\n"
				    "    allow:\n"
				    "      read: anyone\n"
				    "      create, update, delete: user_id = caller\n"
				    "\n"
				    "access:\n"
				    "  notes:\n"
				    "    path: /users/<user_id>/notes\n"
				    "    query: table\n"
				    "    where: {PK: USER#<user_id>, SK: begins with NOTE#}\n"
				    "    order: newest first\n"
				    "    limit: 20\n";

struct stand_in {
	const char *word;
	struct slice text;
};

static void put_replaced(struct buf *b, const char *text, const struct stand_in *list, size_t n)
{
	while (*text) {
		size_t i = 0;

		while (i < n && strncmp(text, list[i].word, strlen(list[i].word)))
			i++;
		if (i < n) {
			buf_put(b, list[i].text);
			text += strlen(list[i].word);
		} else {
			buf_byte(b, (uint8_t)*text++);
		}
	}
}

static void put_minimal(struct buf *b, const char *name, const struct answers *x)
{
	const struct stand_in list[] = {
		{ "Note", x->entity },
		{ "note", in_lower(b->arena, x->entity) },
		{ "NOTE", in_upper(b->arena, x->entity) },
		{ "DESIGN", slice_str(name) },
		{ "TABLE", in_capitals(b->arena, name) },
	};

	put_replaced(b, head, list, sizeof(list) / sizeof(*list));
	put_replaced(b, x->has_login ? with_accounts : for_all, list, sizeof(list) / sizeof(*list));
}

/* ---- the file ---- */
/* Never overwrites. */
static bool write_file(const char *path, struct slice text)
{
	FILE *f = fopen(path, "wxe");
	bool ok;

	if (!f && errno == EEXIST)
		return complain(EXIT_REFUSED, "%s is there already; it stays as it is", path), false;
	if (!f)
		return complain(EXIT_REFUSED, "%s: %s", path, strerror(errno)), false;
	ok = fwrite(text.p, 1, text.n, f) == text.n;
	ok = fclose(f) == 0 && ok;
	if (!ok) {
		unlink(path);
		complain(EXIT_REFUSED, "%s: %s", path, strerror(errno));
	}
	return ok;
}

static bool begin(struct arena *a, const char *name, const char *from)
{
	const char *path = arena_printf(a, "%s.yaml%c", name, 0).p;
	struct answers answers;
	struct buf text;

	if (access(path, F_OK) == 0) /* before any question */
		return complain(EXIT_REFUSED, "%s is there already; it stays as it is", path), false;
	buf_init(&text, a);
	if (from) {
		if (!put_example(&text, from, name))
			return false;
	} else {
		answers = ask_all(a);
		put_minimal(&text, name, &answers);
	}
	if (!write_file(path, buf_slice(&text)))
		return false;
	printf("wrote %s\n  thorpe check %s --watch      review it while you write\n  thorpe serve --design %s\n", path,
	       path, path);
	return true;
}

static int run(void *options, char **words, int count)
{
	const struct new_options *o = options;
	volatile int status = EXIT_REFUSED;
	struct arena a;

	(void)count;
	if (!is_name(words[0]))
		return complain(EXIT_USAGE,
				"the name of a design has up to 64 lower case letters, digits and '-', not '%s'",
				words[0]);
	arena_init(&a);
	ARENA_TRY(&a, {
		if (begin(&a, words[0], o->from))
			status = 0;
	}, { status = complain(EXIT_REFUSED, "out of memory"); });
	arena_release(&a);
	return status;
}

const struct command command_new = {
	.name = "new",
	.summary = "begin a design: NAME.yaml, from an example or from a few answers",
	.usage = "NAME [--from EXAMPLE]",
	.about = "Writes NAME.yaml in this directory and never overwrites a file. With --from it is a copy of an example\n"
		 "with a name and a table of its own; without, a small design that works. On a terminal it asks what an\n"
		 "item is called and whether people log in; elsewhere it asks nothing.",
	.flags = flags,
	.examples = "  thorpe new notes\n"
		    "  thorpe new my-network --from social\n"
		    "  thorpe new theirs --from ../their.yaml",
	.least_words = 1,
	.most_words = 1,
	.lacking = "what is it called? thorpe new NAME",
	.size = sizeof(struct new_options),
	.run = run,
};
