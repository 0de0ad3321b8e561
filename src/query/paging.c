/* SPDX-License-Identifier: MIT */
#include "paging.h"

#include <string.h>

#define BIT(n) (UINT64_C(1) << (n))
#define LOW(n) (BIT(n) - 1)

#define CR0_PG  BIT(31)
#define CR4_PSE BIT(4)
#define CR4_PAE BIT(5)
#define CR4_LA57 BIT(12)
#define EFER_LMA BIT(10)
#define SHADOW_L BIT(53)

#define PRESENT BIT(0)
#define LARGE   BIT(7)

/* One level of a walk. */
struct level {
	unsigned shift; /* the lowest bit of its index */
	unsigned bits;  /* of its index */
	/* what bit 7 of an entry means; NONE: nothing */
	enum { LARGE_NONE, LARGE_PAGE, LARGE_RESERVED } large;
};

struct walk {
	const struct level *levels;
	unsigned n_levels;
	unsigned entry_len;
};

static const struct level long_levels[] = {
	{ 48, 9, LARGE_RESERVED }, { 39, 9, LARGE_RESERVED }, { 30, 9, LARGE_PAGE },
	{ 21, 9, LARGE_PAGE },     { 12, 9, LARGE_NONE },
};
static const struct level pae_levels[] = { { 30, 2, LARGE_NONE },
					   { 21, 9, LARGE_PAGE },
					   { 12, 9, LARGE_NONE } };
static const struct level levels_32[] = { { 22, 10, LARGE_NONE }, { 12, 10, LARGE_NONE } };
static const struct level levels_32_pse[] = { { 22, 10, LARGE_PAGE }, { 12, 10, LARGE_NONE } };

/* ---------------------------------------------------------------------------------- how a mode translates */

/*
 * Is the processor in long mode?  If EFER was not recorded, the code segment decides.  *is_known is false if
 * both are unknown.
 */
static bool is_long(const struct ts_mode *mode, bool *is_known)
{
	*is_known = ts_mode_knows(mode, TS_MODE_EFER) || ts_mode_knows(mode, TS_MODE_CS_SHADOW);
	if (ts_mode_knows(mode, TS_MODE_EFER))
		return mode->regs[TS_MODE_EFER] & EFER_LMA;
	return mode->regs[TS_MODE_CS_SHADOW] & SHADOW_L;
}

struct ts_paging ts_paging_of(const struct ts_mode *mode, unsigned phys_bits)
{
	uint64_t cr3 = mode->regs[TS_MODE_CR3], cr4 = mode->regs[TS_MODE_CR4];
	struct ts_paging p = { .kind = TS_PAGING_UNKNOWN };
	bool is_known;

	p.phys_max = LOW(phys_bits && phys_bits < 52 ? phys_bits : 52);
	if (!ts_mode_knows(mode, TS_MODE_CR0))
		return p;
	if (!(mode->regs[TS_MODE_CR0] & CR0_PG)) {
		p.kind = TS_PAGING_OFF;
		return p;
	}
	if (!ts_mode_knows(mode, TS_MODE_CR3) || !ts_mode_knows(mode, TS_MODE_CR4))
		return p;
	if (!(cr4 & CR4_PAE)) {
		p.kind = TS_PAGING_32;
		p.root = cr3 & 0xfffff000;
		p.has_pse = cr4 & CR4_PSE;
	} else if (is_long(mode, &is_known)) {
		p.kind = cr4 & CR4_LA57 ? TS_PAGING_5_LEVEL : TS_PAGING_4_LEVEL;
		p.root = cr3 & p.phys_max & ~LOW(12);
	} else if (is_known) {
		p.kind = TS_PAGING_PAE;
		p.root = cr3 & 0xffffffe0;
	}
	return p;
}

const char *ts_paging_text(enum ts_paging_kind kind)
{
	static const char *const texts[] = {
		[TS_PAGING_UNKNOWN] = "unknown page tables",
		[TS_PAGING_OFF] = "no paging",
		[TS_PAGING_32] = "two-level page tables",
		[TS_PAGING_PAE] = "PAE page tables",
		[TS_PAGING_4_LEVEL] = "four-level page tables",
		[TS_PAGING_5_LEVEL] = "five-level page tables",
	};

	return texts[kind];
}

bool ts_paging_is_same(const struct ts_paging *a, const struct ts_paging *b)
{
	return a->kind == b->kind && a->root == b->root && a->phys_max == b->phys_max &&
	       a->has_pse == b->has_pse;
}

struct ts_paging ts_paging_at(const struct ts_query *q, uint64_t pos)
{
	return ts_paging_of(ts_query_mode(q, pos), ts_query_facts(q)->phys_bits);
}

static bool is_known_at(const struct ts_query *q, uint64_t pos)
{
	return ts_paging_at(q, pos).kind != TS_PAGING_UNKNOWN;
}

bool ts_paging_is_known(const struct ts_query *q)
{
	return ts_query_mode(q, 0) && (is_known_at(q, 0) || is_known_at(q, ts_query_end(q)));
}

