/* Parses and prints a SPEC. SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "fault/fault.h"

#define MILLION    1000000u
#define LONGEST_MS (INT64_C(30) * 24 * 3600 * 1000)

static const struct {
	const char *name;
	enum fault_form form;
	const char *help;
} kinds[FAULT_KINDS] = {
#define X(id, name, form, help) { name, form, help },
	FAULT_MAP(X)
#undef X
};

static const struct {
	const char *form, *example;
} forms[] = {
	[FAULT_CHANCE] = { "a share of requests", "5%" },
	[FAULT_TIME] = { "a time", "2s" },
	[FAULT_RANGE] = { "a time, or a range of times", "5ms..20ms" },
	[FAULT_CHANCE_TIME] = { "a share and a time", "1%:200ms" },
};

const char *fault_name(enum fault_kind k)
{
	return kinds[k].name;
}

void fault_print_help(void)
{
	puts("Faults of DynamoDB's API, for --fault SPEC: a list such as\n"
	     "  latency=5ms..20ms,throttle=5%,table=orders,conflict=50%,seed=42\n");
	for (size_t i = 0; i < FAULT_KINDS; i++) {
		char head[64];

		snprintf(head, sizeof(head), "%s=%s", kinds[i].name, forms[kinds[i].form].example);
		printf("  %-24s %s\n", head, kinds[i].help);
	}
	puts("\n  table=NAME               the faults after it are for this table; those before the first one, for all\n"
	     "  seed=N                   the same requests in the same order get the same faults; otherwise a number is chosen and shown\n"
	     "  none                     nothing, for now: faults may be set while the server runs, at /faults\n\n"
	     "Times: 500ms, 2s, 5m, 1h. Shares: from 0% to 100%, such as 0.5%.");
}

/* ---- reading ---- */

/* Cuts a number with up to four decimals off *s; the result is in ten-thousandths. */
static bool take_number(struct slice *s, uint64_t *out)
{
	uint64_t v = 0;
	size_t i = 0, after = 0;
	bool point = false;

	for (; i < s->n; i++) {
		unsigned digit = (unsigned)(s->p[i] - '0');

		if (s->p[i] == '.' && !point && i && i + 1 < s->n && s->p[i + 1] != '.') {
			point = true;
			continue;
		}
		if (digit > 9 || v > UINT64_C(1000000000000) || after == 4)
			break;
		v = v * 10 + digit;
		after += point;
	}
	if (!i || (unsigned)(s->p[i - 1] - '0') > 9)
		return false;
	for (; after < 4; after++)
		v *= 10;
	*s = slice_make(s->p + i, s->n - i);
	*out = v;
	return true;
}

static bool parse_chance(struct slice s, uint32_t *out)
{
	uint64_t v;

	/* Ten-thousandths of a percent are millionths. */
	if (!take_number(&s, &v) || !slice_is(s, "%") || v > MILLION)
		return false;
	*out = (uint32_t)v;
	return true;
}

static bool parse_time(struct slice s, int64_t *out)
{
	static const struct {
		const char *unit;
		int64_t ms;
	} units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } };
	uint64_t v;

	if (!take_number(&s, &v))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (slice_is(s, units[i].unit)) {
			if (v > (uint64_t)LONGEST_MS * 10000 / (uint64_t)units[i].ms)
				return false;
			*out = (int64_t)v * units[i].ms / 10000;
			return true;
		}
	return false;
}

static bool parse_range(struct slice s, struct fault_rule *r)
{
	const char *dots = s.n ? memmem(s.p, s.n, "..", 2) : NULL;

	if (!dots) {
		if (!parse_time(s, &r->from_ms))
			return false;
		r->to_ms = r->from_ms;
		return true;
	}
	return parse_time(slice_make(s.p, (size_t)(dots - s.p)), &r->from_ms) &&
	       parse_time(slice_make(dots + 2, s.n - (size_t)(dots - s.p) - 2), &r->to_ms) && r->from_ms <= r->to_ms;
}

static bool parse_value(enum fault_form form, struct slice s, struct fault_rule *r)
{
	struct slice chance;

	r->set = true;
	r->chance = MILLION;
	switch (form) {
	case FAULT_CHANCE: return parse_chance(s, &r->chance);
	case FAULT_TIME:
		if (!parse_time(s, &r->from_ms))
			return false;
		r->to_ms = r->from_ms;
		return true;
	case FAULT_RANGE: return parse_range(s, r);
	case FAULT_CHANCE_TIME:
		if (!slice_next(&s, ':', &chance) || !parse_chance(chance, &r->chance) || !parse_time(s, &r->from_ms))
			return false;
		r->to_ms = r->from_ms;
		return true;
	}
	return false;
}

static bool parse_seed(struct slice s, struct fault_spec *out, char *why, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < s.n; i++) {
		unsigned digit = (unsigned)(s.p[i] - '0');

		if (digit > 9 || __builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)digit, &v))
			s.n = 0;
	}
	if (!s.n) {
		snprintf(why, n, "seed= needs a whole number, such as seed=42");
		return false;
	}
	out->has_seed = true;
	out->seed = v;
	return true;
}

static bool is_table_name(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-", s.p[i]) || !s.p[i])
			return false;
	return s.n >= 3 && s.n <= 255;
}

