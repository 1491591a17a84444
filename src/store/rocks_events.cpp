/* A listener for RocksDB's background errors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/rocks_events.h"

#include <memory>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>

namespace {

class background_errors final : public rocksdb::EventListener {
public:
	explicit background_errors(struct store *s) : store_(s) {}

	void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status *error) override
	{
		if (reason != rocksdb::BackgroundErrorReason::kCompaction || !error->IsNoSpace())
			return;
		*error = rocksdb::Status::OK();
		watch_compaction_had_no_room(store_);
	}

	void OnCompactionBegin(rocksdb::DB *, const rocksdb::CompactionJobInfo &) override
	{
		watch_compaction_begins(store_);
	}

	void OnCompactionCompleted(rocksdb::DB *, const rocksdb::CompactionJobInfo &) override
	{
		watch_compaction_ended(store_);
	}

private:
	struct store *store_;
};

} // namespace

/* As RocksDB's interface in C has it: the options, and nothing before them. */
struct rocksdb_options_t {
	rocksdb::Options rep;
};

/* Members far apart, read in both ways: a version that is laid out otherwise, or whose headers are not its library's, would differ. */
static bool is_laid_out_so(rocksdb_options_t *o)
{
	return o->rep.max_open_files == rocksdb_options_get_max_open_files(o) &&
	       o->rep.write_buffer_size == rocksdb_options_get_write_buffer_size(o) &&
	       o->rep.bytes_per_sync == rocksdb_options_get_bytes_per_sync(o) && o->rep.atomic_flush == (rocksdb_options_get_atomic_flush(o) != 0);
}

extern "C" bool rocks_events_attach(rocksdb_options_t *o, struct store *s)
{
	if (!is_laid_out_so(o))
		return false;
	o->rep.listeners.push_back(std::make_shared<background_errors>(s));
	return true;
}
