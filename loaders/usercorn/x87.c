/* SPDX-License-Identifier: MIT */
/*
 * Stores of x86 that the tool does not see, or not wholly: the x87's of 10 bytes and of its whole state.  The
 * bytes that the trace does not show become unknown.
 *
 * The instruction is taken from the memory at the start of the trace; its address from the general registers,
 * which the tasks keep for that.
 */
#include "x87.h"

#include <endian.h>
#include <string.h>

#include "trace.h"

/* The largest operand: fxsave's. */
#define MAX_STORE 512u

/* Does the instruction store there, more than the tool shows? */
static bool is_unseen(const struct ts_x86_mem *m)
{
	bool is_vector = m->size <= 64 && !(m->size & (m->size - 1));

	return m->access & TS_X86_WRITE && !is_vector && m->size <= MAX_STORE && m->segment == TS_X86_FLAT;
}

static const struct ts_x86_mem *unseen_store(const struct ts_x86_insn *insn)
{
	for (unsigned i = 0; i < insn->n_mem; i++)
		if (is_unseen(&insn->mem[i]))
			return &insn->mem[i];
	return NULL;
}

/* A write of @n bytes at @at of the operand, or before it (then @at is negative, modulo 2^64). */
static void show(bool is_shown[MAX_STORE], uint64_t at, uint32_t len, uint64_t n)
{
	uint64_t before = at < len ? 0 : -at;

	if (at >= len && before >= n)
		return;
	at += before;
	n -= before;
	memset(is_shown + at, true, (size_t)(n < len - at ? n : len - at));
}

/* The bytes [addr, addr + len) that no write of the group shows are written, but not known. */
static void put_unknown(uint64_t addr, uint32_t len, uint32_t mark, struct ts_steps *out)
{
	bool is_shown[MAX_STORE] = { false };

	for (uint32_t i = mark; i < out->n_effects; i++) {
		const struct ts_effect *e = &out->effects[i];

		if (e->kind == TS_FX_WRITE)
			show(is_shown, e->addr - addr, len, e->len);
	}
	for (uint32_t from = 0, to; from < len; from = to + 1) {
		for (to = from; to < len && !is_shown[to]; to++)
			;
		if (to > from)
			ts_steps_effect(out, TS_FX_WRITE, addr + from, to - from);
	}
}

static uint64_t address_of(const struct usercorn *rec, const struct ucir_task *t,
			   const struct ts_x86_insn *insn, const struct ts_x86_mem *m)
{
	uint8_t g[8 * UCIR_MAX_GPRS];

	for (uint32_t i = 0; i < rec->n_gprs; i++) {
		const uint64_t value = htole64(t->gprs[i + 1]);

		memcpy(g + i * (rec->x86.is_64 ? 8 : 4), &value, rec->x86.is_64 ? 8 : 4);
	}
	return ts_x86_mem_addr(insn, m, &rec->x86, g) & rec->addr_mask;
}

/* May the bytes be such a store?  It costs little to ask, and decoding does not. */
static bool may_store(const uint8_t *bytes, size_t n)
{
	size_t i = 0;

	while (i < n && (bytes[i] == 0x66 || bytes[i] == 0x67 || (bytes[i] & 0xf0) == 0x40 ||
			 (bytes[i] & 0xe7) == 0x26 || (bytes[i] & 0xfe) == 0x64))
		i++;
	if (n - i < 2)
		return false;
	return (bytes[i] & 0xf9) == 0xd9 || (bytes[i] == 0x0f && bytes[i + 1] == 0xae);
}

/* The store that the current instruction of a task makes, NULL if it is another one. */
static const struct ts_x86_mem *store_of(const struct usercorn *rec, const struct ucir_task *t,
					 uint64_t insn_len, struct ts_x86_insn *insn)
{
	size_t n = 0;
	const uint8_t *bytes = rec->n_gprs ? ucir_initial_bytes(rec, t->thread, t->pc, &n) : NULL;

	if (!bytes || !may_store(bytes, n) || !ts_x86_decode(&rec->x86, t->pc, bytes, n, insn) ||
	    insn->len != insn_len)
		return NULL;
	return unseen_store(insn);
}

void ucir_x87_look(struct ucir_reader *r, uint64_t insn_len, struct ts_steps *out)
{
	const struct usercorn *rec = r->w.rec;
	const struct ucir_task *t = r->task;
	struct ts_x86_insn insn;
	const struct ts_x86_mem *m = store_of(rec, t, insn_len, &insn);
	uint64_t addr;

	if (!m) {
		r->others[t->pc % UCIR_N_OTHERS] = t->pc ^ t->pc_key;
		return;
	}
	addr = address_of(rec, t, &insn, m);
	if (t->has_state && m->size - 1u <= rec->addr_mask - addr)
		put_unknown(addr, m->size, r->mark, out);
}
