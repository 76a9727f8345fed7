#include "experiments/recording/row_files.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include "experiments/base/format/config_error.hpp"
#include "experiments/recording/log_probability.hpp"
#include "sim/any_rule.hpp"
#include "sim/parallel.hpp"

namespace speclab {

namespace {

/// The rows that one thread reads at a time: some megabytes with large vocabularies.
constexpr std::size_t rows_at_once = 32;

void check_sets(const RowFile& file) {
  const RowSet& p = file.target;
  const RowSet& q = *file.draft;
  if (p.vocab != q.vocab) {
    throw UsageError("{}: rows of {} numbers; {} has {}: the vocabularies differ", q.where, q.vocab, p.where,
                     p.vocab);
  }
  if (p.rows != q.rows || p.rows != file.tokens.size()) {
    throw UsageError("{}: {} rows, {} has {}, and there are {} tokens; each token needs its rows", q.where,
                     q.rows, p.where, p.rows, file.tokens.size());
  }
  for (std::size_t i = 0; i < file.tokens.size(); ++i) {
    if (file.tokens[i] >= 0 && static_cast<std::size_t>(file.tokens[i]) < p.vocab) continue;
    throw UsageError("{}: token {} is {}, outside of a vocabulary of {}", p.where, i, file.tokens[i],
                     p.vocab);
  }
}

[[noreturn]] void refuse_row(const RowFile& file, std::size_t row) {
  std::vector<float> scratch;
  std::vector<double> numbers(file.target.vocab);
  for (const RowSet* set : {&file.target, &*file.draft}) {
    read_row(set->at(row, scratch), set->number, set->vocab, numbers.data());
    const bool probabilities = set->meaning == RowMeaning::probabilities;
    double sum = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      sum += numbers[i];
      if (std::isnan(numbers[i]) || (probabilities ? numbers[i] < 0 : numbers[i] == INFINITY)) {
        throw UsageError("{}: row {} has {} at token {}; expected {}", set->where, row, numbers[i], i,
                         probabilities ? "probabilities, as in the first row" : "logits");
      }
    }
    if (guess_meaning(set->at(row, scratch), set->number, set->vocab) != set->meaning)
      throw UsageError("{}: row {} sums to {:.6g}, but the first row holds {}", set->where, row, sum,
                       probabilities ? "probabilities" : "logits");
    if (!probabilities && *std::max_element(numbers.begin(), numbers.end()) == -INFINITY)
      throw UsageError("{}: row {} is -infinity throughout", set->where, row);
  }
  throw UsageError("{}: row {} is not a distribution", file.target.where, row);
}

/// Forms of logarithms of probabilities: those of exp(factor x). The first is the expected one.
constexpr std::array<std::pair<const char*, double>, 4> log_forms{
    {{"natural logarithms", 1},
     {"logarithms of base 10", std::numbers::ln10},
     {"logarithms of base 2", std::numbers::ln2},
     {"negated logarithms", -1}}};

/// Whether a set has shown a number that is no probability, and in which forms all its rows sum to 1.
class SeenLogits {
 public:
  explicit SeenLogits(const RowSet& set) : set_(set), seen_(set.meaning == RowMeaning::probabilities) {
    for (std::atomic<bool>& all : all_sum_to_1_) all = !seen_;
  }

  void look_at(const void* row, std::vector<double>& scratch) {
    if (seen_ && std::none_of(all_sum_to_1_.begin() + 1, all_sum_to_1_.end(), std::identity())) return;
    scratch.resize(set_.vocab);
    read_row(row, set_.number, set_.vocab, scratch.data());
    if (std::ranges::any_of(scratch, [](double number) { return number < 0 || number > 1; })) seen_ = true;
    for (std::size_t form = 0; form < log_forms.size(); ++form) {
      if (!all_sum_to_1_[form]) continue;
      constexpr double rounding = 0.01;  // of half precision
      double sum = 0;
      for (const double number : scratch) sum += std::exp(log_forms[form].second * number);
      if (!(std::abs(sum - 1) <= rounding)) all_sum_to_1_[form] = false;
    }
  }
  /// Throws UsageError if all numbers that were looked at lie between 0 and 1, or have another form.
  void require() const {
    for (std::size_t form = 1; form < log_forms.size() && !all_sum_to_1_[0]; ++form) {
      if (!all_sum_to_1_[form]) continue;
      throw UsageError("{}: rows are {} of probabilities; expected {}: multiply them by {:.7g}", set_.where,
                       log_forms[form].first, log_forms[0].first, log_forms[form].second);
    }
    if (seen_) return;
    throw UsageError(
        "{}: all numbers are from 0 to 1, but rows do not sum to 1, so they are neither probabilities nor clearly logits: divide each row by its sum, or subtract a number above 1 from all logits, which changes no distribution",
        set_.where);
  }

