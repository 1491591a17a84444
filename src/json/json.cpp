/* A C interface to simdjson: parses, then copies the document into the arena.
 *
 * Invariant J1: arena_*() may leave by longjmp, so no frame on the way to such a call holds a C++ object with a
 * destructor. Objects that have one live in the thread's reader.
 * SPDX-License-Identifier: Apache-2.0 */
#include <cstring>
#include <new>
#include <simdjson.h>
#include <string_view>
#include <type_traits>

#include "json/json.h"
extern "C" {
#include "base/alloc.h"
}

namespace dom = simdjson::dom;

/* Memory a thread keeps between documents; that of a larger document is freed. */
static const size_t keep_bytes = 512 * 1024;
/* From this size a document draws on the budget. Most requests are smaller and take little. */
static const size_t large_bytes = 4 * 1024;
/* Up to this size the parser's own memory is not counted: each thread has one parser, and threads are few. */
static const size_t aside_bytes = 64 * 1024;
/* simdjson counts children in 24 bits; at this value it has stopped counting. */
static const size_t count_ceiling = 0xFFFFFF;

namespace {

struct reader_state {
	dom::parser *parser = nullptr;
	char *padded = nullptr; /* the text, followed by the padding that simdjson reads into */
	size_t padded_size = 0;

	~reader_state()
	{
		reset();
	}

	bool is_large() const
	{
		return padded_size > keep_bytes || (parser && parser->capacity() > keep_bytes);
	}

	void reset()
	{
		delete parser;
		parser = nullptr;
		mem_free(padded);
		padded = nullptr;
		padded_size = 0;
	}
};

struct converter {
	struct arena *arena;
	char *strings; /* room for all remaining strings */
};

} // namespace

static thread_local reader_state reader;

static_assert(std::is_trivially_destructible<dom::element>::value &&
	      std::is_trivially_destructible<dom::array>::value &&
	      std::is_trivially_destructible<dom::object>::value &&
	      std::is_trivially_destructible<dom::array::iterator>::value &&
	      std::is_trivially_destructible<dom::object::iterator>::value &&
	      std::is_trivially_destructible<converter>::value, "J1");

static bool pad(struct slice text)
{
	size_t size = text.n + simdjson::SIMDJSON_PADDING;

	if (reader.padded_size < size) {
		mem_free(reader.padded);
		reader.padded = static_cast<char *>(mem_alloc(size));
		reader.padded_size = reader.padded ? size : 0;
	}
	if (!reader.padded)
		return false;
	if (text.n)
		memcpy(reader.padded, text.p, text.n);
	memset(reader.padded + text.n, 0, simdjson::SIMDJSON_PADDING);
	return true;
}

static simdjson::error_code read(struct slice text, dom::element *root)
{
	if (text.n > simdjson::SIMDJSON_MAXSIZE_BYTES)
		return simdjson::CAPACITY;
	if (reader.is_large()) /* the previous parse left by longjmp */
		reader.reset();
	try {
		if (!reader.parser)
			reader.parser = new dom::parser();
		if (!pad(text))
			return simdjson::MEMALLOC;
		return reader.parser->parse(reader.padded, text.n, false).get(*root);
	} catch (const std::bad_alloc &) {
		return simdjson::MEMALLOC;
	}
}

static struct slice convert_string(converter &c, std::string_view s)
{
	char *p = c.strings;

	if (!s.empty())
		memcpy(p, s.data(), s.size());
	c.strings += s.size();
	return slice_make(p, s.size());
}

template <typename Container> static size_t count_children(Container container)
{
	size_t n = container.size();

	if (n < count_ceiling)
		return n;
	n = 0;
	for (auto it = container.begin(); it != container.end(); ++it)
		n++;
	return n;
}

static void convert(converter &c, dom::element from, struct json *to);

/* The recursion ends at simdjson's limit of 1024 levels. */
static void convert_array(converter &c, dom::array from, struct json *to)
{
	size_t n = count_children(from);
	auto *items = static_cast<struct json *>(
		arena_alloc(c.arena, arena_array_size(sizeof(struct json), n)));

	to->type = JSON_ARRAY;
	to->count = static_cast<uint32_t>(n);
	to->items = items;
	for (dom::element child : from)
		convert(c, child, items++);
}

static void convert_object(converter &c, dom::object from, struct json *to)
{
	size_t n = count_children(from);
	auto *members = static_cast<struct json_member *>(
		arena_alloc(c.arena, arena_array_size(sizeof(struct json_member), n)));

	to->type = JSON_OBJECT;
	to->count = static_cast<uint32_t>(n);
	to->members = members;
	for (auto it = from.begin(); it != from.end(); ++it, members++) {
		members->name = convert_string(c, it.key());
		convert(c, it.value(), &members->value);
	}
}

