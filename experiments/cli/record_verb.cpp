#include <fmt/format.h>

#include <cstdint>
#include <filesystem>

#include "experiments/cli/verb.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/config_error.hpp"
#include "experiments/recording/record_pair.hpp"
#include "experiments/support/interrupt.hpp"
#include "experiments/support/machine.hpp"
#include "experiments/support/progress.hpp"

namespace speclab {

namespace {

namespace po = boost::program_options;

enum class OutputKind { csv, json_lines, rows };

OutputKind kind_of_output(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  if (extension == ".csv") return OutputKind::csv;
  if (extension == ".jsonl") return OutputKind::json_lines;
  if (extension == ".safetensors") return OutputKind::rows;
  throw UsageError(fmt::format("--out {}: expected a name that ends in .csv, .jsonl or .safetensors", file));
}

/// Without axes that change neither of the models.
void drop_axes_of_decoding(Config& config) {
  if (!config.sweep) return;
  std::erase_if(*config.sweep, [](const auto& axis) {
    return axis.first == "/gamma" || axis.first.starts_with("/cost") || axis.first.starts_with("/rule");
  });
  if (config.sweep->empty()) config.sweep.reset();
}

int record_main(const std::vector<std::string>& arguments) {
  Usage usage{
      .line = "speclab record CONFIG.json --out FILE [options]",
      .about =
          R"(Records the config's pair: the target decodes plainly, and each token is written with its natural
log-probabilities under target and draft, as sequence,position,token,logp,logq. A sequence for each
of the simulation's trials. speclab plan --recording and models of kind "recorded" read it.
Sampling options of the config hold for both models; its rule, gamma and costs do not matter.)",
      .examples = R"(  speclab record configs/austen_words.json --out austen.csv
  speclab record configs/austen_words.json --out austen.jsonl --sequences 200 --tokens 500
)",
      .positional = "config"};
  add_config_options(usage.options);
  usage.options.add_options()("out", po::value<std::string>()->required(),
                              "file to write: .csv, .jsonl, or .safetensors with whole rows")(
      "sequences", po::value<std::int64_t>(), "sequences; without it the simulation's trials")(
      "tokens", po::value<std::int64_t>(), "tokens of each; without it the simulation's length")(
      "entropy", "write the entropy of the target's rows, by which checks of the text are sharper");
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  const auto file = (*values)["config"].as<std::string>();
  const auto out = (*values)["out"].as<std::string>();
  const OutputKind kind = kind_of_output(out);
  const bool with_entropy = values->count("entropy") > 0;
  if (kind == OutputKind::rows && with_entropy)
    throw UsageError("--entropy: rows have their entropies in them");
  const ThreadLimit limit(thread_option(*values));
  Config config = load_config(file, *values);
  constexpr std::int64_t most = 10'000'000;
  if (values->count("sequences") > 0) {
    config.simulation.trials =
        static_cast<std::uint32_t>(ranged_option<std::int64_t>(*values, "sequences", 1, most));
  }
  const auto length = values->count("tokens") > 0
                          ? static_cast<std::size_t>(ranged_option<std::int64_t>(*values, "tokens", 1, most))
                          : config.simulation.length;
  config.rule = Config().rule;
  drop_axes_of_decoding(config);
  const InterruptGuard guard;
  const RecordedTokens recorded = in_file(file, [&] {
    refuse_many_cells(config, "record writes");
    constexpr double bytes_a_token = 4 * sizeof(double);
    const double tokens = static_cast<double>(length) * config.simulation.trials;
    require_memory(bytes_a_token * tokens, "/simulation", fmt::format("{} tokens", tokens));
    ModelFactory factory;
    const Setup setup = build_setup(config, factory);
    Progress progress("record", config.simulation.trials, false);
    RecordedTokens made = record_pair(setup, length,
                                      {.stop = [] { return interrupted(); },
                                       .progress = [&](std::uint64_t steps) { progress.advance(steps); }});
    if (kind == OutputKind::rows && !made.partial) write_row_recording(setup, made, out);
    return made;
  });
  if (recorded.partial) {
    fmt::print(stderr, "interrupted: nothing was written\n");
    return exit_interrupted;
  }
  if (kind != OutputKind::rows) {
    const auto style = kind == OutputKind::csv ? RecordingStyle::csv : RecordingStyle::json_lines;
    write_recording(recorded, out, style, with_entropy);
  }
  fmt::print("{}: {} tokens, {} sequences\n", out, recorded.tokens.size(),
             recorded.recording.sequences.size());
  return exit_ok;
}

}  // namespace

Verb record_verb() {
  return {"record", "write a text of the config's target with its log-probabilities under target and draft",
          record_main};
}

}  // namespace speclab
