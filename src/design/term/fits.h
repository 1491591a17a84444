/* Whether a value fits an attribute: its type, range, choices and form.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_TERM_FITS_H
#define THORPE_DESIGN_TERM_FITS_H

#include "design/design.h"

#define FITS_TEXT_MAX 160

/* Whether a value made by the design (a default, `=`, `set`, `with`) fits the attribute; NULL always does. If not,
 * *why (a static text, or `room`) is what a 422 says is expected: "between 3 and 30 characters". Minimum lengths
 * apply to clients only (app/entity/input.h): a soft deletion may set ''. Derived attributes are checked for range
 * and form only, copies not at all. */
bool attribute_fits(const struct attribute *a, struct value v, char room[FITS_TEXT_MAX], const char **why);
/* The same without what is inside it. */
bool attribute_fits_itself(const struct attribute *a, struct value v, char room[FITS_TEXT_MAX], const char **why);
/* The members of a structure and the values of lists and maps of them: types, ranges, what is required, and that there
 * is nothing else. If not, `room` gets the path and what is expected: "[2].quantity: between 1 and 99". */
bool attribute_fits_inside(const struct attribute *a, struct value v, char room[FITS_TEXT_MAX]);
/* "between 3 and 30 characters"; `unit` empty for numbers themselves. */
void attribute_range_text(const struct attribute *a, const char *unit, char out[FITS_TEXT_MAX]);
/* NULL: the text has the form, or is empty and the attribute's range begins with 0; otherwise what is expected. */
const char *attribute_form_misses(const struct attribute *a, struct slice text);
/* NULL, or why the text cannot be part of an address: `.`, `..`, slashes, spaces at an end, invisible characters. */
const char *address_misses(struct slice text);

#endif
