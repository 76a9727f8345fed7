// Reads responses of SGLang. Their meta_info counts verifications, drafted and accepted tokens, and, since
// about v0.5.9, how many verifications accepted 0, 1, 2, ... tokens. Names of before and after 2026.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "serving/advisor/json_records.hpp"
#include "serving/advisor/log_format.hpp"

namespace speclab {

namespace {

constexpr const char* verifications_key = "spec_verify_ct";
/// A record lacks one of these keys only if it is broken, or of a version without histograms.
const RecordKeys sglang_keys = {verifications_key, "spec_correct_drafts_histogram", "spec_accept_histogram"};

/// Throws UsageError if runs without a draft emitted a part of the answer.
void check_all_verified(const JsonPlace& place, std::uint64_t rounds, std::uint64_t drafted,
                        std::uint64_t accepted) {
  if (!place.has("completion_tokens")) return;
  const std::uint64_t emitted = count_in(place.at("completion_tokens"));
  check_drafting(place.where, rounds + 1, runs_of(emitted, accepted, 1), accepted);
  check_emitted(place.where, rounds, drafted, accepted, emitted, 1);
}

/// Histograms end at the longest round seen. Throws UsageError if chains of the drafted tokens would hardly
/// have ended there: all rounds that accepted so much would have been rejected at the next position. A tree
/// drafts more tokens than it can accept. At most about one of nine files of chains is refused so.
void refuse_trees(const ModelLog& log, const LogSource& source) {
  if (source.options().part) return;
  constexpr double unlikely = 0.1;
  const std::vector<std::uint64_t>& accepted = log.counts.accepted;
  const auto longest = static_cast<std::size_t>(
      std::count_if(accepted.begin(), accepted.end(), [](std::uint64_t rounds) { return rounds > 0; }));
  if (longest == 0 || longest == accepted.size()) return;
  const double alpha =
      static_cast<double>(log.counts.total_accepted()) / static_cast<double>(log.counts.total_examined());
  if (std::pow(1 - alpha, accepted[longest - 1]) >= unlikely) return;
  if (source.drafted() && static_cast<std::size_t>(*source.drafted()) == accepted.size()) return;
  throw UsageError(
      "{}: up to {} tokens drafted in a verification, but {} verifications accepted {} and none more: of trees there is no α, and {:.4g} tokens were emitted a run; if the drafts were chains, give --drafted {}",
      source.name(), accepted.size(), accepted[longest - 1], longest,
      1 + static_cast<double>(log.counts.total_accepted()) / static_cast<double>(log.counts.rounds),
      accepted.size());
}

void add_request(ModelLog& log, const JsonPlace& place, const LogSource& source) {
  const std::uint64_t rounds = count_in(place.at(verifications_key));
  if (rounds == 0) return;
  const auto drafted_place =
      first_of(place, {"spec_num_proposed_drafts", "spec_draft_token_num", "spec_proposed_drafts"});
  const auto histogram = first_of(place, {"spec_correct_drafts_histogram", "spec_accept_histogram"});
  if (histogram && histogram->value->is_array() && !histogram->value->empty()) {
    std::vector<std::uint64_t> by_accepted = counts_in(*histogram);
    // The histogram ends at the longest round seen; the drafted tokens tell how long rounds were.
    const auto steps = std::accumulate(by_accepted.begin(), by_accepted.end(), std::uint64_t{0});
    if (steps == 0) return;
    const std::uint64_t drafted = drafted_place      ? count_in(*drafted_place)
                                  : source.drafted() ? steps * drafted_option(source, "")
                                                     : steps * (by_accepted.size() - 1);
    const std::uint64_t gamma = checked_draft(place.where, (drafted + steps - 1) / steps);
    if (by_accepted.size() < gamma + 1) by_accepted.resize(gamma + 1);
    std::uint64_t kept = 0;
    for (std::size_t i = 0; i < by_accepted.size(); ++i) kept += i * by_accepted[i];
    const auto correct = static_cast<double>(kept);
    check_stated(place, {{verifications_key, static_cast<double>(steps)},
                         {"spec_num_correct_drafts", correct},
                         {"spec_accept_token_num", correct},
                         {"spec_accepted_drafts", correct}});
    // The length counts the prompt's token, and not those beyond the end of the text.
    if (place.has("spec_accept_length"))
      check_stated(place.where, "spec_accept_length", place.at("spec_accept_length").number(),
                   1 + correct / static_cast<double>(steps),
                   two_decimals_rounding + static_cast<double>(gamma + 1) / static_cast<double>(steps));
    check_all_verified(place, rounds, drafted, kept);
    log.add_histogram(place.where, by_accepted, drafted);
    return;
  }
  const auto accepted_place =
      first_of(place, {"spec_num_correct_drafts", "spec_accept_token_num", "spec_accepted_drafts"});
  std::uint64_t accepted = 0;
  if (accepted_place) {
    accepted = count_in(*accepted_place);
  } else {
    // completion_tokens / spec_verify_ct is the mean length, which includes the correction or bonus.
    const std::uint64_t emitted = count_in(place.at("completion_tokens"));
    accepted = emitted > rounds ? emitted - rounds : 0;
  }
  const std::uint64_t drafted =
      drafted_place ? count_in(*drafted_place)
                    : rounds * drafted_option(source, "meta_info of this version does not say");
  check_all_verified(place, rounds, drafted, accepted);
  log.add_sums(place.where, rounds, drafted, accepted);
}

ModelLogs read_sglang_response(const LogSource& source) {
  ModelLogs logs;
  for (const JsonRecord& record : records_with(source, sglang_keys))
    add_request(logs[record.model], record.place, source);
  for (const auto& [model, log] : logs) refuse_trees(log, source);
  return logs;
}

}  // namespace

LogFormat sglang_response_log_format() {
  return {
      "sglang_response",
      "SGLang",
      "Responses, one per line: meta_info of /generate, or with return_spec_tokens_details of the OpenAI API.",
      "{\"text\": \"\", \"meta_info\": {\"completion_tokens\": 106, \"spec_verify_ct\": 43, "
      "\"spec_num_correct_drafts\": 63, \"spec_num_proposed_drafts\": 215, \"spec_correct_drafts_histogram\": [11, 14, 11, 4, 0, 3]}}\n",
      "https://github.com/sgl-project/sglang/pull/33518",
      [](const LogSource& source) { return has_record_with(source, sglang_keys); },
      read_sglang_response};
}

}  // namespace speclab
