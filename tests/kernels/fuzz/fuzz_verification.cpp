// Verification of random batches in the emulator, beside the reference: every combination of rule, certain
// drafts, ids out of range, ragged lengths, format, known sums, temperatures, cut-offs, invalid rows and
// alignment. usage: fuzz_verification BATCHES [FIRST]; the batch of a number is the same everywhere.
//
// A fault is a decision that is not the reference's although its uniforms are further than 1e-5 from another
// outcome (less where rounding is magnified), a flag that says something else than happened, a result outside
// of where it belongs, an exception, or a cluster that leaves other bits than fused verification. Exit code 1
// if there was any.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/verify/dispatch.hpp"
#include "kernels/verify/implementation.hpp"
#include "kernels/verify/reference.hpp"

namespace speclab {

namespace {

/// Single precision's error of a probability or a weight, as in the other tests.
constexpr double band = 1e-5;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// Which options a batch has.
struct FuzzCase {
  KernelRule method;
  double lenience;
  Residual residual;
  Dtype dtype;
  std::int32_t requests, gamma, vocab;
  std::int32_t padding;  ///< elements after each row
  std::int32_t offset;   ///< elements before the first row
  bool certain, ragged, uniforms, temperatures, cutoffs, target_sums, draft_sums, damaged, tokens;
  double spread, distance, masked;
  BlocksWanted wanted;  ///< so that blocks take one tile or several
  simt::Order order;
};

class FuzzBatch {
  struct alignas(16) Vector {
    unsigned char bytes[16];
  };
  struct Options {
    std::vector<float> temperature, cutoff, sums;
  };

 public:
  explicit FuzzBatch(std::uint64_t number) : random_(number * 0x9e3779b97f4a7c15U + 1), how(draw_case()) {
    batch.requests = how.requests;
    batch.gamma = how.gamma;
    batch.vocab = how.vocab;
    batch.rule = {how.method, how.lenience, how.residual};
    make_options();
    make_rows();
    if (how.damaged) damage();
    batch.target = stored(target_, how.gamma + 1, target_bytes_);
    if (!how.certain) batch.draft = stored(draft_, how.gamma, draft_bytes_);
    make_sums();
    make_drafted();
    make_randomness();
    clear_results();
  }
  FuzzBatch(const FuzzBatch&) = delete;
  FuzzBatch& operator=(const FuzzBatch&) = delete;

  /// Room for one more request on both sides, which nobody may touch.
  void clear_results() {
    const auto count = static_cast<std::size_t>(how.requests) + 2;
    accepted.assign(count, untouched);
    next.assign(count, untouched);
    flags.assign(count, static_cast<std::uint32_t>(untouched));
    batch.accepted = accepted.data() + 1;
    batch.next = next.data() + 1;
    batch.flags = flags.data() + 1;
    tokens.assign((count - 1) * static_cast<std::size_t>(how.gamma + 1), untouched);
    counts.assign(count, untouched);
    if (how.tokens) {
      batch.tokens = tokens.data();
      batch.counts = counts.data() + 1;
    }
  }
  bool kept_to_its_place() const {
    return tokens.back() == untouched && counts.front() == untouched && counts.back() == untouched &&
           accepted.front() == untouched && accepted.back() == untouched && next.front() == untouched &&
           next.back() == untouched && flags.front() == static_cast<std::uint32_t>(untouched) &&
           flags.back() == static_cast<std::uint32_t>(untouched);
  }

 private:
  static constexpr std::int32_t untouched = -77;

  bool chance(double probability) { return std::uniform_real_distribution<>(0, 1)(random_) < probability; }
  std::int32_t whole(std::int32_t least, std::int32_t most) {
    return std::uniform_int_distribution<std::int32_t>(least, most)(random_);
  }
  template <class T, std::size_t N>
  T one_of(const T (&values)[N]) {
    return values[static_cast<std::size_t>(whole(0, static_cast<std::int32_t>(N) - 1))];
  }

