/* SPDX-License-Identifier: MIT */
/*
 * The names in a PE file: its exports, and the functions that it imports from other files.
 */
#ifndef TS_PE_SYMBOLS_H
#define TS_PE_SYMBOLS_H

#include "pe.h"
#include "symtab_entry.h"

/*
 * Call @use with each export, in the order of the file, and with a data symbol __imp_NAME for each word that the
 * system's loader fills with the address of an imported function.  On x86-64 the table of functions (.pdata) gives the
 * ends of many exports; the other ones are open (is_open).
 */
void ts_pe_symbols_walk(const struct ts_source *src, const struct ts_pe *pe,
			void (*use)(void *user, const struct ts_symtab_entry *e), void *user);

/* A function that is imported. */
struct ts_pe_import {
	uint64_t slot;       /* as linked: the address of the word that the loader fills with the function's address */
	unsigned slot_len;   /* bytes */
	const char *module;  /* the importing file's name of the exporting file */
	const char *name;
};

/* Call @use with each function that is imported by name. */
void ts_pe_imports_walk(const struct ts_source *src, const struct ts_pe *pe,
			void (*use)(void *user, const struct ts_pe_import *import), void *user);

/*
 * Returns at most @max bytes of the file, with a NUL after them; the caller frees them.  Returns NULL if the file does not have
 * them.
 */
uint8_t *ts_symtab_bytes(const struct ts_source *src, uint64_t off, uint64_t len, uint64_t max);

#endif
