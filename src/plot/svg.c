/* SPDX-License-Identifier: MIT */
#include "plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "escape.h"

const struct ts_plot_bounds ts_svg_bounds = {
	.max_cols = 1000,
	.max_code_rows = 80,
	.max_data_rows = 64,
	.max_filled = 40000,
	.max_calls = 1500,
	.max_marks = 250,
};

/* Pixels. */
#define LEFT	   180u
#define WIDTH	   1000u
#define RIGHT	   44u /* room for half of the last position */
#define ROW	   4u  /* of code and memory */
#define BAR	   13u /* of calls, functions, events, threads */
#define GAP	   12u /* between bands */
#define CHAR_WIDTH 6.2 /* of a label's characters, about */

struct drawing {
	struct ts_buf *out;
	const struct ts_plot *plot;
	unsigned y; /* where the next band begins */
};

/* The pixel of a position. */
static double x_of(const struct drawing *d, uint64_t pos)
{
	const struct ts_plot *p = d->plot;

	if (pos <= p->from)
		return LEFT;
	if (pos >= p->to)
		return LEFT + WIDTH;
	return LEFT + (double)(pos - p->from) * WIDTH / (double)(p->to - p->from);
}

static void put_text(const struct drawing *d, double x, double y, const char *style, const char *text)
{
	ts_buf_printf(d->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, style);
	ts_put_xml(d->out, text);
	ts_buf_puts(d->out, "</text>\n");
}

/* What the rows left of the axis belong to: with "..." if it is longer than the room there. */
static void put_owner(const struct drawing *d, double y, const char *text)
{
	size_t room = (size_t)((LEFT - 16) / CHAR_WIDTH), len = strlen(text);
	char shown[64];

	if (len > room) {
		len = room - 3;
		while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
			len--; /* to where a character begins */
		snprintf(shown, sizeof(shown), "%.*s...", (int)len, text);
		text = shown;
	}
	put_text(d, LEFT - 8, y, "owner", text);
}

/* The heading of the band that begins at d->y; it takes a line. */
static void put_heading(struct drawing *d, const char *text)
{
	d->y += GAP + BAR;
	put_text(d, 8, d->y - 4, "heading", text);
}

