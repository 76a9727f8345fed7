// Verifies random batches in the emulator and compares with the reference. They combine rule, certain drafts,
// ids out of range, ragged lengths, format, given sums, temperatures, cut-offs, invalid rows and alignment;
// every other batch also combines layouts (flattened, slotted, strided), two formats, probabilities, lowest
// ids of ties, masks, a draft's own vocabulary, seeds with positions, given bonus tokens and logarithms.
// usage: fuzz_verification BATCHES [FIRST]; the batch with a given number is the same everywhere.
//
// A fault is a decision that differs from the reference's although its uniforms are further than 1e-5 from
// another outcome (less where rounding is magnified), a wrong flag, a result written outside its place, an
// exception, or a cluster whose bits differ from fused verification's. Exit code 1 if there was any.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/verify/dispatch.hpp"
#include "kernels/verify/implementation.hpp"
#include "kernels/verify/reference.hpp"
#include "tests/kernels/fuzz/fuzz_run.hpp"

namespace speclab {

namespace {

/// Single precision's error of a probability or a weight, as in the other tests.
constexpr double band = 1e-5;

struct Totals {
  std::uint64_t requests = 0;
  std::uint64_t within_band = 0;
  std::uint64_t accepted = 0;
};

/// Returns the number by whose inverse errors of the weights are magnified in a decision: the least of the
/// residual's total, if the next token is drawn from a residual, and, in block verification, of the Z_i + 1 -
/// p_i that acceptance probabilities are divided by. If it is 0, the target equals the draft, and rounding
/// decides.
double conditioning(const VerifyBatch& batch, std::int32_t request, std::int32_t accepted) {
  const std::int32_t length = batch.length(request);
  const double lenience = batch.rule.method == KernelRule::lenient ? batch.rule.lenience : 1;
  const double scale = lenience == 1 || batch.rule.residual == Residual::target_minus_draft ? 1
                       : batch.rule.residual == Residual::literal                           ? lenience
                                                                                            : 0;
  double least = 1;
  double prefix = 1;
  for (std::int32_t i = 0; i < length; ++i) {
    const bool block = batch.rule.method == KernelRule::block;
    const auto target = probabilities(batch, true, request, i);
    auto draft = std::vector<double>(target.size());
    const Token drafted = batch.drafted_token(request, i);
    const bool inside = drafted >= 0 && drafted < batch.vocab;
    if (!batch.certain_drafts()) draft = probabilities(batch, false, request, i);
    if (batch.certain_drafts() && inside) draft[static_cast<std::size_t>(drafted)] = 1;
    double left_over = 0;
    for (std::size_t id = 0; id < target.size(); ++id) {
      left_over += std::max(0.0, prefix * target[id] - scale * draft[id]);
    }
    if (i == accepted) least = std::min(least, left_over);
    if (block && i > 0) least = std::min(least, left_over + 1 - prefix);
    const auto at = static_cast<std::size_t>(drafted);
    const double ratio = inside && draft[at] > 0 ? target[at] / draft[at] : 0;
    if (block) prefix = std::min(1.0, prefix * ratio);
  }
  return least;
}

/// Returns whether the padded tokens and their count agree with `accepted` and `next`.
bool same_tokens(const VerifyBatch& batch, std::int32_t request) {
  if (batch.tokens == nullptr) return true;
  const bool has_next = batch.next[request] != invalid_token;
  std::vector<Token> expected;
  for (std::int32_t i = 0; i < batch.accepted[request]; ++i)
    expected.push_back(batch.drafted_token(request, i));
  if (has_next) expected.push_back(batch.next[request]);
  const bool counted = batch.counts[request] == static_cast<std::int32_t>(expected.size());
  expected.resize(static_cast<std::size_t>(batch.gamma) + 1, no_token);
  return counted && std::equal(expected.begin(), expected.end(), batch.tokens + request * (batch.gamma + 1));
}

/// Returns the fault in the logarithms of a request's tokens, or an empty text.
std::string log_fault(const FuzzBatch& fuzz, std::int32_t request) {
  const VerifyBatch& batch = fuzz.batch;
  if (batch.log_probabilities == nullptr) return "";
  const std::int32_t accepted = batch.accepted[request];
  const std::int32_t length = batch.length(request);
  const std::int32_t count = accepted + (batch.next[request] == invalid_token ? 0 : 1);
  const auto close = [](float found, double expected) {
    const double other = static_cast<double>(found);
    // Block verification may accept tokens on both sides of an invalid row; then there is no next token.
    if (std::isnan(expected)) return std::isnan(other);
    return other == expected || std::abs(other - expected) <= 5e-5 + 2e-6 * std::abs(expected);
  };
  const auto wrong = [](std::int32_t i, float found, float sum, double expected, double expected_sum) {
    return "position " + std::to_string(i) + ": logarithms " + std::to_string(found) + ", " +
           std::to_string(sum) + " instead of " + std::to_string(expected) + ", " +
           std::to_string(expected_sum);
  };
  for (std::int32_t i = 0; i <= batch.gamma; ++i) {
    const float found = batch.log_probabilities[request * (batch.gamma + 1) + i];
    const float sum = batch.log_sum_exps[request * (batch.gamma + 1) + i];
    if (i >= count) {
      if (found != 0 || sum != 0) return wrong(i, found, sum, 0, 0);
    } else if (i == length && batch.bonus != nullptr) {
      if (!std::isnan(found) || !std::isnan(sum)) return wrong(i, found, sum, std::nan(""), std::nan(""));
    } else {
      const Token token = i < accepted ? batch.drafted_token(request, i) : batch.next[request];
      // Block verification may accept any id before an invalid row.
      const bool inside = token >= 0 && token < batch.vocab;
      const double probability =
          inside ? probabilities(batch, true, request, i)[static_cast<std::size_t>(token)] : 0;
      const View<const float>& given = batch.target_options.log_sum_exp;
      const double expected = batch.target.kind == RowKind::probabilities ? 0
                              : given != nullptr ? static_cast<double>(*batch.entry(given, true, request, i))
                              : batch.has_filters() ? token_logs(batch, request, i, token).log_sum_exp
                                                    : fuzz.log_sum(true, request, i);
      if (!close(found, std::log(probability)) || !close(sum, expected)) {
        return wrong(i, found, sum, std::log(probability), expected);
      }
    }
  }
  return "";
}

/// Returns the fault in the result of a request, or an empty text.
std::string fault_of(const VerifyBatch& batch, std::int32_t request, const ReferenceDecision& expected,
                     Totals& totals) {
  const std::int32_t accepted = batch.accepted[request];
  const Token next = batch.next[request];
  const std::uint32_t flags = batch.flags[request];
  const std::int32_t length = batch.length(request);
  if (length < 0 || length > batch.gamma) {
    const bool right = accepted == 0 && next == invalid_token && flags == flag_length_out_of_range &&
                       same_tokens(batch, request);
    return right ? "" : "a length out of range was not refused";
  }
  if (accepted < 0 || accepted > length) return "accepted is out of range";
  if (!same_tokens(batch, request)) return "tokens or counts say something else";
  if (next != invalid_token && (next < 0 || next >= batch.vocab)) return "next is no id";
  if ((next == invalid_token) != ((flags & flag_invalid_row) != 0)) return "the flag of an invalid row";
  if (expected.margin * conditioning(batch, request, expected.accepted) < band) {
    ++totals.within_band;
    return "";
  }
  if (accepted != expected.accepted || next != expected.next) {
    return "accepted " + std::to_string(accepted) + ", next " + std::to_string(next) + " instead of " +
           std::to_string(expected.accepted) + ", " + std::to_string(expected.next);
  }
  totals.accepted += static_cast<std::uint64_t>(accepted);
  if (next == invalid_token) return "";
  const Token drafted = accepted == length ? 0 : batch.drafted_token(request, accepted);
  const bool outside = drafted < 0 || drafted >= batch.vocab;
  if (outside != ((flags & flag_token_out_of_range) != 0)) return "the flag of an id out of range";
  const bool impossible =
      accepted < length && !batch.certain_drafts() && !outside &&
      probabilities(batch, false, request, accepted)[static_cast<std::size_t>(drafted)] == 0;
  if (impossible != ((flags & flag_zero_draft_probability) != 0))
    return "the flag of a draft probability of 0";
  return "";
}

/// Runs fused verification on a workspace that holds numbers which are absurd as counts and as probabilities.
void run_fused(const VerifyBatch& batch, const BlocksWanted& wanted, simt::Order order) {
  std::vector<std::uint64_t> workspace(fused_layout(batch, nullptr, wanted).workspace_bytes / 8 + 32,
                                       0xa5a5a5a5a5a5a5a5U);
  const auto address = reinterpret_cast<std::uintptr_t>(workspace.data());
  FusedKernels::run(simt::EmulatedExecutor(order), batch,
                    reinterpret_cast<void*>((address + 255) / 256 * 256), wanted);
}

/// Runs a batch by fused verification, and in clusters if the batch allows it, and returns the first fault.
std::string fault_of(FuzzBatch& fuzz, Totals& totals) {
  const auto expected = verify_reference(fuzz.batch);
  run_fused(fuzz.batch, fuzz.how.wanted, fuzz.how.order);
  if (!fuzz.kept_to_its_place()) return "wrote beside its results";
  for (std::int32_t request = 0; request < fuzz.batch.requests; ++request) {
    const std::string fault =
        fault_of(fuzz.batch, request, expected[static_cast<std::size_t>(request)], totals);
    if (!fault.empty()) return "request " + std::to_string(request) + ": " + fault;
    // Rounding may decide which ids a row keeps, and so its sum.
    if (fuzz.batch.has_filters() && expected[static_cast<std::size_t>(request)].margin < band) continue;
    const std::string log_fault_found = log_fault(fuzz, request);
    if (!log_fault_found.empty()) return "request " + std::to_string(request) + ": " + log_fault_found;
  }
  totals.requests += static_cast<std::uint64_t>(fuzz.batch.requests);
  if (unsupported_reason(Implementation::cluster, fuzz.batch)) return "";
  const auto accepted = fuzz.accepted;
  const auto next = fuzz.next;
  const auto flags = fuzz.flags;
  const auto tokens = fuzz.tokens;
  const auto counts = fuzz.counts;
  const auto bits_of = [](const std::vector<float>& numbers) {
    std::vector<std::uint32_t> bits;
    for (const float number : numbers) bits.push_back(bits_of_float(number));
    return bits;
  };
  const auto logs = bits_of(fuzz.log_probabilities);
  const auto sums = bits_of(fuzz.log_sum_exps);
  fuzz.clear_results();
  run_emulated(Implementation::cluster, fuzz.batch, fuzz.how.order);
  const bool same = fuzz.accepted == accepted && fuzz.next == next && fuzz.flags == flags &&
                    fuzz.tokens == tokens && fuzz.counts == counts &&
                    bits_of(fuzz.log_probabilities) == logs && bits_of(fuzz.log_sum_exps) == sums;
  return same ? "" : "a cluster leaves other bits";
}

}  // namespace

}  // namespace speclab

int main(int count, char** arguments) {
  using namespace speclab;
  const FuzzRange range = fuzz_range("fuzz_verification", count, arguments);
  Totals totals;
  const std::uint64_t faults =
      run_fuzz(range, [&](FuzzBatch& fuzz, std::uint64_t) { return fault_of(fuzz, totals); });
  std::printf(
      "%llu batches, %llu requests, %llu tokens accepted, %llu requests within the band, %llu faults\n",
      static_cast<unsigned long long>(range.batches), static_cast<unsigned long long>(totals.requests),
      static_cast<unsigned long long>(totals.accepted), static_cast<unsigned long long>(totals.within_band),
      static_cast<unsigned long long>(faults));
  return faults == 0 ? 0 : 1;
}
