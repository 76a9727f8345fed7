// A random batch for fuzz_verification, its memory, and the cells around it that kernels may not touch.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "tests/kernels/fuzz/fuzz_case.hpp"

namespace speclab {

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

  /// Makes room for the results of one more request on both sides, which kernels may not touch.
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
  /// Adds the bits of all results to a digest (FNV-1a): equal digests of two builds mean equal decisions.
  std::uint64_t added_to(std::uint64_t digest) const {
    const auto add = [&digest](const auto& results) {
      for (const auto result : results) {
        digest = (digest ^ std::bit_cast<std::uint32_t>(result)) * 0x100000001b3U;
      }
    };
    add(accepted), add(next), add(flags), add(tokens), add(counts), add(log_probabilities), add(log_sum_exps);
    return digest;
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
  static constexpr float infinity = std::numeric_limits<float>::infinity();
  static constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

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

  /// Draws the later options from a second random stream, so that a batch without them is the same as before
  /// they were added.
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

  /// Returns the number of rows that a request has in memory if rows lie one request after the other.
  std::int32_t rows_in_memory(bool of_target, std::int32_t request) const {
    const std::int32_t length = std::clamp(lengths_[static_cast<std::size_t>(request)], 0, how.gamma);
    return of_target ? length + how.target_positions() - how.gamma : length;
  }

  /// Draws the lengths of requests whose rows are flattened; other lengths are drawn with the drafted tokens.
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

  /// Returns slots in random order, with gaps.
  std::vector<std::int32_t> slots() {
    std::vector<std::int32_t> all(static_cast<std::size_t>(how.requests) + 2);
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), more_);
    return all;
  }

  /// Makes top-k, top-p and min-p for each row, or one for each request.
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

  /// Makes the mask, and the draft's rows by ids of its own.
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
      // The target's ids get places in random order; ids beyond the draft's vocabulary get no place, or one
      // beyond its end.
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

  /// Stores the options of rows in the other order of dimensions, or one option for each request or for all.
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
          // The sum of exp(z / 0) is not a number that could be given.
          kept.temperature.push_back(known ? one_of({1.0F, 0.5F, 2.0F}) : one_of({1.0F, 0.3F, 2.0F, 0.0F}));
        }
        options.temperature = kept.temperature.data();
        // Temperatures are strided before other options are computed from them: one for each request, by
        // slot, or one for all.
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
        // At least one id is above every cut-off, on both sides.
        target[vocab / 2] = draft[vocab / 2] = 2;
        target_.push_back(std::move(target));
        if (i < how.gamma) draft_.push_back(std::move(draft));
      }
    }
  }

  /// Damages a row whose sum is not given: a row with a given sum need not be read, so that its damage need
  /// not be seen.
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

  /// Stores the rows of a side in its format and layout, with NaN around them.
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

  /// Makes log-sum-exps of the rows, or wrong ones that are smaller or larger.
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
  /// Returns ln of a row's sum, or at temperature 0 its largest logit.
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
    // Drafted tokens of requests lie one after the other, like the rows; lengths, if they are in range,
    // follow from cumulative counts.
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
        // In block verification h_i is 1 up to a rounding if p_i is 1: at u = 1 either decision is right.
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

}  // namespace speclab
