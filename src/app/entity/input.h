/* Plain JSON into attribute values, as the design's types and clauses say.
 *
 * Lifetime: values live in the run's arena. Errors: false after setting the run's problem; INVALID names the
 * attribute.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_INPUT_H
#define THORPE_APP_ENTITY_INPUT_H

#include "app/run/run.h"

enum input_use { INPUT_CREATE, INPUT_UPDATE, INPUT_PATCH, INPUT_ACTION };

/* Reads the body of a write into `out`. Checks every attribute (type, range, choices, length in characters) and
 * normalises it (`lower`, timestamps to UTC seconds with Z). Reports all errors at once: INVALID with parts. A body
 * that is not an object is MALFORMED; `body` NULL counts as an empty object.
 *
 *   unknown names         an error, with a suggestion
 *   input_is_kept()       an error, except from operators; but a creation may give an `id`, and `the caller` is ignored
 *   `fixed`, on update    accepted here; write.h refuses a different value
 *   null                  an entry with an absent value: "remove"; write.h restores the default. `default null`: a NULL
 *   an empty set          removes, too
 *   an action             takes action->input only
 *   `password`, `current_password`   accepted as strings if the entity has a login that uses these names
 *   INPUT_PATCH           an update whose maps are patches (RFC 7396), with NULL for members to remove; input_merge()
 *                         makes the new map of them and checks its limits */
bool input_body(struct run *r, const struct entity *e, enum input_use use, const struct action *action,
		const struct json *body, struct row *out) MUST_CHECK;
/* Whether the server sets the attribute, so that only operators may give it: counter, now, touched, derived, copy,
 * managed, hidden, N days after, `the caller`. */
/* The attribute of a member's name, or the first counter of the map of that name. */
const struct attribute *input_attribute(const struct entity *e, struct slice name);
bool input_is_kept(const struct attribute *attribute);
/* One JSON value as the attribute says: checked, normalised, compressed. *out absent: nothing is stored (an empty
 * set). */
bool input_json(struct run *r, const struct attribute *attribute, struct slice name, const struct json *j,
		struct value *out) MUST_CHECK;
/* A patch of a map, an object: NULL for members to remove. Its limits are checked when it is merged. */
bool input_patch(struct run *r, const struct attribute *attribute, const struct json *j, struct value *out) MUST_CHECK;
/* Applies a patch to a map as stored (`was`; absent or no map: an empty one); checked and compressed as the attribute
 * says. */
bool input_merge(struct run *r, const struct attribute *attribute, struct value was, struct value patch,
		 struct value *out) MUST_CHECK;
/* One value from text (a path or query parameter, a command line), as the attribute's type; `attribute` NULL: a
 * string. Elements of a list are separated by commas; maps are JSON. */
bool input_text(struct run *r, const struct attribute *attribute, struct slice name, struct slice text,
		struct value *out) MUST_CHECK;
/* INVALID, naming each required attribute that the item lacks. An attribute with `when` is required only while that
 * holds. */
bool input_required(struct run *r, const struct entity *e, const struct row *full) MUST_CHECK;
/* Adds missing values to the problem of a body that is INVALID already, so that the client learns everything at once:
 * required attributes that neither the body nor the path (`path`: names) gives, and a missing or unfit password. */
void input_add_missing(struct run *r, const struct entity *e, const struct json *body, const struct slice *path,
		       size_t n);
/* The same for the password of a new account only; `password`: absent if none was given. */
void input_add_password(struct run *r, const struct entity *e, struct value password);
/* INVALID unless it can be a password: PASSWORD_LEAST to PASSWORD_MOST bytes, none of them zero. */
#define PASSWORD_LEAST 8
#define PASSWORD_MOST  72 /* bcrypt ignores the rest */
bool input_password_fits(struct run *r, struct slice password) MUST_CHECK;
/* Whether an omitted attribute is stored as NULL: `default null`. */
bool input_default_is_null(const struct attribute *a);
/* Shortens a value that the design makes (a default, `=`, `set`, `with`): a text or list over its maximum is cut
 * between characters, and a slug does not end in a hyphen. E-mail addresses, URLs and texts with a pattern are never
 * cut: they would become others. */
struct value input_made(struct run *r, const struct attribute *attribute, struct value v);
/* Applies `lower`: trims and lowers a text, or each element of a list and drops repetitions. A timestamp gets the
 * attribute's unit. All else is unchanged. */
struct value input_normal(struct run *r, const struct attribute *attribute, struct value v);

#endif
