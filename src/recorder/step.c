/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include <string.h>

#include "loaders/usercorn/op_write.h"
#include "maps.h"
#include "qemu.h"
#include "ring.h"
#include "src/record/shadow.h"

#define MAX_ACCESS_LEN 16u /* of one that a callback shows */
#define MAX_ZERO_LEN 2048u /* of AArch64's dc zva: the maximum of DCZID_EL0 */
#define PPC_R0 2u
#define PPC_LINE 128u
#define ALL_GROUPS ((1u << TS_N_GROUPS) - 1)

static struct ts_access *new_access(struct ts_task *t, uint64_t addr, uint32_t len, uint8_t kind)
{
	struct ts_access *a;

	if (t->n_accesses == TS_MAX_ACCESSES)
		return NULL;
	a = &t->accesses[t->n_accesses++];
	a->addr = addr;
	a->len = len;
	a->kind = kind;
	return a;
}

/* Memory has bytes that no recorded write stored: record a change, and count it. */
static void correct(struct ts_task *t, uint64_t addr, const uint8_t *found, uint32_t len)
{
	struct ts_access *a = new_access(t, addr, len, UCIR_CHANGED);

	if (!a)
		return;
	memcpy(a->bytes, found, len);
	memcpy(ts_shadow_at(addr), a->bytes, len);
	if (!ts_maps_is_unknown(addr) && !ts_kernel_is_tid_word(addr, len))
		ts_out_ring()->n_unexplained++;
}

/* Copy what was stored, into the shadow and to @p. */
static uint8_t *take_stored(uint8_t *p, uint64_t addr, uint32_t len)
{
	const uint8_t *from = ts_host(addr);
	uint8_t *shadow = ts_shadow_run(addr, len) == len ? ts_shadow_at(addr) : NULL;

	if (shadow && len == 8) {
		memcpy(shadow, from, 8);
		memcpy(p, from, 8);
	} else if (shadow && len == 4) {
		memcpy(shadow, from, 4);
		memcpy(p, from, 4);
	} else {
		ts_shadow_set(addr, from, len);
		memcpy(p, from, len);
	}
	return p + len;
}

static void check(struct ts_task *t, uint64_t addr, const uint8_t *found, uint32_t len)
{
	const uint8_t *shadow;

	if (ts_shadow_run(addr, len) < len || len > sizeof(t->accesses[0].bytes))
		return;
	shadow = ts_shadow_at(addr);
	if (shadow && !ts_shadow_is_same(shadow, found, len) && ts_kernel_n_leaving)
		ts_kernel_settle();
	if (shadow && !ts_shadow_is_same(shadow, found, len))
		correct(t, addr, found, len);
}

void ts_step_read(struct ts_task *t, uint64_t addr, const uint8_t *found, uint32_t len)
{
	check(t, addr, found, len);
	new_access(t, addr, len, UCIR_READ);
}

void ts_step_wrote(struct ts_task *t, uint64_t addr, uint32_t len)
{
	new_access(t, addr, len, UCIR_WRITE);
}

/*
 * AArch64: the number of bytes that dc zva clears.  The recorder takes it from DCZID_EL0 when the program
 * reads that register (mrs); until then it is that of QEMU's model "max".
 */
static uint32_t zero_len = 512;

/* The register x0..x30 is in the five low bits of either instruction; 31 is the zero register. */
static uint64_t operand(const struct ts_task *t)
{
	unsigned x = *ts_host(t->pc) & 31;

	return x == 31 ? 0 : ts_regs_get(t->cpu, (uint16_t)(x < 29 ? 199 + x : 1 + x - 29));
}

/*
 * PowerPC: dcbz clears the line at ra + rb, where r0 is 0 as the first; lines of 64-bit processors have 128
 * bytes.
 */
