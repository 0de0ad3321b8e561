/* SPDX-License-Identifier: MIT */
/*
 * Clients are served while the recording is still being read: they wait for what is not read yet, can
 * interrupt that, and are told how far it is.
 */
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "script.h"
#include "server_case.h"
#include "src/timeline/timeline.h"

static atomic_bool may_read;

static struct script *make_long(void)
{
	static const uint32_t process_of[] = { 0 };
	struct script *s = script_new("x86_64", 1, process_of);

	for (unsigned i = 0; i < 300000; i++)
		ts_steps_close(&s->steps, 0x401000 + i % 8, 1, 0);
	s->end = (struct ts_end){ .pc = 0x401000, .has_pc = true };
	return s;
}

static bool read_some(void *user)
{
	struct ts_error err = { 0 };
	bool has_more;

	(void)user;
	if (!atomic_load(&may_read)) {
		usleep(1000);
		return true;
	}
	has_more = ts_timeline_grow(fake.tl, 4096, &err) == TS_MORE;
	ts_query_refresh(fake.q);
	return has_more;
}

static void start_reading(void)
{
	const struct fake_options growing = { .make = make_long, .n_read = 1 };

	fake_again(&growing);
	opt.grow = read_some;
	start("./socket");
	dial(&a);
	dial(&b);
	expect_served(&b);
}

START_TEST(a_run_waits_for_what_is_not_read_and_can_be_interrupted)
{
	start_reading();
	say(&a, "vCont;c");
	expect_served(&b);
	expect_silent(&a);
	send_bytes(&a, "\x03", 1);
	ck_assert_int_eq(strncmp(hear(&a), "T02", 3), 0);
	say(&a, "vCont;c");
	say(&a, "qC"); /* is answered after it */
	expect_served(&b);
	expect_silent(&a);
	atomic_store(&may_read, true);
	ck_assert_int_eq(strncmp(hear(&a), "T05replaylog:end;", 17), 0);
	ck_assert_str_eq(hear(&a), "QC3e8");
	stop();
}
END_TEST

START_TEST(a_client_that_waits_is_told_how_far_it_is)
{
	start_reading();
	say(&a, "qRcmd,77616974"); /* wait */
	ck_assert_msg(!strncmp(hear(&a), "O7265616420736f206661723a20", 27), "%s", a.reply); /* "read so far: " */
	atomic_store(&may_read, true);
	while (hear(&a)[0] == 'O' && a.reply[1] != 'K')
		;
	ck_assert_int_eq(a.reply[0], '7'); /* "the recording has been read" in hex */
	stop();
}
END_TEST

START_TEST(packets_wait_up_to_a_limit)
{
	char payload[201], packet[256];
	unsigned n;

	memset(payload, 'u', 200); /* known by nobody */
	payload[200] = '\0';
	start_reading();
	say(&a, "vCont;c");
	n = push(&a, &b, packet, frame(packet, payload), 1000000);
	ck_assert_uint_lt(n, 1000000);
	ck_assert_uint_gt(n, (1 << 20) / 250); /* it took a MiB and is read no more */
	atomic_store(&may_read, true);
	ck_assert_int_eq(strncmp(hear(&a), "T05replaylog:end;", 17), 0);
	for (unsigned i = 0; i < n; i++)
		ck_assert_str_eq(hear(&a), "");
	stop();
}
END_TEST

START_TEST(a_client_that_goes_while_it_waits_is_forgotten)
{
	start_reading();
	say(&a, "vCont;c");
	expect_served(&b);
	hang_up(&a);
	expect_served(&b);
	dial(&a);
	say(&a, "vCont;c");
	say(&a, "vCont;c");
	expect_served(&b);
	shutdown(a.fd, SHUT_WR); /* its runs are ended */
	ck_assert_int_eq(strncmp(hear(&a), "T02", 3), 0);
	ck_assert_int_eq(strncmp(hear(&a), "T02", 3), 0);
	expect_end(&a);
	stop();
}
END_TEST

START_TEST(an_interrupt_is_for_the_packet_before_it)
{
	char text[100];
	size_t len;

	start_reading();
	len = frame(text, "vCont;c");
	text[len++] = 3;
	len += frame(text + len, "qC");
	send_bytes(&a, text, len); /* all at once */
	ck_assert_int_eq(strncmp(hear(&a), "T02", 3), 0);
	ck_assert_str_eq(hear(&a), "QC3e8");
	stop();
}
END_TEST

/*
 * The positions 0, 8 and so on up to 300,000 have one: more than one slice's.  When both clients have begun, nothing but
 * position 0 has been read.
 */
START_TEST(clients_collect_frames_side_by_side)
{
	static const char *const packets[] = { "QTinit", "QTDP:1:0000000000401000:E:0:0", "QTStart" };
	struct client *const both[] = { &a, &b };

	start_reading();
	for (unsigned i = 0; i < 2; i++) {
		ask(both[i], "qRcmd,636f6c6c65637420616c6c"); /* collect all */
		for (unsigned k = 0; k < 3; k++)
			ck_assert_str_eq(ask(both[i], packets[k]), "OK");
	}
	for (unsigned i = 0; i < 2; i++) /* both wait for the rest of the recording, and begin then */
		ck_assert_int_eq(strncmp(ask(both[i], "qTStatus"), "T1;tnotrun:0;tframes:0;", 23), 0);
	atomic_store(&may_read, true);
	for (unsigned i = 0; i < 2; i++) {
		while (!strncmp(ask(both[i], "qTStatus"), "T1", 2))
			;
		ck_assert_msg(strstr(both[i]->reply, ";tframes:927d;") != NULL, "%s", both[i]->reply);
	}
	stop();
}
END_TEST

static void begin(void)
{
	atomic_store(&may_read, false);
	setup();
}

UNIT_FIXTURE_SUITE("server_reading", begin, fake_end, a_run_waits_for_what_is_not_read_and_can_be_interrupted,
		   a_client_that_waits_is_told_how_far_it_is, packets_wait_up_to_a_limit,
		   a_client_that_goes_while_it_waits_is_forgotten, an_interrupt_is_for_the_packet_before_it,
		   clients_collect_frames_side_by_side)
