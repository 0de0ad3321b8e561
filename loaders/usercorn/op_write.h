/* SPDX-License-Identifier: MIT */
/*
 * Writes the ops of UCIR version 2: the inverse of ops.h.
 *
 * Each function writes one op, with the members of its name, at @p and returns the address after it.  The
 * caller has reserved the space.  An op that contains others has the number of its direct children, @n_ops,
 * which the caller writes after it.  Only libc is needed, because the recorder's plugin is built with this
 * header.
 */
#ifndef LOADERS_USERCORN_OP_WRITE_H
#define LOADERS_USERCORN_OP_WRITE_H

#include <stdint.h>
#include <string.h>

#include "note.h"
#include "ops.h"

/* Lengths of ops in bytes, without their strings, bytes, arguments and children. */
#define UCIR_PUT_FRAME_LEN 13u
#define UCIR_PUT_STEP_LEN 2u
#define UCIR_PUT_JMP_LEN 13u
#define UCIR_PUT_ACCESS_LEN 13u
#define UCIR_PUT_PROT_LEN 18u
#define UCIR_PUT_MAP_LEN 38u
#define UCIR_PUT_SYSCALL_LEN 18u
#define UCIR_PUT_SIGNAL_LEN 20u
#define UCIR_PUT_GAP_LEN 13u
#define UCIR_PUT_NOTE_LEN 6u
#define UCIR_PUT_END_LEN 6u

/* Write the low 16 bits of @v.  Returns the address after them, in the caller's space. */
static inline uint8_t *ucir_put_u16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	return p + 2;
}

/* Write @v.  Returns the address after it, in the caller's space. */
static inline uint8_t *ucir_put_u32(uint8_t *p, uint32_t v)
{
	return ucir_put_u16(ucir_put_u16(p, v), v >> 16);
}

/* Write @v.  Returns the address after it, in the caller's space. */
static inline uint8_t *ucir_put_u64(uint8_t *p, uint64_t v)
{
	return ucir_put_u32(ucir_put_u32(p, (uint32_t)v), (uint32_t)(v >> 32));
}

/*
 * Write @len bytes; @bytes may be NULL if @len is 0 (a map without a file).
 *
 * Returns the address after them, in the caller's space.
 */
static inline uint8_t *ucir_put_bytes(uint8_t *p, const void *bytes, size_t len)
{
	if (len)
		memcpy(p, bytes, len);
	return p + len;
}

/* Write a FRAME or KEYFRAME of @n_ops children.  Returns the address after it, in the caller's space. */
static inline uint8_t *ucir_put_frame(uint8_t *p, uint8_t kind, uint64_t pid, uint32_t n_ops)
{
	*p++ = kind;
	return ucir_put_u32(ucir_put_u64(p, pid), n_ops);
}

/* Write a JMP to @addr, with block length 0.  Returns the address after it, in the caller's space. */
static inline uint8_t *ucir_put_jmp(uint8_t *p, uint64_t addr)
{
	*p++ = UCIR_JMP;
	return ucir_put_u32(ucir_put_u64(p, addr), 0);
}

/* Write a STEP of @len bytes.  Returns the address after it, in the caller's space. */
static inline uint8_t *ucir_put_step(uint8_t *p, uint8_t len)
{
	*p++ = UCIR_STEP;
	*p++ = len;
	return p;
}

/* Write a REG.  Returns the address after it, in the caller's space. */
static inline uint8_t *ucir_put_reg(uint8_t *p, uint16_t num, uint64_t val)
{
	*p++ = UCIR_REG;
	return ucir_put_u64(ucir_put_u16(p, num), val);
}

/* Write a SPREG with its @len bytes.  Returns the address after it, in the caller's space. */
static inline uint8_t *ucir_put_spreg(uint8_t *p, uint16_t num, const void *bytes, uint16_t len)
{
	*p++ = UCIR_SPREG;
	return ucir_put_bytes(ucir_put_u16(ucir_put_u16(p, num), len), bytes, len);
}

/*
 * Write a READ; or a WRITE or CHANGED without its @len bytes, which the caller writes after it.
 *
 * Returns the address after it, in the caller's space.
 */
static inline uint8_t *ucir_put_access(uint8_t *p, uint8_t kind, uint64_t addr, uint32_t len)
{
	*p++ = kind;
	return ucir_put_u32(ucir_put_u64(p, addr), len);
}

