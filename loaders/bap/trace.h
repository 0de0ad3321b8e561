/* SPDX-License-Identifier: MIT */
/*
 * A trace of BAP's frames, open: what its parts (bap.c, reader.c and below) share.
 */
#ifndef LOADERS_BAP_TRACE_H
#define LOADERS_BAP_TRACE_H

#include "arch.h"
#include "loaders/kit/regmap.h"
#include "loaders/kit/warn.h"
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
	} first_flags[REGMAP_MAX_FLAGS]; /* the first thread's flags at the start (detect.h) */
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
	bool is_scanned; /* the first look (detect.h) was at all frames */
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

/* The same, once for each text of it. */
#define bap_warn_each(look, ...)                                                           \
	do {                                                                               \
		if (!(look)->is_silent)                                                    \
			ts_warn_each_at(&(look)->rec->warner, (look)->off, __VA_ARGS__);   \
	} while (0)

#endif
