/* SPDX-License-Identifier: MIT */
/*
 * An open trace file of gdb, shared by the files of this folder.
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

/* The bytes before the blocks of a frame: the tracepoint (2) and the length of the blocks (4). */
#define TFILE_FRAME_HEAD 6

/* The place of a frame in the file. */
struct tfile_place {
	uint64_t off;        /* file offset of its first block */
	uint32_t len;        /* bytes of its blocks, all of them in the file */
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
	uint64_t reg_len;             /* bytes of an R block, from the header */
	bool is_reg_len_decimal;      /* the digits of the length may also be decimal */
	uint64_t reg_len_decimal;
	uint32_t known_len;           /* bytes of the 'g' layout that an R block has: whole registers */
	struct ts_buf xml;            /* the target description */
	uint64_t xml_off;             /* file offset of its first line */
	uint64_t frames_off;          /* file offset of the first frame */
	struct tfile_place *places;   /* owned; of all frames */
	uint64_t cap_places;
	uint64_t *order;              /* owned; ordinals of frames by tracepoint, then by ordinal */
	uint32_t n_numbers;           /* the frames' tracepoints have lower numbers */
	uint64_t *order_of;           /* owned; n_numbers + 1 indexes in order: tracepoint i begins at order_of[i] */
	struct tfile_number *numbers; /* owned; n_numbers of them */
	struct ts_error damage;       /* the reason for which no frame follows; TS_OK if the file is complete */
	uint64_t max_blocks;          /* limit on the memory blocks of a frame, by --max-memory */
	struct ts_warner warner;      /* places are ordinals of frames */
	struct tfile_frame *scratch;  /* owned; for frames.get */
	uint32_t n_program;           /* leading effects of base.initial that are read-only bytes of the program */
};

/* A memory block of a frame; data is borrowed from the frame's bytes. */
struct tfile_memory {
	uint64_t addr, len;
	const uint8_t *data;
};

/* A decoded frame.  The caller owns it and may reuse it. */
struct tfile_frame {
	struct ts_window *window;    /* borrowed; used if frames are read in order; NULL: the file is read directly */
	uint64_t n;
	struct ts_buf bytes;
	const uint8_t *regs;         /* borrowed from bytes: reg_len of them; NULL if the frame has none */
	struct tfile_memory *memory; /* owned; in the order of collection */
	size_t n_memory, cap_memory;
	struct ts_range *covered;    /* owned; the union of memory, by address */
	size_t n_covered, cap_covered;
	struct ts_frame_var *vars;   /* owned */
	size_t n_vars, cap_vars;
	uint64_t pc;                 /* TS_NO_PC: unknown */
};

/* --------------------------------------------------------------------------------------- header.c */

/*
 * Read the text section.  A line that cannot be parsed becomes a warning, except for the register size.
 *
 * Returns false if the section has no end (TS_ETRUNC).
 * Returns false if the register size cannot be parsed (TS_ECORRUPT).
 * Returns false if the section is larger than a real one (TS_ELIMIT).
 * Returns false if the file cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool tfile_read_header(struct tfile *t, struct ts_error *err);

/* --------------------------------------------------------------------------------------- frames.c */

/*
 * Fill t->places with all frames.  The byte order must be known.  Damage is stored in t->damage and is not a
 * failure.
 *
 * Returns false if the file cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool tfile_find_frames(struct tfile *t, struct ts_error *err);

/* Returns a score for the frames in this byte order; the order with the higher score is more likely. */
unsigned tfile_rate_order(const struct tfile *t, bool is_big_endian);

/*
 * Do the blocks of the first frames exactly fill them if an R block has @reg_len bytes?
 *
 * Returns false, with *err set, also if the frames cannot be read (TS_EIO).
 */
bool tfile_fits(struct tfile *t, uint64_t reg_len, struct ts_error *err);

/* Fill t->order and t->order_of.  Returns false if memory is exhausted (TS_ENOMEM). */
bool tfile_sort_frames(struct tfile *t, struct ts_error *err);

/*
 * Read frame @n into *f.  If a block is malformed, it and the blocks after it are ignored with a warning.
 *
 * Returns false if the file cannot be read any more (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool tfile_load(struct tfile *t, uint64_t n, struct tfile_frame *f, struct ts_error *err);
void tfile_frame_fini(struct tfile_frame *f);

/* Set the functions of t->frames. */
void tfile_init_frames(struct tfile *t);

/* --------------------------------------------------------------------------------------- reader.c */

/*
 * Returns the number of steps of the recording: one for each frame, at least one.  The last step only has the
 * pc of the last position; the recording ends before it.
 */
static inline uint64_t tfile_n_steps(const struct tfile *t)
{
	return t->frames.n_frames ? t->frames.n_frames : 1;
}

/*
 * As reader() of struct ts_recording_ops.
 *
 * Returns the reader, which the caller closes with ts_reader_close().
 * Returns NULL if the first frame cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_reader *tfile_reader(struct ts_recording *rec, struct ts_error *err);

/* Append to @out the effects between frame @from (NULL: everything is unknown) and frame @to. */
void tfile_put_change(const struct tfile *t, const struct tfile_frame *from, const struct tfile_frame *to,
		      struct ts_steps *out);

#endif
