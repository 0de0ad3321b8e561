/* SPDX-License-Identifier: MIT */
/*
 * Effects of instructions that recorders do not log, or log wrongly.  Such values become unknown, or are
 * computed.
 *
 * In all functions @raw has the instruction's bytes from the frame, which may be empty.
 */
#ifndef LOADERS_BAP_INSN_H
#define LOADERS_BAP_INSN_H

#include "loaders/kit/pbwire.h"
#include "src/arch/x86_insn.h"
#include "state.h"

/* The cpsr's T bit: Thumb. */
#define BAP_ARM_T UINT32_C(0x20)
#define BAP_ARM_C UINT32_C(0x20000000)

/* Returns the cpsr's T bit, BAP_ARM_T or 0, for the mode of an ARM frame. */
uint32_t bap_arm_t(const struct pb_value *mode);

/* Set the cpsr's T bit of @t, if the frame's mode or the length of its instruction determines it. */
void bap_see_mode(struct bap_known *k, struct bap_thread *t, const struct pb_message *std);

/*
 * Advance the cpsr's IT bits after a Thumb instruction: the number of instructions that are still
 * conditional.
 */
void bap_step_it(struct bap_known *k, struct bap_thread *t, const struct pb_value *raw);

/* The registers that tracewrap logs wrongly, or not at all, for an x86 instruction with operands. */
enum bap_x86_loss {
	BAP_LOSS_NONE,    /* none, or another machine or recorder */
	BAP_LOSS_AF,      /* AF where it is not defined */
	BAP_LOSS_STATUS,  /* the status flags */
	BAP_LOSS_RESULTS, /* the status flags, the accumulator and its extension */
};

/* Returns the registers that are lost, which the bytes of the instruction @raw determine. */
enum bap_x86_loss bap_x86_loss(const struct bap *rec, const struct pb_value *raw);

/* Make the registers of a loss unknown. */
void bap_lose_x86(struct bap_known *k, struct bap_thread *t, enum bap_x86_loss loss);

/*
 * Make the registers unknown that a helper of the emulator writes, after an instruction whose frame has
 * operands: the frame does not list those registers.
 */
void bap_lose_helpers(struct bap_known *k, struct bap_thread *t, const struct pb_value *raw);

/* Does the instruction enter the kernel?  The kernel may then write to memory. */
bool bap_is_trap(const struct bap *rec, const struct bap_thread *t, const struct pb_value *raw);

/*
 * Make the registers unknown that the instruction at @pc writes according to its encoding. It is called for instructions
 * without operands in the frame: system calls, and instructions that a helper of the emulator executes.
 */
void bap_lose_unlogged(struct bap_known *k, struct bap_thread *t, uint64_t pc, const struct pb_value *raw);

/* Is the next instruction after the one at @pc certainly the next one in memory? */
bool bap_goes_on(const struct bap *rec, uint64_t pc, const uint8_t *bytes, size_t len);

struct bap_result {
	uint64_t pc;
	uint8_t bytes[TS_X86_MAX_INSN + 1]; /* padded with zeros */
	uint8_t len;                        /* of the bytes; 0: the entry is empty */
	bool is_insn;                       /* false: insn and results are empty */
	struct ts_x86_insn insn;            /* its memory accesses */
	struct ts_x86_results results;      /* its registers and flags */
};

struct bap_results;

/*
 * Decode the instruction at @pc.  @bytes has @len bytes, not 0, and begins with it.  *table is a cache, NULL
 * at first; it is allocated when it is needed, and the caller frees it with free().
 *
 * Returns the result, valid until the next call.
 * Returns NULL if memory is exhausted.
 */
const struct bap_result *bap_results_find(struct bap_results **table, const struct ts_x86 *x, uint64_t pc,
					  const uint8_t *bytes, uint64_t len);

#endif
