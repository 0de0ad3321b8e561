/* SPDX-License-Identifier: MIT */
#include "coverage_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbols.h"

/* ------------------------------------------------------------------------------------------------- drcov */

/* The module or mapped file that an address lies in. */
struct module {
	uint64_t first, last;
	const char *file;
};

#define MAX_MODULES 65535u

/* Does the region lie in the module, or is it another part of the same file? */
static bool is_part(const struct module *m, const struct ts_region_info *r)
{
	return (m->first <= r->first && m->last >= r->last) || (r->file && !strcmp(m->file, r->file));
}

static size_t find_modules(const struct ts_covered_list *c, struct module *modules, size_t max)
{
	struct ts_module_info m;
	struct ts_region_info r;
	size_t n = 0;

	for (size_t i = 0; n < max && ts_query_module(c->ask->q, i, &m); i++) {
		if (m.process == c->process)
			modules[n++] = (struct module){ m.first, m.last, m.file ? m.file : "?" };
	}
	for (size_t i = 0; n < max && ts_query_region(c->ask->q, i, &r); i++) {
		size_t k = 0;

		while (k < n && !is_part(&modules[k], &r))
			k++;
		if (r.process != c->process)
			continue;
		if (k == n)
			modules[n++] = (struct module){ r.first, r.last, r.file ? r.file : r.desc ? r.desc : "?" };
		modules[k].first = r.first < modules[k].first ? r.first : modules[k].first;
		modules[k].last = r.last > modules[k].last ? r.last : modules[k].last;
	}
	return n;
}

static size_t module_of(const struct module *modules, size_t n, uint64_t addr)
{
	size_t i = 0;

	while (i < n && (addr < modules[i].first || addr > modules[i].last))
		i++;
	return i;
}

#define PAGE_LEN UINT64_C(4096)

/* Pages with executed code that no module and no region has: the recording lists none, or not all. */
static size_t add_strays(const struct ts_covered_list *c, struct module *modules, size_t n, size_t max)
{
	const char *path = ts_query_facts(c->ask->q)->exec_path;
	const char *file = n || !path ? "?" : path;
	size_t first = n;

	for (size_t i = 0; i < c->n; i++) {
		uint64_t page = c->items[i].addr & ~(PAGE_LEN - 1);

		if (module_of(modules, n, c->items[i].addr) < n)
			continue;
		if (n > first && page && modules[n - 1].last == page - 1)
			modules[n - 1].last = page + (PAGE_LEN - 1);
		else if (n < max)
			modules[n++] = (struct module){ page, page + (PAGE_LEN - 1), file };
	}
	return n;
}

static void put_block(struct ts_buf *out, uint32_t start, uint16_t len, uint16_t id)
{
	const uint8_t block[8] = { (uint8_t)start,	   (uint8_t)(start >> 8), (uint8_t)(start >> 16),
				   (uint8_t)(start >> 24), (uint8_t)len,	  (uint8_t)(len >> 8),
				   (uint8_t)id,		   (uint8_t)(id >> 8) };

	ts_buf_put(out, block, sizeof(block));
}

/* Blocks of instructions that follow each other in memory; one of unknown length is a byte. */
static size_t put_blocks(const struct ts_covered_list *c, const struct module *modules, size_t n_modules,
			 struct ts_buf *out)
{
	size_t n = 0;

	for (size_t i = 0, end; i < c->n; i = end) {
		uint64_t start = c->items[i].addr, next = start;
		size_t id = module_of(modules, n_modules, start);

		for (end = i; end < c->n && c->items[end].addr == next && next - start < 0xff00 &&
			      module_of(modules, n_modules, next) == id;
		     end++)
			next += c->items[end].len ? c->items[end].len : 1;
		if (id == n_modules || start - modules[id].first > UINT32_MAX)
			continue;
		put_block(out, (uint32_t)(start - modules[id].first), (uint16_t)(next - start), (uint16_t)id);
		n++;
	}
	return n;
}

