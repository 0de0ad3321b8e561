/* SPDX-License-Identifier: MIT */
/*
 * An open trace of BAP's frames, shared by the files of this folder.
 */
#ifndef LOADERS_BAP_TRACE_H
#define LOADERS_BAP_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "loaders/kit/regmap.h"
#include "loaders/kit/warn.h"
#include "src/arch/arch.h"
#include "src/arch/x86_insn.h"
#include "src/source/source.h"
#include "src/trace/reader.h"

/*
 * The length before a frame has BAP_LEN_LEN bytes.  A frame of a real recorder has at most a few kilobytes.
 */
#define BAP_LEN_LEN   8
#define BAP_MAX_FRAME (UINT64_C(16) << 20)

/* Entries of the index that are read at once when they are compared in order. */
#define BAP_TOC_PIECE 512u
#define BAP_ENTRY_LEN 8

/* The recorder that wrote the trace. */
enum bap_recorder {
	BAP_TRACEWRAP,     /* QEMU with "tracewrap": operands only */
	BAP_OLD_TRACEWRAP, /* its first version: memory operands are words, whatever the width of the access */
	BAP_SNAPSHOT,      /* QEMU's plugin: all registers before each instruction; x86 flags, pc are stale */
	BAP_PIN,           /* Pin: operands only */
	BAP_PIN_OLD,       /* Pin without lists of values after: written operands have their old value */
	BAP_UNKNOWN,
};

struct bap {
	struct ts_recording base;
	const struct ts_source *src; /* borrowed */
	uint64_t version, arch, machine;
	uint64_t n_frames; /* from the header; 0: unknown */
	uint64_t first;    /* file offset of the first frame */
	uint64_t end;      /* of the first byte after the last frame */
	bool is_closed;    /* the recorder ended as it should: the index is there */
	enum bap_recorder recorder;
	char tracer[64];       /* name and version, printable */
	uint64_t first_thread; /* id of the thread that executes the first instruction */
	bool is_mem_reversed;  /* big-endian, but memory values are numbers, least significant byte first */
	bool has_modes;        /* ARM: each frame names its instruction set */
	uint64_t addr_mask;
	struct ts_arch other; /* for a machine that the model does not have: a program counter and memory */
	struct regmap names;
	struct bap_first_flags {
		uint32_t value, known;
		uint32_t open; /* while the first frames are examined: bits neither seen nor written yet */
	} first_flags[REGMAP_MAX_FLAGS]; /* the first thread's flags at the start (detect.c) */
	bool is_x86; /* of 32 or 64 bits */
	struct ts_x86 x86;

	struct bap_toc {
		uint64_t step;  /* frames for each entry; 0: no index */
		uint64_t n;     /* entries */
		uint64_t first; /* 1: entry 0 is of frame number `step`; 0: it is of the meta frame */
		uint64_t due;   /* the number of the next frame that has an entry, while the trace is read
				   for the first time; UINT64_MAX: none has */
		bool is_sane;
		uint64_t piece_first; /* the entries in piece: the first one and their number */
		uint64_t n_piece;
		uint8_t piece[BAP_TOC_PIECE * BAP_ENTRY_LEN];
	} toc; /* the index after the frames */

	uint32_t plan_after; /* frame_template.h */
	bool has_lost_path; /* memory was exhausted when the program's path was read */

	struct ts_warner warner; /* by the offsets of frames */

	/* While the trace is read for the first time: */
	uint64_t read_until; /* frames that begin before this offset were counted and compared with the index */
	uint64_t n_walked;
	bool is_walked;  /* to its end */
	bool is_scanned; /* the scan of the first frames (detect.c) has read all frames */
};

/* The place of a frame that is being read, for warnings. */
struct bap_look {
	struct bap *rec;    /* borrowed */
	uint64_t off;       /* of the frame */
	bool is_silent;     /* suppress warnings: the frame is scanned, and a reader will warn about it */
};

/* Warn about the frame, once for each kind of warning however often it is read (kit/warn.h). */
#define bap_warn(look, ...)                                                                \
	do {                                                                               \
		if (!(look)->is_silent)                                                    \
			ts_warn_at(&(look)->rec->warner, (look)->off, __VA_ARGS__);        \
	} while (0)

/* Warn about the frame, once for each text. */
#define bap_warn_each(look, ...)                                                           \
	do {                                                                               \
		if (!(look)->is_silent)                                                    \
			ts_warn_each_at(&(look)->rec->warner, (look)->off, __VA_ARGS__);   \
	} while (0)

/* ---------------------------------------------------------------------------------------- names.c */

/*
 * Add all names of registers for @set.  With @is_snapshot, the recorder's program counter and x86 flags are
 * stale.
 */
void bap_names_init(struct regmap *t, const struct ts_regset *set, bool is_snapshot);

/* --------------------------------------------------------------------------------------- detect.c */

