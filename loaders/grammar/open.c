/* SPDX-License-Identifier: MIT */
/*
 * Text traces: which grammar a file is of, which processor, and opening it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialects.h"
#include "loaders/grammar/code/image.h"
#include "loaders/kit/line_reader.h"
#include "loaders/kit/program.h"
#include "loaders/loader.h"
#include "log.h"
#include "loaders/grammar/language/match.h"
#include "loaders/grammar/language/names.h"
#include "src/arch/operands/operands.h"
#include "src/object/elf_image.h"

/* ------------------------------------------------------------------------------------------------ the head */

/* Go over the whole lines among the first @len bytes; @visit returns false to end that. */
static void each_line(const char *head, size_t len, bool (*visit)(void *user, const char *line, size_t len), void *user)
{
	const char *end = head + len, *next;

	for (; head < end; head = next + 1) {
		next = memchr(head, '\n', (size_t)(end - head));
		if (!next || !visit(user, head, (size_t)(next - head) - (next > head && next[-1] == '\r')))
			return;
	}
}

/* What the lines of a head are. */
struct votes {
	struct grammar_matcher matcher;
	struct ts_steps fx;
	unsigned n_heads;   /* lines that begin a step or a state, and those that may join one */
	unsigned n_refused;
	unsigned n_joins;   /* of the heads */
	unsigned n_dumps;   /* program counters in lines that begin none */
	uint32_t features;  /* that have registers which are listed */
	unsigned n_noise, n_signs;
	bool is_skipping;
	enum grammar_kind kind; /* of the last line, GRAMMAR_NOTE if it is skipped */
	struct regmap *map;   /* owned */
	struct ts_regset set; /* owned */
	unsigned n_regs, n_unknown, n_bad;
	unsigned n_narrow, n_wide; /* program counters of 8 and of 16 digits */
};

/* The feature of the register that an effect is about, as a bit. */
static uint32_t features_of(const struct ts_regset *set, const struct ts_effect *e)
{
	bool is_of_register = e->kind == TS_FX_REG_WRITE || e->kind == TS_FX_REG_READ;
	const struct ts_reg *r = is_of_register ? ts_regset_at(set, e->addr) : NULL;

	return r ? 1u << r->feature : 0;
}

static bool vote(void *user, const char *text, size_t len)
{
	struct votes *v = user;
	struct grammar_line line;

	ts_steps_reset(&v->fx);
	grammar_match(&v->matcher, text, len, &line, &v->fx);
	v->n_signs += line.kind == GRAMMAR_SKIP || line.kind == GRAMMAR_TAKE;
	v->kind = line.kind;
	if (grammar_skips(line.kind, &v->is_skipping)) {
		v->kind = GRAMMAR_NOTE;
		return true;
	}
	v->n_heads += line.kind == GRAMMAR_STEP || line.kind == GRAMMAR_STATE || line.kind == GRAMMAR_JOIN;
	v->n_refused += line.kind == GRAMMAR_REFUSE;
	v->n_joins += line.kind == GRAMMAR_JOIN;
	v->n_dumps += (line.kind == GRAMMAR_JOIN || line.kind == GRAMMAR_EFFECT) && line.has & HAS_PC;
	for (uint32_t i = 0; i < v->fx.n_effects; i++)
		v->features |= features_of(v->matcher.set, &v->fx.effects[i]);
	v->n_noise += line.kind == GRAMMAR_NOISE && len;
	v->n_regs += line.n_regs;
	v->n_unknown += line.n_unknown;
	v->n_bad += line.n_bad;
	v->n_narrow += line.has & HAS_PC && line.pc_digits == 8;
	v->n_wide += line.has & HAS_PC && line.pc_digits == 16;
	return !v->fx.is_failed;
}

/* No votes yet, if lines are of this processor.  Returns false if memory is exhausted. */
static bool votes_init(struct votes *v, const struct grammar *g, const struct ts_arch *arch, struct ts_error *err)
{
	*v = (struct votes){ .kind = GRAMMAR_NOTE, .map = malloc(sizeof(*v->map)) };
	ts_steps_init(&v->fx);
	if (!v->map)
		return ts_no_memory(err, "names");
	if (!ts_regset_init(&v->set, arch, UINT32_MAX, err) || !grammar_names(v->map, g, &v->set, err))
		return false;
	grammar_matcher_init(&v->matcher, g, v->map, &v->set);
	return true;
}

static void votes_fini(struct votes *v)
{
	ts_steps_fini(&v->fx);
	ts_regset_fini(&v->set);
	free(v->map);
}

