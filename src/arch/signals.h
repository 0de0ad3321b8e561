/* SPDX-License-Identifier: MIT */
/*
 * Signals: Linux's numbers, which differ by processor, and gdb's, which do not (gdb 13,
 * include/gdb/signals.def).
 */
#ifndef TS_SIGNALS_H
#define TS_SIGNALS_H

#include <stdint.h>

#include "arch.h"

/* gdb's number for signals that it has none for. */
#define TS_SIGNAL_UNKNOWN 143u

/* gdb's number of Linux's signal @number on @arch; TS_SIGNAL_UNKNOWN if gdb has none. */
uint32_t ts_signal_from_linux(const struct ts_arch *arch, uint32_t number);

/* Linux's number on @arch of gdb's signal @number; 0 if Linux has none there. */
uint32_t ts_signal_to_linux(const struct ts_arch *arch, uint32_t number);

/* The name of gdb's signal @number ("SIGSEGV", "SIG34"), NULL for unknown numbers; a literal. */
const char *ts_signal_name(uint64_t number);

#endif
