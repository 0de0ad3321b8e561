/* SPDX-License-Identifier: MIT */
/*
 * Programs that cannot run in a recorder: those built with a sanitizer that reserves terabytes of addresses for
 * its shadow memory.
 */
#ifndef TS_SANITIZER_H
#define TS_SANITIZER_H

/*
 * The sanitizer with which the ELF file at @path was built: AddressSanitizer, ThreadSanitizer, MemorySanitizer or
 * HWAddressSanitizer.  Their runtimes are entered by functions of fixed names (LLVM's compiler-rt: __asan_init,
 * ...), which the program needs from a library or has itself.
 *
 * Returns the name, a constant; NULL if there is none, if the file has no symbols, or if it cannot be read.
 */
const char *ts_sanitizer_of(const char *path);

#endif
