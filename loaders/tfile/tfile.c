/* SPDX-License-Identifier: MIT */
/*
 * Trace files of gdb (`tsave`, and `tracestub export`): what a run of tracepoints collected.
 *
 *      7f "TRACE0\n"
 *      lines of text, up to an empty one:
 *        R SIZE       bytes of a block of registers, in hex
 *        status ...   how the run ended         } tracepoint.h
 *        tsv ...      a trace state variable    }
 *        tp ...       a piece of a tracepoint   }
 *        tdesc XML    a line of the target description
 *      frames, in the target's byte order:
 *        u16 tracepoint, not 0; u32 length; blocks of this length in all:
 *          'R'  registers, as in a 'g' packet
 *          'M'  u64 address, u16 length, memory
 *          'V'  s32 number, s64 value of a variable
 *          'S'  u16 length, data of a static marker
 *      u16 0, and whatever follows
 *
 * Frame k becomes position k.  A frame does not say which of its registers are valid: all registers in its
 * block are regarded as known.
 */
#include "trace.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/kit/program.h"
#include "loaders/loader.h"
#include "src/arch/tdesc.h"
#include "src/object/elf_image.h"

/* Limit on the bytes of a segment of the program that are used. */
#define MAX_SEGMENT (UINT64_C(64) << 20)

static unsigned probe(const uint8_t *head, size_t len, uint64_t)
{
	return len >= TFILE_MAGIC_LEN && !memcmp(head, TFILE_MAGIC, TFILE_MAGIC_LEN) ? 64 : 0;
}

/* ------------------------------------------------------------------------------------------- architecture */

/* The architecture in the byte order in which the frames make more sense. */
static const struct ts_arch *in_order_of_frames(const struct tfile *t, const struct ts_arch *arch)
{
	const struct ts_arch *other = ts_arch_in_order(arch, !arch->is_big_endian);

	return other && tfile_rate_order(t, other->is_big_endian) > tfile_rate_order(t, arch->is_big_endian)
		       ? other
		       : arch;
}

/* Registers as the file describes them. */
static bool read_description(struct tfile *t, struct ts_error *err)
{
	struct ts_regset *set = &t->base.regs;
	const struct ts_arch *arch;

	if (!ts_tdesc_parse(t->xml.data, t->xml.len, false, set, err)) {
		if (err->code != TS_ENOMEM)
			err->off = t->xml_off;
		return ts_fail_prefix(err, "target description");
	}
	arch = in_order_of_frames(t, set->arch);
	if (arch == set->arch)
		return true;
	ts_regset_fini(set);
	return ts_tdesc_parse(t->xml.data, t->xml.len, arch->is_big_endian, set, err);
}

/* The processor of the program's file, as gdb's target tfile takes it; NULL if that does not determine it. */
static const struct ts_arch *arch_of_program(const char *path)
{
	const struct ts_arch *arch = NULL;
	struct ts_source *src;
	struct ts_error odd = { 0 };
	struct ts_elf elf;

	src = ts_source_open(path, &odd);
	if (src && ts_elf_init(&elf, src, &odd)) {
		arch = ts_elf_arch(&elf);
		ts_elf_fini(&elf);
	}
	ts_source_close(src);
	return arch;
}

/* The processor that the file does not describe: by its name, else that of the program. */
static bool use_options(struct tfile *t, const struct ts_loader_options *opt, struct ts_error *err)
{
	const struct ts_arch *arch = NULL;

	if (opt->arch)
		arch = ts_arch_find(opt->arch);
	else if (opt->exec)
		arch = arch_of_program(opt->exec);
	if (!arch && opt->arch)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "no architecture is called '%s'", opt->arch);
	if (!arch)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF,
			       "the file does not describe its processor: name it with --arch NAME, or give "
			       "the program (an ELF file) with --exec FILE");
	return ts_regset_init(&t->base.regs, in_order_of_frames(t, arch), 0, err);
}

