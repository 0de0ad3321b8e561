/* SPDX-License-Identifier: MIT */
/*
 * ELF, from its sections of types 2 (symbols) and 11 (dynamic symbols); each names the section of its texts.
 * PowerPC 64 has descriptors of functions (.opd): two or three words, of which the first is the address of
 * the code. Linkage tables are the sections called .plt*; their words have relocations, in sections of types
 * 4 and 9 that name the dynamic symbols.
 */
#include "symtab.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf_image.h"
#include "pe_symbols.h"
#include "plt.h"
#include "section.h"
#include "src/base/bytes.h"

/* A table of symbols or their texts that is longer is not read. */
#define MAX_TABLE (UINT64_C(256) << 20)

/*
 * Only the first ones of a file's tables of symbols and of its segments are examined: real files have two
 * and a dozen, and thousands of them, which may be all of the same bytes, would take hours.
 */
#define MAX_TABLES   8u
#define MAX_SEGMENTS 96u

/* The context of a search for names. */
struct mention {
	const char *const *names;
	unsigned n;
	const char *found;
};

/* The context of a walk. */
struct walk {
	const struct ts_source *src;
	void (*use)(void *user, const struct ts_symtab_entry *e);
	void *user;
	struct ts_elf elf;
	struct ts_elf_sections sections;
	const char *file; /* of the local symbols that follow it in the table; NULL: unknown */
	bool wants_thread_locals;
	struct mention *mention; /* borrowed; NULL: all symbols are wanted */
};

/* --------------------------------------------------------------------------------------------------- ELF */

static uint64_t number(const struct ts_elf *elf, const uint8_t *p, unsigned len)
{
	return ts_number(p, len, elf->is_big_endian);
}

/* The @i-th section, which there is. */
static struct ts_elf_section section_at(const struct walk *w, uint64_t i)
{
	return ts_elf_section_at(&w->sections, i);
}

/* Bytes from @addr to the end of its segment. */
static uint64_t room_in_elf(const struct ts_elf *elf, uint64_t addr)
{
	for (size_t i = 0; i < elf->n_loads && i < MAX_SEGMENTS; i++) {
		if (addr - elf->loads[i].addr < elf->loads[i].mem_len)
			return elf->loads[i].mem_len - (addr - elf->loads[i].addr);
	}
	return 0;
}

/* Bytes from @addr to the end of the section with the number @section, or of its segment. */
static uint64_t room_at(const struct walk *w, uint16_t section, uint64_t addr)
{
	uint64_t room = room_in_elf(&w->elf, addr);

	if (section < w->sections.n) {
		struct ts_elf_section s = section_at(w, section);

		if (addr - s.addr < s.len && s.len - (addr - s.addr) < room)
			room = s.len - (addr - s.addr);
	}
	return room;
}

/*
 * By PowerPC 64's first ABI the symbol of a function is at its descriptor among the data, of which the first
 * word is the address of the code.
 */
static uint64_t find_code(const struct walk *w, uint16_t section, uint64_t addr)
{
	struct ts_elf_section s =
		section < w->sections.n ? section_at(w, section) : (struct ts_elf_section){ .flags = SHF_EXECINSTR };
	uint8_t *word;
	uint64_t code;

	if (s.flags & SHF_EXECINSTR || addr - s.addr >= s.len || s.len - (addr - s.addr) < 8)
		return addr;
	word = ts_symtab_bytes(w->src, s.off + (addr - s.addr), 8, MAX_TABLE);
	code = word ? number(&w->elf, word, 8) : 0;
	free(word);
	return code ? code : addr; /* 0 before it is relocated */
}

/* The symbol at @p, whose texts are the @texts_len bytes at @texts. */
static void use_symbol(struct walk *w, const uint8_t *p, const char *texts, uint64_t texts_len)
{
	const struct ts_elf *elf = &w->elf;
	uint32_t name = (uint32_t)number(elf, p, 4);
	uint8_t info = p[elf->is_64 ? 4 : 12], type = info & 15;
	uint16_t section = (uint16_t)number(elf, p + (elf->is_64 ? 6 : 14), 2);
	struct ts_symtab_entry e = {
		.addr = number(elf, p + (elf->is_64 ? 8 : 4), elf->is_64 ? 8 : 4),
		.len = number(elf, p + (elf->is_64 ? 16 : 8), elf->is_64 ? 8 : 4),
		.is_function = type == STT_FUNC || type == STT_GNU_IFUNC,
		.is_indirect = type == STT_GNU_IFUNC,
	};

	if (type == STT_FILE)
		w->file = name < texts_len && texts[name] ? texts + name : NULL;
	if (section == SHN_UNDEF || section == SHN_ABS || name >= texts_len || !texts[name])
		return;
	e.file = info >> 4 == STB_LOCAL ? w->file : NULL;
	e.name = texts + name;
	if (w->wants_thread_locals) {
		if (type == STT_TLS)
			w->use(w->user, &e);
		return;
	}
	if (!e.is_function && type != STT_OBJECT && type != STT_NOTYPE)
		return;
	if (elf->machine == EM_ARM && texts[name] == '$')
		return; /* a mark of the instruction set, not a name */
	if (elf->machine == EM_ARM && e.is_function)
		e.addr &= ~UINT64_C(1);
	if (elf->machine == EM_PPC64 && e.is_function)
		e.addr = find_code(w, section, e.addr);
	e.room = room_at(w, section, e.addr);
	w->use(w->user, &e);
}

