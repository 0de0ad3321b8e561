/* SPDX-License-Identifier: MIT */
/*
 * Page tables of each paging mode, written by hand after the processor's manual: entries, masks and what is
 * no page.
 */
#include "unit.h"

#include "machine.h"
#include "src/query/paging.h"
#include "src/timeline/timeline.h"

#include <string.h>

#define CR3 UINT64_C(0x10000)

static struct script *s;
static struct ts_timeline *tl;
static struct ts_query *q;
static struct ts_error err;
static struct ts_translation t;

static void setup(void)
{
	ts_error_reset(&err);
	s = machine_new(40);
}

static void teardown(void)
{
	ts_query_free(q);
	ts_timeline_free(tl);
	script_free(s);
}

static void reg(const char *name, uint64_t value)
{
	machine_reg(&s->rec.initial, s, name, value);
}

static void mode(uint64_t cr0, uint64_t cr3, uint64_t cr4, uint64_t efer)
{
	reg("cr0", CR0_PE | cr0);
	reg("cr3", cr3);
	reg("cr4", cr4);
	reg("efer", efer);
}

static void put64(uint64_t addr, uint64_t value)
{
	machine_put(&s->rec.initial, addr, value, 8);
}

static void put32(uint64_t addr, uint64_t value)
{
	machine_put(&s->rec.initial, addr, value, 4);
}

/* With two steps that do nothing, if there are none. */
static void build(void)
{
	while (s->steps.n_steps < 2)
		machine_step(s, 0x1000);
	q = script_query(s, &tl, &err);
	ck_assert_msg(q, "%s", err.text);
}

static enum ts_mapping look(uint64_t pos, uint64_t addr)
{
	ck_assert(ts_translate_at(q, pos, 0, addr, &t, &err));
	return t.mapping;
}

static void is_at(uint64_t addr, uint64_t phys, uint64_t page_len)
{
	ck_assert_int_eq(look(0, addr), TS_MAPPED);
	ck_assert_uint_eq(t.phys, phys);
	ck_assert_uint_eq(t.page_len, page_len);
}

static void is_unmapped(uint64_t addr)
{
	ck_assert_int_eq(look(0, addr), TS_UNMAPPED);
}

static enum ts_paging_kind kind(void)
{
	return ts_paging_of(ts_modes_at(&tl->modes, 0), s->rec.phys_bits).kind;
}

/* ------------------------------------------------------------------------------------------------ modes */

START_TEST(without_paging_physical_is_virtual_cut_to_32_bits)
{
	mode(0, CR3, CR4_PAE, EFER_LMA);
	build();
	ck_assert_int_eq(kind(), TS_PAGING_OFF);
	is_at(0x1234, 0x1234, UINT64_C(1) << 32);
	is_at(UINT64_C(0xabcffffffff), 0xffffffff, UINT64_C(1) << 32);
	ck_assert_uint_eq(t.n_entries, 0);
}
END_TEST

START_TEST(two_levels_of_4_byte_entries)
{
	/* cache bits of cr3, and what lies above 32 bits */
	mode(CR0_PG, CR3 | 0x18 | UINT64_C(0xff00000000), 0, 0);
	/* directory entry 0x301 with all its low bits, also 7: no PSE */
	put32(CR3 + 4 * 0x301, 0x20fff);
	put32(0x20000 + 4 * 0x2ab, 0x89abcfff);           /* table entry 0x2ab: bit 7 is no page size */
	put32(0x20000 + 4 * 0x2ac, 0x89abcffe);           /* not present */
	put32(CR3 + 4 * 0x302, 0);
	build();
	ck_assert_int_eq(kind(), TS_PAGING_32);
	is_at(0x301u << 22 | 0x2abu << 12 | 0x123, 0x89abc123, 4096);
	ck_assert_uint_eq(t.n_entries, 2);
	ck_assert_uint_eq(t.entry_len, 4);
	ck_assert_uint_eq(t.entries[0].addr, CR3 + 4 * 0x301);
	ck_assert_uint_eq(t.entries[0].value, 0x20fff);
	ck_assert_uint_eq(t.entries[1].addr, 0x20000 + 4 * 0x2ab);
	is_at(UINT64_C(1) << 32 | 0x301u << 22 | 0x2abu << 12, 0x89abc000, 4096);
	is_unmapped(0x301u << 22 | 0x2acu << 12);
	ck_assert_uint_eq(t.page_len, 4096);
	is_unmapped(0x302u << 22);
	ck_assert_uint_eq(t.page_len, 4u << 20);
}
END_TEST

