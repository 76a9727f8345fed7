#include "experiments/results/journal_file.hpp"
#include "experiments/config/config.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "experiments/base/format/json_io.hpp"
#include "experiments/run/run_config.hpp"
#include "tests/sim/temp_file.hpp"

using namespace speclab;

namespace {

/// Returns the head for a config with so many cells.
JournalHead head_of(std::size_t cells) {
  const auto config =
      with_sections(read_config(parse_json(R"({"title": "t", "experiment": "iid", "alpha": 0.5})")));
  return journal_head({config, cells, {}, Backend::cpu});
}

}  // namespace

TEST_CASE("a journal gives back what was written, without the lines that were damaged") {
  const TempFile file("");
  std::filesystem::remove(file.path());
  const JournalHead head = head_of(2);
  {
    JournalWriter writer(file.path(), head);
    CellResult first;
    first.note = "first";
    writer.add(0, first);
    writer.add(1, CellResult{});
  }
  const auto content = read_journal(file.path());
  REQUIRE((content && content->head));
  CHECK(difference(*content->head, head).empty());
  CHECK(content->cells.size() == 2);
  CHECK(content->cells.at(0).note == "first");
  CHECK(content->damaged == 0);

  // One byte of the second line is changed, and a last line without its end is added.
  std::string text = content->sound;
  text[text.find("first")] = 'F';
  std::ofstream(file.path(), std::ios::binary) << text << "0123456789abcdef {\"cell\":0";
  const auto damaged = read_journal(file.path());
  CHECK(damaged->damaged == 1);
  CHECK(damaged->torn);
  CHECK(damaged->cells.size() == 1);
  CHECK(damaged->cells.contains(1));

  std::ofstream(file.path(), std::ios::binary) << "no journal\n";
  CHECK_FALSE(read_journal(file.path())->head);
  std::filesystem::remove(file.path());
  CHECK_FALSE(read_journal(file.path()));
}

TEST_CASE("finished cells are read at their places in the file, in any order") {
  const TempFile file("");
  std::filesystem::remove(file.path());
  const JournalHead head = head_of(3);
  {
    JournalWriter writer(file.path(), head);
    for (std::size_t cell = 0; cell < 3; ++cell) {
      CellResult result;
      result.note = std::string(20'000 * cell, 'x');  // longer than a stream reads at once
      writer.add(cell, result);
    }
  }
  std::vector<std::pair<std::uint64_t, std::string>> places;
  scan_journal(
      file.path(), [](const JournalHead&) {},
      [&](std::size_t, std::uint64_t offset, std::string_view json) { places.emplace_back(offset, json); });
  REQUIRE(places.size() == 3);
  JournalReader reader(file.path());
  for (const unsigned cell : {0U, 1U, 2U, 0U, 2U, 1U})
    CHECK(reader.cell(places[cell].first) == places[cell].second);
  CHECK_THROWS_AS(reader.cell(places[1].first + 1), std::runtime_error);
  CHECK(reader.cell(places[2].first) == places[2].second);
}
