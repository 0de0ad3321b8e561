/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <assert.h>

#define CONTROL "org.tracestub.i386.control"

struct script *machine_new(uint8_t phys_bits)
{
	struct script *s = script_new("x86_64", 1, NULL);
	const struct ts_arch *arch = ts_arch_find("x86_64");
	struct ts_error err = { 0 };

	assert(s);
	ts_regset_fini(&s->rec.regs);
	if (!ts_regset_init(&s->rec.regs, arch, 1u << ts_arch_feature(arch, CONTROL), &err))
		assert(false);
	s->rec.is_physical = true;
	s->rec.phys_bits = phys_bits;
	return s;
}

static void little_endian(uint8_t bytes[8], uint64_t value)
{
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

void machine_reg(struct ts_steps *to, const struct script *s, const char *name, uint64_t value)
{
	const struct ts_reg *reg = &s->rec.regs.regs[ts_regset_find(&s->rec.regs, name)];
	uint8_t bytes[8];

	little_endian(bytes, value);
	assert(reg->len <= sizeof(bytes));
	ts_steps_value(to, TS_FX_REG_WRITE, reg->off, bytes, reg->len);
}

void machine_put(struct ts_steps *to, uint64_t addr, uint64_t value, unsigned len)
{
	uint8_t bytes[8];

	little_endian(bytes, value);
	ts_steps_value(to, TS_FX_WRITE, addr, bytes, len);
}

void machine_long_mode(struct script *s, uint64_t cr3)
{
	struct ts_steps *to = &s->rec.initial;

	machine_reg(to, s, "cr0", CR0_PE | CR0_PG);
	machine_reg(to, s, "cr3", cr3);
	machine_reg(to, s, "cr4", CR4_PAE);
	machine_reg(to, s, "efer", EFER_LMA);
	machine_reg(to, s, "cs", USER_CS);
	machine_reg(to, s, "cs_shadow", SHADOW_L);
}

void machine_step(struct script *s, uint64_t pc)
{
	ts_steps_close(&s->steps, pc, 4, 0);
}
