/* The largest body that the attributes of a design allow.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/rest/app_exchange.h"

#define ITEM_BYTES      (400 * 1024) /* of an item with its names; all that is not compressed must fit */
#define ESCAPED         6            /* JSON writes a byte as \\u001f at worst */
#define CHARACTER_BYTES 12           /* and a character as two of those */
#define FRAME_BYTES     4096         /* names, quotes and commas */

/* Of one attribute; 0: it declares no length, or is short by nature. */
static double attribute_bytes(const struct attribute *a)
{
	double bytes;

	if (!a->has_max || a->derived || a->copy_entity.n)
		return 0;
	switch (a->type) {
	case ATTR_STRING:
	case ATTR_TEXT:
		bytes = a->max * CHARACTER_BYTES;
		return a->compressed || bytes < ITEM_BYTES * ESCAPED ? bytes : ITEM_BYTES * ESCAPED;
	default: /* numbers, and lists whose elements declare no length */ return 0;
	}
}

static double entity_bytes(const struct entity *e)
{
	double all = FRAME_BYTES, plain = FRAME_BYTES;

	for (size_t i = 0; i < e->attribute_count; i++) {
		double bytes = attribute_bytes(&e->attributes[i]);

		*(e->attributes[i].compressed ? &all : &plain) += bytes;
	}
	return all + (plain < ITEM_BYTES * ESCAPED ? plain : ITEM_BYTES * ESCAPED);
}

size_t app_body_needs(const struct design *d)
{
	double most = 0;

	for (size_t i = 0; i < d->entity_count; i++) {
		double bytes = entity_bytes(&d->entities[i]);

		if (bytes > most)
			most = bytes;
	}
	return most < (double)SIZE_MAX / 2 ? (size_t)most : SIZE_MAX / 2;
}
