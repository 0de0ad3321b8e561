/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/collections/bisect.h"
#include "src/base/bytes.h"
#include "src/object/elf_image.h"
#include "src/trace/step.h"

/* Notes of a core with thousands of mapped files have some megabytes. */
#define MAX_NOTES (UINT64_C(64) << 20)

/* The vsyscall page cannot be read: gdb writes zeros for it. */
#define VSYSCALL UINT64_C(0xffffffffff600000)

uint64_t core_take(const struct core *core, struct ts_cursor *c, size_t len)
{
	const uint8_t *p = ts_take(c, len);

	return p ? ts_number(p, len, core->is_big_endian) : 0;
}

/* ----------------------------------------------------------------------------------------- the header */

/* The processors whose recordings are known: their numbers of registers are in regs.c. */
static bool is_recorded(unsigned machine)
{
	return machine == EM_X86_64 || machine == EM_386 || machine == EM_ARM || machine == EM_AARCH64;
}

static bool take_head(struct core *core, const struct ts_elf *elf, struct ts_error *err)
{
	core->word = elf->is_64 ? 8 : 4;
	core->is_big_endian = elf->is_big_endian;
	if (elf->type != ET_CORE)
		return ts_fail(err, TS_EUNSUPPORTED, 16,
			       "an ELF file of type %u: a recording is a core file (4)", elf->type);
	core->arch = is_recorded(elf->machine) ? ts_elf_arch(elf) : NULL;
	if (!core->arch)
		return ts_fail(
			err, TS_EUNSUPPORTED, 18,
			"machine %u: recordings of gdb for x86-64, i386, ARM and AArch64 are supported",
			elf->machine);
	return elf->headers_off >= (elf->is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)) ||
	       ts_fail(err, TS_ECORRUPT, 0, "program headers at 0x%" PRIx64, elf->headers_off);
}

/* ------------------------------------------------------------------------------------------- the segments */

/* How much of [off, off + len) the file has. */
static uint64_t clip(const struct core *core, uint64_t off, uint64_t len)
{
	uint64_t file_len = ts_source_len(core->src), left = off < file_len ? file_len - off : 0;

	return len < left ? len : left;
}

static void add_load(struct core *core, const struct ts_elf_header *s)
{
	uint64_t mask = ts_arch_addr_mask(core->arch);
	struct core_load *l = &core->loads[core->n_loads];

	if (!s->mem_len || s->addr > mask || s->mem_len - 1 > mask - s->addr ||
	    (core->word == 8 && s->addr == VSYSCALL))
		return;
	*l = (struct core_load){ .addr = s->addr, .mem_len = s->mem_len, .off = s->off, .prot = s->prot };
	l->file_len = s->file_len < s->mem_len ? s->file_len : s->mem_len;
	if (clip(core, s->off, s->file_len) < s->file_len)
		core->is_load_short = true;
	l->file_len = clip(core, l->off, l->file_len);
	core->n_loads++;
}

/* Segments of notes follow each other in the file: so all notes together are no longer than the file. */
static void add_notes(struct core *core, uint64_t off, uint64_t len)
{
	const struct core_notes *last = core->n_notes ? &core->notes[core->n_notes - 1] : NULL;

	if (last && off < last->off + last->len)
		core->n_notes_ignored++;
	else
		core->notes[core->n_notes++] = (struct core_notes){ off, len };
}

static void add_segment(struct core *core, const struct ts_elf_header *s)
{
	if (s->type == PT_LOAD)
		add_load(core, s);
	if (s->type == PT_NOTE && clip(core, s->off, s->file_len))
		add_notes(core, s->off, clip(core, s->off, s->file_len));
	if (s->type == PT_NULL && s->file_len && !core->log_off) {
		core->log_off = s->off;
		core->log_end = s->off + clip(core, s->off, s->file_len);
		core->is_log_short = core->log_end - s->off < s->file_len;
	}
}

/* By address; what overlaps the one before it is left out. */
static void sort_loads(struct core *core)
{
	size_t n = 0;

	if (core->n_loads)
		qsort(core->loads, core->n_loads, sizeof(*core->loads), ts_by_u64);
	for (size_t i = 0; i < core->n_loads; i++) {
		const struct core_load *last = n ? &core->loads[n - 1] : NULL;

		if (!last || core->loads[i].addr - last->addr >= last->mem_len)
			core->loads[n++] = core->loads[i];
	}
	core->n_loads = n;
}

