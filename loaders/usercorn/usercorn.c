/* SPDX-License-Identifier: MIT */
/*
 * UCIR, the execution trace of Usercorn: the file's header, and what kind of trace it is.
 *
 *      off len
 *        0   4  "UCIR"
 *        4   4  version: 0, 1 in either byte order, or 2 in big-endian order
 *        8  32  architecture, NUL-padded
 *       40  32  operating system, NUL-padded
 *       72   1  byte order of code: 0 little, 1 big
 *       73   1  byte order of data
 *       74      the op stream (ops.h): in snappy framing (snappy.h) if the framing's identifier is
 *               here, else plain
 *
 * Version 0 is the written specification, version 1 what the tool writes, version 2 what tracestub record
 * writes (tracestub-ucir2(7)).  The first frame is a keyframe, the
 * state at the start.  Traces of the tool's first months have the same version word and other layouts; they
 * are recognised and refused by name.
 */
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "loaders/kit/snappy.h"
#include "loaders/loader.h"
#include "ops.h"
#include "src/base/cursor.h"

#define MAGIC "UCIR"
#define HEADER_LEN 74
#define NAME_LEN 32

/* The identifier of a framed stream, where the layouts of May 2017 had it. */
#define FIRST_LAYOUT_START 80
#define SECOND_LAYOUT_START 72

struct header {
	uint8_t version[4];
	char arch[NAME_LEN + 1];
	char os[NAME_LEN + 1];
	uint8_t code_order, data_order;
};

/* -------------------------------------------------------------------------------- header */

static bool is_version_known(const uint8_t v[4])
{
	return !v[1] && !v[2] && ((!v[0] && v[3] <= 2) || (v[0] == 1 && !v[3]));
}

static uint8_t version_of(const struct header *h)
{
	return h->version[0] | h->version[3];
}

static unsigned probe(const uint8_t *head, size_t len, uint64_t)
{
	if (len < 4 || memcmp(head, MAGIC, 4) != 0)
		return 0;
	return len >= 8 && is_version_known(head + 4) ? 64 : 32;
}

/* A padded name, of which only printable characters can matter. */
static void read_name(struct ts_cursor *c, char name[NAME_LEN + 1])
{
	const uint8_t *p = ts_take(c, NAME_LEN);
	size_t n = 0;

	for (; p && n < NAME_LEN && p[n]; n++)
		name[n] = (char)(p[n] > ' ' && p[n] < 0x7f ? p[n] : '?');
	name[n] = '\0';
}

static bool has_identifier(const struct ts_source *src, uint64_t off)
{
	uint8_t bytes[SNAPPY_IDENTIFIER_LEN];
	struct ts_error err = { 0 };
	size_t got;

	return ts_source_read(src, off, bytes, sizeof(bytes), &got, &err) && got == sizeof(bytes) &&
	       memcmp(bytes, SNAPPY_IDENTIFIER, sizeof(bytes)) == 0;
}

static bool refuse_old(uint64_t off, struct ts_error *err)
{
	return ts_fail(
		err, TS_EUNSUPPORTED, off,
		"a revision of 2017 wrote this trace, before the layout of 14 September 2017 that is in"
		" use since: record it again with a later Usercorn");
}

static bool check_header(const struct header *h, const struct ts_source *src, struct ts_error *err)
{
	if (!is_version_known(h->version))
		return ts_fail(err, TS_EUNSUPPORTED, 4, "version word %02x%02x%02x%02x, 0, 1 and 2 are known",
			       h->version[0], h->version[1], h->version[2], h->version[3]);
	if (!has_identifier(src, HEADER_LEN)) {
		if (has_identifier(src, FIRST_LAYOUT_START))
			return refuse_old(FIRST_LAYOUT_START, err);
		if (has_identifier(src, SECOND_LAYOUT_START))
			return refuse_old(SECOND_LAYOUT_START, err);
	}
	if (!ucir_arch_find(h->arch, version_of(h)))
		return ts_fail(err, TS_EUNSUPPORTED, 8, "unknown architecture \"%s\", known are %s", h->arch,
			       ucir_arch_names(version_of(h)));
	if (h->code_order > 1 || h->data_order > 1)
		return ts_fail(err, TS_ECORRUPT, h->code_order > 1 ? 72 : 73,
			       "byte orders of code and data are %u and %u, but only 0 (little) and 1 (big) "
			       "are known",
			       h->code_order, h->data_order);
	return true;
}

