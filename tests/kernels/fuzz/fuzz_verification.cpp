// Verification of random batches in the emulator, beside the reference: every combination of rule, certain
// drafts, ids out of range, ragged lengths, format, known sums, temperatures, cut-offs, invalid rows and
// alignment; in every other batch also of layouts (flattened, slotted, strided), two formats, probabilities,
// lowest ids of ties, masks, a draft's own vocabulary, seeds with positions, given bonus tokens and
// logarithms. usage: fuzz_verification BATCHES [FIRST]; the batch of a number is the same everywhere.
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
#include <numeric>
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

  Dtype draft_dtype;
  std::int32_t draft_vocab;
  bool placed;  ///< the draft's ids by a map
  bool target_probabilities, draft_probabilities, lowest, mask, flattened, slotted, strided, seeds, bonus,
      logs, filters;

  bool probabilities(bool of_target) const { return of_target ? target_probabilities : draft_probabilities; }
  std::int32_t target_positions() const { return gamma + (bonus ? 0 : 1); }
};

class FuzzBatch {
  struct alignas(16) Vector {
    unsigned char bytes[16];
  };
  struct Options {
    std::vector<float> temperature, cutoff, sums;
  };

 public:
  explicit FuzzBatch(std::uint64_t number)
      : random_(number * 0x9e3779b97f4a7c15U + 1), more_(~number), how(draw_case()) {
    batch.requests = how.requests;
    batch.gamma = how.gamma;
    batch.vocab = how.vocab;
    batch.rule = {how.method, how.lenience, how.residual};
    batch.ties = how.lowest ? Ties::lowest : Ties::shared;
    make_options();
    make_rows();
    if (how.damaged) damage();
    make_vocabularies();
    make_lengths();
    if (how.filters) make_filters();
    batch.target = stored(true, target_bytes_, target_index_);
    if (!how.certain) batch.draft = stored(false, draft_bytes_, draft_index_);
    make_sums();
    make_drafted();
    make_randomness();
    stride_options();
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
    log_probabilities.assign(tokens.size(), static_cast<float>(untouched));
    log_sum_exps = log_probabilities;
    if (how.logs) {
      batch.log_probabilities = log_probabilities.data();
      batch.log_sum_exps = log_sum_exps.data();
    }
  }
  bool kept_to_its_place() const {
    return log_probabilities.back() == static_cast<float>(untouched) &&
           log_sum_exps.back() == static_cast<float>(untouched) && tokens.back() == untouched &&
           counts.front() == untouched && counts.back() == untouched && accepted.front() == untouched &&
           accepted.back() == untouched && next.front() == untouched && next.back() == untouched &&
           flags.front() == static_cast<std::uint32_t>(untouched) &&
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
    drawn.wanted.cutoffs = drawn.wanted.next;
    drawn.tokens = chance(0.5);
    drawn.order = one_of({simt::Order::forward, simt::Order::backward, simt::Order::shuffled});
    drawn.draft_dtype = drawn.dtype;
    drawn.draft_vocab = drawn.vocab;
    std::swap(random_, more_);
    if (chance(0.5)) draw_more(drawn);
    std::swap(random_, more_);
    return drawn;
  }

  /// From random numbers of their own, so that a batch without these options is what it was before they came.
  void draw_more(FuzzCase& drawn) {
    const bool has_rows = drawn.gamma > 0 && !drawn.certain;
    drawn.logs = chance(0.6);
    drawn.seeds = chance(0.5);
    drawn.flattened = chance(0.35);
    drawn.slotted = chance(0.35);
    drawn.strided = chance(0.4);
    drawn.bonus = chance(0.25);
    drawn.filters = chance(0.3);
    if (drawn.filters) drawn.target_sums = false;
    drawn.lowest = chance(0.5) && !(drawn.temperatures && (drawn.target_sums || drawn.draft_sums));
    if (drawn.lowest && chance(0.7)) drawn.temperatures = !drawn.target_sums && !drawn.draft_sums;
    if (chance(0.4)) return;
    if (has_rows && chance(0.5)) drawn.draft_dtype = one_of({Dtype::f32, Dtype::bf16, Dtype::f16});
    drawn.draft_probabilities = has_rows && chance(0.4);
    drawn.target_probabilities = chance(0.2);
    drawn.mask = !drawn.target_probabilities && chance(0.4);
    if (has_rows && chance(0.4)) drawn.draft_vocab = whole(1, drawn.vocab);
    drawn.placed = has_rows && chance(0.3);
    if (drawn.target_probabilities) drawn.target_sums = drawn.filters = false;
    if (drawn.draft_probabilities) drawn.draft_sums = false;
  }

