/* SPDX-License-Identifier: MIT */
#include "file_match.h"

#include <string.h>

#include "load_base.h"
#include "src/query/paging.h"
#include "src/query/snapshot.h"
#include "src/object/build_id.h"

#define PAGE_LEN  UINT64_C(0x1000)
#define MAX_PAGES 16384u /* that are compared, of a file that may have any number */
#define MAX_FIRST 1024u  /* that are compared before all of the recording has been read: a client waits */

static bool compare_builds(struct ts_query *q, const struct ts_source *src, uint32_t process, uint64_t moved,
			   struct ts_file_match *match, struct ts_error *err)
{
	uint8_t data[TS_MAX_BUILD_ID], known[TS_MAX_BUILD_ID];
	struct ts_build_id id;

	if (!ts_build_id_find(src, &id))
		return true;
	if (!ts_virtual_mem(q, 0, process, id.addr + moved, id.len, data, known, err))
		return false;
	if (!memchr(known, 0, id.len))
		match->build = memcmp(data, id.bytes, id.len) ? TS_BUILD_OTHER : TS_BUILD_SAME;
	return true;
}

/* A page of the file, and of memory. */
struct page {
	size_t len;
	uint8_t file[PAGE_LEN], data[PAGE_LEN], known[PAGE_LEN];
};

static void compare_page(const struct page *p, uint64_t addr, const struct ts_object *o, uint64_t moved,
			 struct ts_file_match *match)
{
	for (size_t i = 0; i < p->len; i++) {
		if (!p->known[i])
			continue;
		if (p->file[i] == p->data[i] || (o->is_pe && moved && ts_is_moved_word(p->file, p->data, p->len, i, moved))) {
			match->n_same++;
		} else if (!match->n_different++) {
			match->first_different = addr + i;
		}
	}
}

/* Compare the page of the segment at @off, up to the segment's end in the file. */
static bool add_page(struct ts_query *q, const struct ts_source *src, const struct ts_object *o,
		     const struct ts_elf_load *load, uint32_t process, uint64_t off, uint64_t moved,
		     struct ts_file_match *match, struct ts_error *err)
{
	uint64_t addr = load->addr + off + moved;
	struct page p = { .len = PAGE_LEN - (addr & (PAGE_LEN - 1)) };

	if (p.len > load->file_len - off)
		p.len = (size_t)(load->file_len - off);
	if (!ts_source_read_all(src, load->file_off + off, p.file, p.len, err) ||
	    !ts_virtual_mem(q, 0, process, addr, p.len, p.data, p.known, err))
		return false;
	compare_page(&p, addr, o, moved, match);
	return true;
}

/*
 * The first pages of a segment, executed or not: what of it will be executed has not been read yet, but memory of position 0
 * may be in the recording.
 */
static bool compare_beginning(struct ts_query *q, const struct ts_source *src, const struct ts_object *o,
			      const struct ts_elf_load *load, uint32_t process, uint64_t moved, unsigned *n_pages,
			      struct ts_file_match *match, struct ts_error *err)
{
	uint64_t off = 0;

	while (*n_pages < MAX_FIRST && off < load->file_len) {
		if (!add_page(q, src, o, load, process, off, moved, match, err))
			return false;
		(*n_pages)++;
		off += PAGE_LEN - ((load->addr + off + moved) & (PAGE_LEN - 1));
	}
	return true;
}

/* The pages of a segment in which code was executed. */
static bool compare_segment(struct ts_query *q, const struct ts_source *src, const struct ts_object *o,
			    const struct ts_elf_load *load, uint32_t process, uint64_t moved, unsigned *n_pages,
			    struct ts_file_match *match, struct ts_error *err)
{
	uint64_t first = load->addr + moved, addr = first, start;

	while (*n_pages < MAX_PAGES && ts_runs_next_start(&q->tl->runs, process, addr, &start) &&
	       start - first < load->file_len) {
		uint64_t page = start & ~(PAGE_LEN - 1), off = page > first ? page - first : 0;

		if (!add_page(q, src, o, load, process, off, moved, match, err))
			return false;
		(*n_pages)++;
		addr = page + PAGE_LEN;
		if (addr <= first)
			break;
	}
	return true;
}

bool ts_file_match(struct ts_query *q, const struct ts_source *src, const struct ts_object *o, uint32_t process,
		   uint64_t moved, struct ts_file_match *match, struct ts_error *err)
{
	bool is_read = ts_query_is_complete(q);
	unsigned n_pages = 0;

	*match = (struct ts_file_match){ 0 };
	if (!compare_builds(q, src, process, moved, match, err))
		return false;
	for (size_t i = 0; i < o->n_loads; i++) {
		if (o->loads[i].prot & TS_PROT_EXEC &&
		    !(is_read ? compare_segment : compare_beginning)(q, src, o, &o->loads[i], process, moved, &n_pages, match, err))
			return false;
	}
	return true;
}
