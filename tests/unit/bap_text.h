/* SPDX-License-Identifier: MIT */
/*
 * BAP's frames as text, for tests.
 *
 *      3 9:64 qemu/6.2.0-tracewrap            version, architecture:machine, tracer/version (version 1: none)
 *      step 401000 1 b805000000 rax=0/8 @7ffe10=0102 > rax=5/8 cf=1/1.1      pc, thread, bytes ("-": none)
 *      old 401000 1 90 rax=0/8 rbx=1/8!       a frame without a list of values after; "!": written
 *      key 1 rax=5/8 @1000=aa                 values of a thread
 *      call 401000 1 60 1 2 3                 a system call: pc, thread, number, arguments
 *      module /lib/x 1000 1fff
 *      exception 11 401000
 *      mode arm:t32                           of the steps after it
 *      damage                                 a frame that is none
 *      index 64                               close the trace, with an index of an entry every 64 frames
 *
 * Operands are NAME=VALUE/BYTES[.BITS] or @ADDRESS=BYTES; those after ">" are the values after the
 * instruction. Numbers are hexadecimal, but for versions, machines, counts, and lengths; registers' values
 * are numbers, least significant byte first in the frame.
 */
#ifndef TS_TESTS_BAP_TEXT_H
#define TS_TESTS_BAP_TEXT_H

#include "src/base/collections/buf.h"

/* Append the trace that the lines of @text are; the test fails where one is not understood. */
void bap_text(struct ts_buf *file, const char *text);

/* A line more, of a trace that is not closed. */
void bap_text_line(struct ts_buf *file, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
