/* SPDX-License-Identifier: MIT */
#include "regs.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "loaders/kit/x87.h"
#include "src/arch/tdesc.h"

/* ---------------------------------------------------------------------------------------- the numbers */

bool regs_set_init(struct ts_regset *set, const struct ts_arch *arch, struct ts_error *err)
{
	static const char *const features[] = { "org.gnu.gdb.i386.sse", "org.gnu.gdb.i386.segments",
						"org.gnu.gdb.i386.avx" };
	uint32_t mask = ts_arch_os_features(arch, "GNU/Linux");

	mask |= ts_arch_features(arch, features, sizeof(features) / sizeof(features[0]));
	return ts_regset_init(set, arch, mask, err);
}

/* Register @name, or none of the layout's if it is NULL, has @len bytes under this number. */
static void add(struct regs *regs, const struct ts_regset *set, unsigned number, const char *name,
		unsigned len)
{
	struct regs_slot *slot = &regs->slots[number];
	int reg = name ? ts_regset_find(set, name) : -1;

	*slot = (struct regs_slot){ .file_len = (uint16_t)len };
	if (reg >= 0) {
		slot->off = (uint16_t)set->regs[reg].off;
		slot->len = set->regs[reg].len < len ? set->regs[reg].len : (uint16_t)len;
	}
}

/* @n registers PREFIX0SUFFIX and so on, from @number on. */
static void add_run(struct regs *regs, const struct ts_regset *set, unsigned number, unsigned n,
		    const char *prefix, const char *suffix, unsigned len)
{
	for (unsigned i = 0; i < n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%s%u%s", prefix, i, suffix);
		add(regs, set, number + i, name, len);
	}
}

/* The numbers of gdb's standard descriptions, which the set has too. */
static void add_standard(struct regs *regs, const struct ts_regset *set, unsigned first, unsigned last)
{
	for (unsigned i = first; i <= last; i++) {
		int reg = ts_regset_by_num(set, i);

		if (reg >= 0)
			add(regs, set, i, set->regs[reg].name, set->regs[reg].len);
	}
}

void regs_init(struct regs *regs, const struct ts_regset *set)
{
	const char *arch = set->arch->name;

	*regs = (struct regs){ .pc = set->regs[set->pc].regnum };
	if (!strcmp(arch, "x86_64")) {
		add_standard(regs, set, 0, 56);
		add_run(regs, set, 57, 16, "ymm", "h", 16);
		add_run(regs, set, 79, 16, "none", "", 16);
		add_run(regs, set, 95, 16, "none", "", 16);
		add_run(regs, set, 111, 8, "none", "", 8);
		add_run(regs, set, 119, 32, "none", "", 32);
		add(regs, set, 152, "fs_base", 8);
		add(regs, set, 153, "gs_base", 8);
		add(regs, set, 154, "orig_rax", 8);
	} else if (!strcmp(arch, "i386")) {
		add_standard(regs, set, 0, 40);
		add_run(regs, set, 41, 8, "ymm", "h", 16);
		add(regs, set, 72, "orig_eax", 4);
	} else if (!strcmp(arch, "aarch64") || !strcmp(arch, "aarch64_be")) {
		add_standard(regs, set, 0, 67);
	} else {
		add_standard(regs, set, 0, 15);
		for (unsigned i = 16; i < 24; i++)
			add(regs, set, i, NULL, 12); /* f0-f7 of an older coprocessor */
		add(regs, set, 24, NULL, 4);
		add_standard(regs, set, 25, 25);
	}
}

bool regs_describe(struct regs *regs, const struct ts_regset *set, const uint8_t *xml, size_t len,
		   struct ts_error *err)
{
	struct ts_regset described;
	struct ts_error odd = { 0 };
	int z0;

	if (strncmp(set->arch->name, "aarch64", 7) != 0)
		return true;
	if (!ts_tdesc_parse(xml, strnlen((const char *)xml, len), set->arch->is_big_endian, &described,
			    &odd)) {
		if (odd.code == TS_ENOMEM)
			*err = odd;
		return odd.code != TS_ENOMEM;
	}
	z0 = ts_regset_find(&described, "z0");
	for (unsigned i = 34; z0 >= 0 && i < 66; i++)
		regs->slots[i].file_len = described.regs[z0].len;
	ts_regset_fini(&described);
	return true;
}

/* ---------------------------------------------------------------------------------- general registers */

/* Where elf_prstatus has what, and its registers in the kernel's order; NULL ends them, "" is skipped. */
struct prstatus {
	const char *arch;
	unsigned tid_at, regs_at;
	const char *names[36];
};

