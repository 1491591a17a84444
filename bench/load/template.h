/* Requests to send, as a file of templates whose placeholders are filled in anew each time.
 *
 * A file (lib/templates.mjs writes them, wrk/replay.lua reads the same ones) begins with a line of
 * ranges, "a=0-1000 b=1000-2000"; then come whole HTTP requests, separated by a line "%%%%".
 * A placeholder has 8 characters, so a request keeps its length: '@', a letter and six times '@'.
 *
 *   a…l   a random number of the letter's range, the same wherever the letter is in a request
 *   p     counts the uses of this template, from a start of the caller's choice
 *   r     eight characters of noise, each time others
 *   s     the number given by the caller (loading: noise then follows from it, too)
 *   u     a number that no other request of the run has
 *
 * One `struct templates` for each thread. A filled request is valid until the next template_next().
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BENCH_TEMPLATE_H
#define THORPE_BENCH_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hole {
	char letter;
	size_t at;
};

struct template
{
	char *text;
	size_t size, body;  /* body: where it begins */
	char operation[64]; /* of X-Amz-Target; "" without */
	struct hole *holes;
	size_t hole_count;
	uint64_t uses;
};

struct templates {
	struct template *all;
	size_t count, next;
	uint32_t low[26], high[26];
	uint64_t random;       /* state of the generator */
	uint64_t start;        /* of p */
	uint64_t unique, step; /* of u: next, and how far apart */
};

/* Ends the program with a sentence when the file cannot be used. `part` of `parts` threads: each
 * takes its share of the templates, or all of them when there are not enough to share. */
void templates_read(struct templates *t, const char *path, uint64_t start, unsigned part, unsigned parts);
void templates_release(struct templates *t);
/* The next request; `s` is what s stands for. */
const struct template *template_next(struct templates *t, uint32_t s);

/* Monotonic time in microseconds. */
uint64_t now_us(void);
/* Sorts n times. */
void sort_times(uint32_t *times, size_t n);
/* Sorts n times and prints `"p50_us": …, "p99_us": …, "max_us": …, "mean_us": …`. */
void print_latencies(uint32_t *times, size_t n);
/* Ends the program with a sentence. */
void quit(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
