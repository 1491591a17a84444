/* Key attributes as bytes that memcmp() sorts the way DynamoDB sorts them.
 *
 * A key attribute's bytes are value_bytes(): UTF-8 for S, the bytes for B, number.h's form for N.
 *   escaped: each 0x00 becomes 0x00 0xFF, then 0x00 0x00 ends it: sorts, more can follow.
 *   counted: be16 length, then the bytes: compares for equality only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_VALUE_KEY_H
#define THORPE_VALUE_KEY_H

#include "value/value.h"

/* The hash that spreads partitions and defines scan order and segments. It must never change: it is on disk. */
uint64_t key_hash(struct slice bytes);
void key_add_counted(struct buf *b, struct slice bytes);
void key_add_escaped(struct buf *b, struct slice bytes);
/* As key_add_escaped() but without the end mark: a prefix, for begins_with. */
void key_add_escaped_prefix(struct buf *b, struct slice bytes);
/* Reads one back from *p and advances it; false if [*p, end) is malformed. */
bool key_read_counted(const uint8_t **p, const uint8_t *end, struct slice *out) MUST_CHECK;
bool key_read_escaped(struct arena *a, const uint8_t **p, const uint8_t *end, struct slice *out) MUST_CHECK;
/* The value of type `t` (S, N, B) whose value_bytes() are `bytes`. */
struct value key_to_value(struct arena *a, enum value_type t, struct slice bytes);
/* Makes *b the smallest key greater than all keys that start with what it holds (drops trailing
 * 0xFF, adds one to the last byte). False when there is none (all 0xFF). */
bool key_successor(struct buf *b) MUST_CHECK;

#endif