/* A colour that belongs to a name. */
static void put_colour(const struct drawing *d, const char *name)
{
	uint32_t hash = 2166136261u;

	for (const char *c = name ? name : ""; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	if (name)
		ts_buf_printf(d->out, "hsl(%u,55%%,%u%%)", (hash >> 8) % 360, 72 + hash % 12);
	else
		ts_buf_puts(d->out, "#ddd");
}

/* A bar of a name over positions [from, until), with the name in it if there is room. */
static void put_bar(const struct drawing *d, uint64_t from, uint64_t until, unsigned y, const char *name)
{
	double x = x_of(d, from), width = x_of(d, until) - x;
	size_t room = width > 8 ? (size_t)((width - 4) / CHAR_WIDTH) : 0;

	ts_buf_printf(d->out, "<g><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\" fill=\"", x, y,
		      width < 0.3 ? 0.3 : width, BAR - 1);
	put_colour(d, name);
	ts_buf_puts(d->out, "\"/><title>");
	ts_put_xml(d->out, name ? name : "unknown function");
	ts_buf_printf(d->out, ", %" PRIu64 ":%" PRIu64 "</title>", from, until);
	if (name && strlen(name) <= room)
		put_text(d, x + 3, y + BAR - 3.5, "bar", name);
	ts_buf_puts(d->out, "</g>\n");
}

/* ------------------------------------------------------------------------------------------------ time */

/* 1, 2 or 5 times a power of ten, so that there are about ten of them. */
static uint64_t tick_step(uint64_t len)
{
	static const unsigned factors[] = { 2, 5, 10 };
	uint64_t power = 1;

	for (;; power *= 10) {
		if (len / power <= 10)
			return power;
		for (unsigned i = 0; i < 2; i++) {
			if (len / (power * factors[i]) <= 10)
				return power * factors[i];
		}
	}
}

static void put_number(const struct drawing *d, uint64_t n)
{
	if (n >= 1000) {
		put_number(d, n / 1000);
		ts_buf_printf(d->out, ",%03" PRIu64, n % 1000);
	} else {
		ts_buf_printf(d->out, "%" PRIu64, n);
	}
}

static void put_time(struct drawing *d, unsigned bottom)
{
	const struct ts_plot *p = d->plot;
	uint64_t step = tick_step(p->to - p->from), first = (p->from + step - 1) / step * step;

	ts_buf_puts(d->out, "<g id=\"time\">\n");
	for (uint64_t pos = first; pos <= p->to && pos >= first; pos += step) {
		ts_buf_printf(
			d->out,
			"<path d=\"M%.1f %uV%u\" class=\"tick\"/><text x=\"%.1f\" y=\"%u\" class=\"time\">",
			x_of(d, pos), d->y + 4, bottom, x_of(d, pos), d->y);
		put_number(d, pos);
		ts_buf_puts(d->out, "</text>\n");
	}
	ts_buf_puts(d->out, "</g>\n");
}

/* ----------------------------------------------------------------------------------------------- bands */

/* The cells of one level, row by row: a path in columns and rows. */
static void put_level(const struct drawing *d, const struct ts_grid *g, unsigned level, uint32_t max,
		      const char *style)
{
	bool is_empty = true;

	for (uint32_t row = 0; row < g->n_rows; row++) {
		for (uint32_t col = 0, end; col < g->n_cols; col = end) {
			end = col + 1;
			if (ts_grid_level(g->cells[(size_t)col * g->n_rows + row], max) != level)
				continue;
			while (end < g->n_cols &&
			       ts_grid_level(g->cells[(size_t)end * g->n_rows + row], max) == level)
				end++;
			if (is_empty)
				ts_buf_printf(d->out, "<path class=\"%s%u\" d=\"", style, level);
			is_empty = false;
			ts_buf_printf(d->out, "M%" PRIu32 " %" PRIu32 "h%" PRIu32, col, row, end - col);
		}
	}
	if (!is_empty)
		ts_buf_puts(d->out, "\"/>\n");
}

static void put_grid(const struct drawing *d, const struct ts_grid *g, unsigned row_height, const char *style)
{
	const struct ts_plot *p = d->plot;
	double scale = (double)WIDTH / (double)(p->to - p->from),
	       width = scale * (double)(UINT64_C(1) << g->shift);
	uint32_t max = ts_grid_max(g);

	/* columns may begin before the range: the clip leaves that out */
	ts_buf_printf(d->out,
		      "<g clip-path=\"url(#range)\"><g transform=\"translate(%.4f %.1f) scale(%.8f %u)\">\n",
		      LEFT - scale * (double)(p->from - g->origin), d->y + row_height / 2.0, width,
		      row_height);
	for (unsigned level = 1; level <= TS_GRID_LEVELS; level++)
		put_level(d, g, level, max, style);
	ts_buf_puts(d->out, "</g></g>\n");
}

static void put_areas(const struct drawing *d, const struct ts_areas *areas)
{
	char range[64];
	unsigned last_y = 0;

	for (size_t i = 0; i < areas->n; i++) {
		const struct ts_area *a = &areas->items[i];
		const char *name = ts_labels_text(&d->plot->labels, a->label);
		unsigned y = d->y + a->row * ROW;

		snprintf(range, sizeof(range), "0x%" PRIx64 "-0x%" PRIx64, a->first, a->last);
		ts_buf_printf(d->out, "<path d=\"M%u %uh%u\" class=\"area\"/>", LEFT - 6, y, WIDTH + 6);
		if (last_y && y < last_y + 10)
			continue; /* no room for its name: the line has a title */
		last_y = y;
		ts_buf_printf(d->out, "<g><title>%s</title>", range);
		put_owner(d, y + 9, name ? name : range);
		ts_buf_puts(d->out, "</g>\n");
	}
}

static void put_functions(struct drawing *d)
{
	const struct ts_plot *p = d->plot;
	uint32_t end;

	put_heading(d, p->code.shift ? "function (most steps of a column)" : "function");
	ts_buf_puts(d->out, "<g id=\"functions\">\n");
	for (uint32_t col = 0; col < p->code.n_cols; col = end) {
		for (end = col + 1; end < p->code.n_cols && p->functions[end] == p->functions[col];)
			end++;
		put_bar(d, ts_grid_pos(&p->code, col), ts_grid_pos(&p->code, end), d->y,
			ts_labels_text(&p->labels, p->functions[col]));
	}
	ts_buf_puts(d->out, "</g>\n");
	d->y += BAR;
}

static void put_code(struct drawing *d)
{
	put_heading(d, "executed addresses");
	ts_buf_puts(d->out, "<g id=\"code\">\n");
	put_areas(d, &d->plot->code_areas);
	put_grid(d, &d->plot->code, ROW, "c");
	ts_buf_puts(d->out, "</g>\n");
	d->y += d->plot->code_areas.n_rows * ROW;
}

static void put_memory(struct drawing *d)
{
	put_heading(d, d->plot->has_reads ? "memory: written (red), read (blue)" :
					    "memory: written (what was read was not recorded)");
	ts_buf_puts(d->out, "<g id=\"memory\">\n");
	put_areas(d, &d->plot->data_areas);
	put_grid(d, &d->plot->reads, ROW, "r");
	put_grid(d, &d->plot->writes, ROW, "w");
	ts_buf_puts(d->out, "</g>\n");
	d->y += d->plot->data_areas.n_rows * ROW;
}

static void put_threads(struct drawing *d)
{
	const struct ts_plot *p = d->plot;

	put_heading(d, "threads");
	ts_buf_puts(d->out, "<g id=\"threads\">\n");
	for (uint32_t i = 0; i < p->threads.n_rows; i++)
		put_owner(d, d->y + i * BAR + 10, ts_labels_text(&p->labels, p->thread_labels[i]));
	put_grid(d, &p->threads, BAR, "t");
	ts_buf_puts(d->out, "</g>\n");
	d->y += p->threads.n_rows * BAR;
}

static void put_mark(const struct drawing *d, const char *kind, const struct ts_timeline_mark *m)
{
	const char *name = ts_labels_text(&d->plot->labels, m->label);

	ts_buf_printf(d->out,
		      "<g><rect x=\"%.1f\" y=\"%u\" width=\"2\" height=\"%u\" class=\"mark\"/><title>",
		      x_of(d, m->pos) - 1, d->y, BAR - 2);
	ts_put_xml(d->out, name ? name : kind);
	if (m->n > 1)
		ts_buf_printf(d->out, " and %" PRIu64 " more", m->n - 1);
	ts_buf_printf(d->out, " at %" PRIu64 "</title></g>\n", m->pos);
}

/* Names of marks, where they do not run into each other. */
static void put_mark_names(const struct drawing *d, const struct ts_mark_list *l)
{
	double free_from = 0;

	for (size_t i = 0; i < l->n; i++) {
		const char *name = ts_labels_text(&d->plot->labels, l->items[i].label);
		double x = x_of(d, l->items[i].pos) + 3, end = x + (name ? (double)strlen(name) * CHAR_WIDTH : 0);
		double next = i + 1 < l->n ? x_of(d, l->items[i + 1].pos) : LEFT + WIDTH + RIGHT;

		if (!name || x < free_from || end > next)
			continue;
		put_text(d, x, d->y + 9, "bar", name);
		free_from = end;
	}
}

static void put_marks(struct drawing *d)
{
	put_heading(d, "events");
	ts_buf_puts(d->out, "<g id=\"events\">\n");
	for (unsigned kind = 0; kind < TS_N_MARK_KINDS; kind++) {
		const struct ts_mark_list *l = &d->plot->marks.kinds[kind];

		if (!l->n)
			continue;
		put_owner(d, d->y + 9, ts_mark_kind_name(kind));
		for (size_t i = 0; i < l->n; i++)
			put_mark(d, ts_mark_kind_name(kind), &l->items[i]);
		put_mark_names(d, l);
		d->y += BAR;
	}
	ts_buf_puts(d->out, "</g>\n");
}

/* How deep the calls were, where bars are left out: in grey behind them. */
static void put_depths(const struct drawing *d, const struct ts_call_thread *t)
{
	const struct ts_grid *g = &d->plot->code;

	ts_buf_printf(d->out, "<path class=\"depth\" d=\"M%u %u", LEFT, d->y);
	for (uint32_t col = 0; col < g->n_cols; col++) {
		uint32_t depth = t->depths[col] < TS_CALL_DEPTHS ? t->depths[col] : TS_CALL_DEPTHS;

		if (!col || t->depths[col] != t->depths[col - 1])
			ts_buf_printf(d->out, "H%.1fV%u", x_of(d, ts_grid_pos(g, col)), d->y + depth * BAR);
	}
	ts_buf_printf(d->out, "H%uV%uZ\"/>\n", LEFT + WIDTH, d->y);
}

static void put_calls(struct drawing *d)
{
	const struct ts_call_bars *b = &d->plot->calls;
	char heading[300];

	if (*b->why)
		snprintf(heading, sizeof(heading), "calls: %s", b->why);
	else if (!b->n_threads)
		snprintf(heading, sizeof(heading), "calls: none were recorded here");
	else if (b->min_len)
		snprintf(heading, sizeof(heading),
			 "calls of %" PRIu64 " steps or more; grey: how deep the others are", b->min_len);
	else
		snprintf(heading, sizeof(heading), "calls");
	put_heading(d, heading);
	ts_buf_puts(d->out, "<g id=\"calls\">\n");
	for (unsigned i = 0; i < b->n_threads; i++) {
		const struct ts_call_thread *t = &b->threads[i];
		uint32_t depth = t->max_depth < TS_CALL_DEPTHS ? t->max_depth : TS_CALL_DEPTHS;

		put_owner(d, d->y + 10, ts_labels_text(&d->plot->labels, t->label));
		put_depths(d, t);
		for (size_t k = 0; k < t->n; k++)
			put_bar(d, t->bars[k].from, t->bars[k].until, d->y + (t->bars[k].depth - 1) * BAR,
				ts_labels_text(&d->plot->labels, t->bars[k].label));
		d->y += depth * BAR + 4;
	}
	ts_buf_puts(d->out, "</g>\n");
}

/* -------------------------------------------------------------------------------------------- the file */

static void put_style(struct ts_buf *out, const char *style, unsigned hue)
{
	for (unsigned level = 1; level <= TS_GRID_LEVELS; level++)
		ts_buf_printf(out, ".%s%u{stroke:hsl(%u,75%%,%u%%)}\n", style, level, hue,
			      82 - level * 52 / TS_GRID_LEVELS);
}

static void put_styles(struct ts_buf *out)
{
	ts_buf_puts(out, "<style>\ntext{font:10px sans-serif;fill:#222}\npath{fill:none;stroke-width:1}\n"
			 ".title{font-size:14px;font-weight:bold}\n.heading{font-weight:bold}\n"
			 ".owner{text-anchor:end}\n.time{text-anchor:middle;fill:#555}\n.bar{pointer-events:none}\n"
			 ".tick{stroke:#e6e6e6}\n.area{stroke:#bbb;stroke-dasharray:2 3}\n.mark{fill:#a33}\n"
			 ".depth{fill:#ececec}\n");
	put_style(out, "c", 150);
	put_style(out, "w", 0);
	put_style(out, "r", 215);
	put_style(out, "t", 275);
	ts_buf_puts(out, "</style>\n");
}

static void put_title(struct drawing *d, const char *title)
{
	const struct ts_plot *p = d->plot;

	ts_buf_printf(d->out, "<text x=\"8\" y=\"20\" class=\"title\">");
	ts_put_xml(d->out, title);
	ts_buf_puts(d->out, ", positions ");
	put_number(d, p->from);
	ts_buf_puts(d->out, " to ");
	put_number(d, p->to);
	ts_buf_puts(d->out, "</text>\n");
	if (ts_plot_left_out(p))
		put_text(d, LEFT + WIDTH, 20, "owner", ts_plot_left_out(p));
}

void ts_svg_put(struct ts_buf *out, const struct ts_plot *p, const char *title)
{
	struct ts_buf bands;
	struct drawing d = { .out = &bands, .plot = p, .y = 44 };
	unsigned top = d.y;

	ts_buf_init(&bands);
	put_functions(&d);
	put_calls(&d);
	put_code(&d);
	put_memory(&d);
	put_threads(&d);
	put_marks(&d);
	ts_buf_printf(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\">\n<title>",
		LEFT + WIDTH + RIGHT, d.y + GAP, LEFT + WIDTH + RIGHT, d.y + GAP);
	ts_put_xml(out, title);
	ts_buf_puts(out, "</title>\n");
	put_styles(out);
	ts_buf_printf(out,
		      "<clipPath id=\"range\"><rect x=\"%u\" y=\"0\" width=\"%u\" height=\"%u\"/></clipPath>\n"
		      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		      LEFT, WIDTH, d.y);
	d.out = out;
	put_title(&d, title);
	put_time(&(struct drawing){ .out = out, .plot = p, .y = top }, d.y);
	if (ts_buf_ok(&bands))
		ts_buf_put(out, bands.data, bands.len);
	out->is_failed |= !ts_buf_ok(&bands);
	ts_buf_fini(&bands);
	ts_buf_puts(out, "</svg>\n");
}