START_TEST(two_levels_with_4_megabyte_pages_of_40_bits)
{
	mode(CR0_PG, CR3, CR4_PSE, 0);
	put32(CR3 + 4 * 5, 0x7fc00000 | PTE_LARGE | PTE_P | 1u << 12);    /* bit 12 is PAT */
	put32(CR3 + 4 * 6, 0x00400000 | PTE_LARGE | PTE_P | 0xa5u << 13); /* address bits 39..32 */
	put32(CR3 + 4 * 7, 0x20000 | PTE_P);
	put32(0x20000, 0x30000 | PTE_P | PTE_LARGE);
	build();
	is_at(5u << 22 | 0x3fffff, 0x7fffffff, 4u << 20);
	ck_assert_uint_eq(t.n_entries, 1);
	is_at(6u << 22 | 0x12345, UINT64_C(0xa500412345), 4u << 20);
	is_at(7u << 22 | 0x678, 0x30678, 4096);
}
END_TEST

START_TEST(pae_has_a_small_table_that_is_not_page_aligned)
{
	mode(CR0_PG, 0x10fe0 | 0x1f, CR4_PAE, 0);
	put64(0x10fe0 + 8 * 3, 0x20000 | PTE_P | 0xfe6); /* bits of an entry that is no page, 7 too */
	put64(0x20000 + 8 * 0x1ff, 0x30000 | PTE_P);
	put64(0x30000 + 8 * 1,
	      UINT64_C(0x8000000000) | 0x45000 | PTE_P | PTE_LARGE | PTE_NX | UINT64_C(0x7ff) << 52);
	put64(0x20000 + 8 * 2, UINT64_C(0x4000200000) | 1u << 12 | PTE_P | PTE_LARGE);
	put64(0x10fe0, 0);
	build();
	ck_assert_int_eq(kind(), TS_PAGING_PAE);
	is_at(UINT64_C(0xffe01abc), UINT64_C(0x8000045abc), 4096);
	ck_assert_uint_eq(t.n_entries, 3);
	ck_assert_uint_eq(t.entries[0].addr, 0x10ff8);
	is_at(UINT64_C(0x100000000) | 0xffe01abc, UINT64_C(0x8000045abc), 4096);
	is_at(0xc0400000u | 0x1fffff, UINT64_C(0x40003fffff), 2u << 20);
	is_unmapped(0x12345678);
	ck_assert_uint_eq(t.page_len, 1u << 30);
}
END_TEST

/*
 * Tables of four levels below @pml4 for addresses ((1 * 512 + 2) * 512 + 3) * 512 + 4, and large pages beside
 * them.
 */