/*
 * Scan the first frames.  *features is set to a mask of the features of the architecture whose registers have
 * values, and rec->first_thread to the thread of the first instruction.  The names of registers must have
 * been added.
 *
 * Returns true on success.
 * Returns false if the trace has no instruction (TS_EUNSUPPORTED).
 * Returns false if the trace is damaged before the first instruction (TS_ETRUNC, TS_ECORRUPT).
 * Returns false if the trace cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool bap_scan(struct bap *rec, uint32_t *features, struct ts_error *err);

/*
 * Fill rec->first_flags: the bits of the first thread's flag registers that the first frames show before an
 * instruction changes them.  The model infers earlier values only of whole bytes: a byte of which one bit is
 * written before another bit is shown would stay unknown.
 *
 * Returns false if the trace cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool bap_scan_flags(struct bap *rec, struct ts_error *err);

/*
 * *is_snapshot is set to whether the trace can be of the recorder BAP_SNAPSHOT, which lists all registers by
 * gdb's names.  Other recorders write names in capitals, or the flags after an instruction.  A trace without
 * names can be one.
 *
 * Returns false if the trace cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool bap_is_snapshot(struct bap *rec, bool *is_snapshot, struct ts_error *err);

/*
 * *is_big is set to whether more of the first instructions look like big-endian words of MIPS code than like
 * little-endian ones.
 *
 * Returns false if the trace cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool bap_is_code_big_endian(struct bap *rec, bool *is_big, struct ts_error *err);

/*
 * Set rec->is_mem_reversed, the byte order of memory values, to the order in which fewer of the first
 * accesses contradict each other.  It is unchanged if both orders fit.
 *
 * Returns false if the trace cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool bap_vote_memory_order(struct bap *rec, struct ts_error *err);

/* ------------------------------------------------------------------------------------------ toc.c */

/*
 * Read the index at file offset rec->end.  It is sane if the examined entries ascend and each is the offset
 * of a frame.  If it is not, a warning is added.
 *
 * Returns false if the trace cannot be read (TS_EIO).
 */
bool bap_toc_open(struct bap *rec, struct ts_error *err);

/*
 * Compare the offset @off of frame number rec->toc.due with its entry of the index, while the trace is read
 * for the first time.  If they differ, a warning is added.
 *
 * Returns false if the trace cannot be read (TS_EIO).
 */
bool bap_toc_compare(struct bap *rec, uint64_t off, struct ts_error *err);

/*
 * The first frame after file offset @off that has an entry in a sane index: *frame is set to its number, and
 * *frame_off to its offset.
 *
 * Returns false, with *err unchanged, if there is none.
 * Returns false if the trace cannot be read (TS_EIO).
 */
bool bap_toc_after(const struct bap *rec, uint64_t off, uint64_t *frame, uint64_t *frame_off,
		   struct ts_error *err);

/* --------------------------------------------------------------------------------------- reader.c */

/*
 * A reader at the first instruction.
 *
 * Returns the reader, which the caller closes with its close().
 * Returns NULL if the trace has no instruction (TS_EUNSUPPORTED).
 * Returns NULL if the trace is damaged before the first instruction (TS_ETRUNC, TS_ECORRUPT).
 * Returns NULL if the trace cannot be read (TS_EIO).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_reader *bap_reader_new(struct bap *rec, struct ts_error *err);

/* Returns the number of frames that this reader has read by a plan (frame_template.h).  For tests. */
uint64_t bap_reader_n_followed(const struct ts_reader *base);

/*
 * Fill the initial state from the frames before the first instruction.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT, TS_ELIMIT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool bap_read_initial(struct bap *rec, struct ts_error *err);

/* ----------------------------------------------------------------------------------------- arch.c */

/* The numbers in the format of the architectures that the loader treats specially. */
enum {
	BAP_ARCH_M68K = 2,
	BAP_ARCH_SPARC = 6,
	BAP_ARCH_MIPS = 8,
	BAP_ARCH_X86 = 9,
	BAP_ARCH_POWERPC = 23,
	BAP_ARCH_RS6000 = 24,
	BAP_ARCH_ARM = 35,
	BAP_ARCH_S390 = 66,
	BAP_ARCH_AARCH64 = 78,
};

/* A machine of x86. */
#define BAP_I8086 2

/*
 * Returns the name of architecture @number, a constant.
 * Returns NULL if the format does not define the number.
 */
const char *bap_arch_name(uint64_t number);

/*
 * The model's architecture for the numbers of the header.  *is_order_open is set to true if the header does
 * not determine the byte order and there are machines of both orders; the result then has the usual order.
 *
 * Returns the architecture, a constant.
 * Returns NULL if the model has none.
 */
const struct ts_arch *bap_arch_model(uint64_t number, uint64_t machine, bool *is_order_open);

/*
 * Returns gdb's name for a machine that gdb distinguishes and the model does not, a constant.  Both use the
 * same set of registers.  Returns NULL if the model's name is right.
 */
const char *bap_arch_gdb_name(uint64_t number, uint64_t machine);

#endif
