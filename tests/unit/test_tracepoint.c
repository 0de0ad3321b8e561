/* SPDX-License-Identifier: MIT */
/*
 * The texts are those that gdb 13 sent to gdbserver 13, and that it wrote to a trace file of the same run.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "src/frames/tracepoint.h"

static struct ts_tracing t;
static struct ts_error err;
static struct ts_buf out;

static void setup(void)
{
	ts_tracing_init(&t);
	ts_error_reset(&err);
	ts_buf_init(&out);
}

static void teardown(void)
{
	ts_tracing_fini(&t);
	ts_buf_fini(&out);
}

/* A piece with its letter, as in a file. */
static bool line(const char *text)
{
	enum ts_piece piece;

	ts_error_reset(&err);
	ck_assert(ts_piece_of_letter(*text, &piece));
	return ts_tracing_piece(&t, piece, text + 1, strlen(text + 1), 0, &err);
}

static bool packet(enum ts_piece piece, const char *text)
{
	ts_error_reset(&err);
	return ts_tracing_piece(&t, piece, text, strlen(text), 0, &err);
}

static const char *piece(const struct ts_tracepoint *tp, unsigned i)
{
	ts_buf_reset(&out);
	return ts_tracepoint_format(tp, i, &out) ? ts_buf_text(&out) : NULL;
}

/* All that gdb wrote about one tracepoint, and one with stepping. */
static const char *const file_lines[] = {
	"T2:40107b:E:0:3:X13,26000622100222d416080219162022042b1427",
	"A2:40107b:R40",
	"A2:40107b:M-1,402010,10",
	"A2:40107b:X0000000F,26000622100222d416080222040c27",
	"S2:40107b:R0fffffffffffffffffffffffffffffffffffff",
	"S2:40107b:M6,fffffffffffffff8,4",
	"Z2:40107b:at:0:4:66696c6c",
	"Z2:40107b:cmd:0:19:636f6c6c656374206b2c20702c20675f70742c202468697473",
	"V2:40107b:3:7554",
};
#define N_FILE_LINES (sizeof(file_lines) / sizeof(file_lines[0]))

START_TEST(lines_of_a_file_come_out_as_they_were)
{
	struct ts_tracepoint *tp;

	for (size_t i = 0; i < N_FILE_LINES; i++)
		ck_assert_msg(line(file_lines[i]), "%s: %s", file_lines[i], err.text);
	tp = ts_tracing_find(&t, 2, 0x40107b);
	ck_assert_ptr_nonnull(tp);
	for (unsigned i = 0; i + 1 < N_FILE_LINES; i++)
		ck_assert_str_eq(piece(tp, i), file_lines[i]);
	ck_assert_ptr_null(piece(tp, N_FILE_LINES - 1));
	ts_buf_reset(&out);
	ts_tracepoint_use_format(tp, &out);
	ck_assert_str_eq(ts_buf_text(&out), file_lines[N_FILE_LINES - 1]);
}
END_TEST

START_TEST(a_definition_is_understood)
{
	struct ts_tracepoint *tp;

	for (size_t i = 0; i < N_FILE_LINES; i++)
		ck_assert(line(file_lines[i]));
	tp = ts_tracing_find_number(&t, 2);
	ck_assert(tp->is_enabled && !tp->is_fast && !tp->is_static && tp->has_step_actions && tp->has_use);
	ck_assert_uint_eq(tp->pass_count, 3);
	ck_assert_uint_eq(tp->n_cond, 0x13);
	ck_assert_uint_eq(tp->cond[2], 0x06);
	ck_assert_uint_eq(tp->n_hits, 3);
	ck_assert_uint_eq(tp->n_bytes, 0x7554);
	ck_assert_int_eq(tp->actions->kind, TS_ACTION_REGS);
	ck_assert_uint_eq(tp->actions->n_bytes, 1);
	ck_assert_uint_eq(tp->actions->bytes[0], 0x40);
	ck_assert_int_eq(tp->actions->next->base, TS_NO_BASE);
	ck_assert_uint_eq(tp->actions->next->addr, 0x402010);
	ck_assert_uint_eq(tp->actions->next->len, 0x10);
	ck_assert_int_eq(tp->actions->next->next->kind, TS_ACTION_EXPR);
	ck_assert_uint_eq(tp->actions->next->next->n_bytes, 0xf);
	ck_assert(!tp->actions->next->next->is_stepping && tp->actions->next->next->next->is_stepping);
	ck_assert_str_eq(tp->sources->type, "at");
	ck_assert_str_eq((const char *)tp->sources->text, "fill");
}
END_TEST