/* The registers of an undescribed block: the optional features are added, in order, up to its size. */
static bool choose_features(struct tfile *t, struct ts_error *err)
{
	const struct ts_arch *arch = t->base.regs.arch;
	uint32_t mask = 0;

	for (unsigned i = 0; i < arch->n_features && t->base.regs.g_len < t->reg_len; i++) {
		struct ts_regset set;

		if (!arch->features[i].is_optional)
			continue;
		if (!ts_regset_init(&set, arch, mask | 1u << i, err))
			return false;
		if (set.g_len > t->reg_len) {
			ts_regset_fini(&set);
			continue;
		}
		mask |= 1u << i;
		ts_regset_fini(&t->base.regs);
		t->base.regs = set;
	}
	if (t->base.regs.g_len != t->reg_len)
		ts_recording_warn(&t->base,
				  "registers of %" PRIu64 " bytes are not described, %s's have %" PRIu32
				  ": they may be at other offsets",
				  t->reg_len, arch->name, t->base.regs.g_len);
	return true;
}

static bool choose_arch(struct tfile *t, const struct ts_loader_options *opt, struct ts_error *err)
{
	if (!(t->xml.len ? read_description(t, err) : use_options(t, opt, err)))
		return false;
	t->is_big_endian = t->base.regs.arch->is_big_endian;
	t->base.has_long_steps = true; /* what ran between two frames is not in the file */
	t->base.osabi = t->base.regs.osabi;
	t->base.absent_events = (1u << TS_N_EVENT_KINDS) - 1;
	return true;
}

/* ------------------------------------------------------------------------------------------------ opening */

/* The size of registers is hex, but people write it in decimal, as the manual says. */
static bool check_reg_len(struct tfile *t, struct ts_error *err)
{
	if (!t->is_reg_len_decimal || tfile_fits(t, t->reg_len, err) || err->code != TS_OK ||
	    !tfile_fits(t, t->reg_len_decimal, err) || err->code != TS_OK)
		return err->code == TS_OK;
	ts_recording_warn(&t->base, "the size of the registers is read as a decimal number: %" PRIu64,
			  t->reg_len_decimal);
	t->reg_len = t->reg_len_decimal;
	return true;
}

/* Whole registers that lie in a block. */
static void measure_registers(struct tfile *t)
{
	const struct ts_regset *set = &t->base.regs;

	for (unsigned i = 0; i < set->n_regs && set->regs[i].off + set->regs[i].len <= t->reg_len; i++)
		t->known_len = set->regs[i].off + set->regs[i].len;
	if (t->reg_len > set->g_len)
		ts_recording_warn(&t->base,
				  "the last %" PRIu64 " of %" PRIu64 " bytes of registers are not described",
				  t->reg_len - set->g_len, t->reg_len);
}

/* A file that was saved in the middle of a run: nothing runs any more. */
static void stop_run(struct ts_run_status *s)
{
	if (s->is_running)
		s->end = TS_RUN_UNKNOWN;
	s->is_running = false;
}

static bool find_frames(struct tfile *t, struct ts_error *err)
{
	if (!tfile_find_frames(t, err))
		return false;
	if (!t->frames.n_frames && t->damage.code != TS_OK) {
		*err = t->damage;
		return false;
	}
	if (!t->frames.n_frames)
		ts_recording_warn(&t->base,
				  "there is no trace frame: only the program's constant bytes are known");
	if (t->damage.code != TS_OK)
		ts_fail_prefix(&t->damage, "after %" PRIu64 " frames", t->frames.n_frames);
	return tfile_sort_frames(t, err) && check_reg_len(t, err);
}

/* Append a segment of the program that the program cannot write. */
static bool put_segment(struct tfile *t, const struct ts_source *src, const struct ts_elf_load *load, uint64_t moved,
			struct ts_error *err)
{
	struct ts_steps *out = &t->base.initial;
	uint64_t len = load->file_len < MAX_SEGMENT ? load->file_len : MAX_SEGMENT;
	uint8_t *bytes = len && !(load->prot & TS_PROT_WRITE) ? malloc((size_t)len) : NULL;
	bool done = !bytes || ts_source_read_all(src, load->file_off, bytes, (size_t)len, err);
	struct ts_map *m = bytes && done ? ts_steps_map(out, load->addr + moved, len, "exe", 3, NULL, 0) : NULL;
	struct ts_effect *e = m ? ts_steps_value(out, TS_FX_WRITE, load->addr + moved, bytes, (uint32_t)len) : NULL;

