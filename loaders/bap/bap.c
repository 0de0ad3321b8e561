/* SPDX-License-Identifier: MIT */
/*
 * BAP's frames: the container.
 *
 *      off len
 *        0   8  magic 25 60 af 8a 82 28 7c 67
 *        8   8  version: 1, 2 or 3
 *       16   8  architecture, 24 8 machine: numbers of an old BFD (arch.c)
 *       32   8  n, how many frames; 0 until the recorder closes the file
 *       40   8  T, file offset of the index; 0 until then
 *       48   8  from version 2 on: length of the meta frame, which names the recorder and the program; then it
 *        .      frames: length (8), message; one after the other
 *        T   8  m, then file offsets (8 each) of frames m, 2m, ...
 *
 * Numbers are little-endian whatever the target.  Messages are those of schema.c, in protobuf's encoding.
 * The index is not needed (toc.c).
 */
#include "trace.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame_template.h"
#include "loaders/loader.h"
#include "schema.h"
#include "src/base/cursor.h"

static const uint8_t magic[8] = { 0x25, 0x60, 0xaf, 0x8a, 0x82, 0x28, 0x7c, 0x67 };

#define HEADER_LEN 48
#define MAX_META   (UINT64_C(64) << 20)

/* ------------------------------------------------------------------------------------------------- header */

static unsigned probe(const uint8_t *head, size_t len, uint64_t)
{
	return len >= sizeof(magic) && !memcmp(head, magic, sizeof(magic)) ? 64 : 0;
}

static bool is_swapped_magic(const uint8_t *p)
{
	for (size_t i = 0; i < sizeof(magic); i++)
		if (p[i] != magic[sizeof(magic) - 1 - i])
			return false;
	return true;
}

static bool check_header(const struct bap *rec, struct ts_error *err)
{
	if (rec->version < 1 || rec->version > 3)
		return ts_fail(err, TS_EUNSUPPORTED, 8, "version %" PRIu64 ", versions 1 to 3 are known",
			       rec->version);
	if (!bap_arch_name(rec->arch))
		return ts_fail(err, TS_EUNSUPPORTED, 16, "unknown architecture %" PRIu64, rec->arch);
	return true;
}

static bool read_header(struct bap *rec, uint64_t *toc, struct ts_error *err)
{
	uint8_t bytes[HEADER_LEN];
	struct ts_cursor c;
	size_t got;

	if (!ts_source_read(rec->src, 0, bytes, sizeof(bytes), &got, err))
		return false;
	if (got < sizeof(magic) || memcmp(bytes, magic, sizeof(magic)))
		return ts_fail(err, TS_EUNSUPPORTED, 0,
			       got >= sizeof(magic) && is_swapped_magic(bytes)
				       ? "the magic number of a BAP trace is in the wrong byte order"
				       : "not a BAP trace: the magic number is missing");
	if (got < HEADER_LEN)
		return ts_fail(err, TS_ETRUNC, 0, "the header has %d bytes but the file only %zu", HEADER_LEN,
			       got);
	c = ts_cursor(bytes + sizeof(magic), sizeof(bytes) - sizeof(magic), sizeof(magic), "header", err);
	rec->version = ts_u64le(&c);
	rec->arch = ts_u64le(&c);
	rec->machine = ts_u64le(&c);
	rec->n_frames = ts_u64le(&c);
	*toc = ts_u64le(&c);
	return check_header(rec, err);
}

/* --------------------------------------------------------------------------------------------- meta frame */

/* Text of the trace that people will see. */
static void put_printable(char *out, size_t out_len, const struct pb_value *v)
{
	size_t at = strlen(out);

	for (uint64_t i = 0; i < v->n && at + 1 < out_len; i++)
		out[at++] = (char)(v->p[i] >= ' ' && v->p[i] < 0x7f ? v->p[i] : '?');
	out[at] = '\0';
}

static bool is_text(const struct pb_value *v, const char *text)
{
	return v->p && v->n == strlen(text) && !memcmp(v->p, text, strlen(text));
}

static bool has_prefix(const struct pb_value *v, const char *text)
{
	return v->p && v->n >= strlen(text) && !memcmp(v->p, text, strlen(text));
}

