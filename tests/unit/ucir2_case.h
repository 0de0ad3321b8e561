/* SPDX-License-Identifier: MIT */
/*
 * A recording of version 2 that a test writes as text and looks into.
 */
#ifndef TESTS_UCIR2_CASE_H
#define TESTS_UCIR2_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "script.h"
#include "ucir_text.h"

/* Process 7: thread 7 with the memory, thread 8 that begins later. */
#define START                                                                                          \
	"KEY 7:7 { REG 44 7100 JMP 1000 MAP 1000 1000 5 exe /bin/prog WRITE 1000 0f05 WRITE 1800 c3 " \
	"MAP 7000 1000 3 stack - WRITE 7100 01 } "

#define SECOND "KEY 7:8 { REG 44 7800 REG 35 5 JMP 1800 } "

extern struct ucir_trace t;
extern struct ts_buf got;

void setup(void);
void teardown(void);
void open_text(const struct ucir_form *form, const char *text);
void expect_form(const struct ucir_form *form, const char *text, const char *want);
void expect(const char *text, const char *want);

#endif
