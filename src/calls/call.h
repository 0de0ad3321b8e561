/* SPDX-License-Identifier: MIT */
/*
 * A call: caller, callee, beginning and end.
 */
#ifndef TS_CALL_H
#define TS_CALL_H

#include <stdint.h>

#define TS_NO_CALL    UINT32_MAX
#define TS_NO_END     UINT64_MAX
#define TS_CALL_BLOCK 128u /* calls that are unpacked together */

enum ts_call_kind {
	TS_CALL_RETURN,  /* it ended at its return address */
	TS_CALL_UNWOUND, /* it ended elsewhere: longjmp, an exception, an abandoned stack */
	TS_CALL_OPEN,    /* it has not ended */
	TS_CALL_SWITCH,  /* not a call: the thread moved to another stack */
};

struct ts_call {
	uint64_t pos;    /* the step that called; the call begins at pos + 1 */
	uint64_t end;    /* the position at which it ended, TS_NO_END if it is open */
	uint64_t pc;     /* of the call instruction */
	uint64_t target; /* the address to which control was transferred */
	uint32_t thread;
	uint32_t ordinal; /* in the thread's list */
	uint32_t parent;  /* the innermost call open on its stack when it was made; TS_NO_CALL: none */
	uint32_t depth;   /* 1 + the number of calls open on its stack when it was made */
	enum ts_call_kind kind;
};

#endif