static enum bap_recorder find_recorder(const struct pb_value *name, const struct pb_value *version)
{
	if (is_text(name, "qemu") && has_prefix(version, "2.0"))
		return BAP_OLD_TRACEWRAP;
	if (is_text(name, "qemu"))
		return BAP_TRACEWRAP;
	if (is_text(name, "bpt"))
		return BAP_PIN;
	return BAP_UNKNOWN;
}

static bool read_tracer(struct bap *rec, struct ts_cursor c)
{
	struct pb_message m;

	if (!pb_read(&c, &bap_tracer, &m))
		return false;
	rec->recorder = find_recorder(&m.v[TRACER_NAME - 1], &m.v[TRACER_VERSION - 1]);
	put_printable(rec->tracer, sizeof(rec->tracer), &m.v[TRACER_NAME - 1]);
	strncat(rec->tracer, " ", sizeof(rec->tracer) - strlen(rec->tracer) - 1);
	put_printable(rec->tracer, sizeof(rec->tracer), &m.v[TRACER_VERSION - 1]);
	return true;
}

/* The program and its arguments; a repeated field, of which pb_read() keeps the last only. */
static bool read_target(struct bap *rec, struct ts_cursor c)
{
	struct ts_cursor args = c, item;
	struct pb_message m;

	if (!pb_read(&c, &bap_target, &m))
		return false;
	if (m.v[TARGET_PATH - 1].n) {
		rec->base.exec_path =
			strndup((const char *)m.v[TARGET_PATH - 1].p, (size_t)m.v[TARGET_PATH - 1].n);
		rec->has_lost_path = !rec->base.exec_path;
	}
	while (pb_next_of(&args, &bap_target, TARGET_ARGS, &item)) {
		ts_buf_put(&rec->base.cmdline, item.p, item.left);
		ts_buf_putc(&rec->base.cmdline, 0);
	}
	return ts_ok(&args);
}

static bool parse_meta(struct bap *rec, struct ts_cursor *c)
{
	struct pb_message m;

	return pb_read(c, &bap_meta, &m) && read_tracer(rec, pb_sub(&m, META_TRACER, c)) &&
	       read_target(rec, pb_sub(&m, META_TARGET, c));
}

static bool read_meta(struct bap *rec, struct ts_error *err)
{
	uint64_t file_len = ts_source_len(rec->src), len;
	struct ts_cursor c;
	uint8_t bytes[8], *p;
	bool done;

	if (!ts_source_read_all(rec->src, HEADER_LEN, bytes, sizeof(bytes), err))
		return ts_fail_prefix(err, "the meta frame's length");
	c = ts_cursor(bytes, sizeof(bytes), HEADER_LEN, "meta frame", err);
	len = ts_u64le(&c);
	rec->first = HEADER_LEN + sizeof(bytes);
	if (len > file_len - rec->first)
		return ts_fail(err, TS_ETRUNC, HEADER_LEN,
			       "a meta frame of %" PRIu64 " bytes, but %" PRIu64 " bytes are left", len,
			       file_len - rec->first);
	if (len > MAX_META)
		return ts_fail(err, TS_ELIMIT, HEADER_LEN, "a meta frame of %" PRIu64 " bytes", len);
	p = malloc(len ? (size_t)len : 1);
	if (!p)
		return ts_no_memory(err, "the meta frame");
	done = ts_source_read_all(rec->src, rec->first, p, (size_t)len, err);
	c = ts_cursor(p, (size_t)len, rec->first, "meta frame", err);
	done = done && parse_meta(rec, &c);
	free(p);
	rec->first += len;
	if (done && (rec->has_lost_path || !ts_buf_ok(&rec->base.cmdline)))
		return ts_no_memory(err, "the program's path and arguments");
	return done;
}

/* ------------------------------------------------------------------------------------------ frames' range */

