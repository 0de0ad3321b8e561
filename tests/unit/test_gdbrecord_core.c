/* SPDX-License-Identifier: MIT */
/*
 * Core files of gdb's recordings, for each processor, word size and byte order: headers, segments, notes.
 * They are written here field by field as <elf.h> and Intel's manual (FSAVE, FXSAVE, XSAVE) lay them out.
 */
#include "unit.h"

#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucir_text.h"

#define CODE_AT 0x1000u

static struct ucir_trace t;
static struct ts_buf steps, initial;

struct seg {
	uint32_t type, flags;
	uint64_t addr, file_len, mem_len;
	bool is_past_end; /* lies beyond the end of the file */
};

/* What build() writes. */
static struct {
	bool is_64, is_big;
	uint16_t machine, type;
	uint64_t pc;
	uint64_t status; /* cpsr */
	bool has_xnum;   /* segments are counted in the section header */
	struct ts_buf code, log, notes;
	struct seg more[4];
	unsigned n_more;
	size_t prstatus_len; /* 0: whole */
} c;

static void setup(void)
{
	memset(&c, 0, sizeof(c));
	c.is_64 = true;
	c.machine = EM_X86_64;
	c.type = ET_CORE;
	c.pc = CODE_AT;
	ts_buf_init(&c.code);
	ts_buf_init(&c.log);
	ts_buf_init(&c.notes);
	ts_buf_init(&steps);
	ts_buf_init(&initial);
	t = (struct ucir_trace){ .format = "gdbrecord" };
	ts_buf_init(&t.bytes);
}

static void teardown(void)
{
	ucir_close(&t);
	ts_buf_fini(&c.code);
	ts_buf_fini(&c.log);
	ts_buf_fini(&c.notes);
	ts_buf_fini(&steps);
	ts_buf_fini(&initial);
}

static void again(void)
{
	teardown();
	setup();
}

static void for_machine(uint16_t machine, bool is_64, bool is_big)
{
	again();
	c.machine = machine;
	c.is_64 = is_64;
	c.is_big = is_big;
}

/* --------------------------------------------------------------------------------------------- the writer */

static void put(struct ts_buf *b, uint64_t v, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		ts_buf_putc(b, (uint8_t)(v >> 8 * (c.is_big ? len - 1 - i : i)));
}

static void word(struct ts_buf *b, uint64_t v)
{
	put(b, v, c.is_64 ? 8 : 4);
}

static void zeros(struct ts_buf *b, size_t n)
{
	while (n--)
		ts_buf_putc(b, 0);
}

/* Numbers of the log are big-endian whatever the target; values are the target's. */
static void be32(uint32_t v)
{
	for (int i = 24; i >= 0; i -= 8)
		ts_buf_putc(&c.log, (uint8_t)(v >> i));
}

static void reg(uint32_t number, uint64_t value, unsigned len)
{
	ts_buf_putc(&c.log, 1);
	be32(number);
	put(&c.log, value, len);
}

static void end(void)
{
	ts_buf_putc(&c.log, 0);
	be32(0);
	be32(1);
}

static void note(const char *name, uint32_t type, const void *desc, size_t len)
{
	put(&c.notes, strlen(name) + 1, 4);
	put(&c.notes, len, 4);
	put(&c.notes, type, 4);
	ts_buf_put(&c.notes, name, strlen(name) + 1);
	zeros(&c.notes, -(strlen(name) + 1) & 3);
	ts_buf_put(&c.notes, desc, len);
	zeros(&c.notes, -len & 3);
}

/* Registers are 1, 2, ... in the kernel's order, but for the program counter and the status. */
static void prstatus(void)
{
	static const struct {
		uint16_t machine;
		unsigned regs_at, n, pc, status;
	} forms[] = { { EM_X86_64, 112, 27, 16, 99 }, { EM_386, 72, 17, 12, 99 }, { EM_ARM, 72, 17, 15, 16 },
		      { EM_AARCH64, 112, 34, 32, 33 } };
	struct ts_buf d;

	ts_buf_init(&d);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (forms[i].machine != c.machine)
			continue;
		zeros(&d, forms[i].regs_at == 72 ? 24 : 32);
		put(&d, 100, 4);
		zeros(&d, forms[i].regs_at - d.len);
		for (unsigned k = 0; k < forms[i].n; k++)
			word(&d, k == forms[i].pc ? c.pc : k == forms[i].status ? c.status : k + 1);
		zeros(&d, 8);
	}
	note("CORE", NT_PRSTATUS, d.data, c.prstatus_len ? c.prstatus_len : d.len);
	ts_buf_fini(&d);
}

