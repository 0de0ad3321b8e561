/* SPDX-License-Identifier: MIT */
/*
 * Tenet logs: opening.  The processor is found by the names of registers, the rest by the first lines
 * (tracer.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loaders/kit/program.h"
#include "loaders/kit/threads.h"
#include "loaders/loader.h"
#include "log.h"

/* Enough to distinguish it from other texts, and less than any magic number. */
#define EVIDENCE 24u

static unsigned probe(const uint8_t *head, size_t len, uint64_t)
{
	struct tenet_head h;

	tenet_head_scan(&h, head, len);
	return tenet_head_is_log(&h) ? EVIDENCE : 0;
}

/* ------------------------------------------------------------------------------------------------ opening */

static bool refuse(const struct tenet_head *h, struct ts_error *err)
{
	if (h->is_utf16)
		return ts_fail(err, TS_EUNSUPPORTED, 0, "UTF-16 text: convert it to ASCII first");
	if (!h->n_lists)
		return ts_fail(err, TS_EUNSUPPORTED, 0, "none of the first lines is a list of NAME=VALUE");
	return ts_fail(err, TS_EUNSUPPORTED, 0, "none of the first lines has rip, eip or pc");
}

/* By the names of registers; logs of "pc" alone need --arch. */
static const struct ts_arch *choose_arch(const struct tenet_head *h, const struct ts_loader_options *opt)
{
	if (!h->arch && opt->arch) {
		const struct ts_arch *arch = ts_arch_find(opt->arch);

		return arch && (!strcmp(arch->name, "aarch64") || !strcmp(arch->name, "arm")) ? arch : NULL;
	}
	return h->arch ? ts_arch_find(h->arch) : NULL;
}

static bool choose_registers(struct tenet *rec, const struct ts_arch *arch, struct ts_error *err)
{
	static const char *const wanted[] = { "org.gnu.gdb.i386.sse", "org.gnu.gdb.i386.segments",
					      "org.tracestub.i386.segments" };

	if (!ts_regset_init(&rec->base.regs, arch,
			    ts_arch_features(arch, wanted, sizeof(wanted) / sizeof(wanted[0])), err))
		return false;
	tenet_names_init(&rec->names, &rec->base.regs);
	return true;
}

/* Processor and names, by the beginning of the first file. */
static bool read_head(struct tenet *rec, const struct ts_loader_options *opt, struct ts_error *err)
{
	uint8_t bytes[TS_PROBE_LEN];
	const struct ts_arch *arch;
	struct tenet_head h;
	size_t len;

	if (!ts_source_read(rec->parts[0].src, 0, bytes, sizeof(bytes), &len, err))
		return false;
	if (!len)
		return ts_fail(err, TS_EUNSUPPORTED, 0, "the file is empty");
	tenet_head_scan(&h, bytes, len);
	if (h.is_utf16 || !h.has_pc || !h.n_lists)
		return refuse(&h, err);
	arch = choose_arch(&h, opt);
	if (!arch)
		return ts_fail(err, TS_EUNSUPPORTED, 0,
			       "\"pc\" alone does not identify the processor: give --arch aarch64 or --arch arm");
	return choose_registers(rec, arch, err);
}

static bool is_listed(const struct ts_steps *b, uint32_t n, uint32_t off)
{
	for (; n < b->n_effects; n++) {
		if (b->effects[n].kind == TS_FX_REG_WRITE && off - b->effects[n].addr < b->effects[n].len)
			return true;
	}
	return false;
}

