/* SPDX-License-Identifier: MIT */
#include "fault.h"

#include <string.h>

#include "initial_memory.h"
#include "src/arch/traps.h"

/* The "length" of an undefined instruction. */
#define UNDEFINED_INSN 241

/* The processor with the byte order of its instructions. */
static const struct ts_arch *code_arch(const struct usercorn *rec)
{
	return rec->model->is_big_endian == rec->is_code_big_endian ? rec->model
								    : ts_arch_in_order(rec->model,
										       rec->is_code_big_endian);
}

/*
 * A process that ends with a bare EXIT made a system call that was not traced, or its last instruction
 * failed. The bytes of the instruction decide; if they are not in the trace, a register that changed after
 * EXIT shows that the instruction was completed.
 */
static bool is_fault(const struct ucir_reader *r, uint64_t insn_len, const struct ts_steps *out)
{
	const struct usercorn *rec = r->w.rec;
	size_t n = 0;
	const uint8_t *insn = ucir_initial_bytes(rec, r->task->thread, r->task->pc, &n);

	if (insn_len == UNDEFINED_INSN)
		return true;
	if (insn)
		return ts_insn_trap(code_arch(rec), insn_len == 2, insn, n) != TS_TRAP_SYSCALL;
	for (uint32_t i = r->exit_effects; i < out->n_effects; i++)
		if (out->effects[i].kind == TS_FX_REG_WRITE)
			return false;
	return true;
}

/*
 * The instruction failed.  The emulator stops at the access that it cannot make: the last one before EXIT did
 * not happen and is removed.  Earlier accesses of the same instruction (such as those of a string
 * instruction) did.
 */
static void put_fault(struct ucir_reader *r, uint64_t insn_len, struct ts_steps *out)
{
	uint32_t i = r->exit_effects - 1;
	struct ts_event *ev;
	bool has_addr = insn_len != UNDEFINED_INSN && r->exit_effects > r->mark &&
			(out->effects[i].kind == TS_FX_READ || out->effects[i].kind == TS_FX_WRITE);
	uint64_t addr = has_addr ? out->effects[i].addr : 0;

	if (has_addr)
		memmove(out->effects + i, out->effects + i + 1,
			(--out->n_effects - i) * sizeof(*out->effects));
	ev = ts_steps_event(out, TS_EV_FAULT);
	if (ev) {
		ev->addr = addr;
		ev->has_addr = has_addr;
	}
}

/* The step that ends its process. */
void ucir_last_step(struct ucir_reader *r, uint64_t insn_len, struct ts_steps *out)
{
	if (!r->has_bare_exit)
		return;
	r->base.end.is_fault = is_fault(r, insn_len, out);
	if (r->base.end.is_fault)
		put_fault(r, insn_len, out);
	ucir_add_exit(out, NULL);
}