START_TEST(a_packet_has_several_actions_and_s_stays)
{
	struct ts_tracepoint *tp;

	ck_assert(packet(TS_PIECE_DEFINE, "1:0000000000401040:D:5:0"));
	ck_assert(packet(TS_PIECE_PACKET_ACTIONS, "1:0000000000401040:R0f"));
	ck_assert(packet(TS_PIECE_PACKET_ACTIONS,
			 "1:0000000000401040:SM-1,402028,4M-1,402030,8X0000000C,2c000222010216402d000227"));
	ck_assert(packet(TS_PIECE_PACKET_ACTIONS, "1:0000000000401040:L"));
	tp = ts_tracing_find(&t, 1, 0x401040);
	ck_assert(!tp->is_enabled);
	ck_assert_str_eq(piece(tp, 0), "T1:401040:D:5:0");
	ck_assert_str_eq(piece(tp, 1), "A1:401040:R0f");
	ck_assert_str_eq(piece(tp, 2), "S1:401040:M-1,402028,4");
	ck_assert_str_eq(piece(tp, 3), "S1:401040:M-1,402030,8");
	ck_assert_str_eq(piece(tp, 4), "S1:401040:X0000000C,2c000222010216402d000227");
	ck_assert_str_eq(piece(tp, 5), "S1:401040:L");
	ck_assert_ptr_null(piece(tp, 6));
}
END_TEST

START_TEST(one_number_may_have_several_addresses)
{
	ck_assert(line("T1:1000:E:0:0:F5"));
	ck_assert(line("T1:2000:E:0:0:S"));
	ck_assert_ptr_ne(ts_tracing_find(&t, 1, 0x1000), ts_tracing_find(&t, 1, 0x2000));
	ck_assert_ptr_eq(ts_tracing_find_number(&t, 1), ts_tracing_find(&t, 1, 0x1000));
	ck_assert_ptr_null(ts_tracing_find(&t, 2, 0x1000));
	ck_assert_str_eq(piece(ts_tracing_find(&t, 1, 0x1000), 0), "T1:1000:E:0:0:F5");
	ck_assert_str_eq(piece(ts_tracing_find(&t, 1, 0x2000), 0), "T1:2000:E:0:0:S");
	ck_assert_uint_eq(t.n_points, 2);
}
END_TEST

START_TEST(what_is_malformed_changes_nothing)
{
	static const char *const lines[] = {
		"T",
		"T1",
		"T1:",
		"T1:1000",
		"T1:1000:",
		"T1:1000:X:0:0",
		"T1:1000:E:0",
		"T1:1000:E:0:",
		"T1:1000:E:0:0:X",
		"T1:1000:E:0:0:X2,27",
		"T1:1000:E:0:0:X1,27xx",
		"T1:1000:E:0:0 ",
		"Tg:1000:E:0:0",
		"T1:10000000000000000:E:0:0",
		"T80000000:1000:E:0:0",
		"A9:9:Q",
		"A9:9:M-1,0",
		"A9:9:M-1,0,",
		"A9:9:M-2,0,1",
		"A9:9:M,0,1",
		"A9:9:X5,2727",
		"A9:9:R40Q",
		"A1:9:R40",
		"A9:9:R40X00000010,27",
		"Z9:9:at",
		"Z9:9:at:0:1",
		"Z9:9:at:0:1:4",
		"Z9:9:at:0:1:41:",
		"Z9:9:at:x:1:41",
		"V9:9:1",
		"V9:9:1:2:3",
		"V9:9::",
	};
	struct ts_tracepoint *tp;

	ck_assert(line("T9:9:E:0:0"));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		ck_assert_msg(!line(lines[i]), "%s", lines[i]);
		ck_assert_msg(err.code == TS_ECORRUPT, "%s: %s", lines[i], err.text);
	}
	ck_assert_uint_eq(t.n_points, 1);
	tp = ts_tracing_find(&t, 9, 9);
	ck_assert(!tp->actions && !tp->sources && !tp->has_use);
	ck_assert(line("A9:9:R40"));
	ck_assert_str_eq(piece(tp, 1), "A9:9:R40");
}
END_TEST

