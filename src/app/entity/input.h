/* Plain JSON into attribute values, as the design's types and clauses say.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_INPUT_H
#define THORPE_APP_ENTITY_INPUT_H

#include "app/run/run.h"

enum input_use { INPUT_CREATE, INPUT_UPDATE, INPUT_PATCH, INPUT_ACTION };

/* The body of a write. Every attribute is checked (type, range, choices, length in characters) and normalised (`lower`,
 * timestamps to UTC seconds with Z); all that is wrong is told at once (INVALID with parts). Names the entity does not have
 * are wrong, with a suggestion. Who is no operator may not give what the server keeps (counter, now, touched, derived, copy,
 * managed, hidden, N days after); an `id` attribute may be given on creation; `the caller` is ignored. On update `fixed` ones may
 * be repeated but not changed, which write.h sees. JSON null takes away (an entry with an absent value; write.h puts the default back), or is a NULL where the
 * default is null; an empty set removes, too. An action takes action->input only. `password` and `current_password` are let
 * through as strings where the entity has a login and no attribute of that name, or the login's own. body NULL: an empty object.
 * A body that is no object is MALFORMED. INPUT_PATCH is an update of which maps are patches of maps (RFC 7396), with NULLs
 * for members to be removed: input_merge() makes the value of them, and asks for its limits. */
bool input_body(struct run *r, const struct entity *e, enum input_use use, const struct action *action,
		const struct json *body, struct row *out) MUST_CHECK;
/* Whether the server keeps the attribute: who is no operator cannot give it. `the caller` is kept, too. */
bool input_is_kept(const struct attribute *attribute);
/* One value of JSON as the attribute says: checked, normalised, compressed. Absent in *out: nothing is stored (an empty set). */
bool input_json(struct run *r, const struct attribute *attribute, struct slice name, const struct json *j,
		struct value *out) MUST_CHECK;
/* What a map (`was`, as stored; absent or anything else: an empty one) becomes by a patch, checked and compressed as the attribute says. */
bool input_merge(struct run *r, const struct attribute *attribute, struct value was, struct value patch,
		 struct value *out) MUST_CHECK;
/* One value from text (a path or query parameter, a command line), as the attribute's type; `attribute` NULL: a string.
 * Elements of a list are separated by commas; maps are JSON. */
bool input_text(struct run *r, const struct attribute *attribute, struct slice name, struct slice text,
		struct value *out) MUST_CHECK;
/* Attributes that are required and not there: INVALID. Those with a `when` are required only while it holds. */
bool input_required(struct run *r, const struct entity *e, const struct row *full) MUST_CHECK;
/* Adds to the problem of a body that has one already (INVALID), so that a client learns everything in one answer: required
 * attributes that are neither in the body nor in the path, and a password that is missing or does not fit. `path`: the names
 * that the path gives. */
void input_add_missing(struct run *r, const struct entity *e, const struct json *body, const struct slice *path,
		       size_t n);
/* The same of the password of a new account alone; `password`: absent if none was given. */
void input_add_password(struct run *r, const struct entity *e, struct value password);
/* Whether it can be a password: PASSWORD_LEAST to PASSWORD_MOST bytes, none of them zero. Else INVALID. */
#define PASSWORD_LEAST 8
#define PASSWORD_MOST  72 /* bcrypt ignores the rest */
bool input_password_fits(struct run *r, struct slice password) MUST_CHECK;
/* Whether the attribute is stored as a NULL where it is not given: `default null`. */
bool input_default_is_null(const struct attribute *a);
/* A value that the design makes (a default, `=`, `set`, `with`): a text or a list over its maximum is cut there, between
 * characters; a slug does not end in a hyphen then. Not e-mail addresses and URLs, which would be others. */
struct value input_made(struct run *r, const struct attribute *attribute, struct value v);
/* `lower`: trimmed and in lower case; a list's elements each, once. As it is when the attribute does not say so. */
struct value input_normal(struct run *r, const struct attribute *attribute, struct value v);

#endif
