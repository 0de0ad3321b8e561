/* SPDX-License-Identifier: MIT */
/*
 * Recordings of gdb's: what `record full` noted and `record save` wrote.
 *
 *      core file      core.c   registers and memory at position 0, mapped files, gdb's target description
 *      log            log.c    groups of what each instruction changed, in a PT_NULL segment
 *
 * Group k takes position k to position k + 1.  gdb noted before each instruction what its decoder expected to
 * change, and swapped the notes with memory and registers while it ran back to position 0: a value is at
 * the end of the time until the next record of the same place.  What gdb missed shows too early; of that only
 * rax before `syscall` can be determined from the file (rax_lookahead.c).
 *
 * gdb's counts of instructions, which `record goto` takes, are higher by the count of the first group.
 */
#include "gdbrecord.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rax_lookahead.h"
#include "loaders/kit/program.h"
#include "loaders/loader.h"
#include "src/base/collections/bisect.h"
#include "log.h"

/* Mapped files, as a CORE/NT_FILE note lists them. */
struct file {
	uint64_t start, end, off;
	uint32_t name; /* in names */
};

/* Facts from the notes, while they are read. */
struct notes {
	struct gdbrecord *rec; /* borrowed */
	struct ts_error *err;
	struct ts_buf files, names; /* owned; struct file, and their names, each terminated */
	uint64_t n_files;
	uint64_t n_lists;   /* of mapped files */
	uint64_t n_threads; /* so far; the notes after a thread are about it */
};

/* Bytes that a mapped file and its region take, without the name: here, in the model, and in the list of what is mapped. */
#define MEMORY_A_FILE 768u

/* --------------------------------------------------------------------------------------------- a thread */

static const struct gdbrecord_abi abis[] = {
	{ "x86_64", { 0, 5, 4, 3, 10, 8, 9 }, 0, true },
	{ "i386", { 0, 3, 1, 2, 6, 7, 5 }, 0, false },
	{ "arm", { 7, 0, 1, 2, 3, 4, 5 }, 1, false },
	{ "aarch64", { 8, 0, 1, 2, 3, 4, 5 }, 1, false },
};

static const struct gdbrecord_abi *abi_of(const struct ts_arch *arch)
{
	size_t i = 0;

	while (i + 1 < sizeof(abis) / sizeof(abis[0]) &&
	       strncmp(arch->name, abis[i].arch, strlen(abis[i].arch)) != 0)
		i++;
	return &abis[i];
}

/* The value at position 0 of register @number. */
static uint64_t initial_value(const struct gdbrecord *rec, unsigned number)
{
	const struct regs_slot *slot = &rec->regs.slots[number];
	const struct ts_steps *b = &rec->base.initial;

	for (uint32_t i = 0; i < b->n_effects; i++) {
		const struct ts_effect *e = &b->effects[i];

		if (e->kind == TS_FX_REG_WRITE && e->addr == slot->off && e->len <= 8)
			return ts_arch_get(rec->base.regs.arch, ts_effect_data(b, e), (size_t)e->len);
	}
	return 0;
}

/*
 * The first thread of the file is the one that was recorded.  The notes of the others determine where they were
 * when the file was saved, which is not position 0: they may have run.
 */
static bool take_thread(struct notes *n, const struct core_note *note)
{
	struct gdbrecord *rec = n->rec;
	struct ts_recording *base = &rec->base;
	uint64_t tid = regs_tid(&rec->core, note->desc);

	if (n->n_threads++)
		return true;
	if (!regs_put_general(&rec->core, &base->regs, note->desc, &base->initial))
		return ts_fail(n->err, TS_ECORRUPT, note->desc.off, "the registers have only %zu bytes",
			       note->desc.left);
	if (ts_recording_add_thread(base, 0, tid, tid) == TS_NO_THREAD || base->initial.is_failed)
		return ts_no_memory(n->err, "the trace");
	rec->pc = regs_pc(&rec->core, &base->regs, note->desc);
	for (unsigned i = 0; i < GDBRECORD_N_ABI; i++)
		rec->values[i] = initial_value(rec, rec->abi->regs[i]);
	if (rec->core.arch->has_thumb)
		rec->status = initial_value(rec, REGS_ARM_CPSR);
	return true;
}

/* ---------------------------------------------------------------------------------------- other notes */

/*
 * The program's name (16 bytes) and its arguments (80 bytes) are at the note's end.  The arguments are one text,
 * cut at its length, with blanks between them: blanks within one are regarded as such.
 */
