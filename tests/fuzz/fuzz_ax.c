/* SPDX-License-Identifier: MIT */
/*
 * An agent expression, as a packet's "Xlen,hex" and as bare code, checked and run over a world where half is
 * unknown.
 */
#include "fuzz.h"

#include "protocol/tracing/ax_packet.h"
#include "protocol/wire/args.h"

#include <stdbool.h>
#include <stdlib.h>

static bool get_reg(void *user, unsigned regnum, uint64_t *value)
{
	(void)user;
	*value = regnum * 0x1001;
	return regnum < 32;
}

static size_t get_mem(void *user, uint64_t addr, uint8_t *bytes, size_t len)
{
	size_t n = 0;

	(void)user;
	for (; n < len && (addr + n) % 256 < 240; n++)
		bytes[n] = (uint8_t)(addr + n);
	return n;
}

static bool get_var(void *user, unsigned var, uint64_t *value)
{
	(void)user;
	*value = var;
	return var < 8;
}

static bool set_var(void *user, unsigned var, uint64_t value)
{
	(void)user;
	(void)value;
	return var < 4;
}

static bool trace(void *user, uint64_t addr, uint64_t len)
{
	(void)user;
	(void)len;
	return addr != 0;
}

static bool trace_var(void *user, unsigned var)
{
	(void)user;
	return var != 0;
}

static void print(void *user, const char *text, size_t len)
{
	static volatile uint8_t sum;

	(void)user;
	if (len > TS_AX_MAX_TEXT)
		abort();
	while (len--)
		sum = (uint8_t)(sum + (uint8_t)text[len]);
}

/* Each error has a text; what the recording does not know is found in a run only. */
static void check_error(enum ts_ax_error error, bool is_of_run)
{
	if (!*ts_ax_error_text(error) || (!is_of_run && ts_ax_is_unknown(error)))
		abort();
}

static void run(struct ts_ax *ax, enum ts_ax_error error)
{
	struct ts_ax_env env = {
		.addr_mask = UINT64_MAX,
		.budget = 2000,
		.reg = get_reg,
		.mem = get_mem,
		.get_var = get_var,
		.set_var = set_var,
		.trace = trace,
		.trace_var = trace_var,
		.print = print,
	};
	uint64_t result;

	if (!ax != (error != TS_AX_OK))
		abort();
	if (!ax) {
		check_error(error, false);
		return;
	}
	error = ts_ax_eval(ax, &env, &result);
	if (error != TS_AX_OK)
		check_error(error, true);
	ts_ax_free(ax);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct rsp_args a = rsp_args(bytes, len);
	enum ts_ax_error error;
	struct ts_ax *ax = rsp_ax_parse(&a, &error);

	run(ax, error);
	ax = ts_ax_new(bytes, len, &error);
	run(ax, error);
	return 0;
}
