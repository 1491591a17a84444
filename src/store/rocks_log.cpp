/* A logger for RocksDB that keeps no file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/rocks_log.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <rocksdb/env.h>

extern "C" {
#include "base/clock.h"
#include "base/log.h"
}

/* As RocksDB's interface in C has it, in every version from 5 to 9. Were it another, nothing could be opened: all tests would tell. */
struct rocksdb_logger_t {
	std::shared_ptr<rocksdb::Logger> rep;
};

namespace {

constexpr int64_t WARN_EVERY_US = 10 * 1000 * 1000;

class our_log final : public rocksdb::Logger {
public:
	our_log() : Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}

	using Logger::Logv;

	/* The options, all of them, at every start. */
	void LogHeader(const char *, va_list) override {}

	void Logv(const char *, va_list) override {}

	void Logv(const rocksdb::InfoLogLevel level, const char *format, va_list ap) override
	{
		char text[500];
		int n;

		if (level < rocksdb::InfoLogLevel::WARN_LEVEL || level >= rocksdb::InfoLogLevel::HEADER_LEVEL)
			return;
		n = std::vsnprintf(text, sizeof(text), format, ap);
		if (n < 0)
			return;
		text[std::strcspn(text, "\n")] = 0;
		log_write(level > rocksdb::InfoLogLevel::WARN_LEVEL && is_time() ? LOG_WARN : LOG_DEBUG, "rocksdb: %s", text);
	}

private:
	std::atomic<int64_t> next_us{ 0 };

	bool is_time()
	{
		int64_t now = clock_monotonic_us(), next = next_us.load();

		return now >= next && next_us.compare_exchange_strong(next, now + WARN_EVERY_US);
	}
};

} // namespace

extern "C" void rocks_log_attach(rocksdb_options_t *o)
{
	rocksdb_logger_t logger{ std::make_shared<our_log>() };

	rocksdb_options_set_info_log(o, &logger); /* keeps a reference of its own */
}