static void put_long_tables(uint64_t pml4)
{
	/* nothing of it is an address of 40 bits */
	const uint64_t high = PTE_NX | UINT64_C(0x7ff) << 52 | UINT64_C(0xfff) << 40;

	put64(pml4 + 8 * 1, 0x20000 | PTE_P | high);
	put64(0x20000 + 8 * 2, 0x30000 | PTE_P | high);
	put64(0x30000 + 8 * 3, 0x40000 | PTE_P | high);
	put64(0x40000 + 8 * 4, UINT64_C(0xfedcba9000) | PTE_P | PTE_LARGE | high);
	put64(0x30000 + 8 * 4, UINT64_C(0xfedca00000) | 1u << 12 | PTE_P | PTE_LARGE | high);
	put64(0x20000 + 8 * 3, UINT64_C(0xc040000000) | 1u << 12 | PTE_P | PTE_LARGE | high);
	put64(0x20000 + 8 * 4, 0);
	put64(0x30000 + 8 * 5, 0);
	put64(0x40000 + 8 * 5, high);
	put64(pml4 + 8 * 2, 0x20000 | PTE_P | PTE_LARGE);
	put64(pml4 + 8 * 0x1ff, 0x20000 | PTE_P);
}

#define LONG_ADDR(a, b, c, d) (UINT64_C(a) << 39 | UINT64_C(b) << 30 | UINT64_C(c) << 21 | UINT64_C(d) << 12)

static void check_long_tables(void)
{
	is_at(LONG_ADDR(1, 2, 3, 4) | 0xfff, UINT64_C(0xfedcba9fff), 4096);
	is_at(LONG_ADDR(1, 2, 4, 0x1ff) | 0xfff, UINT64_C(0xfedcbfffff), 2u << 20);
	is_at(LONG_ADDR(1, 3, 0x1ff, 0) | 0x123, UINT64_C(0xc07fe00123), 1u << 30);
	is_unmapped(LONG_ADDR(1, 4, 0, 0));
	ck_assert_uint_eq(t.page_len, 1u << 30);
	is_unmapped(LONG_ADDR(1, 2, 5, 0));
	ck_assert_uint_eq(t.page_len, 2u << 20);
	is_unmapped(LONG_ADDR(1, 2, 3, 5));
	ck_assert_uint_eq(t.page_len, 4096);
}

START_TEST(four_levels)
{
	/* PCID, and what lies above 40 bits */
	mode(CR0_PG, CR3 | 0xfff | UINT64_C(0xfff) << 40, CR4_PAE, EFER_LMA);
	put_long_tables(CR3);
	build();
	ck_assert_int_eq(kind(), TS_PAGING_4_LEVEL);
	check_long_tables();
	is_at(LONG_ADDR(1, 2, 3, 4), UINT64_C(0xfedcba9000), 4096);
	ck_assert_uint_eq(t.n_entries, 4);
	ck_assert_uint_eq(t.entries[0].addr, CR3 + 8);
	is_unmapped(LONG_ADDR(2, 2, 3, 4)); /* bit 7 is reserved there */
	is_at(UINT64_C(0xffff000000000000) | LONG_ADDR(0x1ff, 2, 3, 4), UINT64_C(0xfedcba9000), 4096);
	is_unmapped(LONG_ADDR(0x1ff, 2, 3, 4)); /* not canonical */
	is_unmapped(UINT64_C(1) << 63 | LONG_ADDR(1, 2, 3, 4));
}
END_TEST

START_TEST(five_levels)
{
	mode(CR0_PG, 0x50000, CR4_PAE | CR4_LA57, EFER_LMA);
	put64(0x50000, CR3 | PTE_P);
	put64(0x50000 + 8 * 0x1ff, CR3 | PTE_P);
	put64(0x50000 + 8 * 0x0ff, CR3 | PTE_P | PTE_LARGE);
	put_long_tables(CR3);
	build();
	ck_assert_int_eq(kind(), TS_PAGING_5_LEVEL);
	check_long_tables();
	is_at(LONG_ADDR(0x1ff, 2, 3, 4), UINT64_C(0xfedcba9000), 4096); /* canonical, with 57 bits */
	ck_assert_uint_eq(t.n_entries, 5);
	ck_assert_uint_eq(t.entries[0].addr, 0x50000);
	is_at(UINT64_C(0xffff) << 48 | LONG_ADDR(1, 2, 3, 4), UINT64_C(0xfedcba9000), 4096);
	is_unmapped(UINT64_C(0xff) << 48 | LONG_ADDR(1, 2, 3, 4));  /* bit 7 is reserved there */
	is_unmapped(UINT64_C(0x1ff) << 48 | LONG_ADDR(1, 2, 3, 4)); /* not canonical */
}
END_TEST