static bool take_program(struct notes *n, const struct core_note *note)
{
	struct ts_recording *base = &n->rec->base;
	const char *args;
	size_t len;

	if (note->desc.left < 80)
		return true;
	args = (const char *)note->desc.p + note->desc.left - 80;
	len = strnlen(args, 80);
	ts_buf_reset(&base->cmdline);
	for (size_t i = 0, word; i < len; i += word + 1) {
		for (word = 0; i + word < len && args[i + word] != ' ';)
			word++;
		if (!word)
			continue;
		ts_buf_put(&base->cmdline, args + i, word);
		ts_buf_putc(&base->cmdline, '\0');
	}
	return ts_buf_ok(&base->cmdline) || ts_no_memory(n->err, "the trace");
}

static bool take_auxv(struct notes *n, const struct core_note *note)
{
	struct ts_recording *base = &n->rec->base;

	if (base->auxv || !note->desc.left)
		return true;
	base->auxv = malloc(note->desc.left);
	if (!base->auxv)
		return ts_no_memory(n->err, "the trace");
	memcpy(base->auxv, note->desc.p, note->desc.left);
	base->auxv_len = note->desc.left;
	return true;
}

/* Half of --max-memory is for mapped files. */
static bool is_full(const struct notes *n)
{
	uint64_t max = n->rec->base.max_memory;

	return max && n->n_files * MEMORY_A_FILE + 2 * n->names.len >= max / 2;
}

/* u count, u page size, count times (u start, u end, u offset in pages), then the names. */
static bool take_files(struct notes *n, const struct core_note *note)
{
	const struct core *core = &n->rec->core;
	struct ts_cursor c = note->desc;
	uint64_t count = core_take(core, &c, core->word), page = core_take(core, &c, core->word);
	struct ts_cursor names;

	if (n->n_lists++)
		return true;
	count = ts_count(&c, count, 3u * core->word + 1);
	names = c;
	ts_take(&names, count * 3 * core->word);
	for (uint64_t i = 0; i < count && ts_ok(&c); i++) {
		struct file f = { .name = (uint32_t)n->names.len };
		size_t len = strnlen((const char *)names.p, names.left);

		if (is_full(n)) {
			ts_recording_warn(&n->rec->base, "%" PRIu64 " of %" PRIu64 " mapped files are ignored: --max-memory allows no more",
					  count - i, count);
			break;
		}
		f.start = core_take(core, &c, core->word);
		f.end = core_take(core, &c, core->word);
		if (!ts_mul(core_take(core, &c, core->word), page, &f.off) || f.start >= f.end ||
		    len == names.left)
			return ts_fail(n->err, TS_ECORRUPT, c.off,
				       "entry %" PRIu64 " of the list of mapped files is invalid", i);
		ts_buf_put(&n->names, names.p, len + 1);
		ts_take(&names, len + 1);
		ts_buf_put(&n->files, &f, sizeof(f));
		n->n_files++;
	}
	n->rec->has_files = ts_ok(&c);
	return ts_ok(&c) && ((ts_buf_ok(&n->files) && ts_buf_ok(&n->names)) || ts_no_memory(n->err, "the trace"));
}

static bool take_note(void *user, struct core_note *note)
{
	struct notes *n = user;
	struct gdbrecord *rec = n->rec;
	bool is_core = !strcmp(note->name, "CORE");

	note->desc.err = n->err;
	if (is_core && note->type == NT_PRSTATUS)
		return take_thread(n, note);
	if (is_core && note->type == NT_PRPSINFO)
		return take_program(n, note);
	if (is_core && note->type == NT_AUXV)
		return take_auxv(n, note);
	if (is_core && note->type == NT_FILE)
		return take_files(n, note);
	if (!strcmp(note->name, "GDB") && note->type == 0xff000000)
		return regs_describe(&rec->regs, &rec->base.regs, note->desc.p, note->desc.left, n->err);
	if (n->n_threads == 1 && !regs_put_note(&rec->core, &rec->base.regs, note, &rec->base.initial))
		ts_recording_warn(&rec->base, "floating-point registers of %zu bytes are not known",
				  note->desc.left);
	return true;
}

/* ---------------------------------------------------------------------------------------- the regions */

static const struct file *file_at(const struct notes *n, uint64_t i)
{
	return (const struct file *)(const void *)n->files.data + i;
}

