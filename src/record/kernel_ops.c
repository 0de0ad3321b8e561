/* SPDX-License-Identifier: MIT */
/*
 * Write the effects of the kernel as ops: maps, memory, system calls, signals, ends of threads.
 */
#include <stdio.h>
#include <string.h>

#include "decoder_parts.h"
#include "loaders/usercorn/op_write.h"
#include "shadow.h"

#define PAGE 4096u
#define MAX_PATH_LEN 4096u
#define MAX_STACK (UINT64_C(8) << 20)
#define MAX_ADDR (UINT64_C(1) << 47)
#define MAX_ZERO (UINT64_C(64) << 20)
#define CLONE_THREAD 0x10000u
#define RESTARTED ((uint64_t)-512) /* the kernel's ERESTARTSYS: a signal came first */

/* -------------------------------------------------------------------------------- maps */

void ts_decode_keep_code_file(struct ts_log_decoder *d, const char *file)
{
	size_t i = d->n_code_files;

	while (file && i && strcmp(d->code_files[i - 1], file) != 0)
		i--;
	if (!file || i || d->n_code_files == TS_MAX_CODE_FILES)
		return;
	d->code_files[d->n_code_files] = strdup(file);
	d->n_code_files += d->code_files[d->n_code_files] != NULL;
}

/*
 * Is the same part of the file mapped there already, so that only the protection changes?  A linker maps a whole library and
 * then its segments over it; their bytes need not be written twice.  Memory that was writable may differ from the file.
 */
static bool is_mapped_again(const struct ts_log_decoder *d, const struct ts_log_map *m, const char *file, size_t n_file)
{
	bool is_known = d->n_unknown < TS_MAX_UNKNOWN && !ts_log_decoder_is_unknown(d, m->addr);
	const struct ts_region *r = n_file && is_known ? ts_regions_find(&d->regions, m->addr) : NULL;

	return r && r->file && !r->was_writable && m->addr + m->len <= r->end && m->file_off == r->file_off + (m->addr - r->start) &&
	       strlen(r->file) == n_file && memcmp(r->file, file, n_file) == 0;
}

/* Records of the contents follow, of which only the differences are written. */
static bool map_again(struct ts_log_decoder *d, const struct ts_log_map *m, const char *file, size_t n_file)
{
	char name[MAX_PATH_LEN + 1];

	memcpy(name, file, n_file);
	name[n_file] = '\0';
	if (m->prot & 4)
		ts_decode_keep_code_file(d, name);
	ts_op_piece_prot(&d->loose, m->addr, m->addr + m->len, m->prot & 7);
	return ts_regions_protect(&d->regions, m->addr, m->addr + m->len, m->prot & 7);
}

static bool put_map(struct ts_log_decoder *d, const struct ts_log_map *m, const char *file, size_t n_file)
{
	char name[MAX_PATH_LEN + 1];
	struct ts_region r = { .start = m->addr, .end = m->addr + m->len, .file_off = m->file_off, .prot = m->prot & 7,
			       .is_stack = m->is_stack, .file = n_file ? name : NULL };

	memcpy(name, file, n_file);
	name[n_file] = '\0';
	ts_op_piece_map(&d->loose, &r, r.file);
	ts_shadow_clear(m->addr, m->len);
	if (m->is_stack) {
		d->stack_low = m->addr;
		d->stack_high = m->addr + m->len;
		d->stack_min = d->stack_high > MAX_STACK ? d->stack_high - MAX_STACK : 0;
	}
	if (r.prot & 4)
		ts_decode_keep_code_file(d, r.file);
	return ts_regions_map(&d->regions, &r);
}

static void forget(struct ts_log_decoder *d, const struct ts_log_map *m)
{
	ts_op_piece_range(&d->loose, UCIR_FORGET, m->addr, m->addr + m->len);
	if (d->n_unknown == TS_MAX_UNKNOWN)
		return;
	d->unknown[d->n_unknown].start = m->addr;
	d->unknown[d->n_unknown++].end = m->addr + m->len;
}