static const struct prstatus prstatuses[] = {
	{ "x86_64",
	  32,
	  112,
	  { "r15",    "r14", "r13", "r12",     "rbp",     "rbx", "r11",      "r10", "r9",
	    "r8",     "rax", "rcx", "rdx",     "rsi",     "rdi", "orig_rax", "rip", "cs",
	    "eflags", "rsp", "ss",  "fs_base", "gs_base", "ds",  "es",       "fs",  "gs" } },
	{ "i386",
	  24,
	  72,
	  { "ebx", "ecx", "edx", "esi", "edi", "ebp", "eax", "ds", "es", "fs", "gs", "orig_eax", "eip", "cs",
	    "eflags", "esp", "ss" } },
	{ "arm",
	  24,
	  72,
	  { "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc",
	    "cpsr" } },
	{ "aarch64", 32, 112, { "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",
				"x9",  "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
				"x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26",
				"x27", "x28", "x29", "x30", "sp",  "pc",  "cpsr" } },
};

/* Big-endian variants, whose names begin with those of the table, have the same notes. */
static const struct prstatus *prstatus_of(const struct core *core)
{
	size_t i = 0;

	while (i + 1 < sizeof(prstatuses) / sizeof(prstatuses[0]) &&
	       strncmp(core->arch->name, prstatuses[i].arch, strlen(prstatuses[i].arch)) != 0)
		i++;
	return &prstatuses[i];
}

/* A register's value of @len bytes, in the target's byte order. */
static void put(const struct ts_regset *set, const char *name, uint64_t value, struct ts_steps *out)
{
	int reg = ts_regset_find(set, name);
	uint8_t bytes[8];

	if (reg < 0 || reg == set->pc)
		return;
	ts_arch_put(set->arch, bytes, set->regs[reg].len, value);
	ts_steps_value(out, TS_FX_REG_WRITE, set->regs[reg].off, bytes, set->regs[reg].len);
}

static void put_bytes(const struct ts_regset *set, const char *name, const uint8_t *bytes,
		      struct ts_steps *out)
{
	int reg = ts_regset_find(set, name);

	if (reg >= 0)
		ts_steps_value(out, TS_FX_REG_WRITE, set->regs[reg].off, bytes, set->regs[reg].len);
}

static void put_run(const struct ts_regset *set, unsigned n, const char *prefix, const char *suffix,
		    const uint8_t *bytes, size_t stride, struct ts_steps *out)
{
	for (unsigned i = 0; i < n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%s%u%s", prefix, i, suffix);
		put_bytes(set, name, bytes + i * stride, out);
	}
}

uint64_t regs_tid(const struct core *core, struct ts_cursor note)
{
	ts_take(&note, prstatus_of(core)->tid_at);
	return core_take(core, &note, 4);
}

static size_t count_names(const struct prstatus *p)
{
	size_t n = 0;

	while (p->names[n])
		n++;
	return n;
}

bool regs_put_general(const struct core *core, const struct ts_regset *set, struct ts_cursor note,
		      struct ts_steps *out)
{
	const struct prstatus *p = prstatus_of(core);
	size_t n = count_names(p);

	if (note.left < p->regs_at + n * core->word)
		return false;
	ts_take(&note, p->regs_at);
	for (size_t i = 0; i < n; i++)
		put(set, p->names[i], core_take(core, &note, core->word), out);
	return true;
}

uint64_t regs_pc(const struct core *core, const struct ts_regset *set, struct ts_cursor note)
{
	const struct prstatus *p = prstatus_of(core);
	size_t i = 0;

	while (strcmp(p->names[i], set->regs[set->pc].name) != 0)
		i++;
	ts_take(&note, p->regs_at + i * core->word);
	return core_take(core, &note, core->word);
}

/* ---------------------------------------------------------------------------------- floating point, vectors */

#define FSAVE_LEN     108u
#define FXSAVE_LEN    512u
#define XSAVE_HEAD    64u /* after the FXSAVE area; its first 8 bytes say which parts are in use */
#define XSAVE_YMMH_AT (FXSAVE_LEN + XSAVE_HEAD)

enum xsave_part {
	XSAVE_X87 = 1,
	XSAVE_SSE = 2,
	XSAVE_AVX = 4,
};

static unsigned le16(const uint8_t *p)
{
	return p[0] | (unsigned)p[1] << 8;
}

static uint32_t le32(const uint8_t *p)
{
	return le16(p) | (uint32_t)le16(p + 2) << 16;
}

/* The control registers; @full_tag has two bits a register. */
static void put_x87_control(const struct ts_regset *set, const unsigned values[8], struct ts_steps *out)
{
	static const char *const names[] = { "fctrl", "fstat", "ftag",  "fiseg",
					     "fioff", "foseg", "fooff", "fop" };

	for (unsigned i = 0; i < 8; i++)
		put(set, names[i], values[i], out);
}