static void segment(struct ts_buf *b, const struct seg *s, uint64_t off)
{
	put(b, s->type, 4);
	if (c.is_64)
		put(b, s->flags, 4);
	word(b, off);
	word(b, s->addr);
	word(b, 0);
	word(b, s->file_len);
	word(b, s->mem_len);
	if (!c.is_64)
		put(b, s->flags, 4);
	word(b, 1);
}

/* The file, in t.bytes: header, a section header, segments, notes, code, log. */
static void build(void)
{
	unsigned head_len = c.is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	unsigned section_len = c.is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	unsigned entry_len = c.is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), n = 3 + c.n_more;
	uint64_t notes_at = head_len + section_len + n * entry_len, code_at, log_at;
	struct ts_buf rest = c.notes, *b = &t.bytes;

	ts_buf_init(&c.notes);
	prstatus();
	ts_buf_put(&c.notes, rest.data, rest.len);
	ts_buf_fini(&rest);
	code_at = notes_at + c.notes.len;
	log_at = code_at + c.code.len;
	ts_buf_put(b, ELFMAG, SELFMAG);
	ts_buf_putc(b, c.is_64 ? ELFCLASS64 : ELFCLASS32);
	ts_buf_putc(b, c.is_big ? ELFDATA2MSB : ELFDATA2LSB);
	zeros(b, EI_NIDENT - 6);
	put(b, c.type, 2);
	put(b, c.machine, 2);
	put(b, 1, 4);
	word(b, 0);
	word(b, head_len + section_len);
	word(b, head_len);
	put(b, 0, 4);
	put(b, head_len, 2);
	put(b, entry_len, 2);
	put(b, c.has_xnum ? PN_XNUM : n, 2);
	zeros(b, head_len - b->len);
	zeros(b, c.is_64 ? offsetof(Elf64_Shdr, sh_info) : offsetof(Elf32_Shdr, sh_info));
	put(b, n, 4);
	zeros(b, head_len + section_len - b->len);
	segment(b, &(struct seg){ PT_NOTE, 0, 0, c.notes.len, 0, false }, notes_at);
	segment(b, &(struct seg){ PT_LOAD, PF_R | PF_X, CODE_AT, c.code.len, 0x1000, false }, code_at);
	segment(b, &(struct seg){ PT_NULL, 0, 0, 4 + c.log.len, 0, false }, log_at);
	for (unsigned i = 0; i < c.n_more; i++)
		segment(b, &c.more[i], c.more[i].is_past_end ? log_at + 4 + c.log.len - 4 : code_at);
	ts_buf_put(b, c.notes.data, c.notes.len);
	ts_buf_put(b, c.code.data, c.code.len);
	ts_buf_put(b, "\x20\x09\x10\x16", 4);
	ts_buf_put(b, c.log.data, c.log.len);
}

static const char *read_core(void)
{
	build();
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
	ck_assert_msg(ucir_read_all(&t, &steps) == TS_END, "%s", t.err.text);
	ucir_describe_effects(&initial, t.rec, &t.rec->initial, 0, t.rec->initial.n_effects);
	return ts_buf_text(&steps);
}

static bool has(const char *word_)
{
	return strstr(ts_buf_text(&initial), word_) != NULL;
}
#define EXPECT_INITIAL(word_) ck_assert_msg(has(word_), "no \"%s\" in%s", word_, ts_buf_text(&initial))
#define EXPECT_NO_INITIAL(word_) ck_assert_msg(!has(word_), "\"%s\" in%s", word_, ts_buf_text(&initial))

static void expect_refused(enum ts_code code, const char *why)
{
	ck_assert_msg(!ucir_open(&t, NULL), "opened, wanted: %s", why);
	ck_assert_msg(t.err.code == code && strstr(t.err.text, why), "%s, wanted: %s", t.err.text, why);
	again();
}

