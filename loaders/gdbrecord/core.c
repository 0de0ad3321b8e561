/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bisect.h"
#include "src/base/bytes.h"
#include "src/trace/step.h"

/* Notes of a core with thousands of mapped files have some megabytes. */
#define MAX_NOTES (UINT64_C(64) << 20)

/* The vsyscall page cannot be read: gdb writes zeros for it. */
#define VSYSCALL UINT64_C(0xffffffffff600000)

struct segment {
	uint32_t type, flags;
	uint64_t off, addr, file_len, mem_len;
};

static uint64_t get(const struct core *core, const uint8_t *p, size_t len)
{
	return ts_number(p, len, core->is_big_endian);
}

uint64_t core_take(const struct core *core, struct ts_cursor *c, size_t len)
{
	const uint8_t *p = ts_take(c, len);

	return p ? get(core, p, len) : 0;
}

/* ----------------------------------------------------------------------------------------- the header */

/* The processors whose recordings are known: their numbers of registers are in regs.c. */
static const struct ts_arch *find_arch(unsigned machine, bool is_64, bool is_big_endian)
{
	const struct ts_arch *arch = NULL;

	if (machine == EM_X86_64 && is_64)
		arch = ts_arch_find("x86_64");
	else if (machine == EM_386 && !is_64)
		arch = ts_arch_find("i386");
	else if (machine == EM_ARM && !is_64)
		arch = ts_arch_find("arm");
	else if (machine == EM_AARCH64 && is_64)
		arch = ts_arch_find("aarch64");
	return arch ? ts_arch_in_order(arch, is_big_endian) : NULL;
}

/* Where the program headers are. */
struct table {
	uint64_t off;
	uint64_t n;
	unsigned entry_len;
};

static bool read_ident(struct core *core, const uint8_t *ident, struct ts_error *err)
{
	if (memcmp(ident, ELFMAG, SELFMAG) != 0)
		return ts_fail(err, TS_EUNSUPPORTED, 0, "not an ELF file");
	if (ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64)
		return ts_fail(err, TS_EUNSUPPORTED, EI_CLASS, "the ELF class is %u, not 1 or 2",
			       ident[EI_CLASS]);
	if (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB)
		return ts_fail(err, TS_EUNSUPPORTED, EI_DATA, "the byte order is %u, not 1 or 2",
			       ident[EI_DATA]);
	core->word = ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	core->is_big_endian = ident[EI_DATA] == ELFDATA2MSB;
	return true;
}

static bool read_head(struct core *core, struct table *t, struct ts_error *err)
{
	uint8_t head[sizeof(Elf64_Ehdr)] = { 0 };
	struct ts_cursor c;
	unsigned type, machine, head_len;
	size_t got;

	if (!ts_source_read(core->src, 0, head, sizeof(head), &got, err))
		return false;
	if (got < sizeof(Elf32_Ehdr))
		return ts_fail(err, TS_ETRUNC, 0, "the file has %zu bytes, an ELF header has 52 or more",
			       got);
	if (!read_ident(core, head, err))
		return false;
	c = ts_cursor(head, got, 0, "ELF header", err);
	ts_take(&c, EI_NIDENT);
	type = (unsigned)core_take(core, &c, 2);
	machine = (unsigned)core_take(core, &c, 2);
	core_take(core, &c, 4);          /* version */
	core_take(core, &c, core->word); /* entry */
	t->off = core_take(core, &c, core->word);
	core_take(core, &c, core->word); /* sections */
	core_take(core, &c, 4);          /* flags */
	head_len = (unsigned)core_take(core, &c, 2);
	t->entry_len = (unsigned)core_take(core, &c, 2);
	t->n = core_take(core, &c, 2);
	if (!ts_ok(&c))
		return false;
	if (type != ET_CORE)
		return ts_fail(err, TS_EUNSUPPORTED, 16,
			       "an ELF file of type %u: a recording is a core file (4)", type);
	core->arch = find_arch(machine, core->word == 8, core->is_big_endian);
	if (!core->arch)
		return ts_fail(
			err, TS_EUNSUPPORTED, 18,
			"machine %u: gdb records x86-64, i386, ARM and AArch64 in a form that is known",
			machine);
	if (t->entry_len != (core->word == 8 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) || head_len > t->off)
		return ts_fail(err, TS_ECORRUPT, 0, "program headers of %u bytes at 0x%" PRIx64, t->entry_len,
			       t->off);
	return true;
}

