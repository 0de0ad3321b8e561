/* SPDX-License-Identifier: MIT */
/*
 * Programs, libraries and source files of this machine, which the rules for images and sources allow to be read.
 */
#ifndef TS_SANDBOX_IMAGES_H
#define TS_SANDBOX_IMAGES_H

/*
 * Open the file @path for reading if it is a program, a library or an object file (ELF, PE).  A core dump is none,
 * nor is a file below /proc or /sys.  A file of another type is not opened: opening a device or a pipe has effects.
 *
 * Returns a descriptor, to be closed by the caller; -1 with errno, EACCES for a file that is no image.
 */
int ts_sandbox_open_image(const char *path);

/*
 * Open the file @path for reading if it is a regular file whose name, that of a symbolic link's target, too, is the name of
 * a source file.
 *
 * Returns as ts_sandbox_open_image().
 */
int ts_sandbox_open_source(const char *path);

#endif