START_TEST(an_unknown_width_of_physical_addresses_is_52_bits)
{
	s->rec.phys_bits = 0;
	mode(CR0_PG, CR3, CR4_PAE, EFER_LMA);
	put64(CR3, 0x20000 | PTE_P);
	put64(0x20000, UINT64_C(0xfffffc0000000) | PTE_P | PTE_LARGE);
	build();
	is_at(0x5, UINT64_C(0xfffffc0000005), 1u << 30);
}
END_TEST

START_TEST(without_efer_the_code_segment_tells_long_mode)
{
	reg("cr0", CR0_PE | CR0_PG);
	reg("cr3", CR3);
	reg("cr4", CR4_PAE);
	build();
	ck_assert_int_eq(kind(), TS_PAGING_UNKNOWN);
	ck_assert_int_eq(look(0, 0x1000), TS_MAPPING_UNKNOWN);
	ck_assert(!ts_paging_is_known(q));
	teardown();
	setup();
	reg("cr0", CR0_PE | CR0_PG);
	reg("cr3", CR3);
	reg("cr4", CR4_PAE);
	reg("cs_shadow", SHADOW_L);
	build();
	ck_assert_int_eq(kind(), TS_PAGING_4_LEVEL);
	ck_assert(ts_paging_is_known(q));
	teardown();
	setup();
	reg("cr0", CR0_PE | CR0_PG);
	reg("cr3", CR3);
	reg("cr4", CR4_PAE);
	reg("cs_shadow", SHADOW_D);
	build();
	ck_assert_int_eq(kind(), TS_PAGING_PAE);
}
END_TEST

START_TEST(a_control_register_that_is_not_known_leaves_the_mode_unknown)
{
	reg("cr0", CR0_PE | CR0_PG);
	reg("cr4", CR4_PAE);
	reg("efer", EFER_LMA);
	build();
	ck_assert_int_eq(kind(), TS_PAGING_UNKNOWN);
	ck_assert_int_eq(look(0, 0x1000), TS_MAPPING_UNKNOWN);
}
END_TEST

/* --------------------------------------------------------------------------------------- tables over time */

START_TEST(an_entry_that_is_not_known_is_not_called_unmapped)
{
	mode(CR0_PG, CR3, CR4_PAE, EFER_LMA);
	put64(CR3, 0x20000 | PTE_P);
	machine_put(&s->rec.initial, 0x20000, 0x30000 | PTE_P, 4); /* half of it */
	machine_put(&s->rec.initial, 0x20008, 0x30000, 1);         /* not present is all that counts */
	build();
	ck_assert_int_eq(look(0, 0x1000), TS_MAPPING_UNKNOWN);
	ck_assert_uint_eq(t.n_entries, 2);
	ck_assert_int_eq(look(0, UINT64_C(1) << 30), TS_UNMAPPED);
	ck_assert_int_eq(look(0, UINT64_C(1) << 39), TS_MAPPING_UNKNOWN);
}
END_TEST

