/* Takes over RocksDB's errors; injects faults. SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "store/internal.h"

bool reason_set(struct reason *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
	r->failed = true;
	return false;
}

bool store_take_reason(char **err, struct reason *r)
{
	r->failed = *err != NULL;
	if (!r->failed)
		return false;
	snprintf(r->text, sizeof(r->text), "%s", *err);
	rocksdb_free(*err);
	*err = NULL;
	return true;
}

void store_fail_after(struct store *s, long calls)
{
	atomic_store(&s->fail_in, calls < 0 ? -1 : calls);
}

bool store_fault(struct store *s, struct reason *r)
{
	long left = atomic_load_explicit(&s->fail_in, memory_order_relaxed);

	while (left > 0) {
		if (atomic_compare_exchange_weak(&s->fail_in, &left, left - 1))
			return false;
	}
	if (left < 0)
		return false;
	r->failed = true;
	snprintf(r->text, sizeof(r->text), "IO error: a fault was injected");
	return true;
}
