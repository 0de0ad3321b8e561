/* SPDX-License-Identifier: MIT */
/*
 * The result of a function that is called repeatedly: readers, searches, walks, exports.
 */
#ifndef TS_NEXT_H
#define TS_NEXT_H

enum ts_next {
	TS_ITEM,
	TS_END,
	TS_FAIL,
};

#endif