START_TEST(the_tables_are_those_of_the_position)
{
	machine_long_mode(s, CR3);
	put64(CR3, 0x20000 | PTE_P);
	put64(0x20000, 0x30000 | PTE_P);
	put64(0x30000, 0x40000 | PTE_P);
	put64(0x40000, 0x51000 | PTE_P);
	put64(0x60000, 0x70000 | PTE_P);
	put64(0x70000, 0x80000 | PTE_P);
	put64(0x80000, 0x90000 | PTE_P);
	put64(0x90000, 0xa1000 | PTE_P);
	machine_step(s, 0);
	machine_put(&s->steps, 0x40001, 0x20, 1); /* a byte of the entry: 0x52000 */
	machine_step(s, 0);
	machine_reg(&s->steps, s, "cr3", 0x60000);
	machine_step(s, 0);
	machine_put(&s->steps, 0x80000, 0, 8);
	machine_step(s, 0);
	build();
	ck_assert_int_eq(look(1, 0x10), TS_MAPPED);
	ck_assert_uint_eq(t.phys, 0x51010);
	ck_assert_int_eq(look(2, 0x10), TS_MAPPED);
	ck_assert_uint_eq(t.phys, 0x52010);
	ck_assert_int_eq(look(3, 0x10), TS_MAPPED);
	ck_assert_uint_eq(t.phys, 0xa1010);
	ck_assert_int_eq(look(4, 0x10), TS_UNMAPPED);
}
END_TEST

/* ------------------------------------------------------------------------------------------------ memory */

/*
 * Pages 0x10000 at 0x5f000, 0x11000 not mapped, 0x12000 at 0x5e000, known in part; 0x400000 and on not
 * mapped.
 */
static void build_pages(void)
{
	machine_long_mode(s, CR3);
	put64(CR3, 0x20000 | PTE_P);
	put64(0x20000, 0x30000 | PTE_P);
	put64(0x30000, 0x40000 | PTE_P);
	put64(0x30010, 0);
	put64(0x40080, 0x5f000 | PTE_P);
	put64(0x40088, 0);
	put64(0x40090, 0x5e000 | PTE_P);
	put64(0x5fff8, UINT64_C(0x1122334455667788));
	put64(0x5e000, UINT64_C(0x99aabbccddeeff00));
	put64(0x60000, UINT64_C(0xdeaddeaddeaddead)); /* what follows physically */
	build();
}

START_TEST(memory_is_read_page_by_page)
{
	uint8_t data[0x2010], known[sizeof(data)];

	build_pages();
	memset(data, 0xee, sizeof(data));
	ck_assert(ts_virtual_mem(q, 1, 0, 0x10ff8, 0x1010, data, known, &err));
	ck_assert_mem_eq(data, "\x88\x77\x66\x55\x44\x33\x22\x11", 8);
	ck_assert_mem_eq(known, "\1\1\1\1\1\1\1\1", 8);
	for (size_t i = 8; i < 0x1008; i++)
		ck_assert(!known[i] && !data[i]);
	ck_assert_mem_eq(data + 0x1008, "\x00\xff\xee\xdd\xcc\xbb\xaa\x99", 8);
	ck_assert_mem_eq(known + 0x1008, "\1\1\1\1\1\1\1\1", 8);
}
END_TEST

START_TEST(what_passes_the_end_of_the_address_space_is_unknown)
{
	uint8_t data[16], known[16];

	build_pages();
	memset(known, 1, sizeof(known));
	ck_assert(ts_virtual_mem(q, 1, 0, UINT64_MAX - 7, 16, data, known, &err));
	ck_assert_mem_eq(known, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	ck_assert(ts_virtual_mem(q, 1, 0, 0x10ff8, 0, data, known, &err));
}
END_TEST

UNIT_FIXTURE_SUITE("paging", setup, teardown,
		   without_paging_physical_is_virtual_cut_to_32_bits,
		   two_levels_of_4_byte_entries,
		   two_levels_with_4_megabyte_pages_of_40_bits,
		   pae_has_a_small_table_that_is_not_page_aligned,
		   four_levels,
		   five_levels,
		   an_unknown_width_of_physical_addresses_is_52_bits,
		   without_efer_the_code_segment_tells_long_mode,
		   a_control_register_that_is_not_known_leaves_the_mode_unknown,
		   an_entry_that_is_not_known_is_not_called_unmapped,
		   the_tables_are_those_of_the_position,
		   memory_is_read_page_by_page,
		   what_passes_the_end_of_the_address_space_is_unknown)
