/* SPDX-License-Identifier: MIT */
#include "modules.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "protocol/wire/xml.h"
#include "protocol/session/session.h"
#include "src/object/elf_image.h"
#include "src/query/files/locate.h"

/* Windows: gdb expects the address of the first section, which lies one page after the headers. */
#define PE_HEADERS_LEN 0x1000u

/* The number of bytes at a library's beginning that are searched for its ELF headers. */
#define ELF_HEADERS_LEN 0x1000u

/*
 * The number of libraries that are tried before the list is given up: a recording may name thousands that cannot be
 * placed, and each takes the decode of a chunk, and a file that is opened.
 */
#define MAX_TRIED 16u

#define PAGE_MASK (~UINT64_C(0xfff))

static bool is_os(const struct rsp_target *target, const char *osabi)
{
	const char *recorded = ts_query_facts(target->q)->osabi;

	return recorded && strcmp(recorded, osabi) == 0;
}

/*
 * "/lib/x.so", or in Windows "C:\\x.dll".  gdb looks for any other name in its own working directory, where
 * whoever made the recording may have put a file; for it a drive is the beginning of a relative name in all
 * other systems.
 */
static bool is_absolute(const struct rsp_target *target, const char *file)
{
	if (!file || *file == '/')
		return file;
	return is_os(target, "Windows") && isalpha((unsigned char)file[0]) && file[1] == ':' &&
	       (file[2] == '\\' || file[2] == '/');
}

/* Is it the program, by one of its names or by its address? */
static bool is_program(const struct rsp_target *target, const struct ts_module_info *m)
{
	const char *recorded = ts_query_facts(target->q)->exec_path;

	return (recorded && strcmp(m->file, recorded) == 0) ||
	       (target->exec_path && strcmp(m->file, target->exec_path) == 0) ||
	       (target->located.by != TS_LOCATED_NOT && m->first == target->located.first);
}

static bool is_library(const struct rsp_target *target, const struct ts_module_info *m)
{
	return is_absolute(target, m->file) && !is_program(target, m);
}

/* The next library after *at; returns false after the last. */
static bool next_library(const struct rsp_session *s, size_t *at, struct ts_module_info *m)
{
	while (ts_query_next_module(s->target->q, rsp_process(s), s->pos, at, m)) {
		if (is_library(s->target, m))
			return true;
	}
	return false;
}

static bool is_noted(const struct rsp_session *s, size_t i)
{
	return i / 8 < s->missing.len && (s->missing.data[i / 8] >> i % 8 & 1);
}

static void note(struct rsp_session *s, size_t i)
{
	while (s->missing.len <= i / 8 && ts_buf_ok(&s->missing))
		ts_buf_putc(&s->missing, 0);
	if (ts_buf_ok(&s->missing))
		s->missing.data[i / 8] |= (uint8_t)(1 << i % 8);
}

/* A client that opens files itself must not find another file than the recorded one. */
static bool is_named_missing(const struct rsp_session *s, const char *file)
{
	return s->target->is_client_local && !rsp_target_file(s->target, file);
}

void rsp_modules_are_missing(struct rsp_session *s, const char *path)
{
	struct ts_module_info m;

	if (!s->is_gdb)
		return;
	for (size_t at = 0; ts_query_next_module(s->target->q, rsp_process(s), s->pos, &at, &m);) {
		if (is_library(s->target, &m) && (path ? !strcmp(m.file, path) : is_named_missing(s, m.file)))
			note(s, at - 1);
	}
}

bool rsp_modules_have_changed(const struct rsp_session *s)
{
	struct ts_module_info m;

	if (!rsp_session_follows_modules(s))
		return false;
	for (size_t i = 0; ts_query_module(s->target->q, i, &m); i++) {
		bool was_there = m.from <= s->modules_at && s->modules_at < m.until;

		if (m.process == rsp_process(s) && !is_noted(s, i) && was_there != (m.from <= s->pos && s->pos < m.until))
			return true;
	}
	return false;
}

/* ----------------------------------------------------------------------------------------- ELF's list */

/* Addresses of an ELF library. */
struct place {
	uint64_t moved;   /* difference from its link address */
	uint64_t dynamic; /* its dynamic section */
};

static bool place_by(const struct ts_source *src, uint64_t first, uint64_t mask, struct place *p)
{
	struct ts_error not_elf = { 0 };
	uint64_t lowest = UINT64_MAX;
	struct ts_elf elf;
	bool done;

	if (!ts_elf_init(&elf, src, &not_elf))
		return false;
	for (size_t i = 0; i < elf.n_loads; i++)
		lowest = elf.loads[i].addr < lowest ? elf.loads[i].addr : lowest;
	done = elf.n_loads && elf.has_dynamic;
	p->moved = (first - (lowest & PAGE_MASK)) & mask;
	p->dynamic = (p->moved + elf.dynamic) & mask;
	ts_elf_fini(&elf);
	return done;
}