/* What the head says when it is of this processor.  Returns false if that cannot be tried. */
static bool count_votes(const struct grammar *g, const struct ts_arch *arch, const char *head, size_t len,
			struct votes *v, struct ts_error *err)
{
	bool done = votes_init(v, g, arch, err);

	if (done)
		each_line(head, len, vote, v);
	done = done && (!v->fx.is_failed || ts_no_memory(err, "names"));
	votes_fini(v);
	return done;
}

/* How well the processor fits; 0: not at all. */
static unsigned fit(const struct ts_arch *arch, const struct votes *v)
{
	unsigned n_width = arch->addr_bits == 64 ? v->n_wide : v->n_narrow;
	unsigned n_other = arch->addr_bits == 64 ? v->n_narrow : v->n_wide;

	if (!v->n_heads || (arch->addr_bits == 32 && n_other > n_width))
		return 0;
	return 1 + 4 * v->n_regs + 2 * n_width - (v->n_unknown + v->n_bad < 4 * v->n_regs ? v->n_unknown + v->n_bad : 0);
}

/* ------------------------------------------------------------------------------------------------- probing */

/* Is it text at all?  UTF-16 and binary files have NUL bytes. */
static bool is_text(const uint8_t *head, size_t len)
{
	return len && !memchr(head, 0, len);
}

/* The offset of the character of a text that numbers and lists of them have least. */
static size_t find_rare(const char *text, size_t len)
{
	size_t at = strspn(text, "0123456789abcdefx=,: ");

	if (at >= len)
		at = strspn(text, "0123456789abcdefx=,");
	return at < len ? at : 0;
}

static bool has_text(const char *head, size_t len, const char *text, size_t text_len)
{
	const size_t rare = find_rare(text, text_len);
	const char *end = head + len;

	for (const char *p = head; (size_t)(end - p) >= text_len; p++) {
		p = memchr(p + rare, text[rare], (size_t)(end - p) - text_len + 1);
		if (!p)
			return false;
		p -= rare;
		if (!memcmp(p, text, text_len))
			return true;
	}
	return false;
}

/* May there be lines of it?  This is cheap: most files are of none of the grammars, or of one. */
static bool may_tell(const struct grammar_text *g, const char *head, size_t len)
{
	const char *end;

	for (const char *text = g->tells; *text; text = end + 1) {
		end = strchr(text, '\n');
		if (has_text(head, len, text, (size_t)(end - text)))
			return true;
	}
	return !*g->tells;
}

static bool has_sign(const struct grammar *g, const char *head, size_t len)
{
	return !g->sign_len || memmem(head, len, g->texts + g->sign, g->sign_len);
}

/*
 * A format whose grammar gives fewer bits than this is recognized only if at most one line in WEAK_JUNK is junk, and enough lines
 * have registers.
 */
#define WEAK_BITS 32u
#define WEAK_JUNK 8u

/* How many bits of evidence the lines are. */
static unsigned evidence(const struct grammar *g, const struct votes *v)
{
	unsigned n = v->n_heads + v->n_refused;

	if (v->n_noise > n + v->n_signs + v->n_regs / 4 || n + v->n_signs < g->probe_lines)
		return 0;
	if (g->probe_bits < WEAK_BITS && (v->n_noise * WEAK_JUNK > n || v->n_regs < g->probe_lines))
		return 0;
	return n < g->probe_lines ? g->probe_bits / 2 : g->probe_bits;
}

/* As above, for a head whose lines are compared with the grammar. */
static unsigned weigh(const struct grammar_text *text, const uint8_t *head, size_t len)
{
	char padded[TS_PROBE_LEN + REGMAP_MAX_NAME] = { 0 };
	struct grammar *g = malloc(sizeof(*g));
	struct ts_error ignored = { 0 };
	struct votes v = { 0 };
	unsigned bits = 0;

	memcpy(padded, head, len);
	if (g && grammar_compile(g, text->text, strlen(text->text), &ignored)) {
		if (g->begin_len && len >= g->begin_len && !memcmp(padded, g->texts + g->begin, g->begin_len))
			bits = 64;
		else if (has_sign(g, padded, len) && count_votes(g, ts_arch_find(g->archs[0]), padded, len, &v, &ignored))
			bits = evidence(g, &v);
	}
	free(g);
	return bits;
}

unsigned grammar_probe(const char *name, const uint8_t *head, size_t len)
{
	const struct grammar_text *text = grammar_find(name);

	if (len > TS_PROBE_LEN)
		len = TS_PROBE_LEN;
	return is_text(head, len) && may_tell(text, (const char *)head, len) ? weigh(text, head, len) : 0;
}

