/* SPDX-License-Identifier: MIT */
/*
 * Agent expressions in hexadecimal digits, over a small world: what they give, collect and print.
 */
#ifndef TESTS_AX_CASE_H
#define TESTS_AX_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/agent/ax.h"

#define RBP 0x7fffffffe690

/* The little that is known: some registers, two stretches of memory, two variables. */
struct world {
	uint8_t stack[64]; /* at RBP - 48 */
	uint8_t data[64];  /* at 0x402000 */
	uint64_t vars[4];  /* 1 and 2 exist */
	char log[512];     /* what was collected and printed */
};

extern struct world world;
extern struct ts_ax_env env; /* sees all of it */

void setup(void);

/* What @env has: register 6 is RBP, register 0x1234 a number, no other is known. */
bool get_reg(void *user, unsigned regnum, uint64_t *value);

/* The bytes of the world from @addr on, as far as they are known. */
size_t get_mem(void *user, uint64_t addr, uint8_t *bytes, size_t len);

/* The bytes of @hex in @code, which has room for @max of them. */
size_t decode(const char *hex, uint8_t *code, size_t max);

/* The checked expression of @hex, or NULL and why it is refused. */
struct ts_ax *make(const char *hex, enum ts_ax_error *error);

/* Evaluate @hex, which is not refused. */
enum ts_ax_error eval(const char *hex, uint64_t *result);

/* @hex gives @value. */
void expect(const char *hex, uint64_t value);

/* @hex is taken, and fails when it is evaluated. */
void expect_error(const char *hex, enum ts_ax_error expected);

/* @hex is not taken. */
void expect_refused(const char *hex, enum ts_ax_error expected);

#endif