/* By address; one that overlaps the one before it is left out. */
static void sort_files(struct notes *n)
{
	struct file *files = (struct file *)(void *)n->files.data;
	uint64_t kept = 0;

	if (n->n_files)
		qsort(files, (size_t)n->n_files, sizeof(*files), ts_by_u64);
	for (uint64_t i = 0; i < n->n_files; i++) {
		if (!kept || files[i].start >= files[kept - 1].end)
			files[kept++] = files[i];
	}
	n->n_files = kept;
}

/* The mapped file at @addr, or NULL. */
static const struct file *find_file(const struct notes *n, uint64_t addr)
{
	uint64_t at = 0;

	TS_BISECT(at, n->n_files, i, file_at(n, i)->start <= addr);
	return at && addr < file_at(n, at - 1)->end ? file_at(n, at - 1) : NULL;
}

static void put_region(struct notes *n, uint64_t addr, uint64_t len, uint32_t prot, const struct file *f)
{
	struct ts_steps *out = &n->rec->base.initial;
	const char *name = f ? (const char *)n->names.data + f->name : NULL;
	uint64_t sp = initial_value(n->rec, n->rec->base.regs.regs[n->rec->base.regs.sp].regnum);
	bool is_stack = !f && sp >= addr && sp - addr < len;
	struct ts_map *m;

	m = ts_steps_map(out, addr, len, is_stack ? "stack" : NULL, is_stack ? 5 : 0, name,
			 name ? strlen(name) : 0);
	if (!m)
		return;
	m->prot = prot;
	m->file_off = f ? f->off + (addr - f->start) : 0;
	m->fill = TS_FILL_UNKNOWN;
}

/* Regions of which the core file has something, and those of mapped files of which it has nothing. */
static void put_regions(struct notes *n)
{
	const struct core *core = &n->rec->core;
	uint64_t room;

	for (size_t i = 0; i < core->n_loads; i++) {
		const struct core_load *l = &core->loads[i];

		put_region(n, l->addr, l->mem_len, l->prot, find_file(n, l->addr));
	}
	for (uint64_t i = 0; i < n->n_files; i++) {
		const struct file *f = file_at(n, i);

		if (!core_find(core, f->start, &room))
			put_region(n, f->start, room < f->end - f->start ? room : f->end - f->start, TS_PROT_READ, f);
	}
}

/* The program's entry point, as the auxiliary vector has it.  Returns false if that does not determine it. */
static bool find_entry(const struct gdbrecord *rec, uint64_t *entry)
{
	struct ts_error odd = { 0 };
	struct ts_cursor c;

	c = ts_cursor(rec->base.auxv, rec->base.auxv_len, 0, "auxiliary vector", &odd);
	while (c.left >= 2u * rec->core.word) {
		uint64_t type = core_take(&rec->core, &c, rec->core.word);

		*entry = core_take(&rec->core, &c, rec->core.word);
		if (type == AT_ENTRY)
			return true;
	}
	return false;
}

/* The program is the mapped file with the entry point. */
static bool find_program(struct notes *n)
{
	struct ts_recording *base = &n->rec->base;
	uint64_t entry;
	const struct file *f = find_entry(n->rec, &entry) ? find_file(n, entry) : NULL;

	if (!f)
		return true;
	base->exec_path = strdup((const char *)n->names.data + f->name);
	return base->exec_path || ts_no_memory(n->err, "the trace");
}

/* ------------------------------------------------------------------------------------------------ opening */

static unsigned probe(const uint8_t *head, size_t len, uint64_t)
{
	bool is_64;
	size_t at;

	if (len < sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) || memcmp(head, ELFMAG, SELFMAG) != 0)
		return 0;
	is_64 = head[EI_CLASS] == ELFCLASS64;
	at = is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	if (head[16] + head[17] != ET_CORE)
		return 0;
	return memcmp(head + at, "\0\0\0\0", 4) ? 40 : 72; /* program header 0 is usually the log's */
}

/*
 * The number of bytes from @addr on, @left at the most, that the core file has in one piece which the program cannot write.
 * *load gets the piece.  If *load is NULL, the core file has none of the returned number of bytes.
 */