/* -------------------------------------------------------------------------------------------- processors */

/* mov $9,%eax; nop; int $0x80 or sysenter; nop */
START_TEST(i386)
{
	static const char *const calls[] = { "\xcd\x80", "\x0f\x34" };

	for (unsigned i = 0; i < 2; i++) {
		for_machine(EM_386, false, false);
		ts_buf_put(&c.code, "\xb8\x09\0\0\0\x90", 6);
		ts_buf_put(&c.code, calls[i], 2);
		ts_buf_putc(&c.code, 0x90);
		reg(0, 9, 4);
		reg(8, 0x1005, 4);
		end();
		reg(8, 0x1006, 4);
		end();
		reg(0, 0x77, 4);
		reg(8, 0x1008, 4);
		end();
		reg(3, 0x33, 4);
		reg(8, 0x1009, 4);
		end();
		ck_assert_str_eq(
			read_core(),
			"1000/5@0 eax=9\n1005/1@0\n1006/2@0 eax=77 syscall9(1,2,3,4,5,6)=77\n1008/1@0 ebx=33\n");
		ck_assert_str_eq(t.rec->regs.arch->name, "i386");
		ck_assert_uint_eq(t.rec->threads[0].tid, 100);
		EXPECT_INITIAL("ebx=1 ");
		EXPECT_INITIAL("ss=11");
		EXPECT_NO_INITIAL("eip=");
	}
}
END_TEST

START_TEST(arm)
{
	for (unsigned big = 0; big < 2; big++) {
		for_machine(EM_ARM, false, big);
		put(&c.code, 0xe1a00001, 4); /* mov r0, r1 */
		put(&c.code, 0xef000000, 4); /* svc #0, number in r7 */
		put(&c.code, 0xe1a00001, 4);
		reg(0, 0x55, 4);
		reg(15, 0x1004, 4);
		end();
		reg(0, 0x66, 4);
		reg(15, 0x1008, 4);
		end();
		ck_assert_str_eq(read_core(), "1000/4@0 r0=55\n1004/4@0 r0=66 syscall8(55,2,3,4,5,6)=66\n");
		ck_assert_uint_eq(t.rec->regs.arch->is_big_endian, big);
		EXPECT_INITIAL("sp=e ");
		EXPECT_NO_INITIAL("pc=");
	}
}
END_TEST

/* Bit 5 of cpsr: halfwords, of which those from 0xe800 on are the first of two. */
START_TEST(thumb)
{
	for_machine(EM_ARM, false, false);
	c.status = 0x20;
	put(&c.code, 0x4608, 2);     /* mov r0, r1 */
	put(&c.code, 0xe7ff, 2);     /* b . + 2: the last of one halfword */
	put(&c.code, 0xe8bd, 2);     /* pop.w, the first of two */
	put(&c.code, 0x0001, 2);
	put(&c.code, 0xdf00, 2);     /* svc 0 */
	put(&c.code, 0x4608, 2);
	reg(0, 0x55, 4);
	reg(15, 0x1002, 4);
	end();
	reg(15, 0x1004, 4);
	end();
	reg(15, 0x1008, 4);
	end();
	reg(0, 0x66, 4);
	reg(15, 0x100a, 4);
	end();
	ck_assert_str_eq(read_core(),
			 "1000/2@0 r0=55\n1002/2@0\n1004/4@0\n1008/2@0 r0=66 syscall8(55,2,3,4,5,6)=66\n");
}
END_TEST

/* The same address in both instruction sets: a word of 4 bytes, then a halfword of 2. */
START_TEST(arm_and_thumb_at_one_address)
{
	for_machine(EM_ARM, false, false);
	put(&c.code, 0xe1a04608, 4); /* mov r4, r8, lsl #12; in Thumb: mov r0, r1 */
	reg(4, 0x55, 4);
	reg(25, 0x20, 4);
	reg(15, 0x1000, 4);
	end();
	reg(0, 0x66, 4);
	reg(15, 0x1002, 4);
	end();
	ck_assert_str_eq(read_core(), "1000/4@0 r4=55 cpsr=20\n1000/2@0 r0=66\n");
}
END_TEST

