/* SPDX-License-Identifier: MIT */
#include "tracing_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "protocol/tracing/collector.h"
#include "script.h"

static void make_rounds(struct ts_recording *rec)
{
	struct ts_steps *b = &((struct script *)rec)->steps;
	int rcx = ts_regset_find(&rec->regs, "rcx");

	ts_steps_reset(b);
	for (unsigned i = 0; i < N_ROUNDS; i++) {
		uint8_t value[8] = { (uint8_t)i };

		ts_steps_value(b, TS_FX_WRITE, 0x602000, value, 4);
		ts_steps_close(b, 0x401000, 1, i % 2);
		value[0] = (uint8_t)(10 + i);
		ts_steps_value(b, TS_FX_REG_WRITE, rec->regs.regs[rcx].off, value, 8);
		ts_steps_close(b, 0x401001, 1, i % 2);
		ts_steps_close(b, 0x401002, 1, i % 2);
		ts_steps_close(b, 0x401003, 1, i % 2);
	}
	ck_assert(!b->is_failed);
	((struct script *)rec)->end = (struct ts_end){ .pc = 0x401000, .has_pc = true };
}

void begin(void)
{
	fake_again(&(struct fake_options){ .change = make_rounds });
}

void run(const char *const *packets)
{
	begin();
	ck_assert_str_eq(fake_send("QTinit"), "OK");
	for (; *packets; packets++)
		ck_assert_msg(!strcmp(fake_send(*packets), "OK"), "%s: %s", *packets, fake.text);
	ck_assert_str_eq(fake_resume("QTStart"), "OK");
}

const char *positions(void)
{
	static char text[4096];
	const struct ts_frames *f = rsp_tracing_frames(&fake.session.tracing);
	size_t n = 0;

	text[0] = '\0';
	for (uint64_t i = 0; i < f->n_frames; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%" PRIu64, i ? " " : "",
				      f->ops->pos(f, i));
	return text;
}

const char *status(void)
{
	char *times;

	fake_send("qTStatus");
	times = strstr(fake.text, ";starttime");
	ck_assert_msg(times != NULL, "%s", fake.text);
	*times = '\0';
	return fake.text;
}

const char *run_error(void)
{
	static char text[200];
	const char *hex = strstr(status(), "T0;terror:");
	size_t n = 0;
	unsigned byte;

	ck_assert_msg(hex != NULL, "%s", fake.text);
	for (hex += strlen("T0;terror:");
	     n + 1 < sizeof(text) && sscanf(hex, "%2x", &byte) == 1 && *hex != ':'; hex += 2)
		text[n++] = (char)byte;
	text[n] = '\0';
	ck_assert_int_eq(strncmp(hex, ":1;", 3), 0);
	return text;
}

uint64_t reg(unsigned number)
{
	char packet[16];
	uint64_t value = 0;

	snprintf(packet, sizeof(packet), "p%x", number);
	fake_send(packet);
	if (fake.text[0] == 'x')
		return UINT64_MAX;
	for (unsigned i = 8; i-- > 0;) {
		unsigned byte;

		ck_assert_int_eq(sscanf(fake.text + 2 * i, "%2x", &byte), 1);
		value = value << 8 | byte;
	}
	return value;
}
