/* SPDX-License-Identifier: MIT */
/*
 * Steps and their effects: the common output of all loaders.
 *
 * Step k leads from position k to position k + 1.  A reader appends steps to a struct ts_steps, which its caller
 * owns and refills; an effect has 24 bytes, and its value is in the batch's data.  Effects are in the order in
 * which they happened.  A read has the value that was read if the format records it: memory held this value
 * before the step, unless the step itself wrote it.
 */
#ifndef TS_STEP_H
#define TS_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "src/object/prot.h"

#define TS_NO_DATA UINT32_MAX
#define TS_NO_THREAD UINT32_MAX
#define TS_NO_POS UINT64_MAX
/* The pc of a step is unknown.  No instruction begins at the last byte of the address space. */
#define TS_NO_PC UINT64_MAX

/* A thread of the recording.  Steps refer to it by its ordinal. */
struct ts_thread {
	uint32_t process; /* ordinal of its address space: threads of one process share memory */
	uint64_t pid;     /* as recorded, for users and gdb; not unique over time */
	uint64_t tid;
	char name[32];    /* "" for none */
	/* its pc after its last step, once the recording has been read; TS_NO_PC: unknown */
	uint64_t end_pc;
};

/*
 * The effects of a step.  Kinds up to TS_FX_READ may have a value; kinds from TS_FX_WRITE to TS_FX_FORGET concern a
 * range of memory.  Registers are bytes of the 'g' packet's layout (struct ts_regset), in target byte order.
 */
enum ts_effect_kind {
	TS_FX_REG_WRITE, /* registers [addr, addr + len) are now the data */
	TS_FX_REG_READ,  /* registers [addr, addr + len) held the data; no data: read, value not recorded */
	TS_FX_WRITE,     /* memory [addr, addr + len) is now the data; no data: written, value unknown */
	/* memory [addr, addr + len) was read and held the data; no data: value not recorded */
	TS_FX_READ,
	/* a region [addr, addr + len) appears, item = ordinal in maps; replaces what it overlaps */
	TS_FX_MAP,
	TS_FX_UNMAP,     /* [addr, addr + len) is no longer mapped; its contents are unknown */
	TS_FX_PROTECT,   /* the protection of [addr, addr + len) becomes item (enum ts_prot bits) */
	TS_FX_FORGET,    /* [addr, addr + len) may have been written without a record: unknown from here */
	TS_FX_EVENT,     /* item = ordinal in events */
	TS_FX_THREAD,    /* the effects after this one, up to the step's end, belong to thread item */
	/* a module [addr, addr + len) appears, item = ordinal in modules; replaces what it overlaps */
	TS_FX_LOAD,
	TS_FX_UNLOAD,    /* the modules that overlap [addr, addr + len) are unloaded */
	/* the registers of all threads are unknown from here: [0, len), all bytes of the layout */
	TS_FX_FORGET_REGS,
	/*
	 * At the end of the step memory may have been written without a record: by a
	 * system call whose effects the format does not record, or by code that was not recorded.  Known memory
	 * stays known; values that are read later are not used for earlier positions.  [0, 0)
	 */
	TS_FX_UNSEEN,
};

struct ts_effect {
	uint64_t addr; /* memory: target address; registers: byte offset in the 'g' layout */
	uint64_t len;  /* bytes; addr + len <= 2^64 (a region may end there) */
	union {
		uint32_t data; /* the value's offset in the batch's data, TS_NO_DATA without one */
		uint32_t item; /* of kinds without values: see there */
	};
	enum ts_effect_kind kind : 8;
	/*
	 * No recorded instruction made the change (a signal frame, the recorder, gdbrecord's system calls): a
	 * watchpoint stops only if a byte changes.  The writes of a system call in UCIR are not hidden:
	 * ts_step_is_syscall() identifies them.
	 */
	bool is_hidden;
	/* a hidden write that follows from a later read: it may have happened any time since TS_FX_UNSEEN here */
	bool is_inferred;
	/* a hidden read of the code that runs after the last step; code at a step's own pc needs no effect */
	bool is_code;
};
_Static_assert(sizeof(struct ts_effect) == 24, "each byte is handed from one processor to another");

