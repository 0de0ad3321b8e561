/* SPDX-License-Identifier: MIT */
/*
 * A target description from anybody: taken or refused, and what was taken is written so that it is taken
 * again.
 */
#include "fuzz.h"

#include "src/arch/arch.h"
#include "src/arch/tdesc.h"
#include "src/base/collections/buf.h"
#include "src/base/error.h"

#include <assert.h>

static void write_and_read(const struct ts_regset *set)
{
	struct ts_regset again;
	struct ts_error err;
	struct ts_buf xml;

	ts_error_reset(&err);
	ts_buf_init(&xml);
	assert(ts_tdesc_write(set, set->osabi, &xml, &err));
	assert(ts_tdesc_parse(xml.data, xml.len, set->arch->is_big_endian, &again, &err));
	assert(again.arch == set->arch && again.n_regs == set->n_regs && again.g_len == set->g_len &&
	       again.pc == set->pc);
	ts_buf_fini(&xml);
	ts_regset_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct ts_regset set;
	struct ts_error err;

	for (int is_big_endian = 0; is_big_endian < 2; is_big_endian++) {
		ts_error_reset(&err);
		if (ts_tdesc_parse(bytes, len, is_big_endian, &set, &err)) {
			write_and_read(&set);
			ts_regset_fini(&set);
		} else {
			assert(err.code != TS_OK && err.text[0] && !set.regs);
		}
	}
	return 0;
}
