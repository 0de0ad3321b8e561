/* SPDX-License-Identifier: MIT */
/*
 * Files in a directory that is the root of another system (--sysroot).
 *
 * Symbolic links are resolved as on that system: absolute links begin at the directory, and ".." stops
 * there.  A name from a trace never resolves to a file outside.
 */
#ifndef TS_ROOTED_H
#define TS_ROOTED_H

/*
 * Open the file @path of the system whose root is the directory @root, for reading; a FIFO without a writer
 * does not block.
 *
 * Returns a file descriptor that the caller closes.
 * Returns -1 with errno if the file does not exist, or if it cannot be opened.
 */
int ts_rooted_open(const char *root, const char *path);

/* As ts_rooted_open(); @root is a descriptor of the directory, O_PATH or not. */
int ts_rooted_open_at(int root, const char *path);

/*
 * As ts_rooted_open(), without openat2(2), for kernels before 5.6.  If the tree changes meanwhile, the result may be
 * another file of it, or -1 with errno.
 */
int ts_rooted_open_by_steps(const char *root, const char *path);

#endif
