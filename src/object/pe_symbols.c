/* SPDX-License-Identifier: MIT */
/*
 * Addresses in these tables are relative to the image's base; numbers are little-endian ("PE Format", Microsoft).
 *
 *      data directory  at 96 (32 bits) or 112 (64 bits) of the optional header, an address (4) and a length (4) each: 0
 *                      exports, 1 imports, 3 functions; the number of directories (4) is before it
 *      exports         at 20 the number of addresses (4), the number of names (4), the addresses' address (4), the names'
 *                      (4), the ordinals' (4); the ordinal (2) of a name is the index of its address
 *      imports         20 bytes a file, up to one of zeros: the names' address (4), 8 bytes, the file name's address (4),
 *                      the slots' address (4).  Names and slots: a word each, up to a word of zeros; a word with its top
 *                      bit set is an ordinal, else the address of a number (2) and the name
 *      functions       (x86-64) 12 bytes each, by address: the first byte (4), the end (4), unwind information (4)
 */
#include "pe_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/bytes.h"

/* A table that is longer is not read. */
#define MAX_TABLE (UINT64_C(64) << 20)

#define MAX_NAME     255u
#define MAX_SECTIONS 96u
#define MAX_IMPORTS  8192u  /* of all files together */
#define FUNCTION_LEN 12u
#define MACHINE_X86_64 0x8664u

enum directory { EXPORTS = 0, IMPORTS = 1, FUNCTIONS = 3 };

static uint32_t u32(const uint8_t *p)
{
	return (uint32_t)ts_number(p, 4, false);
}

uint8_t *ts_symtab_bytes(const struct ts_source *src, uint64_t off, uint64_t len, uint64_t max)
{
	struct ts_error ignored = { 0 };
	uint8_t *bytes;

	if (len > max || off > ts_source_len(src) || len > ts_source_len(src) - off)
		return NULL;
	bytes = malloc((size_t)len + 1);
	if (bytes && ts_source_read_all(src, off, bytes, (size_t)len, &ignored)) {
		bytes[len] = 0;
		return bytes;
	}
	free(bytes);
	return NULL;
}

/* The offset in the file of @len bytes at a relative address; UINT64_MAX if the file does not have them. */
static uint64_t offset_of(const struct ts_pe *pe, uint64_t addr, uint64_t len)
{
	for (size_t i = pe->n_sections; i-- > 0;) {
		const struct ts_pe_section *s = &pe->sections[i];

		if (addr >= s->addr && addr - s->addr <= s->file_len && len <= s->file_len - (addr - s->addr))
			return s->file_off + (addr - s->addr);
	}
	return UINT64_MAX;
}

static uint8_t *read_at(const struct ts_source *src, const struct ts_pe *pe, uint64_t addr, uint64_t len)
{
	uint64_t off = offset_of(pe, addr, len);

	return off == UINT64_MAX ? NULL : ts_symtab_bytes(src, off, len, MAX_TABLE);
}

/* A terminated text; false if it is not there. */
static bool read_name(const struct ts_source *src, const struct ts_pe *pe, uint64_t addr, char name[MAX_NAME + 1])
{
	uint64_t off = offset_of(pe, addr, 1);
	struct ts_error ignored = { 0 };
	size_t got;

	if (off == UINT64_MAX || !ts_source_read(src, off, name, MAX_NAME, &got, &ignored))
		return false;
	name[got] = 0;
	return *name && strlen(name) < got;
}

/* A table that the data directory lists.  Returns false if none is found. */
static bool find_table(const struct ts_source *src, const struct ts_pe *pe, enum directory which, uint32_t *addr,
		       uint32_t *len)
{
	uint8_t *dos = ts_symtab_bytes(src, 0, 64, MAX_TABLE), *optional = NULL;
	unsigned at = pe->is_64 ? 112 : 96;

	if (dos)
		optional = ts_symtab_bytes(src, (uint64_t)u32(dos + 60) + 24, at + 8 * (which + UINT64_C(1)), MAX_TABLE);
	*addr = optional && u32(optional + at - 4) > (uint32_t)which ? u32(optional + at + 8 * which) : 0;
	*len = optional ? u32(optional + at + 8 * which + 4) : 0;
	free(optional);
	free(dos);
	return *addr && *len;
}

/* --------------------------------------------------------------------------------------------- functions */

struct functions {
	uint8_t *table; /* owned; NULL: none */
	size_t n;
};

static bool is_x86_64(const struct ts_source *src)
{
	uint8_t *dos = ts_symtab_bytes(src, 0, 64, MAX_TABLE);
	uint8_t *coff = dos ? ts_symtab_bytes(src, u32(dos + 60), 6, MAX_TABLE) : NULL;
	bool is_it = coff && ts_number(coff + 4, 2, false) == MACHINE_X86_64;

	free(coff);
	free(dos);
	return is_it;
}

static void read_functions(struct functions *f, const struct ts_source *src, const struct ts_pe *pe)
{
	uint32_t addr, len;

	*f = (struct functions){ 0 };
	if (!pe->is_64 || !is_x86_64(src) || !find_table(src, pe, FUNCTIONS, &addr, &len))
		return;
	f->table = read_at(src, pe, addr, len);
	f->n = f->table ? len / FUNCTION_LEN : 0;
}

/* The first function that does not begin before @addr; n if none is found. */
static size_t find_function(const struct functions *f, uint32_t addr)
{
	size_t at = 0;

	TS_BISECT(at, f->n, i, u32(f->table + FUNCTION_LEN * i) < addr);
	return at;
}