  /// Rows that a request has in memory where they lie one request after the other.
  std::int32_t rows_in_memory(bool of_target, std::int32_t request) const {
    const std::int32_t length = std::clamp(lengths_[static_cast<std::size_t>(request)], 0, how.gamma);
    return of_target ? length + how.target_positions() - how.gamma : length;
  }

  /// Lengths are drawn with the drafted tokens unless rows have to lie by them.
  void make_lengths() {
    if (!how.flattened) return;
    for (std::int32_t request = 0; request < how.requests; ++request) {
      std::swap(random_, more_);
      lengths_.push_back(how.ragged ? whole(chance(0.1) ? -1 : 0, how.gamma + (chance(0.1) ? 1 : 0))
                                    : how.gamma);
      std::swap(random_, more_);
    }
    for (const bool of_target : {true, false}) {
      std::vector<std::int32_t>& index = of_target ? target_index_ : draft_index_;
      index.push_back(0);
      for (std::int32_t request = 0; request < how.requests; ++request) {
        index.push_back(index.back() + rows_in_memory(of_target, request));
      }
    }
  }

  /// Slots in any order, with gaps.
  std::vector<std::int32_t> slots() {
    std::vector<std::int32_t> all(static_cast<std::size_t>(how.requests) + 2);
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), more_);
    return all;
  }

  /// Top-k, top-p and min-p of each row, or one for each request.
  void make_filters() {
    std::swap(random_, more_);
    const std::int64_t of_row = chance(0.5) ? 1 : 0;
    const auto view = [&](const auto& numbers) {
      return View(numbers.data(), nullptr, how.gamma + 1, of_row);
    };
    for (std::size_t row = 0; row < rows_of(how.gamma + 1); ++row) {
      top_k_.push_back(
          one_of({0, 1, 2, 3, 50, how.vocab - 1, how.vocab, std::numeric_limits<std::int32_t>::max()}));
      top_p_.push_back(one_of({1e-6F, 0.1F, 0.6F, 0.95F, 0.999F, 1.0F}));
      min_p_.push_back(one_of({0.0F, 1e-9F, 0.05F, 0.5F, 1.0F}));
      if (!how.damaged || !chance(0.1)) continue;
      top_k_.back() = one_of({-1, 0});
      top_p_.back() = one_of({0.0F, -0.5F, 1.5F, not_a_number});
      min_p_.back() = one_of({-0.5F, 1.5F, not_a_number});
    }
    if (chance(0.6)) batch.top_k = view(top_k_);
    if (chance(0.6)) batch.top_p = view(top_p_);
    if (chance(0.4)) batch.min_p = view(min_p_);
    std::swap(random_, more_);
  }

  /// What the mask forbids, and the draft's rows by ids of its own.
  void make_vocabularies() {
    const auto vocab = static_cast<std::size_t>(how.vocab);
    if (how.mask) {
      const std::size_t words = (vocab + 31) / 32;
      for (std::size_t row = 0; row < rows_of(how.gamma + 1); ++row) {
        for (std::size_t word = 0; word < words; ++word) {
          auto bits = static_cast<std::uint32_t>(more_());
          if (how.method == KernelRule::token) bits |= static_cast<std::uint32_t>(more_());
          if (word == vocab / 2 / 32) bits |= 1U << (vocab / 2 % 32);
          mask_.push_back(bits);
        }
      }
      const auto stride = static_cast<std::int64_t>(words);
      batch.mask = {mask_.data(), nullptr, stride * (how.gamma + 1), stride};
    }
    if (how.draft_vocab < how.vocab) batch.draft_vocab = how.draft_vocab;
    if (how.placed) {
      // Ids of the target in any order, those beyond the draft's vocabulary nowhere or behind its end.
      std::vector<std::int32_t> ids(vocab);
      std::iota(ids.begin(), ids.end(), 0);
      std::shuffle(ids.begin(), ids.end(), more_);
      draft_place_.assign(vocab, -1);
      for (std::size_t place = 0; place < vocab; ++place) {
        const bool inside = place < static_cast<std::size_t>(how.draft_vocab);
        draft_place_[static_cast<std::size_t>(ids[place])] =
            static_cast<std::int32_t>(inside || place % 2 == 0 ? place : -1);
      }
      batch.draft_place = draft_place_.data();
    }
    for (std::vector<float>& row : draft_) {
      std::vector<float> own(static_cast<std::size_t>(how.draft_vocab), 0.0F);
      for (std::size_t id = 0; id < vocab; ++id) {
        const std::size_t place = how.placed ? static_cast<std::size_t>(draft_place_[id]) : id;
        if (place < own.size()) own[place] = row[id];
      }
      if (own.size() < vocab) own[own.size() / 2] = 2;
      row = std::move(own);
    }
    for (const bool of_target : {true, false}) {
      for (std::vector<float>& row : of_target ? target_ : draft_) {
        if (how.lowest) {
          for (float& logit : row) logit = std::isfinite(logit) ? std::round(logit) : logit;
        }
        if (how.probabilities(of_target)) row = softmax(row);
      }
      if (how.probabilities(of_target)) (of_target ? batch.target_options : batch.draft_options) = {};
    }
  }

  static std::vector<float> softmax(const std::vector<float>& logits) {
    double sum = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
    std::vector<float> row;
    for (const float logit : logits) {
      row.push_back(static_cast<float>(std::exp(static_cast<double>(logit)) / sum));
    }
    return row;
  }

  /// Options of each row the other way round, or one for each request or for all.
  void stride_options() {
    if (!how.strided) return;
    for (const bool of_target : {true, false}) {
      RowOptions& options = of_target ? batch.target_options : batch.draft_options;
      Options& kept = of_target ? target_options_ : draft_options_;
      const std::int32_t positions = how.gamma + (of_target ? 1 : 0);
      for (auto [view, numbers] :
           {std::pair{&options.cutoff, &kept.cutoff}, std::pair{&options.log_sum_exp, &kept.sums}}) {
        if (*view == nullptr) continue;
        std::vector<float> turned;
        for (std::int32_t i = 0; i < positions; ++i) {
          for (std::int32_t request = 0; request < how.requests; ++request) {
            turned.push_back((*numbers)[static_cast<std::size_t>(request * positions + i)]);
          }
        }
        *numbers = std::move(turned);
        *view = {numbers->data(), nullptr, 1, how.requests};
      }
    }
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
        // Before anything is computed from them: one for each request, by slot, or one for all.
        if (how.strided) {
          if (option_slots_.empty()) option_slots_ = slots();
          kept.temperature.resize(rows + 3, kept.temperature.front());
          options.temperature = {kept.temperature.data(), option_slots_.data(), rows % 2 == 0 ? 1 : 0, 0};
        }
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
    if (how.probabilities(of_target)) return;
    auto& rows = of_target ? target_ : draft_;
    auto& row = rows[static_cast<std::size_t>(whole(0, static_cast<std::int32_t>(rows.size()) - 1))];
    if (chance(0.2)) {
      std::fill(row.begin(), row.end(), -infinity);
    } else {
      row[static_cast<std::size_t>(whole(0, how.vocab - 1))] = chance(0.5) ? not_a_number : infinity;
    }
  }

  /// The rows of a side in its format and layout, NaN around them.
  LogitRows stored(bool of_target, std::vector<Vector>& bytes, std::vector<std::int32_t>& index) {
    const auto& rows = of_target ? target_ : draft_;
    const std::int32_t drawn = how.gamma + (of_target ? 1 : 0);
    const std::int32_t positions = of_target ? how.target_positions() : how.gamma;
    const Dtype dtype = of_target ? how.dtype : how.draft_dtype;
    const std::int64_t stride = (of_target ? how.vocab : how.draft_vocab) + how.padding;
    if (how.slotted && !how.flattened) index = slots();
    const std::int64_t of_request = how.flattened ? stride : stride * positions;
    const auto elements =
        static_cast<std::size_t>(how.offset) +
        (rows_of(drawn) + 2 * static_cast<std::size_t>(drawn)) * static_cast<std::size_t>(stride);
    const auto size = static_cast<std::size_t>(dtype_bytes(dtype));
    bytes.assign(elements * size / sizeof(Vector) + 2, Vector{});
    with_logit_type(dtype, [&](auto logit) {
      using T = decltype(logit);
      auto* const first = reinterpret_cast<T*>(bytes.data());
      std::fill_n(first, bytes.size() * sizeof(Vector) / sizeof(T), from_float<T>(not_a_number));
      for (std::int32_t request = 0; request < how.requests; ++request) {
        const std::int32_t count = how.flattened ? rows_in_memory(of_target, request) : positions;
        const std::int64_t place = index.empty() ? request : index[static_cast<std::size_t>(request)];
        for (std::int32_t i = 0; i < count; ++i) {
          const auto& row = rows[static_cast<std::size_t>(request * drawn + i)];
          T* const out = first + how.offset + place * of_request + i * stride;
          for (std::size_t id = 0; id < row.size(); ++id) out[id] = from_float<T>(row[id]);
        }
      }
    });
    return {reinterpret_cast<unsigned char*>(bytes.data()) + static_cast<std::size_t>(how.offset) * size,
            dtype,
            of_request,
            stride,
            index.empty() ? nullptr : index.data(),
            how.probabilities(of_target) ? RowKind::probabilities : RowKind::logits};
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
          const bool there = i < (how.flattened ? rows_in_memory(of_target, request)
                                  : of_target   ? how.target_positions()
                                                : how.gamma);
          sums.push_back(there ? static_cast<float>(log_sum(of_target, request, i) + off) : not_a_number);
        }
      }
      options.log_sum_exp = sums.data();
    }
  }

 public:
  /// ln of a row's sum, or at temperature 0 its largest logit.
  double log_sum(bool of_target, std::int32_t request, std::int32_t position) const {
    const RowOptions& options = batch.options(of_target);
    const auto option = [&](const View<const float>& view, float otherwise) {
      return view == nullptr ? otherwise : *batch.entry(view, of_target, request, position);
    };
    const double temperature = static_cast<double>(option(options.temperature, 1));
    const float cutoff = option(options.cutoff, -infinity);
    double sum = 0;
    float largest = -infinity;
    with_logit_type(batch.rows(of_target).dtype, [&](auto logit) {
      const auto* const row = row_of<decltype(logit)>(batch.rows(of_target), request, position);
      for (Token id = 0; id < batch.vocab_of(of_target); ++id) {
        const float z = to_float(row[id]);
        if (z < cutoff || (of_target && !allowed(request, position, id))) continue;
        sum += std::exp(static_cast<double>(z) / temperature);
        largest = std::max(largest, z);
      }
    });
    return temperature == 0 ? static_cast<double>(largest) : std::log(sum);
  }

 private:
  bool allowed(std::int32_t request, std::int32_t position, Token id) const {
    if (batch.mask == nullptr) return true;
    return (batch.mask.at(request, position, how.gamma + 1)[id / 32] >> static_cast<unsigned>(id % 32) &
            1U) != 0;
  }

  void make_drafted() {
    for (std::int32_t request = 0; request < how.requests; ++request) {
      const std::int32_t length =
          how.ragged ? whole(chance(0.1) ? -1 : 0, how.gamma + (chance(0.1) ? 1 : 0)) : how.gamma;
      if (!how.flattened) lengths_.push_back(length);
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
    if (!how.flattened) return;
    // One after the other, beside the rows; and lengths, where they are in range, by the cumulative counts.
    for (std::int32_t request = 0; request < how.requests; ++request) {
      const auto first = drafted_.begin() + request * how.gamma;
      flat_drafted_.insert(flat_drafted_.end(), first, first + rows_in_memory(false, request));
    }
    flat_drafted_.push_back(how.vocab);
    batch.drafted = {flat_drafted_.data(), draft_index_.data(), 1, 1};
    const auto in_range = [&](std::int32_t length) { return length >= 0 && length <= how.gamma; };
    if (!std::all_of(lengths_.begin(), lengths_.end(), in_range)) return;
    batch.lengths = nullptr;
    batch.cumulative = how.slotted ? draft_index_.data() : target_index_.data();
    batch.cumulative_extra = how.slotted || how.bonus ? 0 : 1;
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
    } else if (how.seeds) {
      seed_slots_ = slots();
      seeds_.resize(seed_slots_.size());
      for (std::size_t request = 0; request < addresses_.size(); ++request) {
        const RandomAddress& at = addresses_[request];
        seeds_[static_cast<std::size_t>(seed_slots_[request])] = at.seed;
        positions_.push_back(static_cast<std::int64_t>(std::uint64_t{at.round} << 32U | at.trial));
      }
      batch.seeds = {seeds_.data(), seed_slots_.data(), 1, 0};
      batch.positions = positions_.data();
    } else {
      batch.addresses = addresses_.data();
    }
    if (!how.bonus) return;
    for (std::int32_t request = 0; request < how.requests; ++request) {
      bonus_.push_back(static_cast<Token>(more_() % static_cast<std::uint64_t>(how.vocab)));
    }
    batch.bonus = bonus_.data();
  }

  std::mt19937_64 random_, more_;

 public:
  FuzzCase how;
  VerifyBatch batch;
  std::vector<std::int32_t> accepted;
  std::vector<Token> next;
  std::vector<std::uint32_t> flags;
  std::vector<Token> tokens;
  std::vector<std::int32_t> counts;
  std::vector<float> log_probabilities, log_sum_exps;

 private:
  std::vector<std::vector<float>> target_, draft_;
  std::vector<Vector> target_bytes_, draft_bytes_;
  Options target_options_, draft_options_;
  std::vector<std::int32_t> lengths_;
  std::vector<Token> drafted_;
  std::vector<RandomAddress> addresses_;
  std::vector<double> uniforms_;
  std::vector<std::int32_t> target_index_, draft_index_, option_slots_, seed_slots_, draft_place_;
  std::vector<std::uint32_t> mask_;
  std::vector<std::int32_t> top_k_;
  std::vector<float> top_p_, min_p_;
  std::vector<Token> flat_drafted_, bonus_;
  std::vector<std::uint64_t> seeds_;
  std::vector<std::int64_t> positions_;
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
  if (how.draft_dtype != how.dtype)
    text += std::string(" draft-") + dtypes[static_cast<int>(how.draft_dtype)];
  if (how.draft_vocab != how.vocab) text += " draft-vocab " + std::to_string(how.draft_vocab);
  add(how.placed, "placed");
  add(how.target_probabilities, "target-probabilities");
  add(how.draft_probabilities, "draft-probabilities");
  add(how.lowest, "lowest");
  add(how.mask, "mask");
  add(how.flattened, "flattened");
  add(how.slotted, "slotted");
  add(how.strided, "strided");
  add(how.seeds, "seeds");
  add(how.bonus, "bonus");
  add(how.logs, "logs");
  add(how.filters, "filters");
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

/// Do the padded tokens and their count say what `accepted` and `next` do?
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

/// What is wrong with the logarithms of a request's tokens, or nothing.
std::string log_fault(const FuzzBatch& fuzz, std::int32_t request) {
  const VerifyBatch& batch = fuzz.batch;
  if (batch.log_probabilities == nullptr) return "";
  const std::int32_t accepted = batch.accepted[request];
  const std::int32_t length = batch.length(request);
  const std::int32_t count = accepted + (batch.next[request] == invalid_token ? 0 : 1);
  const auto close = [](float found, double expected) {
    const double other = static_cast<double>(found);
    // Block verification may accept tokens on both sides of an invalid row, and then there is no next one.
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
      if (!std::isnan(found) || !std::isnan(sum)) return wrong(i, found, sum, not_a_number, not_a_number);
    } else {
      const Token token = i < accepted ? batch.drafted_token(request, i) : batch.next[request];
      // Block verification may accept any id before a row that is invalid.
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
    // Which ids a row keeps may be a matter of rounding, and so its sum.
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
