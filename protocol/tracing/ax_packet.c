/* SPDX-License-Identifier: MIT */
#include "ax_packet.h"

#include <stdlib.h>

#include "protocol/wire/args.h"

struct ts_ax *rsp_ax_parse(struct rsp_args *a, enum ts_ax_error *error)
{
	struct ts_ax *ax;
	uint8_t *code;
	uint64_t len;

	rsp_args_expect(a, 'X');
	len = rsp_args_u64(a);
	rsp_args_expect(a, ',');
	if (len != rsp_args_hex_len(a))
		rsp_args_fail(a);
	*error = TS_AX_SYNTAX;
	if (!rsp_args_ok(a))
		return NULL;
	code = malloc(len + 1);
	if (!code) {
		*error = TS_AX_NO_MEMORY;
		return NULL;
	}
	rsp_args_hex(a, code, len);
	ax = rsp_args_ok(a) ? ts_ax_new(code, len, error) : NULL;
	free(code);
	return ax;
}
