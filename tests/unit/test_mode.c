/* SPDX-License-Identifier: MIT */
/*
 * The processor's mode over time, and filters over it.
 */
#include "unit.h"

#include "machine.h"
#include "src/timeline/timeline.h"

static struct script *s;
static struct ts_timeline *tl;
static struct ts_error err;

static void setup(void)
{
	ts_error_reset(&err);
	s = machine_new(40);
}

static void teardown(void)
{
	ts_timeline_free(tl);
	script_free(s);
	tl = NULL;
}

static void build(void)
{
	tl = ts_timeline_new(&s->rec, NULL, &err);
	ck_assert_ptr_nonnull(tl);
	ck_assert_int_eq(ts_timeline_grow(tl, UINT64_MAX, &err), TS_END);
}

static void reg(const char *name, uint64_t value)
{
	machine_reg(&s->steps, s, name, value);
}

static void steps(unsigned n)
{
	while (n--)
		machine_step(s, 0x1000);
}

static uint64_t at(uint64_t pos, enum ts_mode_reg which)
{
	const struct ts_mode *mode = ts_modes_at(&tl->modes, pos);

	ck_assert(ts_mode_knows(mode, which));
	return mode->regs[which];
}

START_TEST(a_mode_holds_from_the_position_behind_the_step_that_made_it)
{
	machine_long_mode(s, 0x1000);
	steps(3);
	reg("cr3", 0x2000);
	steps(3);
	build();
	ck_assert_uint_eq(at(0, TS_MODE_CR3), 0x1000);
	ck_assert_uint_eq(at(3, TS_MODE_CR3), 0x1000);
	ck_assert_uint_eq(at(4, TS_MODE_CR3), 0x2000);
	ck_assert_uint_eq(at(6, TS_MODE_CR3), 0x2000);
	ck_assert_uint_eq(at(6, TS_MODE_CR0), CR0_PE | CR0_PG);
	ck_assert_uint_eq(tl->modes.n_changes, 2);
}
END_TEST

START_TEST(several_registers_change_at_once_and_back_again_is_no_change)
{
	machine_long_mode(s, 0x1000);
	steps(1);
	reg("cs", KERNEL_CS);
	reg("cr3", 0x3000);
	steps(1);
	reg("cr3", 0x4000);
	reg("cr3", 0x3000);
	steps(1);
	reg("cr3", 0x3000); /* not new */
	reg("rax", 7);
	steps(1);
	build();
	ck_assert_uint_eq(tl->modes.n_changes, 2);
	ck_assert_uint_eq(at(2, TS_MODE_CS), KERNEL_CS);
	ck_assert_uint_eq(at(2, TS_MODE_CR3), 0x3000);
	ck_assert_uint_eq(at(1, TS_MODE_CS), USER_CS);
}
END_TEST

START_TEST(modes_that_return_are_kept_once)
{
	machine_long_mode(s, 0x1000);
	for (unsigned i = 0; i < 3000; i++) {
		reg("cs", i % 2 ? USER_CS : KERNEL_CS);
		steps(1);
	}
	build();
	ck_assert_uint_eq(tl->modes.n_changes, 3001);
	/* two, and those of an initial state that is not complete */
	ck_assert_uint_lt(tl->modes.n_modes, 10);
	ck_assert_uint_eq(at(2999, TS_MODE_CS), KERNEL_CS);
	ck_assert_uint_eq(at(3000, TS_MODE_CS), USER_CS);
}
END_TEST

START_TEST(a_register_that_is_known_in_part_is_unknown)
{
	const struct ts_reg *cr3 = &s->rec.regs.regs[ts_regset_find(&s->rec.regs, "cr3")];

	machine_long_mode(s, 0x1000);
	steps(1);
	ts_steps_effect(&s->steps, TS_FX_REG_WRITE, cr3->off + 4, 1);
	steps(1);
	ts_steps_value(&s->steps, TS_FX_REG_WRITE, cr3->off + 4, "\1", 1);
	steps(1);
	build();
	ck_assert(ts_mode_knows(ts_modes_at(&tl->modes, 1), TS_MODE_CR3));
	ck_assert(!ts_mode_knows(ts_modes_at(&tl->modes, 2), TS_MODE_CR3));
	ck_assert(ts_mode_knows(ts_modes_at(&tl->modes, 2), TS_MODE_CR0));
	ck_assert_uint_eq(at(3, TS_MODE_CR3), UINT64_C(0x100001000));
}
END_TEST

START_TEST(a_recording_of_a_program_has_no_modes)
{
	s->rec.is_physical = false;
	machine_long_mode(s, 0x1000);
	steps(2);
	build();
	ck_assert_uint_eq(tl->modes.n_changes, 0);
}
END_TEST

/* ------------------------------------------------------------------------------------------------ filters */

/*
 * Positions 0..1 user of 0x1000, 2..3 kernel of 0x1000, 4..6 kernel of 0x5000, 7..8 user of 0x5000, 9..10
 * user of 0x1000.
 */
