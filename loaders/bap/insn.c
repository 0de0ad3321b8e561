/* SPDX-License-Identifier: MIT */
/*
 * What instructions do that is not among their operands: the tables of each architecture.
 */
#include "insn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema.h"
#include "src/arch/traps.h"

#define ARM_IT   UINT32_C(0x0600fc00)
#define ARM_GE   UINT32_C(0x000f0000)
#define ARM_NZCV UINT32_C(0xf0000000)
#define A64_NZCV UINT32_C(0xf0000000)

uint32_t bap_arm_t(const struct pb_value *mode)
{
	const uint8_t *last;

	if (mode->n < 3)
		return 0;
	last = mode->p + (mode->n - 3);
	return last[0] == 't' && last[1] == '3' && last[2] == '2' ? BAP_ARM_T : 0;
}

void bap_see_mode(struct bap_known *k, struct bap_thread *t, const struct pb_message *std)
{
	if (pb_has(std, STD_MODE))
		bap_see_flags(k, t, 0, BAP_ARM_T, bap_arm_t(&std->v[STD_MODE - 1]));
	else if (std->v[STD_RAWBYTES - 1].n == 2)
		bap_see_flags(k, t, 0, BAP_ARM_T, BAP_ARM_T);
}

void bap_step_it(struct bap_known *k, struct bap_thread *t, const struct pb_value *raw)
{
	uint32_t cpsr = t->flags[0].value, it = (cpsr >> 8 & 0xfc) | (cpsr >> 25 & 3), next;

	if (!(cpsr & BAP_ARM_T) || !(t->flags[0].known & BAP_ARM_T))
		return;
	if (raw->n == 2 && raw->p[1] == 0xbf && raw->p[0] & 0xf)
		next = raw->p[0];
	else
		next = it & 7 ? (it & 0xe0) | (it << 1 & 0x1f) : 0;
	if (next == it)
		return;
	bap_write_flags(t, 0, ARM_IT, (next & 0xfc) << 8 | (next & 3) << 25);
	bap_report_flags(k, t, 0, ARM_IT, true);
}

/*
 * What an instruction of which the recorder logs nothing is known to change: that is unknown until it is seen
 * again.
 */
static void lose_one(struct bap_known *k, struct bap_thread *t, const char *name, size_t len)
{
	const struct regmap_slot *s = regmap_find(&k->rec->names, name, len);

	if (s->kind == REGMAP_REG && !bap_is_written(t, s->off))
		bap_lose_reg(k, t, s->off, s->len);
}

/* As above, for several registers; each name ends with NUL. */
static void lose_named(struct bap_known *k, struct bap_thread *t, const char *names)
{
	for (const char *p = names; *p; p += strlen(p) + 1)
		lose_one(k, t, p, strlen(p));
}

static bool is_insn(const struct pb_value *raw, const char *bytes, size_t len)
{
	return raw->n >= len && raw->p && !memcmp(raw->p, bytes, len);
}

#define X86_AF     UINT32_C(0x10)
#define X86_ZF     UINT32_C(0x40)
#define X86_STATUS UINT32_C(0x8d5)
#define X86_LOGGED (X86_STATUS | UINT32_C(0x400))

/*
 * The opcode of an x86 instruction that has one opcode byte after its prefixes, and the three bits that
 * extend it; 0 for others.
 */
static unsigned x86_opcode(const struct pb_value *raw)
{
	uint64_t i = 0;

	while (i < raw->n && (raw->p[i] == 0x66 || raw->p[i] == 0x67 || (raw->p[i] & 0xf0) == 0x40 ||
			      (raw->p[i] & 0xfe) == 0x64))
		i++;
	return i + 1 < raw->n ? (unsigned)raw->p[i] << 8 | (raw->p[i + 1] >> 3 & 7) : 0;
}

/*
 * Seen by stepping the same programs: tracewrap logs wrong results of multiplications and divisions of one
 * operand, and wrong flags of neg and of shifts that may be by zero.
 */
enum bap_x86_loss bap_x86_loss(const struct bap *rec, const struct pb_value *raw)
{
	bool is_tracewrap = rec->recorder == BAP_TRACEWRAP || rec->recorder == BAP_OLD_TRACEWRAP;
	unsigned op, what;

