#include "experiments/base/format/csv_values.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "experiments/base/format/result_fields.hpp"

using namespace speclab;

namespace {

struct CsvRow {
  std::string label;
  std::int32_t count = 0;
  double speed = 0;
  std::optional<double> bound;
};

}  // namespace

namespace speclab {
SPECLAB_RESULT(CsvRow, "row", label, count, speed, bound);
}

TEST_CASE("rows of a description stand in a .csv file in the order of the columns asked for") {
  const std::vector<CsvRow> rows{{"a, b", 3, 0.5, 2}, {"c", -1, std::numeric_limits<double>::infinity(), {}}};
  CHECK(csv_of(described<CsvRow>(), rows, {"speed", "label", "bound", "count"}) ==
        "speed,label,bound,count\n0.5,\"a, b\",2,3\n,c,,-1\n");
}
