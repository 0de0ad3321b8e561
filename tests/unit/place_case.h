/* SPDX-License-Identifier: MIT */
/*
 * A recording of Usercorn whose keyframes have contents that the tool cut: where they are after it was
 * opened.
 */
#ifndef TESTS_PLACE_CASE_H
#define TESTS_PLACE_CASE_H

#include <stddef.h>
#include <stdint.h>

#include "ucir_text.h"

/* Steps that show nothing of the memory. */
#define STEPS "FRAME 0 { READ 0 1 } FRAME 0 { JMP 500000 STEP 1 EXIT } "

extern struct ucir_trace t;

void setup(void);
void teardown(void);

/* Open the recording that @text is, of the program @exec (NULL: none is known). */
void open_text(const struct ucir_form *form, const char *text, const char *exec);

/* Where the contents that begin with @bytes are in the initial state. */
uint64_t address_of(const char *bytes, size_t len);

/* The recording was opened with a warning that says that the place of the contents at @addr is uncertain. */
void expect_uncertain(uint64_t addr);

#endif
