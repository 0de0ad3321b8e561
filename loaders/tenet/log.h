/* SPDX-License-Identifier: MIT */
/*
 * An open Tenet log, shared by the files of this folder.  README describes the format.
 */
#ifndef LOADERS_TENET_LOG_H
#define LOADERS_TENET_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaders/kit/line_reader.h"
#include "loaders/kit/regmap.h"
#include "loaders/kit/warn.h"
#include "src/base/error.h"
#include "src/source/source.h"
#include "src/trace/reader.h"
#include "src/trace/step.h"

/* ----------------------------------------------------------------------------------------- line.c */

/* The registers of a processor by their names in logs. */
struct tenet_names {
	const struct ts_arch *arch;
	struct regmap map;
	uint32_t sp_off; /* in the 'g' layout */
	uint8_t word;    /* bytes of a register */
	/*
	 * System calls: the offset in the 'g' layout of the register by which they are recognized, and a mask
	 * of the registers that they may change (tenet_bit()).  On x86_64 the register is rcx, which is set
	 * to the address after the instruction; on others it has the number of the call.
	 */
	uint32_t call_off;
	uint64_t results;
	bool is_pc_last; /* the program counter comes after the registers of its position */
};

enum tenet_damage {
	TENET_BAD_REGISTER,
	TENET_BAD_PC,
	TENET_BAD_MEMORY,
	TENET_UNKNOWN_NAME,
	TENET_LOST_LINE,
	TENET_LONG_LINE,
	TENET_OPEN_LINE,
	TENET_OTHER_SPACE,
	TENET_N_DAMAGES,
};

/* Warnings about damage: one for each kind, with the first place. */
struct tenet_damages {
	struct ts_warner warners[TENET_N_DAMAGES];
	uint64_t first_line[TENET_N_DAMAGES], first_off[TENET_N_DAMAGES];
	bool is_seen[TENET_N_DAMAGES];
	char unknown[24]; /* the first unknown name, truncated */
	bool has_space; /* the first line has an address space (asid) */
	uint64_t space;
};

void tenet_damages_init(struct tenet_damages *d, struct ts_recording *rec);

/* Count damage of @kind in line @number, at file offset @off of part @part. */
void tenet_damaged(struct tenet_damages *d, enum tenet_damage kind, uint32_t part, uint64_t number,
		   uint64_t off);

/* The parts of a line to read. */
enum tenet_what {
	TENET_ALL,
	/*
	 * If the accesses of a line are those of its own instruction, a line is a position and the beginning
	 * of its step.  TENET_POSITION: the registers of the position.  TENET_STEP: the accesses, and the
	 * registers that changed while the program counter did not.
	 */
	TENET_POSITION,
	TENET_STEP,
};

struct tenet_line {
	uint64_t pc, sp, call; /* values; call: of the register at call_off of struct tenet_names */
	uint64_t registers; /* a mask of the registers that were appended, see tenet_bit() */
	uint32_t n_regs;    /* the number of listed registers, without the program counter */
	uint32_t n_accesses;
	bool has_pc, is_pc_bad;
	bool has_sp, is_sp_bad;
	bool has_call;
	bool has_zero;      /* a register is listed as 0 */
	bool has_reg_after; /* a register is listed after the program counter */
	bool is_lost;       /* nothing on the line can be used */
};

/* The bit of the register at @off of the 'g' layout. */
static inline uint64_t tenet_bit(const struct tenet_names *names, uint32_t off)
{
	return UINT64_C(1) << (off >> (names->word == 8 ? 3 : 2)) % 64; /* no division: the readers find it for each register */
}

/* Fill *names with the registers of @set, which is of x86_64, i386, aarch64 or arm.  @set is borrowed. */
void tenet_names_init(struct tenet_names *names, const struct ts_regset *set);

/*
 * Parse @text, line @number of part @part; bytes after it must be readable as in a window
 * (loaders/kit/window.h).  *line is set.  The registers and accesses that @what selects are appended to @out
 * as effects, in their order, without the program counter.  An "mrw" becomes a read without a value and a
 * write.
 *
 * Damage is counted in @damages; it may be NULL.
 */
void tenet_line_parse(const struct tenet_names *names, const struct ts_text_line *text, uint32_t part,
		      uint64_t number, enum tenet_what what, struct tenet_line *line, struct ts_steps *out,
		      struct tenet_damages *damages);