START_TEST(a_location_is_defined_once)
{
	ck_assert(line("T1:1000:E:0:0"));
	ck_assert(!line("T1:1000:E:0:0"));
	ck_assert_int_eq(err.code, TS_ECORRUPT);
	ck_assert_ptr_nonnull(strstr(err.text, "already"));
}
END_TEST

START_TEST(a_field_that_nobody_knows_ends_the_line)
{
	ck_assert(!line("T1:1000:E:0:7:Q5:X1,27"));
	ck_assert_int_eq(err.code, TS_EUNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(err.text, "Q5"));
	ck_assert_str_eq(piece(ts_tracing_find(&t, 1, 0x1000), 0), "T1:1000:E:0:7");
}
END_TEST

START_TEST(there_is_a_limit_to_tracepoints)
{
	char text[64];

	for (unsigned i = 0; i < TS_MAX_TRACEPOINTS; i++) {
		snprintf(text, sizeof(text), "T%x:1000:E:0:0", i + 1);
		ck_assert(line(text));
	}
	ck_assert(!line("T0:1000:E:0:0"));
	ck_assert_int_eq(err.code, TS_ELIMIT);
}
END_TEST

static const char *var(const char *text, uint32_t number)
{
	ts_error_reset(&err);
	ck_assert_msg(ts_tracing_var(&t, text, strlen(text), 0, &err), "%s", err.text);
	ts_buf_reset(&out);
	ts_tvar_format(ts_tracing_find_var(&t, number), &out);
	return ts_buf_text(&out);
}

START_TEST(variables_are_64_bits_without_sign)
{
	ck_assert_str_eq(var("1:0:1:74726163655f74696d657374616d70", 1),
			 "1:0:1:74726163655f74696d657374616d70");
	ck_assert_str_eq(t.vars->name, "trace_timestamp");
	ck_assert_str_eq(var("2:fffffffffffffffe:0:", 2), "2:fffffffffffffffe:0:");
	ck_assert_int_eq(t.vars->next->initial, -2);
	ck_assert_str_eq(t.vars->next->name, "");
	ck_assert_str_eq(var("1:0000000000000003:0:68697473", 1), "1:3:0:68697473");
	ck_assert_uint_eq(t.n_vars, 2);
	ck_assert_ptr_eq(t.vars->next->next, NULL);
}
END_TEST

START_TEST(a_malformed_variable_is_refused)
{
	static const char *const texts[] = { "",	"1",	     "1:0",	  "1:0:1",
					     "1:0:1:7", "1:0:1:74x", "1:-2:0:74", "x:0:0:74" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ts_error_reset(&err);
		ck_assert_msg(!ts_tracing_var(&t, texts[i], strlen(texts[i]), 0, &err), "%s", texts[i]);
	}
	ck_assert_uint_eq(t.n_vars, 0);
}
END_TEST

static bool status(const char *text)
{
	ts_error_reset(&err);
	return ts_tracing_status(&t, text, strlen(text), 0, &err);
}