static uint64_t find_constant(const struct core *core, uint64_t addr, uint64_t left,
			      const struct core_load **load)
{
	uint64_t room, n, there;

	*load = core_find(core, addr, &room);
	n = room < left ? room : left;
	if (!*load)
		return n;
	there = addr - (*load)->addr;
	if (there >= (*load)->file_len || (*load)->prot & TS_PROT_WRITE) {
		*load = NULL;
		return n;
	}
	return n < (*load)->file_len - there ? n : (*load)->file_len - there;
}

/* Does the core file have the same bytes as a segment of --exec that would lie at @addr? */
static bool compare_segment(void *user, uint64_t addr, uint64_t len, const struct ts_source *src,
			    uint64_t off, bool *is_same, struct ts_error *err)
{
	struct gdbrecord *rec = user;
	uint8_t mine[512], theirs[512];
	const struct core_load *load;

	for (uint64_t at = 0, n; at < len && *is_same; at += n) {
		n = find_constant(&rec->core, addr + at, len - at, &load);
		if (!load)
			continue;
		n = n < sizeof(mine) ? n : sizeof(mine);
		if (!ts_source_read_all(rec->core.src, load->off + (addr + at - load->addr), mine, (size_t)n,
					err))
			return false;
		if (!ts_source_read_all(src, off + at, theirs, (size_t)n, err))
			return ts_fail_prefix(err, "--exec");
		*is_same = memcmp(mine, theirs, (size_t)n) == 0;
		if (!*is_same)
			ts_recording_warn(&rec->base,
					  "--exec is not the program that was recorded: it differs at 0x%" PRIx64, addr + at);
	}
	return true;
}

/* Constant bytes of the program that gdb did not copy. */
static bool put_program(struct gdbrecord *rec, const struct ts_loader_options *opt, struct ts_error *err)
{
	uint64_t entry;
	bool has_entry = find_entry(rec, &entry);

	return kit_program_add(&rec->base.memory, opt->exec, opt->exec_base, has_entry ? &entry : NULL,
			       compare_segment, rec, err);
}

/* Memory stays in the file. */
static bool put_memory(struct gdbrecord *rec, struct ts_error *err)
{
	struct ts_source *src = ts_source_dup(rec->core.src, err);
	uint32_t source = src ? ts_image_add_source(&rec->base.memory, src) : UINT32_MAX;

	if (!src || source == UINT32_MAX)
		return ts_no_memory(err, "the trace");
	for (size_t i = 0; i < rec->core.n_loads; i++) {
		const struct core_load *l = &rec->core.loads[i];

		if (l->file_len &&
		    !ts_image_add(&rec->base.memory, 0, l->addr, l->file_len, source, l->off, err))
			return false;
	}
	return true;
}

/* The log's head, and gdb's count of its first group; there must be a whole one. */
static bool find_log(struct gdbrecord *rec, uint32_t *count, struct ts_error *err)
{
	struct ts_window w;
	struct ts_cursor c;
	struct log_record r = { .kind = LOG_REG };
	struct log_place at = { 0 };
	uint32_t magic;

	ts_window_init(&w, rec->core.src, rec->core.log_end);
	c = ts_cursor(NULL, 0, rec->core.log_off, "log", err);
	ts_window_ahead(&w, &c, 4);
	magic = ts_u32be(&c);
	if (ts_ok(&c) && magic == LOG_OLD_MAGIC)
		ts_fail(err, TS_EUNSUPPORTED, rec->core.log_off,
			"a log of gdb's development version of 2009-08-29, which was never released");
	else if (ts_ok(&c) && magic != LOG_MAGIC && magic != LOG_18_MAGIC)
		ts_fail(err, TS_ECORRUPT, rec->core.log_off,
			"the log begins with 0x%08" PRIx32 ", not 0x%08x or 0x%08x (gdb 18)", magic, LOG_MAGIC,
			LOG_18_MAGIC);
	rec->is_18 = at.is_18 = magic == LOG_18_MAGIC;
	rec->first = c.off;
	while (ts_ok(&c) && r.kind != LOG_END) {
		if (log_take(&w, &c, &rec->regs, &at, &r) && r.kind == LOG_MEM)
			log_skip(&w, &c, r.len);
	}
	*count = ts_ok(&c) ? r.count : 0;
	ts_window_fini(&w);
	return ts_ok(&c) || ts_fail_prefix(err, "no whole instruction is recorded");
}

