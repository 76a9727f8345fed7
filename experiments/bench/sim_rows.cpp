#include "experiments/bench/sim_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace speclab {

Json preparation_json(const std::string& name, const ModelPair& pair) {
  const PairCosts& costs = pair.costs;
  Json row{{"name", name},
           {"text_bytes", costs.text_bytes},
           {"tokens", costs.tokens},
           {"corpus_seconds", costs.corpus_seconds},
           {"training_seconds", costs.training_seconds},
           {"preparing_seconds", costs.preparing_seconds},
           {"contexts", pair.fast->contexts()},
           {"table_bytes", pair.fast->bytes()}};
  if (costs.text_bytes > 0) {
    row["text_bytes_per_second"] =
        static_cast<double>(costs.text_bytes) / (costs.corpus_seconds + costs.training_seconds);
  }
  return row;
}

Json workload_json(const Measured& measured, const Timing& timing) {
  const BenchWorkload& workload = measured.workload;
  const auto tokens = static_cast<double>(measured.tally.emitted);
  const auto rounds = static_cast<double>(measured.tally.rounds);
  const bool parallel = workload.threads > 1;
  const auto& times = parallel ? timing.wall_seconds : timing.processor_seconds;
  const double seconds = median(times);
  Json row{{"name", workload.name},
           {"threads", workload.threads},
           {"clock", parallel ? "wall" : "processor"},
           {"seconds", times},
           {"wall_seconds", timing.wall_seconds},
           {"spread", spread(times)},
           {"tokens", measured.tally.emitted},
           {"rounds", measured.tally.rounds},
           {"tokens_per_second", tokens / seconds},
           {"rounds_per_second", rounds / seconds},
           {"ns_per_token", 1e9 * seconds / tokens}};
  if (!parallel && !timing.cache_misses.empty()) {
    row["cache_misses_per_token"] = median(timing.cache_misses) / tokens;
  }
  if (workload.engine == BenchEngine::plain) return row;
  row["random_numbers_per_token"] = 2 * static_cast<double>(measured.work.blocks) / tokens;
  row["reads_per_token"] = static_cast<double>(measured.work.reads) / tokens;
  row["passes_per_token"] = static_cast<double>(measured.work.passes) / tokens;
  if (measured.pair == nullptr) return row;
  const FastPair& fast = *measured.pair->fast;
  row["lanes"] = workload.lanes;
  row["table_bytes"] = fast.bytes();
  row["contexts"] = fast.contexts();
  row["bytes_per_context"] = static_cast<double>(fast.bytes()) / static_cast<double>(fast.contexts());
  return row;
}

void add_bound(Json& row, double block_ns, double in_flight_ns) {
  const double random_ns = row.at("random_numbers_per_token").get<double>() / 2 * block_ns;
  const double reads_ns = row.at("reads_per_token").get<double>() * in_flight_ns;
  const double sum_ns = random_ns + reads_ns;
  const double larger_ns = std::max(random_ns, reads_ns);
  const auto ns = row.at("ns_per_token").get<double>();
  row["bound"] = {{"random_ns_per_token", random_ns}, {"reads_ns_per_token", reads_ns},
                  {"sum_ns_per_token", sum_ns},       {"larger_ns_per_token", larger_ns},
                  {"ratio_to_sum", ns / sum_ns},      {"ratio_to_larger", ns / larger_ns}};
}

double rate_of(const Json& rows, const std::string& name) {
  for (const Json& row : rows) {
    if (row.at("name") == name) return row.at("tokens_per_second").get<double>();
  }
  return std::nan("");
}

Json comparisons(const Json& rows) {
  const auto row_of = [&](const std::string& name) {
    return std::find_if(rows.begin(), rows.end(), [&](const Json& row) { return row.at("name") == name; });
  };
  Json all = Json::array();
  const auto add = [&](std::string name, double ratio) {
    all.push_back({{"name", std::move(name)}, {"ratio", ratio}});
  };
  for (const Json& row : rows) {
    const auto name = row.at("name").get<std::string>();
    const std::size_t colon = name.find(": ");
    if (colon == std::string::npos) continue;
    const std::string pair = name.substr(0, colon);
    const auto base = row_of(pair);
    if (base == rows.end()) continue;
    if (row.at("threads").get<int>() > 1) {
      // By the wall clock on both sides: processor time does not shrink with threads. The best of each is
      // what the engine can do; anything else on the machine takes from several threads more than from one.
      const double tokens = row.at("tokens").get<double>() / base->at("tokens").get<double>();
      const auto some = row.at("wall_seconds").get<std::vector<double>>();
      const auto one = base->at("wall_seconds").get<std::vector<double>>();
      add(name + " over 1, wall clock", tokens * median(one) / median(some));
      add(name + " over 1, wall clock, the best of each",
          tokens * *std::min_element(one.begin(), one.end()) / *std::min_element(some.begin(), some.end()));
    } else {
      const std::string other = name.substr(colon + 2);
      const std::string what =
          other == "1 lane" ? fmt::format("{} lanes", default_streams) : std::string("quick engine");
      add(fmt::format("{}: {} over {}", pair, what, other),
          base->at("tokens_per_second").get<double>() / row.at("tokens_per_second").get<double>());
    }
  }
  return all;
}

}  // namespace speclab