static void put_fsave(const struct ts_regset *set, const uint8_t *p, struct ts_steps *out)
{
	const unsigned control[8] = { le16(p),      le16(p + 4),  le16(p + 8),  le16(p + 16),
				      le32(p + 12), le16(p + 24), le32(p + 20), le16(p + 18) & 0x7ff };

	put_x87_control(set, control, out);
	put_run(set, 8, "st", "", p + 28, 10, out);
}

static void put_fxsave_x87(const struct ts_regset *set, const uint8_t *p, struct ts_steps *out)
{
	uint8_t st[8][10];
	unsigned control[8] = { le16(p),      le16(p + 2),        0, le16(p + 12), le32(p + 8), le16(p + 20),
				le32(p + 16), le16(p + 6) & 0x7ff };

	for (unsigned i = 0; i < 8; i++)
		memcpy(st[i], p + 32 + 16 * i, sizeof(st[i]));
	control[2] = x87_full_tag(p[4], control[1], st[0]);
	put_x87_control(set, control, out);
	put_run(set, 8, "st", "", st[0], sizeof(st[0]), out);
}

static void put_fxsave_sse(const struct ts_regset *set, const uint8_t *p, struct ts_steps *out)
{
	put(set, "mxcsr", le32(p + 24), out);
	put_run(set, set->arch->addr_bits == 64 ? 16 : 8, "xmm", "", p + 160, 16, out);
}

/* Parts that are not in use have their initial values, whatever the area holds. */
static void put_xsave(const struct ts_regset *set, const uint8_t *p, size_t len, struct ts_steps *out)
{
	static const uint8_t initial[FXSAVE_LEN] = { [0] = 0x7f, [1] = 0x03, [24] = 0x80, [25] = 0x1f };
	static const uint8_t zeros[16 * 16];
	unsigned used = p[FXSAVE_LEN];

	put_fxsave_x87(set, used & XSAVE_X87 ? p : initial, out);
	put_fxsave_sse(set, used & XSAVE_SSE ? p : initial, out);
	if (used & (XSAVE_SSE | XSAVE_AVX))
		put(set, "mxcsr", le32(p + 24), out);
	if (len >= XSAVE_YMMH_AT + sizeof(zeros))
		put_run(set, set->arch->addr_bits == 64 ? 16 : 8, "ymm", "h",
			used & XSAVE_AVX ? p + XSAVE_YMMH_AT : zeros, 16, out);
}

static bool put_x86_note(const struct core *core, const struct ts_regset *set, const struct core_note *note,
			 struct ts_steps *out)
{
	const uint8_t *p = note->desc.p;
	size_t len = note->desc.left;
	bool is_core = !strcmp(note->name, "CORE"), is_linux = !strcmp(note->name, "LINUX");

	if (is_linux && note->type == NT_X86_XSTATE && len >= XSAVE_YMMH_AT)
		put_xsave(set, p, len, out);
	else if ((is_core && note->type == NT_FPREGSET && core->word == 8 && len >= FXSAVE_LEN) ||
		 (is_linux && note->type == NT_PRXFPREG && len >= FXSAVE_LEN)) {
		put_fxsave_x87(set, p, out);
		put_fxsave_sse(set, p, out);
	} else if (is_core && note->type == NT_FPREGSET && core->word == 4 && len >= FSAVE_LEN)
		put_fsave(set, p, out);
	else
		return !(is_core && note->type == NT_FPREGSET) && !(is_linux && note->type == NT_X86_XSTATE);
	return true;
}

static bool put_aarch64_note(const struct core *core, const struct ts_regset *set,
			     const struct core_note *note, struct ts_steps *out)
{
	struct ts_cursor c = note->desc;

	if (strcmp(note->name, "CORE") != 0 || note->type != NT_FPREGSET)
		return true;
	if (c.left < 32 * 16 + 8)
		return false;
	put_run(set, 32, "v", "", c.p, 16, out);
	ts_take(&c, 32 * 16);
	put(set, "fpsr", core_take(core, &c, 4), out);
	put(set, "fpcr", core_take(core, &c, 4), out);
	return true;
}

bool regs_put_note(const struct core *core, const struct ts_regset *set, const struct core_note *note,
		   struct ts_steps *out)
{
	if (core->arch->has_thumb)
		return true; /* no floating point in its recordings */
	return *core->arch->name == 'a' ? put_aarch64_note(core, set, note, out)
					: put_x86_note(core, set, note, out);
}
