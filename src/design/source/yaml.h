/* YAML as a read-only tree in which every node knows its place. Only yaml.c uses libfyaml.
 *
 * Scalars are texts; the caller interprets them. ${NAME} and ${NAME:-default} have been replaced. Maps keep their
 * order and have no key twice; keys are scalars. Anchors, aliases and tags are refused.
 *
 * Invariants
 *   Y1  Every node has a place; that of an absent value is its key's.
 *   Y2  Items of a flow list that a comma inside parentheses split are joined again: [E(a, b)] has one item.
 *   Y3  An entry of a flow map without a colon is `bare`; yaml_entries() joins it to its neighbour.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_SOURCE_YAML_H
#define THORPE_DESIGN_SOURCE_YAML_H

#include "design/source/source.h"

#define YAML_SIZE_MAX  (1u << 20) /* a design is read by people */
#define YAML_DEPTH_MAX 32

enum yaml_kind { YAML_NULL, YAML_SCALAR, YAML_MAP, YAML_LIST };

struct yaml {
	enum yaml_kind kind;
	struct place place;
	bool quoted;                      /* SCALAR: in quotes, or a block of text */
	bool flow;                        /* MAP, LIST: in braces or brackets */
	struct slice text;                /* SCALAR */
	uint32_t at, end;                 /* its bytes in the file, without quotes */
	const uint32_t *offsets;          /* SCALAR: the origin of each byte of text; NULL: text is as in the file */
	const struct yaml_entry *entries; /* MAP */
	const struct yaml *items;         /* LIST */
	size_t count;
};

struct yaml_entry {
	struct yaml key, value;
	bool bare;
};

typedef const char *yaml_env(void *ctx, const char *name);

/* NULL, with findings, when the file is not YAML; otherwise a tree, perhaps with findings (a duplicate key, an unset
 * variable). Never deeper than YAML_DEPTH_MAX. `env` NULL: getenv(). */
const struct yaml *yaml_parse(struct arena *a, const struct source *s, yaml_env *env, void *env_ctx, struct findings *f);

/* The place in the file of bytes [from, from + n) of a scalar's text. */
struct place yaml_place(const struct source *s, const struct yaml *scalar, size_t from, size_t n);

/* What bare entries of flow maps are joined to:
 *   {a: string, required, b: number}    YAML_JOIN_VALUES: a is `string, required`
 *   {read: anyone, update, delete: x}   YAML_JOIN_KEYS: `update, delete` is x */
enum yaml_join { YAML_JOIN_VALUES, YAML_JOIN_KEYS };
const struct yaml_entry *yaml_entries(struct arena *a, const struct source *s, const struct yaml *map,
				      enum yaml_join join, size_t *count);

/* ---- for yaml.c ---- */
/* a file being read */
struct yaml_file {
	struct arena *a;
	const struct source *s;
	struct findings *f;
	yaml_env *env;
	void *env_ctx;
	const uint32_t *lines; /* the offset of each line's first byte */
	size_t line_count;
};
/* The place of bytes [from, to) of the file. */
struct place yaml_locate(const struct yaml_file *x, size_t from, size_t to);
/* Finds where each byte of the text came from, and replaces ${}. */
void yaml_finish_scalar(const struct yaml_file *x, struct yaml *y);
/* Y2; returns how many items are left. */
size_t yaml_mend_list(const struct yaml_file *x, struct yaml *items, size_t n);

#endif
