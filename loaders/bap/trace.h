/* SPDX-License-Identifier: MIT */
/*
 * A trace of BAP's frames, open: what its parts (bap.c, reader.c and below) share.
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

/* Frames begin with a length of this many bytes.  Real recorders write a few kilobytes at most. */
#define BAP_LEN_LEN   8
#define BAP_MAX_FRAME (UINT64_C(16) << 20)

/* Entries of the index that are read at once when they are compared in order. */
#define BAP_TOC_PIECE 512u
#define BAP_ENTRY_LEN 8

/* Who wrote the trace, as far as it matters. */
enum bap_recorder {
	BAP_TRACEWRAP,     /* QEMU with "tracewrap": operands only */
	BAP_OLD_TRACEWRAP, /* its first version: memory operands are words, whatever the width of the access */
	BAP_SNAPSHOT,      /* QEMU's plugin: all registers before each instruction; x86 flags, pc are stale */
	BAP_PIN,           /* Pin: operands only */
	BAP_PIN_OLD,       /* no list of values after: what is written is listed with its old value */
	BAP_UNKNOWN,
};

struct bap {
	struct ts_recording base;
	const struct ts_source *src; /* borrowed */
	uint64_t version, arch, machine;
	uint64_t n_frames; /* as the header says; 0: unknown */
	uint64_t first;    /* file offset of the first frame */
	uint64_t end;      /* of the first byte after the last frame */
	bool is_closed;    /* the recorder ended as it should: the index is there */
	enum bap_recorder recorder;
	char tracer[64];       /* name and version, printable */
	uint64_t first_thread; /* id of the thread that executes the first instruction */
	bool is_mem_reversed;  /* big-endian, but memory values are numbers, least significant byte first */
	bool has_modes;        /* ARM: each frame says which instruction set it is of */
	uint64_t addr_mask;
	struct ts_arch other; /* of a machine that the model has not: a program counter and memory */
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
		uint64_t first; /* 1: entry 0 is of frame step; 0: it says where the meta frame is */
		uint64_t due;   /* the next frame that an entry is of, while the trace is read for the first
				   time; UINT64_MAX: no entry is of any */
		bool is_sane;
		uint64_t piece_first; /* the entries in piece: the first one, and how many */
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
	bool is_scanned; /* the first look (detect.c) was at all frames */
};

/* A look at the trace from some place on. */
struct bap_look {
	struct bap *rec;    /* borrowed */
	uint64_t off;       /* of the frame */
	bool is_silent;     /* before the trace is read: a reader will give the warnings */
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
 * Add all names of registers for a set; @is_snapshot: the recorder's program counter and x86 flags are stale.
 */
void bap_names_init(struct regmap *t, const struct ts_regset *set, bool is_snapshot);

/* --------------------------------------------------------------------------------------- detect.c */

/*
 * Scan the first frames, after all names of registers have been added, for the features of the architecture
 * that have values: *features, a mask; and for the thread of the first instruction.
 *
 * Returns false if there is no instruction (TS_EUNSUPPORTED), or if the trace is damaged before the first
 * one.
 */
bool bap_scan(struct bap *rec, uint32_t *features, struct ts_error *err);

/*
 * Fill rec->first_flags: which bits of the first thread's flag registers the first frames show before any
 * instruction changes them.  The model infers the past of bytes; a byte of which one bit is written before
 * another one is seen would stay unknown.
 *
 * Returns false if the trace cannot be read or memory is exhausted.
 */
bool bap_scan_flags(struct bap *rec, struct ts_error *err);

/*
 * Is the trace from the recorder that lists all registers by gdb's names?  Others write names in capitals, or
 * the flags after an instruction.  A trace without names may be one.
 *
 * Returns false if the trace cannot be read or memory is exhausted, as the next two do.
 */
bool bap_is_snapshot(struct bap *rec, bool *is_snapshot, struct ts_error *err);

/*
 * Among the first instructions, do more look like big-endian words of MIPS code than like little-endian ones?
 */
bool bap_is_code_big_endian(struct bap *rec, bool *is_big, struct ts_error *err);

/*
 * Determine the byte order of memory values: the one in which the first accesses contradict each other less;
 * if both fit, rec->is_mem_reversed is unchanged.
 */
bool bap_vote_memory_order(struct bap *rec, struct ts_error *err);

/* ------------------------------------------------------------------------------------------ toc.c */

/*
 * Look at the index at file offset rec->end.  It is sane if the examined entries ascend and each points at
 * the beginning of a frame; anything else gets a warning.
 *
 * Returns false if the trace cannot be read.
 */
bool bap_toc_open(struct bap *rec, struct ts_error *err);

/*
 * While the trace is read for the first time: frame number rec->toc.due begins at @off.  Is that what the
 * index says?  Returns false if the trace cannot be read.
 */
bool bap_toc_compare(struct bap *rec, uint64_t off, struct ts_error *err);

/*
 * The first frame after file offset @off that a sane index knows: its number, and where it begins.  Returns
 * false if there is none, with *err untouched, or if the trace cannot be read.
 */
bool bap_toc_after(const struct bap *rec, uint64_t off, uint64_t *frame, uint64_t *frame_off,
		   struct ts_error *err);

/* --------------------------------------------------------------------------------------- reader.c */

/*
 * A reader at the first instruction.
 *
 * Returns NULL if there is no instruction (TS_EUNSUPPORTED), the trace is damaged before the first one, or
 * memory is exhausted.
 */
struct ts_reader *bap_reader_new(struct bap *rec, struct ts_error *err);

/* Number of frames that this reader has read by a plan (frame_template.h), for tests. */
uint64_t bap_reader_n_followed(const struct ts_reader *base);

/* Fill the initial state with what comes before the first instruction.  Fails as bap_reader_new() does. */
bool bap_read_initial(struct bap *rec, struct ts_error *err);

/* ----------------------------------------------------------------------------------------- arch.c */

/* The architectures that something depends on, by the format's numbers. */
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

/* The name of an architecture's number, NULL for a number that the format does not define. */
const char *bap_arch_name(uint64_t number);

/*
 * The model's architecture for the header's numbers, NULL if the model has none.  *is_order_open is set when
 * the file does not tell the byte order and machines of both orders exist; what is returned then is the usual
 * one.
 */
const struct ts_arch *bap_arch_model(uint64_t number, uint64_t machine, bool *is_order_open);

/*
 * What gdb calls the machine, where it knows it better than the model, whose set of registers it shares;
 * NULL: as the model does.
 */
const char *bap_arch_gdb_name(uint64_t number, uint64_t machine);

#endif
