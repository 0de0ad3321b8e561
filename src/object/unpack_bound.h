/* SPDX-License-Identifier: MIT */
/*
 * A limit on compressed sections of ELF files, which libdw unpacks as a whole.
 */
#ifndef TS_UNPACK_BOUND_H
#define TS_UNPACK_BOUND_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Is the total unpacked length of the compressed sections, those with SHF_COMPRESSED and those with the older name .zdebug_,
 * plausible for a file of @len bytes?  In real files sections are compressed to about a third.
 */
bool ts_elf_may_unpack(Elf *elf, uint64_t len);

#endif
