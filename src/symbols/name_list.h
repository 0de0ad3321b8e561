/* SPDX-License-Identifier: MIT */
/*
 * Names of addresses from files of other tools: lines of text in one of these forms.
 *
 *     ADDR NAME, ADDR TYPE NAME         TYPE is a letter as nm prints it
 *     a table of Ghidra as CSV          a line of headings, with Name and Location (or Address, Entry Point)
 *     SEGMENT:OFFSET NAME [ADDR ...]    of linkers' and IDA's .map files, below "Publics by Value"
 *
 * Numbers are hexadecimal.
 */
#ifndef TS_SYMBOLS_NAME_LIST_H
#define TS_SYMBOLS_NAME_LIST_H

#include "symbols.h"

/*
 * Add the names of the file @src to @s, each @moved bytes above its address in the file.  In a .map file without
 * addresses only the names of segment 1, to which OFFSET is relative, are added.
 *
 * Returns true if there is a name; lines of other forms are ignored.
 * Returns false if there is none (TS_EUSAGE), the file is larger than 64 MiB (TS_ELIMIT) or cannot be read (TS_EIO,
 * TS_ETRUNC), or memory is exhausted (TS_ENOMEM).
 */
bool ts_name_list_read(struct ts_symbols *s, const struct ts_source *src, uint64_t moved, struct ts_error *err);

#endif
