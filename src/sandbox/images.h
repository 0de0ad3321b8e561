/* SPDX-License-Identifier: MIT */
/*
 * Programs, libraries and source files of this machine that the rules for images and sources permit to read.
 */
#ifndef TS_SANDBOX_IMAGES_H
#define TS_SANDBOX_IMAGES_H

/*
 * Open the file @path for reading if it is a program, a library or an object file (ELF, PE).  Core dumps and files
 * below /proc or /sys are refused.  Devices and pipes are not even opened, because that has effects.
 *
 * Returns a descriptor, to be closed by the caller; -1 with errno, EACCES for a file that is no image.
 */
int ts_sandbox_open_image(const char *path);

/*
 * Open the file @path for reading if it is a regular file with the name of a source file.  If @path is a symbolic link,
 * the name of its target must be one, too.
 *
 * Returns as ts_sandbox_open_image().
 */
int ts_sandbox_open_source(const char *path);

#endif
