/* SPDX-License-Identifier: MIT */
/*
 * What qemu7.c and qemu9.c find of QEMU when the recording begins.
 */
#include "qemu.h"

uintptr_t *ts_guest_base;
uint32_t ts_qemu_executing;
