/* SPDX-License-Identifier: MIT */
/*
 * Names of C++ and Rust as people write them, and names that were made to harm.
 */
#include "unit.h"

#include "src/symbols/demangle.h"
#include "src/symbols/symbols.h"
#include "src/base/collections/buf.h"

#include <stdlib.h>
#include <string.h>

/* By the rules of the Itanium C++ ABI, 5.1, and of Rust's RFC 2603. */
START_TEST(names_have_no_parameters)
{
	static const struct {
		const char *mangled, *text;
	} names[] = {
		{ "_Z2fni", "fn" },
		{ "_ZN2ns2fnEi", "ns::fn" },
		{ "_ZNK2ns1c3getEv", "ns::c::get" },
		{ "_ZN2ns1cC1Ev", "ns::c::c" },
		{ "_ZN2ns1cD0Ev", "ns::c::~c" },
		{ "_ZN3fooILi3EE3barEv", "foo<3>::bar" },
		{ "_Z3addIiET_S0_S0_", "add<int>" },
		{ "_ZN2ns1cplERKS0_", "ns::c::operator+" },
		{ "_ZTVN2ns1cE", "vtable for ns::c" },
		{ "_Z4bankB5cxx11", "bank" },
		{ "_ZN2ns4makeB5cxx11Ei", "ns::make" },
		{ "_Z8[abi:ab]", "[abi:ab]" },
		{ "_ZN2ns8[abi:ab]B5cxx11Ev", "ns::[abi:ab]" },
		{ "_RNvC6_123foo3bar", "123foo::bar" },
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
	};
	char text[TS_MAX_DEMANGLED];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_msg(ts_demangle(names[i].mangled, text), "%s", names[i].mangled);
		ck_assert_str_eq(text, names[i].text);
	}
}
END_TEST

START_TEST(other_names_are_left_alone)
{
	static const char *const names[] = { "",       "_",  "_Z",     "main",          "_start",
					     "_Zebra", "_R", "_ZN2ns", "?fn@ns@@YAXH@Z" };
	char text[TS_MAX_DEMANGLED];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_msg(!ts_demangle(names[i], text), "%s", names[i]);
}
END_TEST

static void put_seq(struct ts_buf *name, unsigned i)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	ts_buf_putc(name, 'S');
	if (i > 36)
		ts_buf_putc(name, digits[(i - 1) / 36]);
	if (i)
		ts_buf_putc(name, digits[(i - 1) % 36]);
	ts_buf_putc(name, '_');
}

/* f<a<int, int>, a<X, X>, a<Y, Y>, ...>, where X is the one before: twice as long with each. */
START_TEST(a_short_name_of_gigabytes_keeps_its_form)
{
	char text[TS_MAX_DEMANGLED];
	struct ts_buf name;

	for (unsigned n = 1; n < 60; n++) {
		ts_buf_init(&name);
		ts_buf_puts(&name, "_Z1fI1aIiiE");
		for (unsigned i = 0; i < n; i++) {
			put_seq(&name, 1);
			ts_buf_putc(&name, 'I');
			put_seq(&name, 2 + i);
			put_seq(&name, 2 + i);
			ts_buf_putc(&name, 'E');
		}
		ts_buf_puts(&name, "Evv");
		ck_assert_msg(ts_demangle(ts_buf_text(&name), text) == (n < 6), "%u: %s", n,
			      ts_buf_text(&name));
		ck_assert(n >= 6 || strlen(text) < sizeof(text));
		ts_buf_fini(&name);
	}
}
END_TEST

static void check_repeated(const char *begin, const char *part, const char *end)
{
	char text[TS_MAX_DEMANGLED];
	struct ts_buf name;

	ts_buf_init(&name);
	ts_buf_puts(&name, begin);
	for (unsigned i = 0; i < 100000; i++) {
		ts_buf_puts(&name, part);
		if (i % 100 == 0) {
			size_t len = name.len;

			ts_buf_puts(&name, end);
			(void)ts_demangle(ts_buf_text(&name), text);
			name.len = len;
			i = i > 10000 ? i + 20000 : i;
		}
	}
	ts_buf_fini(&name);
}

START_TEST(deep_names_do_not_exhaust_the_stack)
{
	check_repeated("_Z1f", "P", "i");
	check_repeated("_ZN", "1a", "E");
	check_repeated("_Z1fI", "1aI", "iE");
	check_repeated("_Z", "L", "1a");
	check_repeated("_ZZ", "Z", "1a");
	check_repeated("_RNvNv", "Nv", "C1a1b");
	check_repeated("_RIC1a", "R", "eE");
	check_repeated("_Z1fIXsz", "sz", "iEEvv");
}
END_TEST

