// Tests the options and bytes of tree verification, and the batches that it refuses.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/round/tree.hpp"
#include "kernels/simt/emulator.hpp"
#include "kernels/verify/implementation.hpp"
#include "kernels/verify/tree_layout.hpp"
#include "tests/kernels/verify/tree_logits.hpp"

using namespace speclab;

namespace {

constexpr double options_band = 1e-5;

const std::vector<std::int32_t> option_tree{-1, -1, -1, 0, 0, 1, 3, 3};

/// Returns whether decisions are the reference's, and have the same bits if rows are summed before the walk.
bool as_reference(TreeLogits& logits) {
  const auto expected = verify_tree_reference(logits.tree());
  logits.run(simt::Order::forward, true);
  const auto path = logits.path;
  const auto next = logits.next;
  const auto flags = logits.flags;
  logits.run();
  return logits.different_from(expected, options_band) == 0 && logits.path == path && logits.next == next &&
         logits.flags == flags;
}

/// The outcome of a run, computed from its paths request by request. Every node must have a reach above 0.
class OutcomeOfPaths {
 public:
  explicit OutcomeOfPaths(TreeLogits& logits)
      : shape_(logits.parents),
        traversed_(logits.tree().method == TreeMethod::traversal),
        each_(1.0 / logits.batch.requests) {
    for (std::size_t i = 0; i < logits.accepted.size(); ++i) {
      path_ = logits.path_of(i);
      path_.insert(path_.begin(), -1);
      CHECK(ends_below(-1));
    }
  }

  TreeOutcome outcome;

 private:
  /// Returns whether the path ends at this node or below it.
  bool ends_below(std::int32_t node) {
    const auto& children = shape_.children(node);
    const bool last = node == path_.back();
    if (children.empty()) {
      outcome.leaves += last ? each_ : 0;
      return last;
    }
    outcome.tried += each_;
    for (const std::int32_t child : children) {
      const bool on_path = std::find(path_.begin(), path_.end(), child) != path_.end();
      if ((on_path || traversed_) && ends_below(child)) return true;
      const bool returned = traversed_ && !shape_.children(child).empty();
      outcome.refused += each_;
      outcome.returned += returned ? each_ : 0;
      outcome.refusing += child == children[0] && !returned ? each_ : 0;
    }
    outcome.rejecting += last ? each_ : 0;
    return last;
  }

  DraftTree shape_;
  bool traversed_;
  double each_;
  std::vector<std::int32_t> path_;
};

/// Returns natural logarithms of the sums of rows; for 2-byte rows, of the logits before rounding.
std::vector<float> sums_of(TreeLogits& logits, bool of_target) {
  std::vector<float> sums;
  for (std::int32_t request = 0; request < logits.batch.requests; ++request) {
    for (std::int32_t position = 0; position < logits.batch.positions_of(of_target); ++position) {
      double sum = 0;
      for (Token id = 0; id < logits.batch.vocab; ++id) {
        sum += std::exp(static_cast<double>(of_target ? logits.target_logit(request, position, id)
                                                      : logits.draft_logit(request, position, id)));
      }
      sums.push_back(static_cast<float>(std::log(sum)));
    }
  }
  return sums;
}

}  // namespace

TEST_CASE("trees: temperatures, cut-offs, known sums and ties") {
  for (const Drafting how :
       {Drafting::without_replacement, Drafting::independent, Drafting::chosen, Drafting::traversed}) {
    for (const Ties ties : {Ties::shared, Ties::lowest}) {
      CAPTURE(static_cast<int>(how));
      CAPTURE(static_cast<int>(ties));
      TreeLogits logits({.requests = 24, .vocab = 300, .dtype = Dtype::bf16, .distance = 0.6}, option_tree,
                        how, 21);
      const auto rows = static_cast<std::size_t>(24 * 9);
      std::vector<float> temperature(rows);
      std::vector<float> cutoff(rows);
      for (std::size_t i = 0; i < rows; ++i) {
        temperature[i] = i % 4 == 3 ? 0.0F : 0.6F + 0.05F * static_cast<float>(i % 9);
        cutoff[i] = static_cast<float>(i % 5) - 3;
      }
      logits.batch.ties = ties;
      logits.batch.target_options.temperature = temperature.data();
      logits.batch.target_options.cutoff = cutoff.data();
      CHECK(as_reference(logits));
      if (how == Drafting::chosen) continue;
      logits.batch.draft_options.temperature = temperature.data();
      CHECK(as_reference(logits));
      logits.batch.draft_options.cutoff = cutoff.data();
      CHECK(as_reference(logits));
    }
  }
}

