/* SPDX-License-Identifier: MIT */
/*
 * The result of a function that is called repeatedly: readers, searches, cursors, the index that is built, exports.
 */
#ifndef TS_NEXT_H
#define TS_NEXT_H

enum ts_next {
	TS_ITEM, /* the next item was returned; or what the function prepares is ready */
	TS_END,  /* after the last item, or nothing is left to do */
	TS_MORE, /* the slice of work, or the budget, is used up: call again */
	TS_FAIL, /* the error is set; as a rule the trace cannot be read, or memory is exhausted */
};

#endif
