#include "experiments/bench/numpy_reference.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "analysis/statistics/goodness_of_fit.hpp"
#include "experiments/bench/npy.hpp"
#include "experiments/bench/workloads.hpp"
#include "experiments/format/document.hpp"
#include "experiments/support/atomic_file.hpp"
#include "experiments/support/child_process.hpp"
#include "experiments/support/data_files.hpp"
#include "experiments/support/interrupt.hpp"

namespace speclab {

namespace {

namespace fs = std::filesystem;

/// A new folder, removed at the end with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "speclab-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw std::runtime_error(fmt::format("{}: cannot make a temporary folder", pattern));
    }
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

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
    write_file_atomically(folder / fmt::format("{}_{}.npy", side, name), npy(std::span(values)));
  };
  write("unigram", std::vector<double>(model.unigrams().begin(), model.unigrams().end()));
  write("first", first);
  write("count", count);
  write("backoff", backoff);
  write("tokens", tokens);
  write("probabilities", probabilities);
}

/// Why the script cannot run; empty when it can.
std::optional<std::string> unsupported_reason(const fs::path& script) {
  if (!fs::exists(script)) return fmt::format("{} is not there", script.string());
  const auto python = run_program({"python3", "-c", "import numpy"});
  if (!python) return "python3 is not installed";
  if (python->status != 0) return "NumPy is not installed (on Debian: apt install python3-numpy)";
  return std::nullopt;
}

/// Sequences of the fast engine by what they accept in their last round.
std::vector<std::uint64_t> last_rounds(const FastPair& fast, std::uint32_t sequences) {
  SimulationSize plan;
  plan.seed = 2;
  plan.trials = sequences;
  plan.length = numpy_sequence_rounds;
  plan.batches = sequences * numpy_sequence_rounds;  // a batch is one round
  const Outcome outcome = fast.decode(bench_gamma, plan);
  Tally last;
  for (std::size_t at = numpy_sequence_rounds - 1; at < outcome.batches.size(); at += numpy_sequence_rounds)
    last += outcome.batches[at];
  last.accepted_lengths.resize(bench_gamma + 1);
  return last.accepted_lengths;
}

}  // namespace

void write_bigrams(const fs::path& folder, const NgramModel& target, const NgramModel& draft) {
  write_bigram(folder, "target", target);
  write_bigram(folder, "draft", draft);
}

Json run_numpy_reference(const PairShape& shape, const ModelPair& pair, std::uint64_t rounds) {
  Json result{{"name", "NumPy: " + shape.name}};
  const fs::path script = data_file("scripts/numpy_reference.py");
  if (const auto reason = unsupported_reason(script)) {
    result["skipped"] = *reason;
    return result;
  }
  const TemporaryFolder folder;
  write_bigrams(folder.path(), *pair.target.ngram(), *pair.draft.ngram());
  const auto python = run_program(
      {"python3", script.string(), folder.path().string(), "--rounds", fmt::format("{}", rounds), "--gamma",
       fmt::format("{}", bench_gamma), "--length", fmt::format("{}", numpy_sequence_rounds), "--seed", "1"},
      "", {"OPENBLAS_NUM_THREADS=1"});
  if (interrupted()) return result;  // the script ends by Ctrl-C as well
  if (!python || python->status != 0) {
    throw std::runtime_error(
        fmt::format("{} failed: {}", script.string(), python ? python->err : std::string("no python3")));
  }
  result.update(parse_json(python->out));
  result["tokens_per_second"] = result.at("emitted").get<double>() / result.at("seconds").get<double>();

  const auto theirs = result.at("accepted_lengths").get<std::vector<std::uint64_t>>();
  const std::vector<std::uint64_t> ours = last_rounds(*pair.fast, 50000);
  const FitTest test = two_sample_test(theirs, ours);
  result["test"] = {{"quick_accepted_lengths", ours},
                    {"pearson", test.pearson},
                    {"degrees", test.degrees},
                    {"p", test.pearson_p}};
  return result;
}

}  // namespace speclab