/* From the headers in memory at position @pos, as far as they are known there. */
static bool place_by_memory(const struct rsp_target *target, const struct ts_module_info *m, uint64_t pos,
			    struct place *p)
{
	uint64_t mask = ts_arch_addr_mask(ts_query_regset(target->q)->arch);
	uint8_t data[ELF_HEADERS_LEN], known[ELF_HEADERS_LEN];
	struct ts_error ignored = { 0 };
	const uint8_t *unknown;
	struct ts_source *src;
	bool done;

	if (!ts_query_mem(target->q, pos, m->process, m->first, sizeof(data), data, known, &ignored))
		return false;
	unknown = memchr(known, 0, sizeof(known));
	src = ts_source_from_memory(data, unknown ? (size_t)(unknown - known) : sizeof(data), "", &ignored);
	done = src && place_by(src, m->first, mask, p);
	ts_source_close(src);
	return done;
}

static bool find_place(const struct rsp_target *target, const struct ts_module_info *m, uint64_t pos,
		       struct place *p)
{
	const struct ts_source *file = rsp_target_file(target, m->file);

	return place_by_memory(target, m, pos, p) ||
	       (file && place_by(file, m->first, ts_arch_addr_mask(ts_query_regset(target->q)->arch), p));
}

/*
 * Can the list be claimed?  Not if libraries are known, but none of the first ones can be placed at the
 * position where it appears; nor if none is known and the auxiliary vector shows that there was a dynamic
 * linker: gdb then looks for the link map in memory.
 */
static bool can_list(const struct rsp_target *target)
{
	struct ts_module_info m;
	unsigned n_libraries = 0;
	struct place p;

	for (size_t i = 0; ts_query_module(target->q, i, &m) && n_libraries < MAX_TRIED; i++) {
		if (!is_library(target, &m))
			continue;
		n_libraries++;
		if (find_place(target, &m, m.from, &p))
			return true;
	}
	return !n_libraries && !ts_has_interpreter(ts_query_facts(target->q));
}

bool rsp_modules_next_library(const struct rsp_session *s, size_t *at, struct rsp_library *library)
{
	struct ts_module_info m;
	struct place p;

	while (next_library(s, at, &m)) {
		if (!find_place(s->target, &m, s->pos, &p))
			continue;
		*library = (struct rsp_library){ m.file, m.first, p.moved, p.dynamic };
		return true;
	}
	return false;
}

/* The library's name; of one that is missing it is not the name of a file. */
static void put_name(const struct rsp_session *s, const char *file, struct ts_buf *out)
{
	rsp_xml_text(file, out);
	if (is_named_missing(s, file))
		ts_buf_puts(out, " (not the recorded file)");
}

uint64_t rsp_modules_program(const struct rsp_session *s)
{
	struct ts_module_info m;

	if (s->target->located.by != TS_LOCATED_NOT)
		return s->target->located.first;
	for (size_t at = 0; ts_query_next_module(s->target->q, rsp_process(s), s->pos, &at, &m);) {
		if (m.file && is_program(s->target, &m))
			return m.first;
	}
	return 0;
}

/*
 * gdb distinguishes libraries by the address of their link map; the library's own address serves as one.  gdb 17
 * looks for thread-local storage only if the program has one (main-lm) too.
 */
void rsp_modules_svr4_xml(const struct rsp_session *s, struct ts_buf *out)
{
	const uint64_t program = rsp_modules_program(s);
	struct rsp_library library;
	size_t at = 0;

	ts_buf_puts(out, "<library-list-svr4 version=\"1.0\"");
	if (program)
		ts_buf_printf(out, " main-lm=\"0x%" PRIx64 "\"", program);
	ts_buf_puts(out, ">\n");
	while (rsp_modules_next_library(s, &at, &library)) {
		ts_buf_puts(out, "<library name=\"");
		put_name(s, library.file, out);
		ts_buf_printf(out,
			      "\" lm=\"0x%" PRIx64 "\" l_addr=\"0x%" PRIx64 "\" l_ld=\"0x%" PRIx64
			      "\" lmid=\"0x0\"/>\n",
			      library.first, library.moved, library.dynamic);
	}
	ts_buf_puts(out, "</library-list-svr4>\n");
}

/* -------------------------------------------------------------------------------------- other systems */

void rsp_modules_any_xml(const struct rsp_session *s, struct ts_buf *out)
{
	uint64_t headers = is_os(s->target, "Windows") ? PE_HEADERS_LEN : 0;
	struct ts_module_info m;
	size_t at = 0;

	ts_buf_puts(out, "<library-list>\n");
	while (next_library(s, &at, &m)) {
		ts_buf_puts(out, "<library name=\"");
		put_name(s, m.file, out);
		ts_buf_printf(out, "\"><segment address=\"0x%" PRIx64 "\"/></library>\n", m.first + headers);
	}
	ts_buf_puts(out, "</library-list>\n");
}

enum rsp_module_list rsp_module_list(const struct rsp_target *target)
{
	struct ts_module_info first;

	if (is_os(target, "GNU/Linux"))
		return can_list(target) ? RSP_MODULES_SVR4 : RSP_MODULES_NONE;
	return ts_query_module(target->q, 0, &first) ? RSP_MODULES_ANY : RSP_MODULES_NONE;
}
