/* SPDX-License-Identifier: MIT */
#include "linkage.h"

#include <string.h>

/* Processors with a link register, by the beginnings of their names. */
static const struct {
	const char *arch, *reg;
	uint8_t distance, add;
	uint64_t mask;
} links[] = {
	{ "arm", "lr", 0, 0, ~UINT64_C(1) },   { "aarch64", "x30", 0, 0, ~UINT64_C(0) },
	{ "mips", "r31", 8, 0, ~UINT64_C(1) }, { "ppc", "lr", 0, 0, ~UINT64_C(0) },
	{ "riscv", "ra", 0, 0, ~UINT64_C(1) }, { "s390x", "r14", 0, 0, ~UINT64_C(0) },
	{ "s390", "r14", 0, 0, 0x7fffffff },   { "sparc", "o7", 8, 8, ~UINT64_C(0) },
};

/* The longest instruction of a processor whose instructions differ in length. */
#define MAX_INSN_LEN 15u

void ts_linkage_init(struct ts_linkage *l, const struct ts_arch *arch)
{
	*l = (struct ts_linkage){
		.arch = arch,
		.word = arch->addr_bits / 8,
		.addr_mask = ts_arch_addr_mask(arch),
	};
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		if (strncmp(arch->name, links[i].arch, strlen(links[i].arch)))
			continue;
		l->is_link = true;
		l->reg = links[i].reg;
		l->distance = links[i].distance;
		l->add = links[i].add;
		l->mask = links[i].mask;
		return;
	}
}

uint64_t ts_linkage_return(const struct ts_linkage *l, uint64_t lr)
{
	return ((lr & l->mask) + l->add) & l->addr_mask;
}

bool ts_linkage_is_return_of(const struct ts_linkage *l, uint64_t ret, uint64_t pc, uint16_t insn_len)
{
	if (l->distance)
		return ret == ((pc + l->distance) & l->addr_mask);
	if (insn_len)
		return ret == ((pc + insn_len) & l->addr_mask);
	if (l->arch->is_fixed_insn)
		return ret == ((pc + l->arch->min_insn_len) & l->addr_mask);
	return ret - pc >= 2 && ret - pc <= MAX_INSN_LEN;
}
