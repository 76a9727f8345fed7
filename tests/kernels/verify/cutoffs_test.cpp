// Tests top-k, top-p and min-p: compares the definition with core's sampling options, and the kernel with the
// definition.
#include "kernels/verify/cutoffs.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "core/distribution/transforms.hpp"
#include "tests/core/distribution/whole_cuts.hpp"
#include "tests/kernels/verify/fused_runs.hpp"

using namespace speclab;

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

/// The kernel's cut-offs, [requests, gamma + 1], and the bytes that it loaded.
struct FoundCutoffs {
  std::vector<float> cutoffs;
  std::uint64_t loaded = 0;
};

/// Finds cut-offs; with `clusters` false as on a device that has none.
FoundCutoffs find_cutoffs(const VerifyBatch& batch, simt::Order order = simt::Order::forward,
                          bool clusters = true) {
  std::vector<std::uint64_t> workspace(fused_layout(batch, nullptr).workspace_bytes / 8 + 32, ~0U);
  const auto address = reinterpret_cast<std::uintptr_t>(workspace.data());
  FusedLayout layout = fused_layout(batch, reinterpret_cast<void*>((address + 255) / 256 * 256));
  if (!clusters) layout.cutoffs.blocks /= std::exchange(layout.cutoffs.cluster, 1);
  simt::EmulatedExecutor executor(order);
  if (batch.mask != nullptr) {
    executor.run<Cutoffs<AnyLogit>>(layout.cutoffs, layout.cutoff_args);
  } else {
    with_logit_type(batch.target.dtype, [&](auto logit) {
      executor.run<Cutoffs<decltype(logit)>>(layout.cutoffs, layout.cutoff_args);
    });
  }
  const std::int64_t rows = std::int64_t{batch.requests} * (batch.gamma + 1);
  return {{layout.cutoff_args.cutoffs, layout.cutoff_args.cutoffs + rows}, executor.loaded_bytes()};
}

/// Options that all rows share.
struct OneForAll {
  std::int32_t top_k = 0;
  float top_p = 1;
  float min_p = 0;
  float temperature = 1;

  void give(VerifyBatch& batch) const {
    batch.top_k = {&top_k, nullptr, 0, 0};
    batch.top_p = {&top_p, nullptr, 0, 0};
    batch.min_p = {&min_p, nullptr, 0, 0};
    batch.target_options.temperature = {&temperature, nullptr, 0, 0};
  }
  Filters filters() const { return {top_k, static_cast<double>(top_p), static_cast<double>(min_p)}; }
};

double stored(const VerifyBatch& batch, std::int64_t request, std::int32_t position, Token id) {
  double logit = 0;
  with_logit_type(batch.target.dtype, [&](auto format) {
    logit = static_cast<double>(to_float(row_of<decltype(format)>(batch.target, request, position)[id]));
  });
  return logit;
}

struct Rows {
  int checked = 0;
  int within_band = 0;
  int wrong = 0;
};

/// Checks that the kernel keeps the ids that the definition keeps.
void check_kept(const VerifyBatch& batch, const OneForAll& how, Rows& rows) {
  const FoundCutoffs found = find_cutoffs(batch);
  for (std::int64_t request = 0; request < batch.requests; ++request) {
    for (std::int32_t i = 0; i <= batch.gamma; ++i) {
      std::vector<double> logits;
      for (Token id = 0; id < batch.vocab; ++id) logits.push_back(stored(batch, request, i, id));
      const KeptLogits kept = kept_logits(logits, static_cast<double>(how.temperature), how.filters());
      if (kept.margin < band) {
        ++rows.within_band;
        continue;
      }
      ++rows.checked;
      const auto cutoff =
          static_cast<double>(found.cutoffs[static_cast<std::size_t>(request * (batch.gamma + 1) + i)]);
      for (const double logit : logits) {
        if ((logit >= cutoff) == (logit >= kept.least)) continue;
        ++rows.wrong;
        break;
      }
    }
  }
}

std::vector<double> softmax_of(const std::vector<double>& logits) {
  std::vector<double> row(logits.size());
  softmax(logits, 1, row);
  return row;
}

}  // namespace