/* The table's section, existing or new. */
static struct fault_section *section_of(struct fault_spec *spec, struct slice table)
{
	for (size_t i = 0; i < spec->count; i++)
		if (slice_equal(spec->sections[i].table, table))
			return &spec->sections[i];
	spec->sections[spec->count] = (struct fault_section){ .table = table };
	return &spec->sections[spec->count++];
}

static bool unknown(struct slice name, char *why, size_t n)
{
	size_t used =
		(size_t)snprintf(why, n, "'%.*s' is not a fault; there are", name.n > 60 ? 60 : (int)name.n, name.p);

	for (size_t i = 0; i < FAULT_KINDS && used < n; i++)
		used += (size_t)snprintf(why + used, n - used, "%s %s", i ? "," : "", kinds[i].name);
	if (used < n)
		snprintf(why + used, n - used, "; table=NAME, seed=N, none");
	return false;
}

static bool parse_rule(struct fault_section *section, struct slice name, struct slice value, char *why, size_t n)
{
	for (size_t i = 0; i < FAULT_KINDS; i++) {
		if (!slice_is(name, kinds[i].name))
			continue;
		if (section->rules[i].set) {
			snprintf(why, n, "%s is given twice", kinds[i].name);
			return false;
		}
		if (parse_value(kinds[i].form, value, &section->rules[i]))
			return true;
		snprintf(why, n, "%s= needs %s, such as %s=%s, not '%.*s'", kinds[i].name, forms[kinds[i].form].form,
			 kinds[i].name, forms[kinds[i].form].example, value.n > 60 ? 60 : (int)value.n, value.p);
		return false;
	}
	return unknown(name, why, n);
}

static bool has_rules(const struct fault_section *s)
{
	for (size_t i = 0; i < FAULT_KINDS; i++)
		if (s->rules[i].set)
			return true;
	return false;
}

/* `none` stands alone in its section. A named table needs at least one fault. */
static bool check_sections(const struct fault_spec *spec, char *why, size_t n)
{
	for (size_t i = 0; i < spec->count; i++) {
		const struct fault_section *s = &spec->sections[i];

		if (s->clears && has_rules(s)) {
			snprintf(why, n, "'none' cannot be combined with other faults");
			return false;
		}
		if (!s->clears && !has_rules(s)) {
			snprintf(why, n, "after table=%.*s its faults, or none, are expected", SLICE_ARG(s->table));
			return false;
		}
	}
	return true;
}

static bool parse_part(struct fault_spec *out, struct slice part, struct slice *table, char *why, size_t n)
{
	struct slice value = part, name = { 0 };

	slice_next(&value, '=', &name);
	if (slice_is(name, "seed"))
		return parse_seed(value, out, why, n);
	if (slice_is(name, "table")) {
		if (!is_table_name(value)) {
			snprintf(why, n, "table= needs the name of a table: 3 to 255 letters, digits, '_', '-' and '.'");
			return false;
		}
		*table = value;
		section_of(out, value);
		return true;
	}
	if (slice_is(part, "none")) {
		section_of(out, *table)->clears = true;
		return true;
	}
	return parse_rule(section_of(out, *table), name, value, why, n);
}

bool fault_spec_parse(struct arena *a, struct slice text, struct fault_spec *out, char *why, size_t n)
{
	struct slice rest = slice_trim(text, SLICE_BLANKS), table = { "", 0 }, part;
	size_t parts = 1;

	for (size_t i = 0; i < rest.n; i++)
		parts += rest.p[i] == ',';
	if (parts > 1000) {
		snprintf(why, n, "more than 1000 faults");
		return false;
	}
	*out = (struct fault_spec){ .sections = arena_array(a, struct fault_section, parts) };
	if (!rest.n) {
		snprintf(why, n, "a list of faults is expected, such as latency=5ms..20ms,throttle=5%%, or none");
		return false;
	}
	while (slice_next(&rest, ',', &part))
		if (!parse_part(out, slice_trim(part, SLICE_BLANKS), &table, why, n))
			return false;
	return check_sections(out, why, n);
}

/* ---- printing ---- */

static void print_chance(struct buf *out, uint32_t millionths)
{
	unsigned below = millionths % 10000;

	buf_printf(out, "%u", millionths / 10000);
	if (below) {
		unsigned digits = 4;

		for (; below % 10 == 0; below /= 10)
			digits--;
		buf_printf(out, ".%0*u", (int)digits, below);
	}
	buf_lit(out, "%");
}

static void print_time(struct buf *out, int64_t ms)
{
	if (ms && ms % 1000 == 0)
		buf_printf(out, "%llds", (long long)ms / 1000);
	else
		buf_printf(out, "%lldms", (long long)ms);
}

void fault_rules_print(struct buf *out, const struct fault_rule *rules)
{
	bool any = false;

	for (size_t i = 0; i < FAULT_KINDS; i++) {
		const struct fault_rule *r = &rules[i];

		if (!r->set)
			continue;
		buf_printf(out, "%s%s=", any ? "," : "", kinds[i].name);
		any = true;
		if (kinds[i].form == FAULT_CHANCE || kinds[i].form == FAULT_CHANCE_TIME)
			print_chance(out, r->chance);
		if (kinds[i].form == FAULT_CHANCE_TIME)
			buf_lit(out, ":");
		if (kinds[i].form != FAULT_CHANCE)
			print_time(out, r->from_ms);
		if (r->from_ms != r->to_ms) {
			buf_lit(out, "..");
			print_time(out, r->to_ms);
		}
	}
}