/* ------------------------------------------------------------------------------------------------- opening */

static const struct ts_arch *arch_of_program(const struct ts_loader_options *opt)
{
	struct ts_error ignored = { 0 };
	struct ts_source *src = opt->exec ? ts_source_open(opt->exec, &ignored) : NULL;
	const struct ts_arch *arch = NULL;
	struct ts_elf elf;

	if (src && ts_elf_init(&elf, src, &ignored)) {
		arch = ts_elf_arch(&elf);
		ts_elf_fini(&elf);
	}
	ts_source_close(src);
	return arch;
}

static bool has_arch(const struct grammar *g, const struct ts_arch *arch)
{
	for (unsigned i = 0; i < g->n_archs; i++) {
		if (arch == ts_arch_find(g->archs[i]))
			return true;
	}
	return false;
}

#define FIRST_LEN 64u

/* No line of the head is an instruction: the first line that is not empty shows what they look like. */
static bool fail_head(const char *head, size_t len, struct ts_error *err)
{
	char shown[FIRST_LEN];
	size_t n = 0, from = 0;

	while (from < len && (head[from] == '\n' || head[from] == '\r'))
		from++;
	for (; from + n < len && n + 1 < sizeof(shown) && head[from + n] && head[from + n] != '\n'; n++)
		shown[n] = head[from + n] >= ' ' && head[from + n] < 0x7f ? head[from + n] : '.';
	shown[n] = 0;
	return ts_fail(err, TS_EUNSUPPORTED, 0, "no instruction line in the first lines, which begin with \"%s\"", shown);
}

/* By --arch, by the program of --exec, or by the names and digits of the head. */
static const struct ts_arch *choose_arch(const struct grammar_log *log, const char *head, size_t len,
					 const struct ts_loader_options *opt, struct ts_error *err)
{
	const struct grammar *g = &log->g;
	const struct ts_arch *best = opt->arch ? ts_arch_find(opt->arch) : arch_of_program(opt);
	unsigned most = 0, n_regs = 0, n_refused = 0;

	if (best && has_arch(g, best))
		return best;
	if (opt->arch) {
		ts_fail(err, TS_EUSAGE, TS_NO_OFF, "--arch %s: not one of this format's processors", opt->arch);
		return NULL;
	}
	best = NULL;
	for (unsigned i = 0; i < g->n_archs; i++) {
		const struct ts_arch *arch = ts_arch_find(g->archs[i]);
		struct votes v;
		unsigned n;

		if (!count_votes(g, arch, head, len, &v, err))
			return NULL;
		n = fit(arch, &v);
		n_refused |= v.n_refused;
		if (n > most) {
			most = n;
			best = arch;
			n_regs = v.n_regs;
		}
	}
	if (!best && n_refused)
		ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "%s", g->refusal);
	if (best && (n_regs || g->n_archs == 1 || !g->has_registers))
		return best;
	if (best)
		ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF,
			"%s lines without registers do not name the processor: give --arch NAME or --exec PROGRAM", g->name);
	else
		fail_head(head, len, err);
	return NULL;
}