TEST_CASE("the definition keeps what core's sampling options keep of a row without ties") {
  LogitBatch logits({.requests = 3, .gamma = 1, .vocab = 200}, 3);
  for (const float temperature : {0.3F, 1.0F, 2.0F}) {
    for (const std::int32_t top_k : {0, 1, 2, 17, 199, 200, 5000}) {
      for (const float top_p : {1e-9F, 0.2F, 0.75F, 0.99F, 1.0F}) {
        const OneForAll how{top_k, top_p, 0, temperature};
        how.give(logits.batch);
        for (std::int32_t request = 0; request < 3; ++request) {
          std::vector<double> row;
          for (Token id = 0; id < 200; ++id) row.push_back(stored(logits.batch, request, 1, id));
          row = softmax_of(row);
          std::vector<Token> order;
          adjust(row, {static_cast<double>(temperature), top_k, static_cast<double>(top_p)}, order);
          const auto found = probabilities(logits.batch, true, request, 1);
          for (std::size_t id = 0; id < 200; ++id) {
            CHECK((found[id] == 0) == (row[id] == 0));
            CHECK(found[id] == doctest::Approx(row[id]).epsilon(1e-9));
          }
        }
      }
    }
  }
}

TEST_CASE(
    "the definition keeps what whole numbers keep of rows of fractions, and ids as likely as the last") {
  for (std::uint32_t number = 0; number < 5000; ++number) {
    CAPTURE(number);
    const WholeCuts cuts(number);
    if (cuts.top_k > 0) continue;  // ties there change the sum that top-p takes a share of
    std::vector<double> logits;
    for (const double one : cuts.row) logits.push_back(std::log(one));
    const double least = kept_logits(logits, 1, {cuts.top_k, cuts.top_p.value(), cuts.min_p.value()}).least;
    std::vector<Token> expected = cuts.kept();
    std::int64_t last = cuts.weights[static_cast<std::size_t>(expected.front())];
    bool ties = false;
    for (const Token id : expected) last = std::min(last, cuts.weights[static_cast<std::size_t>(id)]);
    for (std::size_t id = 0; id < cuts.weights.size(); ++id)
      ties = ties || (cuts.weights[id] == last && !std::count(expected.begin(), expected.end(), id));
    if (ties) continue;
    for (std::size_t id = 0; id < logits.size(); ++id)
      CHECK((logits[id] >= least && std::isfinite(logits[id])) == (cuts.weights[id] >= last));
  }
}

TEST_CASE("the definition by hand: order, ties and ends") {
  const double ln = std::log(2.0);
  // The probabilities are 8, 4, 2, 1, 1 of 16.
  const std::vector<double> row{-ln, -2 * ln, -3 * ln, -4 * ln, -4 * ln};
  const auto kept = [&](const Filters& filters, double temperature = 1) {
    const KeptLogits found = kept_logits(row, temperature, filters);
    int count = 0;
    for (const double logit : row) count += logit >= found.least ? 1 : 0;
    return count;
  };
  CHECK(kept({}) == 5);
  CHECK(kept({.top_k = 2}) == 2);
  // Ids as likely as the last one stay.
  CHECK(kept({.top_k = 4}) == 5);
  CHECK(kept({.top_p = 0.95}) == 5);
  CHECK(kept({.top_p = 0.74}) == 2);
  CHECK(kept({.top_p = 0.76}) == 3);
  CHECK(kept({.top_p = 1e-300}) == 1);
  // Top-p takes its share of the rest after top-k: 8, 4 and 2 out of 14, where two ids have 0.857.
  CHECK(kept({.top_k = 3, .top_p = 0.85}) == 2);
  CHECK(kept({.top_p = 0.87}) == 3);
  // After division by the temperature the weights are 64, 16, 4, 1 and 1 of 86.
  CHECK(kept({.top_p = 0.74}, 0.5) == 1);
  CHECK(kept({.min_p = 0.2}) == 3);
  CHECK(kept({.min_p = 0.2}, 0.5) == 2);
  CHECK(kept({.min_p = 1}) == 1);
  // Min-p comes last: in vLLM's order top-p of 8 and 4 alone would keep one id.
  CHECK(kept({.top_p = 0.7, .min_p = 0.4}) == 2);
  CHECK(kept({.top_p = 0.66, .min_p = 0.4}) == 2);
  CHECK_FALSE(Filters{.top_k = -1}.valid());
  CHECK_FALSE(Filters{.top_p = 0}.valid());
  CHECK_FALSE(Filters{.top_p = 1.001}.valid());
  CHECK_FALSE(Filters{.top_p = static_cast<double>(no_number)}.valid());
  CHECK_FALSE(Filters{.min_p = -0.001}.valid());
  CHECK_FALSE(Filters{.min_p = 1.001}.valid());
  CHECK_FALSE(Filters{.min_p = static_cast<double>(no_number)}.valid());
}

