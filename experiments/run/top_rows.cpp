#include "experiments/run/top_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/distribution/transforms.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/base/support/atomic_file.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/recording/columns.hpp"
#include "experiments/recording/json_document.hpp"
#include "experiments/recording/recording_source.hpp"

namespace speclab {

namespace {

TopRow top_of(Row row, std::int32_t largest, std::vector<Token>& order) {
  std::vector<double> cut(row.probabilities, row.probabilities + row.size);
  order.clear();
  const auto keep = static_cast<std::size_t>(std::min(largest, row.size));
  if (keep < cut.size()) {
    keep_largest(cut, keep, order);
  } else {
    for (Token id = 0; id < row.size; ++id) order.push_back(id);
    std::sort(order.begin(), order.end(), LargerProbability{cut});
  }
  TopRow top;
  double kept = 0;
  for (const Token id : order) {
    if (!(row[id] > 0)) continue;
    top.ids.push_back(id);
    top.logp.push_back(std::log(row[id]));
    kept += row[id];
  }
  top.tail = std::max(0.0, total_probability(row) - kept);
  return top;
}

std::string json_of(const TopRow& row) {
  return fmt::format(R"({{"ids": [{}], "logp": [{:.7g}], "tail": {:.6g}}})", fmt::join(row.ids, ", "),
                     fmt::join(row.logp, ", "), row.tail);
}

TopRow read_row(const JsonPlace& place) {
  TopRow row;
  std::set<std::int64_t> seen;
  const JsonPlace ids = place.at("ids");
  const JsonPlace logp = place.at("logp");
  if (ids.size() != logp.size() || ids.size() == 0) logp.refuse("as many as there are ids, at least one");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!ids.at(i).value->is_number_unsigned()) ids.at(i).refuse("a token id");
    row.ids.push_back(ids.at(i).value->get<std::int64_t>());
    if (!seen.insert(row.ids.back()).second) ids.at(i).refuse("an id that has not come before");
    row.logp.push_back(logp.at(i).number());
    if (!(row.logp.back() <= 0)) logp.at(i).refuse("a natural logarithm of a probability, at most 0");
  }
  row.tail = place.at("tail").number();
  double sum = row.tail;
  for (const double logarithm : row.logp) sum += std::exp(logarithm);
  // Logarithms have seven digits.
  constexpr double rounding = 1e-4;
  if (!(row.tail >= 0) || std::abs(sum - 1) > rounding)
    place.refuse(fmt::format(
        "probabilities that sum to 1 with the tail, the probability of all other ids, not to {:.6g}", sum));
  return row;
}

}  // namespace

void write_top_rows(const Setup& setup, const RecordedTokens& recorded, const std::filesystem::path& file,
                    std::int32_t largest) {
  write_file_atomically(file, [&](const std::function<void(std::string_view)>& out) {
    std::vector<double> scratch;
    std::vector<Token> order;
    std::uint32_t trial = 0;
    for (const RecordedSequence& sequence : recorded.recording.sequences) {
      std::vector<Token> context = setup.simulation.prompt(trial++);
      for (std::size_t i = 0; i < sequence.count; ++i) {
        const std::size_t at = sequence.first + i;
        const TopRow target = top_of(setup.target.next(context, scratch), largest, order);
        const TopRow draft = top_of(setup.draft.next(context, scratch), largest, order);
        const double logq = recorded.recording.draft[0][at];
        out(fmt::format(
            R"({{"sequence": {}, "position": {}, "token": {}, "logp": {:.7g}, "logq": {}, "entropy": {:.6g}, )",
            sequence.name, i, recorded.tokens[at], recorded.recording.target[at],
            std::isfinite(logq) ? fmt::format("{:.7g}", logq) : "\"-inf\"", recorded.recording.entropy[at]));
        out(fmt::format("\"target\": {}, \"draft\": {}}}\n", json_of(target), json_of(draft)));
        context.push_back(recorded.tokens[at]);
      }
    }
  });
}

std::vector<TopRows> read_top_rows(const std::string& file) {
  const RecordingSource source(file);
  std::vector<TopRows> all;
  for (const TextLine& line : lines_of(source.bytes(), file)) {
    const Json json = json_line(line.text, line.where);
    if (!json.is_object()) {
      throw UsageError(
          "{}: this line is no JSON object; rows are in the files that speclab record --top-k writes",
          line.where);
    }
    const JsonPlace here{&json, line.where, true};
    check_line(here);
    all.push_back({line.where, read_row(here.at("target")), read_row(here.at("draft"))});
  }
  if (all.empty()) throw UsageError("{}: has no rows", file);
  return all;
}

}  // namespace speclab
