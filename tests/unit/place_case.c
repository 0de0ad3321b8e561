/* SPDX-License-Identifier: MIT */
#include "place_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

struct ucir_trace t;

void setup(void)
{
	t = (struct ucir_trace){ 0 };
}

void teardown(void)
{
	ucir_close(&t);
}

void open_text(const struct ucir_form *form, const char *text, const char *exec)
{
	ucir_encode(&t.bytes, form, text);
	ck_assert_msg(ucir_open(&t, exec), "%s", t.err.text);
}

/* Where the contents that begin with @bytes are in the initial state. */
uint64_t address_of(const char *bytes, size_t len)
{
	const struct ts_steps *b = &t.rec->initial;

	for (uint32_t i = 0; i < b->n_effects; i++) {
		const struct ts_effect *e = &b->effects[i];

		if (e->kind == TS_FX_WRITE && e->len >= len && memcmp(ts_effect_data(b, e), bytes, len) == 0)
			return e->addr;
	}
	ck_abort_msg("these contents are nowhere");
}

void expect_uncertain(uint64_t addr)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, addr);
	ck_assert_uint_eq(ucir_warned(t.rec, text), 1);
	ck_assert_ptr_nonnull(strstr(t.rec->warnings[0].text, "uncertain"));
}
