/* SPDX-License-Identifier: MIT */
/*
 * An open trace of Usercorn: what the files of this folder share.
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

/* Register numbers that the tables know are below this. */
#define UCIR_N_REGS 512

/*
 * Numbers @first..@last are the registers @base, @base + @step, ... of that name ("r%u"), or the one of that
 * name.
 */
struct ucir_reg_range {
	uint16_t first, last;
	const char *name; /* gdb's */
	uint8_t base, step;
	bool is_recorded; /* the tool records it: zero until the trace says otherwise */
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
	uint8_t since;     /* the first version that has it */
	uint32_t exits[2]; /* Linux's numbers of exit and exit_group; before version 2 */
};

/* The architecture that a header of @version calls @name, NULL for an unknown one. */
const struct ucir_arch *ucir_arch_find(const char *name, unsigned version);

/* All names, for a message. */
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
	uint8_t gpr;  /* x86: the general register's place in the layout, from 1 on; 0: it is no general register */
	bool is_recorded;
};

/* The optional features of @model that have one of the registers whose numbers are set in @seen. */
uint32_t ucir_arch_features(const struct ucir_arch *arch, const struct ts_arch *model,
			    const bool seen[UCIR_N_REGS]);

/* Find the offset of each number in @set, of which the first @n_gprs registers are x86's general ones. */
void ucir_arch_slots(const struct ucir_arch *arch, const struct ts_regset *set,
		     uint32_t n_gprs, struct ucir_slot slots[UCIR_N_REGS]);

/* Contents that a leading keyframe gives to a region: a TS_FX_WRITE of the initial effects. */
struct ucir_content {
	uint64_t addr; /* as in the effect */
	uint32_t thread;
	uint32_t effect;
};

struct usercorn {
	struct ts_recording base;
	struct ucir_bytes bytes;
	const struct ucir_arch *arch;
	const struct ts_arch *model; /* the same in the order of this trace */
	uint8_t version; /* 0, 1 or 2 */
	bool is_code_big_endian;
	uint64_t addr_mask;
	struct ucir_slot slots[UCIR_N_REGS];
	/* x86 of 32 and 64 bits before version 2: general registers, which come first; 0 for others */
	uint32_t n_gprs;
	struct ts_x86 x86; /* if there are any */
	struct ts_warner warner; /* by stream offsets */
	bool is_cut;        /* the recorder said that it ended before the program */
	uint64_t last_name; /* stream offset of the last NOTE with a thread's name that was used; 0: none was */
	/* Made when the initial state is complete. */
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
 * Returns TS_ITEM at a STEP, TS_END if the trace ends without one, TS_FAIL with @err if it is truncated or
 * damaged before.
 */
enum ts_next ucir_read_start(struct usercorn *rec, struct ucir_start *start, struct ts_error *err);

/* ------------------------------------------------------------------------------- initial_memory.c */

/*
 * Fill rec->contents from the initial effects, which are complete.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ucir_index_contents(struct usercorn *rec, struct ts_error *err);

/* The initial bytes from @addr on of a thread's process, *n of them; NULL where the trace has none. */
const uint8_t *ucir_initial_bytes(const struct usercorn *rec, uint32_t thread, uint64_t addr, size_t *n);

/* ---------------------------------------------------------------------------------------- place.c */

/*
 * Move the contents in rec->base.initial.  @exec is the path of the program's file, NULL if it is not
 * available.  @like: the same recording, opened before, whose contents are in their places; NULL: none.
 *
 * Returns false if @exec or the trace cannot be read (TS_EIO) or memory is exhausted (TS_ENOMEM): continuing
 * would leave contents in wrong places for a temporary reason.  An @exec that is not an ELF file, or another
 * program than the recorded one, is a warning.
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

/* A question: at which shift in [addr, addr + len) do the @data_len bytes lie? */
struct ucir_vote {
	uint64_t addr, len;
	uint64_t data_len;   /* less than len */
	const uint8_t *data; /* borrowed; neither its first nor its last byte is zero */
	uint32_t thread;
	/* The answer. */
	bool is_decided;
	uint64_t shift;
	uint32_t n_for,
		n_against; /* bytes seen that are not zero and fit there; bytes seen that do not fit */
};

/* The largest number of questions; further ones are not answered. */
#define UCIR_MAX_VOTES 32

/*
 * Answer the @n (at most UCIR_MAX_VOTES) questions, as far as a bounded first part of the trace can.  If the
 * trace is damaged there, the part before is used.
 *
 * Returns false if the trace cannot be read (TS_EIO), or if memory is exhausted (TS_ENOMEM).
 */
bool ucir_vote(struct usercorn *rec, struct ucir_vote *votes, size_t n, struct ts_error *err);

#endif
