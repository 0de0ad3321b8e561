/* SPDX-License-Identifier: MIT */
/*
 * What plugins add.  A user block is its type (0x80 to 0xff), a length (4), and as many bytes.
 *
 * The supertrace plugin ends a session with a block 0x80: JSON with what there was when the session began,
 * among it
 *
 *      "process.id"  number
 *      "threads"     [{ "id", "name", ... }]
 *      "memoryMaps"  [{ "addr", "size", "protect", "state", ..., "data": [bytes] }]
 *      "modules"     [{ "path", "base", "size", "isMainModule", ... }]
 *
 * in an object that may be the only member of another.  The contents of memory and of the program's file make
 * such a block hundreds of megabytes long: arrays of numbers are left out before it is parsed.
 */
#include "x64dbg.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "src/base/collections/buf.h"
#include "src/base/cursor.h"

#define FACTS_TYPE 0x80u
#define PIECE_LEN (64u << 10)

/* How much of a file's end is searched for the beginning of its last block. */
#define MAX_SEARCH (UINT64_C(1) << 30)

/* How much is parsed: bytes of text, and values in it, of which each takes some hundred bytes of memory. */
#define MAX_TEXT (16u << 20)
#define MAX_VALUES (1u << 19)

/* Windows' constants. */
#define MEM_COMMIT 0x1000u
#define PAGE_GUARD 0x100u

/* ----------------------------------------------------------------------------------------- the last block */

/* Is there at @off a block that ends where the file does, and begins like an object? */
static bool is_last_block(const struct x64dbg *rec, uint64_t off, const uint8_t *p)
{
	struct ts_error err = { 0 };
	struct ts_cursor c = ts_cursor(p + 1, 5, off + 1, "user block", &err);
	uint64_t len = ts_u32le(&c);

	return *p == FACTS_TYPE && ts_u8(&c) == '{' &&
	       len == ts_source_len(rec->src) - off - X64DBG_USER_HEAD;
}

/*
 * *found gets where the last block begins if it is one of that kind, else 0.  Nothing in the file says where
 * its last block is, but its length reaches exactly to the end.
 *
 * Returns false if the file cannot be read.
 */
static bool find_last_block(const struct x64dbg *rec, uint64_t *found, struct ts_error *err)
{
	static const size_t overlap = X64DBG_USER_HEAD;
	uint64_t end = ts_source_len(rec->src), least = end > MAX_SEARCH ? end - MAX_SEARCH : 0, off = end;
	uint8_t piece[4096];
	bool is_found = false;
	size_t got;

	*found = 0;
	if (least < rec->first)
		least = rec->first;
	if (end - rec->first < X64DBG_USER_HEAD + 2)
		return true;
	if (!ts_source_read_all(rec->src, end - 1, piece, 1, err))
		return false;
	if (*piece != '}')
		return true;
	while (off > least && !is_found) {
		uint64_t from =
			off - least > sizeof(piece) - overlap ? off - (sizeof(piece) - overlap) : least;

		if (!ts_source_read(rec->src, from, piece, sizeof(piece), &got, err))
			return false;
		for (size_t i = (size_t)(off - from); i-- > 0 && !is_found;) {
			is_found = i + X64DBG_USER_HEAD < got && is_last_block(rec, from + i, piece + i);
			*found = is_found ? from + i : 0;
		}
		off = from;
	}
	return true;
}

/* ----------------------------------------------------------------------------------------------- its text */

/* Copies JSON text without the contents of arrays of numbers. */
struct thinner {
	struct ts_buf *out;
	bool is_string, is_escaped, is_array;
	uint32_t n_values; /* about: what separates and begins them */
};