/* rax at position 0 may be the result of a system call: then it is not known there. */
static bool judge_number(struct gdbrecord *rec, struct ts_error *err)
{
	struct ts_steps *b = &rec->base.initial;
	enum ahead_rax found = AHEAD_KEPT;
	struct ahead a;
	bool done = true;

	if (rec->abi->is_result_unlogged) {
		ahead_init(&a, &rec->regs, rec->core.src, rec->core.log_end, rec->is_18);
		done = ahead_look(&a, rec->first, &found, err);
		ahead_fini(&a);
	}
	rec->has_number = found == AHEAD_KEPT;
	for (uint32_t i = 0; i < b->n_effects && !rec->has_number; i++) {
		if (b->effects[i].kind == TS_FX_REG_WRITE && b->effects[i].addr == rec->regs.slots[0].off)
			b->effects[i].data = TS_NO_DATA;
	}
	return done;
}

static bool read_notes(struct gdbrecord *rec, struct ts_error *err)
{
	struct notes n = { .rec = rec, .err = err };
	bool done;

	ts_buf_init(&n.files);
	ts_buf_init(&n.names);
	done = core_each_note(&rec->core, take_note, &n, err);
	if (rec->core.n_notes_ignored)
		ts_recording_warn(&rec->base,
				  "%zu segments of notes overlap others or lie before them: they are ignored",
				  rec->core.n_notes_ignored);
	if (n.n_lists > 1)
		ts_recording_warn(&rec->base, "%" PRIu64 " lists of mapped files: the first one counts",
				  n.n_lists);
	if (done && !n.n_threads)
		done = ts_fail(err, TS_ECORRUPT, 0, "the core file has no thread (no PRSTATUS note)");
	if (n.n_threads > 1)
		ts_recording_warn(&rec->base,
				  "one of %" PRIu64 " threads was recorded: the others are not shown",
				  n.n_threads);
	if (done) {
		sort_files(&n);
		put_regions(&n);
		done = find_program(&n);
	}
	ts_buf_fini(&n.files);
	ts_buf_fini(&n.names);
	return done;
}

static bool fill(struct ts_recording *base, const struct ts_source *src, const struct ts_loader_options *opt,
		 struct ts_error *err)
{
	struct gdbrecord *rec = (struct gdbrecord *)base;
	uint32_t count;

	ts_warner_init(&rec->warner, base);
	if (!core_init(&rec->core, src, err) || !regs_set_init(&rec->base.regs, rec->core.arch, err))
		return false;
	regs_init(&rec->regs, &rec->base.regs);
	insn_code_init(&rec->code, &rec->core, &rec->base.regs);
	rec->abi = abi_of(rec->core.arch);
	for (unsigned i = 0; i < GDBRECORD_N_ABI; i++)
		rec->kept[rec->abi->regs[i]] = (uint8_t)(i + 1);
	rec->kept[rec->regs.pc] = GDBRECORD_KEPT_PC;
	if (rec->core.arch->has_thumb)
		rec->kept[REGS_ARM_CPSR] = GDBRECORD_KEPT_STATUS;
	snprintf(rec->base.os, sizeof(rec->base.os), "linux");
	rec->base.osabi = "GNU/Linux";
	rec->base.has_syscalls = true;
	rec->base.maps_are_modules = true;
	rec->base.absent_events =
		1u << TS_EV_EXIT | 1u << TS_EV_THREAD_END | 1u << TS_EV_INTERRUPT | 1u << TS_EV_GAP;
	if (!read_notes(rec, err) || !put_program(rec, opt, err) || !put_memory(rec, err) ||
	    !find_log(rec, &count, err) || !judge_number(rec, err))
		return false;
	if (rec->core.is_load_short)
		ts_recording_warn(&rec->base,
				  "the file ends before its memory does: the missing bytes are unknown");
	snprintf(rec->base.variant, sizeof(rec->base.variant), "record full%s, gdb's counts begin at %" PRIu32,
		 rec->is_18 ? " of gdb 18" : "", count);
	return !rec->base.initial.is_failed || ts_no_memory(err, "the trace");
}

static void close_recording(struct ts_recording *base)
{
	struct gdbrecord *rec = (struct gdbrecord *)base;

	core_fini(&rec->core);
}

extern const struct ts_loader gdbrecord_loader;
const struct ts_loader gdbrecord_loader = {
	.name = "gdbrecord",
	.summary = "gdb's own recordings (record full, record save)",
	.probe = probe,
	.ops = { .size = sizeof(struct gdbrecord), .reader = gdbrecord_reader, .close = close_recording },
	.fill = fill,
};
