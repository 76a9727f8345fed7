#include "experiments/bench/recording_suite.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "core/stop.hpp"
#include "experiments/advisor/recording_plan.hpp"
#include "experiments/bench/interleaved_runs.hpp"
#include "experiments/bench/temporary_folder.hpp"
#include "experiments/format/result_fields.hpp"
#include "experiments/page/cells.hpp"
#include "experiments/page/table.hpp"
#include "experiments/support/machine.hpp"

namespace speclab {

SPECLAB_RESULT(RecordingSpeed, "speed", what, bytes, seconds, spread, bytes_per_second);
SPECLAB_RESULT(RecordingReport, "recordings", machine, threads, speeds);

namespace {

namespace fs = std::filesystem;

std::uint32_t next_random(std::uint32_t& state) { return state = state * 1664525U + 1013904223U; }

void require_written(std::ofstream& file, const fs::path& path) {
  if (!file.flush())
    throw std::runtime_error(fmt::format("{}: cannot be written; is the disk full?", path.string()));
}

void write_columns(const fs::path& path, std::size_t tokens) {
  std::ofstream file(path, std::ios::binary);
  file << "sequence,position,token,logp,logq\n";
  std::uint32_t state = 1;
  std::string lines;
  constexpr std::size_t sequence = 1000;
  for (std::size_t i = 0; i < tokens; ++i) {
    const double logp = -static_cast<double>(next_random(state) >> 8U) / (1U << 22U);
    const double logq = -static_cast<double>(next_random(state) >> 8U) / (1U << 22U);
    lines += fmt::format("{},{},{},{:.6f},{:.6f}\n", i / sequence, i % sequence, state >> 17U, logp, logq);
    if (i % sequence == sequence - 1 || i + 1 == tokens) {
      end_if_stopped();
      file << lines;
      lines.clear();
    }
  }
  require_written(file, path);
}

/// Logits from -8 to 8 in half precision, the same few rows again and again.
void write_rows(const fs::path& path, std::size_t rows, std::size_t vocab) {
  const std::uint64_t bytes = 2 * rows * vocab;
  const std::string header =
      fmt::format(R"({{"target":{{"dtype":"F16","shape":[{0},{1}],"data_offsets":[0,{2}]}},)"
                  R"("draft":{{"dtype":"F16","shape":[{0},{1}],"data_offsets":[{2},{3}]}},)"
                  R"("tokens":{{"dtype":"I64","shape":[{0}],"data_offsets":[{3},{4}]}}}})",
                  rows, vocab, bytes, 2 * bytes, 2 * bytes + 8 * rows);
  std::ofstream file(path, std::ios::binary);
  const std::uint64_t length = header.size();
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << header;
  constexpr std::size_t kinds = 16;
  std::uint32_t state = 1;
  std::vector<std::uint16_t> numbers(kinds * vocab);
  for (std::uint16_t& one : numbers) {
    const std::uint32_t random = next_random(state) >> 16U;
    one = static_cast<std::uint16_t>((random & 0x83FFU) | (14U + random / 0x400U % 4U) << 10U);
  }
  for (std::size_t row = 0; row < 2 * rows; ++row) {
    end_if_stopped();
    file.write(reinterpret_cast<const char*>(numbers.data() + row * 7 % kinds * vocab),
               static_cast<std::streamsize>(2 * vocab));
  }
  for (std::size_t row = 0; row < rows; ++row) {
    const std::int64_t token = static_cast<std::int64_t>(row * 31 % vocab);
    file.write(reinterpret_cast<const char*>(&token), sizeof token);
  }
  require_written(file, path);
}

}  // namespace

RecordingReport run_recording_suite(const RecordingSuiteOptions& options) {
  const TemporaryFolder folder;
  const fs::path columns = folder.path / "columns.csv";
  const fs::path rows = folder.path / "rows.safetensors";
  write_columns(columns, options.tokens);
  write_rows(rows, options.rows, options.vocab);

  struct Measured {
    std::string what;
    fs::path file;
    TimedJob job;
  };
  const PlannedPair pair{.costs = {ConstantCost{1}, ConstantCost{0.05}}, .cost_from = "given"};
  const std::vector<Measured> all{
      {fmt::format("two columns, {} tokens: read", options.tokens), columns,
       [&] { read_recording(columns.string()); }},
      {fmt::format("two columns, {} tokens: read and planned", options.tokens), columns,
       [&] { plan_recording(read_recording(columns.string()), columns.string(), {}, pair, {}); }},
      {fmt::format("rows of f16, [{}, {}] twice: read", options.rows, options.vocab), rows,
       [&] { read_recording(rows.string()); }}};
  std::vector<TimedJob> jobs;
  for (const Measured& one : all) {
    one.job();  // so that files are in memory
    jobs.emplace_back(one.job);
  }
  const std::vector<Timing> timings = measure_interleaved(jobs, options.repetitions);
  RecordingReport report;
  report.machine = machine_description();
  report.threads = thread_count();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto bytes = static_cast<double>(fs::file_size(all[i].file));
    const double seconds = median(timings[i].wall_seconds);
    report.speeds.push_back({all[i].what, bytes, seconds, spread(timings[i].wall_seconds), bytes / seconds});
  }
  return report;
}

std::string recording_report_text(const RecordingReport& report) {
  Table table{"recordings",
              fmt::format("{}, {} threads", report.machine, report.threads),
              {"what", "GB", "seconds", "spread", "GB/s"}};
  for (const RecordingSpeed& one : report.speeds) {
    table.rows.push_back({text_cell(one.what), measured_cell(one.bytes / giga, 3),
                          measured_cell(one.seconds, 3), measured_cell(one.spread, 2),
                          measured_cell(one.bytes_per_second / giga, 3)});
  }
  return terminal(table);
}

}  // namespace speclab