static struct walk walk_of(const struct ts_paging *p)
{
	switch (p->kind) {
	case TS_PAGING_UNKNOWN:
	case TS_PAGING_OFF:
		break;
	case TS_PAGING_32:
		return (struct walk){ p->has_pse ? levels_32_pse : levels_32, 2, 4 };
	case TS_PAGING_PAE:
		return (struct walk){ pae_levels, 3, 8 };
	case TS_PAGING_4_LEVEL:
		return (struct walk){ long_levels + 1, 4, 8 };
	case TS_PAGING_5_LEVEL:
		return (struct walk){ long_levels, 5, 8 };
	}
	return (struct walk){ NULL, 0, 0 };
}

/* ------------------------------------------------------------------------------------- walking the tables */

/* The highest address bits must all be equal. */
static bool is_canonical(const struct ts_paging *p, uint64_t addr)
{
	unsigned top = p->kind == TS_PAGING_5_LEVEL ? 56 : 47;

	if (p->kind != TS_PAGING_4_LEVEL && p->kind != TS_PAGING_5_LEVEL)
		return true;
	return addr >> top == 0 || addr >> top == UINT64_MAX >> top;
}

/* The address in an entry: of the next table, or of a page of 1 << @shift bytes. */
static uint64_t entry_addr(const struct ts_paging *p, uint64_t entry, unsigned shift)
{
	if (p->kind != TS_PAGING_32)
		return entry & p->phys_max & ~LOW(shift);
	if (shift == 22)
		return (entry & ~LOW(22)) | (entry >> 13 & LOW(8)) << 32;
	return entry & ~LOW(12);
}

/* Entries are read with their neighbours, which the next page needs. */
#define LINE_LEN 64u

struct line {
	uint64_t addr;
	bool is_read;
	uint8_t data[LINE_LEN], known[LINE_LEN];
};

/* A sequence of translations. */
struct walker {
	struct ts_query *q;
	struct ts_paging paging;
	uint64_t pos;
	uint32_t process;
	struct line lines[TS_MAX_LEVELS]; /* where the last walk went, by level */
};

/* Read the next entry of a walk.  MAPPED: it is present, and whole. */
static bool read_entry(struct walker *w, struct ts_translation *t, uint64_t addr, struct ts_error *err)
{
	struct line *line = &w->lines[t->n_entries];
	struct ts_table_entry *e = &t->entries[t->n_entries++];
	unsigned off = (unsigned)(addr % LINE_LEN);

	if (!line->is_read || line->addr != addr - off) {
		line->addr = addr - off;
		line->is_read = ts_query_mem(w->q, w->pos, w->process, line->addr, LINE_LEN, line->data,
					     line->known, err);
		if (!line->is_read)
			return false;
	}
	*e = (struct ts_table_entry){ .addr = addr };
	for (unsigned i = t->entry_len; i-- > 0;)
		e->value = e->value << 8 | line->data[off + i];
	if (line->known[off] && !(e->value & PRESENT))
		t->mapping = TS_UNMAPPED;
	else if (memchr(line->known + off, 0, t->entry_len))
		t->mapping = TS_MAPPING_UNKNOWN;
	else
		t->mapping = TS_MAPPED;
	return true;
}

/* The answer holds for the whole aligned range of @page_len bytes. */
static bool answer(struct ts_translation *t, enum ts_mapping mapping, uint64_t phys, uint64_t page_len)
{
	t->mapping = mapping;
	t->phys = phys;
	t->page_len = page_len;
	return true;
}

static bool translate(struct walker *w, uint64_t addr, struct ts_translation *t, struct ts_error *err)
{
	const struct ts_paging *paging = &w->paging;
	struct walk walk = walk_of(paging);
	uint64_t table = paging->root;

	*t = (struct ts_translation){ .entry_len = walk.entry_len };
	if (!is_canonical(paging, addr))
		return answer(t, TS_UNMAPPED, 0, BIT(12));
	if (paging->kind == TS_PAGING_OFF)
		return answer(t, TS_MAPPED, addr & UINT32_MAX, BIT(32));
	for (unsigned i = 0; i < walk.n_levels; i++) {
		const struct level *l = &walk.levels[i];
		uint64_t index = addr >> l->shift & LOW(l->bits), entry;

		if (!read_entry(w, t, table + index * walk.entry_len, err))
			return false;
		entry = t->entries[i].value;
		if (t->mapping != TS_MAPPED)
			return answer(t, t->mapping, 0, BIT(l->shift));
		if (l->large == LARGE_RESERVED && entry & LARGE)
			return answer(t, TS_UNMAPPED, 0, BIT(l->shift));
		if (i + 1 == walk.n_levels || (l->large == LARGE_PAGE && entry & LARGE))
			return answer(t, TS_MAPPED,
				      entry_addr(paging, entry, l->shift) | (addr & LOW(l->shift)),
				      BIT(l->shift));
		table = entry_addr(paging, entry, 12);
	}
	return answer(t, TS_MAPPING_UNKNOWN, 0, BIT(12));
}

