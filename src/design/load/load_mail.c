/* login: {…, mail: {…}}: tokens that are sent to an account's address, and the letters that have them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

#define RESET_SECONDS 3600
#define PROOF_SECONDS (3 * 86400)
#define MAIL_MOST     (30 * INT64_C(86400))
#define SUBJECT_MOST  200
#define TEXT_MOST     20000

/* ---- letters ---- */

static const struct slice letter_words[] = {
	[LETTER_LITERAL] = { "", 0 },
	[LETTER_TOKEN] = { "token", 5 },
	[LETTER_EXPIRES] = { "expires", 7 },
	[LETTER_TITLE] = { "title", 5 },
};

static bool is_plain(enum attr_type t)
{
	return t != ATTR_LIST && t != ATTR_SET && t != ATTR_MAP && t != ATTR_BINARY;
}

static void read_placeholder(struct load *l, struct slice name, struct place p, struct letter_part *out)
{
	const struct attribute *a = entity_attribute(l->entity, name);
	struct load_names known = { .a = l->a };

	*out = (struct letter_part){ .is = LETTER_ATTRIBUTE, .text = name };
	for (size_t i = LETTER_TOKEN; i < LENGTH(letter_words); i++) {
		if (slice_equal(letter_words[i], name))
			out->is = (enum letter_is)i;
		load_names_add(&known, letter_words[i]);
	}
	if (out->is != LETTER_ATTRIBUTE)
		return;
	for (size_t i = 0; i < l->entity->attribute_count; i++)
		if (!l->entity->attributes[i].hidden)
			load_names_add(&known, l->entity->attributes[i].name);
	if (!a)
		load_unknown(l, p, "unknown-name", "attribute", name, &known);
	else if (a->hidden || a->compressed)
		load_error(l, p, "wrong-value", "'%.*s' is %s, and cannot be in a letter", SLICE_ARG(name),
			   a->hidden ? "hidden" : "compressed");
	else if (!is_plain(a->type))
		load_error(l, p, "wrong-type", "'%.*s' is no text and no number, and cannot be in a letter",
			   SLICE_ARG(name));
}

static bool has_part(const struct letter_text *t, enum letter_is is)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->parts[i].is == is)
			return true;
	return false;
}

/* '<' that does not begin a placeholder is an error: a forgotten '>' would be sent to everyone. False: such a one, or no text. */
static bool read_letter_text(struct load *l, struct letter_text *out, const struct yaml *y, size_t most)
{
	struct slice text = load_text(l, y, "a text with placeholders, as in: Your code: <token>");
	struct letter_part *parts = arena_array(l->a, struct letter_part, text.n + 1);
	size_t n = 0, at = 0;
	bool whole = text.n > 0;

	if (text.n > most)
		load_error(l, y->place, "too-long", "at most %zu bytes", most);
	while (at < text.n) {
		size_t end = at;
		const char *close;

		while (end < text.n && text.p[end] != '<')
			end++;
		if (end > at)
			parts[n++] = (struct letter_part){ .text = slice_make(text.p + at, end - at) };
		if (end == text.n)
			break;
		close = memchr(text.p + end, '>', text.n - end);
		if (!close) {
			load_error(l, yaml_place(l->source, y, end, 1), "bad-template",
				   "'<' begins a placeholder, and '>' is missing");
			whole = false;
			break;
		}
		at = (size_t)(close - text.p) + 1;
		read_placeholder(l, slice_make(text.p + end + 1, at - end - 2),
				 yaml_place(l->source, y, end + 1, at - end - 2), &parts[n++]);
	}
	*out = (struct letter_text){ parts, n };
	return whole;
}

static void read_subject(struct load *l, void *into, const struct yaml *y)
{
	struct letter *letter = into;

	if (read_letter_text(l, &letter->subject, y, SUBJECT_MOST) && has_part(&letter->subject, LETTER_TOKEN))
		load_error(l, y->place, "wrong-value",
			   "a token in a subject is shown on locked screens: put it into the text");
}

