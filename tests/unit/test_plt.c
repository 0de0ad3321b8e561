/* SPDX-License-Identifier: MIT */
/*
 * Entries of linkage tables as binutils writes them, byte by byte.
 */
#include "unit.h"

#include "src/object/plt.h"

#include <elf.h>
#include <stdlib.h>

static struct ts_plt plt;
static uint64_t found_addr[4], found_len[4];
static uint32_t found_symbol[4];
static size_t n_found;

static void teardown(void)
{
	free(plt.slots.items);
}

static void take(void *user, uint64_t addr, uint64_t len, uint32_t symbol)
{
	(void)user;
	ck_assert_uint_lt(n_found, 4);
	found_addr[n_found] = addr;
	found_len[n_found] = len;
	found_symbol[n_found++] = symbol;
}

static void walk(uint16_t machine, uint64_t addr, const uint8_t *bytes, size_t len)
{
	plt.machine = machine;
	plt.addr = addr;
	plt.bytes = bytes;
	plt.len = len;
	n_found = 0;
	ts_plt_slots_sort(&plt.slots);
	ts_plt_walk(&plt, take, NULL);
}

static void slot(uint64_t addr, uint32_t symbol)
{
	ck_assert(ts_plt_slots_add(&plt.slots, addr, symbol));
}

/* objdump of tests/data/programs/pie/prog: strcpy's word is at 0x4000, printf's at 0x4008. */
START_TEST(entries_of_x86_64_refer_to_their_end)
{
	static const uint8_t bytes[] = {
		0xff, 0x35, 0xca, 0x2f, 0, 0, 0xff, 0x25, 0xcc, 0x2f, 0, 0, 0x0f, 0x1f, 0x40, 0, /* to the linker */
		0xff, 0x25, 0xca, 0x2f, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0xe0, 0xff, 0xff, 0xff,
		0xff, 0x25, 0xc2, 0x2f, 0, 0, 0x68, 1, 0, 0, 0, 0xe9, 0xd0, 0xff, 0xff, 0xff,
	};

	slot(0x4008, 5);
	slot(0x4000, 3);
	plt.entry_len = 16;
	walk(EM_X86_64, 0x1020, bytes, sizeof(bytes));
	ck_assert_uint_eq(n_found, 2);
	ck_assert(found_addr[0] == 0x1030 && found_len[0] == 16 && found_symbol[0] == 3);
	ck_assert(found_addr[1] == 0x1040 && found_symbol[1] == 5);
}
END_TEST

/* .plt.sec: endbr64, bnd jmp *0x2f75(%rip), nopl */
START_TEST(entries_for_control_flow_enforcement_begin_with_endbr64)
{
	static const uint8_t bytes[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0x75,
					 0x2f, 0, 0, 0x0f, 0x1f, 0x44, 0, 0 };

	slot(0x1050 + 5 + 6 + 0x2f75, 9);
	plt.entry_len = 16;
	walk(EM_X86_64, 0x1050, bytes, sizeof(bytes));
	ck_assert_uint_eq(n_found, 1);
	ck_assert(found_addr[0] == 0x1050 && found_symbol[0] == 9);
}
END_TEST

START_TEST(entries_of_i386_name_the_word_or_its_distance_from_the_table)
{
	static const uint8_t bytes[] = {
		0xff, 0x25, 0x0c, 0xa0, 0x04, 0x08, 0x68, 0, 0, 0, 0, 0xe9, 0xe0, 0xff, 0xff, 0xff,
		0xff, 0xa3, 0x10, 0, 0, 0, 0x68, 8, 0, 0, 0, 0xe9, 0xd0, 0xff, 0xff, 0xff,
	};

	slot(0x804a00c, 1);
	slot(0x804a010, 2);
	plt.entry_len = 4;
	plt.got = 0x804a000;
	walk(EM_386, 0x8048300, bytes, sizeof(bytes));
	ck_assert_uint_eq(n_found, 2);
	ck_assert(found_addr[0] == 0x8048300 && found_symbol[0] == 1);
	ck_assert(found_addr[1] == 0x8048310 && found_symbol[1] == 2);
}
END_TEST

/* adrp x16, 0x11000; ldr x17, [x16, #8]; add x16, x16, #8; br x17 */
START_TEST(entries_of_aarch64_load_from_a_page)
{
	static const uint8_t bytes[] = { 0x90, 0, 0, 0x90, 0x11, 0x06, 0x40, 0xf9,
					 0x10, 0x22, 0, 0x91, 0x20, 0x02, 0x1f, 0xd6 };

	slot(0x11008, 7);
	walk(EM_AARCH64, 0x1650, bytes, sizeof(bytes));
	ck_assert_uint_eq(n_found, 1);
	ck_assert(found_addr[0] == 0x1650 && found_len[0] == 16 && found_symbol[0] == 7);
}
END_TEST

START_TEST(words_without_a_symbol_and_other_processors_have_no_entries)
{
	static const uint8_t bytes[16] = { 0xff, 0x25, 0xca, 0x2f };

	plt.entry_len = 16;
	walk(EM_X86_64, 0x1030, bytes, sizeof(bytes));
	ck_assert_uint_eq(n_found, 0);
	slot(0x4000, 3);
	walk(EM_MIPS, 0x1030, bytes, sizeof(bytes));
	ck_assert_uint_eq(n_found, 0);
	walk(EM_X86_64, 0x1030, bytes, 15);
	ck_assert_uint_eq(n_found, 0);
}
END_TEST

static void setup(void)
{
	plt = (struct ts_plt){ 0 };
}

UNIT_FIXTURE_SUITE("plt", setup, teardown, entries_of_x86_64_refer_to_their_end,
		   entries_for_control_flow_enforcement_begin_with_endbr64,
		   entries_of_i386_name_the_word_or_its_distance_from_the_table,
		   entries_of_aarch64_load_from_a_page,
		   words_without_a_symbol_and_other_processors_have_no_entries)