	if (e) {
		m->prot = load->prot;
		e->is_hidden = true;
	}
	if (bytes && len < load->file_len)
		ts_recording_warn(&t->base, "a segment of the program is longer than 64 MiB: the rest of it is not used");
	free(bytes);
	return done;
}

/*
 * As gdb does: the program's own bytes where it cannot have changed them, with the lowest page at *@base, else (NULL) where
 * it is linked.  A position-independent program says nothing without a base.
 */
static bool put_program(struct tfile *t, const char *path, const uint64_t *base, struct ts_error *err)
{
	struct ts_source *src = path ? ts_source_open(path, err) : NULL;
	struct ts_elf elf = { 0 };
	struct ts_error odd = { 0 };
	bool done = !path || src;

	if (src && ts_elf_init(&elf, src, &odd)) {
		uint64_t moved = base ? kit_program_moved(&elf, *base) : 0;

		for (size_t i = 0; done && (base || elf.type == ET_EXEC) && i < elf.n_loads; i++)
			done = put_segment(t, src, &elf.loads[i], moved, err);
		ts_elf_fini(&elf);
	}
	t->n_program = t->base.initial.n_effects;
	ts_source_close(src);
	return done;
}

/* Position 0; without frames only the program is known there. */
static bool put_first_frame(struct tfile *t, struct ts_error *err)
{
	if (!t->frames.n_frames)
		return true;
	if (!tfile_load(t, 0, t->scratch, err))
		return false;
	tfile_put_change(t, NULL, t->scratch, &t->base.initial);
	return !t->base.initial.is_failed || ts_no_memory(err, "the first frame");
}

/* Bytes that a reader holds for a block of memory: of two frames the blocks, their ranges, and what differs in one step. */
#define MEMORY_A_BLOCK 256u

static bool fill(struct ts_recording *base, const struct ts_source *src, const struct ts_loader_options *opt,
		 struct ts_error *err)
{
	struct tfile *t = (struct tfile *)base;

	ts_warner_init(&t->warner, base);
	ts_tracing_init(&t->tracing);
	ts_buf_init(&t->xml);
	ts_error_reset(&t->damage);
	t->src = src;
	t->max_blocks = opt->max_memory ? opt->max_memory / MEMORY_A_BLOCK : UINT64_MAX;
	t->scratch = calloc(1, sizeof(*t->scratch));
	if (!t->scratch || ts_recording_thread(&t->base, 0, 1, 1) == TS_NO_THREAD)
		return ts_no_memory(err, "the trace");
	if (!tfile_read_header(t, err) || !choose_arch(t, opt, err) || !find_frames(t, err))
		return false;
	if (!t->xml.len && !choose_features(t, err))
		return false;
	measure_registers(t);
	stop_run(&t->tracing.status);
	snprintf(t->base.variant, sizeof(t->base.variant), "TRACE0, %" PRIu32 " tracepoints, %s-endian",
		 t->tracing.n_points, t->is_big_endian ? "big" : "little");
	tfile_init_frames(t);
	t->base.tracing = &t->tracing;
	t->base.frames = &t->frames;
	return put_program(t, opt->exec, opt->exec_base, err) && put_first_frame(t, err);
}

static void close_recording(struct ts_recording *rec)
{
	struct tfile *t = (struct tfile *)rec;

	if (t->scratch)
		tfile_frame_fini(t->scratch);
	free(t->scratch);
	free(t->places);
	free(t->order);
	free(t->order_of);
	free(t->numbers);
	ts_buf_fini(&t->xml);
	ts_tracing_fini(&t->tracing);
}

const struct ts_loader tfile_loader = {
	.name = "tfile",
	.summary = "gdb's trace files",
	.probe = probe,
	.ops = { .size = sizeof(struct tfile), .reader = tfile_reader, .close = close_recording },
	.fill = fill,
};
