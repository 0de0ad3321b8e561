/* SPDX-License-Identifier: MIT */
#include "plot.h"

#include <inttypes.h>

#include "escape.h"

/* plot.css and plot.js, as they are in the source (page.c is made of them). */
extern const char ts_plot_css[], ts_plot_js[];

const struct ts_plot_bounds ts_html_bounds = {
	.max_cols = 8192,
	.max_code_rows = 128,
	.max_data_rows = 96,
	.max_filled = 60000,
	.max_calls = 12000,
	.max_marks = 1024,
};

static void put_base36(struct ts_buf *out, uint64_t n)
{
	char digits[16];
	unsigned len = 0;

	do {
		digits[len++] = "0123456789abcdefghijklmnopqrstuvwxyz"[n % 36];
		n /= 36;
	} while (n);
	while (len)
		ts_buf_putc(out, (uint8_t)digits[--len]);
}

/* A label as an index into the names; -1: not known. */
static void put_label(struct ts_buf *out, uint32_t label)
{
	if (label == TS_NO_LABEL)
		ts_buf_puts(out, "-1");
	else
		ts_buf_printf(out, "%" PRIu32, label);
}

static void put_names(struct ts_buf *out, const struct ts_labels *labels)
{
	for (uint32_t i = 0; i < labels->n; i++) {
		ts_buf_puts(out, i ? ",\n" : "");
		ts_put_json(out, labels->items[i]);
	}
}

/*
 * A row's cells, as plot.js reads them (decodeRow): runs of equal levels, each a letter ('.' for 0, 'A' for
 * 1, ...) and how many columns it goes on for, in base 36, if they are more than one.
 */
static void put_row(struct ts_buf *out, const struct ts_grid *g, uint32_t row, uint32_t max)
{
	uint32_t end;

	for (uint32_t col = 0; col < g->n_cols; col = end) {
		unsigned level = ts_grid_level(g->cells[(size_t)col * g->n_rows + row], max);

		for (end = col + 1; end < g->n_cols; end++) {
			if (ts_grid_level(g->cells[(size_t)end * g->n_rows + row], max) != level)
				break;
		}
		if (!level && end == g->n_cols)
			break;
		ts_buf_putc(out, level ? (uint8_t)('A' + level - 1) : '.');
		if (end - col > 1)
			put_base36(out, end - col);
	}
}

static void put_grid(struct ts_buf *out, const char *name, const struct ts_grid *g)
{
	uint32_t max = ts_grid_max(g);

	ts_buf_printf(out,
		      "\"%s\":{\"origin\":%" PRIu64 ",\"width\":%" PRIu64 ",\"cols\":%" PRIu32 ",\"rows\":[",
		      name, g->origin, UINT64_C(1) << g->shift, g->n_cols);
	for (uint32_t row = 0; row < g->n_rows; row++) {
		ts_buf_puts(out, row ? ",\"" : "\"");
		put_row(out, g, row, max);
		ts_buf_putc(out, '"');
	}
	ts_buf_puts(out, "]},\n");
}

/* Addresses are texts: they do not fit a number of JavaScript. */
static void put_areas(struct ts_buf *out, const char *name, const struct ts_areas *a)
{
	ts_buf_printf(out, "\"%s\":[", name);
	for (size_t i = 0; i < a->n; i++) {
		const struct ts_area *x = &a->items[i];

		ts_buf_printf(out,
			      "%s{\"first\":\"0x%" PRIx64 "\",\"last\":\"0x%" PRIx64 "\",\"step\":\"%" PRIu64
			      "\"",
			      i ? "," : "", x->first, x->last, x->step);
		ts_buf_printf(out,
			      ",\"row\":%" PRIu32 ",\"rows\":%" PRIu32 ",\"process\":%" PRIu32 ",\"name\":",
			      x->row, x->n_rows, x->process);
		put_label(out, x->label);
		ts_buf_putc(out, '}');
	}
	ts_buf_puts(out, "],\n");
}

/* The functions of columns: a label and for how many columns, in turn. */
static void put_functions(struct ts_buf *out, const struct ts_plot *p)
{
	uint32_t end;

	ts_buf_puts(out, "\"functions\":[");
	for (uint32_t col = 0; col < p->code.n_cols; col = end) {
		for (end = col + 1; end < p->code.n_cols && p->functions[end] == p->functions[col];)
			end++;
		ts_buf_puts(out, col ? "," : "");
		put_label(out, p->functions[col]);
		ts_buf_printf(out, ",%" PRIu32, end - col);
	}
	ts_buf_puts(out, "],\n");
}

static void put_pcs(struct ts_buf *out, const struct ts_plot *p)
{
	ts_buf_puts(out, "\"pcs\":\"");
	for (uint32_t col = 0; p->pcs && col < p->code.n_cols; col++) {
		ts_buf_puts(out, col ? " " : "");
		if (p->pcs[col] != TS_NO_PC)
			ts_buf_printf(out, "%" PRIx64, p->pcs[col]);
	}
	ts_buf_puts(out, "\",\n");
}

