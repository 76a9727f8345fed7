#include "experiments/base/support/csv.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>

using speclab::csv;

TEST_CASE("fields are quoted only where RFC 4180 asks for it") {
  CHECK(csv({"plain", "a,b"}, {{"two words", "say \"γ\""}, {"two\nlines", "carriage\rreturn"}, {"", " "}}) ==
        "plain,\"a,b\"\n"
        "two words,\"say \"\"γ\"\"\"\n"
        "\"two\nlines\",\"carriage\rreturn\"\n"
        ", \n");
}

TEST_CASE("numbers are the shortest that read back the same") {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  CHECK(csv({"a", "b", "c", "d"}, {{0.1, 1.0 / 3.0, least, most}, {1e300, -2.5, std::int64_t{0}, most}}) ==
        "a,b,c,d\n"
        "0.1,0.3333333333333333,-9223372036854775808,18446744073709551615\n"
        "1e+300,-2.5,0,18446744073709551615\n");
}

TEST_CASE("a row that does not fit its header is refused") {
  CHECK_THROWS_AS(csv({"a", "b"}, {{1.0}}), std::invalid_argument);
}

TEST_CASE("what a spreadsheet would run is marked as text, numbers are not") {
  CHECK(speclab::csv_for_spreadsheets(
            "a,-b,\"=c,d\"\n=1+1,-2.5,+3\n@x,\"-say \"\"so\"\"\",\n\"\",-1e-3,x=y\n") ==
        "a,'-b,\"'=c,d\"\n'=1+1,-2.5,'+3\n'@x,\"'-say \"\"so\"\"\",\n\"\",-1e-3,x=y\n");
}
