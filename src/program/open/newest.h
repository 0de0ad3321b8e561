/* SPDX-License-Identifier: MIT */
/*
 * The newest recording, for a command line that names none.
 */
#ifndef TS_NEWEST_H
#define TS_NEWEST_H

/*
 * The name of the newest file NAME.ucir in the current folder, by modification time.  The caller frees it.
 *
 * Returns NULL if there is none, or if memory is exhausted.
 */
char *ts_newest_recording(void);

#endif