/* ------------------------------------------------------------------------------------------ log */

/* The maximum length of a line in bytes. */
#define TENET_MAX_LINE (UINT32_C(1) << 20)

/* Position of a reader in a file. */
struct tenet_place {
	uint64_t off;    /* file offset of the next line */
	uint64_t number; /* of the next line, counted from 1 */
	uint64_t pc;     /* of the position */
	uint64_t sp;     /* at the position */
	uint64_t call;   /* at the position, of the register at call_off of struct tenet_names */
	bool has_pc, has_sp, has_call;
};

/* A file: the log of a thread. */
struct tenet_part {
	const struct ts_source *src; /* borrowed */
	struct tenet_place start;    /* its position 0 */
};

/* Properties of the program that wrote the log, found in its first lines. */
struct tenet_writer {
	uint32_t n_own, n_previous; /* votes: accesses belong to the line's instruction, or to the previous one */
	bool is_own;
	bool is_true;    /* an mr on a line with an mw has the value that was read, not the one after the write */
	bool has_reads;
	bool is_pc_last; /* registers come before the program counter */
	bool is_zero_absent; /* the first line lists only registers that are not zero */
};

struct tenet {
	struct ts_recording base;
	struct tenet_names names;
	struct tenet_writer writer;
	struct tenet_part *parts; /* owned; one a thread, whose ordinal is that of the part */
	uint32_t n_parts;
	struct tenet_damages damages;
};

/* ---------------------------------------------------------------------------------------- probe.c */

struct tenet_head {
	const char *arch;  /* inferred from the names of registers; NULL: unknown */
	bool has_pc;       /* a program counter is listed */
	bool has_r15;      /* the program counter of ARM, or a register of x86-64 */
	bool has_high;     /* one of r0 to r12, of which x86-64 has some */
	bool is_pc_wide;   /* a program counter has more than 32 bits */
	bool is_utf16;
	unsigned n_lists;  /* whole lines that are lists of registers and accesses */
	unsigned n_others; /* whole lines that are not; comments and empty lines do not count */
	bool is_first_list; /* the first line that counts is a list */
};

/* Set *h from the first @len bytes of a file. */
void tenet_head_scan(struct tenet_head *h, const uint8_t *bytes, size_t len);

/* Returns the length of the byte order mark of UTF-8 at the beginning of a file, 0 if the file has none. */
size_t tenet_mark_len(const uint8_t *bytes, size_t len);

/* Is the file a Tenet log, according to @h? */
bool tenet_head_is_log(const struct tenet_head *h);

/* --------------------------------------------------------------------------------------- images.c */

/*
 * Append the images that the file beside @log lists to @initial.  Appends nothing if that file does not exist.
 *
 * Returns false if the file cannot be read (TS_EIO, TS_ETRUNC).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool tenet_read_images(const struct ts_source *log, struct ts_steps *initial, struct ts_error *err);

/*
 * Set *base to the address of the image that has the name of the file @path.  Returns false if @initial does
 * not list it.
 */
bool tenet_find_image(const struct ts_steps *initial, const char *path, uint64_t *base);

/* --------------------------------------------------------------------------------------- tracer.c */

/*
 * Fill rec->writer from the first lines of the first part.
 *
 * Returns false if there are fewer than two positions (TS_EUNSUPPORTED).
 * Returns false if the file cannot be read (TS_EIO, TS_ETRUNC).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool tenet_writer_find(struct tenet *rec, struct ts_error *err);

/* --------------------------------------------------------------------------------------- reader.c */

/*
 * Returns a reader of @rec at position 0, which the caller closes with its close().
 * Returns NULL if memory is exhausted (TS_ENOMEM).
 */
struct ts_reader *tenet_reader_new(struct tenet *rec, struct ts_error *err);

/*
 * Read part @i up to the line of its position 0.  The part's start is set to the place after that line.  The
 * registers of the lines are appended to @initial.
 *
 * Returns false if no line has a program counter (TS_EUNSUPPORTED).
 * Returns false if the file cannot be read (TS_EIO, TS_ETRUNC).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool tenet_read_start(struct tenet *rec, uint32_t i, struct ts_steps *initial, struct ts_error *err);

#endif
