/* SPDX-License-Identifier: MIT */
/*
 * The tables of machines and of register names.
 *
 * Recorders call a register what their emulator, Pin, or gdb calls it: "RAX", "R_EAX_32", "R31".  All
 * spellings that are known go into one table of names when a trace is opened; case does not count.
 */
#include "trace.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* By number. */
static const char *const arch_names[] = {
	"unknown", "obscure", "m68k",  "vax",     "i960",       "or32",    "sparc",     "spu",
	"mips",    "i386",    "l1om",  "we32k",   "tahoe",      "i860",    "i370",      "romp",
	"convex",  "m88k",    "m98k",  "pyramid", "h8300",      "pdp11",   "plugin",    "powerpc",
	"rs6000",  "hppa",    "d10v",  "d30v",    "dlx",        "m68hc11", "m68hc12",   "z8k",
	"h8500",   "sh",      "alpha", "arm",     "ns32k",      "w65",     "tic30",     "tic4x",
	"tic54x",  "tic6x",   "tic80", "v850",    "arc",        "m32c",    "m32r",      "mn10200",
	"mn10300", "fr30",    "frv",   "moxie",   "mcore",      "mep",     "ia64",      "ip2k",
	"iq2000",  "mt",      "pj",    "avr",     "bfin",       "cr16",    "cr16c",     "crx",
	"cris",    "rx",      "s390",  "score",   "openrisc",   "mmix",    "xstormy16", "msp430",
	"xc16x",   "xtensa",  "z80",   "lm32",    "microblaze", "6502",    "aarch64",   "8051",
	"sm83",    "hexagon",
};

/* Machines of the model; the first line that fits counts. */
static const struct {
	uint16_t arch;
	uint64_t first, last; /* machine numbers */
	const char *model;
	bool is_order_open;
} machines[] = {
	{ BAP_ARCH_X86, 64, 65, "x86_64", false },
	{ BAP_ARCH_X86, BAP_I8086, BAP_I8086, "i8086", false },
	{ BAP_ARCH_X86, 0, UINT64_MAX, "i386", false },
	{ BAP_ARCH_ARM, 0, UINT64_MAX, "arm", true },
	{ BAP_ARCH_AARCH64, 0, UINT64_MAX, "aarch64", true },
	{ BAP_ARCH_MIPS, 64, 95, "mips64", true },
	{ BAP_ARCH_MIPS, 4000, 4000, "mips64", true },
	{ BAP_ARCH_MIPS, 0, UINT64_MAX, "mips", true },
	{ BAP_ARCH_POWERPC, 64, 64, "ppc64", true },
	{ BAP_ARCH_POWERPC, 0, UINT64_MAX, "ppc", false },
	{ BAP_ARCH_RS6000, 0, UINT64_MAX, "ppc", false },
	{ BAP_ARCH_S390, 64, 64, "s390x", false },
	{ BAP_ARCH_S390, 0, UINT64_MAX, "s390", false },
	{ BAP_ARCH_SPARC, 7, 8, "sparc64", false },
	{ BAP_ARCH_SPARC, 10, 10, "sparc64", false },
	{ BAP_ARCH_SPARC, 0, UINT64_MAX, "sparc", false },
	{ BAP_ARCH_M68K, 0, UINT64_MAX, "m68k", false },
};

const char *bap_arch_name(uint64_t number)
{
	return number < COUNT(arch_names) ? arch_names[number] : NULL;
}

/* gdb's names of machines, by their number from the first one on. */
struct gdb_names {
	uint16_t arch;
	uint64_t first;
	const char *names[32];
};

static const struct gdb_names gdb_names[] = {
	{ BAP_ARCH_M68K,
	  1,
	  { "m68k:68000",
	    "m68k:68008",
	    "m68k:68010",
	    "m68k:68020",
	    "m68k:68030",
	    "m68k:68040",
	    "m68k:68060",
	    "m68k:cpu32",
	    "m68k:fido",
	    "m68k:isa-a:nodiv",
	    "m68k:isa-a",
	    "m68k:isa-a:mac",
	    "m68k:isa-a:emac",
	    "m68k:isa-aplus",
	    "m68k:isa-aplus:mac",
	    "m68k:isa-aplus:emac",
	    "m68k:isa-b:nousp",
	    "m68k:isa-b:nousp:mac",
	    "m68k:isa-b:nousp:emac",
	    "m68k:isa-b",
	    "m68k:isa-b:mac",
	    "m68k:isa-b:emac",
	    "m68k:isa-b:float",
	    "m68k:isa-b:float:mac",
	    "m68k:isa-b:float:emac",
	    "m68k:isa-c",
	    "m68k:isa-c:mac",
	    "m68k:isa-c:emac",
	    "m68k:isa-c:nodiv",
	    "m68k:isa-c:nodiv:mac",
	    "m68k:isa-c:nodiv:emac" } },
	{ BAP_ARCH_SPARC,
	  4,
	  { "sparc:v8plus", "sparc:v8plusa", NULL, "sparc:v9", "sparc:v9a", "sparc:v8plusb", "sparc:v9b" } },
	{ BAP_ARCH_MIPS, 32, { "mips:isa32", "mips:isa32r2" } },
	{ BAP_ARCH_MIPS, 64, { "mips:isa64", "mips:isa64r2" } },
	{ BAP_ARCH_MIPS, 3000, { "mips:3000" } },
	{ BAP_ARCH_MIPS, 4000, { "mips:4000" } },
	{ BAP_ARCH_X86, 3, { "i386:intel" } },
	{ BAP_ARCH_X86, 65, { "i386:x86-64:intel" } },
	{ BAP_ARCH_RS6000, 0, { "rs6000:6000" } },
	{ BAP_ARCH_RS6000, 6000, { "rs6000:6000" } },
	{ BAP_ARCH_ARM, 5, { "armv4", "armv4t", "armv5", "armv5t", "armv5te", "xscale" } },
};

const char *bap_arch_gdb_name(uint64_t number, uint64_t machine)
{
	for (size_t i = 0; i < COUNT(gdb_names); i++) {
		const struct gdb_names *g = &gdb_names[i];

		if (g->arch == number && machine >= g->first && machine - g->first < COUNT(g->names) &&
		    g->names[machine - g->first])
			return g->names[machine - g->first];
	}
	return NULL;
}

const struct ts_arch *bap_arch_model(uint64_t number, uint64_t machine, bool *is_order_open)
{
	*is_order_open = false;
	for (size_t i = 0; i < COUNT(machines); i++) {
		if (machines[i].arch != number || machine < machines[i].first || machine > machines[i].last)
			continue;
		*is_order_open = machines[i].is_order_open;
		return ts_arch_find(machines[i].model);
	}
	return NULL;
}