/* Set the pages in the shadow to zero; records of their new contents follow. */
static void zero(struct ts_log_decoder *d, const struct ts_log_map *m)
{
	static const uint8_t page[PAGE];

	for (uint64_t i = 0; i < m->len && m->len <= MAX_ZERO; i += PAGE) {
		if (ts_shadow_peek(m->addr + i))
			ts_op_piece_differences(&d->loose, m->addr + i, page, PAGE);
	}
}

/* Remove the unknown ranges inside a new or removed mapping. */
static void drop_unknown(struct ts_log_decoder *d, const struct ts_log_map *m)
{
	for (unsigned i = 0; i < d->n_unknown; i++) {
		if (d->unknown[i].start >= m->addr && d->unknown[i].end <= m->addr + m->len)
			d->unknown[i--] = d->unknown[--d->n_unknown];
	}
}

/* Returns false if memory is exhausted, or there are too many mappings. */
static bool change_map(struct ts_log_decoder *d, uint32_t kind, const struct ts_log_map *m, const char *file, size_t n_file)
{
	if (kind == TS_LOG_MAP || kind == TS_LOG_UNMAP)
		drop_unknown(d, m);
	switch (kind) {
	case TS_LOG_MAP:
		return is_mapped_again(d, m, file, n_file) ? map_again(d, m, file, n_file) : put_map(d, m, file, n_file);
	case TS_LOG_UNMAP:
		ts_op_piece_range(&d->loose, UCIR_UNMAP, m->addr, m->addr + m->len);
		ts_shadow_clear(m->addr, m->len);
		return ts_regions_unmap(&d->regions, m->addr, m->addr + m->len);
	case TS_LOG_PROTECT:
		ts_op_piece_prot(&d->loose, m->addr, m->addr + m->len, m->prot & 7);
		return ts_regions_protect(&d->regions, m->addr, m->addr + m->len, m->prot & 7);
	case TS_LOG_FORGET:
		forget(d, m);
		return true;
	default:
		zero(d, m);
		return true;
	}
}

const char *ts_decode_map(struct ts_log_decoder *d, uint32_t kind, const uint8_t *bytes, size_t len)
{
	struct ts_log_map m;
	size_t n_file;

	if (len < sizeof(m))
		return "a mapping is cut short";
	memcpy(&m, bytes, sizeof(m));
	n_file = strnlen((const char *)bytes + sizeof(m), len - sizeof(m));
	if (!m.len || m.addr > MAX_ADDR || m.len > MAX_ADDR || (m.addr | m.len) & (PAGE - 1) || n_file > MAX_PATH_LEN)
		return "a mapping cannot be";
	return change_map(d, kind, &m, (const char *)bytes + sizeof(m), n_file) ? NULL : "memory is exhausted";
}

/* -------------------------------------------------------------------------------- memory */

const char *ts_decode_memory(struct ts_log_decoder *d, uint32_t kind, const uint8_t *bytes, size_t len)
{
	struct ts_log_memory m;

	if (len < sizeof(m))
		return "memory is cut short";
	memcpy(&m, bytes, sizeof(m));
	if (m.len > len - sizeof(m) || m.addr > MAX_ADDR)
		return "memory cannot be";
	if (kind == TS_LOG_MEMORY && m.len)
		ts_op_piece_write(&d->loose, m.addr, bytes + sizeof(m), (uint32_t)m.len);
	else
		ts_op_piece_differences(&d->loose, m.addr, bytes + sizeof(m), m.len);
	return NULL;
}

static uint64_t word_of(const struct ts_log_guest *g, const uint8_t *state, unsigned off)
{
	uint64_t val = 0;

	memcpy(&val, state + off, g->word);
	return val;
}

/* -------------------------------------------------------------------------------- system calls */

static void put_call(struct ts_log_decoder *d, struct ts_log_task *t, uint64_t ret)
{
	struct ts_call_begun *c = &t->call;
	struct ts_op_piece piece = { 0 };

	c->is_open = false;
	if (!ts_op_piece_syscall(&piece, c->num, ret, c->args, &c->ops))
		return;
	d->last_call_len = piece.len;
	ts_op_frames_piece(d->frames, t->pid, UCIR_FRAME, &piece);
	ts_op_piece_fini(&piece);
	ts_op_piece_reset(&c->ops);
}

