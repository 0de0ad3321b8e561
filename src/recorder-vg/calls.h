/* SPDX-License-Identifier: MIT */
/*
 * Numbers of system calls.  A call that the processor's kernel does not have has a number that no call has.
 */
#ifndef TS_RECORDER_VG_CALLS_H
#define TS_RECORDER_VG_CALLS_H

#include <pub_tool_vkiscnums.h>

#if defined(VGA_arm64)
#define __NR_open 0xffff0000u
#define __NR_select 0xffff0001u
#define __NR_readlink 0xffff0002u
#define __NR_creat 0xffff0003u
#endif

#endif