void ts_drcov_put(const struct ts_covered_list *c, struct ts_buf *out)
{
	struct module *modules = calloc(MAX_MODULES, sizeof(*modules));
	struct ts_buf blocks;
	size_t n = modules ? find_modules(c, modules, MAX_MODULES) : 0, n_blocks;

	n = modules ? add_strays(c, modules, n, MAX_MODULES) : 0;
	ts_buf_init(&blocks);
	out->is_failed |= !modules;
	n_blocks = put_blocks(c, modules, n, &blocks);
	ts_buf_puts(out, "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov\n");
	ts_buf_printf(out, "Module Table: version 2, count %zu\n", n);
	ts_buf_puts(out, "Columns: id, base, end, entry, path\n");
	for (size_t i = 0; i < n; i++)
		ts_buf_printf(out, "%3zu, 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%016x, %s\n", i, modules[i].first,
			      modules[i].last + 1, 0, modules[i].file);
	ts_buf_printf(out, "BB Table: %zu bbs\n", n_blocks);
	ts_buf_put(out, blocks.data, blocks.len);
	out->is_failed |= blocks.is_failed;
	ts_buf_fini(&blocks);
	free(modules);
}

/* -------------------------------------------------------------------------------------------------- lcov */

/* A line, and how often one of its instructions was executed. */
struct line {
	const char *file;
	uint32_t number;
	uint64_t steps;
};

static int by_line(const void *a, const void *b)
{
	const struct line *x = a;
	const struct line *y = b;
	int order = x->file == y->file ? 0 : strcmp(x->file, y->file);

	return order ? order : x->number < y->number ? -1 : x->number > y->number;
}

/* The most steps of an address in the range. */
static uint64_t most_steps(const struct ts_covered_list *c, uint64_t addr, uint64_t len)
{
	uint64_t most = 0;
	size_t lo = 0, hi = c->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->items[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < c->n && c->items[lo].addr - addr < len; lo++)
		most = c->items[lo].steps > most ? c->items[lo].steps : most;
	return most;
}

static struct line *take_lines(const struct ts_covered_list *c, size_t *n)
{
	const struct ts_code_line *all = ts_code_lines_all(ts_symbols_lines(c->ask->symbols), n);
	struct line *lines = calloc(*n + 1, sizeof(*lines));

	for (size_t i = 0; lines && i < *n; i++)
		lines[i] = (struct line){ all[i].file, all[i].line, most_steps(c, all[i].addr, all[i].len) };
	if (lines)
		qsort(lines, *n, sizeof(*lines), by_line);
	return lines;
}

/* The lines of the first one's file.  Returns how many items that are. */
static size_t put_file(const struct line *lines, size_t n, struct ts_buf *out)
{
	size_t n_lines = 0, n_hit = 0, i;

	ts_buf_printf(out, "SF:%s\n", lines[0].file);
	for (i = 0; i < n && lines[i].file == lines[0].file;) {
		uint32_t number = lines[i].number;
		uint64_t most = 0;

		for (; i < n && lines[i].file == lines[0].file && lines[i].number == number; i++)
			most = lines[i].steps > most ? lines[i].steps : most;
		ts_buf_printf(out, "DA:%" PRIu32 ",%" PRIu64 "\n", number, most);
		n_lines++;
		n_hit += most > 0;
	}
	ts_buf_printf(out, "LF:%zu\nLH:%zu\nend_of_record\n", n_lines, n_hit);
	return i;
}

void ts_lcov_put(const struct ts_covered_list *c, struct ts_buf *out)
{
	size_t n;
	struct line *lines = take_lines(c, &n);

	out->is_failed |= !lines;
	ts_buf_puts(out, "TN:\n");
	for (size_t i = 0; lines && i < n;)
		i += put_file(lines + i, n - i, out);
	free(lines);
}
