/* The tables generated from ERROR_MAP.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/error.h"

struct row {
	const char *wire, *ns;
	int status;
};

/* clang-format off */
static const struct row rows[] = {
	[ERR_NONE] = { "", "", 200 },
#define X(name, wire, status, ns) [ERR_##name] = { wire, ns, status },
	ERROR_MAP(X)
#undef X
};
/* clang-format on */

static const struct row *row(enum err code)
{
	assert((size_t)code < sizeof(rows) / sizeof(rows[0]));
	return &rows[code];
}

const char *err_wire_name(enum err code)
{
	return row(code)->wire;
}

const char *err_namespace(enum err code)
{
	return row(code)->ns;
}

int err_status(enum err code)
{
	return row(code)->status;
}

bool error_set(struct error *e, struct arena *a, enum err code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	*e = (struct error){ .code = code, .message = arena_vprintf(a, fmt, ap) };
	va_end(ap);
	return false;
}
