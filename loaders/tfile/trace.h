/* SPDX-License-Identifier: MIT */
/*
 * An open trace file of gdb: what the files of this folder share.
 */
#ifndef LOADERS_TFILE_TRACE_H
#define LOADERS_TFILE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaders/kit/warn.h"
#include "loaders/kit/window.h"
#include "src/base/buf.h"
#include "src/base/cursor.h"
#include "src/frames/frames.h"
#include "src/frames/tracepoint.h"
#include "src/source/source.h"
#include "src/trace/reader.h"

#define TFILE_MAGIC "\x7fTRACE0\n"
#define TFILE_MAGIC_LEN 8

/* Bytes before a frame's blocks: tracepoint (2), their length (4). */
#define TFILE_FRAME_HEAD 6

/* A frame's place. */
struct tfile_place {
	uint64_t off;        /* in the file, of its first block */
	uint32_t len;        /* bytes of blocks; they lie in the file */
	uint16_t tracepoint;
};

/* The definitions of a tracepoint's number. */
struct tfile_number {
	const struct ts_tracepoint *tp; /* borrowed; its first location, NULL: not defined */
	bool is_sole;                   /* it has one location */
};

/* A trace file. */
struct tfile {
	struct ts_recording base;
	struct ts_frames frames;
	struct ts_tracing tracing;
	const struct ts_source *src;  /* borrowed */
	bool is_big_endian;
	uint64_t reg_len;             /* bytes of an R block, as the file says */
	bool is_reg_len_decimal;      /* the number may also be meant as a decimal one */
	uint64_t reg_len_decimal;
	/* the first bytes of the 'g' layout that an R block has: whole registers */
	uint32_t known_len;
	struct ts_buf xml;            /* the target description */
	uint64_t xml_off;             /* in the file, of its first line */
	uint64_t frames_off;          /* in the file, of the first frame */
	struct tfile_place *places;   /* owned; of all frames */
	uint64_t cap_places;
	uint64_t *order;              /* owned; ordinals of frames by tracepoint, then by ordinal */
	uint32_t n_numbers;           /* the frames' tracepoints have lower numbers */
	/* owned; where in order each of n_numbers tracepoints begins, and one more */
	uint64_t *order_of;
	struct tfile_number *numbers; /* owned; n_numbers of them */
	/* why there are no more frames; TS_OK if the file is complete */
	struct ts_error damage;
	uint64_t max_blocks;          /* of memory in a frame: more do not fit into --max-memory */
	struct ts_warner warner;      /* places are ordinals of frames */
	struct tfile_frame *scratch;  /* owned; for frames.get */
	/* how many effects of base.initial, the first ones, are the program's read-only bytes */
	uint32_t n_program;
};

/* Memory out of a frame; data is borrowed from the frame's bytes. */
struct tfile_memory {
	uint64_t addr, len;
	const uint8_t *data;
};

/* A frame, decoded.  Owned by the caller, and reused. */
struct tfile_frame {
	struct ts_window *window;    /* borrowed; where frames are read one after another.  NULL: by itself */
	uint64_t n;
	struct ts_buf bytes;
	const uint8_t *regs;         /* borrowed from bytes: reg_len of them; NULL if the frame has none */
	struct tfile_memory *memory; /* owned; in the order of collection */
	size_t n_memory, cap_memory;
	struct ts_range *covered;    /* owned; the same without overlap, by address */
	size_t n_covered, cap_covered;
	struct ts_frame_var *vars;   /* owned */
	size_t n_vars, cap_vars;
	uint64_t pc;                 /* TS_NO_PC: nothing tells it for sure */
};

/* --------------------------------------------------------------------------------------- header.c */

/*
 * Read the text section.
 *
 * Returns false if it has no end (TS_ETRUNC), its register size cannot be understood (TS_ECORRUPT), it is
 * larger than any real one (TS_ELIMIT), or the file cannot be read.  Other lines that cannot be understood
 * are noted as warnings.
 */
bool tfile_read_header(struct tfile *t, struct ts_error *err);

/* --------------------------------------------------------------------------------------- frames.c */

/*
 * Find all frames; the byte order is known.
 *
 * Returns false if the file cannot be read or memory is exhausted.  Damage is noted in t->damage.
 */
bool tfile_find_frames(struct tfile *t, struct ts_error *err);

/* A score of how well the frames make sense in this byte order; higher is better. */
unsigned tfile_rate_order(const struct tfile *t, bool is_big_endian);

/*
 * Do the blocks of the first frames fill them, with registers of @reg_len bytes?  @err is set if the frames
 * could not be read.
 */
bool tfile_fits(struct tfile *t, uint64_t reg_len, struct ts_error *err);

/* Sort t->places by tracepoint.  Returns false if memory is exhausted. */
bool tfile_sort_frames(struct tfile *t, struct ts_error *err);

/*
 * Read frame @n.  Blocks from the first impossible one on are ignored; a warning says so once.
 *
 * Returns false if the file cannot be read any more or memory is exhausted.
 */
bool tfile_load(struct tfile *t, uint64_t n, struct tfile_frame *f, struct ts_error *err);
void tfile_frame_fini(struct tfile_frame *f);

/* Set the functions of t->frames. */
void tfile_init_frames(struct tfile *t);

/* --------------------------------------------------------------------------------------- reader.c */

/*
 * Steps of the recording: one for each frame, but at least one.  The last one leads nowhere: it is there for
 * its pc, and the recording ends before it.
 */
static inline uint64_t tfile_n_steps(const struct tfile *t)
{
	return t->frames.n_frames ? t->frames.n_frames : 1;
}

struct ts_reader *tfile_reader(struct ts_recording *rec, struct ts_error *err);

/* Append to @out the effects that lead from frame @from (NULL: nothing is known) to @to. */
void tfile_put_change(const struct tfile *t, const struct tfile_frame *from, const struct tfile_frame *to,
		      struct ts_steps *out);

#endif
