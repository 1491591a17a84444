/* Thorpe's journal, read back: the very batches that it wrote for some requests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BENCH_WRITTEN_H
#define THORPE_BENCH_WRITTEN_H

#include <stddef.h>
#include <stdint.h>

struct written_entry {
	uint32_t family; /* as RocksDB numbers them: in the order of enum store_family */
	const char *key, *value;
	size_t key_size, value_size;
	int deletion;
};

struct written_batch {
	struct written_entry *entries;
	size_t count, bytes; /* bytes: of the batch in the journal */
};

/* The batches of the journal in a directory that have an entry in `family`, at most `limit`; without the number that
 * the journal gives them. Ends the program with a sentence when there is none. They stay in memory. */
struct written_batch *written_read(const char *dir, uint32_t family, size_t limit, size_t *count);

#endif