void ts_decode_put_exit(struct ts_log_decoder *d, struct ts_log_task *t)
{
	ts_decode_settle(d, t);
	ts_op_piece_exit(&t->call.ops);
	put_call(d, t, 0);
}

/* Copy a text of the program, as far as it is in the shadow. */
static void copy_text(char *to, size_t cap, uint64_t addr)
{
	size_t n = 0;

	for (; n + 1 < cap; n++) {
		const uint8_t *at = ts_shadow_peek(addr + n);

		if (!at || !*at)
			break;
		to[n] = (char)*at;
	}
	to[n] = '\0';
}

static void begin_exec(struct ts_log_decoder *d, const struct ts_log_call *c)
{
	bool has_folder = c->num == d->guest->calls.execveat;

	copy_text(d->exec_path, sizeof(d->exec_path), c->args[has_folder]);
	d->counts.exec_path = d->exec_path;
}

static bool is_filter(const struct ts_log_decoder *d, const struct ts_log_call *c)
{
	enum { SET_SECCOMP = 22 }; /* prctl(2) */

	return c->num == d->guest->calls.seccomp || (c->num == d->guest->calls.prctl && c->args[0] == SET_SECCOMP);
}

void ts_decode_call(struct ts_log_decoder *d, struct ts_log_task *t, const struct ts_log_call *c)
{
	if (t->call.is_open)
		put_call(d, t, RESTARTED);
	ts_decode_settle(d, d->now);
	ts_decode_put_gap(d, t);
	t->call.is_open = true;
	t->call.num = c->num;
	memcpy(t->call.args, c->args, sizeof(t->call.args));
	ts_op_piece_reset(&t->call.ops);
	if (c->num == d->guest->calls.execve || c->num == d->guest->calls.execveat)
		begin_exec(d, c);
	d->counts.has_filter |= is_filter(d, c);
	if (c->num == d->guest->calls.exit_group) {
		d->is_exiting = d->counts.has_exit = true;
		d->counts.exit_status = c->args[0] & 0xff;
	}
}

static void note_child(struct ts_log_decoder *d, const struct ts_log_call *c)
{
	bool is_clone = c->num == d->guest->calls.clone, is_fork = c->num == d->guest->calls.fork || c->num == d->guest->calls.vfork;
	char text[16];

	if (d->is_followed || (int64_t)c->ret <= 0 || !(is_fork || (is_clone && !(c->args[0] & CLONE_THREAD))))
		return;
	d->counts.n_children++;
	ts_op_frames_note(d->frames, UCIR_NOTE_CHILD, text, (uint32_t)snprintf(text, sizeof(text), "%u", (unsigned)c->ret));
}

void ts_decode_return(struct ts_log_decoder *d, struct ts_log_task *t, const struct ts_log_call *c, const uint8_t *state)
{
	bool does_return = c->num != d->guest->calls.exit && c->num != d->guest->calls.exit_group;

	d->counts.exec_path = NULL;
	if (!t->call.is_open || !does_return)
		return;
	ts_decode_settle(d, t);
	ts_decode_registers(d, t, &t->call.ops, state, false);
	put_call(d, t, c->ret);
	d->returned = (struct ts_call_returned){ .task = t, .num = c->num, .end = d->frames->len, .n_ops = d->frames->n_ops };
	memcpy(d->returned.args, c->args, sizeof(c->args));
	d->returned.start = d->last_call_len <= d->frames->len ? d->frames->len - d->last_call_len : d->frames->len;
	note_child(d, c);
}

void ts_decode_unreturn(struct ts_log_decoder *d)
{
	const struct ts_call_returned *r = &d->returned;
	struct ts_op_frames *f = d->frames;
	uint8_t *p = f->ops + r->start;

	/* only if it is the last op that was written, in a frame that is still open */
	if (!r->task || f->pid != r->task->pid || f->n_ops != r->n_ops || f->len != r->end || r->start == r->end)
		return;
	p = ucir_put_syscall(p, r->num, 0, r->args, TS_LOG_N_ARGS, 1);
	*p++ = UCIR_EXIT;
	f->len = (size_t)(p - f->ops);
}