  FuzzCase draw_case() {
    FuzzCase drawn{};
    drawn.method = one_of({KernelRule::token, KernelRule::lenient, KernelRule::block});
    drawn.lenience = one_of({1.0, 0.7, 0.05});
    drawn.residual = one_of({Residual::target_minus_draft, Residual::literal, Residual::target});
    drawn.dtype = one_of({Dtype::f32, Dtype::bf16, Dtype::f16});
    drawn.requests = whole(1, 4);
    drawn.gamma = chance(0.1) ? 0 : chance(0.03) ? whole(9, 20) : whole(1, 4);
    if (drawn.gamma > 8 && drawn.method != KernelRule::block) drawn.gamma *= 4;
    drawn.vocab = chance(0.04) ? one_of({8191, 8192, 8193, 8200, 16387, 20001})
                               : one_of({1, 2, 3, 7, 8, 9, 15, 16, 31, 64, 100, 255, 256, 1000});
    if (drawn.vocab > 8000) drawn.gamma = std::min(drawn.gamma, 2);
    drawn.padding = chance(0.5) ? 0 : whole(0, 17);
    drawn.offset = chance(0.5) ? 0 : whole(0, 9);
    drawn.certain = drawn.gamma > 0 && chance(0.3);
    drawn.ragged = chance(0.4);
    drawn.uniforms = chance(0.5);
    drawn.temperatures = chance(0.3);
    drawn.cutoffs = chance(0.3);
    drawn.target_sums = chance(0.3);
    drawn.draft_sums = !drawn.certain && drawn.gamma > 0 && chance(0.3);
    drawn.damaged = chance(0.1);
    drawn.spread = one_of({0.0, 0.5, 3.0, 8.0});
    drawn.distance = one_of({0.0, 0.01, 0.5, 1.5, 5.0});
    drawn.masked = one_of({0.0, 0.0, 0.2, 0.9});
    drawn.wanted = {one_of({1, 8, 2048}), one_of({1, 8, 1024})};
    drawn.tokens = chance(0.5);
    drawn.order = one_of({simt::Order::forward, simt::Order::backward, simt::Order::shuffled});
    return drawn;
  }

  std::size_t rows_of(std::int32_t positions) const {
    return static_cast<std::size_t>(how.requests) * static_cast<std::size_t>(positions);
  }

  void make_options() {
    for (const bool of_target : {true, false}) {
      if (!of_target && (how.certain || how.gamma == 0)) continue;
      const std::size_t rows = rows_of(how.gamma + (of_target ? 1 : 0));
      RowOptions& options = of_target ? batch.target_options : batch.draft_options;
      Options& kept = of_target ? target_options_ : draft_options_;
      if (how.temperatures) {
        const bool known = of_target ? how.target_sums : how.draft_sums;
        for (std::size_t i = 0; i < rows; ++i) {
          // A sum of exp(z / 0) is not a number that could be known.
          kept.temperature.push_back(known ? one_of({1.0F, 0.5F, 2.0F}) : one_of({1.0F, 0.3F, 2.0F, 0.0F}));
        }
        options.temperature = kept.temperature.data();
      }
      if (how.cutoffs) {
        for (std::size_t i = 0; i < rows; ++i) kept.cutoff.push_back(one_of({-infinity, -3.0F, 0.0F, 1.0F}));
        options.cutoff = kept.cutoff.data();
      }
    }
  }

  void make_rows() {
    std::normal_distribution<double> bell;
    const auto vocab = static_cast<std::size_t>(how.vocab);
    for (std::int32_t request = 0; request < how.requests; ++request) {
      for (std::int32_t i = 0; i <= how.gamma; ++i) {
        std::vector<float> target(vocab);
        std::vector<float> draft(vocab);
        for (std::size_t id = 0; id < vocab; ++id) {
          const double logit = how.spread * bell(random_);
          target[id] = static_cast<float>(logit);
          draft[id] =
              how.distance == 0 ? target[id] : static_cast<float>(logit + how.distance * bell(random_));
          if (chance(how.masked)) target[id] = -infinity;
          if (chance(how.masked)) draft[id] = -infinity;
        }
        // One id at least is above every cut-off, on both sides.
        target[vocab / 2] = draft[vocab / 2] = 2;
        target_.push_back(std::move(target));
        if (i < how.gamma) draft_.push_back(std::move(draft));
      }
    }
  }

