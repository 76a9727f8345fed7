#include <fmt/format.h>

#include <filesystem>

#include "experiments/base/command/print_result.hpp"
#include "experiments/base/command/verb.hpp"
#include "experiments/base/format/result_fields.hpp"
#include "experiments/base/page/table.hpp"
#include "experiments/shards/shard_files.hpp"

namespace speclab {

namespace {

struct StatusRow {
  int shard = 0;
  std::uint64_t cells = 0, finished = 0;
  bool complete = false;
  std::optional<double> seconds_left;
  std::optional<std::string> error;
  std::uint64_t damaged_lines = 0;
};

struct ShardStatus {
  int shards = 0, complete = 0;
  std::vector<StatusRow> states = {};
};

}  // namespace

SPECLAB_RESULT(StatusRow, "shard", shard, cells, finished, complete, seconds_left, error, damaged_lines);
SPECLAB_RESULT(ShardStatus, "status", shards, complete, states);

namespace {

std::string status_text(const ShardStatus& status) {
  constexpr std::size_t max_rows = 40;
  Table table{"status", "Shards that are not complete", {"shard", "cells", "finished", "left", "error"}, {}};
  std::size_t waiting = 0;
  for (const StatusRow& row : status.states) {
    if (row.complete || ++waiting > max_rows) continue;
    table.rows.push_back({{fmt::format("{}/{}", row.shard, status.shards)},
                          {fmt::format("{}", row.cells)},
                          {fmt::format("{}", row.finished)},
                          {row.seconds_left ? fmt::format("{:.0f} s", *row.seconds_left) : ""},
                          {row.error.value_or("")}});
  }
  if (waiting > max_rows) table.note = fmt::format("The first {} of {}.", max_rows, waiting);
  const std::string head = fmt::format("{} of {} shards are complete\n", status.complete, status.shards);
  return waiting == 0 ? head : head + terminal(table) + "\n";
}

int status_main(const Values& values) {
  const std::filesystem::path folder = values.text("folder");
  const ShardedRun run = read_shards(folder);
  ShardStatus status{.shards = static_cast<int>(run.shards.size())};
  const ShardPlan plan(CellGrid(*run.head.config), status.shards);
  for (const ShardState& state : shard_states(folder, run, plan)) {
    status.complete += state.complete ? 1 : 0;
    StatusRow row{state.shard,        state.cells, state.finished, state.complete,
                  state.seconds_left, {},          state.damaged};
    if (!state.error.empty()) row.error = state.error;
    status.states.push_back(std::move(row));
  }
  print(status, described<ShardStatus>(), values.has("json"), status_text);
  return exit_ok;
}

}  // namespace

Verb status_verb() {
  Verb verb{
      .name = "status",
      .sentence = "print the progress of the shards of a run",
      .line = "speclab status FOLDER [options]",
      .about =
          R"(Prints the progress of a run's shards, from the journals in FOLDER/shards: finished cells, the time left
at the rate so far, and the error of a process that failed. Anyone who can read the folder can use it while
the shards run.
)",
      .examples = R"(  speclab status out/first
  speclab status out/first --json
)",
      .positional = "folder",
      .run = status_main};
  verb.add("json", "print JSON");
  return verb;
}

}  // namespace speclab