static void put_thread_labels(struct ts_buf *out, const struct ts_plot *p)
{
	ts_buf_puts(out, "\"threadNames\":[");
	for (uint32_t i = 0; i < p->threads.n_rows; i++) {
		ts_buf_puts(out, i ? "," : "");
		put_label(out, p->thread_labels[i]);
	}
	ts_buf_puts(out, "],\n");
}

/* A bar is four numbers: how far after the bar before it begins, its length, its depth, its label. */
static void put_call_thread(struct ts_buf *out, const struct ts_call_thread *x, uint64_t from,
			    uint32_t n_cols)
{
	uint64_t before = from;

	ts_buf_puts(out, "{\"name\":");
	put_label(out, x->label);
	ts_buf_printf(out, ",\"maxDepth\":%" PRIu32 ",\"bars\":[", x->max_depth);
	for (size_t i = 0; i < x->n; i++) {
		const struct ts_call_bar *b = &x->bars[i];

		ts_buf_printf(out, "%s%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",", i ? "," : "", b->from - before,
			      b->until - b->from, b->depth);
		put_label(out, b->label);
		before = b->from;
	}
	ts_buf_puts(out, "],\"depths\":\"");
	for (uint32_t col = 0; col < n_cols; col++) {
		ts_buf_puts(out, col ? " " : "");
		if (!col || x->depths[col] != x->depths[col - 1])
			put_base36(out, x->depths[col]);
	}
	ts_buf_puts(out, "\"}");
}

static void put_calls(struct ts_buf *out, const struct ts_plot *p)
{
	ts_buf_printf(out, "\"calls\":{\"minLength\":%" PRIu64 ",\"leftOut\":%" PRIu32 ",\"why\":",
		      p->calls.min_len, p->calls.n_left_out);
	ts_put_json(out, p->calls.why);
	ts_buf_puts(out, ",\"threads\":[");
	for (unsigned i = 0; i < p->calls.n_threads; i++) {
		ts_buf_puts(out, i ? ",\n" : "");
		put_call_thread(out, &p->calls.threads[i], p->from, p->code.n_cols);
	}
	ts_buf_puts(out, "]},\n");
}

/* A mark is three numbers: its position, how many events, its label. */
static void put_marks(struct ts_buf *out, const struct ts_plot *p)
{
	const char *comma = "";

	ts_buf_puts(out, "\"marks\":[");
	for (unsigned kind = 0; kind < TS_N_MARK_KINDS; kind++) {
		const struct ts_mark_list *l = &p->marks.kinds[kind];

		if (!l->n)
			continue;
		ts_buf_printf(out, "%s{\"kind\":\"%s\",\"items\":[", comma, ts_mark_kind_name(kind));
		for (size_t i = 0; i < l->n; i++) {
			ts_buf_printf(out, "%s%" PRIu64 ",%" PRIu64 ",", i ? "," : "", l->items[i].pos, l->items[i].n);
			put_label(out, l->items[i].label);
		}
		ts_buf_puts(out, "]}");
		comma = ",\n";
	}
	ts_buf_puts(out, "]");
}

static void put_data(struct ts_buf *out, const struct ts_plot *p, const char *title)
{
	ts_buf_puts(out, "{\"title\":");
	ts_put_json(out, title);
	ts_buf_puts(out, ",\n\"leftOut\":");
	ts_put_json(out, ts_plot_left_out(p) ? ts_plot_left_out(p) : "");
	ts_buf_printf(out,
		      ",\n\"from\":%" PRIu64 ",\"to\":%" PRIu64
		      ",\"hasReads\":%s,\"isExact\":%s,\n\"names\":[",
		      p->from, p->to, p->has_reads ? "true" : "false", p->is_exact ? "true" : "false");
	put_names(out, &p->labels);
	ts_buf_puts(out, "],\n");
	put_areas(out, "codeAreas", &p->code_areas);
	put_areas(out, "dataAreas", &p->data_areas);
	put_grid(out, "code", &p->code);
	put_grid(out, "writes", &p->writes);
	put_grid(out, "reads", &p->reads);
	put_grid(out, "threads", &p->threads);
	put_functions(out, p);
	put_pcs(out, p);
	put_thread_labels(out, p);
	put_calls(out, p);
	put_marks(out, p);
	ts_buf_puts(out, "}\n");
}

void ts_html_put(struct ts_buf *out, const struct ts_plot *p, const char *title)
{
	ts_buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
			 "script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n<title>");
	ts_put_xml(out, title);
	ts_buf_puts(out, "</title>\n<style>\n");
	ts_buf_puts(out, ts_plot_css);
	ts_buf_puts(out, "</style>\n</head>\n<body>\n"
			 "<header><h1 id=\"title\"></h1><span id=\"view\"></span><span id=\"hint\"></span></header>\n"
			 "<p id=\"readout\"></p>\n"
			 "<canvas id=\"plot\" tabindex=\"0\"></canvas>\n"
			 "<p id=\"copied\"></p>\n"
			 "<noscript>This picture is drawn by a script in this file.</noscript>\n"
			 "<script type=\"application/json\" id=\"data\">\n");
	put_data(out, p, title);
	ts_buf_puts(out, "</script>\n<script>\n");
	ts_buf_puts(out, ts_plot_js);
	ts_buf_puts(out, "</script>\n</body>\n</html>\n");
}