TEST_CASE("the kernel keeps what the definition keeps, in every format, with ties and over several tiles") {
  Rows rows;
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    for (const std::int32_t vocab : {1, 2, 7, 64, 300, 9001}) {
      for (const double spread : {0.0, 0.01, 3.0, 40.0}) {
        LogitBatch logits({.requests = 2,
                           .gamma = vocab < 9000 ? 2 : 0,
                           .vocab = vocab,
                           .dtype = dtype,
                           .spread = spread,
                           .padding = 3},
                          7);
        if (spread == 3.0) {
          // Many ids have no probability, some tie, and both zeros occur.
          for (Token id = 0; id < vocab; ++id) {
            float& logit = logits.target_logit(0, 0, id);
            logit = id % 3 == 0 ? -infinite : std::round(logit);
            if (id % 6 == 1) logit = id % 4 == 1 ? 0.0F : -0.0F;
          }
          logits.target_logit(0, 0, vocab / 2) = 2;
          logits.store();
        }
        for (const OneForAll& how :
             {OneForAll{.top_k = 1}, OneForAll{.top_k = 5}, OneForAll{.top_k = vocab / 2},
              OneForAll{.top_k = vocab - 1}, OneForAll{.top_k = vocab + 1},
              OneForAll{.top_k = std::numeric_limits<std::int32_t>::max()}, OneForAll{.top_p = 0.9F},
              OneForAll{.top_p = 1e-7F}, OneForAll{.top_p = 0.5F, .temperature = 0.05F},
              OneForAll{.top_p = 0.999F, .temperature = 30}, OneForAll{.min_p = 0.05F},
              OneForAll{.min_p = 1.0F, .temperature = 0.7F}, OneForAll{.top_k = 20, .top_p = 0.8F},
              OneForAll{40, 0.95F, 0.01F, 0.6F}}) {
          how.give(logits.batch);
          check_kept(logits.batch, how, rows);
        }
      }
    }
  }
  MESSAGE(rows.checked << " rows, " << rows.within_band << " within the band");
  CHECK(rows.wrong == 0);
  CHECK(rows.checked > 2000);
  CHECK(rows.within_band < rows.checked / 20);
}

TEST_CASE("decisions with top-k, top-p and min-p are the reference's, by every rule") {
  for (const KernelRule method : {KernelRule::token, KernelRule::lenient, KernelRule::block}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
      LogitBatch logits({.requests = 40, .gamma = 3, .vocab = 120, .dtype = dtype, .distance = 0.5}, 8);
      logits.batch.rule.method = method;
      logits.batch.rule.lenience = 0.8;
      const OneForAll how{30, 0.9F, 0.02F, 0.8F};
      how.give(logits.batch);
      const Comparison found = compare(logits);
      CHECK(found.different == 0);
      CHECK(found.within_band <= 2);
      const auto accepted = logits.accepted;
      const auto next = logits.next;
      // Emitted tokens were kept; and another order of threads gives the same bits.
      for (std::int32_t request = 0; request < 40; ++request) {
        const std::int32_t kept = accepted[static_cast<std::size_t>(request)];
        for (std::int32_t i = 0; i <= kept; ++i) {
          const Token token = i < kept ? logits.drafted[static_cast<std::size_t>(request * 3 + i)]
                                       : next[static_cast<std::size_t>(request)];
          CHECK(probabilities(logits.batch, true, request, i)[static_cast<std::size_t>(token)] > 0);
        }
      }
      run_fused_on(logits, simt::Order::shuffled);
      CHECK(logits.accepted == accepted);
      CHECK(logits.next == next);
      CHECK(layout_of(Implementation::fused, logits.batch).launches.size() == 3);
      CHECK(unsupported_reason(Implementation::cluster, logits.batch));
      CHECK(unsupported_reason(Implementation::baseline, logits.batch));
    }
  }
}

