/* One line to stderr per event: `2026-11-15T12:00:00.123Z info  message`. Thread safe.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_LOG_H
#define THORPE_BASE_LOG_H

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Lines below this are dropped. Set before threads start. */
void log_set_level(enum log_level least);
void log_write(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)
#define log_info(...) log_write(LOG_INFO, __VA_ARGS__)
#define log_warn(...) log_write(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)

#endif
