/* SPDX-License-Identifier: MIT */
/*
 * The tag word of x87 registers from the form that has a bit a register; expected values by hand from Intel's
 * manual, volume 1, 8.1.7.
 */
#include "unit.h"

#include <string.h>

#include "loaders/kit/x87.h"

#define ONE      "\0\0\0\0\0\0\0\x80\xff\x3f"
#define ZERO     "\0\0\0\0\0\0\0\0\0\0"
#define INFINITE "\0\0\0\0\0\0\0\x80\xff\x7f"
#define DENORMAL "\1\0\0\0\0\0\0\0\0\0"
#define UNNORMAL "\1\0\0\0\0\0\0\0\xff\x3f"

static uint8_t st[X87_N_REGS * X87_REG_LEN];

static void set(unsigned i, const char *value)
{
	memcpy(st + i * X87_REG_LEN, value, X87_REG_LEN);
}

START_TEST(a_tag_tells_what_the_number_is)
{
	set(0, ONE);
	set(1, ZERO);
	set(2, INFINITE);
	set(3, DENORMAL);
	set(4, UNNORMAL);
	set(5, ONE);
	ck_assert_uint_eq(x87_full_tag(0x1f, 0, st), 0xfea4); /* 3 3 3 2 2 2 1 0 */
	ck_assert_uint_eq(x87_full_tag(0, 0, st), 0xffff);
}
END_TEST

START_TEST(tags_are_of_physical_registers)
{
	set(0, ONE);
	set(1, ZERO);
	set(2, INFINITE);
	/* the top is 6: st0, st1, st2 are the physical registers 6, 7, 0 */
	ck_assert_uint_eq(x87_full_tag(0xc1, 6u << 11, st), 0x4ffe); /* 1 0 3 3 3 3 3 2 */
}
END_TEST

UNIT_SUITE("x87", a_tag_tells_what_the_number_is, tags_are_of_physical_registers)
