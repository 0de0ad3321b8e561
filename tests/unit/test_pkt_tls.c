/* SPDX-License-Identifier: MIT */
/*
 * Addresses of thread-local variables of the program, and where the program lies: by an ELF file that is made
 * up here, for the fake session's code at 0x401000.
 */
#include "fake_session.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"

#define OFF  0x1000u /* of the code in the file */
#define ADDR UINT64_C(0x401000)
#define PATH "program"

/* A program of two segments: sixteen instructions @code, and thread-local data. */
static void make_program(uint16_t type, uint64_t addr, uint8_t code, uint64_t tls_len, uint64_t tls_align)
{
	static uint8_t file[OFF + 16];
	Elf64_Ehdr head = { .e_type = type,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_entry = addr,
			    .e_phoff = sizeof(head),
			    .e_ehsize = sizeof(head),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 2 };
	const Elf64_Phdr segments[2] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = OFF, .p_vaddr = addr, .p_filesz = 16, .p_memsz = 16,
		  .p_align = 0x1000 },
		{ .p_type = PT_TLS, .p_flags = PF_R, .p_offset = OFF, .p_vaddr = addr, .p_filesz = 0, .p_memsz = tls_len,
		  .p_align = tls_align },
	};
	FILE *f = fopen(PATH, "wb");

	memcpy(head.e_ident, ELFMAG, SELFMAG);
	head.e_ident[EI_CLASS] = ELFCLASS64;
	head.e_ident[EI_DATA] = ELFDATA2LSB;
	head.e_ident[EI_VERSION] = EV_CURRENT;
	memset(file, 0, sizeof(file));
	memcpy(file, &head, sizeof(head));
	memcpy(file + sizeof(head), segments, sizeof(segments));
	memset(file + OFF, code, 16);
	ck_assert_uint_eq(fwrite(file, 1, sizeof(file), f), sizeof(file));
	fclose(f);
}

static void set_fs_base(struct ts_recording *rec)
{
	const struct ts_arch *arch = rec->regs.arch;
	const uint64_t value = 0x7f0000001000;
	struct ts_error err = { 0 };
	int reg;

	ts_regset_fini(&rec->regs); /* what it had keeps its place */
	ck_assert(ts_regset_init(&rec->regs, arch, 1u << ts_arch_feature_with(arch, "fs_base"), &err));
	reg = ts_regset_find(&rec->regs, "fs_base");
	ck_assert_int_ge(reg, 0);
	ts_steps_value(&rec->initial, TS_FX_REG_WRITE, rec->regs.regs[reg].off, &value, 8); /* little-endian, as here */
}

static void begin(void (*change)(struct ts_recording *rec), const uint64_t *base)
{
	struct ts_error err = { 0 };

	fake_again(&(struct fake_options){ .exec = PATH, .change = change });
	ck_assert(rsp_target_locate(&fake.target, base, &err));
	fake_send("qSupported:multiprocess+;error-message+");
}

/* -------------------------------------------------------------------------------------- thread-local data */

/* The ABI: the block ends at the thread pointer, and its length is rounded up to its alignment. */
START_TEST(the_programs_block_ends_at_the_thread_pointer)
{
	static const struct {
		uint64_t len, align;
		const char *reply; /* of the variable at 4 */
	} cases[] = {
		{ 0x14, 0x10, "7f0000000fe4" },
		{ 0x20, 0x10, "7f0000000fe4" },
		{ 0x14, 1, "7f0000000ff0" },
		{ 0x14, 0, "7f0000000ff0" },
		{ 0x14, 0x1000, "7f0000000004" },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_program(ET_EXEC, ADDR, 0x90, cases[i].len, cases[i].align);
		begin(set_fs_base, NULL);
		ck_assert_str_eq(fake_send("qGetTLSAddr:p64.3e8,4,0"), cases[i].reply);
		ck_assert_str_eq(fake_send("qGetTLSAddr:p64.3e8,4,401000"), cases[i].reply); /* as in a list of libraries */
	}
}
END_TEST

START_TEST(without_a_segment_that_can_be_there_is_no_address)
{
	static const struct {
		uint64_t len, align;
	} cases[] = { { 0, 0x10 }, { 0x14, 0x18 }, { UINT64_MAX - 7, 0x10 } };

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_program(ET_EXEC, ADDR, 0x90, cases[i].len, cases[i].align);
		begin(set_fs_base, NULL);
		ck_assert_str_eq(fake_send("qGetTLSAddr:p64.3e8,4,0"),
				 "E.the program's thread-local segment is not known (--exec FILE)");
	}
	fclose(fopen(PATH, "wb")); /* not an ELF file */
	begin(set_fs_base, NULL);
	ck_assert_int_eq(fake_send("qGetTLSAddr:p64.3e8,4,0")[0], 'E');
}
END_TEST

START_TEST(an_unknown_thread_pointer_is_not_zero)
{
	make_program(ET_EXEC, ADDR, 0x90, 0x14, 0x10);
	begin(NULL, NULL);
	ck_assert_str_eq(fake_send("qGetTLSAddr:p64.3e8,4,0"), "E.fs_base is not known at position 0");
}
END_TEST