static uint64_t room_at(const struct ts_pe *pe, uint64_t addr)
{
	for (size_t i = 0; i < pe->n_sections && i < MAX_SECTIONS; i++) {
		if (addr - pe->sections[i].addr < pe->sections[i].file_len)
			return pe->sections[i].file_len - (addr - pe->sections[i].addr);
	}
	return 0;
}

/* How far the export at @addr reaches: as the table says, else at most up to the next function that it has. */
static void set_end(struct ts_symtab_entry *e, const struct functions *f, const struct ts_pe *pe, uint32_t addr)
{
	size_t i = find_function(f, addr);
	uint32_t first = i < f->n ? u32(f->table + FUNCTION_LEN * i) : 0;

	e->room = room_at(pe, addr);
	if (i < f->n && first == addr) {
		uint32_t end = u32(f->table + FUNCTION_LEN * i + 4);

		e->len = end > addr ? end - addr : 0;
	} else if (i < f->n && first - addr < e->room) {
		e->room = first - addr;
	}
	e->is_open = !e->len;
}

/* ----------------------------------------------------------------------------------------------- exports */

static void walk_exports(const struct ts_source *src, const struct ts_pe *pe,
			 void (*use)(void *user, const struct ts_symtab_entry *e), void *user)
{
	uint32_t dir_addr, dir_len, n_addrs, n_names;
	uint8_t *dir = NULL, *addrs = NULL, *names = NULL, *ordinals = NULL;
	char name[MAX_NAME + 1];
	struct functions f;

	if (find_table(src, pe, EXPORTS, &dir_addr, &dir_len))
		dir = read_at(src, pe, dir_addr, 40);
	if (!dir)
		return;
	read_functions(&f, src, pe);
	n_addrs = u32(dir + 20);
	n_names = u32(dir + 24);
	addrs = read_at(src, pe, u32(dir + 28), (uint64_t)n_addrs * 4);
	names = read_at(src, pe, u32(dir + 32), (uint64_t)n_names * 4);
	ordinals = read_at(src, pe, u32(dir + 36), (uint64_t)n_names * 2);
	for (uint64_t i = 0; addrs && names && ordinals && i < n_names; i++) {
		uint32_t ordinal = (uint32_t)ts_number(ordinals + 2 * i, 2, false), addr;
		struct ts_symtab_entry e = { .name = name, .is_function = true };

		if (ordinal >= n_addrs || !read_name(src, pe, u32(names + 4 * i), name))
			continue;
		addr = u32(addrs + 4 * (size_t)ordinal);
		if (addr - dir_addr < dir_len)
			continue; /* a name of another module's export */
		set_end(&e, &f, pe, addr);
		e.addr = addr + pe->base;
		use(user, &e);
	}
	free(f.table);
	free(dir);
	free(addrs);
	free(names);
	free(ordinals);
}

/* ----------------------------------------------------------------------------------------------- imports */

/* The functions of one file: names at @names, slots at @slots.  Returns how many more may be examined. */
static unsigned walk_file(const struct ts_source *src, const struct ts_pe *pe, struct ts_pe_import *import,
			  uint32_t names, uint32_t slots, unsigned n_left,
			  void (*use)(void *user, const struct ts_pe_import *import), void *user)
{
	unsigned len = import->slot_len;
	char name[MAX_NAME + 1];

	for (uint64_t i = 0; n_left; i++, n_left--) {
		uint8_t *word = read_at(src, pe, names + i * len, len);
		uint64_t value = word ? ts_number(word, len, false) : 0;

		free(word);
		if (!value)
			break;
		if (value >> (8 * len - 1) || !read_name(src, pe, value + 2, name))
			continue;
		import->slot = pe->base + slots + i * len;
		import->name = name;
		use(user, import);
	}
	return n_left;
}

void ts_pe_imports_walk(const struct ts_source *src, const struct ts_pe *pe,
			void (*use)(void *user, const struct ts_pe_import *import), void *user)
{
	char module[MAX_NAME + 1];
	struct ts_pe_import import = { .slot_len = pe->is_64 ? 8 : 4, .module = module };
	unsigned n_left = MAX_IMPORTS;
	uint32_t addr, len;

	if (!find_table(src, pe, IMPORTS, &addr, &len))
		return;
	for (uint64_t at = addr; n_left; at += 20, n_left--) {
		uint8_t *file = read_at(src, pe, at, 20);
		uint32_t names = file ? u32(file) : 0, slots = file ? u32(file + 16) : 0;
		bool has_name = slots && read_name(src, pe, u32(file + 12), module);

		free(file);
		if (!has_name)
			break;
		n_left = walk_file(src, pe, &import, names ? names : slots, slots, n_left, use, user);
		if (!n_left)
			break;
	}
}

/* The context of the walk over imports, which makes symbols of them. */
struct slots {
	void (*use)(void *user, const struct ts_symtab_entry *e);
	void *user;
};

static void use_slot(void *user, const struct ts_pe_import *import)
{
	const struct slots *s = user;
	char name[MAX_NAME + sizeof("__imp_")];
	struct ts_symtab_entry e = { .addr = import->slot, .len = import->slot_len, .room = import->slot_len,
				     .name = name };

	snprintf(name, sizeof(name), "__imp_%s", import->name);
	s->use(s->user, &e);
}

void ts_pe_symbols_walk(const struct ts_source *src, const struct ts_pe *pe,
			void (*use)(void *user, const struct ts_symtab_entry *e), void *user)
{
	struct slots slots = { use, user };

	walk_exports(src, pe, use, user);
	ts_pe_imports_walk(src, pe, use_slot, &slots);
}
