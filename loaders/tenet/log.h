/* SPDX-License-Identifier: MIT */
/*
 * A Tenet log that is open: what its files know together.  README says what the format is.
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
	 * A system call: the register that tells one, in the 'g' layout, and the ones that it may change, a bit
	 * each (tenet_bit()).  x86_64: rcx, which is the address after it; else its number.
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

/* Warnings about damage: one a kind, with its first place. */
struct tenet_damages {
	struct ts_warner warners[TENET_N_DAMAGES];
	uint64_t first_line[TENET_N_DAMAGES], first_off[TENET_N_DAMAGES];
	bool is_seen[TENET_N_DAMAGES];
	char unknown[24]; /* the first name that is unknown, cut */
	bool has_space; /* the first line has an address space (asid) */
	uint64_t space;
};

void tenet_damages_init(struct tenet_damages *d, struct ts_recording *rec);

/* Damage of this kind in line @number, at file offset @off of part @part. */
void tenet_damaged(struct tenet_damages *d, enum tenet_damage kind, uint32_t part, uint64_t number,
		   uint64_t off);

/* The parts of a line to read. */
enum tenet_what {
	TENET_ALL,
	/*
	 * Where accesses are the line's own, a line is a position and the beginning of its step: the
	 * registers of the position; accesses, and what registers became while the program counter stayed.
	 */
	TENET_POSITION,
	TENET_STEP,
};

struct tenet_line {
	uint64_t pc, sp, call; /* call: of the register that tells a system call */
	uint64_t registers; /* those that were taken, a bit each */
	uint32_t n_regs;    /* listed, without the program counter */
	uint32_t n_accesses;
	bool has_pc, is_pc_bad;
	bool has_sp, is_sp_bad;
	bool has_call;
	bool has_zero;      /* a register is listed as 0 */
	bool has_reg_after; /* a register stands after the program counter */
	bool is_lost;       /* nothing of it can be used */
};

/* The bit of the register at @off of the 'g' layout. */
static inline uint64_t tenet_bit(const struct tenet_names *names, uint32_t off)
{
	return UINT64_C(1) << off / names->word % 64;
}

/*
 * Names of x86_64, i386, aarch64 or arm registers of @set.
 */
void tenet_names_init(struct tenet_names *names, const struct ts_regset *set);

/*
 * Parse @text, line @number of part @part, whose memory comes from a window.  The registers and accesses that
 * @what selects are appended to @out as effects, in their order, without the program counter.  An "mrw" is a
 * read without a value and a write.
 *
 * @damages may be NULL: damage is not counted.
 */
void tenet_line_parse(const struct tenet_names *names, const struct ts_text_line *text, uint32_t part,
		      uint64_t number, enum tenet_what what, struct tenet_line *line, struct ts_steps *out,
		      struct tenet_damages *damages);

/* ------------------------------------------------------------------------------------------ log */

/* A line is at most this long. */
#define TENET_MAX_LINE (UINT32_C(1) << 20)

/* Position of a reader in a file. */
struct tenet_place {
	uint64_t off;    /* file offset of the line that is read next */
	uint64_t number; /* of that line, from 1 */
	uint64_t pc;     /* of the position */
	uint64_t sp;     /* there */
	uint64_t call;   /* of the register that tells a system call, there */
	bool has_pc, has_sp, has_call;
};

/* A file: the log of a thread. */
struct tenet_part {
	const struct ts_source *src; /* borrowed */
	struct tenet_place start;    /* its position 0 */
};

/* What the first lines show of the writer. */
struct tenet_writer {
	uint32_t n_own, n_previous; /* votes: accesses are those of the line's own instruction, of the previous one */
	bool is_own;
	bool is_true;    /* an mr beside an mw shows what was read, not what is there afterwards */
	bool has_reads;
	bool is_pc_last; /* registers come before the program counter */
	/* absent registers of the first line are zero: it lists those that are not */
	bool is_zero_absent;
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
	const char *arch;  /* by the names; NULL: they do not tell */
	bool has_pc;       /* a program counter is listed */
	bool has_r15;      /* the program counter of ARM, or a register of x86-64 */
	bool has_high;     /* one of r0 to r12, of which x86-64 has some */
	bool is_pc_wide;   /* with more than 32 bits */
	bool is_utf16;
	unsigned n_lists;  /* lines that are lists, of those that are whole */
	unsigned n_others; /* that are not; comments and empty lines do not count */
	bool is_first_list; /* the first that counts is a list */
};

/* Look at the first @len bytes of a file. */
void tenet_head_scan(struct tenet_head *h, const uint8_t *bytes, size_t len);

/* The bytes of the mark of UTF-8 at the beginning of a file. */
size_t tenet_mark_len(const uint8_t *bytes, size_t len);

/* Is it a log, by what was seen? */
bool tenet_head_is_log(const struct tenet_head *h);

/* --------------------------------------------------------------------------------------- images.c */

/*
 * Append the images to @initial; adds nothing if the file is missing or names no images.
 *
 * Returns false if memory is exhausted (TS_ENOMEM) or the file cannot be read any more (TS_EIO, TS_ETRUNC).
 */
bool tenet_read_images(const struct ts_source *log, struct ts_steps *initial, struct ts_error *err);

/* Where the image with the name of the file @path was loaded.  Returns false if @initial does not list it. */
bool tenet_find_image(const struct ts_steps *initial, const char *path, uint64_t *base);

/* --------------------------------------------------------------------------------------- tracer.c */

/*
 * Fill rec->writer from the first lines of the first part.
 *
 * Returns false if there are fewer than two positions (TS_EUNSUPPORTED), the file cannot be read (TS_EIO,
 * TS_ETRUNC), or memory is exhausted (TS_ENOMEM).
 */
bool tenet_writer_find(struct tenet *rec, struct ts_error *err);

/* --------------------------------------------------------------------------------------- reader.c */

/* A reader of @rec at position 0.  Returns NULL if memory is exhausted (TS_ENOMEM). */
struct ts_reader *tenet_reader_new(struct tenet *rec, struct ts_error *err);

/*
 * Read what comes before position 0 of part @i, and that position's line: its place becomes the part's start,
 * what it says is appended to @initial.
 *
 * Returns false if no line has a program counter (TS_EUNSUPPORTED), or the file cannot be read.
 */
bool tenet_read_start(struct tenet *rec, uint32_t i, struct ts_steps *initial, struct ts_error *err);

#endif
