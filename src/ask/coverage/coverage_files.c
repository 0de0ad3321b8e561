/* SPDX-License-Identifier: MIT */
#include "coverage_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/collections/heap.h"
#include "src/base/atomic_file.h"
#include "src/base/text/utf8.h"
#include "src/symbols/symbols.h"

/* The number of modules with which an address is compared in the time of decoding a chunk. */
#define WORK_A_CHUNK TS_CHUNK_STEPS
#define WORK_AN_ITEM 4u
#define WORK_A_LINE  64u /* into the heap, or out of it: names of files are compared */

#define MAX_MODULES   65535u
#define MAX_BLOCK_LEN 0xff00u /* another instruction still fits in 16 bits */
#define PAGE_LEN      UINT64_C(4096)

/* The module or mapped file that an address lies in. */
struct module {
	uint64_t first, last;
	const char *file;
};

/* Instructions that follow each other in memory, all in one module. */
struct block {
	uint64_t start, end;
	size_t id; /* of the module */
	bool is_there;
};

/* A line, and how often one of its instructions was executed. */
struct line {
	const char *file;
	uint32_t number;
	uint64_t steps;
};

/* One thing that is done; in pieces.  Returns false when it is done. */
typedef bool some_fn(struct ts_coverage_file *f);

struct ts_coverage_file {
	struct ts_covered_list list;
	struct ts_atomic_file to;
	struct ts_buf text;   /* what the current piece adds */
	some_fn *const *some; /* what is done next; NULL after the last */
	size_t next;          /* the ordinal of what it examines next */
	unsigned work;        /* of the current piece */
	bool is_placed;       /* the file is where it belongs */

	struct module *modules; /* owned */
	size_t n_modules;
	size_t n_listed; /* those that the recording has */
	struct block block;
	size_t n_blocks;

	struct ts_heap lines;  /* by file and number */
	struct line line;      /* the one that is being examined; without a file: none */
	size_t item;           /* the ordinal of the address that may be in it */
	size_t n_lines, n_hit; /* of its file */
};

static bool is_piece_done(const struct ts_coverage_file *f)
{
	return f->work >= WORK_A_CHUNK;
}

/* ------------------------------------------------------------------------------------------------- drcov */

/* The ordinal of the first module that has the address; n_modules if none has. */
static size_t module_of(struct ts_coverage_file *f, uint64_t addr)
{
	size_t i = 0;

	while (i < f->n_modules && (addr < f->modules[i].first || addr > f->modules[i].last))
		i++;
	f->work += (unsigned)i;
	return i;
}

/*
 * The program, and other files that the user names, where they lie: only these say where an image begins if the recording
 * lists no modules, as x64dbg, Tenet and rvnbintrace do not.
 */
static bool list_own(struct ts_coverage_file *f)
{
	const struct ts_loaded_file *m = NULL;
	struct ts_symbols *symbols = f->list.ask->symbols;

	for (; symbols && !is_piece_done(f); f->next++, f->work += WORK_AN_ITEM) {
		m = f->n_modules == MAX_MODULES ? NULL : ts_loaded_get(ts_symbols_loaded(symbols), f->next);
		if (!m)
			return false;
		if (m->is_own)
			f->modules[f->n_modules++] = (struct module){ m->first, m->last, m->path };
	}
	return symbols != NULL;
}

static bool list_modules(struct ts_coverage_file *f)
{
	struct ts_module_info m;

	for (; !is_piece_done(f); f->next++, f->work += WORK_AN_ITEM) {
		if (f->n_modules == MAX_MODULES || !ts_query_module(f->list.ask->q, f->next, &m))
			return false;
		if (m.process == f->list.process && module_of(f, m.first) == f->n_modules)
			f->modules[f->n_modules++] =
				(struct module){ m.first, m.last, m.file ? m.file : "?" };
	}
	return true;
}

/* Does the region lie in the module, or is it another part of the same file? */
static bool is_part(const struct module *m, const struct ts_region_info *r)
{
	return (m->first <= r->first && m->last >= r->last) || (r->file && !strcmp(m->file, r->file));
}

static void add_region(struct ts_coverage_file *f, const struct ts_region_info *r)
{
	struct module *m = f->modules;
	const struct module *end = f->modules + f->n_modules;

	while (m < end && !is_part(m, r))
		m++;
	f->work += (unsigned)(m - f->modules);
	if (m == end) {
		*m = (struct module){ r->first, r->last, r->file ? r->file : r->desc ? r->desc : "?" };
		f->n_modules++;
	}
	m->first = r->first < m->first ? r->first : m->first;
	m->last = r->last > m->last ? r->last : m->last;
}

static bool list_regions(struct ts_coverage_file *f)
{
	struct ts_region_info r;

	for (; !is_piece_done(f); f->next++, f->work += WORK_AN_ITEM) {
		if (f->n_modules == MAX_MODULES || !ts_query_region(f->list.ask->q, f->next, &r)) {
			f->n_listed = f->n_modules;
			return false;
		}
		if (r.process == f->list.process)
			add_region(f, &r);
	}
	return true;
}

