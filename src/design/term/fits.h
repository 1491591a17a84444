/* What a value of an attribute may be: its type, range, choices and form.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_TERM_FITS_H
#define THORPE_DESIGN_TERM_FITS_H

#include "design/design.h"

#define FITS_TEXT_MAX 160

/* Whether a value that the design makes (a default, `=`, `set`, `with`) can be one of the attribute; NULL always can. The least
 * length is asked of clients only (app/entity/input.h): what is deleted softly may say ''. *why, a static text or `room`, says what is expected, in the
 * words of a 422: "between 3 and 30 characters". Of a derived attribute only range and form are looked at; a copy is as its source. */
bool attribute_fits(const struct attribute *a, struct value v, char room[FITS_TEXT_MAX], const char **why);
/* "between 3 and 30 characters"; `unit` empty for numbers themselves. */
void attribute_range_text(const struct attribute *a, const char *unit, char out[FITS_TEXT_MAX]);
/* A text that has the form; an empty one only where the range of the attribute begins with 0. NULL, or what is expected. */
const char *attribute_form_misses(const struct attribute *a, struct slice text);
/* NULL, or why no address can hold it as one of its parts: `.`, `..`, slashes, spaces at an end, and characters that nobody sees. */
const char *address_misses(struct slice text);

#endif
