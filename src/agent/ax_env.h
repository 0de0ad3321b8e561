/* SPDX-License-Identifier: MIT */
/*
 * The surroundings of an agent expression (ax.h) while it is evaluated.
 */
#ifndef TS_AX_ENV_H
#define TS_AX_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TS_AX_DEFAULT_BUDGET 100000
#define TS_AX_MAX_TEXT       4096 /* bytes that one printf prints; longer text is truncated */

/*
 * The callbacks through which an expression reads and writes.  Every callback gets @user first.
 *
 * reg and mem are needed.  Without get_var and set_var state variables are unknown and can't be set.  Without
 * trace, trace_var or print the instructions that would call them only take their operands: a condition
 * collects nothing.
 */
struct ts_ax_env {
	void *user;
	uint64_t addr_mask; /* significant bits of an address, ts_arch_addr_mask() */
	bool is_big_endian; /* byte order of the memory that mem reads */
	uint32_t budget;    /* instructions that may run; 0: TS_AX_DEFAULT_BUDGET */
	uint32_t *n_run;    /* set to the number of instructions that ran; may be NULL */

	/*
	 * *value is set to the register with the protocol's number @regnum, zero-extended.  Returns false if
	 * unknown.
	 */
	bool (*reg)(void *user, unsigned regnum, uint64_t *value);

	/* Copy at most @len bytes from @addr to @bytes, up to the first unknown one.  Returns their number. */
	size_t (*mem)(void *user, uint64_t addr, uint8_t *bytes, size_t len);

	/* Trace state variables by number.  Return false if the variable does not exist. */
	bool (*get_var)(void *user, unsigned var, uint64_t *value);
	bool (*set_var)(void *user, unsigned var, uint64_t value);

	/*
	 * Collect memory, as far as it is known, or a variable.  @len is untrusted.  Return false if no more
	 * can be collected, which ends the evaluation.
	 */
	bool (*trace)(void *user, uint64_t addr, uint64_t len);
	bool (*trace_var)(void *user, unsigned var);

	/* Receives the address, register or variable that a failing evaluation asked for; may be NULL. */
	uint64_t *failed_at;

	/* Print the text of a dynamic printf, at most TS_AX_MAX_TEXT bytes. */
	void (*print)(void *user, const char *text, size_t len);
};

#endif