/* Registers of a coprocessor that is no more, of 12 bytes, and its status, of 4: passed over. */
START_TEST(old_registers_of_arm_are_passed_over)
{
	for_machine(EM_ARM, false, false);
	put(&c.code, 0xe1a00001, 4);
	for (unsigned i = 16; i < 24; i++) {
		reg(i, 0, 4);
		zeros(&c.log, 8);
	}
	reg(24, 0, 4);
	reg(0, 0x55, 4);
	reg(15, 0x1004, 4);
	end();
	ck_assert_str_eq(read_core(), "1000/4@0 r0=55\n");
}
END_TEST

START_TEST(aarch64)
{
	for (unsigned big = 0; big < 2; big++) {
		for_machine(EM_AARCH64, true, big);
		/* instructions are little-endian in both orders */
		ts_buf_put(&c.code, "\xe0\x03\x01\xaa", 4); /* mov x0, x1 */
		ts_buf_put(&c.code, "\x1f\x20\x03\xd5", 4); /* nop */
		reg(0, 0x55, 8);
		reg(32, 0x1004, 8);
		end();
		ck_assert_str_eq(read_core(), "1000/4@0 x0=55\n");
		ck_assert_uint_eq(t.rec->regs.arch->is_big_endian, big);
		EXPECT_INITIAL("x30=1f ");
		EXPECT_INITIAL("sp=20 ");
	}
}
END_TEST

/* ------------------------------------------------------------------------------------------- headers */