static void zero_line(struct ts_task *t)
{
	const uint8_t *at = ts_host(t->pc);
	uint32_t high = ts_guest->is_big_endian ? (uint32_t)at[1] << 8 | at[2] : (uint32_t)at[2] << 8 | at[1];
	uint16_t ra = high >> 8 & 31, rb = high >> 3 & 31;
	uint64_t addr = (ra ? ts_regs_get(t->cpu, PPC_R0 + ra) : 0) + ts_regs_get(t->cpu, PPC_R0 + rb);

	ts_step_wrote(t, addr & ~(uint64_t)(PPC_LINE - 1), PPC_LINE);
}

static void zero_block(struct ts_task *t)
{
	if (ts_guest->is_ppc)
		zero_line(t);
	else
		ts_step_wrote(t, operand(t) & ~(uint64_t)(zero_len - 1), zero_len);
}

static void learn_zero_len(const struct ts_task *t)
{
	uint32_t len = 4u << (operand(t) & 15);

	zero_len = len <= MAX_ZERO_LEN ? len : zero_len;
}

void ts_step_begin(struct ts_task *t, uint64_t pc, uint8_t len, uint8_t flags)
{
	t->has_step = true;
	t->pc = pc;
	t->len = len;
	t->flags = flags;
	t->n_accesses = 0;
	if (flags & TS_INSN_UNSEEN)
		check(t, pc, ts_host(pc), len);
	if (flags & TS_INSN_ZERO)
		zero_block(t);
}

static uint8_t *put_access(const struct ts_access *a, uint8_t *p)
{
	if (a->kind == UCIR_READ)
		return ucir_put_access(p, UCIR_READ, a->addr, a->len);
	if (a->kind == UCIR_CHANGED)
		return ucir_put_contents(p, UCIR_CHANGED, a->addr, a->bytes, a->len);
	return take_stored(ucir_put_access(p, UCIR_WRITE, a->addr, a->len), a->addr, a->len);
}

static unsigned groups_of(const struct ts_task *t)
{
	unsigned groups = 1u << TS_GENERAL;

	if (t->is_stale)
		return ALL_GROUPS;
	groups |= t->flags & TS_INSN_VECTOR ? 1u << TS_VECTOR : 0;
	groups |= t->flags & TS_INSN_X87 ? 1u << TS_X87 : 0;
	groups |= t->flags & TS_INSN_RARE ? 1u << TS_RARE : 0;
	return groups;
}

/* Called with the turn, so that no other thread counts. */
static void count_step(void)
{
	struct ts_ring *r = ts_out_ring();

	atomic_store_explicit(&r->n_steps, atomic_load_explicit(&r->n_steps, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

void ts_step_end(struct ts_task *t, bool has_regs, uint64_t next)
{
	size_t room = t->n_accesses * (UCIR_PUT_ACCESS_LEN + MAX_ACCESS_LEN) + MAX_ZERO_LEN + TS_REGS_ROOM +
		      UCIR_PUT_STEP_LEN + UCIR_PUT_JMP_LEN;
	uint8_t *p = ts_out_room(t->pid, room);
	uint32_t n_ops = t->n_accesses + 1;

	for (unsigned i = 0; i < t->n_accesses; i++)
		p = put_access(&t->accesses[i], p);
	if (ts_guest->is_arm)
		ts_regs_advance_it(&t->values, t->flags & TS_INSN_IT ? *ts_host(t->pc) : -1);
	if (t->flags & TS_INSN_ZERO_LEN)
		learn_zero_len(t);
	if (has_regs) {
		p = ts_regs_changes(t->cpu, &t->values, groups_of(t), p, &n_ops);
		t->is_stale = false;
	}
	p = ucir_put_step(p, t->len);
	if (next != t->pc + t->len) {
		p = ucir_put_jmp(p, next);
		n_ops++;
	}
	ts_out_publish(p, n_ops);
	count_step();
	t->at = next;
	t->has_step = false;
	t->n_accesses = 0;
}

void ts_step_jump(struct ts_task *t, uint64_t next)
{
	uint8_t *p = ts_out_room(t->pid, UCIR_PUT_JMP_LEN);

	ts_out_publish(ucir_put_jmp(p, next), 1);
	t->at = next;
}
