/* Reading request templates and filling them in; and what all load generators print.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "template.h"

#define HOLE      8
#define SEPARATOR "\n%%%%\n"

void quit(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("bench: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static int compare_times(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

void sort_times(uint32_t *times, size_t n)
{
	qsort(times, n, sizeof(*times), compare_times);
}

void print_latencies(uint32_t *times, size_t n)
{
	uint64_t sum = 0;

	if (!n) {
		printf("\"p50_us\": null, \"p99_us\": null, \"max_us\": null, \"mean_us\": null");
		return;
	}
	for (size_t i = 0; i < n; i++)
		sum += times[i];
	sort_times(times, n);
	printf("\"p50_us\": %u, \"p99_us\": %u, \"max_us\": %u, \"mean_us\": %.1f", times[n / 2], times[n * 99 / 100],
	       times[n - 1], (double)sum / (double)n);
}

/* ---- reading ---- */
static void *need(void *p)
{
	if (!p)
		quit("out of memory");
	return p;
}

static char *read_all(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	long n;
	char *text;

	if (!f)
		quit("cannot read %s: %s", path, strerror(errno));
	if (fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0 || fseek(f, 0, SEEK_SET))
		quit("cannot read %s: %s", path, strerror(errno));
	text = need(mem_zalloc((size_t)n + 1));
	if (fread(text, 1, (size_t)n, f) != (size_t)n)
		quit("cannot read %s: it ended too early", path);
	fclose(f);
	*size = (size_t)n;
	return text;
}

static void read_ranges(struct templates *t, const char *line, const char *end)
{
	unsigned low, high;
	char letter;

	for (const char *p = line; p < end; p++)
		if (sscanf(p, "%c=%u-%u", &letter, &low, &high) == 3 && letter >= 'a' && letter <= 'z') {
			t->low[letter - 'a'] = low;
			t->high[letter - 'a'] = high > low ? high : low + 1;
		}
}

static bool is_hole(const char *p)
{
	return p[0] == '@' && p[1] >= 'a' && p[1] <= 'z' && memcmp(p + 2, "@@@@@@", 6) == 0;
}

static void find_parts(struct template *t)
{
	const char *target = strstr(t->text, "DynamoDB_20120810.");
	const char *body = strstr(t->text, "\r\n\r\n");
	size_t n = 0;

	if (!body)
		quit("a template is not an HTTP request");
	t->body = (size_t)(body + 4 - t->text);
	if (target && target < body)
		sscanf(target, "DynamoDB_20120810.%63[A-Za-z]", t->operation);
	for (size_t i = 0; i + HOLE <= t->size; i++)
		n += is_hole(t->text + i);
	t->holes = need(mem_zalloc((n + 1) * sizeof(*t->holes)));
	for (size_t i = 0; i + HOLE <= t->size; i++)
		if (is_hole(t->text + i))
			t->holes[t->hole_count++] = (struct hole){ t->text[i + 1], i };
}

static void add(struct templates *t, const char *text, size_t size)
{
	struct template *one;

	t->all = need(mem_realloc(t->all, (t->count + 1) * sizeof(*t->all)));
	one = &t->all[t->count++];
	memset(one, 0, sizeof(*one));
	one->text = need(mem_strndup(text, size));
	one->size = size;
	find_parts(one);
}

void templates_read(struct templates *t, const char *path, uint64_t start, unsigned part, unsigned parts)
{
	size_t size, n = 0;
	char *text = read_all(path, &size), *p, *end;
	bool share;

	memset(t, 0, sizeof(*t));
	t->start = start;
	t->unique = start + part;
	t->step = parts;
	t->random = (now_us() * 2654435761u + part * 40503u) | 1;
	p = strchr(text, '\n');
	if (!p)
		quit("%s has no requests", path);
	read_ranges(t, text, p);
	for (end = p; end; end = strstr(end + 1, SEPARATOR))
		n++;
	share = n >= parts;
	n = 0;
	for (p++; p; p = end ? end + strlen(SEPARATOR) : NULL) {
		end = strstr(p, SEPARATOR);
		if (!share || n % parts == part)
			add(t, p, end ? (size_t)(end - p) : (size_t)(text + size - p));
		n++;
	}
	mem_free(text);
}

void templates_release(struct templates *t)
{
	for (size_t i = 0; i < t->count; i++) {
		mem_free(t->all[i].text);
		mem_free(t->all[i].holes);
	}
	mem_free(t->all);
}

/* ---- filling ---- */
static uint32_t next_random(struct templates *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return (uint32_t)(t->random >> 16);
}

/* The same as noise() of lib/templates.mjs, so that all loaders make the same items. */
static void put_noise(char *to, uint32_t seed, uint32_t k)
{
	uint32_t x = seed * 2654435761u + k * 2246822519u;

	x = (x ^ (x >> 15)) * 2246822519u;
	x = (x ^ (x >> 13)) * 3266489917u;
	x ^= x >> 16;
	for (int i = 0; i < HOLE; i++, x = x >> 4 | x << 28)
		to[i] = "abcdefghijklmnopqrstuvwxyz012345"[x & 31];
}

static void put_number(char *to, uint64_t n)
{
	for (int i = HOLE - 1; i >= 0; i--, n /= 10)
		to[i] = (char)('0' + n % 10);
}

const struct template *template_next(struct templates *t, uint32_t s)
{
	struct template *one = &t->all[t->next++ % t->count];
	uint32_t drawn[26], seed = s != UINT32_MAX ? s : next_random(t), noise = 0;
	bool known[26] = { false };
	uint64_t unique = t->unique;

	t->unique += t->step;
	for (size_t i = 0; i < one->hole_count; i++) {
		char *at = one->text + one->holes[i].at, letter = one->holes[i].letter;
		int k = letter - 'a';

		if (letter == 'r') {
			put_noise(at, seed, noise++);
		} else if (letter == 's' || letter == 'u' || letter == 'p') {
			put_number(at, letter == 's' ? s : letter == 'u' ? unique : t->start + one->uses);
		} else {
			if (!known[k])
				drawn[k] = t->low[k] + next_random(t) % (t->high[k] - t->low[k]);
			known[k] = true;
			put_number(at, drawn[k]);
		}
	}
	one->uses++;
	return one;
}