START_TEST(symbols_are_found_by_either_name)
{
	struct ts_symbols *s = ts_symbols_new();

	ck_assert_ptr_nonnull(s);
	ck_assert(ts_symbols_add(s, 0x1000, 16, 0, "_ZN2ns2fnEi", true));
	ck_assert(ts_symbols_add(s, 0x2000, 16, 0, "_ZN2ns2fnEd", true));
	ck_assert(ts_symbols_add(s, 0x3000, 16, 0, "_ZN2ns4onceEv", true));
	ck_assert(ts_symbols_add(s, 0x4000, 16, 0, "_ZN2ns1cC1Ev", true));
	ck_assert(ts_symbols_add(s, 0x4000, 16, 0, "_ZN2ns1cC2Ev", true));
	ck_assert(ts_symbols_add(s, 0x5000, 16, 0, "plain", true));
	ck_assert_uint_eq(ts_symbols_find(s, "_ZN2ns2fnEd", 11)->addr, 0x2000);
	ck_assert_uint_eq(ts_symbols_find(s, "ns::once", 8)->addr, 0x3000);
	ck_assert_str_eq(ts_symbols_find(s, "ns::once", 8)->mangled, "_ZN2ns4onceEv");
	ck_assert_ptr_null(ts_symbols_find(s, "ns::on", 6));
	ck_assert_ptr_null(ts_symbols_find(s, "ns::once2", 9));
	ck_assert_str_eq(ts_symbols_function_at(s, 0x2008)->name, "ns::fn");
	ck_assert_str_eq(ts_symbols_function_at(s, 0x5008)->name, "plain");
	ck_assert_str_eq(ts_symbols_function_at(s, 0x5008)->mangled, "plain");
	ck_assert(ts_symbols_is_overloaded(s, "ns::fn", 6));
	ck_assert(!ts_symbols_is_overloaded(s, "ns::once", 8));
	ck_assert(!ts_symbols_is_overloaded(s, "ns::c::c", 8)); /* two names of one address */
	ck_assert(ts_symbols_add(s, 0x6000, 16, 0, "_ZN2ns4onceEi", true));
	ck_assert(ts_symbols_is_overloaded(s, "ns::once", 8)); /* what was sorted is sorted again */
	ts_symbols_free(s);
}
END_TEST

/* A table of symbols can name one string any number of times. */
START_TEST(names_have_a_bound_together)
{
	const size_t len = 1 << 20;
	struct ts_symbols *s = ts_symbols_new();
	char *name = malloc(len);
	size_t n = 0;

	ck_assert(s && name);
	memset(name, 'x', len - 1);
	name[len - 1] = 0;
	for (uint64_t i = 0; i < 300; i++)
		ck_assert(ts_symbols_add(s, 0x1000 * i, 16, 0, name, true));
	while (ts_symbols_get(s, n))
		n++;
	ck_assert_uint_eq(n, 256); /* a MiB each, with its end */
	ts_symbols_free(s);
	free(name);
}
END_TEST

/* Shown it has 1,049 characters: A<A<...>, A<...> >, five levels deep, and f<> around it. */
#define LONG "_Z1fI1AIiiES0_IS1_S1_ES0_IS2_S2_ES0_IS3_S3_ES0_IS4_S4_ES0_IS5_S5_EEvv"

START_TEST(names_that_are_shown_have_a_bound_together)
{
	const uint64_t n = 140000; /* 147 MB */
	struct ts_symbols *s = ts_symbols_new();
	uint64_t len = 0;

	ck_assert_ptr_nonnull(s);
	for (uint64_t i = 0; i < n; i++)
		ck_assert(ts_symbols_add(s, 0x1000 * i, 16, 0, LONG, true));
	ck_assert_ptr_null(ts_symbols_find(s, "nowhere", 7)); /* for which all are demangled */
	ck_assert_str_ne(ts_symbols_get(s, 0)->name, LONG);
	ck_assert_str_eq(ts_symbols_get(s, n - 1)->name, LONG);
	for (uint64_t i = 0; i < n; i++) {
		const struct ts_symbol *symbol = ts_symbols_get(s, i);

		len += symbol->name == symbol->mangled ? 0 : strlen(symbol->name);
	}
	ck_assert_uint_ge(len, 128 << 20);
	ck_assert_uint_lt(len, (128 << 20) + TS_MAX_DEMANGLED);
	ts_symbols_free(s);
}
END_TEST

UNIT_SUITE("demangle", names_have_no_parameters, other_names_are_left_alone,
	   a_short_name_of_gigabytes_keeps_its_form, deep_names_do_not_exhaust_the_stack,
	   symbols_are_found_by_either_name, names_have_a_bound_together,
	   names_that_are_shown_have_a_bound_together)
