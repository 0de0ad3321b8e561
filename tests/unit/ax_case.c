/* SPDX-License-Identifier: MIT */
#include "ax_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/wire/args.h"
#include "unit.h"

struct world world;

static void note(const char *text)
{
	strncat(world.log, text, sizeof world.log - strlen(world.log) - 1);
}

bool get_reg(void *user, unsigned regnum, uint64_t *value)
{
	ck_assert_ptr_eq(user, &world);
	switch (regnum) {
	case 6: *value = RBP; return true;
	case 0x1234: *value = 0xfedcba9876543210; return true;
	default: return false;
	}
}

static size_t copy_known(uint64_t base, const uint8_t *known, uint64_t addr, uint8_t *bytes, size_t len)
{
	uint64_t off = addr - base;

	if (off >= 64)
		return 0;
	if (len > 64 - off)
		len = (size_t)(64 - off);
	memcpy(bytes, known + off, len);
	return len;
}

size_t get_mem(void *user, uint64_t addr, uint8_t *bytes, size_t len)
{
	size_t n = copy_known(RBP - 48, world.stack, addr, bytes, len);

	ck_assert_ptr_eq(user, &world);
	return n ? n : copy_known(0x402000, world.data, addr, bytes, len);
}

static bool get_var(void *user, unsigned var, uint64_t *value)
{
	ck_assert_ptr_eq(user, &world);
	*value = world.vars[var & 3];
	return var == 1 || var == 2;
}

static bool set_var(void *user, unsigned var, uint64_t value)
{
	ck_assert_ptr_eq(user, &world);
	if (var != 2) /* 1 is built in */
		return false;
	world.vars[var] = value;
	return true;
}

static bool trace(void *user, uint64_t addr, uint64_t len)
{
	char text[64];

	ck_assert_ptr_eq(user, &world);
	snprintf(text, sizeof text, "M%llx,%llx ", (unsigned long long)addr, (unsigned long long)len);
	note(text);
	return addr != 0xbad;
}

static bool trace_var(void *user, unsigned var)
{
	char text[32];

	ck_assert_ptr_eq(user, &world);
	snprintf(text, sizeof text, "V%u ", var);
	note(text);
	return var != 3;
}

static void print(void *user, const char *text, size_t len)
{
	char copy[128];

	ck_assert_ptr_eq(user, &world);
	snprintf(copy, sizeof copy, "<%.*s>", (int)len, text);
	note(copy);
}

struct ts_ax_env env = {
	.user = &world,
	.addr_mask = UINT64_MAX,
	.reg = get_reg,
	.mem = get_mem,
	.get_var = get_var,
	.set_var = set_var,
	.trace = trace,
	.trace_var = trace_var,
	.print = print,
};

void setup(void)
{
	memset(&world, 0, sizeof world);
	world.vars[1] = 77;
	world.vars[2] = 3;
	env.is_big_endian = false;
	env.addr_mask = UINT64_MAX;
	env.budget = 0;
}

size_t decode(const char *hex, uint8_t *code, size_t max)
{
	struct rsp_args a = rsp_args(hex, strlen(hex));
	size_t len = rsp_args_hex(&a, code, max);

	ck_assert_msg(rsp_args_done(&a), "bad hex in the test: %s", hex);
	return len;
}

/* Copied into a block of its length, so that a sanitizer sees what is read beyond. */
struct ts_ax *make(const char *hex, enum ts_ax_error *error)
{
	uint8_t code[1024];
	size_t len = decode(hex, code, sizeof code);
	uint8_t *block = malloc(len + !len);
	struct ts_ax *ax;

	memcpy(block, code, len);
	ax = ts_ax_new(block, len, error);
	free(block);
	return ax;
}

enum ts_ax_error eval(const char *hex, uint64_t *result)
{
	enum ts_ax_error error;
	struct ts_ax *ax = make(hex, &error);

	ck_assert_msg(ax, "%s: %s", hex, ts_ax_error_text(error));
	error = ts_ax_eval(ax, &env, result);
	ts_ax_free(ax);
	return error;
}

void expect(const char *hex, uint64_t value)
{
	uint64_t result = 0xbadbadbad;
	enum ts_ax_error error = eval(hex, &result);

	ck_assert_msg(!error, "%s: %s", hex, ts_ax_error_text(error));
	ck_assert_msg(result == value, "%s: 0x%llx instead of 0x%llx", hex, (unsigned long long)result,
		      (unsigned long long)value);
}

void expect_error(const char *hex, enum ts_ax_error expected)
{
	uint64_t result = 0xbadbadbad;
	enum ts_ax_error error = eval(hex, &result);

	ck_assert_msg(error == expected, "%s: %s", hex, ts_ax_error_text(error));
	ck_assert_uint_eq(result, 0xbadbadbad);
}

void expect_refused(const char *hex, enum ts_ax_error expected)
{
	enum ts_ax_error error = TS_AX_OK;

	ck_assert_msg(!make(hex, &error), "%s was taken", hex);
	ck_assert_msg(error == expected, "%s: %s", hex, ts_ax_error_text(error));
}