/* The registers that the first line, whose effects begin at @n, leaves out: inferred to be 0. */
static void tell_zeros(struct tenet *rec, uint32_t n)
{
	static const uint8_t zero[8];
	struct ts_steps *b = &rec->base.initial;

	for (uint32_t i = 0; i < rec->names.map.n_slots; i++) {
		const struct regmap_slot *s = &rec->names.map.slots[i];

		if (s->kind == REGMAP_REG && !is_listed(b, n, s->off))
			ts_steps_value(b, TS_FX_REG_READ, s->off, zero, s->len);
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Each file is a thread, whose registers are known from the beginning. */
static bool read_part(struct tenet *rec, uint32_t i, struct ts_error *err)
{
	struct ts_steps *initial = &rec->base.initial;
	uint32_t thread = ts_recording_add_thread(&rec->base, 0, 1, i + 1), n;
	struct ts_effect *e;

	if (thread == TS_NO_THREAD)
		return ts_no_memory(err, "a thread");
	if (rec->n_parts > 1)
		snprintf(rec->base.threads[i].name, sizeof(rec->base.threads[i].name), "%.31s",
			 base_name(ts_source_name(rec->parts[i].src)));
	e = i ? ts_steps_effect(initial, TS_FX_THREAD, 0, 0) : NULL;
	if (e)
		e->item = i;
	n = initial->n_effects;
	if (!tenet_read_start(rec, i, initial, err))
		return false;
	if (rec->writer.is_zero_absent)
		tell_zeros(rec, n);
	return true;
}

static void describe(struct tenet *rec)
{
	const struct tenet_writer *w = &rec->writer;
	const char *whose = w->is_own ? "the line's own" : "the previous";

	if (w->n_own || w->n_previous)
		snprintf(rec->base.variant, sizeof(rec->base.variant),
			 "accesses of %s instruction (%u votes to %u)", whose,
			 w->is_own ? w->n_own : w->n_previous, w->is_own ? w->n_previous : w->n_own);
	else
		snprintf(rec->base.variant, sizeof(rec->base.variant),
			 "accesses of %s instruction (no votes)", whose);
}

/* The program's code, where the user says that it lies, or the list of images. */
static bool add_program(struct tenet *rec, const struct ts_loader_options *opt, struct ts_error *err)
{
	struct ts_loader_options placed = *opt;
	uint64_t base;

	if (opt->exec && !opt->exec_base && tenet_find_image(&rec->base.initial, opt->exec, &base))
		placed.exec_base = &base;
	return kit_program_add(&rec->base.memory, placed.exec, placed.exec_base, NULL, NULL, NULL, err);
}

static bool take_files(struct tenet *rec, const struct ts_source *src, const struct ts_loader_options *opt,
		       struct ts_error *err)
{
	uint64_t *hash = &rec->base.other_files;

	if (opt->n_threads >= THREADS_MAX)
		return ts_fail(err, TS_ELIMIT, TS_NO_OFF, "more than %u files", THREADS_MAX);
	rec->n_parts = 1 + (uint32_t)opt->n_threads;
	rec->parts = calloc(rec->n_parts, sizeof(*rec->parts));
	if (!rec->parts)
		return ts_no_memory(err, "the recording");
	rec->parts[0].src = src;
	for (uint32_t i = 1; i < rec->n_parts; i++) {
		rec->parts[i].src = opt->threads[i - 1];
		*hash = (*hash ^ ts_source_len(rec->parts[i].src)) * UINT64_C(0x9e3779b97f4a7c15);
		*hash = (*hash ^ ts_source_mtime(rec->parts[i].src)) * UINT64_C(0x9e3779b97f4a7c15);
	}
	if (rec->n_parts > 1)
		ts_recording_warn(&rec->base,
				  "when the threads ran is not in their logs: they are shown one after the "
				  "other, each with the memory that it saw itself");
	return true;
}

static bool fill(struct ts_recording *base, const struct ts_source *src, const struct ts_loader_options *opt,
		 struct ts_error *err)
{
	struct tenet *rec = (struct tenet *)base;

	tenet_damages_init(&rec->damages, base);
	if (!take_files(rec, src, opt, err) || !read_head(rec, opt, err) || !tenet_writer_find(rec, err))
		return false;
	for (uint32_t i = 0; i < rec->n_parts; i++) {
		if (!read_part(rec, i, err))
			return false;
	}
	if (!tenet_read_images(rec->parts[0].src, &rec->base.initial, err) || !add_program(rec, opt, err))
		return false;
	describe(rec);
	rec->base.is_before = rec->n_parts > 1;
	rec->base.guesses_lengths = true;
	rec->base.has_reads = rec->writer.has_reads;
	rec->base.absent_events = 1u << TS_EV_SYSCALL | 1u << TS_EV_SIGNAL | 1u << TS_EV_FAULT |
				  1u << TS_EV_EXIT | 1u << TS_EV_INTERRUPT;
	return !rec->base.initial.is_failed || ts_no_memory(err, "the state at position 0");
}

static void close_recording(struct ts_recording *base)
{
	struct tenet *rec = (struct tenet *)base;

	free(rec->parts);
}

static struct ts_reader *new_reader(struct ts_recording *base, struct ts_error *err)
{
	return tenet_reader_new((struct tenet *)base, err);
}

extern const struct ts_loader tenet_loader;
const struct ts_loader tenet_loader = {
	.name = "tenet",
	.summary = "Tenet text logs of pintenet, wtf, PANDA, Qiling, sogen and others",
	.probe = probe,
	.has_thread_files = true,
	.ops = { .size = sizeof(struct tenet), .reader = new_reader, .close = close_recording },
	.fill = fill,
};
