#include "experiments/bench/row_suite.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <functional>
#include <utility>

#include "core/distribution/divergence.hpp"
#include "core/distribution/transforms.hpp"
#include "core/random/philox.hpp"
#include "core/random/random_source.hpp"
#include "core/rules/token.hpp"
#include "core/stop.hpp"
#include "experiments/bench/interleaved_runs.hpp"
#include "experiments/format/result_fields.hpp"
#include "experiments/page/cells.hpp"
#include "experiments/page/table.hpp"
#include "experiments/support/machine.hpp"
#include "sim/models/logits.hpp"

namespace speclab {

SPECLAB_RESULT(RowSpeed, "speed", what, vocab, seconds, spread, bytes, bytes_per_second);
SPECLAB_RESULT(RowReport, "rows", machine, rows, speeds);

namespace {

/// Logits about normal, and rows of a draft that resembles the target.
struct WorkedRows {
  std::size_t vocab;
  std::size_t count;
  std::vector<float> logits;   ///< of targets
  std::vector<double> drafts;  ///< rows
  std::vector<double> targets;
  std::vector<double> scratch;
  std::vector<Token> order;

  WorkedRows(std::size_t vocabulary, std::size_t rows) : vocab(vocabulary), count(rows) {
    constexpr float deviation = 4;  // rows of about 5 nats
    Philox stream(1, Site{0, 0, Draw{Use::world, 0}});
    const auto normal = [&] {  // a sum of twelve uniforms
      float sum = -6;
      for (int i = 0; i < 12; ++i) sum += static_cast<float>(open_unit(stream()));
      return deviation * sum;
    };
    StopCounter now_and_then(1 << 14);
    for (std::size_t i = 0; i < vocab * count; ++i) {
      now_and_then.step();
      logits.push_back(normal());
    }
    // A draft that resembles the target: half of its logits, and noise.
    std::vector<float> own(vocab);
    for (std::size_t row = 0; row < count; ++row) {
      end_if_stopped();
      for (std::size_t i = 0; i < vocab; ++i) own[i] = (logits[row * vocab + i] + normal()) / 2;
      for (auto* all : {&drafts, &targets}) {
        row_of_logits(all == &drafts ? std::span<const float>(own) : logits_of(row), {}, scratch);
        all->insert(all->end(), scratch.begin(), scratch.end());
      }
    }
  }

