/* The only file that knows PCRE2.
 * SPDX-License-Identifier: Apache-2.0 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "design/term/regex.h"

/* Plenty for what describes a value; a text that needs more is refused after some milliseconds. */
#define STEPS_MOST  100000
#define HEAP_MOST   2048 /* KiB */
#define DEPTH_MOST  20000
#define NESTED_MOST 50 /* parentheses */
#define WHY_MOST    160

struct regex {
	struct slice text;
	pcre2_code *code;
	pcre2_match_context *limits;
};

static void release(void *p)
{
	struct regex *x = p;

	pcre2_code_free(x->code);
	pcre2_match_context_free(x->limits);
}

/* The same meaning on every machine, however its PCRE2 was built. */
static pcre2_code *compile(struct slice text, int *error, size_t *at)
{
	pcre2_compile_context *c = pcre2_compile_context_create(NULL);
	pcre2_code *code = NULL;

	*error = PCRE2_ERROR_NOMEMORY;
	*at = 0;
	if (!c)
		return NULL;
	pcre2_set_newline(c, PCRE2_NEWLINE_LF);
	pcre2_set_bsr(c, PCRE2_BSR_UNICODE);
	pcre2_set_parens_nest_limit(c, NESTED_MOST);
	pcre2_set_max_pattern_length(c, REGEX_MOST);
	code = pcre2_compile((PCRE2_SPTR)text.p, text.n,
			     PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOLLAR_ENDONLY |
				     PCRE2_NEVER_BACKSLASH_C,
			     error, at, c);
	pcre2_compile_context_free(c);
	return code;
}

const struct regex *regex_compile(struct arena *a, struct slice text, const char **why, size_t *at)
{
	struct regex *x = arena_new(a, struct regex);
	char *message = arena_alloc(a, WHY_MOST);
	int error;

	*why = message;
	x->text = arena_copy(a, text);
	x->code = compile(text, &error, at);
	if (x->code && !(x->limits = pcre2_match_context_create(NULL)))
		error = PCRE2_ERROR_NOMEMORY;
	if (!x->limits) {
		pcre2_code_free(x->code);
		if (pcre2_get_error_message(error, (PCRE2_UCHAR *)message, WHY_MOST) < 0)
			memcpy(message, "it is not a pattern", sizeof("it is not a pattern"));
		if (*at > text.n)
			*at = text.n;
		return NULL;
	}
	arena_defer(a, release, x);
	pcre2_set_match_limit(x->limits, STEPS_MOST);
	pcre2_set_heap_limit(x->limits, HEAP_MOST);
	pcre2_set_depth_limit(x->limits, DEPTH_MOST);
	return x;
}

struct slice regex_text(const struct regex *x)
{
	return x->text;
}

enum regex_result regex_match(const struct regex *x, struct slice text)
{
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	int n = PCRE2_ERROR_NOMEMORY;

	if (data)
		n = pcre2_match(x->code, (PCRE2_SPTR)(text.n ? text.p : ""), text.n, 0, 0, data, x->limits);
	pcre2_match_data_free(data);
	if (n >= 0)
		return REGEX_YES;
	/* Texts that are not UTF-8 match nothing. */
	return n == PCRE2_ERROR_NOMATCH || (n <= PCRE2_ERROR_UTF8_ERR1 && n >= PCRE2_ERROR_UTF8_ERR21) ? REGEX_NO
												       : REGEX_UNDECIDED;
}

/* ---- other readers of the same text ---- */

static bool is_one_of(char c, const char *list)
{
	return c && strchr(list, c);
}

/* After "(?": groups that both know. */
static bool is_known_group(const char *p, const char *end)
{
	if (p == end)
		return false;
	if (*p != '<')
		return is_one_of(*p, ":=!");
	return p + 1 < end && (is_one_of(p[1], "=!") || (p[1] | 0x20) >= 'a');
}

/* Cautious: what it does not know is not portable. */
bool regex_is_portable(const struct regex *x)
{
	const char *p = x->text.p, *end = p + x->text.n;
	bool in_class = false, repeats = false; /* repeats: after * + ? } */

	for (; p < end; p++) {
		bool repeated = repeats;
		char next = p + 1 < end ? p[1] : '\0';

		repeats = false;
		if (*p & 0x80)
			continue;
		if (*p == '\\') {
			if (!is_one_of(next, "dDwWsnrtf^$\\.*+?()[]{}|/-") && !(is_one_of(next, "bB") && !in_class))
				return false;
			p++;
		} else if (in_class) {
			if (*p == '[')
				return false; /* [:alpha:] */
			in_class = *p != ']';
		} else if (*p == '[') {
			p += next == '^';
			if (p + 1 < end && p[1] == ']')
				return false; /* here it is a member, there an end */
			in_class = true;
		} else if (*p == '(' && (next == '*' || (next == '?' && !is_known_group(p + 2, end)))) {
			return false;
		} else if (is_one_of(*p, "*+?}")) {
			if (*p == '+' && repeated)
				return false; /* possessive */
			repeats = !(*p == '?' && repeated);
		} else if (*p == ']' || (*p == '{' && !(next >= '0' && next <= '9'))) {
			return false;
		}
	}
	return true;
}
