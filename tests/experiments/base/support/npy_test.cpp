#include "experiments/base/support/npy.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/experiments/npy_text.hpp"

using namespace speclab;

TEST_CASE("an array is written as numpy.lib.format says") {
  const std::vector<double> values{0.5, -1, 1e300};
  const std::string file = npy_text(values, {3});
  CHECK(file.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(file[8])) +
                      256 * static_cast<std::size_t>(static_cast<unsigned char>(file[9]));
  CHECK((10 + length) % 64 == 0);
  const std::string header = file.substr(10, length);
  CHECK(header.starts_with("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"));
  CHECK(header.back() == '\n');
  REQUIRE(file.size() == 10 + length + 24);
  std::array<double, 3> back{};
  std::memcpy(back.data(), file.data() + 10 + length, sizeof(back));
  CHECK(std::vector<double>(back.begin(), back.end()) == values);

  CHECK(npy_text(std::vector<std::int32_t>(), {0}).find("'<i4', 'fortran_order': False, 'shape': (0,)") ==
        20);
  CHECK(npy_text(std::vector<std::int64_t>{7}, {1}).find("'<i8'") != std::string::npos);
}

TEST_CASE("what is written is read back, also with two dimensions") {
  const std::string file = npy_text(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3});
  const NpyArray back = parse_npy(file);
  CHECK(back.shape == std::vector<std::size_t>{2, 3});
  CHECK(back.number(5) == 6);
  CHECK(file.size() % 64 == 48);
}

TEST_CASE("arrays of another form are refused with a conversion that numpy.savez keeps") {
  const auto refusal = [](const char* from, const std::string& to) -> std::string {
    std::string file = npy_text(std::vector<double>{1, 2}, {2});
    file.replace(file.find(from), to.size(), to);
    try {
      parse_npy(file);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal("<f8", "<f8").empty());
  for (const auto& [from, to] : {std::pair("<f8", ">f8"), std::pair("False", "True ")}) {
    CHECK(refusal(from, to).find("numpy.ascontiguousarray") != std::string::npos);
    CHECK(refusal(from, to).find('\n') == std::string::npos);
  }
  CHECK(refusal("\x01", "\x09").find("format version is 9") != std::string::npos);
}
