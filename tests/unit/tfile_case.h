/* SPDX-License-Identifier: MIT */
/*
 * A trace file of gdb that a test writes, frame by frame, and reads.
 */
#ifndef TESTS_TFILE_CASE_H
#define TESTS_TFILE_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loaders/loader.h"
#include "src/frames/frames.h"
#include "src/frames/tracepoint.h"
#include "src/query/query.h"
#include "src/timeline/timeline.h"

#define MAGIC "\x7fTRACE0\n"

#define XML_X64                                                                                        \
	"tdesc <target><architecture>i386:x86-64</architecture>\n"                                      \
	"tdesc <feature name=\"org.gnu.gdb.i386.core\"><reg name=\"rax\" bitsize=\"64\"/>\n"            \
	"tdesc <reg name=\"rsp\" bitsize=\"64\"/><reg name=\"rip\" bitsize=\"64\"/></feature></target>\n"

#define HEAD_X64 "R 18\n" XML_X64 "status 0;tstop::0\ntp T1:1000:E:0:0\n"

extern struct ts_buf f; /* the file */
extern bool is_big;
extern size_t frame_at; /* offset of the open frame's length */
extern struct ts_source *src;
extern struct ts_recording *rec;
extern struct ts_timeline *tl;
extern struct ts_query *q;
extern struct ts_frame frame;
extern struct ts_error err;
extern const char *arch_option, *exec_option;
extern const uint64_t *exec_base; /* of the program, NULL: not said */

void setup(void);
void close_all(void);
void teardown(void);
void head(const char *lines);
void num(uint64_t v, unsigned len);
void begin(uint16_t tracepoint);
void end(void);
void regs_x64(uint64_t rax, uint64_t rsp, uint64_t rip);
void mem(uint64_t addr, const char *bytes);
void var(uint32_t number, int64_t value);
void finish(void);
bool open_file(void);
void serve(void);
void expect_refused(enum ts_code code, const char *word);
void expect_warning(const char *word);

/* The register's value in words, "?" if it is unknown. */
const char *reg(uint64_t pos, const char *name);

/* Eight bytes at @addr as characters, '?' where unknown. */
const char *bytes(uint64_t pos, uint64_t addr);
void get(uint64_t n);
void three_frames(void);

/* A file that describes no processor, whose one frame has all registers of x86-64: rip is 0x1234, register i is i. */
void frame_without_description(void);

#endif