TEST_CASE("at temperature 0 the largest logits stay, whatever top-k, top-p and min-p say") {
  LogitBatch logits({.requests = 6, .gamma = 2, .vocab = 50}, 9);
  for (std::int32_t request = 0; request < 6; ++request) {
    for (std::int32_t i = 0; i <= 2; ++i)
      logits.target_logit(request, i, 7) = logits.target_logit(request, i, 9) = 40;
  }
  logits.store();
  const OneForAll how{1, 0.01F, 1, 0};
  how.give(logits.batch);
  CHECK(compare(logits).different == 0);
  for (const Token next : logits.next) CHECK((next == 7 || next == 9));
}

TEST_CASE("numbers out of range make a row invalid, and rows that were invalid stay so") {
  const OneForAll wrong[] = {{.top_k = -1},
                             {.top_p = 0},
                             {.top_p = -0.5F},
                             {.top_p = 1.5F},
                             {.top_p = no_number},
                             {.min_p = -0.1F},
                             {.min_p = 1.1F},
                             {.min_p = no_number},
                             {.top_k = -1, .temperature = 0},
                             {.top_p = 0.9F, .temperature = -1}};
  for (const KernelRule method : {KernelRule::token, KernelRule::block}) {
    for (const OneForAll& how : wrong) {
      LogitBatch logits({.requests = 3, .gamma = 2, .vocab = 30, .distance = 0}, 4);
      logits.batch.rule.method = method;
      how.give(logits.batch);
      CHECK(compare(logits).different == 0);
      for (std::size_t request = 0; request < 3; ++request) {
        CHECK(logits.next[request] == invalid_token);
        CHECK((logits.flags[request] & flag_invalid_row) != 0);
      }
    }
    // Only one row of one request is invalid; nothing happens to rows after it or to other requests.
    LogitBatch logits({.requests = 2, .gamma = 2, .vocab = 30, .distance = 0}, 4);
    std::vector<float> top_p(6, 1.0F);
    top_p[1] = 0;
    logits.batch.rule.method = method;
    logits.batch.top_p = top_p.data();
    CHECK(compare(logits).different == 0);
    CHECK(logits.next[0] == invalid_token);
    CHECK(logits.next[1] >= 0);
    CHECK(logits.flags[1] == 0);
    if (method == KernelRule::token) CHECK(logits.accepted == std::vector<std::int32_t>{1, 2});
  }
  const auto next_of = [](float damage, Token first, Token last) {
    LogitBatch logits({.requests = 1, .gamma = 0, .vocab = 30}, 4);
    for (Token id = first; id < last; ++id) logits.target_logit(0, 0, id) = damage;
    logits.store();
    const OneForAll how{3, 0.5F, 0.1F, 1};
    how.give(logits.batch);
    run_fused_on(logits);
    return logits.next[0];
  };
  CHECK(next_of(no_number, 4, 5) == invalid_token);
  CHECK(next_of(infinite, 4, 5) == invalid_token);
  CHECK(next_of(-infinite, 0, 30) == invalid_token);
  CHECK(next_of(-infinite, 0, 29) == 29);
}

TEST_CASE("masks and cut-offs come before top-k, top-p and min-p") {
  LogitBatch logits({.requests = 2, .gamma = 0, .vocab = 64, .spread = 2}, 11);
  const std::uint32_t words[] = {0xaaaaaaaaU, 0xaaaaaaaaU};
  const OneForAll how{.top_k = 4};
  how.give(logits.batch);
  logits.batch.mask = {words, nullptr, 0, 0};
  for (std::int32_t request = 0; request < 2; ++request) {
    const auto row = probabilities(logits.batch, true, request, 0);
    int kept = 0;
    for (std::size_t id = 0; id < 64; ++id) {
      kept += row[id] > 0 ? 1 : 0;
      CHECK((row[id] == 0 || id % 2 == 1));
    }
    CHECK(kept == 4);
  }
  CHECK(compare(logits).different == 0);
  // One mask leaves nothing; then a cut-off leaves less than top-k does.
  const std::uint32_t none[] = {0, 0};
  logits.batch.mask = {none, nullptr, 0, 0};
  run_fused_on(logits);
  CHECK(logits.next[0] == invalid_token);
  logits.batch.mask = {};
  const float cutoff = 100;
  logits.target_logit(0, 0, 3) = 101;
  logits.target_logit(1, 0, 5) = 100;
  logits.store();
  logits.batch.target_options.cutoff = {&cutoff, nullptr, 0, 0};
  run_fused_on(logits);
  CHECK(logits.next == std::vector<Token>{3, 5});
}

