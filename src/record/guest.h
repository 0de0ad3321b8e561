/* SPDX-License-Identifier: MIT */
/*
 * The registers of a processor in Valgrind's guest state, and as a recording has them.
 *
 * The offsets are those of Valgrind's published structs, which have been the same since 3.19.
 */
#ifndef TS_RECORD_GUEST_H
#define TS_RECORD_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log.h"

#define TS_GUEST_MAX_PUT 48u /* bytes of a register as an op; of ts_guest_put() for the x87 unit: TS_GUEST_X87_PUT */
#define TS_GUEST_X87_PUT 192u
#define TS_GUEST_NO_REG 255u
#define TS_GUEST_NO_CALL UINT32_MAX /* the processor's kernel has no such system call */

enum ts_guest_reg_kind {
	TS_GUEST_PLAIN, /* REG of the word there */
	TS_GUEST_SHORT, /* REG of two bytes */
	TS_GUEST_HALF,  /* REG of four bytes */
	TS_GUEST_FLAGS,
	TS_GUEST_MXCSR,
	TS_GUEST_SATURATED, /* AArch64's FPSR */
	TS_GUEST_XMM,      /* the lower half of a YMM */
	TS_GUEST_XMM_ONLY, /* of a processor without YMM */
	TS_GUEST_YMM,
	TS_GUEST_X87, /* the whole unit */
};

struct ts_guest_reg {
	uint8_t kind; /* enum ts_guest_reg_kind */
	uint8_t n;    /* of its kind */
	uint16_t num; /* in a recording */
	uint16_t off; /* in the guest state */
};

struct ts_log_guest {
	const char *arch; /* in a recording */
	unsigned word;    /* bytes */
	bool is_arm64;    /* its flags are computed otherwise */
	uint32_t n_state; /* bytes of the guest state that are used */
	uint16_t sp;      /* offset of the stack pointer */
	uint16_t result;  /* offset of a system call's result */
	uint16_t arg[2];  /* offsets of a signal handler's first arguments; 0: on the stack */
	const struct ts_guest_reg *regs;
	unsigned n_regs;
	unsigned (*reg)(unsigned off, unsigned len); /* ts_log_guest_reg() */
	const uint16_t (*constants)[2]; /* registers that the guest state does not have: their numbers, and values */
	unsigned n_constants;
	/* Offsets: what the flags are computed of, and the x87 unit. */
	uint16_t cc, dflag, acflag, idflag, x87, end_x87, ftop, fpreg, fptag, fpround, fc3210;
	struct {
		uint32_t execve, execveat, exit, exit_group, clone, clone3, fork, vfork, kill, tgkill, prctl, seccomp;
	} calls;
};

/* Returns the guest of @arch, a constant; NULL if Valgrind's tool does not record it. */
const struct ts_log_guest *ts_log_guest_find(const char *arch);

/*
 * The register that bytes [@off, @off + @len) of the guest state belong to.
 *
 * Returns TS_GUEST_NO_REG if no recorded register is there, else its place in @g->regs.
 */
unsigned ts_log_guest_reg(const struct ts_log_guest *g, unsigned off, unsigned len);

/*
 * Write register @r of @state as ops at @p, and add their number to *n_ops.  The bits of @mmx mark the registers of the
 * x87 unit that contain an MMX integer instead of a double.
 *
 * Returns the address after the ops, in the caller's bytes.
 */
uint8_t *ts_log_guest_put(const struct ts_log_guest *g, const struct ts_guest_reg *r, const uint8_t *state, uint8_t mmx,
			  uint8_t *p, uint32_t *n_ops);

/* The index of the x87 register at @off of the guest state.  Returns -1 if no x87 register is there. */
int ts_log_guest_x87_place(const struct ts_log_guest *g, unsigned off);

/* Clear the bits of @mmx whose registers differ between the two states. */
uint8_t ts_log_guest_same_mmx(const struct ts_log_guest *g, uint8_t mmx, const uint8_t *a, const uint8_t *b);

/* Does the decoder compute the flags of the sample @f? */
bool ts_log_guest_knows(const struct ts_log_guest *g, const struct ts_log_flags *f);

/*
 * Write the registers that are constant and not in the guest state, such as segments, as ops at @p, and add their number to
 * *n_ops.  Returns the address after the ops, in the caller's bytes.
 */
uint8_t *ts_log_guest_put_constants(const struct ts_log_guest *g, uint8_t *p, uint32_t *n_ops);

/* Does register @r differ between the two states? */
bool ts_log_guest_differs(const struct ts_log_guest *g, const struct ts_guest_reg *r, const uint8_t *a, const uint8_t *b);

#endif