/* Write a WRITE or CHANGED with its bytes.  Returns the address after it, in the caller's space. */
static inline uint8_t *ucir_put_contents(uint8_t *p, uint8_t kind, uint64_t addr, const void *bytes,
					 uint32_t len)
{
	return ucir_put_bytes(ucir_put_access(p, kind, addr, len), bytes, len);
}

/* Write an UNMAP or FORGET.  Returns the address after it, in the caller's space. */
static inline uint8_t *ucir_put_range(uint8_t *p, uint8_t kind, uint64_t addr, uint64_t len)
{
	*p++ = kind;
	return ucir_put_u64(ucir_put_u64(p, addr), len);
}

/* Write a PROT.  @prot is TS_PROT_* bits.  Returns the address after it, in the caller's space. */
static inline uint8_t *ucir_put_prot(uint8_t *p, uint64_t addr, uint64_t len, uint8_t prot)
{
	p = ucir_put_range(p, UCIR_PROT, addr, len);
	*p++ = prot;
	return p;
}

/*
 * Write a MAP with its description of @n_desc bytes and its file of @n_file bytes.
 *
 * Returns the address after it, in the caller's space.
 */
static inline uint8_t *ucir_put_map(uint8_t *p, uint64_t addr, uint64_t len, uint8_t prot, uint64_t file_off,
				    uint64_t file_len, const char *desc, uint16_t n_desc, const char *file,
				    uint16_t n_file)
{
	p = ucir_put_prot(p, addr, len, prot);
	p[-18] = UCIR_MAP;
	p = ucir_put_u64(ucir_put_u64(p, file_off), file_len);
	p = ucir_put_u16(ucir_put_u16(p, n_desc), n_file);
	return ucir_put_bytes(ucir_put_bytes(p, desc, n_desc), file, n_file);
}

/*
 * Write a SYSCALL with @n_args arguments.  Its @n_ops children follow it.
 *
 * Returns the address after it, in the caller's space.
 */
static inline uint8_t *ucir_put_syscall(uint8_t *p, uint32_t num, uint64_t ret, const uint64_t *args,
					uint8_t n_args, uint32_t n_ops)
{
	*p++ = UCIR_SYSCALL;
	p = ucir_put_u64(ucir_put_u32(p, num), ret);
	*p++ = n_args;
	p = ucir_put_u32(p, n_ops);
	for (unsigned i = 0; i < n_args; i++)
		p = ucir_put_u64(p, args[i]);
	return p;
}

/*
 * Write a SIGNAL.  @flags are those of the op.  Its @n_ops children follow it.
 *
 * Returns the address after it, in the caller's space.
 */
static inline uint8_t *ucir_put_signal(uint8_t *p, uint16_t num, int32_t code, uint64_t addr, uint8_t flags,
				       uint32_t n_ops)
{
	*p++ = UCIR_SIGNAL;
	p = ucir_put_u64(ucir_put_u32(ucir_put_u16(p, num), (uint32_t)code), addr);
	*p++ = flags;
	return ucir_put_u32(p, n_ops);
}

/*
 * Write a GAP, in which @n_insns instructions were executed.  Its @n_ops children follow it.
 *
 * Returns the address after it, in the caller's space.
 */
static inline uint8_t *ucir_put_gap(uint8_t *p, uint64_t n_insns, uint32_t n_ops)
{
	*p++ = UCIR_GAP;
	return ucir_put_u32(ucir_put_u64(p, n_insns), n_ops);
}

/* Write a THREAD_END.  Returns the address after it, in the caller's space. */
static inline uint8_t *ucir_put_thread_end(uint8_t *p, uint32_t status)
{
	*p++ = UCIR_THREAD_END;
	return ucir_put_u32(p, status);
}

/* Write a NOTE with its @len bytes.  Returns the address after it, in the caller's space. */
static inline uint8_t *ucir_put_note(uint8_t *p, uint8_t key, const void *bytes, uint32_t len)
{
	*p++ = UCIR_NOTE;
	*p++ = key;
	return ucir_put_bytes(ucir_put_u32(p, len), bytes, len);
}

/* Write an END.  Returns the address after it, in the caller's space. */
static inline uint8_t *ucir_put_end(uint8_t *p, uint8_t kind, uint32_t value)
{
	*p++ = UCIR_END;
	*p++ = kind;
	return ucir_put_u32(p, value);
}

#endif
