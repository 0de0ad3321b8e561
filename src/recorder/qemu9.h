/* SPDX-License-Identifier: MIT */
/*
 * QEMU 9.2 and later: registers by the plugin API, version 4.
 */
#ifndef TS_RECORDER_QEMU9_H
#define TS_RECORDER_QEMU9_H

#include "qemu.h"

struct qemu_plugin_register;

/*
 * Returns the register that gdb calls @name, of the calling thread's processor, owned by QEMU.
 * Returns NULL if QEMU has no register of that name.
 */
struct qemu_plugin_register *ts_qemu_register(const char *name);

/* Read the register's bytes, at most @cap, in the target's byte order.  Returns their number. */
unsigned ts_qemu_register_bytes(struct qemu_plugin_register *reg, uint8_t *bytes, unsigned cap);

#endif