TEST_CASE("a cut-off is the same in any slot and order, and takes no more reads than stated") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    // Usual rows; and rows for which the ids near the largest logit do not suffice, with values over all
    // exponents and one outlier.
    for (const bool usual : {true, false}) {
      LogitBatch logits({.requests = 3, .gamma = 1, .vocab = 20000, .dtype = dtype, .spread = 4}, 12);
      if (!usual) {
        for (std::size_t i = 0; i < logits.target.size(); ++i) {
          const float power = std::exp2(static_cast<float>(i * 7919 % 24) - 12);
          const float logit = power * (1 + 1e-3F * static_cast<float>(i % 97));
          logits.target[i] = i % 20000 == 0 ? 60.0F : i % 2 == 0 ? logit : -logit;
        }
        logits.store();
      }
      const OneForAll how{usual ? 50 : 9000, 0.999F, 0, usual ? 1.0F : 20.0F};
      how.give(logits.batch);
      Rows rows;
      check_kept(logits.batch, how, rows);
      CHECK(rows.wrong == 0);
      CHECK(rows.checked > 3);
      const FoundCutoffs found = find_cutoffs(logits.batch);
      CHECK(find_cutoffs(logits.batch, simt::Order::backward).cutoffs == found.cutoffs);
      CHECK(find_cutoffs(logits.batch, simt::Order::shuffled).cutoffs == found.cutoffs);
      CHECK(find_cutoffs(logits.batch, simt::Order::forward, false).cutoffs == found.cutoffs);
      const FoundCutoffs last = find_cutoffs(part_of(logits.batch, 2, 1));
      CHECK(last.cutoffs == std::vector<float>(found.cutoffs.end() - 2, found.cutoffs.end()));

      const double row = 20000.0 * static_cast<double>(dtype_bytes(dtype));
      const double reads = static_cast<double>(found.loaded) / (6 * row);
      MESSAGE(reads << " reads of a row");
      const int rounds = dtype == Dtype::f32 ? 5 : 3;
      CHECK(reads <= 2 + 2 * rounds);
      CHECK(reads == doctest::Approx(usual ? 2 : reads));
      CHECK(reads >= (usual ? 2 : 4));
      VerifyBatch without = logits.batch;
      without.top_k = {};
      without.top_p = without.min_p = {};
      const double all = traffic_of(Implementation::fused, logits.batch, {}).read;
      const double least = traffic_of(Implementation::fused, without, {}).read;
      CHECK(all - least == doctest::Approx(2 * 6 * row));
      without.min_p = logits.batch.min_p;
      CHECK(traffic_of(Implementation::fused, without, {}).read - least == doctest::Approx(6 * row));
    }
  }
}

TEST_CASE("what is near the largest logit suffices, or the row is read again: the same is kept") {
  // Clusters have two blocks, or eight blocks, where one block has two tiles.
  for (const std::int32_t vocab : {20000, 70000}) {
    CAPTURE(vocab);
    Rows rows;
    LogitBatch logits({.requests = 2, .gamma = 0, .vocab = vocab, .spread = 3}, 21);
    for (Token id = 0; id < vocab; ++id) {
      // Half of one row has no probability, so that some threads have none of it; the other row is flat, with
      // more ids that tie with the largest than there is room for.
      if (id < vocab / 2) logits.target_logit(0, 0, id) = -infinite;
      logits.target_logit(1, 0, id) = id % 2 == 0 ? 5.0F : 4.0F;
    }
    logits.store();
    for (const OneForAll& how :
         {OneForAll{.top_k = 1}, OneForAll{.top_k = 255}, OneForAll{.top_k = 256}, OneForAll{.top_k = 1000},
          OneForAll{.top_k = 2500}, OneForAll{.top_k = vocab / 2 - 1}, OneForAll{.top_k = vocab / 2},
          OneForAll{.top_k = vocab / 2 + 1}, OneForAll{.top_p = 0.3F}, OneForAll{.top_p = 0.9F},
          OneForAll{.top_p = 0.99999F}, OneForAll{.top_p = 0.9F, .temperature = 50},
          OneForAll{3000, 0.9F, 0.01F, 1}}) {
      how.give(logits.batch);
      check_kept(logits.batch, how, rows);
    }
    CHECK(rows.wrong == 0);
    CHECK(rows.checked >= 20);
  }
}