static bool read_segments(struct core *core, const struct ts_elf *elf, struct ts_error *err)
{
	core->loads = calloc((size_t)elf->n_headers + 1, sizeof(*core->loads));
	core->notes = calloc((size_t)elf->n_headers + 1, sizeof(*core->notes));
	if (!core->loads || !core->notes)
		return ts_no_memory(err, "the trace");
	for (uint64_t i = 0; i < elf->n_headers; i++) {
		struct ts_elf_header h;

		if (!ts_elf_read_header(elf, core->src, i, &h, err))
			return false;
		add_segment(core, &h);
	}
	sort_loads(core);
	return true;
}

bool core_init(struct core *core, const struct ts_source *src, struct ts_error *err)
{
	struct ts_elf elf;

	*core = (struct core){ .src = src };
	if (!ts_elf_read_head(&elf, src, err) || !take_head(core, &elf, err) || !read_segments(core, &elf, err))
		return false;
	if (!core->log_off)
		return ts_fail(err, TS_EUNSUPPORTED, elf.headers_off,
			       "a core file without a recording: gdb's \"record save\" adds one (a PT_NULL "
			       "segment)");
	if (core->log_off > ts_source_len(src))
		return ts_fail(err, TS_ETRUNC, core->log_off, "the log begins after the end of the file");
	return true;
}

void core_fini(struct core *core)
{
	free(core->loads);
	free(core->notes);
}

const struct core_load *core_find(const struct core *core, uint64_t addr, uint64_t *room)
{
	size_t at = 0;

	TS_BISECT(at, core->n_loads, i, core->loads[i].addr <= addr);
	if (at && addr - core->loads[at - 1].addr < core->loads[at - 1].mem_len) {
		*room = core->loads[at - 1].mem_len - (addr - core->loads[at - 1].addr);
		return &core->loads[at - 1];
	}
	*room = at < core->n_loads ? core->loads[at].addr - addr : UINT64_MAX;
	return NULL;
}

/* ---------------------------------------------------------------------------------------------- the notes */

static size_t padding(uint32_t len)
{
	return (size_t)(-len & 3);
}

/* The next note of a segment; the last one's padding may be missing. */
static void take_note(const struct core *core, struct ts_cursor *c, struct core_note *note)
{
	uint32_t name_len = (uint32_t)core_take(core, c, 4), len = (uint32_t)core_take(core, c, 4);
	struct ts_cursor name;

	note->type = (uint32_t)core_take(core, c, 4);
	name = ts_sub(c, name_len, "name of a note");
	memset(note->name, 0, sizeof(note->name));
	if (name.left)
		memcpy(note->name, name.p,
		       name.left < sizeof(note->name) ? name.left : sizeof(note->name) - 1);
	ts_take(c, padding(name_len) < c->left ? padding(name_len) : c->left);
	note->desc = ts_sub(c, len, "note");
	ts_take(c, padding(len) < c->left ? padding(len) : c->left);
}

static bool each_note_of(const struct core *core, const struct core_notes *notes,
			 bool (*take)(void *user, struct core_note *note), void *user, struct ts_error *err)
{
	uint8_t *bytes = notes->len <= MAX_NOTES ? malloc((size_t)notes->len) : NULL;
	struct ts_cursor c = ts_cursor(bytes, (size_t)notes->len, notes->off, "note", err);
	bool done = true;

	if (notes->len > MAX_NOTES)
		return ts_fail(err, TS_ELIMIT, notes->off, "%" PRIu64 " bytes of notes", notes->len);
	if (!bytes)
		return ts_no_memory(err, "the notes");
	done = ts_source_read_all(core->src, notes->off, bytes, (size_t)notes->len, err);
	while (done && c.left) {
		struct core_note note;

		take_note(core, &c, &note);
		done = ts_ok(&c) && take(user, &note) && ts_ok(&c);
	}
	free(bytes);
	return done;
}

bool core_each_note(const struct core *core, bool (*take)(void *user, struct core_note *note), void *user,
		    struct ts_error *err)
{
	for (size_t i = 0; i < core->n_notes; i++) {
		if (!each_note_of(core, &core->notes[i], take, user, err))
			return false;
	}
	return true;
}
