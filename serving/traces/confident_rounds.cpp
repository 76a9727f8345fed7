#include "serving/traces/confident_rounds.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "experiments/base/format/config_error.hpp"
#include "experiments/base/format/json_io.hpp"
#include "experiments/recording/json_document.hpp"

namespace speclab {

RecordedRounds read_confident_rounds(const std::string& file) {
  const std::string text = in_file(file, [&] { return read_text(file); });
  std::vector<RecordedRounds::Round> rounds;
  double sum = 0;
  for (const JsonDocument& document : json_documents(text, file)) {
    const JsonPlace line = place(document);
    RecordedRounds::Round& round = rounds.emplace_back();
    const JsonPlace said = line.at("confidences");
    for (std::size_t j = 0; j < said.size(); ++j) {
      const double one = said.at(j).number();
      if (!(one >= 0 && one <= 1)) said.at(j).refuse("a probability");
      round.confidences.push_back(static_cast<float>(one));
    }
    if (round.confidences.size() > longest_draft)
      said.refuse(fmt::format("at most {} drafted tokens", longest_draft));
    const JsonPlace accepted = line.at("accepted");
    const double count = accepted.number();
    if (!(count >= 0 && count <= static_cast<double>(round.confidences.size())) || count != std::floor(count))
      accepted.refuse(fmt::format("a whole number up to the {} drafted tokens", round.confidences.size()));
    round.accepted = static_cast<std::uint32_t>(count);
    if (line.has("weight")) {
      round.weight = line.at("weight").number();
      if (!(round.weight >= 0 && round.weight <= 1e15)) line.at("weight").refuse("a number of 0 or more");
    }
    sum += round.weight;
  }
  if (!(sum > 0)) throw UsageError("{}: no rounds, or all of weight 0", file);
  return recorded_rounds(std::move(rounds));
}

}  // namespace speclab