static bool read_header(struct header *h, const struct ts_source *src, struct ts_error *err)
{
	uint8_t bytes[HEADER_LEN];
	struct ts_cursor c;
	size_t got;

	if (!ts_source_read(src, 0, bytes, sizeof(bytes), &got, err))
		return false;
	if (got < 4 || memcmp(bytes, MAGIC, 4) != 0)
		return ts_fail(err, TS_EUNSUPPORTED, 0, "not a Usercorn trace: it does not begin with %s",
			       MAGIC);
	if (got < HEADER_LEN)
		return ts_fail(err, TS_ETRUNC, got, "the header has %d bytes but the file only %zu",
			       HEADER_LEN, got);
	c = ts_cursor(bytes + 4, sizeof(bytes) - 4, 4, "header", err);
	memcpy(h->version, ts_take(&c, 4), 4);
	read_name(&c, h->arch);
	read_name(&c, h->os);
	h->code_order = ts_u8(&c);
	h->data_order = ts_u8(&c);
	return check_header(h, src, err);
}

/* -------------------------------------------------------------------------------- recording */

static void close_recording(struct ts_recording *base)
{
	struct usercorn *rec = (struct usercorn *)base;

	if (rec->bytes.is_framed)
		snappy_frames_fini(&rec->bytes.frames);
	free(rec->contents);
}

static struct ts_reader *new_reader(struct ts_recording *base, struct ts_error *err)
{
	return ucir_reader_new((struct usercorn *)base, err);
}

static void take_header(struct usercorn *rec, const struct header *h)
{
	bool is_big = h->data_order == 1;

	rec->version = version_of(h);
	rec->arch = ucir_arch_find(h->arch, rec->version);
	rec->model = ts_arch_find(rec->arch->model);
	if (rec->model->is_big_endian != is_big && rec->arch->is_one_order)
		ts_recording_warn(&rec->base, "the header has %s-endian, which %s cannot be",
				  is_big ? "big" : "little", rec->arch->name);
	else if (rec->model->is_big_endian != is_big)
		rec->model = ts_arch_in_order(rec->model, is_big);
	rec->is_code_big_endian = rec->arch->is_one_order ? rec->model->is_big_endian : h->code_order == 1;
	rec->addr_mask = ts_arch_addr_mask(rec->model);
	rec->slots[rec->arch->pc].kind = UCIR_SLOT_PC;
	memcpy(rec->base.os, h->os, sizeof(rec->base.os));
	rec->base.osabi = strcmp(h->os, "linux") == 0 ? "GNU/Linux" : NULL;
}

/* Find the op stream: framed if its first byte cannot be an op, or if it must be. */
static bool find_stream(struct usercorn *rec, const struct ts_source *src, const struct usercorn *like,
			struct ts_error *err)
{
	uint64_t len = ts_source_len(src);
	uint8_t first = 0;
	size_t got;

	if (len == HEADER_LEN)
		return ts_fail(
			err, TS_EUNSUPPORTED, HEADER_LEN,
			"a trace without any frame: only registers were asked for, or nothing was executed");
	if (!ts_source_read(src, HEADER_LEN, &first, 1, &got, err))
		return false;
	rec->bytes.src = src;
	rec->bytes.start = HEADER_LEN;
	rec->bytes.end = len;
	rec->bytes.is_framed = rec->version || first == 0xff;
	if (rec->bytes.is_framed) {
		if (!snappy_table_open(&rec->bytes.frames, src, HEADER_LEN, like ? &like->bytes.frames : NULL,
				       err)) {
			rec->bytes.is_framed = false;
			return false;
		}
		rec->bytes.start = 0;
		rec->bytes.end = rec->bytes.frames.len;
	}
	snprintf(rec->base.variant, sizeof(rec->base.variant), "version %u, %s", rec->version,
		 rec->bytes.is_framed ? "snappy-framed" : "plain");
	return true;
}

/* -------------------------------------------------------------------------------- old layouts */

/* Is there a MEM_WRITE to @addr at @at of the @n bytes? */
static bool is_write_of(const uint8_t *p, size_t n, size_t at, const uint8_t addr[8])
{
	return at < n && n - at >= 9 && p[at] == UCIR_WRITE && memcmp(p + at + 1, addr, 8) == 0;
}