static void look_for(struct mention *m, const char *name)
{
	for (unsigned i = 0; !m->found && i < m->n; i++) {
		if (!strcmp(name, m->names[i]))
			m->found = m->names[i];
	}
}

static void use_table(struct walk *w, const struct ts_elf_section *table, const struct ts_elf_section *strings)
{
	uint64_t entry_len = w->elf.is_64 ? 24 : 16;
	uint8_t *symbols = ts_symtab_bytes(w->src, table->off, table->len, MAX_TABLE);
	uint8_t *texts = ts_symtab_bytes(w->src, strings->off, strings->len, MAX_TABLE);

	for (uint64_t at = entry_len; symbols && texts && at + entry_len <= table->len; at += entry_len) {
		uint32_t name = (uint32_t)number(&w->elf, symbols + at, 4);

		if (!w->mention)
			use_symbol(w, symbols + at, (const char *)texts, strings->len);
		else if (name < strings->len)
			look_for(w->mention, (const char *)texts + name);
	}
	w->file = NULL;
	free(symbols);
	free(texts);
}

/* .symtab has what .dynsym has and more: both are walked, equal names at equal places do no harm. */
static void walk_tables(struct walk *w)
{
	unsigned n = 0;

	for (uint64_t i = 0; i < w->sections.n && n < MAX_TABLES; i++) {
		struct ts_elf_section table = section_at(w, i), strings;

		if ((table.type != SHT_SYMTAB && table.type != SHT_DYNSYM) || table.link >= w->sections.n)
			continue;
		n++;
		strings = section_at(w, table.link);
		use_table(w, &table, &strings);
	}
}

/* ----------------------------------------------------------------------------------------- linkage tables */

/* What the names of entries are made of. */
struct linkage {
	const struct walk *walk;
	uint8_t *symbols, *texts; /* owned; the dynamic symbols */
	uint64_t n_symbols, texts_len;
};

#define MAX_PLT_NAME 255u

/* The maximum number of sections of entries, and of relocations; linkers make three. */
#define MAX_PARTS 8u

static void use_entry(void *user, uint64_t addr, uint64_t len, uint32_t symbol)
{
	const struct linkage *l = user;
	const struct ts_elf *elf = &l->walk->elf;
	char name[MAX_PLT_NAME + sizeof("@plt")];
	struct ts_symtab_entry e = {
		.addr = addr, .len = len, .room = len, .name = name, .is_function = true
	};
	uint64_t text;

	if (symbol >= l->n_symbols)
		return;
	text = number(elf, l->symbols + symbol * (elf->is_64 ? UINT64_C(24) : 16), 4);
	if (text >= l->texts_len || !l->texts[text])
		return;
	snprintf(name, sizeof(name), "%.*s@plt", (int)MAX_PLT_NAME, (const char *)l->texts + text);
	l->walk->use(l->walk->user, &e);
}

/* The words of one section of relocations. */
static bool add_slots(const struct walk *w, const struct ts_elf_section *s, struct ts_plt_slots *slots)
{
	bool is_64 = w->elf.is_64, done = true;
	unsigned word = is_64 ? 8 : 4, len = (s->type == SHT_RELA ? 3 : 2) * word;
	uint8_t *bytes = ts_symtab_bytes(w->src, s->off, s->len, MAX_TABLE);

	for (uint64_t at = 0; bytes && done && at + len <= s->len; at += len) {
		uint64_t info = number(&w->elf, bytes + at + word, word);
		uint32_t symbol = (uint32_t)(is_64 ? info >> 32 : info >> 8);

		if (symbol)
			done = ts_plt_slots_add(slots, number(&w->elf, bytes + at, word), symbol);
	}
	free(bytes);
	return done;
}

/* The address of the section called @name; 0 if none is found. */
static uint64_t addr_of(const struct walk *w, const char *names, uint64_t names_len, const char *name)
{
	for (uint64_t i = 0; i < w->sections.n; i++) {
		struct ts_elf_section s = section_at(w, i);

		if (s.name < names_len && !strcmp(names + s.name, name))
			return s.addr;
	}
	return 0;
}

