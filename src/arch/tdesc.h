/* SPDX-License-Identifier: MIT */
/*
 * A register set to and from gdb's target XML.
 *
 * The protocol serves it and trace files carry it, hence a part of the model.  The only file that knows
 * libxml2.
 */
#ifndef TS_TDESC_H
#define TS_TDESC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch.h"
#include "src/base/collections/buf.h"
#include "src/base/error.h"

/*
 * Append the description of @set to @out: one element a line, every register with its number, no includes.
 *
 * @osabi is the text of <osabi>, "GNU/Linux" for instance; NULL: none; "Windows" is left out.  gdb 13
 * arranges for system calls and signals of x86 Linux only if the set has "org.gnu.gdb.i386.linux" too.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 */
bool ts_tdesc_write(const struct ts_regset *set, const char *osabi, struct ts_buf *out, struct ts_error *err);

/*
 * Read a description, which is untrusted input.
 *
 * Features, types and registers are kept in their order, also unknown ones; elements that gdb does
 * not know are skipped.  The architecture is the one of <architecture>'s family whose program counter is as
 * wide as the described one. gdb's descriptions say no byte order: @is_big_endian chooses where an
 * architecture has both.  Nothing outside @xml is read, and entities are refused.
 *
 * The parts that gdb does not need for a recording are dropped: save-restore, <compatible>, <description>.
 *
 * On success @set owns its memory, to be given back with ts_regset_fini().
 * Returns false with @set empty and a sentence that names the line: TS_ECORRUPT if @xml is not well-formed or
 * makes no sense, TS_EUNSUPPORTED if its architecture is not known here or parts of it are in other files,
 * TS_ELIMIT if it is larger than any real one (a megabyte of text or of registers, elements nested deeply),
 * TS_ENOMEM.
 */
bool ts_tdesc_parse(const uint8_t *xml, size_t len, bool is_big_endian, struct ts_regset *set,
		    struct ts_error *err);

#endif
