/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <inttypes.h>

#define NS_A_SECOND 1e9

/* 999, 1.0 k, 1.2 M, 34.5 G */
static void put_amount(double n, struct ts_buf *out)
{
	static const char letters[] = { 'k', 'M', 'G', 'T' };
	unsigned i = 0;

	if (n < 999.5) {
		ts_buf_printf(out, "%.0f", n);
		return;
	}
	for (n /= 1000; n >= 999.95 && i + 1 < sizeof(letters); i++)
		n /= 1000;
	ts_buf_printf(out, "%.1f %c", n, letters[i]);
}

static void put_time(double seconds, struct ts_buf *out)
{
	uint64_t s = seconds < 1e9 ? (uint64_t)(seconds + 0.5) : UINT64_C(1000000000);

	if (s < 60)
		ts_buf_printf(out, "%" PRIu64 " s", s);
	else if (s < 3600)
		ts_buf_printf(out, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else
		ts_buf_printf(out, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
}

void ts_progress_put(const struct ts_progress *begun, double share, uint64_t n, const char *unit,
		     int64_t now_ns, struct ts_buf *out)
{
	double seconds = (double)(now_ns - begun->start_ns) / NS_A_SECOND;

	if (share >= 0)
		ts_buf_printf(out, "%u%%, ", (unsigned)(share < 1 ? share * 100 : 100));
	put_amount((double)n, out);
	ts_buf_printf(out, " %s", unit);
	if (seconds > 0 && n > begun->n) {
		ts_buf_puts(out, ", ");
		put_amount((double)(n - begun->n) / seconds, out);
		ts_buf_puts(out, "/s");
	}
	if (seconds > 0 && begun->share >= 0 && share > begun->share && share <= 1) {
		ts_buf_puts(out, ", ");
		put_time(seconds * (1 - share) / (share - begun->share), out);
		ts_buf_puts(out, " left");
	}
}
