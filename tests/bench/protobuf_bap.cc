// SPDX-License-Identifier: MIT
//
// What the format's usual library does with the same bytes: every frame of a trace is parsed by the code that
// protoc makes of the schema, and its operands are walked.  Prints frames and processor seconds, the best of
// three.  It is for the benchmark only, and built only where protobuf is installed.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "bap_frames.pb.h"

namespace {

constexpr size_t header_len = 48;

uint64_t u64(const uint8_t *p)
{
	uint64_t n = 0;

	for (int i = 8; i--;)
		n = n << 8 | p[i];
	return n;
}

bool read_file(const char *path, std::vector<uint8_t> &bytes)
{
	std::FILE *file = std::fopen(path, "rb");
	long len;

	if (!file)
		return false;
	std::fseek(file, 0, SEEK_END);
	len = std::ftell(file);
	std::rewind(file);
	bytes.resize(len);
	bool done = std::fread(bytes.data(), 1, bytes.size(), file) == bytes.size();
	std::fclose(file);
	return done;
}

uint64_t walk(const operand_value_list &list)
{
	uint64_t sum = 0;

	for (const operand_info &op : list.elem())
		sum += op.value().size() + op.operand_info_specific().mem_operand().address();
	return sum;
}

// Version 2 or 3.  Returns how many frames there are, 0 if one of them is none.
uint64_t parse(const std::vector<uint8_t> &bytes, uint64_t *sum)
{
	const uint8_t *p = bytes.data() + header_len, *end = bytes.data() + u64(bytes.data() + 40);
	uint64_t n = 0;
	frame f;

	for (p += 8 + u64(p); p < end; p += 8 + u64(p)) {
		if (!f.ParseFromArray(p + 8, static_cast<int>(u64(p))))
			return 0;
		*sum += f.std_frame().address() + walk(f.std_frame().operand_pre_list()) +
			walk(f.std_frame().operand_post_list());
		n++;
	}
	return n;
}

}

int main(int argc, char **argv)
{
	std::vector<uint8_t> bytes;
	uint64_t n = 0, sum = 0;
	double best = 0;

	if (argc != 2 || !read_file(argv[1], bytes) || bytes.size() < header_len + 8)
		return 2;
	for (int i = 0; i < 3; i++) {
		std::clock_t start = std::clock();

		n = parse(bytes, &sum);
		double s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
		if (!i || s < best)
			best = s;
	}
	std::printf("%llu %.9f %llu\n", static_cast<unsigned long long>(n), best,
		    static_cast<unsigned long long>(sum));
	return !n;
}