/* More than 65,534 program headers are counted in the first section header. */
static bool count_headers(struct core *core, struct table *t, struct ts_error *err)
{
	uint8_t bytes[sizeof(Elf64_Shdr)];
	unsigned at = core->word == 8 ? offsetof(Elf64_Ehdr, e_shoff) : offsetof(Elf32_Ehdr, e_shoff);
	unsigned info = core->word == 8 ? offsetof(Elf64_Shdr, sh_info) : offsetof(Elf32_Shdr, sh_info);
	uint64_t off;

	if (t->n != PN_XNUM)
		return true;
	if (!ts_source_read_all(core->src, at, bytes, core->word, err))
		return false;
	off = get(core, bytes, core->word);
	if (!ts_source_read_all(core->src, off, bytes, info + 4, err))
		return ts_fail_prefix(err, "the number of program headers");
	t->n = get(core, bytes + info, 4);
	return true;
}

/* ------------------------------------------------------------------------------------------- the segments */

static struct segment take_segment(const struct core *core, struct ts_cursor *c)
{
	struct segment s = { 0 };

	s.type = (uint32_t)core_take(core, c, 4);
	if (core->word == 8)
		s.flags = (uint32_t)core_take(core, c, 4);
	s.off = core_take(core, c, core->word);
	s.addr = core_take(core, c, core->word);
	core_take(core, c, core->word); /* physical address */
	s.file_len = core_take(core, c, core->word);
	s.mem_len = core_take(core, c, core->word);
	if (core->word == 4)
		s.flags = (uint32_t)core_take(core, c, 4);
	core_take(core, c, core->word); /* alignment */
	return s;
}

static uint32_t prot_of(uint32_t flags)
{
	return (flags & PF_R ? TS_PROT_READ : 0u) | (flags & PF_W ? TS_PROT_WRITE : 0u) |
	       (flags & PF_X ? TS_PROT_EXEC : 0u);
}

/* How much of [off, off + len) the file has. */
static uint64_t clip(const struct core *core, uint64_t off, uint64_t len)
{
	uint64_t file_len = ts_source_len(core->src), left = off < file_len ? file_len - off : 0;

	return len < left ? len : left;
}

static void add_load(struct core *core, const struct segment *s)
{
	uint64_t mask = ts_arch_addr_mask(core->arch);
	struct core_load *l = &core->loads[core->n_loads];

	if (!s->mem_len || s->addr > mask || s->mem_len - 1 > mask - s->addr ||
	    (core->word == 8 && s->addr == VSYSCALL))
		return;
	*l = (struct core_load){
		.addr = s->addr, .mem_len = s->mem_len, .off = s->off, .prot = prot_of(s->flags)
	};
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

static void add_segment(struct core *core, const struct segment *s)
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

static int compare_loads(const void *a, const void *b)
{
	const struct core_load *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* By address; what overlaps the one before it is left out. */
static void sort_loads(struct core *core)
{
	size_t n = 0;

	if (core->n_loads)
		qsort(core->loads, core->n_loads, sizeof(*core->loads), compare_loads);
	for (size_t i = 0; i < core->n_loads; i++) {
		const struct core_load *last = n ? &core->loads[n - 1] : NULL;

		if (!last || core->loads[i].addr - last->addr >= last->mem_len)
			core->loads[n++] = core->loads[i];
	}
	core->n_loads = n;
}

static bool read_segments(struct core *core, const struct table *t, struct ts_error *err)
{
	uint64_t file_len = ts_source_len(core->src);
	uint8_t bytes[sizeof(Elf64_Phdr)];

	if (t->off > file_len || t->n > (file_len - t->off) / t->entry_len)
		return ts_fail(err, TS_ETRUNC, t->off, "%" PRIu64 " program headers do not fit into the file",
			       t->n);
	core->loads = calloc((size_t)t->n + 1, sizeof(*core->loads));
	core->notes = calloc((size_t)t->n + 1, sizeof(*core->notes));
	if (!core->loads || !core->notes)
		return ts_fail(err, TS_ENOMEM, TS_NO_OFF, "memory is exhausted: the trace is not opened");
	for (uint64_t i = 0; i < t->n; i++) {
		uint64_t off = t->off + i * t->entry_len;
		struct ts_cursor c = ts_cursor(bytes, t->entry_len, off, "program header", err);
		struct segment s;

		if (!ts_source_read_all(core->src, off, bytes, t->entry_len, err))
			return false;
		s = take_segment(core, &c);
		add_segment(core, &s);
	}
	sort_loads(core);
	return true;
}

bool core_init(struct core *core, const struct ts_source *src, struct ts_error *err)
{
	struct table t = { 0 };

	*core = (struct core){ .src = src };
	if (!read_head(core, &t, err) || !count_headers(core, &t, err) || !read_segments(core, &t, err))
		return false;
	if (!core->log_off)
		return ts_fail(err, TS_EUNSUPPORTED, t.off,
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

	if (!bytes)
		return notes->len > MAX_NOTES
			       ? ts_fail(err, TS_ELIMIT, notes->off, "%" PRIu64 " bytes of notes", notes->len)
			       : ts_fail(err, TS_ENOMEM, TS_NO_OFF,
					 "memory is exhausted: the notes are not read");
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
