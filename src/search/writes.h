/* SPDX-License-Identifier: MIT */
/*
 * The writes of a step, and the thread that made them: no other file decides this (README).
 *
 * Registers and flags are written by what the instruction's operands say (src/arch/operands/operands.h), whether their
 * value changes or not, and by whatever the recording shows to have changed besides.  A system call also writes each range
 * of registers that the recording lists, if a byte of it changes or was unknown: gdb's record also lists registers that the
 * call leaves as they are (AArch64's x30).  Where the instruction is not known, the recording alone counts.  Memory is written
 * where the recording says so (ts_effect_writes_memory()).
 */
#ifndef TS_SEARCH_WRITES_H
#define TS_SEARCH_WRITES_H

#include "location.h"
#include "src/base/error.h"
#include "src/query/code/insns.h"
#include "src/query/query.h"
#include "src/trace/step.h"

struct ts_written {
	uint64_t mask; /* bytes of the location, or flags */
	enum ts_writer_kind kind;
};

/* The effects that the operands of an instruction name and its step does not have. */
enum ts_omits {
	TS_OMITS_CONDITIONAL = 1, /* conditional transfers: the condition does not hold */
	/*
	 * results of a system call: the program ended in it, its thread did not return from it, other threads ran before it
	 * returned (its result then comes with the last step of these), or it runs in the recorded machine
	 */
	TS_OMITS_RESULT = 2,
};

/*
 * Set *omits to a mask of enum ts_omits for step @pos, whose instruction is @d.  @state has the registers before the step;
 * NULL: they are read if the instruction has a condition.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_step_omits(struct ts_query *q, uint64_t pos, const struct ts_decoded *d, const struct ts_op_state *state,
		   unsigned *omits, struct ts_error *err);

/*
 * Is @d, step @pos of the thread of @loc, a system call that returned after steps of other threads?  If so, *at is set to the
 * last of these steps, at which the result is written, and *mask to the bytes of @loc that the result has.
 */
bool ts_late_result(struct ts_query *q, uint64_t pos, const struct ts_decoded *d, const struct ts_location *loc,
		    uint64_t *at, uint64_t *mask);

/*
 * Set *mask to the bytes of @loc, registers or flags, that the result of a system call has.  The call is one of the thread of @loc that
 * returned after step @pos, which is a step of another thread.  *mask is 0 if no call did.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_late_result_at(struct ts_query *q, uint64_t pos, const struct ts_location *loc, uint64_t *mask, struct ts_error *err);

/* Memory that mremap(2) moved: [from, from + len) came to [to, to + len). */
struct ts_moved {
	uint64_t from, to, len;
};

/*
 * Did step @pos move memory?
 *
 * Returns true with *m set if the recording has a call of mremap(2) there whose result is another address.
 * Returns false otherwise.
 */
bool ts_step_moves(const struct ts_query *q, uint64_t pos, struct ts_moved *m);

/*
 * Set *mask to the bytes of @loc (registers, flags, or the pc) that the operands of @d, the instruction of step @pos, write.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_writes_by_operands(struct ts_query *q, uint64_t pos, const struct ts_decoded *d,
			   const struct ts_location *loc, uint64_t *mask, struct ts_error *err);

/*
 * Returns the bytes of @loc (registers, flags, or the pc) that the operands of @d write at each of its steps, as a mask.
 * Sets *maybe to those that they write only at steps where the instruction's condition holds.  The result of a system
 * call is included if @has_result.
 */
uint64_t ts_operands_write(const struct ts_decoded *d, const struct ts_location *loc, bool has_result, uint64_t *maybe);

/*
 * Set *mask to the bytes of @loc (registers, or flags) that the instruction of step @pos writes by its operands or as a system
 * call; 0 if the step is not one of the thread of @loc.  A system call writes each listed range of which a byte changed, became
 * known, or has a value that the step does not show.  Set *d to the instruction, borrowed as the result of ts_query_insn() is.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_writes_by_insn(struct ts_query *q, uint64_t pos, const struct ts_location *loc, const struct ts_decoded **d,
		       uint64_t *mask, struct ts_error *err);

/*
 * Returns the bytes of @loc that step @st, of instruction @d, wrote beside @by_insn (ts_writes_by_insn()), and their writer.
 * @listed are the bytes that its effects list; @changed those of them that have another value after the step, or whose value
 * the step does not show.  If the instruction is not known, all of @listed count.
 */
struct ts_written ts_recorded_write(const struct ts_query *q, const struct ts_steps *b, const struct ts_step *st,
				    const struct ts_decoded *d, const struct ts_location *loc, uint64_t by_insn,
				    uint64_t listed, uint64_t changed);

/* Does the recording contradict itself anywhere?  If not, no step must be compared with the next one. */
bool ts_writes_may_contradict(const struct ts_query *q);

/*
 * Set *w to the bytes of @loc that step @pos wrote; w->mask is 0 if it wrote none.  If writers of several kinds wrote bytes, *w
 * has the last kind, and the bytes of that kind.  @may_contradict is the result of ts_writes_may_contradict().  Memory of a
 * machine has physical addresses.
 *
 * Returns false if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_step_writes(struct ts_query *q, uint64_t pos, const struct ts_location *loc, bool may_contradict,
		    struct ts_written *w, struct ts_error *err);

/* Does the step have an event of a kind of the mask (1 << enum ts_event_kind)? */
bool ts_step_has_event(const struct ts_steps *b, const struct ts_step *st, uint32_t kinds);

/* Is the step a system call?  Then the system wrote what changed. */
bool ts_step_is_syscall(const struct ts_query *q, const struct ts_steps *b, const struct ts_step *st,
			const struct ts_decoded *d);

#endif
