#include <fmt/format.h>

#include "speclab/experiments/equality_check.hpp"
#include "speclab/experiments/format/config_error.hpp"
#include "speclab/experiments/output.hpp"
#include "speclab/experiments/verbs/verb.hpp"

namespace speclab {

namespace po = boost::program_options;

int check_verb(const std::vector<std::string>& arguments) {
  Usage usage{
      .line = "speclab check CONFIG.json [options]",
      .about =
          "Tests that speculative decoding of the config's target has the law of plain decoding: the joint\n"
          "law of the first tokens, by Pearson's chi-squared and the G statistic on two independent\n"
          "samples. The config's \"check\" section sets samples, tokens, level and power.\n"
          "Exit code: 0 equal, 1 different, 2 unusable.",
      .examples =
          "  speclab check configs/check_token.json\n"
          "  speclab check configs/check_token.json --set verifier.kind=fault-resample-target\n",
      .positional = "config"};
  usage.options.add_options()("seed", po::value<std::int64_t>(), "seed, instead of the config's")(
      "threads", po::value<int>()->default_value(0), "threads; 0: all cores. Results do not depend on it")(
      "set", po::value<std::vector<std::string>>()->composing(), "path=value: change the config")(
      "json", "print JSON");
  const auto values = parse(usage, arguments);
  if (!values) return exit_ok;
  const auto file = (*values)["config"].as<std::string>();
  const ThreadLimit limit(thread_option(*values));
  const Json config = load_config(file, *values);
  const EqualityReport report = in_file(file, [&] { return check_equality(config); });
  if (values->count("json") > 0) {
    fmt::print("{}\n", equality_json(report).dump(1));
  } else {
    fmt::print("{}", equality_text(report));
  }
  return report.different() ? exit_failed_check : exit_ok;
}

}  // namespace speclab