static void build_two_processes(void)
{
	machine_long_mode(s, 0x1000);
	steps(1);
	reg("cs", KERNEL_CS);
	steps(2);
	reg("cr3", 0x5000);
	steps(3);
	reg("cs", USER_CS);
	steps(2);
	reg("cr3", 0x1018); /* the low bits do not tell processes apart */
	steps(2);
	build();
	ck_assert_uint_eq(tl->n_steps, 10);
}

/* What the filter admits of positions 0 to 10, as a mask, and that next and previous say the same. */
static unsigned admitted(const struct ts_filter *f)
{
	unsigned mask = 0;

	for (unsigned i = 0; i <= 10; i++)
		mask |= (unsigned)ts_filter_admits(f, ts_modes_at(&tl->modes, i)) << i;
	for (unsigned i = 0; i <= 10; i++) {
		unsigned above = mask >> i << i, below = mask & ((2u << i) - 1);
		uint64_t next = above ? (uint64_t)__builtin_ctz(above) : UINT64_MAX;
		uint64_t prev = below ? (uint64_t)(31 - __builtin_clz(below)) : UINT64_MAX;

		ck_assert_uint_eq(ts_filter_next(f, &tl->modes, i), next);
		ck_assert_uint_eq(ts_filter_prev(f, &tl->modes, i), prev);
	}
	return mask;
}

START_TEST(filters_admit_a_process_or_user_code_or_both)
{
	const struct ts_filter all = { 0 }, user = { .has_user = true }, process = { true, 0x1000, false };
	const struct ts_filter both = { true, 0x5000, true }, none = { true, 0x9000, false };

	build_two_processes();
	ck_assert_uint_eq(admitted(&all), 0x7ff);
	ck_assert_uint_eq(admitted(&user), 0x783);
	ck_assert_uint_eq(admitted(&process), 0x60f);
	ck_assert_uint_eq(admitted(&both), 0x180);
	ck_assert_uint_eq(admitted(&none), 0);
}
END_TEST

START_TEST(real_mode_and_what_is_unknown_are_no_user_code)
{
	const struct ts_filter user = { .has_user = true }, process = { true, 0, false };

	machine_reg(&s->rec.initial, s, "cr0", 0);
	steps(1);
	reg("cs", 0xf003);
	steps(1);
	build();
	ck_assert_uint_eq(ts_filter_next(&user, &tl->modes, 0), UINT64_MAX);
	ck_assert_uint_eq(ts_filter_next(&process, &tl->modes, 0), UINT64_MAX);
}
END_TEST

/* --------------------------------------------------------------------------------------------- code sizes */

static enum ts_code_size size_of(uint64_t cr0, int efer, uint64_t shadow)
{
	struct ts_mode mode = { .known = 1u << TS_MODE_CR0 | 1u << TS_MODE_CS_SHADOW };

	mode.regs[TS_MODE_CR0] = cr0;
	mode.regs[TS_MODE_CS_SHADOW] = shadow;
	if (efer >= 0) {
		mode.regs[TS_MODE_EFER] = (uint64_t)efer;
		mode.known |= 1u << TS_MODE_EFER;
	}
	return ts_mode_code_size(&mode);
}

START_TEST(the_code_segment_tells_the_size_of_code)
{
	const struct ts_mode nothing = { 0 };

	ck_assert_int_eq(size_of(CR0_PE | CR0_PG, EFER_LMA, SHADOW_L), TS_CODE_64);
	ck_assert_int_eq(size_of(CR0_PE | CR0_PG, EFER_LMA, SHADOW_D), TS_CODE_32);
	ck_assert_int_eq(size_of(CR0_PE | CR0_PG, EFER_LMA, 0), TS_CODE_16);
	/* L means nothing there */
	ck_assert_int_eq(size_of(CR0_PE | CR0_PG, 0, SHADOW_L | SHADOW_D), TS_CODE_32);
	ck_assert_int_eq(size_of(CR0_PE, -1, SHADOW_D), TS_CODE_32);
	ck_assert_int_eq(size_of(CR0_PE | CR0_PG, -1, SHADOW_L), TS_CODE_64);
	ck_assert_int_eq(size_of(0, 0, 0), TS_CODE_16);
	ck_assert_int_eq(ts_mode_code_size(&nothing), TS_CODE_UNKNOWN);
}
END_TEST

UNIT_FIXTURE_SUITE("mode", setup, teardown,
		   a_mode_holds_from_the_position_behind_the_step_that_made_it,
		   several_registers_change_at_once_and_back_again_is_no_change,
		   modes_that_return_are_kept_once,
		   a_register_that_is_known_in_part_is_unknown,
		   a_recording_of_a_program_has_no_modes,
		   filters_admit_a_process_or_user_code_or_both,
		   real_mode_and_what_is_unknown_are_no_user_code,
		   the_code_segment_tells_the_size_of_code)
