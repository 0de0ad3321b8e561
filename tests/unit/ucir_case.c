/* SPDX-License-Identifier: MIT */
#include "ucir_case.h"

#include "unit.h"

struct ucir_trace t;
struct ts_buf got;

void setup(void)
{
	t = (struct ucir_trace){ 0 };
	ts_buf_init(&got);
}

void teardown(void)
{
	ucir_close(&t);
	ts_buf_fini(&got);
}

void open_form(const struct ucir_form *form, const char *text)
{
	ts_buf_reset(&t.bytes);
	ucir_encode(&t.bytes, form, text);
	ck_assert_msg(ucir_open(&t, NULL), "%s", t.err.text);
}

void expect_form(const struct ucir_form *form, const char *text, const char *want)
{
	open_form(form, text);
	ts_buf_reset(&got);
	ck_assert_msg(ucir_read_all(&t, &got) == TS_END, "%s", t.err.text);
	ck_assert_str_eq(ts_buf_text(&got), want);
}

void expect(const char *text, const char *want)
{
	expect_form(&ucir_v1, text, want);
}

void expect_v2(const char *text, const char *want)
{
	expect_form(&ucir_v2, text, want);
}

const char *initial(void)
{
	ts_buf_reset(&got);
	ucir_describe_effects(&got, t.rec, &t.rec->initial, 0, t.rec->initial.n_effects);
	return ts_buf_text(&got);
}

const char all_ops[] =
	START "NOP FRAME 0 { JMP 1000 REG 35 7000 SPREG 122 00112233445566778899aabbccddeeff READ 2000 8 "
	      "WRITE 2008 0102 MAP 3000 1000 3 brk - UNMAP 3000 1000 PROT 1000 1000 5 STEP 2 "
	      "SYSCALL 1 5 1,2000,5 { REG 38 9 READ 2000 5 NOP } NOP STEP 3 "
	      "SYSCALL 60 0 15 { EXIT } STEP 2 }";