START_TEST(headers_that_are_refused)
{
	static const struct {
		unsigned off, len;
		uint64_t value;
		enum ts_code code;
		const char *why;
	} cases[] = {
		{ 0, 1, 'X', TS_EUNSUPPORTED, "not an ELF file" },
		{ EI_CLASS, 1, 0, TS_ECORRUPT, "ELF of class 0" },
		{ EI_CLASS, 1, 3, TS_ECORRUPT, "ELF of class 3" },
		{ EI_DATA, 1, 0, TS_ECORRUPT, "byte order 0" },
		{ EI_DATA, 1, 3, TS_ECORRUPT, "byte order 3" },
		{ 16, 2, ET_EXEC, TS_EUNSUPPORTED, "an ELF file of type 2" },
		{ 18, 2, EM_386, TS_EUNSUPPORTED, "machine 3" }, /* of 32 bits only */
		{ 18, 2, EM_ARM, TS_EUNSUPPORTED, "machine 40" },
		{ 18, 2, EM_RISCV, TS_EUNSUPPORTED, "machine 243" },
		{ offsetof(Elf64_Ehdr, e_phentsize), 2, sizeof(Elf64_Phdr) + 1, TS_ECORRUPT, "program headers of 57 bytes" },
		{ offsetof(Elf64_Ehdr, e_phentsize), 2, sizeof(Elf32_Phdr), TS_ECORRUPT, "program headers of 32 bytes" },
		{ offsetof(Elf64_Ehdr, e_phoff), 8, 63, TS_ECORRUPT, "at 0x3f" },
		{ offsetof(Elf64_Ehdr, e_phoff), 8, 1 << 20, TS_ETRUNC, "3 ELF program headers at 0x100000 pass the end" },
		{ offsetof(Elf64_Ehdr, e_phnum), 2, 60000, TS_ETRUNC, "60000 ELF program headers at 0x80 pass the end" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		end();
		build();
		for (unsigned k = 0; k < cases[i].len; k++)
			t.bytes.data[cases[i].off + k] = (uint8_t)(cases[i].value >> 8 * k);
		expect_refused(cases[i].code, cases[i].why);
	}
}
END_TEST

START_TEST(processors_of_the_other_width_are_refused)
{
	static const struct {
		uint16_t machine;
		const char *why;
	} cases[] = { { EM_X86_64, "machine 62" }, { EM_AARCH64, "machine 183" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for_machine(cases[i].machine, false, false);
		build();
		expect_refused(TS_EUNSUPPORTED, cases[i].why);
	}
}
END_TEST

START_TEST(short_files_are_refused)
{
	for (unsigned is_64 = 0; is_64 < 2; is_64++) {
		for_machine(is_64 ? EM_X86_64 : EM_386, is_64, false);
		build();
		t.bytes.len = is_64 ? offsetof(Elf64_Ehdr, e_phnum) + 1 : sizeof(Elf32_Ehdr) - 1;
		expect_refused(TS_ETRUNC, "ELF header");
	}
}
END_TEST

START_TEST(the_section_header_may_count_the_segments)
{
	for (unsigned is_64 = 0; is_64 < 2; is_64++) {
		for_machine(is_64 ? EM_X86_64 : EM_386, is_64, false);
		c.has_xnum = true;
		ts_buf_put(&c.code, "\x90\x90", 2);
		reg(is_64 ? 16 : 8, 0x1001, is_64 ? 8 : 4);
		end();
		ck_assert_str_eq(read_core(), "1000/1@0\n");
	}
	again();
	c.has_xnum = true;
	build();
	t.bytes.data[offsetof(Elf64_Ehdr, e_shoff) + 2] = 0x7f;
	expect_refused(TS_ETRUNC, "the number of program headers");
}
END_TEST

/* ------------------------------------------------------------------------------------------ segments */

/* Regions of the initial state, "ADDR,LEN " each. */
static const char *regions(void)
{
	static char text[400];

	*text = '\0';
	for (uint32_t i = 0; i < t.rec->initial.n_maps; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%llx,%llx ",
			 (unsigned long long)t.rec->initial.maps[i].addr,
			 (unsigned long long)t.rec->initial.maps[i].len);
	return text;
}

START_TEST(segments_that_cannot_be_are_left_out)
{
	static const struct seg first[] = {
		{ PT_LOAD, PF_R, 0x8000, 0, 0x1000, false },
		{ PT_LOAD, PF_R, 0x8800, 0, 0x1000, false },                          /* begins within the one before */
		{ PT_LOAD, PF_R, 0x7000, 0, 0x1000, false },                          /* ends where another begins */
		{ PT_LOAD, PF_R, UINT64_C(0xfffffffffffff000), 0, 0x1001, false },    /* beyond the last address */
	};
	static const struct seg other[] = {
		{ PT_LOAD, PF_R, UINT64_C(0xfffffffffffff000), 0, 0x1000, false },    /* up to the last address */
		{ PT_LOAD, PF_R, UINT64_C(0xffffffffff600000), 0, 0x1000, false },    /* vsyscall, which gdb cannot read */
		{ PT_LOAD, PF_R, 0x9000, 0, 0, false },
		{ PT_LOAD, PF_R, 0x1000, 0, 0x800, false },                           /* the same again: the code's */
	};

	memcpy(c.more, first, sizeof(first));
	c.n_more = 4;
	end();
	read_core();
	ck_assert_str_eq(regions(), "1000,1000 7000,1000 8000,1000 ");
	again();
	memcpy(c.more, other, sizeof(other));
	c.n_more = 3;
	end();
	read_core();
	ck_assert_str_eq(regions(), "1000,1000 fffffffffffff000,1000 ");
}
END_TEST

START_TEST(memory_that_the_file_does_not_have_is_told)
{
	c.more[0] = (struct seg){ PT_LOAD, PF_R | PF_W, 0x8000, 0x1000, 0x1000, true };
	c.n_more = 1;
	end();
	read_core();
	ck_assert_uint_eq(t.rec->n_warnings, 1);
	again();
	c.more[0] = (struct seg){ PT_LOAD, PF_R | PF_W, 0x8000, 4, 0x1000, true };
	c.n_more = 1;
	end();
	read_core();
	ck_assert_uint_eq(t.rec->n_warnings, 0);
}
END_TEST

/* --------------------------------------------------------------------------------------------- notes */

static void le(uint8_t *p, uint64_t v, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* FXSAVE: one register, st0 = 1.0, is in use; the top of the stack is 7. */
static void fxsave(uint8_t *p)
{
	le(p, 0x27f, 2);
	le(p + 2, 7 << 11, 2);
	p[4] = 0x80;
	le(p + 6, 0xfabc, 2);
	le(p + 8, 0x11223344, 4);
	le(p + 12, 0x23, 2);
	le(p + 16, 0x55667788, 4);
	le(p + 20, 0x2b, 2);
	le(p + 24, 0x1fa0, 4);
	le(p + 32, UINT64_C(0x8000000000000000), 8);
	le(p + 40, 0x3fff, 2);
	p[32 + 16 * 7] = 0x77;
	p[160] = 0xa0;
	p[160 + 16 * 7 + 15] = 0xa7;
	p[160 + 16 * 15] = 0xaf;
}

static void expect_x87(const char *fop)
{
	EXPECT_INITIAL(" fctrl=27f ");
	EXPECT_INITIAL(" fstat=3800 ");
	EXPECT_INITIAL(" ftag=3fff "); /* register 7 is valid, the others are empty */
	EXPECT_INITIAL(" fiseg=23 ");
	EXPECT_INITIAL(" fioff=11223344 ");
	EXPECT_INITIAL(" foseg=2b ");
	EXPECT_INITIAL(" fooff=55667788 ");
	EXPECT_INITIAL(fop);
	EXPECT_INITIAL(" st0=0000000000000080ff3f ");
}

static void expect_sse(bool is_64)
{
	EXPECT_INITIAL(" mxcsr=1fa0");
	EXPECT_INITIAL(" xmm0=a0");
	EXPECT_INITIAL(" xmm7=000000000000000000000000000000a7 ");
	ck_assert_int_eq(has(" xmm15=af"), is_64);
}

START_TEST(fxsave_of_both_widths)
{
	uint8_t p[512] = { 0 };

	fxsave(p);
	for (unsigned is_64 = 0; is_64 < 2; is_64++) {
		for_machine(is_64 ? EM_X86_64 : EM_386, is_64, false);
		note(is_64 ? "CORE" : "LINUX", is_64 ? NT_FPREGSET : NT_PRXFPREG, p, sizeof(p));
		end();
		read_core();
		expect_x87(" fop=2bc "); /* eleven bits */
		expect_sse(is_64);
		ck_assert_uint_eq(t.rec->n_warnings, 0);
	}
}
END_TEST

START_TEST(fsave_of_i386)
{
	uint8_t p[108] = { 0 };

	for_machine(EM_386, false, false);
	le(p, 0x27f, 2);
	le(p + 4, 0x3800, 2);
	le(p + 8, 0x3fff, 2);
	le(p + 12, 0x11223344, 4);
	le(p + 16, 0x23, 2);
	le(p + 18, 0xfabc, 2);
	le(p + 20, 0x55667788, 4);
	le(p + 24, 0x2b, 2);
	le(p + 28, UINT64_C(0x8000000000000000), 8);
	le(p + 36, 0x3fff, 2);
	p[28 + 70] = 0x77;
	note("CORE", NT_FPREGSET, p, sizeof(p));
	end();
	read_core();
	expect_x87(" fop=2bc ");
	EXPECT_INITIAL(" st7=77");
	EXPECT_NO_INITIAL("xmm0=");
}
END_TEST

/* Parts that are not in use are as FINIT leaves them, whatever the bytes are. */
START_TEST(xsave_says_which_parts_are_in_use)
{
	uint8_t p[832] = { 0 };

	fxsave(p);
	p[576] = 0xb0;
	p[576 + 16 * 15] = 0xbf;
	for (unsigned used = 0; used < 8; used++) {
		again();
		p[512] = (uint8_t)used;
		note("LINUX", NT_X86_XSTATE, p, sizeof(p));
		end();
		read_core();
		if (used & 1)
			expect_x87(" fop=2bc ");
		else
			EXPECT_INITIAL(" fctrl=37f fstat=0 ftag=ffff ");
		if (used & 2)
			expect_sse(true);
		else
			EXPECT_INITIAL(" xmm0=0");
		/* MXCSR belongs to SSE and to AVX (Intel's manual 1, 13.6) */
		EXPECT_INITIAL(used & 6 ? " mxcsr=1fa0" : " mxcsr=1f80");
		EXPECT_INITIAL(used & 4 ? " ymm0h=b0" : " ymm0h=0");
		EXPECT_INITIAL(used & 4 ? " ymm15h=bf" : " ymm15h=0");
	}
}
END_TEST

START_TEST(xsave_of_i386_has_eight_halves)
{
	uint8_t p[832] = { 0 };

	for_machine(EM_386, false, false);
	fxsave(p);
	p[512] = 7;
	p[576 + 16 * 7] = 0xb7;
	note("LINUX", NT_X86_XSTATE, p, sizeof(p));
	end();
	read_core();
	EXPECT_INITIAL(" ymm7h=b7");
	expect_sse(false);
	again();
	note("LINUX", NT_X86_XSTATE, p, 576 + 255); /* not all halves */
	end();
	read_core();
	EXPECT_INITIAL(" xmm0=a0");
	EXPECT_NO_INITIAL(" ymm0h=");
}
END_TEST

START_TEST(floating_point_notes_of_other_lengths_are_told)
{
	static const struct {
		uint16_t machine;
		const char *name;
		uint32_t type;
		unsigned len;
		bool is_told;
	} cases[] = {
		{ EM_X86_64, "CORE", NT_FPREGSET, 511, true },
		{ EM_386, "CORE", NT_FPREGSET, 107, true },
		{ EM_X86_64, "LINUX", NT_X86_XSTATE, 575, true },
		{ EM_AARCH64, "CORE", NT_FPREGSET, 519, true },
		{ EM_386, "LINUX", NT_PRXFPREG, 511, false }, /* NT_FPREGSET has the same */
		{ EM_X86_64, "OTHER", NT_FPREGSET, 511, false },
		{ EM_X86_64, "CORE", NT_X86_XSTATE, 1, false },
		{ EM_AARCH64, "OTHER", NT_FPREGSET, 519, false },
		{ EM_ARM, "CORE", NT_FPREGSET, 1, false },    /* its recordings have no floating point */
	};
	static const uint8_t zero[600];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for_machine(cases[i].machine, cases[i].machine == EM_X86_64 || cases[i].machine == EM_AARCH64,
			    false);
		note(cases[i].name, cases[i].type, zero, cases[i].len);
		end();
		read_core();
		ck_assert_msg(ucir_warned(t.rec, "floating-point registers of") == cases[i].is_told,
			      "case %zu", i);
		EXPECT_NO_INITIAL(" fctrl=");
		EXPECT_NO_INITIAL(" v0=");
	}
}
END_TEST

START_TEST(vectors_of_aarch64)
{
	for (unsigned big = 0; big < 2; big++) {
		struct ts_buf d;

		for_machine(EM_AARCH64, true, big);
		ts_buf_init(&d);
		for (unsigned i = 0; i < 32; i++) {
			zeros(&d, 15);
			ts_buf_putc(&d, (uint8_t)(0x80 + i));
		}
		put(&d, 0x11223344, 4);
		put(&d, 0x55667788, 4);
		note("CORE", NT_FPREGSET, d.data, d.len);
		end();
		read_core();
		EXPECT_INITIAL(" v0=00000000000000000000000000000080 "); /* in the order of their bytes */
		EXPECT_INITIAL(" v31=0000000000000000000000000000009f ");
		EXPECT_INITIAL(" fpsr=11223344 ");
		EXPECT_INITIAL(" fpcr=55667788");
		ts_buf_fini(&d);
	}
}
END_TEST

START_TEST(a_short_note_of_registers_is_refused)
{
	static const struct {
		uint16_t machine;
		unsigned len; /* up to the last register */
	} cases[] = { { EM_X86_64, 112 + 27 * 8 },
		      { EM_386, 72 + 17 * 4 },
		      { EM_ARM, 72 + 17 * 4 },
		      { EM_AARCH64, 112 + 34 * 8 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_64 = cases[i].machine == EM_X86_64 || cases[i].machine == EM_AARCH64;

		for_machine(cases[i].machine, is_64, false);
		c.prstatus_len = cases[i].len;
		end();
		read_core();
		for_machine(cases[i].machine, is_64, false);
		c.prstatus_len = cases[i].len - 1;
		end();
		build();
		expect_refused(TS_ECORRUPT, "the registers have only");
	}
}
END_TEST

START_TEST(arguments_are_the_words_of_a_text)
{
	static const struct {
		const char *text;
		size_t len; /* with the zero after them */
	} cases[] = { { "/bin/ls -l", 11 }, { "/bin/ls  -l  ", 11 }, { "   ", 0 }, { "", 0 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char d[136] = { 0 };

		again();
		memcpy(d + sizeof(d) - 80, cases[i].text, strlen(cases[i].text));
		note("CORE", NT_PRPSINFO, d, sizeof(d));
		end();
		read_core();
		ck_assert_uint_eq(t.rec->cmdline.len, cases[i].len);
		if (cases[i].len)
			ck_assert_mem_eq(t.rec->cmdline.data, "/bin/ls\0-l", 11);
	}
	again();
	note("CORE", NT_PRPSINFO, "short", 6);
	end();
	read_core();
	ck_assert_uint_eq(t.rec->cmdline.len, 0);
}
END_TEST

START_TEST(the_first_auxiliary_vector_counts)
{
	note("CORE", NT_AUXV, "", 0);
	note("CORE", NT_AUXV, "one", 3);
	note("CORE", NT_AUXV, "other", 5);
	end();
	read_core();
	ck_assert_uint_eq(t.rec->auxv_len, 3);
	ck_assert_mem_eq(t.rec->auxv, "one", 3);
}
END_TEST

/* The second one could not be. */
START_TEST(the_first_list_of_files_counts)
{
	for (uint64_t count = 1; count <= 2; count++) {
		struct ts_buf d;

		ts_buf_init(&d);
		word(&d, count);
		word(&d, 0x1000);
		word(&d, 0x1000);
		word(&d, 0x2000);
		word(&d, 3);
		ts_buf_put(&d, "/bin/x", 7);
		note("CORE", NT_FILE, d.data, d.len);
		ts_buf_fini(&d);
	}
	end();
	read_core();
}
END_TEST

START_TEST(lists_of_files_that_cannot_be_are_refused)
{
	static const struct {
		uint64_t count, page, start, end, off;
		const char *name;
		size_t name_len;
		const char *why; /* NULL: it is taken */
	} cases[] = {
		{ 1, 0x1000, 0x1000, 0x2000, 3, "/bin/x", 7, NULL },
		{ 1, 0x1000, 0x1000, 0x2000, 3, "/bin/x", 6, "entry 0" },             /* the name has no end */
		{ 1, 0x1000, 0x1000, 0x1000, 3, "/bin/x", 7, "entry 0" },
		{ 1, 0x1000, 0x2000, 0x1000, 3, "/bin/x", 7, "entry 0" },
		{ 1, 0x1000, 0x1000, 0x2000, UINT64_MAX / 2, "/bin/x", 7, "entry 0" }, /* an offset beyond 64 bits */
		{ 1, 0, 0x1000, 0x2000, UINT64_MAX, "/bin/x", 7, NULL },
		{ 2, 0x1000, 0x1000, 0x2000, 3, "/bin/x", 7, "note" },                 /* fewer than it says */
		{ UINT64_MAX, 0x1000, 0x1000, 0x2000, 3, "/bin/x", 7, "note" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ts_buf d;

		again();
		ts_buf_init(&d);
		word(&d, cases[i].count);
		word(&d, cases[i].page);
		word(&d, cases[i].start);
		word(&d, cases[i].end);
		word(&d, cases[i].off);
		ts_buf_put(&d, cases[i].name, cases[i].name_len);
		note("CORE", NT_FILE, d.data, d.len);
		ts_buf_fini(&d);
		end();
		if (!cases[i].why) {
			read_core();
			continue;
		}
		build();
		ck_assert_msg(!ucir_open(&t, NULL), "case %zu", i);
		ck_assert_msg(strstr(t.err.text, cases[i].why), "case %zu: %s", i, t.err.text);
	}
}
END_TEST

UNIT_FIXTURE_SUITE("gdbrecord_core", setup, teardown, i386, arm, thumb, arm_and_thumb_at_one_address,
		   old_registers_of_arm_are_passed_over, aarch64, headers_that_are_refused,
		   processors_of_the_other_width_are_refused, short_files_are_refused,
		   the_section_header_may_count_the_segments, segments_that_cannot_be_are_left_out,
		   memory_that_the_file_does_not_have_is_told, fxsave_of_both_widths, fsave_of_i386,
		   xsave_says_which_parts_are_in_use, xsave_of_i386_has_eight_halves,
		   floating_point_notes_of_other_lengths_are_told, vectors_of_aarch64,
		   a_short_note_of_registers_is_refused, arguments_are_the_words_of_a_text,
		   the_first_auxiliary_vector_counts, the_first_list_of_files_counts,
		   lists_of_files_that_cannot_be_are_refused)
