/* SPDX-License-Identifier: MIT */
/*
 * A trace of BAP that a test writes as text and looks into.
 */
#ifndef TESTS_BAP_CASE_H
#define TESTS_BAP_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "bap_text.h"
#include "loaders/loader.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"

extern const struct ts_loader bap_loader;

#define X64   "3 9:64 qemu/6.2.0-tracewrap\n"
#define I386  "3 9:1 qemu/6.2.0-tracewrap\n"
#define ARM   "3 35:0 qemu/6.2.0-tracewrap\n"
#define A64   "3 78:0 qemu/6.2.0-tracewrap\n"
#define PPC   "3 23:32 qemu/6.2.0-tracewrap\n"
#define MIPS  "3 8:33 qemu/6.2.0-tracewrap\n"
#define OLD64 "2 9:64 qemu/2.0.0/tracewrap\n"
#define OTHER "3 9:64 other/1.0\n"

extern struct ts_buf file;
extern struct ts_source *src;
extern struct ts_recording *rec;
extern struct ts_timeline *tl;
extern struct ts_query *q;
extern struct ts_error err;

void setup(void);
void close_trace(void);
void teardown(void);

/* Load the trace in `file`. */
void load(void);

/* Load the trace that @text is, in place of the one that is loaded. */
void load_text(const char *text);

/* Does the recording have a warning with these words? */
bool has_warning(const char *words);

/* The number in register @name of thread @thread, "?" if part of it is unknown, "-" if the thread has no such register. */
const char *thread_reg(uint64_t pos, uint32_t thread, const char *name);

/* The number in register @name of the first thread, as thread_reg() returns it. */
const char *reg(uint64_t pos, const char *name);

/* Four bytes of memory, "01020304" or "....0304". */
const char *mem(uint64_t pos, uint64_t addr);

#endif