static void thin(struct thinner *t, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		uint8_t c = p[i];

		if (t->is_array &&
		    ((c >= '0' && c <= '9') || c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t'))
			continue;
		t->is_array = !t->is_string && c == '[';
		t->n_values += !t->is_string && (c == ',' || c == '[' || c == '{');
		if (t->is_string && !t->is_escaped && c == '\\') {
			t->is_escaped = true;
		} else {
			if (c == '"' && !t->is_escaped)
				t->is_string = !t->is_string;
			t->is_escaped = false;
		}
		ts_buf_putc(t->out, c);
	}
}

/*
 * Read the text to @text; *is_short gets whether it is all of it, and not too much to be parsed.
 *
 * Returns false if it cannot be read, or if memory is exhausted.
 */
static bool read_text(const struct x64dbg *rec, uint64_t off, struct ts_buf *text, bool *is_short,
		      struct ts_error *err)
{
	struct thinner t = { .out = text };
	uint8_t *piece = malloc(PIECE_LEN);
	bool done = piece != NULL;
	size_t got = 1;

	for (; done && got && text->len < MAX_TEXT && t.n_values < MAX_VALUES; off += got) {
		done = ts_source_read(rec->src, off, piece, PIECE_LEN, &got, err);
		if (done)
			thin(&t, piece, got);
	}
	free(piece);
	*is_short = !got;
	return (done && ts_buf_ok(text)) || ts_no_memory(err, "the last block");
}

/* ------------------------------------------------------------------------------------------------ facts */

/* A number, which may be written as a string. */
static uint64_t number(const json_t *object, const char *name)
{
	const json_t *v = json_object_get(object, name);
	double n = json_number_value(v);

	if (json_is_string(v))
		return strtoull(json_string_value(v), NULL, 0);
	return n >= 0 && n < 0x1p63 ? (uint64_t)n : 0;
}

/* A range within the address space, not empty. */
static bool get_range(const struct x64dbg *rec, const json_t *object, const char *addr_name, uint64_t *addr,
		      uint64_t *len)
{
	uint64_t mask = ts_arch_addr_mask(rec->base.regs.arch);

	*addr = number(object, addr_name);
	*len = number(object, "size");
	return *len && *addr <= mask && *len - 1 <= mask - *addr;
}

/* PAGE_... of Windows. */
static uint32_t prot_of(uint64_t protect)
{
	switch (protect & 0xff) {
	case 0x02: return TS_PROT_READ;
	case 0x04: /* read and write */
	case 0x08: return TS_PROT_READ | TS_PROT_WRITE; /* copy on write */
	case 0x10: return TS_PROT_EXEC;
	case 0x20: return TS_PROT_READ | TS_PROT_EXEC;
	case 0x40:
	case 0x80: return TS_PROT_READ | TS_PROT_WRITE | TS_PROT_EXEC;
	default: return 0;
	}
}

static void take_map(struct x64dbg *rec, const json_t *list)
{
	uint64_t addr, len;
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		uint64_t protect = number(item, "protect");
		struct ts_map *m;

		if (number(item, "state") != MEM_COMMIT || protect & PAGE_GUARD || !prot_of(protect) ||
		    !get_range(rec, item, "addr", &addr, &len))
			continue;
		m = ts_steps_map(&rec->base.initial, addr, len, NULL, 0, NULL, 0);
		if (m)
			m->prot = prot_of(protect);
	}
}

static void take_modules(struct x64dbg *rec, const json_t *list)
{
	uint64_t addr, len;
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		const char *path = json_string_value(json_object_get(item, "path"));

		if (path && *path && get_range(rec, item, "base", &addr, &len))
			ts_steps_load(&rec->base.initial, addr, len, path, strlen(path));
	}
}

/* Those that there were at the start; they keep their names if they run. */
static void take_threads(struct x64dbg *rec, const json_t *list)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		const char *name = json_string_value(json_object_get(item, "name"));
		uint64_t tid = number(item, "id");

		if (name && *name && tid && rec->n_names < X64DBG_MAX_NAMES) {
			struct x64dbg_name *n = &rec->names[rec->n_names++];

			n->tid = (uint32_t)tid;
			snprintf(n->text, sizeof(n->text), "%s", name);
		}
	}
}

/* The object with the facts: the root, or its only member. */
static const json_t *facts_in(json_t *root)
{
	void *only = json_object_iter(root);

	if (json_object_size(root) == 1 && json_is_object(json_object_iter_value(only)))
		return json_object_iter_value(only);
	return root;
}

static void take_facts(struct x64dbg *rec, const json_t *facts)
{
	uint64_t pid = number(facts, "process.id");

	if (pid && pid <= UINT32_MAX)
		rec->pid = pid;
	take_threads(rec, json_object_get(facts, "threads"));
	take_map(rec, json_object_get(facts, "memoryMaps"));
	take_modules(rec, json_object_get(facts, "modules"));
}

/* Take in the JSON text of the block at @off.  Returns false if memory is exhausted. */
static bool take_text(struct x64dbg *rec, uint64_t off, const struct ts_buf *text, struct ts_error *err)
{
	json_error_t why;
	json_t *root = json_loadb((const char *)text->data, text->len, JSON_DECODE_INT_AS_REAL, &why);
	bool is_memory = !root && json_error_code(&why) == json_error_out_of_memory;

	if (json_is_object(root))
		take_facts(rec, facts_in(root));
	else if (!is_memory)
		ts_recording_warn(
			&rec->base,
			"the last block, at 0x%" PRIx64 ", is not valid JSON; ignored", off);
	json_decref(root);
	return (!is_memory && !rec->base.initial.is_failed) || ts_no_memory(err, "modules and regions");
}

bool x64dbg_read_facts(struct x64dbg *rec, struct ts_error *err)
{
	struct ts_buf text;
	bool is_short, done;
	uint64_t off;

	if (!find_last_block(rec, &off, err))
		return false;
	if (!off)
		return true;
	ts_buf_init(&text);
	done = read_text(rec, off + X64DBG_USER_HEAD, &text, &is_short, err);
	if (done && is_short)
		done = take_text(rec, off, &text, err);
	else if (done)
		ts_recording_warn(&rec->base,
				  "the last block, at 0x%" PRIx64
				  ", has more than %u MiB of text or %u values; ignored",
				  off, MAX_TEXT >> 20, MAX_VALUES);
	ts_buf_fini(&text);
	return done;
}