/* The thread ends; the kernel clears the word of its id. */
void ts_decode_thread_end(struct ts_log_decoder *d, struct ts_log_task *t)
{
	static const uint8_t none[4];
	uint64_t status = t->call.args[0] & 0xff;
	uint8_t *p;

	ts_decode_settle(d, t);
	if (t->tid_word) {
		ts_op_piece_write(&t->call.ops, t->tid_word, none, sizeof(none));
		ts_log_decoder_add_tid_word(d, t->tid_word);
	}
	ts_decode_put_exit(d, t);
	p = ts_op_frames_room(d->frames, t->pid, 5);
	ts_op_frames_done(d->frames, ucir_put_thread_end(p, (uint32_t)status), 1);
}

/* -------------------------------------------------------------------------------- signals */

static uint64_t shadow_number(uint64_t addr, unsigned len)
{
	uint64_t val = 0;

	for (unsigned i = 0; i < len; i++) {
		const uint8_t *at = ts_shadow_peek(addr + i);

		val |= at ? (uint64_t)*at << 8 * i : 0;
	}
	return val;
}

/* SIGILL SIGTRAP SIGBUS SIGFPE SIGSEGV */
static bool is_fault(uint32_t num)
{
	return num == 4 || num == 5 || num == 7 || num == 8 || num == 11;
}

/* The second argument of the handler, in registers or on the stack, is the siginfo, if it begins with the number. */
static uint8_t read_info(const struct ts_log_decoder *d, const uint8_t *state, uint32_t num, int32_t *code, uint64_t *addr)
{
	const struct ts_log_guest *g = d->guest;
	uint64_t sp = word_of(g, state, g->sp), info = g->arg[0] ? word_of(g, state, g->arg[1]) : shadow_number(sp + 8, 4);

	if (shadow_number(info, 4) != num)
		return 0;
	*code = (int32_t)shadow_number(info + 8, 4);
	*addr = shadow_number(info + (g->word == 8 ? 16 : 12), is_fault(num) && *code > 0 ? g->word : 4);
	return UCIR_SIGNAL_HAS_CODE | UCIR_SIGNAL_HAS_ADDR;
}

/* The instruction that a caught fault interrupted is a step that did not complete: the SIGNAL after it says so. */
static void put_failed_step(struct ts_log_decoder *d, struct ts_log_task *t)
{
	uint8_t *p = ts_op_frames_room(d->frames, t->pid, UCIR_PUT_STEP_LEN + UCIR_PUT_JMP_LEN), *end = p;
	uint32_t n_ops = 1;

	if (t->at != t->failed_pc) {
		end = ucir_put_jmp(end, t->failed_pc);
		n_ops++;
	}
	ts_op_frames_done(d->frames, ucir_put_step(end, t->failed_len), n_ops);
	d->counts.n_steps++;
	t->at = t->failed_pc + t->failed_len;
	t->failed_len = 0;
}

void ts_decode_signal_state(struct ts_log_decoder *d, struct ts_log_task *t, const uint8_t *state, uint64_t pc)
{
	struct ts_op_piece inner = { 0 }, piece = { 0 };
	uint8_t flags = UCIR_SIGNAL_HANDLER, *p;
	uint64_t addr = 0;
	int32_t code = 0;

	ts_decode_put_gap(d, t);
	ts_op_piece_append(&inner, &d->loose);
	ts_op_piece_reset(&d->loose);
	flags |= read_info(d, state, t->signal.num, &code, &addr);
	if (is_fault(t->signal.num) && code > 0 && t->failed_len && t->failed_pc == t->signal.pc) {
		put_failed_step(d, t);
		flags |= UCIR_SIGNAL_FAULT;
	}
	ts_decode_registers(d, t, &inner, state, false);
	if (ts_op_piece_signal(&piece, (uint16_t)t->signal.num, code, addr, flags, &inner))
		ts_op_frames_piece(d->frames, t->pid, UCIR_FRAME, &piece);
	p = ts_op_frames_room(d->frames, t->pid, UCIR_PUT_JMP_LEN);
	ts_op_frames_done(d->frames, ucir_put_jmp(p, pc), 1);
	t->at = pc;
	t->has_signal = false;
	ts_op_piece_fini(&inner);
	ts_op_piece_fini(&piece);
}
