/* One line to stderr per event. Thread safe.
 *
 *     text   2026-11-15T12:00:00.123Z info  message
 *     JSON   {"time":"2026-11-15T12:00:00.123Z","level":"info","message":"message","request":"…"}
 *
 * `request` is the x-amzn-RequestId of the reply to the request that the thread is serving (log_set_request()).
 * Threads that serve several requests at once, or none, leave it out.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_LOG_H
#define THORPE_BASE_LOG_H

#include "base/slice.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_TEXT, LOG_JSON };

/* Lines below this are dropped. Set before threads start. */
void log_set_level(enum log_level least);
/* Set before threads start. */
void log_set_format(enum log_format format);
void log_write(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* For what a person reads when the server starts: a bare line in text format, level info in JSON. */
void log_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Sets the request this thread is serving; NULL: none. The id must stay valid until the next call. */
extern __thread const char *log_request_id; /* C++ knows __thread too */
#define LOG_REQUEST_ID 52                   /* length of an id */
static inline void log_set_request(const char *id)
{
	log_request_id = id;
}
/* The current request's id; empty: none. */
struct slice log_request(void);

#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)  log_write(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)

#endif
