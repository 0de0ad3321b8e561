/* SPDX-License-Identifier: MIT */
/*
 * Signals, faults, exits and interrupts at a position: as text, and as siginfo.
 */
#include "fake_session.h"

#include <stdio.h>
#include <string.h>

#include "script.h"
#include "src/arch/signals.h"

/* An event of each step. */
static void make_events(struct ts_recording *rec)
{
	struct ts_steps *b = &((struct script *)rec)->steps;
	struct ts_event *e;

	ts_steps_reset(b);
	for (unsigned i = 0; i < 12; i++) {
		switch (i) {
		case 0: /* gdb's SIGSEGV, of the system: signal 11, code 1, an address */
			e = ts_steps_event(b, TS_EV_FAULT);
			*e = (struct ts_event){ .kind = TS_EV_FAULT,
						.number = 11,
						.has_ret = true,
						.ret = 1,
						.n_args = 1,
						.args = { 11 },
						.has_addr = true,
						.addr = 0xdead,
						.text = "no page" };
			break;
		case 1: /* only the signal, and where */
			e = ts_steps_event(b, TS_EV_FAULT);
			*e = (struct ts_event){
				.kind = TS_EV_FAULT, .number = 10, .has_addr = true, .addr = 0x10
			};
			break;
		case 2: /* neither where nor who */
			e = ts_steps_event(b, TS_EV_SIGNAL);
			*e = (struct ts_event){ .kind = TS_EV_SIGNAL, .number = 15, .is_after = true };
			break;
		case 3: /* sent by process 4242 */
			e = ts_steps_event(b, TS_EV_SIGNAL);
			*e = (struct ts_event){ .kind = TS_EV_SIGNAL,
						.number = 15,
						.has_ret = true,
						.ret = 0,
						.n_args = 1,
						.args = { 15 },
						.has_addr = true,
						.addr = 4242,
						.is_after = true };
			break;
		case 4: /* one that gdb does not know */
			e = ts_steps_event(b, TS_EV_SIGNAL);
			*e = (struct ts_event){
				.kind = TS_EV_SIGNAL, .number = 1000, .is_after = true, .text = "odd"
			};
			break;
		case 5: /* an address that is not of a fault, and no code: it may be anything */
			e = ts_steps_event(b, TS_EV_SIGNAL);
			*e = (struct ts_event){ .kind = TS_EV_SIGNAL,
						.number = 2,
						.has_addr = true,
						.addr = 7,
						.is_after = true };
			break;
		case 6:
			ts_steps_event(b, TS_EV_INTERRUPT);
			break;
		case 7:
			e = ts_steps_event(b, TS_EV_INTERRUPT);
			strcpy(e->text, "page fault");
			break;
		case 8:
			e = ts_steps_event(b, TS_EV_EXIT);
			e->has_ret = true;
			e->number = 3;
			break;
		case 9:
			e = ts_steps_event(b, TS_EV_EXIT);
			strcpy(e->text, "by SIGSEGV");
			break;
		case 10:
			ts_steps_event(b, TS_EV_EXIT);
			break;
		}
		ts_steps_close(b, 0x401000 + i, 1, 0);
	}
}

static void begin(void)
{
	fake_again(&(struct fake_options){ .change = make_events });
	fake_send("qSupported:xmlRegisters=i386");
}

static void expect_text(uint64_t pos, const char *wanted)
{
	const char *line;

	rsp_session_go(&fake.session, pos);
	fake.session.is_lldb = true;
	fake_send("qRcmd,7768656e"); /* when */
	fake.session.is_lldb = false;
	line = strchr(fake_console(), '\n');
	ck_assert_str_eq(line ? line + 1 : "", wanted);
}

START_TEST(when_tells_what_happened)
{
	begin();
	expect_text(1, "fault: the last instruction did not complete, address 0xdead: no page\n");
	expect_text(2, "fault: the last instruction did not complete, address 0x10\n");
	expect_text(3, "signal SIGTERM\n");
	expect_text(4, "signal SIGTERM, sent by process 4242\n");
	expect_text(5, "unknown signal: odd\n");
	expect_text(6, "interrupt\nsignal SIGINT, address 0x7\n");
	expect_text(7, "interrupt: page fault\n");
	expect_text(9, "exit: the process has ended, status 3\n");
	expect_text(10, "exit: the process has ended, by SIGSEGV\n");
	expect_text(11, "exit: the process has ended, its status was not recorded\n");
	expect_text(12, "");
}
END_TEST

