/* SPDX-License-Identifier: MIT */
/*
 * Core files of gdb's recordings, for each processor, word size and byte order: headers and segments.
 */
#include "unit.h"

#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core_case.h"

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

UNIT_FIXTURE_SUITE("gdbrecord_core", setup, teardown, i386, arm, thumb, arm_and_thumb_at_one_address,
		   old_registers_of_arm_are_passed_over, aarch64, headers_that_are_refused,
		   processors_of_the_other_width_are_refused, short_files_are_refused,
		   the_section_header_may_count_the_segments, segments_that_cannot_be_are_left_out,
		   memory_that_the_file_does_not_have_is_told)