  /// Sums that are known are of rows that nobody need read, so that their damage need not be seen.
  void damage() {
    const bool of_target = how.draft_sums || how.certain || how.gamma == 0 || chance(0.5);
    if (of_target && how.target_sums) return;
    auto& rows = of_target ? target_ : draft_;
    auto& row = rows[static_cast<std::size_t>(whole(0, static_cast<std::int32_t>(rows.size()) - 1))];
    if (chance(0.2)) {
      std::fill(row.begin(), row.end(), -infinity);
    } else {
      row[static_cast<std::size_t>(whole(0, how.vocab - 1))] = chance(0.5) ? not_a_number : infinity;
    }
  }

  /// The rows in the batch's format, NaN around them.
  LogitRows stored(const std::vector<std::vector<float>>& rows, std::int32_t positions,
                   std::vector<Vector>& bytes) {
    const std::int64_t stride = how.vocab + how.padding;
    const auto elements =
        static_cast<std::size_t>(how.offset) + rows.size() * static_cast<std::size_t>(stride);
    const auto size = static_cast<std::size_t>(dtype_bytes(how.dtype));
    bytes.assign(elements * size / sizeof(Vector) + 2, Vector{});
    with_logit_type(how.dtype, [&](auto logit) {
      using T = decltype(logit);
      auto* const first = reinterpret_cast<T*>(bytes.data());
      std::fill_n(first, bytes.size() * sizeof(Vector) / sizeof(T), from_float<T>(not_a_number));
      for (std::size_t row = 0; row < rows.size(); ++row) {
        T* const out = first + how.offset + static_cast<std::int64_t>(row) * stride;
        for (std::size_t id = 0; id < rows[row].size(); ++id) out[id] = from_float<T>(rows[row][id]);
      }
    });
    return {reinterpret_cast<unsigned char*>(bytes.data()) + static_cast<std::size_t>(how.offset) * size,
            how.dtype, stride * positions, stride};
  }

  /// Log-sum-exps of the rows as they are, or of rows that are larger or smaller than those.
  void make_sums() {
    for (const bool of_target : {true, false}) {
      if (!(of_target ? how.target_sums : how.draft_sums)) continue;
      const double off = one_of({0.0, 0.0, -1.0, 0.7});
      RowOptions& options = of_target ? batch.target_options : batch.draft_options;
      std::vector<float>& sums = of_target ? target_options_.sums : draft_options_.sums;
      const std::int32_t positions = how.gamma + (of_target ? 1 : 0);
      for (std::int32_t request = 0; request < how.requests; ++request) {
        for (std::int32_t i = 0; i < positions; ++i) {
          sums.push_back(static_cast<float>(log_sum(of_target, request, i) + off));
        }
      }
      options.log_sum_exp = sums.data();
    }
  }
  double log_sum(bool of_target, std::int32_t request, std::int32_t position) const {
    const RowOptions& options = batch.options(of_target);
    const auto at = batch.row_number(of_target, request, position);
    const double temperature =
        options.temperature == nullptr ? 1 : static_cast<double>(options.temperature[at]);
    double sum = 0;
    with_logit_type(how.dtype, [&](auto logit) {
      const auto* const row = row_of<decltype(logit)>(batch.rows(of_target), request, position);
      for (Token id = 0; id < how.vocab; ++id) {
        const float z = to_float(row[id]);
        if (options.cutoff != nullptr && z < options.cutoff[at]) continue;
        sum += std::exp(static_cast<double>(z) / temperature);
      }
    });
    return std::log(sum);
  }

  void make_drafted() {
    for (std::int32_t request = 0; request < how.requests; ++request) {
      lengths_.push_back(how.ragged ? whole(chance(0.1) ? -1 : 0, how.gamma + (chance(0.1) ? 1 : 0))
                                    : how.gamma);
      for (std::int32_t i = 0; i < how.gamma; ++i) {
        const auto& row = target_[static_cast<std::size_t>(request * (how.gamma + 1) + i)];
        const auto best = static_cast<Token>(std::max_element(row.begin(), row.end()) - row.begin());
        drafted_.push_back(chance(0.12)
                               ? one_of({-1, -2, how.vocab, how.vocab + 5, std::numeric_limits<Token>::min(),
                                         std::numeric_limits<Token>::max()})
                           : chance(0.6) ? best
                                         : whole(0, how.vocab - 1));
      }
    }
    batch.drafted = drafted_.data();
    if (how.ragged) batch.lengths = lengths_.data();
  }

