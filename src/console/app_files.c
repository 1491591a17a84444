/* Reads a directory into a map of files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "console/app_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/buf.h"
#include "wire/gzip.h"

struct loading {
	struct app_files *out;
	struct arena *a;
	struct arena scratch; /* of one file */
	struct gzip gzip;
	uint64_t bytes; /* of the files so far */
	unsigned depth;
	char *why;
	size_t n;
};

#define PACKED_MOST (4u << 20) /* larger files are stored as they are: unpacking stalls an event loop */

static bool has_ending(struct slice s, const char *ending)
{
	size_t n = strlen(ending);

	return s.n >= n && !memcmp(s.p + s.n - n, ending, n);
}

static const char *type_of(struct slice path)
{
	static const char *const types[][2] = {
		{ ".html", "text/html; charset=utf-8" },
		{ ".js", "text/javascript; charset=utf-8" },
		{ ".mjs", "text/javascript; charset=utf-8" },
		{ ".css", "text/css; charset=utf-8" },
		{ ".json", "application/json" },
		{ ".webmanifest", "application/manifest+json" },
		{ ".txt", "text/plain; charset=utf-8" },
		{ ".svg", "image/svg+xml" },
		{ ".png", "image/png" },
		{ ".jpg", "image/jpeg" },
		{ ".jpeg", "image/jpeg" },
		{ ".gif", "image/gif" },
		{ ".webp", "image/webp" },
		{ ".avif", "image/avif" },
		{ ".ico", "image/x-icon" },
		{ ".woff2", "font/woff2" },
		{ ".woff", "font/woff" },
		{ ".wasm", "application/wasm" },
		{ ".mp4", "video/mp4" },
		{ ".webm", "video/webm" },
		{ ".pdf", "application/pdf" },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (has_ending(path, types[i][0]))
			return types[i][1];
	return "application/octet-stream";
}

static bool fail(struct loading *l, struct slice path, const char *what)
{
	snprintf(l->why, l->n, "%.*s: %s", SLICE_ARG(path), what);
	return false;
}

/* ---- one file ---- */

static bool read_whole(struct loading *l, int fd, struct slice path, struct buf *out)
{
	for (;;) {
		ssize_t got = read(fd, buf_room(out, 65536), 65536);

		if (got < 0 && errno != EINTR)
			return fail(l, path, strerror(errno));
		if (got == 0)
			return true;
		if (got > 0) {
			out->n += (size_t)got;
			l->bytes += (uint64_t)got;
		}
		if (l->bytes > APP_BYTES_MOST)
			return fail(l, path, "the files of this app are larger than 256 MB together");
	}
}

/* `path` below the app's directory: the name of the file. */
static bool add_file(struct loading *l, int fd, struct slice path)
{
	struct web_file *f = arena_new(l->a, struct web_file);
	struct slice whole, packed;
	struct buf b;

	if (l->out->files.n == APP_FILES_MOST)
		return fail(l, path, "an app has at most 10,000 files");
	arena_clear(&l->scratch);
	buf_init(&b, &l->scratch);
	if (!read_whole(l, fd, path, &b))
		return false;
	whole = buf_slice(&b);
	packed = gzip_pack(&l->gzip, &l->scratch, whole);
	f->plain = !packed.n || whole.n > PACKED_MOST;
	packed = arena_copy(l->a, f->plain ? whole : packed);
	f->path = arena_cstr(l->a, path);
	f->type = type_of(path);
	f->etag = arena_printf(l->a, "\"%016llx\"%c", (unsigned long long)XXH3_64bits(whole.p, whole.n), 0).p;
	f->data = (const unsigned char *)packed.p;
	f->stored = packed.n;
	f->bytes = whole.n;
	map_set(&l->out->files, slice_str(f->path), f);
	return true;
}

/* ---- directories ---- */

static bool add_directory(struct loading *l, int fd, struct slice path);

static bool add_entry(struct loading *l, int parent, struct slice path, const char *name)
{
	struct stat st;
	bool ok;
	int fd;

	if (name[0] == '.' || has_ending(slice_str(name), ".map"))
		return true;
	path = arena_printf(l->a, "%.*s%s%s", SLICE_ARG(path), path.n ? "/" : "", name);
	fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return fail(l, path, errno == ELOOP ? "is a symbolic link; copy the file instead" : strerror(errno));
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return add_directory(l, fd, path); /* closes it */
	ok = S_ISREG(st.st_mode) ? add_file(l, fd, path) : fail(l, path, "is neither a file nor a directory");
	close(fd);
	return ok;
}

/* Takes the descriptor. */
static bool add_directory(struct loading *l, int fd, struct slice path)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;
	bool ok = true;

	if (!d) {
		close(fd);
		return fail(l, path, strerror(errno));
	}
	if (l->depth == APP_DEPTH_MOST)
		ok = fail(l, path, "directories are nested too deeply");
	l->depth++;
	while (ok && (e = readdir(d)))
		ok = add_entry(l, dirfd(d), path, e->d_name);
	l->depth--;
	closedir(d);
	return ok;
}

static bool load(struct loading *l, const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return fail(l, slice_str(dir),
			    errno == ENOENT ? "there is no such directory: is the app built?" : strerror(errno));
	if (!add_directory(l, fd, SLICE("")))
		return false;
	return map_get(&l->out->files, SLICE("index.html")) ||
	       fail(l, slice_str(dir), "there is no index.html: is the app built?");
}

bool app_files_load(struct app_files *out, struct arena *a, const char *dir, char *why, size_t n)
{
	struct loading l = { .out = out, .a = a, .why = why, .n = n };
	volatile bool ok = false;

	arena_init(&l.scratch);
	ARENA_TRY(a, {
		l.scratch.oom = a->oom;
		map_init(&out->files, a);
		ok = load(&l, dir);
	}, { snprintf(why, n, "%s: not enough memory for its files", dir); });
	gzip_release(&l.gzip);
	arena_release(&l.scratch);
	return ok;
}

const struct web_file *app_file(const struct app_files *files, struct arena *a, struct slice path)
{
	if (!path.n || path.p[path.n - 1] == '/')
		path = arena_printf(a, "%.*sindex.html", SLICE_ARG(path));
	return map_get(&files->files, path);
}
