/* The rare cases: no room, escapes, bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "json/fast.h"

char *json_fast_more(struct json_fast *w, char *to, size_t n)
{
	w->b->n = (size_t)(to - w->b->p);
	to = buf_room(w->b, n);
	w->end = w->b->p + w->b->cap;
	return to;
}

char *json_fast_escaped(struct json_fast *w, char *to, struct slice s)
{
	json_fast_close(w, to);
	json_write(w->b, &(struct json){ .type = JSON_STRING, .string = s });
	return json_fast_more(w, w->b->p + w->b->n, JSON_AROUND);
}

char *json_fast_base64(struct json_fast *w, char *to, struct slice s)
{
	*to++ = '"';
	json_fast_close(w, to);
	buf_base64(w->b, s);
	to = json_fast_more(w, w->b->p + w->b->n, 1 + JSON_AROUND);
	*to++ = '"';
	return to;
}