	if (!is_tracewrap || rec->arch != BAP_ARCH_X86)
		return BAP_LOSS_NONE;
	op = x86_opcode(raw);
	what = op & 0xfe00;
	if (what == 0xf600 && (op & 7) >= 4)
		return BAP_LOSS_RESULTS;
	return (what == 0xf600 && (op & 7) == 3) || what == 0xd200 ? BAP_LOSS_STATUS : BAP_LOSS_AF;
}

/* Of AF tracewrap says nothing where it is not defined: the emulator then clears it. */
void bap_lose_x86(struct bap_known *k, struct bap_thread *t, enum bap_x86_loss loss)
{
	struct bap_flag_bits *f = &t->flags[0];

	if (loss == BAP_LOSS_RESULTS)
		lose_named(k, t, k->rec->addr_mask == UINT64_MAX ? "rax\0rdx\0" : "eax\0edx\0");
	if (loss == BAP_LOSS_NONE || !k->rec->names.n_flags)
		return;
	if (loss != BAP_LOSS_AF) {
		f->known &= ~X86_STATUS;
		bap_report_flags(k, t, 0, X86_STATUS, true);
	} else if (f->last & X86_ZF && !(f->last & X86_AF)) {
		bap_write_flags(t, 0, X86_AF, 0);
		bap_report_flags(k, t, 0, X86_AF, true);
	}
}

/* ARM's parallel additions and subtractions, which set the GE bits. */
static bool is_parallel(const struct pb_value *raw, bool is_thumb)
{
	if (raw->n != 4)
		return false;
	if (is_thumb)
		return raw->p[1] == 0xfa && raw->p[0] & 0x80 && (raw->p[3] & 0xf0) == 0xf0 &&
		       !(raw->p[2] & 0xb0);
	return (raw->p[3] & 0xf) == 6 && (raw->p[2] & 0xb0) == 0x10 && !(raw->p[2] & 0x20);
}

void bap_lose_helpers(struct bap_known *k, struct bap_thread *t, const struct pb_value *raw)
{
	if (k->rec->arch == BAP_ARCH_X86) {
		bap_lose_x86(k, t, bap_x86_loss(k->rec, raw));
	} else if (k->rec->arch == BAP_ARCH_ARM && k->rec->names.n_flags &&
		   is_parallel(raw, t->flags[0].value & BAP_ARM_T) && !(t->flags[0].last & ARM_GE)) {
		t->flags[0].known &= ~ARM_GE;
		bap_report_flags(k, t, 0, ARM_GE, true);
	}
}

/* Register @number of those whose names begin with @letter. */
static void lose_numbered(struct bap_known *k, struct bap_thread *t, char letter, unsigned number)
{
	char name[8];

	snprintf(name, sizeof(name), "%c%u", letter, number);
	lose_one(k, t, name, strlen(name));
}

static void lose_flags(struct bap_known *k, struct bap_thread *t, uint32_t bits)
{
	if (!k->rec->names.n_flags || !bits)
		return;
	t->flags[0].known &= ~(bits & k->rec->names.flags[0].need);
	bap_report_flags(k, t, 0, bits, true);
}