/* The contents of a new region. */
enum ts_fill {
	TS_FILL_UNKNOWN, /* until the first access */
	TS_FILL_ZERO,
};

/*
 * A recorded region of memory.  Strings are offsets into the batch's data, terminated;
 * TS_NO_DATA: none.
 */
struct ts_map {
	uint64_t addr;
	uint64_t len;      /* bytes, not 0 */
	uint64_t file_off; /* offset in the file of the region's first byte */
	uint32_t prot;     /* enum ts_prot bits */
	uint32_t desc;     /* "stack", "exe", ... */
	uint32_t file;     /* path at recording time */
	enum ts_fill fill;
};

/*
 * An executable or library that was loaded, according to the recorder.  It does not imply that its range is mapped.
 */
struct ts_module {
	uint64_t addr;
	uint64_t len;  /* bytes, not 0 */
	uint32_t file; /* its path at recording time, an offset into the batch's data; terminated */
};

enum ts_event_kind {
	TS_EV_SYSCALL,    /* number, args, ret */
	/* number = gdb's signal number; if has_ret, ret = its si_code and args[0] the system's number */
	TS_EV_SIGNAL,
	/* the instruction did not complete; addr = the fault address, if known; number, ret and args as for a signal */
	TS_EV_FAULT,
	TS_EV_EXIT,       /* the process of the step's thread ended; number = status if has_ret */
	TS_EV_THREAD_END, /* the step's thread ended; number = status if has_ret */
	TS_EV_GAP,        /* the recorder was off: any state may have changed without a record */
	/* the step is not an instruction, but enters the handler of an interrupt or exception; text */
	TS_EV_INTERRUPT,
};
#define TS_N_EVENT_KINDS (TS_EV_INTERRUPT + 1)

#define TS_MAX_SYSCALL_ARGS 8

struct ts_event {
	enum ts_event_kind kind;
	uint64_t number;
	uint64_t addr;
	uint64_t ret;
	uint64_t args[TS_MAX_SYSCALL_ARGS]; /* the first n_args of them */
	uint8_t n_args;
	bool has_ret;
	bool has_addr;
	bool is_after; /* TS_EV_SIGNAL: it arrived after the step, not before it */
	char text[48]; /* the recorder's text, "" for none; always terminated */
};

#define TS_SI_KERNEL 0x80 /* si_code: sent by the kernel, for no reason that it names; asm-generic/siginfo.h */

/* Did the kernel send SIGBUS or SIGSEGV (gdb's 10 and 11) without the address of the fault?  Its si_addr is 0, which is no address. */
static inline bool ts_event_lacks_address(const struct ts_event *ev)
{
	return ev->has_ret && ev->ret == TS_SI_KERNEL && !ev->addr && (ev->number == 10 || ev->number == 11);
}

/* An event and the step that it belongs to. */
struct ts_event_at {
	uint64_t step;
	uint32_t thread;
	struct ts_event event;
};

struct ts_step {
	uint64_t pc;      /* address of the instruction, TS_NO_PC: unknown */
	uint32_t thread;  /* ordinal in the recording's threads */
	uint32_t first;   /* its effects are effects[first .. first + n_effects - 1]; the next step's follow */
	uint32_t n_effects;
	uint16_t insn_len; /* bytes, 0 = unknown */
	bool is_undone;    /* a signal came before the instruction did anything: registers that did not change were not written */
};

/* A batch of consecutive steps.  Arrays are owned; n_ members are the used items, cap_ members the allocated ones. */
struct ts_steps {
	struct ts_step *steps;
	struct ts_effect *effects;
	uint8_t *data;
	struct ts_map *maps;
	struct ts_module *modules;
	struct ts_event *events;
	uint32_t n_steps, n_effects, n_data, n_maps, n_modules, n_events;
	uint32_t cap_steps, cap_effects, cap_data, cap_maps, cap_modules, cap_events;
	uint32_t n_closed; /* effects that belong to complete steps */
	uint64_t max;      /* the limit on the bytes of each array; 0: none */
	bool is_failed;    /* memory is exhausted, or the batch would exceed 4 GiB or max; later additions are lost */
	bool is_limited;   /* is_failed because of max */
};

