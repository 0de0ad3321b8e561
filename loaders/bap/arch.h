/* SPDX-License-Identifier: MIT */
/*
 * Machines of BAP's frames: from the header's numbers to the model's architectures.
 */
#ifndef LOADERS_BAP_ARCH_H
#define LOADERS_BAP_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "src/arch/arch.h"

/* The architectures that something depends on, by the format's numbers. */
enum {
	BAP_ARCH_M68K = 2,
	BAP_ARCH_SPARC = 6,
	BAP_ARCH_MIPS = 8,
	BAP_ARCH_X86 = 9,
	BAP_ARCH_POWERPC = 23,
	BAP_ARCH_RS6000 = 24,
	BAP_ARCH_ARM = 35,
	BAP_ARCH_S390 = 66,
	BAP_ARCH_AARCH64 = 78,
};

/* A machine of x86. */
#define BAP_I8086 2

/* The name of an architecture's number, NULL for a number that the format does not define. */
const char *bap_arch_name(uint64_t number);

/*
 * The model's architecture for the header's numbers, NULL if the model has none.  *is_order_open is set when
 * the file does not tell the byte order and machines of both orders exist; what is returned then is the usual
 * one.
 */
const struct ts_arch *bap_arch_model(uint64_t number, uint64_t machine, bool *is_order_open);

/*
 * What gdb calls the machine, where it knows it better than the model, whose set of registers it shares;
 * NULL: as the model does.
 */
const char *bap_arch_gdb_name(uint64_t number, uint64_t machine);

#endif