static void convert(converter &c, dom::element from, struct json *to)
{
	to->count = 0;
	switch (from.type()) {
	case dom::element_type::OBJECT:
		convert_object(c, from.get_object().value_unsafe(), to);
		break;
	case dom::element_type::ARRAY:
		convert_array(c, from.get_array().value_unsafe(), to);
		break;
	case dom::element_type::STRING:
		to->type = JSON_STRING;
		to->string = convert_string(c, from.get_string().value_unsafe());
		break;
	case dom::element_type::INT64:
		to->type = JSON_INT;
		to->integer = from.get_int64().value_unsafe();
		break;
	case dom::element_type::UINT64:
		to->type = JSON_DOUBLE;
		to->number = static_cast<double>(from.get_uint64().value_unsafe());
		break;
	case dom::element_type::DOUBLE:
		to->type = JSON_DOUBLE;
		to->number = from.get_double().value_unsafe();
		break;
	case dom::element_type::BOOL:
		to->type = JSON_BOOL;
		to->boolean = from.get_bool().value_unsafe();
		break;
	case dom::element_type::NULL_VALUE:
		to->type = JSON_NULL;
		break;
	}
}

/* ---- large documents ---- */

typedef uint8_t bytes16 __attribute__((vector_size(16)));

/* Counts commas, colons, and opening brackets: one of them precedes each value except the root. Those inside
 * strings are counted too. */
static size_t count_marks(struct slice text)
{
	const char *at = text.p, *end = text.p + text.n;
	size_t marks = 0;

	while (end - at >= 16) {
		bytes16 sums = { 0 }, v;

		for (unsigned rounds = 0; rounds < 255 && end - at >= 16; rounds++, at += 16) {
			memcpy(&v, at, sizeof(v));
			sums -= (bytes16)((v == ',') | (v == ':') | ((v | 0x20) == '{')); /* '[' | 0x20 is '{' */
		}
		for (unsigned i = 0; i < 16; i++)
			marks += sums[i];
	}
	for (; at < end; at++)
		marks += *at == ',' || *at == ':' || *at == '[' || *at == '{';
	return marks;
}

/* What simdjson uses while it parses: the text once more, decoded strings, and for each value two words of the tape
 * and three positions in the text. For "[0,0,0…" that is fifteen times the text. */
static size_t bytes_for_reading(struct slice text)
{
	return 2 * text.n + (2 * sizeof(uint64_t) + 3 * sizeof(uint32_t)) * (count_marks(text) + 1);
}

static const struct json *parse(struct arena *a, struct slice text);

/* Draws all memory for the document, in the arena and outside it, from the arena's budget (arena.h A4). Many such
 * documents at once, each taking thirty times its text, would exhaust memory. */
static const struct json *parse_large(struct arena *a, struct slice text)
{
	const struct json *volatile tree = nullptr;
	volatile bool failed = false;
	const volatile size_t aside = text.n > aside_bytes ? bytes_for_reading(text) : 0;

	if (aside)
		arena_borrow(a, aside);
	a->strict = true;
	ARENA_TRY(a, { tree = parse(a, text); }, { failed = true; });
	a->strict = false;
	if (reader.is_large())
		reader.reset();
	if (aside)
		arena_return(a, aside);
	if (failed)
		arena_out_of_memory(a);
	return tree;
}

const struct json *json_parse(struct arena *a, struct slice text)
{
	return a->budget && text.n > large_bytes ? parse_large(a, text) : parse(a, text);
}

static const struct json *parse(struct arena *a, struct slice text)
{
	dom::element root;
	simdjson::error_code error = read(text, &root);
	struct json *tree = nullptr;

	if (error == simdjson::SUCCESS) {
		/* Decoded strings are never longer than their escaped text. */
		converter c = { a, static_cast<char *>(arena_alloc(a, text.n)) };

		tree = arena_new(a, struct json);
		convert(c, root, tree);
	}
	if (reader.is_large())
		reader.reset();
	if (error == simdjson::MEMALLOC)
		arena_out_of_memory(a);
	return tree;
}

const struct json *json_get_slice(const struct json *obj, struct slice name)
{
	if (!json_is(obj, JSON_OBJECT))
		return nullptr;
	for (size_t i = obj->count; i-- > 0;)
		if (slice_equal(obj->members[i].name, name))
			return &obj->members[i].value;
	return nullptr;
}

const struct json *json_get(const struct json *obj, const char *name)
{
	return json_get_slice(obj, slice_str(name));
}