bool ts_translate(struct ts_query *q, const struct ts_paging *paging, uint64_t pos, uint32_t process,
		  uint64_t addr, struct ts_translation *t, struct ts_error *err)
{
	struct walker w = { .q = q, .paging = *paging, .pos = pos, .process = process };

	return translate(&w, addr, t, err);
}

bool ts_translate_at(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t addr,
		     struct ts_translation *t, struct ts_error *err)
{
	struct ts_paging paging = ts_paging_at(q, pos);

	return ts_translate(q, &paging, pos, process, addr, t, err);
}

/* Tables that are read for one physical address. */
#define MAX_TABLES 64u
#define MAX_TABLE_LEN (1u << 12)

/* A search of all tables for what is mapped to one physical address. */
struct search {
	struct walker w;
	struct walk walk;
	uint64_t phys, addr;
	unsigned n_tables, n_found;
	bool is_cut; /* an entry is not known, or there are more tables */
};

static bool search_table(struct search *s, unsigned depth, uint64_t table, uint64_t virtual, struct ts_error *err);

/* Search the entry of level @depth that translates addresses from @virtual on. */
static bool search_entry(struct search *s, unsigned depth, uint64_t entry, uint64_t virtual, struct ts_error *err)
{
	const struct ts_paging *paging = &s->w.paging;
	const struct level *l = &s->walk.levels[depth];
	bool is_page = depth + 1 == s->walk.n_levels || (l->large == LARGE_PAGE && entry & LARGE);

	if (!(entry & PRESENT) || (l->large == LARGE_RESERVED && entry & LARGE))
		return true;
	if (!is_page)
		return search_table(s, depth + 1, entry_addr(paging, entry, 12), virtual, err);
	if ((entry_addr(paging, entry, l->shift) ^ s->phys) >> l->shift)
		return true;
	s->addr = virtual | (s->phys & LOW(l->shift));
	s->n_found++;
	return true;
}

static bool search_table(struct search *s, unsigned depth, uint64_t table, uint64_t virtual, struct ts_error *err)
{
	const struct level *l = &s->walk.levels[depth];
	size_t len = (size_t)s->walk.entry_len << l->bits;
	uint8_t data[MAX_TABLE_LEN], known[MAX_TABLE_LEN];

	if (s->n_tables++ == MAX_TABLES)
		s->is_cut = true;
	if (s->is_cut)
		return true;
	if (!ts_query_mem(s->w.q, s->w.pos, s->w.process, table, len, data, known, err))
		return false;
	s->is_cut = memchr(known, 0, len) != NULL;
	for (size_t i = 0; i < len / s->walk.entry_len && !s->is_cut && s->n_found < 2; i++) {
		uint64_t entry = 0;

		for (unsigned j = s->walk.entry_len; j-- > 0;)
			entry = entry << 8 | data[i * s->walk.entry_len + j];
		if (!search_entry(s, depth, entry, virtual | (uint64_t)i << l->shift, err))
			return false;
	}
	return true;
}

bool ts_untranslate_at(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t phys, uint64_t *addr,
		       bool *is_found, struct ts_error *err)
{
	struct search s = { .w = { .q = q, .paging = ts_paging_at(q, pos), .pos = pos, .process = process }, .phys = phys };
	unsigned top = s.w.paging.kind == TS_PAGING_5_LEVEL ? 56 : 47;

	s.walk = walk_of(&s.w.paging);
	*is_found = false;
	if (s.w.paging.kind == TS_PAGING_OFF) {
		*addr = phys;
		*is_found = phys <= UINT32_MAX;
		return true;
	}
	if (!s.walk.n_levels)
		return true;
	if (!search_table(&s, 0, s.w.paging.root, 0, err))
		return false;
	if (s.walk.n_levels >= 4 && s.addr >> top & 1)
		s.addr |= ~LOW(top);
	*addr = s.addr;
	*is_found = s.n_found == 1 && !s.is_cut;
	return true;
}

bool ts_virtual_mem(struct ts_query *q, uint64_t pos, uint32_t process, uint64_t addr, size_t len,
		    uint8_t *data, uint8_t *known, struct ts_error *err)
{
	struct walker w = { .q = q, .pos = pos, .process = process };
	size_t n;

	if (!ts_paging_is_known(q))
		return ts_query_mem(q, pos, process, addr, len, data, known, err);
	w.paging = ts_paging_at(q, pos);
	for (size_t done = 0; done < len; done += n) {
		uint64_t at = addr + done, left;
		struct ts_translation t;

		if (at < addr || !translate(&w, at, &t, err)) {
			memset(data + done, 0, len - done);
			memset(known + done, 0, len - done);
			return at < addr;
		}
		left = t.page_len - (at & (t.page_len - 1));
		n = len - done < left ? len - done : (size_t)left;
		memset(data + done, 0, n);
		memset(known + done, 0, n);
		if (t.mapping == TS_MAPPED &&
		    !ts_query_mem(q, pos, process, t.phys, n, data + done, known + done, err))
			return false;
	}
	return true;
}
