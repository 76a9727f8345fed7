// Reads journals of shards with other names and other first lines, with lines lost, doubled or reordered, and
// journals of several runs in one folder: status and merge must end, and a merged result must be the run's.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/config/config.hpp"
#include "experiments/shards/shard_run.hpp"
#include "tests/experiments/run_of.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace speclab;
namespace fs = std::filesystem;

constexpr unsigned max_seconds = 30;  // longer inputs count as endless

struct SharedRun {
  std::string result;                                      ///< result of one process
  std::vector<std::pair<std::string, std::string>> files;  ///< files of its shards: names and texts
};

std::string merged_result(const fs::path& folder) {
  RunResult merged = merge_shards(folder);
  hold_cells(merged);
  return result_json(merged.result).dump();
}

SharedRun shared_run(const std::string& simulation, int shards) {
  const auto config = with_sections(read_config(parse_json(
      R"({"title": "t", "experiment": "iid", "alpha": 0.5, "sweep": {"/gamma": [1, 2, 3]}, "simulation": )" +
      simulation + "}")));
  const auto control = [](std::uint64_t) { return Control{}; };
  const fs::path folder = file_with(nullptr, 0, "none").parent_path() / "made";
  fs::remove_all(folder);
  SharedRun run{.result = result_json(run_config(*config, control).result).dump(), .files = {}};
  for (int shard = 1; shard <= shards; ++shard)
    run_shard(*config, {.folder = folder, .shard = {shard, shards}, .command = "c", .control_for = control});
  if (merged_result(folder) != run.result) std::abort();
  for (const auto& entry : fs::directory_iterator(shards_folder(folder)))
    run.files.emplace_back(entry.path().filename().string(), read_text(entry.path()));
  std::sort(run.files.begin(), run.files.end());
  return run;
}

/// Takes numbers from the input's bytes; 0 after its end.
class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : next_(data), end_(data + size) {}
  std::size_t below(std::size_t count) { return next_ == end_ || count == 0 ? 0 : *next_++ % count; }

 private:
  const std::uint8_t* next_;
  const std::uint8_t* end_;
};

/// Returns the line with another number at `pointer`, if it has one there, and the matching sum.
std::string with_number(const std::string& line, const std::string& pointer, std::uint64_t number) {
  if (line.size() < 18) return line;
  Json json = Json::parse(line.substr(17));
  const Json::json_pointer place(pointer);
  if (!json.contains(place)) return line;
  json[place] = number;
  return sha256(json.dump()).substr(0, 16) + " " + json.dump();
}

/// Changes a journal. Returns true if some process of the run could still have written the text.
bool change(std::string& text, Choices& choices) {
  std::vector<std::string> lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.empty()) return true;
  const std::size_t at = choices.below(lines.size());
  const std::size_t other = choices.below(lines.size());
  static const std::vector<std::string> of_head{"/shard/index", "/shard/count", "/cells", "/started"};
  static const std::vector<std::uint64_t> numbers{0, 1, 2, 3, 4, 60, 100'000, 4'000'000'000, 1ULL << 62U};
  const std::uint64_t number = numbers[choices.below(numbers.size())];
  bool honest = true;
  switch (choices.below(7)) {
    case 0:
    case 1:
      lines[0] = with_number(lines[0], of_head[choices.below(of_head.size())], number);
      break;
    case 2:
      lines[at] = with_number(lines[at], "/cell", number);
      honest = false;
      break;
    case 3:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 4:
      lines.push_back(std::string(lines[at]));
      break;
    case 5:
      std::swap(lines[at], lines[other]);
      break;
    default:
      lines.back().resize(lines.back().size() / 2);
  }
  text.clear();
  for (const std::string& line : lines) text += line + "\n";
  return honest;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string plain = R"({"trials": 8, "length": 8, "batches": 4})";
  static const std::string until =
      R"({"trials": 8, "length": 8, "batches": 4, "until": {"half_width": 0.1}})";
  static const std::vector<SharedRun> runs{shared_run(plain, 2), shared_run(plain, 3), shared_run(until, 2)};
  ::alarm(max_seconds);
  const fs::path folder = file_with(data, 0, "none").parent_path() / "tried";
  fs::remove_all(folder);
  fs::create_directories(shards_folder(folder));
  Choices choices(data, size);
  bool honest = true;
  const std::size_t mostly = choices.below(runs.size());
  const auto put = [&](const SharedRun& run, std::size_t file) {
    auto [name, text] = run.files[file];
    const std::size_t renamed = choices.below(8);
    const std::size_t index = 1 + choices.below(4);
    const std::size_t count = 1 + choices.below(4);
    if (renamed == 1) name = fmt::format("{}-of-{}.{}.jsonl", index, count, name);
    if (renamed == 3) name = "copy of " + name;
    if (renamed == 4) name.insert(name.size() - 6, ".copy");
    if (choices.below(3) == 1) honest = change(text, choices) && honest;
    file_with(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
              fs::path("tried") / "shards" / name);
  };
  const SharedRun& whole = runs[mostly];
  for (std::size_t file = 0; file < whole.files.size(); ++file) {
    if (choices.below(8) != 1) put(whole, file);
  }
  for (std::size_t more = choices.below(4); more > 0; --more) {
    const SharedRun& run = runs[choices.below(runs.size())];
    put(run, choices.below(run.files.size()));
  }
  refused_or_read([&] {
    const ShardedRun run = read_shards(folder);
    const CellGrid grid(*run.head.config);
    shard_states(folder, run, ShardPlan(grid, run.head.shard->count));
  });
  return refused_or_read([&] {
    const std::string merged = merged_result(folder);
    const bool known =
        std::any_of(runs.begin(), runs.end(), [&](const SharedRun& one) { return one.result == merged; });
    if (honest && !merged.empty() && !known) std::abort();
  });
}
