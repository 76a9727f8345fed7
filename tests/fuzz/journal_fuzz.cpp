// Reads journals of interrupted runs; a cell taken from one must be a cell of the run, unchanged.
#include <nlohmann/json.hpp>

#include "experiments/base/format/json_io.hpp"
#include "experiments/config/config.hpp"
#include "experiments/results/journal.hpp"
#include "experiments/results/result_files.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace speclab;

/// Returns the run whose journal is in the corpus; its lines are made here, so that they belong to this
/// version.
const std::shared_ptr<const Config>& config() {
  static const auto read = with_sections(read_config(parse_json(
      R"({"title": "t", "experiment": "iid", "alpha": 0.5, "simulation": {"trials": 2, "length": 4, "batches": 2},
          "sweep": {"/gamma": [1, 2]}})")));
  return read;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Result whole = run_config(*config(), [](std::uint64_t) { return Control{}; }).result;
  const RunIdentity identity{config(), whole.cells.size(), {}, Backend::cpu};
  return refused_or_read([&] {
    const std::filesystem::path folder = file_with(data, 0, "journal.jsonl").parent_path();
    std::filesystem::remove(folder / "journal.jsonl");
    {
      Journal made(folder, identity);
      for (std::size_t i = 0; i < whole.cells.size(); ++i) made.add(i, whole.cells[i]);
    }
    // Each three bytes of the input give a place in the journal and the byte to put there; 0 deletes.
    std::string text = read_text(folder / "journal.jsonl");
    for (std::size_t i = 0; i + 2 < size; i += 3) {
      const std::size_t place = (data[i] * 256u + data[i + 1]) % text.size();
      if (data[i + 2] == 0) {
        text.erase(place, 1);
      } else {
        text[place] = static_cast<char>(data[i + 2]);
      }
      if (text.empty()) break;
    }
    file_with(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), "journal.jsonl");
    Journal journal(folder, identity);
    for (const auto& [cell, result] : journal.take_finished()) {
      const Experiment& experiment = *config()->experiment;
      if (cell_json(experiment, result) != cell_json(experiment, whole.cells.at(cell))) std::abort();
    }
  });
}
