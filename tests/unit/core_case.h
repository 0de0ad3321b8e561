/* SPDX-License-Identifier: MIT */
/*
 * A core file of gdb's recordings, for any processor, word size and byte order: written field by field as <elf.h> lays it
 * out.
 */
#ifndef TESTS_CORE_CASE_H
#define TESTS_CORE_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ucir_text.h"

#define CODE_AT 0x1000u

extern struct ucir_trace t;
extern struct ts_buf steps, initial; /* as texts, by read_core() */

struct seg {
	uint32_t type, flags;
	uint64_t addr, file_len, mem_len;
	bool is_past_end; /* lies beyond the end of the file */
};

/* What build() writes. */
extern struct core_file {
	bool is_64, is_big;
	uint16_t machine, type;
	uint64_t pc;
	uint64_t status; /* cpsr */
	bool has_xnum;   /* segments are counted in the section header */
	struct ts_buf code, log, notes;
	struct seg more[4];
	unsigned n_more;
	size_t prstatus_len; /* 0: whole */
} c;

/* The fixture: a core file of x86-64 with nothing in it but a program counter. */
void setup(void);
void teardown(void);

/* Begin a new file. */
void again(void);

/* The same for another processor. */
void for_machine(uint16_t machine, bool is_64, bool is_big);

/* A number of the target; a word of it; bytes of zero. */
void put(struct ts_buf *b, uint64_t v, unsigned len);
void word(struct ts_buf *b, uint64_t v);
void zeros(struct ts_buf *b, size_t n);
void reg(uint32_t number, uint64_t value, unsigned len);
void end(void);
void note(const char *name, uint32_t type, const void *desc, size_t len);

/* The file, in t.bytes: header, a section header, segments, notes, code, log. */
void build(void);

/* Write the file and read it to its end.  Returns its steps as text; initial gets the state at the start. */
const char *read_core(void);

/* Does the state at the start have @word_? */
bool has(const char *word_);

/* The file in t.bytes is refused with this code, and a sentence that has @why. */
void expect_refused(enum ts_code code, const char *why);

#define EXPECT_INITIAL(word_) ck_assert_msg(has(word_), "no \"%s\" in%s", word_, ts_buf_text(&initial))
#define EXPECT_NO_INITIAL(word_) ck_assert_msg(!has(word_), "\"%s\" in%s", word_, ts_buf_text(&initial))

#endif