/* Initialize an empty batch without a limit. */
void ts_steps_init(struct ts_steps *b);
void ts_steps_fini(struct ts_steps *b);

/*
 * Copy @from to @to, whose memory is reused, for another processor.  If memory is exhausted, or @from has failed,
 * to->is_failed is set.
 */
void ts_steps_copy(struct ts_steps *to, const struct ts_steps *from);

/* Limit its memory to its share of @max_memory (0: no limit): see max in struct ts_steps. */
void ts_steps_bound(struct ts_steps *b, uint64_t max_memory);

/* Empty it, keep the memory. */
void ts_steps_reset(struct ts_steps *b);

/*
 * Allocate space for one more effect, for @len more bytes, for both, or for one more step.  Return false, with
 * is_failed set, if memory is exhausted.
 */
bool ts_steps_grow_effects(struct ts_steps *b);
bool ts_steps_grow_data(struct ts_steps *b, size_t len);
bool ts_steps_grow_room(struct ts_steps *b, uint32_t n, size_t len);
bool ts_steps_grow_steps(struct ts_steps *b);

/*
 * Reserve space for @n more effects and @len more bytes, for ts_steps_put().  Returns false as the functions above.
 */
static inline bool ts_steps_room(struct ts_steps *b, uint32_t n, uint32_t len)
{
	return __builtin_expect(b->cap_effects - b->n_effects >= n && b->cap_data - b->n_data >= len, 1) ||
	       ts_steps_grow_room(b, n, len);
}

/*
 * Append an effect without a value to the open step.
 *
 * Returns the effect, borrowed until the next addition, whose other members the caller may set.
 * Returns NULL if memory is exhausted (is_failed is then set).
 */
static inline struct ts_effect *ts_steps_effect(struct ts_steps *b, enum ts_effect_kind kind, uint64_t addr,
						uint64_t len)
{
	struct ts_effect *e;

	if (__builtin_expect(b->n_effects == b->cap_effects, 0) && !ts_steps_grow_effects(b))
		return NULL;
	e = &b->effects[b->n_effects++];
	*e = (struct ts_effect){ .addr = addr, .len = len, .data = TS_NO_DATA, .kind = kind };
	return e;
}

/*
 * Append an effect with a value of @len bytes, copied from @data, to the open step.
 *
 * Returns the effect, borrowed until the next addition.
 * Returns NULL if memory is exhausted (is_failed is then set).
 */
static inline struct ts_effect *ts_steps_value(struct ts_steps *b, enum ts_effect_kind kind, uint64_t addr,
					       const void *data, uint32_t len)
{
	struct ts_effect *e;

	if (__builtin_expect(b->cap_data - b->n_data < len, 0) && !ts_steps_grow_data(b, len))
		return NULL;
	e = ts_steps_effect(b, kind, addr, len);
	if (!e)
		return NULL;
	e->data = b->n_data;
	if (len)
		memcpy(b->data + b->n_data, data, len);
	b->n_data += len;
	return e;
}

/*
 * As ts_steps_value(), for a value of at most @room bytes, a constant; @room bytes must be readable at @bytes, and are
 * all copied.
 *
 * Returns the effect, borrowed from @b until the next one is appended; NULL if memory is exhausted.
 */
static inline struct ts_effect *ts_steps_short(struct ts_steps *b, enum ts_effect_kind kind, uint64_t addr,
					       const uint8_t *bytes, uint32_t len, uint32_t room)
{
	struct ts_effect *e;

	if (__builtin_expect(b->cap_data - b->n_data < room, 0) && !ts_steps_grow_data(b, room))
		return NULL;
	e = ts_steps_effect(b, kind, addr, len);
	if (!e)
		return NULL;
	e->data = b->n_data;
	memcpy(b->data + b->n_data, bytes, room);
	b->n_data += len;
	return e;
}

