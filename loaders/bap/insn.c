/* SPDX-License-Identifier: MIT */
/*
 * What instructions do that is not among their operands: the tables of each architecture.
 */
#include "insn.h"

#include <string.h>

#include "reader.h"
#include "schema.h"

#define ARM_IT UINT32_C(0x0600fc00)
#define ARM_GE UINT32_C(0x000f0000)

uint32_t bap_arm_t(const struct pb_value *mode)
{
	const uint8_t *last;

	if (mode->n < 3)
		return 0;
	last = mode->p + (mode->n - 3);
	return last[0] == 't' && last[1] == '3' && last[2] == '2' ? BAP_ARM_T : 0;
}

void bap_see_mode(struct bap_reader *r, struct bap_thread *t, const struct pb_message *std)
{
	if (pb_has(std, STD_MODE))
		bap_see_flags(r, t, 0, BAP_ARM_T, bap_arm_t(&std->v[STD_MODE - 1]));
	else if (std->v[STD_RAWBYTES - 1].n == 2)
		bap_see_flags(r, t, 0, BAP_ARM_T, BAP_ARM_T);
}

void bap_step_it(struct bap_reader *r, struct bap_thread *t, const struct pb_value *raw)
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
	bap_tell_flags(r, t, 0, ARM_IT, true);
}

/*
 * What an instruction of which the recorder logs nothing is known to change: that is unknown until it is seen
 * again.
 */
static void lose_named(struct bap_reader *r, struct bap_thread *t, const char *names)
{
	for (const char *p = names; *p; p += strlen(p) + 1) {
		const struct bap_slot *s = bap_names_find(&r->rec->names, p, strlen(p));

		if (s->kind == BAP_SLOT_REG && t->state[s->off] != BAP_WRITTEN)
			bap_lose_reg(r, t, s->off, s->len);
	}
}

static bool is_insn(const struct pb_value *raw, const char *bytes, size_t len)
{
	return raw->n >= len && raw->p && !memcmp(raw->p, bytes, len);
}

#define X86_AF     UINT32_C(0x10)
#define X86_ZF     UINT32_C(0x40)
#define X86_STATUS UINT32_C(0x8d5)

/*
 * Opcode and the three bits that extend it of an x86 instruction with one opcode byte behind its prefixes; 0:
 * it is none.
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
 * What tracewrap logs wrongly or not at all on x86, seen by stepping the same programs: results of
 * multiplications and divisions of one operand; flags of neg, and of shifts that may be by zero.  Of AF it
 * says nothing where it is not defined: the emulator then clears it.
 */
static void lose_x86(struct bap_reader *r, struct bap_thread *t, const struct pb_value *raw)
{
	unsigned op = x86_opcode(raw), what = op & 0xfe00, extend = op & 7;
	struct bap_flag_bits *f = &t->flags[0];
	bool is_arith = what == 0xf600 && extend >= 4;

	if (is_arith)
		lose_named(r, t, r->rec->addr_mask == UINT64_MAX ? "rax\0rdx\0" : "eax\0edx\0");
	if (!r->rec->names.n_flags)
		return;
	if (is_arith || (what == 0xf600 && extend == 3) || what == 0xd200) {
		f->known &= ~X86_STATUS;
		bap_tell_flags(r, t, 0, X86_STATUS, true);
	} else if (f->last & X86_ZF && !(f->last & X86_AF)) {
		bap_write_flags(t, 0, X86_AF, 0);
		bap_tell_flags(r, t, 0, X86_AF, true);
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

void bap_lose_helpers(struct bap_reader *r, struct bap_thread *t, const struct pb_value *raw)
{
	if (r->rec->arch == BAP_ARCH_X86) {
		lose_x86(r, t, raw);
	} else if (r->rec->arch == BAP_ARCH_ARM && r->rec->names.n_flags &&
		   is_parallel(raw, t->flags[0].value & BAP_ARM_T) && !(t->flags[0].last & ARM_GE)) {
		t->flags[0].known &= ~ARM_GE;
		bap_tell_flags(r, t, 0, ARM_GE, true);
	}
}

void bap_lose_unlogged(struct bap_reader *r, struct bap_thread *t, const struct pb_value *raw)
{
	bool is_64 = r->rec->addr_mask == UINT64_MAX;

	switch (r->rec->arch) {
	case BAP_ARCH_X86:
		if (is_insn(raw, "\x0f\xa2", 2)) /* cpuid */
			lose_named(r, t, is_64 ? "rax\0rbx\0rcx\0rdx\0" : "eax\0ebx\0ecx\0edx\0");
		else if (is_insn(raw, "\x0f\x31", 2) || is_insn(raw, "\x0f\x01\xd0", 3)) /* rdtsc, xgetbv */
			lose_named(r, t, is_64 ? "rax\0rdx\0" : "eax\0edx\0");
		else if (!raw->n || is_insn(raw, "\x0f\x05", 2) || /* syscall */
			 is_insn(raw, "\xcd\x80", 2))		   /* int $0x80 */
			lose_named(r, t, is_64 ? "rax\0rcx\0r11\0" : "eax\0");
		break;
	case BAP_ARCH_ARM: /* svc */
		if ((raw->n == 2 && raw->p[1] == 0xdf) || (raw->n == 4 && (raw->p[3] & 0xf) == 0xf))
			lose_named(r, t, "r0\0");
		break;
	case BAP_ARCH_AARCH64:
		if (is_insn(raw, "\x01\0\0\xd4", 4)) /* svc #0 */
			lose_named(r, t, "x0\0");
		break;
	case BAP_ARCH_POWERPC: /* sc */
		if (is_insn(raw, "\x44\0\0\x02", 4) || is_insn(raw, "\x02\0\0\x44", 4))
			lose_named(r, t, "r3\0");
		break;
	case BAP_ARCH_MIPS: /* syscall */
		if (is_insn(raw, "\0\0\0\x0c", 4) || is_insn(raw, "\x0c\0\0\0", 4))
			lose_named(r, t, "v0\0a3\0");
		break;
	default: break;
	}
}