  std::span<const float> logits_of(std::size_t row) const {
    return std::span(logits).subspan(row * vocab, vocab);
  }
  Row view(const std::vector<double>& all, std::size_t row) const {
    return {all.data() + row * vocab, static_cast<std::int32_t>(vocab)};
  }
  Row draft(std::size_t row) const { return view(drafts, row); }
  Row target(std::size_t row) const { return view(targets, row); }
};

struct RowJob {
  std::string what;
  double bytes_a_token;
  std::function<void(WorkedRows& made, std::size_t row)> work;
};

void adjust_by_definition(WorkedRows& made, std::size_t row, const Adjustment& how) {
  made.scratch.resize(made.vocab);
  softmax_of_logits(made.logits_of(row), 1, made.scratch);
  adjust(made.scratch, how, made.order);
  benchmark::DoNotOptimize(made.scratch.data());
}

void adjust_fused(WorkedRows& made, std::size_t row, const Adjustment& how) {
  row_of_logits(made.logits_of(row), how, made.scratch);
  benchmark::DoNotOptimize(made.scratch.data());
}

void correct(const Row& target, const Row& draft) {
  constexpr double middle = 0.5;
  benchmark::DoNotOptimize(inverse_cdf(TokenRule().replacement(target, draft), middle));
}

std::vector<RowJob> row_jobs() {
  constexpr double logit = sizeof(float);
  constexpr double number = sizeof(double);
  std::vector<RowJob> jobs{
      {"memory: a row is read", number,
       [](WorkedRows& made, std::size_t row) {
         benchmark::DoNotOptimize(total_probability(made.target(row)));
       }},
      {"memory: logits are copied to a row", logit + number, [](WorkedRows& made, std::size_t row) {
         const auto logits = made.logits_of(row);
         made.scratch.assign(logits.begin(), logits.end());
         benchmark::DoNotOptimize(made.scratch.data());
       }}};
  const std::pair<const char*, Adjustment> options[] = {{"softmax", {}},
                                                        {"T = 0.7", {.temperature = 0.7}},
                                                        {"T = 0", {.temperature = 0}},
                                                        {"top-k 50", {.top_k = 50}},
                                                        {"top-p 0.95", {.top_p = 0.95}},
                                                        {"T = 0.7, top-k 50, top-p 0.95", {0.7, 50, 0.95}}};
  for (const auto& [name, how] : options) {
    if (!how.identity()) {
      jobs.push_back({fmt::format("{}, as defined", name), logit + number,
                      [how](WorkedRows& made, std::size_t row) { adjust_by_definition(made, row, how); }});
    }
    jobs.push_back({fmt::format("{}{}", name, how.identity() ? "" : ", fused"), logit + number,
                    [how](WorkedRows& made, std::size_t row) { adjust_fused(made, row, how); }});
  }
  jobs.push_back({"overlap", 2 * number, [](WorkedRows& made, std::size_t row) {
                    benchmark::DoNotOptimize(overlap(made.target(row), made.draft(row)));
                  }});
  jobs.push_back({"correction", 2 * number,
                  [](WorkedRows& made, std::size_t row) { correct(made.target(row), made.draft(row)); }});
  jobs.push_back({"draw", number, [](WorkedRows& made, std::size_t row) {
                    constexpr double middle = 0.5;
                    benchmark::DoNotOptimize(inverse_cdf(made.target(row), middle));
                  }});
  jobs.push_back({"a rejected position: softmax, overlap, correction", logit + 2 * number,
                  [](WorkedRows& made, std::size_t row) {
                    row_of_logits(made.logits_of(row), {}, made.scratch);
                    const Row target{made.scratch.data(), static_cast<std::int32_t>(made.vocab)};
                    benchmark::DoNotOptimize(overlap(target, made.draft(row)));
                    correct(target, made.draft(row));
                  }});
  return jobs;
}

}  // namespace

RowReport run_row_suite(const RowSuiteOptions& options) {
  RowReport report{machine_description(), options.rows, {}};
  const std::vector<RowJob> work = row_jobs();
  for (const std::int64_t vocab : options.vocabs) {
    WorkedRows made(static_cast<std::size_t>(vocab), options.rows);
    std::vector<TimedJob> jobs;
    for (const RowJob& one : work) {
      jobs.emplace_back([&made, &one] {
        for (std::size_t row = 0; row < made.count; ++row) {
          end_if_stopped();
          one.work(made, row);
        }
      });
    }
    const std::vector<Timing> timings = measure_interleaved(jobs, options.repetitions);
    for (std::size_t i = 0; i < work.size(); ++i) {
      const double seconds = median(timings[i].processor_seconds) / static_cast<double>(options.rows);
      const double bytes = work[i].bytes_a_token * static_cast<double>(vocab);
      report.speeds.push_back(
          {work[i].what, vocab, seconds, spread(timings[i].processor_seconds), bytes, bytes / seconds});
    }
  }
  return report;
}

std::string row_report_text(const RowReport& report) {
  constexpr double micro = 1e-6;
  Table table{
      "rows",
      fmt::format("{}; one thread, {} rows in turn", report.machine, report.rows),
      {"what", "vocabulary", "µs a row", "spread", "GB/s"},
      {},
      "GB/s: bytes that have to be read and written, each once, over the time. Logits are f32, rows f64. As "
      "defined: a softmax, then the options on its probabilities."};
  for (const RowSpeed& one : report.speeds) {
    table.rows.push_back({text_cell(one.what), number_cell(static_cast<double>(one.vocab)),
                          measured_cell(one.seconds / micro, 3), measured_cell(one.spread, 2),
                          measured_cell(one.bytes_per_second / giga, 3)});
  }
  return terminal(table);
}

}  // namespace speclab
