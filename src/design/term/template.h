/* Key templates: USER#<user_id>, SCORE#<score:+10>#<cardId>, TIMELINE#<created_at:date>.
 *
 * A template is literal text and placeholders. A placeholder names an attribute (or, in access patterns, a
 * parameter; in processors also variable.attribute) and may have a format:
 *   <x>        as it is: strings as they are, numbers as plain decimals
 *   <x:date>   the day of a timestamp: 2026-11-15   <x:hour> 2026-11-15T12   <x:week> 2026-W46   <x:month> 2026-11
 *              <x:year> 2026: base/timestamp.h
 *   <x:06>     a number padded with zeros to six digits; negative or too long: an error
 *   <x:+10>    a number plus 5 followed by nine zeros, in ten digits, so that negatives sort (:+N in general)
 *   <x:lower>  in lower case                        <x:slug>  as the term slug(x)
 *   <x:shard 10>  a number from 0 to 9, made from the value: the term hash(x, 10)
 *   <x:ulid>   for ranges of ULIDs: the lowest of that time, or the highest where the range ends
 * A template that is exactly one placeholder without format keeps the value's type (a number stays a number).
 * '#' may not occur in a value that enters a key.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_TERM_TEMPLATE_H
#define THORPE_DESIGN_TERM_TEMPLATE_H

#include "base/timestamp.h"
#include "design/term/term.h"

enum template_format {
	FORMAT_PLAIN,
	FORMAT_HOUR, /* these five in the order of enum time_unit */
	FORMAT_DATE,
	FORMAT_WEEK,
	FORMAT_MONTH,
	FORMAT_YEAR,
	FORMAT_PAD,
	FORMAT_OFFSET,
	FORMAT_LOWER,
	FORMAT_SLUG,
	FORMAT_SHARD,
	FORMAT_ULID_LOWEST,
	FORMAT_ULID_HIGHEST, /* by the loader: where a range ends */
};
#define SHARDS_MOST 1000

/* hour, date, week, month, year */
static inline bool format_is_time(enum template_format f)
{
	return f >= FORMAT_HOUR && f <= FORMAT_YEAR;
}
static inline enum time_unit format_unit(enum template_format f)
{
	return (enum time_unit)(TIME_HOUR + (f - FORMAT_HOUR));
}
/* Its text always begins with a digit. */
static inline bool format_begins_with_digit(enum template_format f)
{
	return format_is_time(f) || f == FORMAT_PAD || f == FORMAT_OFFSET || f >= FORMAT_SHARD;
}
/* Whether the value cannot be read back from its text. */
static inline bool format_loses_value(enum template_format f)
{
	return format_is_time(f) || f == FORMAT_SLUG || f == FORMAT_SHARD;
}

struct template_part {
	struct slice literal;      /* when names == NULL */
	const struct slice *names; /* the placeholder's path: one name, or variable and attribute */
	size_t name_count;
	enum term_of of; /* as a term's path */
	const struct name *at;
	enum template_format format;
	int width; /* PAD, OFFSET; of SHARD how many there are */
};

/* clang-format off: C++ has another use for the word */
struct template
{
	/* clang-format on */
	struct slice text; /* as written */
	struct place place;
	const struct template_part *parts;
	size_t part_count;
};

/* NULL, with findings, when malformed. */
const struct template *template_parse(struct arena *a, struct slice text, struct place p, struct findings *f);

enum template_result { TEMPLATE_OK, TEMPLATE_ABSENT /* a placeholder has no value */, TEMPLATE_BAD /* error set */ };
/* A placeholder is a path in the scope; NULL counts as absent. `in_key`: refuses '#' in values, empty values, and
 * values that no key can have (422: VALIDATION, naming the placeholder). Allocates in the scope's arena. */
enum template_result template_fill(const struct template *t, const struct term_scope *s, bool in_key, struct value *out,
				   struct error *e) MUST_CHECK;
/* The same with one value for every placeholder. */
enum template_result template_fill_with(const struct template *t, struct value v, bool in_key, struct arena *a,
					struct value *out, struct error *e) MUST_CHECK;
/* It is exactly one placeholder without a format: its value keeps its type. */
static inline bool template_is_bare(const struct template *t)
{
	return t->part_count == 1 && t->parts[0].names && t->parts[0].format == FORMAT_PLAIN;
}
/* Whether a placeholder has this name; `t` may be NULL. */
static inline bool template_reads(const struct template *t, const struct name *n)
{
	for (size_t i = 0; t && i < t->part_count; i++)
		if (t->parts[i].names && t->parts[i].at == n)
			return true;
	return false;
}
/* "date", "06", "shard 10"; empty: none. */
struct slice template_format_text(struct arena *a, const struct template_part *part);
/* It has no placeholder. */
bool template_is_constant(const struct template *t);
/* The same literals and as many placeholders: POST#<post_id> and POST#<id>. False when one is NULL. */
bool template_alike(const struct template *a, const struct template *b);
/* The literal text before the first placeholder. */
struct slice template_prefix(const struct template *t);
/* Whether the template could have made `key`; if so, values[] gets the text of each part (empty for literals). A
 * placeholder extends to the next literal, has at least one character and none of the template's separator ('#', in
 * paths '/'); a format must fit. For the console and for reading ids from keys. */
bool template_match(const struct template *t, struct slice key, struct slice *values);
/* Whether the template is a text, or a text and one placeholder. Then a key matches if it begins with *text and, if
 * *rest, goes on after it without *sign in the rest ('\0': any character), else ends there. */
bool template_is_simple(const struct template *t, struct slice *text, bool *rest, char *sign);

#endif
