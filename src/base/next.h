/* SPDX-License-Identifier: MIT */
/*
 * What a function returns that is called again and again: readers, searches, walks, exports.
 */
#ifndef TS_NEXT_H
#define TS_NEXT_H

enum ts_next {
	TS_ITEM,
	TS_END,
	TS_FAIL,
};

#endif