static size_t u16_at(const uint8_t *p, size_t at)
{
	return (size_t)p[at] | (size_t)p[at + 1] << 8;
}

/*
 * The @n bytes at @p begin with the first MEM_MAP of a keyframe, which a MEM_WRITE to the same address
 * follows.  Its offset shows whether it has one of the layouts of 2017:
 *
 *      until 9 September   addr u64, length u64, prot u8, flag u8
 *      until 12 September  the same, and if flag: lengths of both strings u16, offset u64 (length u64
 *                          later), strings
 *      13 September        fields overlap (strings from byte 36 on), two spare bytes at the end
 */
static bool is_old_map(const uint8_t *p, size_t n)
{
	const uint8_t *addr = p + 1;

	if (n < 38 || is_write_of(p, n, 38 + u16_at(p, 34) + u16_at(p, 36), addr))
		return false;
	if (is_write_of(p, n, 19, addr))
		return true;
	if (p[18] == 1 && (is_write_of(p, n, 31 + u16_at(p, 19) + u16_at(p, 21), addr) ||
			   is_write_of(p, n, 39 + u16_at(p, 19) + u16_at(p, 21), addr)))
		return true;
	return is_write_of(p, n, 38 + u16_at(p, 32) + u16_at(p, 34), addr);
}

/* Refuse a trace whose keyframe has an old MEM_MAP.  Anything else that is odd is found later. */
static bool check_layout(const struct usercorn *rec, struct ts_error *err)
{
	struct ucir_stream s;
	struct ts_error ignored = { 0 };
	struct ucir_op op;
	const uint8_t *p;
	uint64_t n;
	bool is_old = false, is_good;

	if (rec->version != 1 || !rec->bytes.is_framed)
		return true;
	if (!ucir_stream_init(&s, &rec->bytes, err))
		return false;
	do {
		n = ucir_stream_left(&s) < 4096 ? ucir_stream_left(&s) : 4096;
		p = n ? ucir_stream_need(&s, n, &ignored) : NULL;
		if (p && *p == UCIR_MAP)
			is_old = is_old_map(p, (size_t)n);
		is_good = p && ucir_op_read(&s, rec->version, &op, &ignored);
	} while (is_good && (op.kind == UCIR_KEYFRAME || op.kind == UCIR_REG));
	ucir_stream_fini(&s);
	return !is_old || refuse_old(ucir_bytes_file_off(&rec->bytes, op.off), err);
}

/* -------------------------------------------------------------------------------- initial state */

/* No STEP: what was recorded instead? */
static bool refuse(const struct ucir_start *start, struct ts_error *err)
{
	if (!start->n_frames)
		return ts_fail(err, TS_EUNSUPPORTED, HEADER_LEN, "a trace without any frame");
	if (start->has_jmp)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
			       "it holds basic blocks but no instruction (no STEP): record it with "
			       "instruction tracing");
	if (start->has_syscall)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
			       "it holds system calls but no executed instruction (no STEP): record it with "
			       "instruction tracing");
	return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "it holds no executed instruction (no STEP)");
}

/* The features that hold a register of the trace, and those by which gdb knows the system. */
static uint32_t choose_features(const struct usercorn *rec, const bool seen[UCIR_N_REGS])
{
	return ucir_arch_features(rec->arch, rec->model, seen) |
	       ts_arch_os_features(rec->model, rec->base.osabi);
}

/* The number of ops that are searched for accesses; no program runs longer without memory. */
#define MAX_LOOK_OPS (1u << 20)

/*
 * *has gets whether an instruction's access is among the first ops of @s.  Those of keyframes are state, and
 * those of system calls the kernel's.
 *
 * Returns false if the trace cannot be read; damage is reported when the steps there are read.
 */
static bool find_access(const struct usercorn *rec, struct ucir_stream *s, bool *has, struct ts_error *err)
{
	uint32_t n_state = 0;
	struct ucir_op op;

	*has = false;
	for (uint32_t i = 0; i < MAX_LOOK_OPS && !*has && ucir_stream_left(s); i++) {
		if (!ucir_op_read(s, rec->version, &op, err)) {
			if (err->code == TS_EIO || err->code == TS_ENOMEM)
				return false;
			ts_error_reset(err);
			return true;
		}
		if (n_state) {
			n_state--;
			continue;
		}
		if (ucir_is_holder(op.kind) && op.kind != UCIR_FRAME)
			n_state = op.n_ops;
		*has = op.kind == UCIR_READ || op.kind == UCIR_WRITE;
	}
	return true;
}

