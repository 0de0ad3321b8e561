/* SPDX-License-Identifier: MIT */
/*
 * A recording of Usercorn that a test writes as text and looks into.
 */
#ifndef TESTS_UCIR_CASE_H
#define TESTS_UCIR_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ucir_text.h"

/* A state to begin with: code at 1000 that is a system call, and a stack. */
#define START                                                           \
	"KEY 0 { REG 44 7100 MAP 1000 1000 5 exe prog WRITE 1000 0f05 " \
	"MAP 7000 1000 3 stack - WRITE 7000 - } "

/* The same in version 2: process 7, whose thread 7 has the memory.  SECOND is its thread 8, which starts later. */
#define START_V2                                                                                      \
	"KEY 7:7 { REG 44 7100 JMP 1000 MAP 1000 1000 5 exe /bin/prog WRITE 1000 0f05 WRITE 1800 c3 " \
	"MAP 7000 1000 3 stack - WRITE 7100 01 } "

#define SECOND "KEY 7:8 { REG 44 7800 REG 35 5 JMP 1800 } "

#define TWO "KEY 10 { REG 35 a } KEY 20 { REG 35 b } "

extern struct ucir_trace t;
extern struct ts_buf got;

void setup(void);
void teardown(void);
void open_form(const struct ucir_form *form, const char *text);

/* The steps of @text in one form of the file are @want; the trace ends as it should. */
void expect_form(const struct ucir_form *form, const char *text, const char *want);
void expect(const char *text, const char *want); /* in version 1 */
void expect_v2(const char *text, const char *want);

/* All leading state as text. */
const char *initial(void);
extern const char all_ops[];

#endif