/* Returns false if the index cannot be read. */
static bool find_end(struct bap *rec, uint64_t toc, struct ts_error *err)
{
	uint64_t len = ts_source_len(rec->src);

	rec->end = len;
	rec->toc.due = UINT64_MAX;
	if (!toc && !rec->n_frames) {
		ts_recording_warn(&rec->base,
				  "the recorder did not finish the trace: its last frames are missing");
	} else if (!toc) {
		ts_recording_warn(&rec->base, "the header has %" PRIu64 " frames but no offset of the index",
				  rec->n_frames);
	} else if (toc < rec->first || len < 8 || toc > len - 8) {
		ts_recording_warn(&rec->base,
				  "the header's offset of the index is 0x%" PRIx64 ", outside of the frames",
				  toc);
	} else {
		rec->end = toc;
		rec->is_closed = true;
		if (!rec->n_frames)
			ts_recording_warn(&rec->base,
					  "the header counts no frames, but has an index");
		return bap_toc_open(rec, err);
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------ machine */

/* The byte order of the program that the user gave: 1 little, 2 big, as ELF has it; 0 unknown. */
static uint8_t elf_order(const char *path)
{
	struct ts_error err = { 0 };
	struct ts_source *src = path ? ts_source_open(path, &err) : NULL;
	uint8_t ident[6] = { 0 };
	bool is_elf =
		src && ts_source_read_all(src, 0, ident, sizeof(ident), &err) && !memcmp(ident, "\177ELF", 4);

	ts_source_close(src);
	return is_elf ? ident[5] : 0;
}

/* A machine that the model does not have: positions, memory and text can be served, registers cannot. */
static const struct ts_arch *other_arch(struct bap *rec)
{
	static const struct ts_reg_def regs[] = {
		{ .name = "pc", .bits = 64, .regnum = 0, .type = "code_ptr", .role = TS_ROLE_PC },
	};
	static const struct ts_feature_def features[] = {
		{ .name = "org.tracestub.other.core", .regs = regs, .n_regs = 1 },
	};
	const char *name = bap_arch_name(rec->arch);

	ts_recording_warn(&rec->base,
			  "no registers are known of architecture %s: only positions and memory are served, "
			  "and gdb can't take them",
			  name);
	rec->other = (struct ts_arch){
		.name = name,
		.gdb_name = name,
		.addr_bits = 64,
		.min_insn_len = 1,
		.features = features,
		.n_features = 1,
	};
	return &rec->other;
}

/* NULL if the trace cannot be read. */
static const struct ts_arch *choose_arch(struct bap *rec, const char *exec, struct ts_error *err)
{
	bool is_open, is_big;
	const struct ts_arch *arch = bap_arch_model(rec->arch, rec->machine, &is_open), *other;
	uint8_t order = elf_order(exec);

	if (!arch)
		return other_arch(rec);
	is_big = arch->is_big_endian;
	if (is_open && order)
		is_big = order == 2;
	else if (rec->arch == BAP_ARCH_MIPS && !bap_is_code_big_endian(rec, &is_big, err))
		return NULL;
	other = is_big != arch->is_big_endian ? ts_arch_in_order(arch, is_big) : NULL;
	return other ? other : arch;
}

/*
 * The recorder that lists all registers before each instruction does not say so; its file version and the case of its names
 * identify it (detect.c).  It never lists the flags after an instruction.
 */
static bool tell_recorder(struct bap *rec, struct ts_error *err)
{
	bool is_snapshot = false;

	if (rec->version == 1)
		rec->recorder = BAP_PIN_OLD;
	else if (rec->version == 3 && rec->recorder == BAP_UNKNOWN &&
		 !bap_is_snapshot(rec, &is_snapshot, err))
		return false;
	if (is_snapshot)
		rec->recorder = BAP_SNAPSHOT;
	return true;
}

static void tell_system(struct bap *rec)
{
	const char *path = rec->base.exec_path;

	if (rec->arch == BAP_ARCH_X86 && rec->machine == BAP_I8086)
		return; /* gdb has none with 16 bits */
	if (path && isalpha((unsigned char)path[0]) && path[1] == ':') {
		rec->base.osabi = "Windows";
		snprintf(rec->base.os, sizeof(rec->base.os), "windows");
	} else if (rec->recorder == BAP_TRACEWRAP || rec->recorder == BAP_OLD_TRACEWRAP ||
		   rec->recorder == BAP_SNAPSHOT || path) {
		rec->base.osabi = "GNU/Linux";
		snprintf(rec->base.os, sizeof(rec->base.os), "linux");
	}
}

static uint32_t feature_bit(const struct ts_arch *arch, const char *name)
{
	int ordinal = ts_arch_feature(arch, name);

	return ordinal >= 0 ? 1u << ordinal : 0;
}

/*
 * Features that gdb or a recorder's later frames want, whether the first frames have them or not: of a trace
 * that is longer than the first look, all that recorders have names for.
 */
static uint32_t wanted_features(const struct bap *rec, const struct ts_arch *arch)
{
	static const char *const always[] = { "org.gnu.gdb.i386.segments", "org.tracestub.i386.segments",
					      "org.gnu.gdb.arm.vfp" };
	uint32_t mask = 0;

	if (rec->base.osabi && !strcmp(rec->base.osabi, "GNU/Linux"))
		mask |= feature_bit(arch, "org.gnu.gdb.i386.linux");
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		mask |= feature_bit(arch, always[i]);
	if (!rec->is_scanned)
		mask |= regmap_features(&rec->names) & ~feature_bit(arch, "org.tracestub.i386.control");
	return mask;
}

static bool choose_registers(struct bap *rec, const struct ts_arch *arch, struct ts_error *err)
{
	uint32_t features;
	bool done;

	if (!ts_regset_init(&rec->base.regs, arch, UINT32_MAX, err))
		return false;
	bap_names_init(&rec->names, &rec->base.regs, rec->recorder == BAP_SNAPSHOT);
	done = bap_scan(rec, &features, err);
	features |= wanted_features(rec, arch);
	ts_regset_fini(&rec->base.regs);
	if (!done || !ts_regset_init(&rec->base.regs, arch, features, err))
		return false;
	if (bap_arch_gdb_name(rec->arch, rec->machine))
		rec->base.regs.gdb_name = bap_arch_gdb_name(rec->arch, rec->machine);
	bap_names_init(&rec->names, &rec->base.regs, rec->recorder == BAP_SNAPSHOT);
	rec->is_x86 = rec->arch == BAP_ARCH_X86 && rec->machine != BAP_I8086;
	if (rec->is_x86)
		ts_x86_init(&rec->x86, &rec->base.regs);
	if (arch->is_big_endian) {
		rec->is_mem_reversed = rec->recorder == BAP_SNAPSHOT || rec->recorder == BAP_OLD_TRACEWRAP;
		if (!bap_vote_memory_order(rec, err))
			return false;
	}
	return bap_scan_flags(rec, err);
}

/* ---------------------------------------------------------------------------------------------- recording */

static struct ts_reader *new_reader(struct ts_recording *base, struct ts_error *err)
{
	return bap_reader_new((struct bap *)base, err);
}

static bool fill(struct ts_recording *base, const struct ts_source *src, const struct ts_loader_options *opt,
		 struct ts_error *err)
{
	struct bap *rec = (struct bap *)base;
	const struct ts_arch *arch;
	uint64_t toc = 0;

	rec->src = src;
	ts_warner_init(&rec->warner, &rec->base);
	if (!read_header(rec, &toc, err))
		return false;
	rec->first = HEADER_LEN;
	rec->recorder = BAP_UNKNOWN;
	rec->plan_after = BAP_PLAN_AFTER;
	if (rec->version >= 2 && !read_meta(rec, err))
		return false;
	rec->addr_mask = UINT64_MAX;
	if (!find_end(rec, toc, err) || !tell_recorder(rec, err))
		return false;
	tell_system(rec);
	arch = choose_arch(rec, opt ? opt->exec : NULL, err);
	if (!arch)
		return false;
	rec->addr_mask = ts_arch_addr_mask(arch);
	snprintf(rec->base.variant, sizeof(rec->base.variant), "version %" PRIu64 "%s%.40s", rec->version,
		 *rec->tracer ? ", " : "", rec->tracer);
	rec->base.absent_events = 1u << TS_EV_FAULT | 1u << TS_EV_EXIT | 1u << TS_EV_INTERRUPT;
	rec->base.has_reads = true;
	rec->base.misses_reads = rec->recorder != BAP_PIN && rec->recorder != BAP_PIN_OLD;
	rec->base.has_syscalls = rec->recorder == BAP_PIN || rec->recorder == BAP_PIN_OLD;
	return choose_registers(rec, arch, err) && bap_read_initial(rec, err);
}

extern const struct ts_loader bap_loader;
const struct ts_loader bap_loader = {
	.name = "bap",
	.summary = "BAP frames (QEMU tracewrap and plugin, Pin), versions 1 to 3",
	.probe = probe,
	.ops = { .size = sizeof(struct bap), .reader = new_reader },
	.fill = fill,
};
