#include "experiments/bench/numpy_reference.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/statistics/goodness_of_fit.hpp"
#include "core/stop.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/base/support/child_process.hpp"
#include "experiments/base/support/data_files.hpp"
#include "experiments/base/support/npy.hpp"
#include "experiments/bench/temporary_folder.hpp"
#include "experiments/bench/workloads.hpp"

namespace speclab {

namespace {

namespace fs = std::filesystem;

/// Returns the reason why the script cannot run; empty if it can. -I keeps Python from importing files of the
/// working folder.
std::optional<std::string> unsupported_reason(const fs::path& script, const fs::path& python) {
  if (!fs::exists(script)) return fmt::format("{} is not there", script.string());
  const auto tried = run_child_process({python.string(), "-I", "-c", "import numpy"});
  if (!tried) return fmt::format("{} is not there (--python names another)", python.string());
  if (tried->status != 0) {
    return fmt::format("{} has no NumPy (on Debian: apt install python3-numpy; --python names another)",
                       python.string());
  }
  return std::nullopt;
}

/// Counts sequences of the fast engine by the number of tokens accepted in their last round.
std::vector<std::uint64_t> last_rounds(const FastPair& tables, std::uint32_t sequences) {
  SimulationSize simulation;
  simulation.seed = 2;
  simulation.trials = sequences;
  const auto lengths_of = [&](std::uint32_t rounds) {
    simulation.length = rounds;
    std::vector<std::uint64_t> lengths = tables.decode(bench_gamma, simulation).total().accepted_lengths;
    lengths.resize(bench_gamma + 1);
    return lengths;
  };
  // A longer run starts with the rounds of a shorter one.
  std::vector<std::uint64_t> last = lengths_of(numpy_sequence_rounds);
  const std::vector<std::uint64_t> before = lengths_of(numpy_sequence_rounds - 1);
  for (std::size_t accepted = 0; accepted < last.size(); ++accepted) last[accepted] -= before[accepted];
  return last;
}

}  // namespace

void write_bigram(const fs::path& folder, const std::string& side, const NgramModel& model) {
  const auto vocab = static_cast<std::size_t>(model.vocab());
  std::vector<std::int64_t> first(vocab);
  std::vector<std::int64_t> count(vocab);
  std::vector<double> backoff(vocab, 1);
  std::vector<std::int32_t> tokens;
  std::vector<double> probabilities;
  for (std::size_t i = 0; i < model.contexts(1); ++i) {
    const NgramModel::Known context = model.known(1, i);
    const auto token = static_cast<std::size_t>(context.key);
    first[token] = static_cast<std::int64_t>(tokens.size());
    count[token] = static_cast<std::int64_t>(context.tokens.size());
    backoff[token] = context.backoff;
    tokens.insert(tokens.end(), context.tokens.begin(), context.tokens.end());
    probabilities.insert(probabilities.end(), context.probabilities.begin(), context.probabilities.end());
  }
  const auto write = [&](const char* name, const auto& values) {
    write_file_atomically(folder / fmt::format("{}_{}.npy", side, name), npy_text(values, {values.size()}));
  };
  write("unigram", std::vector<double>(model.unigrams().begin(), model.unigrams().end()));
  write("first", first);
  write("count", count);
  write("backoff", backoff);
  write("tokens", tokens);
  write("probabilities", probabilities);
}

NumpyRow run_numpy_reference(const PairShape& shape, const BenchPair& pair, std::uint64_t rounds,
                             const fs::path& python) {
  NumpyRow row{.name = "NumPy: " + shape.name, .skipped = {}, .measured = {}};
  const fs::path script = program_file("scripts/numpy_reference.py");
  row.skipped = unsupported_reason(script, python);
  if (row.skipped) return row;
  const TemporaryFolder folder;
  write_bigram(folder.path, "target", *pair.target.ngram());
  write_bigram(folder.path, "draft", *pair.draft.ngram());
  const auto ran =
      run_child_process({python.string(), "-I", script.string(), folder.path.string(), "--rounds",
                         fmt::format("{}", rounds), "--gamma", fmt::format("{}", bench_gamma), "--length",
                         fmt::format("{}", numpy_sequence_rounds), "--seed", "1"},
                        "", {"OPENBLAS_NUM_THREADS=1"});
  end_if_stopped();  // Ctrl-C ends the script as well
  if (!ran || ran->status != 0) {
    throw std::runtime_error(
        fmt::format("{} failed: {}", script.string(), ran ? ran->err : "no " + python.string()));
  }
  NumpyMeasurement& measured = row.measured.emplace();
  measured.output = read(described<NumpyOutput>(), parse_json(ran->out), "");
  measured.tokens_per_second = static_cast<double>(measured.output.emitted) / measured.output.seconds;
  const std::vector<std::uint64_t> fast = last_rounds(*pair.tables, 50000);
  const FitTest test = two_sample_test(measured.output.accepted_lengths, fast);
  measured.test = {fast, test.pearson, test.degrees, test.pearson_p};
  return row;
}

}  // namespace speclab