TEST_CASE("trees: known sums, masks, probabilities, two formats and a draft with ids of its own") {
  constexpr std::int32_t vocab = 260;
  for (const Drafting how : {Drafting::without_replacement, Drafting::chosen, Drafting::traversed}) {
    CAPTURE(static_cast<int>(how));
    TreeLogits logits({.requests = 24, .vocab = vocab, .distance = 0.8}, option_tree, how, 22);
    const std::vector<float> target_sums = sums_of(logits, true);
    const std::vector<float> draft_sums = sums_of(logits, false);
    std::vector<float> target_probabilities;
    for (std::int32_t request = 0; request < 24; ++request) {
      for (std::int32_t position = 0; position <= 8; ++position) {
        const float sum = target_sums[static_cast<std::size_t>(request * 9 + position)];
        for (Token id = 0; id < vocab; ++id) {
          const double log = static_cast<double>(logits.target_logit(request, position, id) - sum);
          target_probabilities.push_back(static_cast<float>(std::exp(log)));
        }
      }
    }
    logits.batch.target_options.log_sum_exp = target_sums.data();
    CHECK(as_reference(logits));
    if (how != Drafting::chosen) {
      logits.batch.draft_options.log_sum_exp = draft_sums.data();
      CHECK(as_reference(logits));
      logits.batch.target_options = {};
      CHECK(as_reference(logits));
      logits.batch.draft_options = {};
    }
    logits.batch.target_options = {};

    std::vector<std::uint32_t> mask((vocab + 31) / 32, 0xdb6db6dbU);
    logits.batch.mask = {mask.data(), nullptr, 0, 0};
    CHECK(as_reference(logits));
    logits.batch.mask = {};

    const LogitRows target = logits.batch.target;
    logits.batch.target = {target_probabilities.data(), Dtype::f32, 9 * vocab, vocab, nullptr,
                           RowKind::probabilities};
    CHECK(as_reference(logits));
    logits.batch.target = target;
    if (how == Drafting::chosen) continue;

    std::vector<std::uint16_t> half;
    for (const float logit : logits.draft) half.push_back(from_float<Bf16>(logit).bits);
    const LogitRows draft = logits.batch.draft;
    logits.batch.draft = {half.data(), Dtype::bf16, draft.request_stride, draft.row_stride};
    CHECK(as_reference(logits));
    // Every other id of the target is one of the draft's 130.
    std::vector<std::int32_t> place(vocab, -1);
    for (std::int32_t id = 0; id < vocab; id += 2) place[static_cast<std::size_t>(id)] = id / 2;
    logits.batch.draft_place = place.data();
    logits.batch.draft_vocab = 130;
    for (Token& token : logits.drafted) token = token / 2 * 2;
    CHECK(as_reference(logits));
    std::vector<float> zero(24 * 8, 0.0F);
    logits.batch.draft_options.temperature = zero.data();
    for (const Ties ties : {Ties::shared, Ties::lowest}) {
      logits.batch.ties = ties;
      CHECK(as_reference(logits));
    }
  }
}

TEST_CASE("few trees have clusters of sixteen blocks where the device takes them, and the same bits") {
  for (const Drafting how : {Drafting::without_replacement, Drafting::traversed}) {
    TreeLogits logits({.requests = 2, .vocab = 140000, .dtype = Dtype::bf16, .distance = 0.7}, option_tree,
                      how, 29);
    CHECK(TreeKernels::layout(logits.tree()).launch.cluster == 8);
    logits.run();
    const auto path = logits.path;
    const auto next = logits.next;
    std::fill(logits.next.begin(), logits.next.end(), -7);
    TreeKernels::run(simt::EmulatedExecutor(simt::Order::shuffled, simt::max_cluster_blocks), logits.tree());
    CHECK(logits.path == path);
    CHECK(logits.next == next);
  }
}

TEST_CASE("long: trees load what TreeKernels::traffic says: each row pair once while it is kept") {
  for (const Drafting how : {Drafting::without_replacement, Drafting::chosen, Drafting::traversed}) {
    for (const auto& [ids, dtype, keeps] :
         {std::tuple{70000, Dtype::bf16, true}, {300000, Dtype::f32, false}}) {
      const std::int32_t vocab = ids;  // clang cannot capture bindings
      CAPTURE(static_cast<int>(how));
      CAPTURE(vocab);
      // If rows are near to one another, every node has a reach above 0.
      const double distance = how == Drafting::traversed ? 0.3 : 0.7;
      TreeLogits logits({.requests = 3, .vocab = vocab, .dtype = dtype, .distance = distance}, option_tree,
                        how, 23);
      CHECK(TreeKernels::layout(logits.tree()).keeps == keeps);
      const double row = static_cast<double>(vocab) * static_cast<double>(dtype_bytes(dtype));
      const auto counted_of_run = [&] {
        const auto loaded = static_cast<double>(logits.run());
        const TreeOutcome outcome = OutcomeOfPaths(logits).outcome;
        CHECK(outcome.refused > 0);
        // The outcome along the reference's walk is the same.
        TreeOutcome met;
        for (const TreeReferenceDecision& verdict : verify_tree_reference(logits.tree())) {
          met.add(verdict.met, 1.0 / logits.batch.requests);
        }
        CHECK(met.tried == doctest::Approx(outcome.tried));
        CHECK(met.refused == doctest::Approx(outcome.refused));
        CHECK(met.refusing == doctest::Approx(outcome.refusing));
        CHECK(met.returned == doctest::Approx(outcome.returned));
        CHECK(met.leaves == doctest::Approx(outcome.leaves));
        if (how == Drafting::traversed) CHECK(outcome.returned > 0);
        const double counted = TreeKernels::traffic(logits.tree(), outcome).read;
        // Loads beyond the count are the logits and ids of acceptance draws, and the chosen tile of a row
        // that is not kept.
        const double tile = 2.0 * tile_size * static_cast<double>(dtype_bytes(dtype));
        CHECK(loaded >= counted);
        CHECK(loaded <= counted + 3 * (tile + 64 * 4 * 32 * 8));
        return counted;
      };
      const double counted = counted_of_run();
      // Reading the rows of all nodes once, or fused verification of a chain of as many tokens, would read
      // more.
      if (keeps && how != Drafting::traversed) CHECK(counted < 3 * 9 * row);
      CHECK(counted < traffic_of(Implementation::fused, logits.batch, {0, 1}).read);
      if (!keeps) continue;
      const auto target_sums = sums_of(logits, true);
      logits.batch.target_options.log_sum_exp = target_sums.data();
      std::vector<float> draft_sums;
      if (how != Drafting::chosen) {
        draft_sums = sums_of(logits, false);
        logits.batch.draft_options.log_sum_exp = draft_sums.data();
      }
      CHECK(counted_of_run() <= counted);
    }
  }
}