/* The instruction as a number; 0 if it does not have 4 bytes. */
static uint32_t insn_word(const struct bap_known *k, const struct pb_value *raw)
{
	const uint8_t *p = raw->p;

	if (raw->n != 4)
		return 0;
	return k->rec->base.regs.arch->is_big_endian
		       ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
		       : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* Is the general register that the operand's address needs known? */
static bool is_told(const struct bap_known *k, const struct bap_thread *t, uint16_t off)
{
	return off == TS_X86_NO_REG || !memchr(t->state + off, BAP_UNREPORTED, k->rec->x86.is_64 ? 8 : 4);
}

/* Memory that the instruction may write, if its address is known from the registers. */
static void lose_x86_memory(struct bap_known *k, const struct bap_thread *t, const struct ts_x86_insn *insn)
{
	for (unsigned i = 0; i < insn->n_mem; i++) {
		const struct ts_x86_mem *m = &insn->mem[i];
		uint64_t addr;

		if (!(m->access & (TS_X86_WRITE | TS_X86_IF_WRITE)) || m->segment != TS_X86_FLAT ||
		    !is_told(k, t, m->base) || !is_told(k, t, m->index))
			continue;
		addr = ts_x86_mem_addr(insn, m, &k->rec->x86, t->data) & k->rec->addr_mask;
		if (m->size - 1u <= k->rec->addr_mask - addr)
			ts_steps_effect(k->out, TS_FX_WRITE, addr, m->size);
	}
}

/* Whatever an x86 instruction writes by its encoding. */
static void lose_x86_results(struct bap_known *k, struct bap_thread *t, uint64_t pc,
			     const struct pb_value *raw)
{
	const struct bap_result *r;
	const struct ts_x86_results *x;

	if (!k->rec->is_x86)
		return;
	r = bap_results_find(&k->results, &k->rec->x86, pc, raw->p, raw->n);
	if (!r)
		k->out->is_failed = true;
	if (!r || !r->is_insn)
		return;
	x = &r->results;
	lose_x86_memory(k, t, &r->insn);
	for (unsigned i = 0; i < x->n; i++)
		bap_lose_reg(k, t, x->fields[i].off, x->fields[i].len);
	lose_flags(k, t, x->flags & X86_LOGGED);
}

/* The kernel returns to the user of sysenter with the address in edx and the stack pointer in ecx. */
static void lose_x86_call(struct bap_known *k, struct bap_thread *t, const struct pb_value *raw)
{
	if (k->rec->addr_mask == UINT64_MAX)
		lose_named(k, t, "rax\0rcx\0r11\0");
	else
		lose_named(k, t, is_insn(raw, "\x0f\x34", 2) ? "eax\0ecx\0edx\0" : "eax\0");
}

/*
 * ARM and Thumb: registers of the system, of a coprocessor, of the floating-point unit to general ones.
 */
static void lose_arm_unlogged(struct bap_known *k, struct bap_thread *t, const struct pb_value *raw)
{
	bool is_thumb = t->flags[0].value & BAP_ARM_T;
	uint32_t w = insn_word(k, raw), to = w >> 12 & 15;

	if (is_thumb)
		w = w << 16 | w >> 16, to = w >> 12 & 15;
	if ((w & 0x0f100010) == 0x0e100010) { /* mrc, vmov, vmrs */
		if (to == 15)
			lose_flags(k, t, ARM_NZCV);
		else
			lose_numbered(k, t, 'r', to);
	} else if ((w & 0x0ff00000) == 0x0c500000) { /* mrrc, vmov */
		lose_numbered(k, t, 'r', to);
		lose_numbered(k, t, 'r', w >> 16 & 15);
	} else if (is_thumb ? (w & 0xffeff000) == 0xf3ef8000 : (w & 0x0fbf0fff) == 0x010f0000) { /* mrs */
		lose_numbered(k, t, 'r', is_thumb ? w >> 8 & 15 : to);
	}
}

/* AArch64: mrs; what goes from vector to general registers; comparisons of floating-point numbers. */
static void lose_aarch64_unlogged(struct bap_known *k, struct bap_thread *t, const struct pb_value *raw)
{
	uint32_t w = insn_word(k, raw), op = w >> 16 & 7;

	if (k->rec->base.regs.arch->is_big_endian) /* instructions are little-endian in both byte orders */
		w = __builtin_bswap32(w), op = w >> 16 & 7;
	if ((w & 0xff20fc07) == 0x1e202000 || (w & 0xff200c00) == 0x1e200400)
		lose_flags(k, t, A64_NZCV);
	else if (((w & 0xfff00000) == 0xd5300000 || (w & 0xbfe0ec00) == 0x0e002c00 ||
		  ((w & 0x7f20fc00) == 0x1e200000 && op != 2 && op != 3 && op != 7)) &&
		 (w & 31) != 31)
		lose_numbered(k, t, 'x', w & 31);
}

/* PowerPC: mfspr, mftb, mfcr, mfmsr. */
static void lose_ppc_unlogged(struct bap_known *k, struct bap_thread *t, const struct pb_value *raw)
{
	uint32_t w = insn_word(k, raw);

	switch (w & 0xfc0007fe) {
	case 0x7c0002a6:
	case 0x7c0002e6:
	case 0x7c000026:
	case 0x7c0000a6: lose_numbered(k, t, 'r', w >> 21 & 31); break;
	default: break;
	}
}

/* MIPS: rdhwr, and what comes from coprocessors 0 and 1. */
static void lose_mips_unlogged(struct bap_known *k, struct bap_thread *t, const struct pb_value *raw)
{
	uint32_t w = insn_word(k, raw);

	if ((w & 0xffe0003f) == 0x7c00003b || (w & 0xff8007f8) == 0x40000000 ||
		 (w & 0xff8007ff) == 0x44000000)
		lose_numbered(k, t, 'r', w >> 16 & 31);
}

static enum ts_trap trap_of(const struct bap *rec, const struct bap_thread *t, const struct pb_value *raw)
{
	bool is_thumb = rec->arch == BAP_ARCH_ARM && t->flags[0].value & BAP_ARM_T;

	return ts_insn_trap(rec->base.regs.arch, is_thumb, raw->p, raw->n);
}

bool bap_is_trap(const struct bap *rec, const struct bap_thread *t, const struct pb_value *raw)
{
	return trap_of(rec, t, raw) != TS_TRAP_NONE;
}

/* Make unknown everything that a system call may change. */
static void lose_call(struct bap_known *k, struct bap_thread *t, const struct pb_value *raw)
{
	switch (k->rec->arch) {
	case BAP_ARCH_X86: lose_x86_call(k, t, raw); break;
	case BAP_ARCH_ARM: lose_named(k, t, "r0\0"); break;
	case BAP_ARCH_AARCH64: lose_named(k, t, "x0\0"); break;
	case BAP_ARCH_POWERPC: lose_named(k, t, "r3\0"); break;
	case BAP_ARCH_MIPS: lose_named(k, t, "v0\0a3\0"); break;
	default: break;
	}
}

void bap_lose_unlogged(struct bap_known *k, struct bap_thread *t, uint64_t pc, const struct pb_value *raw)
{
	if (trap_of(k->rec, t, raw) == TS_TRAP_SYSCALL || (!raw->n && k->rec->arch == BAP_ARCH_X86)) {
		lose_call(k, t, raw);
		return;
	}
	switch (k->rec->arch) {
	case BAP_ARCH_X86: lose_x86_results(k, t, pc, raw); break;
	case BAP_ARCH_ARM: lose_arm_unlogged(k, t, raw); break;
	case BAP_ARCH_AARCH64: lose_aarch64_unlogged(k, t, raw); break;
	case BAP_ARCH_POWERPC: lose_ppc_unlogged(k, t, raw); break;
	case BAP_ARCH_MIPS: lose_mips_unlogged(k, t, raw); break;
	default: break;
	}
}

bool bap_goes_on(const struct bap *rec, uint64_t pc, const uint8_t *bytes, size_t len)
{
	struct ts_x86_insn insn;

	return rec->is_x86 && len && ts_x86_decode(&rec->x86, pc, bytes, len, &insn) && insn.len == len &&
	       insn.flow == TS_X86_NEXT;
}

/* ------------------------------------------------------------------- what x86 instructions change */

#define N_BITS 8

struct bap_results {
	struct bap_result items[1u << N_BITS]; /* by a hash of the address */
};

static void decode(struct bap_result *r, const struct ts_x86 *x)
{
	r->is_insn = ts_x86_results(x, r->bytes, r->len, &r->results) &&
		     ts_x86_decode(x, r->pc, r->bytes, r->len, &r->insn);
}

const struct bap_result *bap_results_find(struct bap_results **table, const struct ts_x86 *x, uint64_t pc,
					  const uint8_t *bytes, uint64_t len)
{
	uint8_t n = (uint8_t)(len < TS_X86_MAX_INSN ? len : TS_X86_MAX_INSN);
	uint8_t padded[TS_X86_MAX_INSN + 1] = { 0 };
	struct bap_result *r;

	memcpy(padded, bytes, n);
	if (!*table)
		*table = calloc(1, sizeof(**table));
	if (!*table)
		return NULL;
	r = &(*table)->items[pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - N_BITS)];
	if (r->pc != pc || r->len != n || memcmp(r->bytes, padded, sizeof(padded))) {
		r->pc = pc;
		r->len = n;
		memcpy(r->bytes, padded, sizeof(padded));
		decode(r, x);
	}
	return r;
}
