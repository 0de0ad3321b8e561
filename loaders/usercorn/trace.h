/* SPDX-License-Identifier: MIT */
/*
 * An open trace of Usercorn, shared by the files of this folder.
 */
#ifndef LOADERS_USERCORN_TRACE_H
#define LOADERS_USERCORN_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaders/kit/warn.h"
#include "src/arch/arch.h"
#include "src/arch/x86_insn.h"
#include "src/trace/reader.h"
#include "stream.h"

/* Register numbers in the tables are below this. */
#define UCIR_N_REGS 512

/*
 * The register numbers `first` to `last`.  They are the registers `base`, `base` + `step`, ... of a name with
 * a number ("r%u"), or one register.
 */
struct ucir_reg_range {
	uint16_t first, last;
	const char *name; /* gdb's */
	uint8_t base, step;
	bool is_recorded; /* the tool records it; it is zero at the beginning */
};

struct ucir_arch {
	const char *name;  /* in the header of a trace */
	const char *model; /* tracestub's, in its usual byte order */
	bool is_one_order; /* exists in the usual order only */
	const struct ucir_reg_range *regs;
	size_t n_regs;
	uint16_t pc;      /* number of the program counter */
	const char *zero; /* the register that is always zero, NULL for none */
	uint8_t max_insn_len;
	uint8_t since;     /* the first version of the format that has it */
	uint32_t exits[2]; /* Linux's numbers of exit and exit_group; before version 2 */
};

/*
 * Returns the architecture that a header of @version calls @name, a constant.
 * Returns NULL if the name is unknown.
 */
const struct ucir_arch *ucir_arch_find(const char *name, unsigned version);

/* Returns the names of all architectures of @version, a literal for messages. */
const char *ucir_arch_names(unsigned version);

/* The destination of a register number's value. */
enum ucir_slot_kind {
	UCIR_SLOT_NONE, /* unknown, a part of another register, or not in the set */
	UCIR_SLOT_REG,
	UCIR_SLOT_PC,
	UCIR_SLOT_YMM, /* its lower half at off, the upper one at high */
};

struct ucir_slot {
	uint32_t off; /* in the 'g' layout */
	uint32_t high;
	uint16_t len;
	uint8_t kind; /* enum ucir_slot_kind */
	uint8_t gpr;  /* x86: index of a general register in the layout, counted from 1; 0: another register */
	bool is_recorded;
};

/*
 * Returns a mask of the optional features of @model that have one of the registers whose numbers are set in
 * @seen.
 */
uint32_t ucir_arch_features(const struct ucir_arch *arch, const struct ts_arch *model,
			    const bool seen[UCIR_N_REGS]);

/*
 * Set *slots for each register number.  The first @n_gprs registers of @set are the general registers of x86.
 */
void ucir_arch_slots(const struct ucir_arch *arch, const struct ts_regset *set,
		     uint32_t n_gprs, struct ucir_slot slots[UCIR_N_REGS]);

/* Contents of a region in a leading keyframe: a TS_FX_WRITE of the initial effects. */
struct ucir_content {
	uint64_t addr; /* as in the effect */
	uint32_t thread;
	uint32_t effect;
};

struct usercorn {
	struct ts_recording base;
	struct ucir_bytes bytes;
	const struct ucir_arch *arch;
	const struct ts_arch *model; /* tracestub's architecture, in the byte order of this trace */
	uint8_t version; /* 0, 1 or 2 */
	bool is_code_big_endian;
	uint64_t addr_mask;
	struct ucir_slot slots[UCIR_N_REGS];
	/* x86 of 32 and 64 bits before version 2: general registers, which come first; 0 for others */
	uint32_t n_gprs;
	struct ts_x86 x86; /* if n_gprs is not 0 */
	struct ts_warner warner; /* by stream offsets */
	bool is_cut;        /* END says that the recording ended before the program */
	uint64_t last_name; /* stream offset of the last NOTE with a thread's name that was used; 0: none */
	/* The members below are valid when the initial state is complete. */
	struct ucir_content *contents; /* owned; by thread and address */
	uint32_t n_contents;
};

/* The process id in a frame's @pid.  In version 2 @pid consists of a process id and a thread id. */
static inline uint64_t ucir_process_id(const struct usercorn *rec, uint64_t pid)
{
	return rec->version < 2 ? pid : pid >> 32;
}

/* ---------------------------------------------------------------------------------------- start.c */

/* Facts of a trace from the ops before the first STEP. */
struct ucir_start {
	struct ts_steps *initial; /* receives the leading keyframes' state; NULL: it is only scanned */
	bool seen[UCIR_N_REGS];   /* register numbers that occur */
	bool has_keyframe;
	bool has_jmp;
	bool has_syscall;
	uint64_t n_frames;
};

/*
 * Walk over the trace up to its first STEP; @start (zeros except for initial) receives the facts found there.
 *
 * Returns TS_ITEM at the STEP.
 * Returns TS_END if the trace ends without a STEP.
 * Returns TS_FAIL if the trace is truncated (TS_ETRUNC) or damaged (TS_ECORRUPT) before it.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO).
 * Returns TS_FAIL if memory is exhausted (TS_ENOMEM).
 */
enum ts_next ucir_read_start(struct usercorn *rec, struct ucir_start *start, struct ts_error *err);

/* ------------------------------------------------------------------------------- initial_memory.c */

/*
 * Fill rec->contents from the initial effects, which are complete.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ucir_index_contents(struct usercorn *rec, struct ts_error *err);

/*
 * Returns the initial bytes at @addr of the process of @thread, borrowed from the recording; *n is set to
 * their number.
 * Returns NULL if the trace does not have them.
 */
const uint8_t *ucir_initial_bytes(const struct usercorn *rec, uint32_t thread, uint64_t addr, size_t *n);

/* ---------------------------------------------------------------------------------------- place.c */

/*
 * Move the contents of regions in rec->base.initial to their right addresses.  @exec is the path of the
 * program's file, NULL if it is not available; a file that is not ELF, or that is another program, is a
 * warning.  @like is the same recording, opened before, whose contents have been moved; NULL: it was not opened before.
 *
 * Returns false if @exec or the trace cannot be read (TS_EIO): the contents would be at wrong addresses for a
 * temporary reason.
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ucir_place(struct usercorn *rec, const struct usercorn *like, const char *exec, struct ts_error *err);

/*
 * Read the command line and the auxiliary vector from the initial stack of a Linux process into rec->base, if
 * all of it is valid.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ucir_read_stack(struct usercorn *rec, struct ts_error *err);

/* ----------------------------------------------------------------------------------------- vote.c */

/* A question: at which offset in [addr, addr + len) are the data_len bytes of data? */
struct ucir_vote {
	uint64_t addr, len;
	uint64_t data_len;   /* less than len */
	const uint8_t *data; /* borrowed; neither its first nor its last byte is zero */
	uint32_t thread;
	/* The answer. */
	bool is_decided;
	uint64_t shift;
	uint32_t n_for;     /* accessed bytes that are not zero and equal the data at that offset */
	uint32_t n_against; /* accessed bytes that differ from the data at that offset */
};

/* The largest number of questions; further ones are not answered. */
#define UCIR_MAX_VOTES 32

/*
 * Answer the @n questions, at most UCIR_MAX_VOTES, from a bounded first part of the trace.  If the trace is
 * damaged there, only the part before the damage is used.
 *
 * Returns false if the trace cannot be read (TS_EIO).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ucir_vote(struct usercorn *rec, struct ucir_vote *votes, size_t n, struct ts_error *err);

#endif