/*
 * As ts_steps_short(), for a value of at most eight bytes.  Eight bytes must be readable at @bytes.
 *
 * Returns the effect, borrowed from @b until the next one is appended; NULL if memory is exhausted.
 */
static inline struct ts_effect *ts_steps_word(struct ts_steps *b, enum ts_effect_kind kind, uint64_t addr,
					      const uint8_t *bytes, uint32_t len)
{
	return ts_steps_short(b, kind, addr, bytes, len, 8);
}

/* As ts_steps_word(), after ts_steps_room() has reserved space for the effect and eight bytes. */
static inline void ts_steps_put(struct ts_steps *b, enum ts_effect_kind kind, uint64_t addr,
				const uint8_t *bytes, uint32_t len)
{
	struct ts_effect *e = &b->effects[b->n_effects++];

	*e = (struct ts_effect){ .addr = addr, .len = len, .data = b->n_data, .kind = kind };
	memcpy(b->data + b->n_data, bytes, 8);
	b->n_data += len;
}

/*
 * Append a region as TS_FX_MAP.  @desc and @file are copied; their lengths are without a terminator, and NULL
 * is none.
 *
 * Returns the region, borrowed until the next addition, whose other members the caller may set.
 * Returns NULL if memory is exhausted (is_failed is then set).
 */
struct ts_map *ts_steps_map(struct ts_steps *b, uint64_t addr, uint64_t len, const char *desc,
			    size_t desc_len, const char *file, size_t file_len);

/* Append a module; @file (length without terminator) is copied.  Returns false if memory is exhausted. */
bool ts_steps_load(struct ts_steps *b, uint64_t addr, uint64_t len, const char *file, size_t file_len);

/*
 * Append an event of @kind as TS_FX_EVENT.
 *
 * Returns the event, borrowed until the next addition, whose other members the caller sets.
 * Returns NULL if memory is exhausted (is_failed is then set).
 */
struct ts_event *ts_steps_event(struct ts_steps *b, enum ts_event_kind kind);

/* Steps with more effects are searched for accesses to merge. */
#define TS_MANY_EFFECTS 32u

/*
 * Merge accesses of the open step that are consecutive in memory and time: a string instruction may have
 * thousands.
 */
void ts_steps_join(struct ts_steps *b);

/* End the open step: the effects since the last close belong to it. */
static inline void ts_steps_close(struct ts_steps *b, uint64_t pc, uint16_t insn_len, uint32_t thread)
{
	struct ts_step *s;

	if (__builtin_expect(b->n_steps == b->cap_steps, 0) && !ts_steps_grow_steps(b))
		return;
	if (__builtin_expect(b->n_effects - b->n_closed > TS_MANY_EFFECTS, 0))
		ts_steps_join(b);
	s = &b->steps[b->n_steps++];
	s->pc = pc;
	s->thread = thread;
	s->first = b->n_closed;
	s->n_effects = b->n_effects - b->n_closed;
	s->insn_len = insn_len;
	s->is_undone = false;
	b->n_closed = b->n_effects;
}

/* Add the effects since the last close to the last step, which must exist. */
void ts_steps_extend_last(struct ts_steps *b);

/*
 * Drop the effects from ordinal @n on, with their regions, modules, and events; they must not belong to a
 * step.  For readers that find out late that an op is not part of the step.  Values stay in data, unused.
 */
void ts_steps_rollback(struct ts_steps *b, uint32_t n);

/*
 * Returns the value of an effect, e->len bytes borrowed from the batch until it changes; NULL if it has none.
 */
static inline const uint8_t *ts_effect_data(const struct ts_steps *b, const struct ts_effect *e)
{
	return e->kind > TS_FX_READ || e->data == TS_NO_DATA ? NULL : b->data + e->data;
}