/* Features that gdb wants to arrange for an operating system, beside those with listed registers. */
static uint32_t wanted_features(const struct ts_arch *arch)
{
	static const char *const wanted[] = { "org.gnu.gdb.i386.sse", "org.gnu.gdb.i386.segments",
					      "org.tracestub.i386.segments" };

	return ts_arch_features(arch, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

/* Lines that are longer say nothing of the processor. */
#define MAX_HEAD_LINE 2048u
/*
 * The bytes of the beginning of a file that are scanned; if the file begins with the grammar's `begin`, all
 * of it is: modules come before with all of their bytes.
 */
#define MAX_HEAD      (UINT64_C(1) << 28)

/* And so much for lines that say something: others are passed over. */
#define MAX_SEARCHED  (UINT64_C(1) << 23)

/* Is the line one of which nothing is to be learned? */
static bool is_empty(struct votes *v, const struct ts_text_line *line, const char *text)
{
	vote(v, text, line->len - (line->len && line->text[line->len - 1] == '\r'));
	return v->kind == GRAMMAR_NOTE || v->kind == GRAMMAR_NOISE;
}

/* Gather the first lines that are not long, and say something: up to TS_PROBE_LEN bytes. */
static bool gather_lines(struct votes *v, const struct ts_source *src, char *head, size_t *len, struct ts_error *err)
{
	struct ts_line_reader lines;
	struct ts_text_line line;
	enum ts_next next = TS_ITEM;
	uint64_t n_searched = 0, most = v->matcher.g->begin_len ? UINT64_MAX : MAX_HEAD;

	*len = 0;
	ts_line_reader_init(&lines, src, 0, MAX_HEAD_LINE);
	while (next == TS_ITEM && lines.off < most && n_searched < MAX_SEARCHED) {
		next = ts_line_reader_next(&lines, &line, err);
		if (next == TS_FAIL && err->code == TS_ELIMIT) {
			ts_error_reset(err);
			next = ts_line_reader_pass(&lines, err);
			continue;
		}
		if (next != TS_ITEM || line.len + 1 > TS_PROBE_LEN - *len)
			break;
		n_searched += line.len + 1;
		memcpy(head + *len, line.text, line.len);
		memset(head + *len + line.len, 0, REGMAP_MAX_NAME);
		if (is_empty(v, &line, head + *len))
			continue;
		*len += line.len;
		head[(*len)++] = '\n';
	}
	ts_line_reader_fini(&lines);
	return next != TS_FAIL;
}

static bool gather_head(const struct grammar *g, const struct ts_source *src, char *head, size_t *len,
			struct ts_error *err)
{
	const struct ts_arch *arch = ts_arch_find(g->archs[0]);
	struct votes v;
	bool done;

	done = votes_init(&v, g, arch, err) && gather_lines(&v, src, head, len, err);
	votes_fini(&v);
	return done;
}

static bool read_head(struct grammar_log *log, const struct ts_loader_options *opt, struct ts_error *err)
{
	char head[TS_PROBE_LEN + REGMAP_MAX_NAME] = { 0 };
	char first[FIRST_LEN];
	const struct ts_arch *arch;
	struct votes v;
	size_t len;

	if (!ts_source_read(log->src, 0, head, TS_PROBE_LEN, &len, err))
		return false;
	if (!len)
		return ts_fail(err, TS_EUNSUPPORTED, 0, "the file is empty");
	if (len > 1 && (!memcmp(head, "\xff\xfe", 2) || !memcmp(head, "\xfe\xff", 2)))
		return ts_fail(err, TS_EUNSUPPORTED, 0, "UTF-16 text: save it as UTF-8");
	memcpy(first, head, sizeof(first));
	if (!gather_head(&log->g, log->src, head, &len, err))
		return false;
	if (!len)
		return fail_head(first, sizeof(first), err);
	arch = choose_arch(log, head, len, opt, err);
	if (!arch || !count_votes(&log->g, arch, head, len, &v, err))
		return false;
	log->has_registers = v.n_regs;
	log->has_tags = log->g.has_thread && v.n_dumps && v.n_joins && v.n_joins < v.n_heads;
	log->is_threadless = log->g.has_thread && v.n_joins && v.n_joins == v.n_heads;
	log->family = grammar_family_of(arch);
	if (v.n_refused > v.n_heads - v.n_joins)
		return ts_fail(err, TS_EUNSUPPORTED, TS_NO_OFF, "%s (%u of the first %u)", log->g.refusal, v.n_refused,
			       v.n_refused + v.n_heads - v.n_joins);
	return ts_regset_init(&log->base.regs, arch, v.features | wanted_features(arch), err) &&
	       grammar_names(&log->map, &log->g, &log->base.regs, err);
}

/* A module of position 0 that is the program of --exec determines where that lies. */
static bool find_program(const struct ts_steps *initial, const char *path, uint64_t *base)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (uint32_t i = 0; i < initial->n_modules; i++) {
		const char *file = ts_steps_text(initial, initial->modules[i].file), *last;

		if (!file)
			continue;
		last = strrchr(file, '/');
		if (!strcmp(last ? last + 1 : file, name)) {
			*base = initial->modules[i].addr;
			return true;
		}
	}
	return false;
}

static bool add_program(struct grammar_log *log, const struct ts_loader_options *opt, struct ts_error *err)
{
	const uint64_t *base = opt->exec_base;
	uint64_t found;

	if (opt->exec && !base && find_program(&log->base.initial, opt->exec, &found))
		base = &found;
	return kit_program_add(&log->base.memory, opt->exec, base, NULL, NULL, NULL, err);
}

static void add_note(struct ts_recording *rec, const char *name, const char *text)
{
	ts_buf_put(&rec->notes, name, strlen(name) + 1);
	ts_buf_put(&rec->notes, text, strlen(text) + 1);
}

static void describe(struct grammar_log *log)
{
	struct ts_recording *rec = &log->base;
	const struct grammar *g = &log->g;

	snprintf(rec->variant, sizeof(rec->variant), "%.*s%s", log->is_blocks ? 40 : 63, g->summary,
		 log->is_blocks ? ", a line a block" : "");
	rec->has_long_steps = log->is_blocks;
	if (log->is_blocks)
		add_note(rec, "granularity", "a step is the rest of a block, and shows no accesses but what memory holds after it");
	if (g->lacks[0])
		add_note(rec, "not recorded", g->lacks);
	if (g->is_state && !g->has_accesses && rec->memory.n_ranges && ts_decoder_knows(rec->regs.arch))
		add_note(rec, "accesses", "by the program's code and the registers: what other code writes is not seen");
	if (!log->has_registers)
		ts_recording_warn(rec, "this is %s %s trace without registers: stepping and coverage work",
				  strchr("aeiouAEIOU", g->name[0]) ? "an" : "a", g->name);
	if (log->is_threadless)
		ts_recording_warn(rec, "no line names the thread of a dump of registers: several threads are shown as one (QEMU names it with -d exec)");
	rec->is_before = g->is_state && g->has_thread;
	rec->has_reads = g->has_reads && !log->is_blocks;
	rec->absent_events = 1u << TS_EV_SYSCALL | 1u << TS_EV_SIGNAL | 1u << TS_EV_FAULT | 1u << TS_EV_EXIT |
			     1u << TS_EV_THREAD_END;
}

/* Another grammar is another recording, and so is one of which fewer bytes of modules may be kept. */
static void mix_hash(struct grammar_log *log)
{
	log->base.other_files ^= log->g.hash;
	if (log->max_images < ts_source_len(log->src))
		log->base.other_files ^= ~log->max_images;
}

static bool take_grammar(struct grammar_log *log, const struct ts_loader_options *opt, struct ts_error *err)
{
	const struct grammar_text *text = grammar_find(log->base.format);
	char *own;
	size_t len;
	bool done;

	if (text)
		return grammar_compile(&log->g, text->text, strlen(text->text), err);
	if (!opt->grammar)
		return ts_fail(err, TS_EUSAGE, TS_NO_OFF, "--grammar FILE is missing");
	own = malloc(GRAMMAR_MAX_LEN + 1);
	done = own || ts_no_memory(err, "a grammar");
	done = done && ts_source_read(opt->grammar, 0, own, GRAMMAR_MAX_LEN + 1, &len, err) &&
	       grammar_compile(&log->g, own, len, err);
	free(own);
	return done || ts_fail_prefix(err, "%s", ts_source_name(opt->grammar));
}

/* The files of other threads distinguish the recording from others. */
static const struct ts_source *take_files(struct grammar_log *log, const struct ts_source *src,
					  const struct ts_loader_options *opt, struct ts_error *err)
{
	uint64_t *hash = &log->base.other_files;

	for (size_t i = 0; i < opt->n_threads; i++) {
		*hash = (*hash ^ ts_source_len(opt->threads[i])) * UINT64_C(0x9e3779b97f4a7c15);
		*hash = (*hash ^ ts_source_mtime(opt->threads[i])) * UINT64_C(0x9e3779b97f4a7c15);
	}
	if (opt->n_threads)
		ts_recording_warn(&log->base, "when the threads ran is not in their files: they are shown one after the "
					      "other, each with the memory that it saw itself");
	return grammar_parts_init(&log->parts, src, opt->threads, opt->n_threads, err);
}

bool grammar_fill(struct ts_recording *base, const struct ts_source *src, const struct ts_loader_options *opt,
		  struct ts_error *err)
{
	struct grammar_log *log = (struct grammar_log *)base;

	log->src = take_files(log, src, opt, err);
	if (!log->src)
		return false;
	grammar_damages_init(&log->damages, base, &log->parts);
	log->max_images = opt->max_memory ? opt->max_memory / GRAMMAR_IMAGES_OF_MEMORY : UINT64_MAX;
	if (!take_grammar(log, opt, err) || !read_head(log, opt, err) || !grammar_read_start(log, err))
		return false;
	if (log->g.is_state && log->base.initial.n_modules && !grammar_find_blocks(log, err))
		return false;
	if (!grammar_find(base->format) && !grammar_count_lines(log, err))
		return false;
	mix_hash(log);
	if (!add_program(log, opt, err))
		return false;
	describe(log);
	return (!base->initial.is_failed && !base->notes.is_failed) || ts_no_memory(err, "the state at position 0");
}

void grammar_close(struct ts_recording *base)
{
	struct grammar_log *log = (struct grammar_log *)base;

	grammar_files_fini(&log->files);
	grammar_parts_fini(&log->parts);
}

struct ts_reader *grammar_reader(struct ts_recording *base, struct ts_error *err)
{
	return grammar_reader_new((struct grammar_log *)base, err);
}