START_TEST(other_objects_and_threads_have_none_here)
{
	make_program(ET_EXEC, ADDR, 0x90, 0x14, 0x10);
	begin(set_fs_base, NULL);
	ck_assert_int_eq(strncmp(fake_send("qGetTLSAddr:p64.3e8,4,7000"), "E.", 2), 0);
	ck_assert_str_eq(fake_send("qGetTLSAddr:p64.5,4,0"), "E16");
	ck_assert_str_eq(fake_send("qGetTLSAddr:p64.3e8,4"), "E16");
	ck_assert_str_eq(fake_send("qGetTLSAddr:p64.3e8;4;0"), "E16");
	rsp_session_go(&fake.session, FAKE_N_STEPS);
	ck_assert_str_eq(fake_send("qGetTLSAddr:p64.3e9,4,0"), "E16"); /* which has ended */
}
END_TEST

/* An ELF library as it is in memory: one segment, and a dynamic section at 0xe10. */
static void put_library(struct ts_recording *rec, uint64_t addr, const char *file)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segments[2];
	} elf = { { .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_phoff = sizeof(elf.head),
		    .e_ehsize = sizeof(elf.head), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2 },
		  { { .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = 0x1000, .p_memsz = 0x1000 },
		    { .p_type = PT_DYNAMIC, .p_flags = PF_R, .p_vaddr = 0xe10, .p_filesz = 0x100, .p_memsz = 0x100 } } };

	memcpy(elf.head.e_ident, ELFMAG, SELFMAG);
	elf.head.e_ident[EI_CLASS] = ELFCLASS64;
	elf.head.e_ident[EI_DATA] = ELFDATA2LSB;
	elf.head.e_ident[EI_VERSION] = EV_CURRENT;
	ts_steps_load(&rec->initial, addr, 0x1000, file, strlen(file));
	ts_steps_value(&rec->initial, TS_FX_WRITE, addr, &elf, sizeof(elf));
}

static void add_libraries(struct ts_recording *rec)
{
	set_fs_base(rec);
	put_library(rec, 0x7000000, "/lib/libc.so.6");
	put_library(rec, 0x7100000, "/lib/x.so");
	put_library(rec, 0x7200000, "/libpthread-2.31.so");
}

/* Without the files of the C library nobody knows where it keeps the blocks of others. */
START_TEST(a_library_has_none_without_the_files_of_glibc)
{
	static const char *const maps[] = { "7000000", "7100000", "7200000", "7300000" };
	char packet[64];

	make_program(ET_EXEC, ADDR, 0x90, 0x14, 0x10);
	begin(add_libraries, NULL);
	for (unsigned i = 0; i < 4; i++) {
		snprintf(packet, sizeof(packet), "qGetTLSAddr:p64.3e8,4,%s", maps[i]);
		ck_assert_msg(!strncmp(fake_send(packet), "E.", 2) && !strstr(fake.text, "fs_base"), "%s: %s", packet,
			      fake.text);
	}
	ck_assert_str_eq(fake_send("qGetTLSAddr:p64.3e8,4,0"), "7f0000000fe4"); /* the program's: 0x20 below */
}
END_TEST

/* -------------------------------------------------------------------------------------- where it lies */

START_TEST(a_program_with_an_address_lies_there)
{
	make_program(ET_EXEC, ADDR, 0x90, 0, 0);
	begin(NULL, NULL);
	ck_assert_int_ne(fake.target.located.by, TS_LOCATED_NOT);
	ck_assert_uint_eq(fake.target.located.first, ADDR);
	ck_assert_uint_eq(fake.target.located.match.n_different, 0);
	ck_assert_uint_gt(fake.target.located.match.n_same, 0);
}
END_TEST

START_TEST(another_program_is_told_from_the_recorded_one)
{
	make_program(ET_EXEC, ADDR, 0xcc, 0, 0);
	begin(NULL, NULL);
	ck_assert_uint_gt(fake.target.located.match.n_different, 0);
	make_program(ET_EXEC, 0x10000, 0x90, 0, 0); /* where nothing ran */
	begin(NULL, NULL);
	ck_assert_uint_eq(fake.target.located.match.n_same + fake.target.located.match.n_different, 0);
}
END_TEST

START_TEST(one_without_an_address_lies_where_the_user_says)
{
	const uint64_t base = ADDR;

	make_program(ET_DYN, 0, 0x90, 0, 0);
	begin(NULL, &base);
	ck_assert_uint_eq(fake.target.located.first, ADDR);
	ck_assert_uint_gt(fake.target.located.match.n_same, 0);
}
END_TEST

FAKE_SUITE("pkt_tls", the_programs_block_ends_at_the_thread_pointer,
	   without_a_segment_that_can_be_there_is_no_address, an_unknown_thread_pointer_is_not_zero,
	   other_objects_and_threads_have_none_here, a_library_has_none_without_the_files_of_glibc,
	   a_program_with_an_address_lies_there,
	   another_program_is_told_from_the_recorded_one, one_without_an_address_lies_where_the_user_says)