static const char *status_text(void)
{
	ts_buf_reset(&out);
	ts_run_status_format(&t.status, &out);
	return ts_buf_text(&out);
}

START_TEST(a_status_of_gdb_is_understood)
{
	ck_assert(status("0;tstop:7365656e20656e6f756768:0;tframes:10;tcreated:11;tfree:4ffc68;tsize:500000;"
			 "starttime:60d95661;"
			 "stoptime:60d97977;notes:676c6f62616c73;username:616c696365"));
	ck_assert_int_eq(t.status.end, TS_RUN_STOPPED);
	ck_assert_str_eq(t.status.text, "seen enough");
	ck_assert_uint_eq(t.status.n_frames, 16);
	ck_assert_uint_eq(t.status.n_created, 17);
	ck_assert_uint_eq(t.status.n_free, 0x4ffc68);
	ck_assert_uint_eq(t.status.n_bytes, 0x500000);
	ck_assert_uint_eq(t.status.start_time, 0x60d95661);
	ck_assert_uint_eq(t.status.stop_time, 0x60d97977);
	ck_assert_str_eq(t.status.user, "alice");
	ck_assert_str_eq(t.status.notes, "globals");
	ck_assert(!t.status.is_circular && !t.status.is_disconnected && !t.status.is_running);
	ck_assert_str_eq(status_text(),
			 "0;tstop:7365656e20656e6f756768:0;tframes:10;tcreated:11;tfree:4ffc68;tsize:500000;"
			 "circular:0;disconn:0;starttime:60d95661;stoptime:60d97977;username:616c696365;"
			 "notes:676c6f62616c73");
}
END_TEST

START_TEST(every_reason_is_read_and_written)
{
	static const char *const reasons[] = {
		"0;tnotrun:0",
		"0;tfull:0",
		"0;tdisconnected:0",
		"0;tpasscount:2",
		"0;tunknown:0",
		"0;tstop::0",
		"0;terror:64697669646520627920:a",
		"1;tnotrun:0",
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		size_t len = strlen(reasons[i]);

		ck_assert_msg(status(reasons[i]), "%s: %s", reasons[i], err.text);
		ck_assert_msg(!strncmp(status_text(), reasons[i], len) && ts_buf_text(&out)[len] == ';',
			      "%s: %s", reasons[i], ts_buf_text(&out));
	}
}
END_TEST

START_TEST(old_and_odd_statuses_are_read)
{
	ck_assert(status("0;tstop:0;circular:1;disconn:1;strange:x:y;notes::;"));
	ck_assert_int_eq(t.status.end, TS_RUN_STOPPED);
	ck_assert(t.status.is_circular && t.status.is_disconnected);
	ck_assert_uint_eq(t.status.n_frames, TS_NO_COUNT);
	ck_assert_str_eq(t.status.notes, "");
}
END_TEST

START_TEST(a_malformed_status_is_refused)
{
	static const char *const texts[] = { "",
					     "2",
					     "x;tstop:0",
					     "0;tstop",
					     "0;tframes:",
					     "0;tframes:x",
					     "0tstop:0",
					     "0;tstop:zz:0",
					     "0;username:4" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_msg(!status(texts[i]), "%s", texts[i]);
		ck_assert_int_eq(err.code, TS_ECORRUPT);
	}
}
END_TEST

UNIT_FIXTURE_SUITE("tracepoint", setup, teardown, lines_of_a_file_come_out_as_they_were,
		   a_definition_is_understood, a_packet_has_several_actions_and_s_stays,
		   one_number_may_have_several_addresses, what_is_malformed_changes_nothing,
		   a_location_is_defined_once, a_field_that_nobody_knows_ends_the_line,
		   there_is_a_limit_to_tracepoints, variables_are_64_bits_without_sign,
		   a_malformed_variable_is_refused, a_status_of_gdb_is_understood,
		   every_reason_is_read_and_written, old_and_odd_statuses_are_read,
		   a_malformed_status_is_refused)
