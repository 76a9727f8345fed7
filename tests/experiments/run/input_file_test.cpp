#include "experiments/run/input_file.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/experiments/config_error_of.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

TEST_CASE("SHA-256: the examples of FIPS 180-4's test vectors") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("a file's content, longer than a buffer, and files that cannot be read to an end") {
  const std::string content(3'000'001, 'x');
  const TempFile file(content);
  const InputFile found = input_file_of(file.path().string());
  CHECK(found.bytes == content.size());
  CHECK(found.sha256 == sha256(content));
  for (const char* other : {"/dev/zero", "/nowhere/at/all"})
    CHECK(config_error_of([&] { input_file_of(other); }).find(other) != std::string::npos);
}
