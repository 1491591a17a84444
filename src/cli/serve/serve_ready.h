/* The ready file: where a server listens, for the program that started it.
 *
 * One line, http://ADDR:PORT or https://ADDR:PORT. It appears whole, when requests are taken, and is gone after an
 * orderly stop. A kill leaves it behind; the next start removes it before anything else, so a reader never takes an
 * old one for new. Two servers cannot share one: each removes it at its start and end.
 * All functions take a NULL path and then do nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_SERVE_SERVE_READY_H
#define THORPE_CLI_SERVE_SERVE_READY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Removes the file of an earlier run. False with a sentence in `why`: it cannot be removed. */
bool serve_ready_clear(const char *path, char *why, size_t n) MUST_CHECK;
/* False with a sentence in `why`: it cannot be written. */
bool serve_ready_write(const char *path, const char *scheme, const char *address, char *why, size_t n) MUST_CHECK;
void serve_ready_remove(const char *path);

#endif