  void make_randomness() {
    for (std::int32_t request = 0; request < how.requests; ++request) {
      addresses_.push_back(
          {random_(), static_cast<std::uint32_t>(random_()), static_cast<std::uint32_t>(request)});
      for (std::int32_t i = 0; i <= how.gamma; ++i) {
        // Block verification's h_i is 1 up to a rounding where p_i is 1: at 1 either decision is right.
        const double end = how.method == KernelRule::block && i < how.gamma ? 0 : one_of({0.0, 1.0});
        uniforms_.push_back(chance(0.05) ? end : std::uniform_real_distribution<>(0, 1)(random_));
      }
    }
    if (how.uniforms) {
      batch.uniforms = uniforms_.data();
    } else {
      batch.addresses = addresses_.data();
    }
  }

  std::mt19937_64 random_;

 public:
  FuzzCase how;
  VerifyBatch batch;
  std::vector<std::int32_t> accepted;
  std::vector<Token> next;
  std::vector<std::uint32_t> flags;
  std::vector<Token> tokens;
  std::vector<std::int32_t> counts;

 private:
  std::vector<std::vector<float>> target_, draft_;
  std::vector<Vector> target_bytes_, draft_bytes_;
  Options target_options_, draft_options_;
  std::vector<std::int32_t> lengths_;
  std::vector<Token> drafted_;
  std::vector<RandomAddress> addresses_;
  std::vector<double> uniforms_;
};

std::string text_of(const FuzzCase& how) {
  const char* const rules[] = {"token", "lenient", "block"};
  const char* const dtypes[] = {"f32", "bf16", "f16"};
  std::string text = std::string(rules[static_cast<int>(how.method)]) + " " +
                     dtypes[static_cast<int>(how.dtype)] + " B " + std::to_string(how.requests) + " gamma " +
                     std::to_string(how.gamma) + " V " + std::to_string(how.vocab);
  const auto add = [&](bool has, const char* name) {
    if (has) text += std::string(" ") + name;
  };
  add(how.certain, "certain");
  add(how.ragged, "ragged");
  add(how.uniforms, "uniforms");
  add(how.temperatures, "temperatures");
  add(how.cutoffs, "cutoffs");
  add(how.target_sums, "target-sums");
  add(how.draft_sums, "draft-sums");
  add(how.damaged, "damaged");
  add(how.padding > 0 || how.offset > 0, "unaligned");
  return text;
}

struct Totals {
  std::uint64_t requests = 0;
  std::uint64_t within_band = 0;
  std::uint64_t accepted = 0;
  std::uint64_t faults = 0;
};

/// How much an error of the weights is magnified in what is decided from them: 1 over this, the least of the
/// residual's total where the next token is drawn from one and, of block verification, of the Z_i + 1 - p_i
/// that acceptance probabilities are divided by. Where it is 0 the target equals the draft, and rounding
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
    const Token drafted = batch.drafted[request * batch.gamma + i];
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

/// Do the padded tokens and their count say what `accepted` and `next` do?
bool same_tokens(const VerifyBatch& batch, std::int32_t request) {
  if (batch.tokens == nullptr) return true;
  const bool has_next = batch.next[request] != invalid_token;
  std::vector<Token> expected(batch.drafted + request * batch.gamma,
                              batch.drafted + request * batch.gamma + batch.accepted[request]);
  if (has_next) expected.push_back(batch.next[request]);
  const bool counted = batch.counts[request] == static_cast<std::int32_t>(expected.size());
  expected.resize(static_cast<std::size_t>(batch.gamma) + 1, no_token);
  return counted && std::equal(expected.begin(), expected.end(), batch.tokens + request * (batch.gamma + 1));
}

/// What is wrong with the result of a request, or nothing.
std::string fault_of(const VerifyBatch& batch, std::int32_t request, const ReferenceVerdict& expected,
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
  const Token drafted = accepted == length ? 0 : batch.drafted[request * batch.gamma + accepted];
  const bool outside = drafted < 0 || drafted >= batch.vocab;
  if (outside != ((flags & flag_token_out_of_range) != 0)) return "the flag of an id out of range";
  const bool impossible =
      accepted < length && !batch.certain_drafts() && !outside &&
      probabilities(batch, false, request, accepted)[static_cast<std::size_t>(drafted)] == 0;
  if (impossible != ((flags & flag_zero_draft_probability) != 0))
    return "the flag of a draft probability of 0";
  return "";
}

/// On a workspace that holds numbers which are absurd as counts and as probabilities.
void run_fused(const VerifyBatch& batch, const BlocksWanted& wanted, simt::Order order) {
  std::vector<std::uint64_t> workspace(fused_layout(batch, nullptr, wanted).workspace_bytes / 8 + 32,
                                       0xa5a5a5a5a5a5a5a5U);
  const auto address = reinterpret_cast<std::uintptr_t>(workspace.data());
  FusedKernels::run(simt::EmulatedExecutor(order), batch,
                    reinterpret_cast<void*>((address + 255) / 256 * 256), wanted);
}

/// Runs a batch by fused verification, and in clusters where they can.
std::string fault_of(FuzzBatch& fuzz, Totals& totals) {
  const auto expected = verify_reference(fuzz.batch);
  run_fused(fuzz.batch, fuzz.how.wanted, fuzz.how.order);
  if (!fuzz.kept_to_its_place()) return "wrote beside its results";
  for (std::int32_t request = 0; request < fuzz.batch.requests; ++request) {
    const std::string fault =
        fault_of(fuzz.batch, request, expected[static_cast<std::size_t>(request)], totals);
    if (!fault.empty()) return "request " + std::to_string(request) + ": " + fault;
  }
  totals.requests += static_cast<std::uint64_t>(fuzz.batch.requests);
  if (unsupported_reason(Implementation::cluster, fuzz.batch)) return "";
  const auto accepted = fuzz.accepted;
  const auto next = fuzz.next;
  const auto flags = fuzz.flags;
  const auto tokens = fuzz.tokens;
  const auto counts = fuzz.counts;
  fuzz.clear_results();
  run_emulated(Implementation::cluster, fuzz.batch, fuzz.how.order);
  const bool same = fuzz.accepted == accepted && fuzz.next == next && fuzz.flags == flags &&
                    fuzz.tokens == tokens && fuzz.counts == counts;
  return same ? "" : "a cluster leaves other bits";
}

std::uint64_t number_of(const char* text) {
  std::uint64_t value = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || stop != end) {
    std::fprintf(stderr, "fuzz_verification: \"%s\" is no number; usage: fuzz_verification BATCHES [FIRST]\n",
                 text);
    std::exit(2);
  }
  return value;
}

}  // namespace

}  // namespace speclab

int main(int count, char** arguments) {
  using namespace speclab;
  const std::uint64_t batches = count > 1 ? number_of(arguments[1]) : 500;
  const std::uint64_t first = count > 2 ? number_of(arguments[2]) : 0;
  Totals totals;
  for (std::uint64_t number = first; number < first + batches; ++number) {
    FuzzBatch fuzz(number);
    std::string fault;
    try {
      fault = fault_of(fuzz, totals);
    } catch (const std::exception& error) {
      fault = error.what();
    }
    if (fault.empty()) continue;
    ++totals.faults;
    std::printf("batch %llu (%s): %s\n", static_cast<unsigned long long>(number), text_of(fuzz.how).c_str(),
                fault.c_str());
  }
  std::printf(
      "%llu batches, %llu requests, %llu tokens accepted, %llu requests within the band, %llu faults\n",
      static_cast<unsigned long long>(batches), static_cast<unsigned long long>(totals.requests),
      static_cast<unsigned long long>(totals.accepted), static_cast<unsigned long long>(totals.within_band),
      static_cast<unsigned long long>(totals.faults));
  return totals.faults == 0 ? 0 : 1;
}
