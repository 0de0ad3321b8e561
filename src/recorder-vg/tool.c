/* SPDX-License-Identifier: MIT */
/*
 * A Valgrind tool that logs what each instruction does.
 *
 *     VALGRIND_LAUNCHER=/ tracestub-record-vg-amd64 --tool=tracestub --log=FD ... PROGRAM ARGS
 *
 * It is dumb: what the log means is the business of src/record.
 */
#include "tool.h"

#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_options.h>
#include <pub_tool_machine.h>

#define MAX_BLOCK_INSNS 40 /* so that the record of an execution stays below TS_LOG_MAX_BLOCK */

static Int log_fd = -1, text_fd = -1;

static Bool take_place(struct ts_place *p, const HChar *text)
{
	if (!ts_place_take(p, text))
		VG_(tool_panic)("tracestub: a place is malformed");
	return True;
}

static Bool take_option(const HChar *arg)
{
	const HChar *text;

	if (VG_(strcmp)(arg, "--enable-debuginfod=no") == 0)
		return True; /* of a Valgrind that has no debuginfod */
	if VG_INT_CLO (arg, "--log", log_fd)
		return True;
	if VG_INT_CLO (arg, "--text", text_fd)
		return True;
	if VG_STR_CLO (arg, "--from", text)
		return take_place(&ts_from, text);
	if VG_STR_CLO (arg, "--follow", text)
		return ts_follow_take(text);
	if VG_STR_CLO (arg, "--until", text)
		return take_place(&ts_until, text);
	return False;
}

static void print_nothing(void)
{
}

static void begin(void)
{
	if (text_fd >= 0)
		VG_(close)(text_fd); /* of --log-fd: the core has a copy, beyond the program's descriptors */
	if (!ts_follow_is_on())
		ts_log_open(log_fd);
	else if (!ts_follow_begin(False))
		ts_log_detach();
	ts_window_track();
}

static void end(Int)
{
}

static void prepare(void)
{
	VG_(details_name)("tracestub");
	VG_(details_version)(NULL);
	VG_(details_description)("records what each instruction does");
	VG_(details_copyright_author)("the authors of tracestub");
	VG_(details_bug_reports_to)("the authors of tracestub");
	VG_(basic_tool_funcs)(begin, ts_translate, end);
	VG_(needs_command_line_options)(take_option, print_nothing, print_nothing);
	VG_(clo_vex_control).guest_max_insns = MAX_BLOCK_INSNS;
	ts_kernel_track();
	ts_memory_track();
}

VG_DETERMINE_INTERFACE_VERSION(prepare)
