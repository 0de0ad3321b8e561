/* SPDX-License-Identifier: MIT */
/*
 * What one line of a Tenet log says, as effects.
 *
 *      line = item { "," item }
 *      item = REGISTER "=" HEX  |  ("mr" | "mw" | "mrw") "=" HEX ":" BYTES { ";" HEX ":" BYTES }
 *
 * HEX may begin with 0x and has any number of digits, BYTES are two digits each; all in either case.  Blanks
 * around items, and empty items, say nothing.  Damage is found item by item and counted by kind.
 */
#ifndef LOADERS_TENET_LINE_H
#define LOADERS_TENET_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "loaders/kit/line_reader.h"
#include "loaders/kit/regmap.h"
#include "loaders/kit/warn.h"
#include "src/trace/reader.h"

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

#endif