TEST_CASE("trees that cannot be verified are refused with the reason") {
  TreeLogits logits({.requests = 2, .vocab = 50}, option_tree, Drafting::without_replacement, 24);
  CHECK(tree_error(logits.tree()) == std::nullopt);
  const auto error = [&](const std::function<void(TreeBatch&)>& change) {
    TreeBatch tree = logits.tree();
    change(tree);
    return tree_error(tree).value_or("");
  };
  const auto mentions = [](const std::string& sentence, const char* words) {
    return sentence.find(words) != std::string::npos;
  };
  CHECK(mentions(error([](TreeBatch& t) { t.parents = {}; }), "parents is null"));
  CHECK(mentions(error([](TreeBatch& t) { t.batch.gamma = 257; }), "gamma is 257: 0 to 256"));
  CHECK(mentions(error([](TreeBatch& t) { t.siblings = static_cast<Siblings>(2); }), "siblings is 2"));
  CHECK(mentions(error([](TreeBatch& t) { t.draft_rows = 9; }), "draft_rows is 9: 0 to 8"));
  CHECK(mentions(error([](TreeBatch& t) { t.batch.accepted = nullptr; }), "accepted is null"));
  CHECK(mentions(error([](TreeBatch& t) { t.batch.target.row_stride = 49; }), "target.row_stride is 49"));
  CHECK(mentions(error([](TreeBatch& t) { t.path = t.batch.accepted; }), "overlaps path"));
  // The array is as long as `path`: another array follows `logits.parents` in memory, and either might be
  // named.
  std::vector<std::int32_t> parents_and_path(logits.path.size());
  CHECK(mentions(error([&](TreeBatch& t) {
                   t.parents = {parents_and_path.data(), nullptr, 0, 1};
                   t.path = parents_and_path.data();
                 }),
                 "parents ("));
  CHECK(mentions(error([](TreeBatch& t) {
                   t.batch.requests = 0x7fffffff;
                   t.batch.vocab = 20000;
                 }),
                 "can be launched"));
  const auto unsupported = [&](const std::function<void(TreeBatch&)>& change, const char* words) {
    TreeBatch tree = logits.tree();
    change(tree);
    CHECK(mentions(tree_error(tree).value_or(""), words));
    CHECK_THROWS_AS(run_tree_emulated(tree), std::invalid_argument);
    CHECK_THROWS_AS(tree_workspace_bytes(tree), std::invalid_argument);
  };
  static const float half = 0.5F;
  static const Token bonus[2]{};
  static float logs[18];
  unsupported([](TreeBatch& t) { t.batch.rule.method = KernelRule::block; }, "trees have their own method");
  unsupported([](TreeBatch& t) { t.batch.top_p = {&half, nullptr, 0, 0}; }, "top_p");
  unsupported([](TreeBatch& t) { t.batch.bonus = bonus; }, "bonus");
  unsupported([](TreeBatch& t) { t.batch.log_probabilities = logs; }, "logarithms");
  unsupported(
      [](TreeBatch& t) {
        t.method = TreeMethod::traversal;
        t.siblings = Siblings::independent;
      },
      "without replacement, not independent");
  unsupported(
      [](TreeBatch& t) {
        t.method = TreeMethod::traversal;
        t.batch.draft = {};
      },
      "drawn children");
  CHECK(mentions(error([](TreeBatch& t) { t.method = static_cast<TreeMethod>(2); }),
                 "tree_method is 2: 0 to 1"));
  CHECK(TreeKernels::layout(logits.tree()).launch.blocks == 2);
  TreeBatch none = logits.tree();
  none.batch = {};
  none.batch.vocab = 10;
  CHECK(tree_error(none) == std::nullopt);
  CHECK(run_tree_emulated(none) == 0);
}