static void add_stray(struct ts_coverage_file *f, uint64_t page)
{
	const char *path = ts_query_facts(f->list.ask->q)->exec_path;
	const char *file = f->n_listed || !path ? "?" : path;
	struct module *end = f->modules + f->n_modules;

	if (f->n_modules > f->n_listed && page && end[-1].last == page - 1) {
		end[-1].last = page + (PAGE_LEN - 1);
	} else if (f->n_modules < MAX_MODULES) {
		*end = (struct module){ page, page + (PAGE_LEN - 1), file };
		f->n_modules++;
	}
}

/* Pages with executed code that no module and no region has: the recording lists none, or not all. */
static bool add_strays(struct ts_coverage_file *f)
{
	for (; f->next < f->list.n && !is_piece_done(f); f->next++, f->work += WORK_AN_ITEM) {
		uint64_t addr = f->list.items[f->next].addr;

		if (module_of(f, addr) == f->n_modules)
			add_stray(f, addr & ~(PAGE_LEN - 1));
	}
	return f->next < f->list.n;
}

typedef void block_fn(struct ts_coverage_file *f, uint32_t start, uint16_t len, uint16_t id);

static void count_block(struct ts_coverage_file *f, uint32_t start, uint16_t len, uint16_t id)
{
	(void)start, (void)len, (void)id;
	f->n_blocks++;
}

static void put_block(struct ts_coverage_file *f, uint32_t start, uint16_t len, uint16_t id)
{
	const uint8_t block[8] = { (uint8_t)start,
				   (uint8_t)(start >> 8),
				   (uint8_t)(start >> 16),
				   (uint8_t)(start >> 24),
				   (uint8_t)len,
				   (uint8_t)(len >> 8),
				   (uint8_t)id,
				   (uint8_t)(id >> 8) };

	ts_buf_put(&f->text, block, sizeof(block));
}

/*
 * Use the block, which is complete.  One that starts 4 GiB or more after its module is left out: the format
 * has 32 bits for that.
 */
static void end_block(struct ts_coverage_file *f, block_fn *use)
{
	struct block *b = &f->block;

	if (b->is_there && b->id < f->n_modules && b->start - f->modules[b->id].first <= UINT32_MAX)
		use(f, (uint32_t)(b->start - f->modules[b->id].first), (uint16_t)(b->end - b->start),
		    (uint16_t)b->id);
	b->is_there = false;
}

/* Call @use for each block.  An instruction of unknown length is a byte. */
static bool each_block(struct ts_coverage_file *f, block_fn *use)
{
	struct block *b = &f->block;

	for (; f->next < f->list.n && !is_piece_done(f); f->next++, f->work += WORK_AN_ITEM) {
		const struct ts_covered *x = &f->list.items[f->next];
		size_t id = module_of(f, x->addr);

		if (!b->is_there || x->addr != b->end || b->end - b->start >= MAX_BLOCK_LEN || id != b->id) {
			end_block(f, use);
			*b = (struct block){ x->addr, x->addr, id, true };
		}
		b->end += x->len ? x->len : 1;
	}
	if (f->next < f->list.n)
		return true;
	end_block(f, use);
	return false;
}

static bool count_blocks(struct ts_coverage_file *f)
{
	return each_block(f, count_block);
}

static bool put_blocks(struct ts_coverage_file *f)
{
	return each_block(f, put_block);
}

static bool put_modules(struct ts_coverage_file *f)
{
	if (!f->next) {
		ts_buf_puts(&f->text, "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov\n");
		ts_buf_printf(&f->text, "Module Table: version 2, count %zu\n", f->n_modules);
		ts_buf_puts(&f->text, "Columns: id, base, end, entry, path\n");
	}
	for (; f->next < f->n_modules && !is_piece_done(f); f->next++, f->work += WORK_AN_ITEM) {
		const struct module *m = &f->modules[f->next];

		ts_buf_printf(&f->text, "%3zu, 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%016x, ", f->next, m->first,
			      m->last + 1, 0);
		ts_utf8_put_shown(&f->text, m->file);
		ts_buf_putc(&f->text, '\n');
	}
	if (f->next < f->n_modules)
		return true;
	ts_buf_printf(&f->text, "BB Table: %zu bbs\n", f->n_blocks);
	return false;
}

static some_fn *const drcov[] = { list_own,     list_modules, list_regions, add_strays, count_blocks,
				  put_modules,  put_blocks,   NULL };

/* -------------------------------------------------------------------------------------------------- lcov */

static bool is_before(const void *user, const void *a, const void *b)
{
	const struct line *x = a;
	const struct line *y = b;
	int order = x->file == y->file ? 0 : strcmp(x->file, y->file);

	(void)user;
	return order ? order < 0 : x->number < y->number;
}

