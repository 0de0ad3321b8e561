/* SPDX-License-Identifier: MIT */
/*
 * The search for the position at which the program stops when it is continued, forwards or backwards.
 *
 * Breakpoints and events are looked up in the index.  For watchpoints, the chunks that touch their lines are decoded in order
 * until a step qualifies.  Watchpoints at virtual addresses are searched in one span of steps after the other
 * (watch_ranges.h).  The search runs in slices, so that a server can serve other clients and be interrupted in between.
 */
#ifndef TS_SEARCH_H
#define TS_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch_ranges.h"
#include "src/query/query.h"
#include "src/base/next.h"

struct ts_break {
	uint32_t process;
	uint64_t addr;
};

/* The stops that a search finds.  Arrays are borrowed while the search runs. */
struct ts_stops {
	const struct ts_break *breaks;
	size_t n_breaks;
	const struct ts_watch *watches;
	size_t n_watches;
	bool has_maps; /* stop where bytes of a watchpoint (not of reads) are mapped or unmapped */
	/* the watchpoints' addresses are virtual; the recording is that of a machine */
	bool is_virtual;
	/*
	 * Of a machine: only positions that it admits are arrived at, and only steps from there trigger
	 * watchpoints; NULL: all.  Borrowed as well.
	 */
	const struct ts_filter *filter;
	bool has_syscalls;        /* stop before and after system calls ... */
	const uint64_t *syscalls; /* ... of these numbers; none: of any */
	size_t n_syscalls;
	bool has_forks;           /* stop behind (backwards: before) a call that gave the process a child */
	bool has_signals;         /* stop at signals, faults and exits, but for ... */
	/* ... signals of these numbers of gdb (bit N of all: number N); NULL: none */
	const uint64_t *passed_signals;
	bool has_modules;         /* stop where other modules are loaded, but for ... */
	/* ... those of these numbers (bit N of all: module N of ts_query_module(); borrowed), in ... */
	const uint8_t *passed_modules;
	size_t n_passed_modules;  /* bits of passed_modules */
	uint32_t process;         /* ... this process */
};

enum ts_stop_kind {
	TS_STOP_END, /* the limit */
	TS_STOP_BREAK,
	TS_STOP_WATCH,
	TS_STOP_SYSCALL_ENTRY,
	TS_STOP_SYSCALL_RETURN,
	TS_STOP_FORK,
	TS_STOP_VFORK,
	TS_STOP_SIGNAL,    /* a signal arrives here, or the instruction before did not complete */
	TS_STOP_EXIT,      /* the process of the instruction before has ended */
	TS_STOP_MODULES,   /* other modules are loaded than on the side where the run comes from */
	TS_STOP_VFORK_DONE, /* never found: a server reports it before it continues after VFORK */
	TS_STOP_STEP,      /* of a walk (walk.h): the step is done */
	TS_STOP_INTERRUPT, /* of a walk: it was interrupted */
};

struct ts_found {
	uint64_t pos;
	enum ts_stop_kind kind;
	size_t watch;    /* WATCH: ordinal in watches */
	uint64_t addr;   /* WATCH: first byte accessed within the watched range, as the watchpoint has it */
	/* WATCH: the thread of the access, or the first thread that read the changed value; else the thread of position pos */
	uint32_t thread;
	uint64_t number; /* SYSCALL: its number; FORK, VFORK: the child; SIGNAL: gdb's number of it */
};

struct ts_replay;

struct ts_search {
	struct ts_query *q;           /* borrowed */
	const struct ts_stops *stops; /* borrowed */
	uint64_t from;                /* where it started */
	bool is_reverse;
	bool infers_reads;            /* a watchpoint is about reads, which are derived from instructions */
	bool has_open_reads;          /* steps were passed that may have read, and whose reads cannot be derived */
	uint64_t n_watched;           /* of infers_reads: the number of chunks that were searched */
	bool has_no_memory;           /* memory was exhausted while stops were looked up */
	bool is_offered;              /* best is final, except for watchpoints */
	size_t n_offered;             /* breakpoints that have been looked up */
	unsigned stage;               /* the kind of stops that is looked up now: an index of the list in search_stops.c */
	uint64_t event;               /* the ordinal of the next event or module of this stage */
	bool is_walking;              /* event is valid */
	unsigned n_compared;          /* the number of edges of regions that were compared with other regions */
	uint64_t break_from;          /* the position from which the current breakpoint is searched on; TS_NO_POS: the start */
	struct ts_found best;         /* the nearest stop so far that is not a watchpoint's */
	uint64_t at;                  /* watchpoints have been searched from the start to this position */
	uint64_t first, end;          /* the span of steps [first, end) for which places are valid */
	uint64_t chunk;               /* the next chunk to search for watchpoints; TS_NO_CHUNK: none */
	struct ts_places places;      /* of the watchpoints */
	struct ts_replay *views;        /* owned; the places' windows */
	uint8_t *bytes;               /* owned; what the windows hold: values, then known flags */
};

/* gdb's numbers of signals are below this. */
#define TS_N_SIGNALS 256

/*
 * The position at which an event of the kind is a stop, in both directions: a signal arrives before the step
 * that it belongs to, unless it says otherwise; a fault and an exit show after it, where the pc of a fault is
 * that of its instruction still.
 */
static inline uint64_t ts_event_position(const struct ts_event_at *h)
{
	return h->step + (h->event.kind != TS_EV_SIGNAL || h->event.is_after);
}

/* The signal that an event is for gdb; a fault whose kind was not recorded is SIGSEGV. */
static inline uint64_t ts_event_signal(const struct ts_event_at *h)
{
	return h->event.number || h->event.kind != TS_EV_FAULT ? h->event.number : 11;
}

/*
 * Start a search at position @pos for the nearest arrival on the way to position @limit, which lies after it,
 * before it (then the search goes in reverse), or is the same (then there is nothing to find).  Backwards a
 * watchpoint's arrival is the position before the step that triggers it, forwards the one after it.
 *
 * Returns false if memory is exhausted (TS_ENOMEM).
 * Returns false if the trace cannot be read any more (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
bool ts_search_init(struct ts_search *s, struct ts_query *q, const struct ts_stops *stops, uint64_t pos,
		    uint64_t limit, struct ts_error *err);
void ts_search_fini(struct ts_search *s);

/* The position up to which nothing was found, for a caller that gives up. */
uint64_t ts_search_reached(const struct ts_search *s);

/*
 * Go on, decoding at most @n_chunks chunks, or doing other things that take as long.
 *
 * Returns TS_ITEM and fills @found when it is over.
 * Returns TS_MORE when it needs another slice.
 * Returns TS_FAIL if the trace cannot be read (TS_EIO, TS_ETRUNC, TS_ECORRUPT).
 */
enum ts_next ts_search_run(struct ts_search *s, unsigned n_chunks, struct ts_found *found,
			   struct ts_error *err);

#endif
