/* SPDX-License-Identifier: MIT */
/*
 * The part of the execution that is recorded.  Translations before it and after it do not log.
 *
 * Translations can be discarded, and replaced, only while none is being executed.  Therefore the block at
 * which the recording begins or ends exits with a request to Valgrind (like those of the macros of
 * valgrind.h).  Valgrind then calls the tool, which begins or ends the recording.
 */
#include "tool.h"

#include <pub_tool_libcbase.h>
#include <pub_tool_machine.h>
#include <pub_tool_options.h>
#include <pub_tool_threadstate.h>
#include <pub_tool_transtab.h>

#include "processor.h"

struct ts_place ts_from, ts_until;

static Bool is_waiting;         /* for ts_from */
static Bool has_begun_waiting;  /* all blocks were translated again, so that the first one begins the recording */
static UWord saved_args_reg, saved_result_reg;
static UWord request[6] = { ('T' << 24) | ('S' << 16) }; /* a tool's own request: VG_USERREQ_TOOL_BASE of valgrind.h */
static struct ts_place at_once = { .kind = TS_PLACE_ANY, .count = 1 };

/*
 * Variables of Valgrind whose headers are not installed: whether translations may be discarded now (Valgrind
 * asserts it), and how VEX translates.  Without the second one, execution outside the recorded part is a
 * little slower.
 */
extern Bool VG_(ok_to_discard_translations);
extern VexControl vex_control __attribute__((weak));

/*
 * The program goes on in other translations.  If one was looked up before, it is executed once more, and what it
 * links to is unlinked.
 */
static void discard_all(void)
{
	Bool was_ok = VG_(ok_to_discard_translations);

	VG_(ok_to_discard_translations) = True;
	VG_(discard_translations_safely)(0, ~(SizeT)0 >> 1, "tracestub");
	VG_(ok_to_discard_translations) = was_ok;
}

/*
 * Only a recording needs all registers at each instruction, and each address once in a block.  Blocks that are joined
 * (guest_chase) may hold instructions that are executed on trial: a place is not looked for in them.
 */
static void set_control(VexControl *c)
{
	c->iropt_register_updates_default = ts_is_on ? VexRegUpdAllregsAtEachInsn : VexRegUpdUnwindregsAtMemAccess;
	c->iropt_unroll_thresh = ts_is_on ? 0 : 120; /* libvex's own default */
	c->guest_chase = !ts_is_on && !is_waiting;
}

/* VEX takes over Valgrind's when it translates the first block. */
static void set_precision(void)
{
	set_control(&VG_(clo_vex_control));
	if (&vex_control)
		set_control(&vex_control);
}

/* -------------------------------------------------------------------------------- beginning and ending */

static void begin(ThreadId tid)
{
	is_waiting = False;
	ts_is_on = True;
	set_precision();
	discard_all();
	ts_log_rewind();
	ts_guest_log_flags();
	ts_memory_log_all(ts_first_sp);
	ts_threads_log_all(tid);
	ts_log->is_begun = 1;
}

static void end(enum ts_log_ended_by why)
{
	ts_log->ended_by = why;
	ts_log_stop();
	set_precision();
	discard_all();
}

const struct ts_place *ts_window_place(void)
{
	if (ts_is_on)
		return ts_until.kind == TS_PLACE_NONE ? NULL : &ts_until;
	return is_waiting ? ts_from.kind == TS_PLACE_NEVER && ts_log->wanted == TS_LOG_WANTS_BEGIN ? &at_once : &ts_from : NULL;
}

UWord ts_window_arrive(UWord args_reg, UWord result_reg)
{
	struct ts_place *p = ts_is_on ? &ts_until : ts_from.kind == TS_PLACE_NEVER ? &at_once : &ts_from;

	if (++p->n_seen != p->count)
		return 0;
	saved_args_reg = args_reg;
	saved_result_reg = result_reg;
	return 1;
}

Addr ts_window_request(void)
{
	return (Addr)request;
}

/* Valgrind's callback: the thread has left the block at the place. */
static Bool on_request(ThreadId tid, UWord *args, UWord *result)
{
	if (args != request)
		return False;
	*result = saved_result_reg;
	VG_(set_shadow_regs_area)(tid, 0, TS_REQUEST_OFF, sizeof(saved_args_reg), (const UChar *)&saved_args_reg);
	if (ts_is_on)
		end(TS_LOG_ENDED_BY_UNTIL);
	else if (is_waiting)
		begin(tid);
	return True;
}

void ts_window_poll(void)
{
	if (ts_is_on && ts_log->wanted == TS_LOG_WANTS_END)
		end(TS_LOG_ENDED_BY_SIGNAL);
	else if (ts_log_must_stop())
		end(TS_LOG_NOT_ENDED);
	if (!is_waiting || ts_log->wanted != TS_LOG_WANTS_BEGIN || has_begun_waiting)
		return;
	has_begun_waiting = True;
	discard_all();
}

Bool ts_window_is_open(void)
{
	return ts_is_on || is_waiting;
}

void ts_window_fork(void)
{
	if (!ts_is_on)
		return;
	ts_is_on = False;
	is_waiting = True;
	has_begun_waiting = False;
	ts_from = (struct ts_place){ .kind = TS_PLACE_NEVER, .count = 1 };
	at_once.n_seen = 0;
	ts_log->wanted = TS_LOG_WANTS_BEGIN;
}

void ts_window_track(void)
{
	is_waiting = !ts_log->is_stopped && ts_from.kind != TS_PLACE_NONE;
	ts_is_on = !ts_log->is_stopped && !is_waiting; /* the first block is translated before anything else is called */
	ts_log->is_begun = ts_is_on;
	set_precision();
	VG_(needs_client_requests)(on_request);
}