static void walk_linkage(struct linkage *l, struct ts_plt_slots *slots, const char *names, uint64_t names_len)
{
	const struct walk *w = l->walk;
	uint64_t got = addr_of(w, names, names_len, ".got.plt");
	unsigned n = 0;

	for (uint64_t i = 0; i < w->sections.n && n < MAX_PARTS; i++) {
		struct ts_elf_section s = section_at(w, i);
		struct ts_plt t = { .machine = w->elf.machine,
				    .addr = s.addr,
				    .len = s.len,
				    .slots = *slots,
				    .entry_len = s.entry_len,
				    .got = got };
		uint8_t *bytes;

		if (s.type != SHT_PROGBITS || s.name >= names_len || strncmp(names + s.name, ".plt", 4))
			continue;
		n++;
		bytes = ts_symtab_bytes(w->src, s.off, s.len, MAX_TABLE);
		t.bytes = bytes;
		if (bytes)
			ts_plt_walk(&t, use_entry, l);
		free(bytes);
	}
}

/* The words that belong to the dynamic symbols of section @dynsym.  Returns false if memory is exhausted. */
static bool read_slots(const struct walk *w, uint64_t dynsym, struct ts_plt_slots *slots)
{
	bool done = true;
	unsigned n = 0;

	for (uint64_t i = 0; i < w->sections.n && done && n < MAX_PARTS; i++) {
		struct ts_elf_section relocs = section_at(w, i);

		if ((relocs.type != SHT_RELA && relocs.type != SHT_REL) || relocs.link != dynsym)
			continue;
		n++;
		done = add_slots(w, &relocs, slots);
	}
	ts_plt_slots_sort(slots);
	return done;
}

/* The dynamic symbols, which are in one section, and the words that are theirs. */
static bool read_linkage(struct linkage *l, struct ts_plt_slots *slots)
{
	const struct walk *w = l->walk;
	struct ts_elf_section s, strings;
	uint64_t i = 0;

	while (i < w->sections.n && section_at(w, i).type != SHT_DYNSYM)
		i++;
	if (i == w->sections.n)
		return false;
	s = section_at(w, i);
	if (s.link >= w->sections.n)
		return false;
	strings = section_at(w, s.link);
	l->symbols = ts_symtab_bytes(w->src, s.off, s.len, MAX_TABLE);
	l->texts = l->symbols ? ts_symtab_bytes(w->src, strings.off, strings.len, MAX_TABLE) : NULL;
	l->n_symbols = s.len / (w->elf.is_64 ? 24 : 16);
	l->texts_len = strings.len;
	return l->texts && read_slots(w, i, slots);
}

static void walk_plts(const struct walk *w)
{
	struct linkage l = { .walk = w };
	struct ts_plt_slots slots = { 0 };
	struct ts_elf_section names = { 0 };
	uint8_t *texts = NULL;

	if (w->elf.names < w->sections.n) {
		names = section_at(w, w->elf.names);
		texts = ts_symtab_bytes(w->src, names.off, names.len, MAX_TABLE);
	}
	if (texts && read_linkage(&l, &slots))
		walk_linkage(&l, &slots, (const char *)texts, names.len);
	free(texts);
	free(l.symbols);
	free(l.texts);
	free(slots.items);
}

static void walk_elf(struct walk *w)
{
	ts_elf_sections_init(&w->sections, &w->elf, w->src);
	walk_tables(w);
	walk_plts(w);
	ts_elf_sections_fini(&w->sections);
}

/* ------------------------------------------------------------------------------------------------- files */

void ts_symtab_walk(const struct ts_source *src, void (*use)(void *user, const struct ts_symtab_entry *e),
		    void *user)
{
	struct walk w = { .src = src, .use = use, .user = user };
	struct ts_error err = { 0 };
	struct ts_pe pe;

	if (ts_elf_init(&w.elf, src, &err)) {
		walk_elf(&w);
		ts_elf_fini(&w.elf);
		return;
	}
	ts_error_reset(&err);
	if (ts_pe_init(&pe, src, &err)) {
		ts_pe_symbols_walk(src, &pe, use, user);
		ts_pe_fini(&pe);
	}
}

void ts_symtab_walk_thread_locals(const struct ts_source *src, void (*use)(void *user, const struct ts_symtab_entry *e),
				  void *user)
{
	struct walk w = { .src = src, .use = use, .user = user, .wants_thread_locals = true };
	struct ts_error err = { 0 };

	if (!ts_elf_init(&w.elf, src, &err))
		return;
	walk_elf(&w);
	ts_elf_fini(&w.elf);
}

const char *ts_symtab_mentions(const struct ts_source *src, const char *const *names, unsigned n)
{
	struct mention m = { .names = names, .n = n };
	struct walk w = { .src = src, .mention = &m };
	struct ts_error err = { 0 };

	if (!ts_elf_init(&w.elf, src, &err))
		return NULL;
	ts_elf_sections_init(&w.sections, &w.elf, src);
	walk_tables(&w);
	ts_elf_sections_fini(&w.sections);
	ts_elf_fini(&w.elf);
	return m.found;
}
