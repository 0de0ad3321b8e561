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
#include <pub_tool_options.h>
#include <pub_tool_machine.h>

#define MAX_BLOCK_INSNS 40 /* so that the record of an execution stays below TS_LOG_MAX_BLOCK */

static Int log_fd = -1;

static Bool take_option(const HChar *arg)
{
	if VG_INT_CLO (arg, "--log", log_fd) {
	} else
		return False;
	return True;
}

static void print_nothing(void)
{
}

static void begin(void)
{
	ts_log_open(log_fd);
}

static void end(Int status)
{
	(void)status;
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
	/* All registers are right at each instruction; each address occurs once in a block. */
	VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
	VG_(clo_vex_control).iropt_unroll_thresh = 0;
	VG_(clo_vex_control).guest_chase = False;
	VG_(clo_vex_control).guest_max_insns = MAX_BLOCK_INSNS;
	ts_kernel_track();
	ts_memory_track();
}

VG_DETERMINE_INTERFACE_VERSION(prepare)