/* Does the effect read, write, map, unmap or forget a range of memory? */
static inline bool ts_effect_is_on_memory(const struct ts_effect *e)
{
	return e->kind >= TS_FX_WRITE && e->kind <= TS_FX_FORGET && e->kind != TS_FX_PROTECT && e->len;
}

/* The cause of a change of memory or registers. */
enum ts_writer_kind {
	TS_WRITER_STEP,        /* the instruction */
	TS_WRITER_MAP,         /* a region was mapped or unmapped there */
	TS_WRITER_UNEXPLAINED, /* something that the recording does not show */
	TS_WRITER_INPUT,       /* the system */
};

/*
 * Does the effect change memory?  If so, sets *writer.  A write of a system call that the format lists as one of the
 * instruction has TS_WRITER_STEP: see ts_step_is_syscall().
 */
static inline bool ts_effect_writes_memory(const struct ts_effect *e, enum ts_writer_kind *writer)
{
	if (!ts_effect_is_on_memory(e) || e->kind == TS_FX_READ)
		return false;
	*writer = e->kind == TS_FX_FORGET || e->is_inferred ? TS_WRITER_UNEXPLAINED
		  : e->kind != TS_FX_WRITE ? TS_WRITER_MAP
		  : e->is_hidden	   ? TS_WRITER_INPUT
					   : TS_WRITER_STEP;
	return true;
}

/* Is the effect an access of memory by the instruction: a write if @is_write, else a read? */
static inline bool ts_effect_is_access(const struct ts_effect *e, bool is_write)
{
	enum ts_writer_kind writer = TS_WRITER_UNEXPLAINED;

	if (!is_write)
		return e->kind == TS_FX_READ && !e->is_hidden && e->len;
	return ts_effect_writes_memory(e, &writer) && writer == TS_WRITER_STEP;
}

/* Does the effect touch a byte of [@first, @last] of memory? */
static inline bool ts_effect_touches(const struct ts_effect *e, uint64_t first, uint64_t last)
{
	return ts_effect_is_on_memory(e) && e->addr <= last && e->addr + (e->len - 1) >= first;
}

/* Iterates over the effects of a step.  TS_FX_THREAD is not returned; it sets the thread. */
struct ts_step_effects {
	const struct ts_effect *next, *end;
	uint32_t thread; /* the thread of the effect that was returned last */
};

/* Begin with the first effect of step @s of batch @b, which is borrowed. */
static inline struct ts_step_effects ts_step_effects(const struct ts_steps *b, const struct ts_step *s)
{
	const struct ts_effect *e = b->effects + s->first;

	return (struct ts_step_effects){ e, e + s->n_effects, s->thread };
}

/* Returns the next effect, borrowed from the batch; NULL after the last one, also in further calls. */
static inline const struct ts_effect *ts_step_effects_next(struct ts_step_effects *x)
{
	while (x->next < x->end && x->next->kind == TS_FX_THREAD)
		x->thread = (x->next++)->item;
	return x->next < x->end ? x->next++ : NULL;
}

/* The item of an effect; 0 for a kind without one. */
static inline uint32_t ts_effect_item(const struct ts_effect *e)
{
	switch (e->kind) {
	case TS_FX_MAP:
	case TS_FX_PROTECT:
	case TS_FX_EVENT:
	case TS_FX_THREAD:
	case TS_FX_LOAD: return e->item;
	case TS_FX_REG_WRITE:
	case TS_FX_REG_READ:
	case TS_FX_WRITE:
	case TS_FX_READ:
	case TS_FX_UNMAP:
	case TS_FX_FORGET:
	case TS_FX_UNLOAD:
	case TS_FX_FORGET_REGS:
	case TS_FX_UNSEEN: break;
	}
	return 0;
}

/* Returns the string at @off of a map or module, terminated, borrowed from the batch; NULL for TS_NO_DATA. */
static inline const char *ts_steps_text(const struct ts_steps *b, uint32_t off)
{
	return off == TS_NO_DATA ? NULL : (const char *)b->data + off;
}

#endif