/*
 * Were memory accesses recorded?  The specifications have no way to leave them out; the tool has an option,
 * and without it writes none.
 */
static bool find_reads(struct usercorn *rec, struct ts_error *err)
{
	struct ucir_stream s;
	bool done;

	rec->base.has_reads = rec->version != 1;
	if (rec->version != 1)
		return true;
	done = ucir_stream_init(&s, &rec->bytes, err) && find_access(rec, &s, &rec->base.has_reads, err);
	ucir_stream_fini(&s);
	if (done && !rec->base.has_reads)
		ts_recording_warn(
			&rec->base,
			"memory accesses were not recorded: memory is shown as it was at the start");
	return done;
}

/* Examine the trace up to the first step, to know which registers it has, then read the state there. */
static bool read_state(struct usercorn *rec, struct ts_error *err)
{
	struct ucir_start look = { 0 }, start = { .initial = &rec->base.initial };
	enum ts_next got = ucir_read_start(rec, &look, err);

	if (got == TS_END)
		return refuse(&look, err);
	if (got == TS_FAIL)
		return err->code == TS_ETRUNC ? ts_fail_prefix(err, "nothing to serve") : false;
	if (!ts_regset_init(&rec->base.regs, rec->model, choose_features(rec, look.seen), err))
		return false;
	if (rec->version < 2 && (!strcmp(rec->arch->name, "x86_64") || !strcmp(rec->arch->name, "x86"))) {
		ts_x86_init(&rec->x86, &rec->base.regs);
		rec->n_gprs = rec->x86.is_64 ? 16 : 8;
	}
	ucir_arch_slots(rec->arch, &rec->base.regs, rec->n_gprs, rec->slots);
	if (ucir_read_start(rec, &start, err) != TS_ITEM)
		return false;
	if (rec->base.initial.is_failed)
		return ts_no_memory(err, "the initial state");
	if (!start.has_keyframe)
		ts_recording_warn(&rec->base,
				  "the trace has no keyframe: registers and memory are unknown at its start");
	return find_reads(rec, err);
}

static bool find_exec_path(struct usercorn *rec, struct ts_error *err)
{
	const struct ts_steps *b = &rec->base.initial;

	for (uint32_t i = 0; i < b->n_maps && !rec->base.exec_path; i++) {
		const char *desc = ts_steps_text(b, b->maps[i].desc),
			   *file = ts_steps_text(b, b->maps[i].file);

		if (!desc || !file || strcmp(desc, "exe") != 0)
			continue;
		rec->base.exec_path = strdup(file);
		if (!rec->base.exec_path)
			return ts_no_memory(err, "the program's name");
	}
	return true;
}

static bool fill(struct ts_recording *base, const struct ts_source *src, const struct ts_loader_options *opt,
		 struct ts_error *err)
{
	const struct usercorn *like = (const struct usercorn *)opt->like;
	struct usercorn *rec = (struct usercorn *)base;
	struct header h;

	ts_warner_init(&rec->warner, base);
	if (!read_header(&h, src, err))
		return false;
	take_header(rec, &h);
	if (!find_stream(rec, src, like, err) || !check_layout(rec, err) || !read_state(rec, err) ||
	    (rec->version < 2 && !ucir_place(rec, like, opt->exec, err)) || !ucir_index_contents(rec, err))
		return false;
	rec->base.maps_are_modules = true;
	rec->base.absent_events = 1u << TS_EV_INTERRUPT | (rec->version < 2 ? 1u << TS_EV_SIGNAL : 0);
	rec->base.has_syscalls = true; /* whether any was traced shows only at the trace's end */
	if (strcmp(rec->arch->name, "x86_16") == 0)
		ts_recording_warn(
			&rec->base,
			"the upper halves of the 32-bit registers are not recorded and shown as zero");
	return find_exec_path(rec, err) && ucir_read_stack(rec, err);
}

const struct ts_loader usercorn_loader = {
	.name = "usercorn",
	.summary = "tracestub record (UCIR 2), Usercorn (UCIR 0 and 1)",
	.probe = probe,
	.ops = { .size = sizeof(struct usercorn), .reader = new_reader, .close = close_recording },
	.fill = fill,
};