/* The ordinal of the first item at @addr or after it. */
static size_t find_item(const struct ts_covered_list *c, uint64_t addr)
{
	size_t at = 0;

	TS_BISECT(at, c->n, i, c->items[i].addr < addr);
	return at;
}

/* Each line with the most steps of one of its addresses. */
static bool collect_lines(struct ts_coverage_file *f)
{
	const struct ts_covered_list *c = &f->list;
	size_t n;
	const struct ts_code_line *all = ts_code_lines_all(ts_symbols_lines(c->ask->symbols), &n), *x;

	if (!f->next && !f->line.file)
		ts_buf_puts(&f->text, "TN:\n");
	for (; f->next < n && !is_piece_done(f); f->work += WORK_A_LINE) {
		x = &all[f->next];
		if (!f->line.file) {
			f->line = (struct line){ x->file, x->line, 0 };
			f->item = find_item(c, x->addr);
		}
		for (; f->item < c->n && c->items[f->item].addr - x->addr < x->len && !is_piece_done(f);
		     f->item++) {
			if (c->items[f->item].steps > f->line.steps)
				f->line.steps = c->items[f->item].steps;
			f->work++;
		}
		if (is_piece_done(f))
			break;
		f->text.is_failed |= !ts_heap_put(&f->lines, &f->line);
		f->line.file = NULL;
		f->next++;
	}
	return f->next < n;
}

/* The line is over (@is_file: and its file, too). */
static void end_line(struct ts_coverage_file *f, bool is_file)
{
	ts_buf_printf(&f->text, "DA:%" PRIu32 ",%" PRIu64 "\n", f->line.number, f->line.steps);
	f->n_lines++;
	f->n_hit += f->line.steps > 0;
	if (!is_file)
		return;
	ts_buf_printf(&f->text, "LF:%zu\nLH:%zu\nend_of_record\n", f->n_lines, f->n_hit);
	f->n_lines = f->n_hit = 0;
}

static bool put_lines(struct ts_coverage_file *f)
{
	struct line x;

	for (; !is_piece_done(f); f->work += WORK_A_LINE) {
		bool has_more = ts_heap_take(&f->lines, &x);
		bool is_same_file = has_more && x.file == f->line.file;

		if (is_same_file && x.number == f->line.number) {
			f->line.steps = x.steps > f->line.steps ? x.steps : f->line.steps;
			continue;
		}
		if (f->line.file)
			end_line(f, !is_same_file);
		if (!has_more)
			return false;
		if (!is_same_file) {
			ts_buf_puts(&f->text, "SF:");
			ts_utf8_put_shown(&f->text, x.file);
			ts_buf_putc(&f->text, '\n');
		}
		f->line = x;
	}
	return true;
}

static some_fn *const lcov[] = { collect_lines, put_lines, NULL };

/* -------------------------------------------------------------------------------------------------- both */

struct ts_coverage_file *ts_coverage_file_new(const struct ts_covered_list *list, enum ts_coverage_form form,
					      const char *path, struct ts_error *err)
{
	struct ts_coverage_file *f = calloc(1, sizeof(*f));

	if (!f)
		return ts_no_memory(err, "a file of coverage");
	f->list = *list;
	f->some = form == TS_COVERAGE_LCOV ? lcov : drcov;
	ts_buf_init(&f->text);
	ts_heap_init(&f->lines, sizeof(struct line), is_before, NULL);
	if (!ts_atomic_file_init(&f->to, path, err)) {
		ts_coverage_file_free(f);
		return NULL;
	}
	if (form == TS_COVERAGE_DRCOV)
		f->modules = calloc(MAX_MODULES, sizeof(*f->modules));
	if (form == TS_COVERAGE_DRCOV && !f->modules) {
		ts_no_memory(err, "a file of coverage");
		ts_coverage_file_free(f);
		return NULL;
	}
	return f;
}

void ts_coverage_file_free(struct ts_coverage_file *f)
{
	if (!f)
		return;
	ts_atomic_file_fini(&f->to);
	ts_buf_fini(&f->text);
	ts_heap_fini(&f->lines);
	free(f->modules);
	free(f);
}

enum ts_next ts_coverage_file_some(struct ts_coverage_file *f, struct ts_error *err)
{
	f->work = 0;
	ts_buf_reset(&f->text);
	if (*f->some && !(*f->some)(f)) {
		f->some++;
		f->next = 0;
	}
	if (!ts_buf_ok(&f->text)) {
		ts_no_memory(err, "a file of coverage");
		return TS_FAIL;
	}
	if (!ts_atomic_file_write(&f->to, f->text.data, f->text.len, err))
		return TS_FAIL;
	if (*f->some)
		return TS_MORE;
	if (!f->is_placed && !ts_atomic_file_place(&f->to, err))
		return TS_FAIL;
	f->is_placed = true;
	return TS_END;
}
