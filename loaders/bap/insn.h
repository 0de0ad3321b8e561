/* SPDX-License-Identifier: MIT */
/*
 * Effects of instructions that recorders do not log, or log wrongly: such values become unknown, or are
 * computed.
 *
 * @raw is the instruction's bytes from the frame, which may be empty.
 */
#ifndef LOADERS_BAP_INSN_H
#define LOADERS_BAP_INSN_H

#include "loaders/kit/pbwire.h"
#include "src/arch/x86_insn.h"
#include "state.h"

/* The cpsr's T bit: Thumb. */
#define BAP_ARM_T UINT32_C(0x20)
#define BAP_ARM_C UINT32_C(0x20000000)

/* The cpsr's T bit of an ARM frame's mode. */
uint32_t bap_arm_t(const struct pb_value *mode);

/* The instruction set of an ARM frame: the cpsr's T bit, at least where the frame or its length tells. */
void bap_see_mode(struct bap_known *k, struct bap_thread *t, const struct pb_message *std);

/*
 * The cpsr's IT bits after a Thumb instruction, which tell for how many more instructions a condition holds.
 */
void bap_step_it(struct bap_known *k, struct bap_thread *t, const struct pb_value *raw);

/* What tracewrap logs wrongly or not at all of an x86 instruction that has operands. */
enum bap_x86_loss {
	BAP_LOSS_NONE,    /* another machine, or another recorder */
	BAP_LOSS_AF,      /* AF where it is not defined */
	BAP_LOSS_STATUS,  /* the status flags */
	BAP_LOSS_RESULTS, /* these, and the accumulator and its extension */
};

/* By the instruction's bytes alone. */
enum bap_x86_loss bap_x86_loss(const struct bap *rec, const struct pb_value *raw);
void bap_lose_x86(struct bap_known *k, struct bap_thread *t, enum bap_x86_loss loss);

/* After an instruction whose frame has operands, but lacks those that an emulator's helper writes. */
void bap_lose_helpers(struct bap_known *k, struct bap_thread *t, const struct pb_value *raw);

/* Does the kernel run during the instruction of the thread with these bytes?  It may write to memory. */
bool bap_is_trap(const struct bap *rec, const struct bap_thread *t, const struct pb_value *raw);

/*
 * After one at @pc without any operand: a system call, or one that a helper of the emulator executes.  The
 * registers that it writes by its encoding become unknown.
 */
void bap_lose_unlogged(struct bap_known *k, struct bap_thread *t, uint64_t pc, const struct pb_value *raw);

/* Is the instruction after this one, at @pc, certainly the next one in memory? */
bool bap_goes_on(const struct bap *rec, uint64_t pc, const uint8_t *bytes, size_t len);

struct bap_result {
	uint64_t pc;
	uint8_t bytes[TS_X86_MAX_INSN + 1]; /* zeros after them */
	uint8_t len;                        /* of the bytes; 0: empty */
	bool is_insn;                       /* else the two below are empty */
	struct ts_x86_insn insn;            /* the memory that it uses */
	struct ts_x86_results results;      /* registers and flags */
};

struct bap_results;

/*
 * The instruction at @pc that @bytes (@len, not 0) begin with.  *table is made when it is first needed (NULL
 * before); the caller frees it with free().
 *
 * Returns it, valid until the next call; NULL if memory is exhausted.
 */
const struct bap_result *bap_results_find(struct bap_results **table, const struct ts_x86 *x, uint64_t pc,
					  const uint8_t *bytes, uint64_t len);

#endif