static uint32_t word(size_t off)
{
	uint32_t v;

	memcpy(&v, fake.reply.data + 1 + off, sizeof(v)); /* after the l; nothing in it is escaped */
	return v;
}

/* Linux's siginfo_t on x86-64: si_signo, si_errno, si_code; at 16 si_addr or si_pid. */
static void expect_siginfo(uint64_t pos, uint32_t signo, uint32_t code, uint32_t value)
{
	rsp_session_go(&fake.session, pos);
	fake_send("qXfer:siginfo:read::0,1000");
	ck_assert_msg(fake.text[0] == 'l' && fake.reply.len == 129, "%lu: %s", (unsigned long)pos, fake.text);
	ck_assert_uint_eq(word(0), signo);
	ck_assert_uint_eq(word(4), 0);
	ck_assert_uint_eq(word(8), code);
	ck_assert_uint_eq(word(16), value);
	ck_assert_uint_eq(word(20), 0);
}

START_TEST(siginfo_is_what_was_recorded)
{
	begin();
	ck_assert_ptr_nonnull(strstr(fake_send("qSupported:xmlRegisters=i386"), "qXfer:siginfo:read+"));
	expect_siginfo(1, 11, 1, 0xdead);
	expect_siginfo(2, 7, 0x80, 0x10); /* gdb's 10 is SIGBUS, 7 on Linux; sent by the kernel */
	expect_siginfo(4, 15, 0, 4242);
}
END_TEST

START_TEST(what_was_not_recorded_is_no_siginfo)
{
	static const uint64_t without[] = { 0, 3, 5, 6, 7, 12 };

	begin();
	for (unsigned i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
		rsp_session_go(&fake.session, without[i]);
		ck_assert_int_eq(fake_send("qXfer:siginfo:read::0,1000")[0], 'E');
	}
}
END_TEST

/* Signals of gdb that an instruction causes, and some that others send, all with a code and a number. */
static void make_signals(struct ts_recording *rec)
{
	static const unsigned gdb[] = { 4, 5, 8, 10, 11, 1, 2, 9, 15, 20 };
	struct ts_steps *b = &((struct script *)rec)->steps;

	ts_steps_reset(b);
	for (unsigned i = 0; i < 10; i++) {
		*ts_steps_event(b, TS_EV_SIGNAL) = (struct ts_event){ .kind = TS_EV_SIGNAL,
								      .number = gdb[i],
								      .has_ret = true,
								      .ret = 1,
								      .n_args = 1,
								      .args = { 99 },
								      .has_addr = true,
								      .addr = UINT64_C(0x500000042),
								      .is_after = true };
		ts_steps_close(b, 0x401000 + i, 1, 0);
	}
}

/* siginfo has an address (si_addr, 8 bytes) of the first five, a process (si_pid, 4 bytes) of the others. */
START_TEST(an_address_is_of_signals_that_an_instruction_causes)
{
	fake_again(&(struct fake_options){ .change = make_signals });
	fake_send("qSupported:xmlRegisters=i386");
	for (uint64_t pos = 1; pos <= 10; pos++) {
		rsp_session_go(&fake.session, pos);
		fake_send("qXfer:siginfo:read::0,1000");
		ck_assert_msg(fake.text[0] == 'l' && fake.reply.len == 129, "%lu: %s", (unsigned long)pos, fake.text);
		ck_assert_uint_eq(word(16), 0x42);
		ck_assert_uint_eq(word(20), pos <= 5 ? 5 : 0);
		fake.session.is_lldb = true;
		fake_send("qRcmd,7768656e"); /* when */
		fake.session.is_lldb = false;
		ck_assert_int_eq(strstr(fake_console(), "sent by process") != NULL, pos > 5);
	}
}
END_TEST

FAKE_SUITE("events", an_address_is_of_signals_that_an_instruction_causes, when_tells_what_happened, siginfo_is_what_was_recorded,
	   what_was_not_recorded_is_no_siginfo)