 private:
  const RowSet& set_;
  std::atomic<bool> seen_;
  std::array<std::atomic<bool>, log_forms.size()> all_sum_to_1_;
};

void to_probabilities(const void* row, const RowSet& set, double* out) {
  read_row(row, set.number, set.vocab, out);
  const double most = *std::max_element(out, out + set.vocab);
  double sum = 0;
  for (std::size_t i = 0; i < set.vocab; ++i) {
    if (set.meaning == RowMeaning::logits) out[i] = std::exp(out[i] - most);
    sum += out[i];
  }
  for (std::size_t i = 0; i < set.vocab; ++i) out[i] /= sum;
}

double rate_of(const AnyRule& rule, const RowSet& p, const void* target, const RowSet& q, const void* draft,
               std::vector<double>& scratch) {
  scratch.resize(2 * p.vocab);
  to_probabilities(target, p, scratch.data());
  to_probabilities(draft, q, scratch.data() + p.vocab);
  const auto size = static_cast<std::int32_t>(p.vocab);
  return rule->context_acceptance(Row{scratch.data(), size}, Row{scratch.data() + p.vocab, size});
}

}  // namespace

Recording measure_rows(const RowFile& file, const AnyRule* rate) {
  check_sets(file);
  const std::size_t rows = file.tokens.size();
  if (rows == 0) throw UsageError("{}: has no rows", file.target.where);
  Recording recording;
  recording.sequences = file.sequences;
  recording.drawn = file.drawn;
  recording.target.resize(rows);
  recording.draft.assign(1, std::vector<double>(rows));
  recording.entropy.resize(rows);
  recording.rows.overlap.resize(rows);
  recording.rows.draft_share.resize(rows);
  const RowSet& p = file.target;
  const RowSet& q = *file.draft;
  SeenLogits p_logits(p), q_logits(q);
  for_each_index((rows + rows_at_once - 1) / rows_at_once, [&](std::size_t block) {
    RowMeter meter;
    std::vector<float> p_scratch;
    std::vector<float> q_scratch;
    std::vector<double> doubles;
    const std::size_t end = std::min(rows, (block + 1) * rows_at_once);
    for (std::size_t row = block * rows_at_once; row < end; ++row) {
      const void* const target = p.at(row, p_scratch);
      const void* const draft = q.at(row, q_scratch);
      const RowMeasures found = meter.measure({target, p.number, p.meaning}, {draft, q.number, q.meaning},
                                              p.vocab, static_cast<std::size_t>(file.tokens[row]));
      if (std::isnan(found.log_target) || std::isnan(found.log_draft) ||
          guess_meaning(target, p.number, p.vocab) != p.meaning ||
          guess_meaning(draft, q.number, q.vocab) != q.meaning)
        refuse_row(file, row);
      p_logits.look_at(target, doubles);
      q_logits.look_at(draft, doubles);
      recording.target[row] = file.drawn ? target_log(std::min(found.log_target, 0.0), p.where, row)
                                         : std::min(found.log_target, 0.0);
      recording.draft[0][row] = std::min(found.log_draft, 0.0);
      recording.entropy[row] = found.entropy;
      recording.rows.overlap[row] =
          std::min(rate == nullptr ? found.overlap : rate_of(*rate, p, target, q, draft, doubles), 1.0);
      recording.rows.draft_share[row] = std::min(found.draft_share, 1.0);
    }
  });
  p_logits.require();
  q_logits.require();
  return recording;
}

RowFile join(const RowFile& target, const RowFile& draft) {
  if (target.draft || draft.draft) {
    throw UsageError("{}: holds both models' rows; leave out --draft-recording",
                     target.draft ? target.target.where : draft.target.where);
  }
  const std::size_t both = std::min(target.tokens.size(), draft.tokens.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (target.tokens[i] == draft.tokens[i]) continue;
    throw UsageError("{}: token {} is {}, but {} has {} there: the texts or the tokenizers differ",
                     draft.target.where, i, draft.tokens[i], target.target.where, target.tokens[i]);
  }
  // A file without `sequence` has one.
  const auto [odd, there] = std::mismatch(
      draft.sequences.begin(), draft.sequences.end(), target.sequences.begin(), target.sequences.end(),
      [](const RecordedSequence& a, const RecordedSequence& b) { return a.first == b.first; });
  if (odd != draft.sequences.end() && draft.sequences.size() > 1)
    throw UsageError("{}: sequence {} has {} tokens from row {} on; {} has no such sequence there",
                     draft.target.where, odd->name, odd->count, odd->first, target.target.where);
  if (there != target.sequences.end() && draft.sequences.size() > 1)
    throw UsageError("{}: has no sequence from row {} on, where sequence {} of {} begins", draft.target.where,
                     there->first, there->name, target.target.where);
  RowFile joined = target;
  joined.draft = draft.target;
  joined.drawn = target.drawn && draft.drawn;
  joined.memory = std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
      target.memory, draft.memory);
  return joined;
}

std::vector<RecordedSequence> one_sequence(std::size_t tokens) { return {{"0", "", 0, tokens}}; }

std::vector<RecordedSequence> numbered_sequences(const std::vector<std::int64_t>& numbers,
                                                 const std::string& where) {
  std::vector<RecordedSequence> sequences;
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i == 0 || numbers[i] != numbers[i - 1]) {
      if (!seen.insert(numbers[i]).second) {
        throw UsageError("{}: sequence {} comes again at token {}; a sequence's tokens must be together",
                         where, numbers[i], i);
      }
      sequences.push_back({std::to_string(numbers[i]), "", i, 0});
    }
    ++sequences.back().count;
  }
  return sequences;
}

}  // namespace speclab
