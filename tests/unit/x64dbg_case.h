/* SPDX-License-Identifier: MIT */
/*
 * A trace of x64dbg that a test writes and looks into, step by step.
 */
#ifndef TESTS_X64DBG_CASE_H
#define TESTS_X64DBG_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaders/x64dbg/insn.h"
#include "loaders/loader.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"
#include "x64dbg_text.h"
#include "x64dbg_writer.h"

extern const struct ts_loader x64dbg_loader;

enum { RAX = 0, RCX = 1, RSP = 4, RSI = 6, RDI = 7, FLAGS = 17 };

#define INSN(pc, bytes) xw_insn(true, pc, bytes, sizeof(bytes) - 1)

#define UNKNOWN UINT64_C(0xdeadbeefdeadbeef)

extern struct ts_buf file;
extern struct ts_source *src;
extern struct ts_recording *rec;
extern struct ts_timeline *tl;
extern struct ts_query *q;
extern struct ts_steps steps; /* all of them */
extern struct ts_error err;

void setup(void);
void teardown(void);
void add(const struct xw_block *b);
void add_full(struct xw_block b, uint32_t tid);

/* A head and a first block of @b with these registers. */
void begin(struct xw_block b, uint64_t rax, uint64_t rsp);
void nop(uint64_t pc);
bool try_load(void);
void load(void);
void load_text(const char *text);

/* Bytes as hexadecimal, ".." where unknown. */
const char *mem(uint64_t pos, uint64_t addr, unsigned len);
uint64_t reg_of(uint64_t pos, uint32_t thread, const char *name);
uint64_t reg(uint64_t pos, const char *name);
bool has_gap(uint64_t step);

#endif