static void read_text(struct load *l, void *into, const struct yaml *y)
{
	struct letter *letter = into;

	if (read_letter_text(l, &letter->text, y, TEXT_MOST) && !has_part(&letter->text, LETTER_TOKEN))
		load_error(l, y->place, "missing-word", "a letter needs <token>: without it nobody can answer it");
}

static const struct load_shape letter_text_shape = { SHAPE_TYPE, .type = WORD_TEXT };
static const struct load_word letter_words_of[] = {
	{ "subject", .read = read_subject, .shape = &letter_text_shape },
	{ "text", .read = read_text, .shape = &letter_text_shape },
	{ 0 },
};
static const struct load_shape letter_shape = { SHAPE_WORDS, "a letter", .words = letter_words_of };

static void read_reset_letter(struct load *l, void *into, const struct yaml *y)
{
	(void)load_words(l, y, "a letter", letter_words_of, &((struct login_mail *)into)->reset_letter, NULL);
}

static void read_proof_letter(struct load *l, void *into, const struct yaml *y)
{
	(void)load_words(l, y, "a letter", letter_words_of, &((struct login_mail *)into)->proof_letter, NULL);
}

static const struct load_word letters_words[] = {
	{ "reset", .read = read_reset_letter, .shape = &letter_shape },
	{ "proof", .read = read_proof_letter, .shape = &letter_shape },
	{ 0 },
};
static const struct load_shape letters_shape = { SHAPE_WORDS, "'letters'", .words = letters_words };

static void read_letters(struct load *l, void *into, const struct yaml *y)
{
	(void)load_words(l, y, "'letters'", letters_words, into, NULL);
}

/* ---- mail ---- */

static const struct load_word mail_words[] = {
	{ "to", WORD_TEXT, AT(login_mail, to), "the address of a webhook" },
	{ "secret", WORD_TEXT, AT(login_mail, secret), "a secret" },
	{ "address", WORD_TEXT, AT(login_mail, address), "the name of an attribute", NAME_ATTRIBUTE },
	{ "verified", WORD_TEXT, AT(login_mail, verified), "the name of an attribute", NAME_ATTRIBUTE },
	{ "reset", WORD_DURATION, AT(login_mail, reset_seconds) },
	{ "proof", WORD_DURATION, AT(login_mail, proof_seconds) },
	{ "letters", .read = read_letters, .shape = &letters_shape },
	{ 0 },
};

static const char *const mail_needs[] = { "address", NULL };
const struct load_shape load_mail_shape = { SHAPE_WORDS, "'mail'", .words = mail_words, .needed = mail_needs };

static void check_attributes(struct load *l, const struct login_mail *m, struct place p)
{
	const struct attribute *a = entity_attribute(l->entity, m->address);

	if (a && a->type != ATTR_STRING)
		load_error(l, p, "wrong-type", "'%.*s' is where mail goes, and must be a string", SLICE_ARG(a->name));
	a = entity_attribute(l->entity, m->verified);
	if (a && (a->type != ATTR_BOOLEAN || !a->managed))
		load_error(l, p, "wrong-type",
			   "'%.*s' says that the address is proved, and must be 'boolean, managed': only the proof sets it",
			   SLICE_ARG(a->name));
}

void load_mail(struct load *l, void *login, const struct yaml *y)
{
	struct login_mail *m = &((struct login *)login)->mail;

	m->place = y->place;
	if (!load_words(l, y, "'mail'", mail_words, m, NULL))
		return;
	if (!m->address.n)
		load_error(l, y->place, "missing-word", "'mail' needs 'address': the attribute that says where it goes");
	EACH (struct entity, e, l->d->entities, l->d->entity_count)
		if (e != l->entity && e->login.mail.address.n && m->address.n)
			load_error(l, y->place, "set-twice", "the accounts of %.*s have 'mail' already",
				   SLICE_ARG(e->name));
	check_attributes(l, m, y->place);
	if (m->reset_seconds > MAIL_MOST || m->proof_seconds > MAIL_MOST)
		load_error(l, y->place, "bad-session", "a token that is sent is valid for at most 30 days");
	if (!m->reset_seconds)
		m->reset_seconds = RESET_SECONDS;
	if (!m->proof_seconds)
		m->proof_seconds = PROOF_SECONDS;
}
