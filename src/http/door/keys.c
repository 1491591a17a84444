/* Loads and looks up access keys.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "base/alloc.h"
#include "base/private_file.h"
#include "http/door/keys.h"

#define FILE_MOST (1024 * 1024)

struct key {
	struct slice id, secret; /* in `text` */
};

struct keys {
	atomic_uint shares;
	char *text;
	size_t text_n;
	struct key *list;
	size_t count;
};

struct keys *keys_share(struct keys *k)
{
	if (k)
		atomic_fetch_add(&k->shares, 1);
	return k;
}

void keys_free(struct keys *k)
{
	if (!k || atomic_fetch_sub(&k->shares, 1) > 1)
		return;
	if (k->text)
		OPENSSL_cleanse(k->text, k->text_n);
	mem_free(k->text);
	mem_free(k->list);
	mem_free(k);
}

size_t keys_count(const struct keys *k)
{
	return k->count;
}

struct slice keys_secret(const struct keys *k, struct slice access_key)
{
	for (size_t i = 0; i < k->count; i++)
		if (slice_equal(k->list[i].id, access_key))
			return k->list[i].secret;
	return (struct slice){ 0 };
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Takes the next word off `line`. */
static struct slice word(struct slice *line)
{
	struct slice w;
	size_t n = 0;

	while (line->n && is_space(line->p[0]))
		line->p++, line->n--;
	while (n < line->n && !is_space(line->p[n]))
		n++;
	w = slice_make(line->p, n);
	*line = slice_make(line->p + n, line->n - n);
	return w;
}

static bool parse_line(struct keys *k, struct slice line)
{
	struct key key;

	key.id = word(&line);
	if (!key.id.n || key.id.p[0] == '#')
		return true;
	key.secret = word(&line);
	if (!key.secret.n || word(&line).n || keys_secret(k, key.id).p)
		return false;
	k->list[k->count++] = key;
	return true;
}

static bool parse_text(struct keys *k, const char *name, char *why, size_t n)
{
	struct slice text = slice_make(k->text, k->text_n), line;
	size_t lines = 1, number = 0;

	for (size_t i = 0; i < k->text_n; i++)
		lines += k->text[i] == '\n';
	k->list = mem_zalloc(lines * sizeof(*k->list));
	if (!k->list) {
		snprintf(why, n, "not enough memory for the keys in %s", name);
		return false;
	}
	while (slice_next(&text, '\n', &line)) {
		number++;
		if (!parse_line(k, line)) {
			snprintf(why, n, "%s, line %zu: expected 'ACCESS_KEY SECRET', each key once", name, number);
			return false;
		}
	}
	if (!k->count)
		snprintf(why, n, "%s holds no key: expected lines of 'ACCESS_KEY SECRET'", name);
	return k->count > 0;
}

struct keys *keys_parse(struct slice text, const char *name, char *why, size_t n)
{
	struct keys *k = mem_zalloc(sizeof(*k));

	if (k) {
		atomic_init(&k->shares, 1);
		k->text = mem_strndup(text.p, text.n);
	}
	if (!k || !k->text) {
		snprintf(why, n, "not enough memory for the keys in %s", name);
		keys_free(k);
		return NULL;
	}
	k->text_n = text.n;
	if (!parse_text(k, name, why, n)) {
		keys_free(k);
		return NULL;
	}
	return k;
}

/* Reads everything; -1 with errno set on failure. */
static ssize_t read_all(int fd, char *p, size_t room)
{
	size_t n = 0;

	while (n < room) {
		ssize_t got = read(fd, p + n, room - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

struct keys *keys_load(const char *path, char *why, size_t n)
{
	struct keys *k = NULL;
	struct stat st;
	char *text = NULL;
	ssize_t got = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && fstat(fd, &st) == 0) {
		private_file_warn(st.st_mode, "keys", path);
		text = mem_alloc(FILE_MOST);
		errno = text ? 0 : ENOMEM;
		if (text)
			got = read_all(fd, text, FILE_MOST);
	}
	if (got < 0)
		snprintf(why, n, "cannot read the keys in %s: %s", path, strerror(errno));
	else if (got == FILE_MOST)
		snprintf(why, n, "%s is too large to be a file of keys", path);
	else
		k = keys_parse(slice_make(text, (size_t)got), path, why, n);
	if (text)
		OPENSSL_cleanse(text, FILE_MOST);
	mem_free(text);
	if (fd >= 0)
		close(fd);
	return k;
}
