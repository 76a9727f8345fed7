#include "experiments/verify/check/equality_test.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

/// Returns an .npy file with this header and these bytes.
std::string npy_file(const std::string& header, const std::string& data, char version = 1) {
  std::string out = "\x93NUMPY";
  out += version;
  out += '\0';
  out += static_cast<char>(header.size());
  out += '\0';
  if (version > 1) out += std::string(2, '\0');
  return out + header + data;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

struct NpyFile {
  explicit NpyFile(const std::string& content)
      : path(std::filesystem::temp_directory_path() /
             ("speclab_samples_" + std::to_string(content.size()) + ".npy")) {
    std::ofstream(path, std::ios::binary) << content;
  }
  ~NpyFile() { std::filesystem::remove(path); }
  std::filesystem::path path;
};

/// Returns the error of read_samples for a file, or "".
std::string usage_error_of(const std::filesystem::path& file) {
  try {
    read_samples(file, 2, 5);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string refusal(const std::string& content) {
  const TempFile file(content);
  return usage_error_of(file.path());
}

std::string npy_refusal(const std::string& content) {
  const NpyFile file(content);
  return usage_error_of(file.path);
}

bool says(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

}  // namespace

TEST_CASE("JSON lines: lists or objects, of which the first tokens count") {
  const TempFile file("[1, 2, 3]\n\n{\"tokens\": [4, 0], \"text\": \"a\"}\n");
  CHECK(read_samples(file.path(), 2, 5) == std::vector<Token>{1, 2, 4, 0});
  CHECK(read_samples(file.path(), 1, 5) == std::vector<Token>{1, 4});
}

TEST_CASE("NumPy arrays of every integer type") {
  const std::string shape = "'fortran_order': False, 'shape': (2, 3), }\n";
  for (const char version : {'\1', '\2'}) {
    const NpyFile wide(
        npy_file("{'descr': '<i8', " + shape, bytes_of<std::int64_t>({1, 2, 3, 4, 0, 2}), version));
    CHECK(read_samples(wide.path, 2, 5) == std::vector<Token>{1, 2, 4, 0});
  }
  const NpyFile narrow(npy_file("{'descr': '|u1', " + shape, bytes_of<std::uint8_t>({1, 2, 3, 4, 0, 2})));
  CHECK(read_samples(narrow.path, 2, 5) == std::vector<Token>{1, 2, 4, 0});
  const NpyFile negative(npy_file("{'descr': '<i2', " + shape, bytes_of<std::int16_t>({1, 2, 3, 4, -1, 2})));
  CHECK(says(usage_error_of(negative.path), "row 1: token -1"));
}

TEST_CASE("what is no sample is refused, with its line") {
  CHECK(says(refusal("[1, 2]\n[1]\n"), ":2: 1 tokens"));
  CHECK(says(refusal("[1, 5]\n"), ":1: token 5 is not in [0, 5)"));
  CHECK(says(refusal("[1, 9223372036854775807]\n"), "is not in"));
  CHECK(says(refusal("[1, 0.5]\n"), "0.5 is not a token id"));
  CHECK(says(refusal("{\"token\": [1, 2]}\n"), ":1: not a list"));
  CHECK(says(refusal("1 2 3\n"), "not a list"));
  CHECK(says(refusal(std::string(100000, '[')), "not a list"));
  CHECK(says(refusal("\n"), "no sequences"));
}

TEST_CASE("an archive of one array") {
  const std::filesystem::path corpus(SPECLAB_SOURCE_DIR "/tests/fuzz/corpus/samples");
  CHECK(read_samples(corpus / "array.npz", 2, 5) == std::vector<Token>{1, 2, 3, 4});
  const std::filesystem::path renamed = std::filesystem::temp_directory_path() / "speclab_no_archive.npz";
  std::filesystem::copy_file(corpus / "array.npy", renamed,
                             std::filesystem::copy_options::overwrite_existing);
  CHECK(says(usage_error_of(renamed), "not an .npz file"));
  std::filesystem::remove(renamed);
}

TEST_CASE("arrays of another form are refused") {
  const std::string data = bytes_of<std::int32_t>({1, 2, 3, 4});
  CHECK(says(npy_refusal("PK\x03\x04 and more bytes"), "not an .npy file"));
  CHECK(says(npy_refusal(npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", data)),
             "another form"));
  CHECK(says(npy_refusal(npy_file("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 2), }", data)),
             "another form"));
  CHECK(says(npy_refusal(npy_file("{'descr': '<i4', 'fortran_order': False, 'shape': (4,), }", data)),
             "another form"));
  CHECK(says(npy_refusal(npy_file("{'descr': '<i4', 'fortran_order': False, 'shape': (3, 2), }", data)),
             "cut off"));
  CHECK(
      says(npy_refusal(npy_file(
               "{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999, 200000000000), }", data)),
           "cut off"));
}
