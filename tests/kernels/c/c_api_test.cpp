// Tests the C interface with the emulator instead of a GPU: every field of a caller's structure must arrive.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "kernels/gpu/device.hpp"
#include "kernels/speclab_kernels.h"
#include "kernels/verify/fused_layout.hpp"
#include "kernels/verify/implementation.hpp"
#include "kernels/verify/reference.hpp"
#include "tests/kernels/verify/tree_logits.hpp"

namespace speclab {

namespace {

const char* launch_failure = nullptr;

}  // namespace

void run_on_gpu(Implementation, const VerifyBatch& batch, void* workspace, CUstream_st*) {
  if (launch_failure != nullptr) throw std::runtime_error(launch_failure);
  FusedKernels::run(simt::EmulatedExecutor(simt::Order::forward), batch, workspace);
}

void run_tree_on_gpu(const TreeBatch& tree, CUstream_st*) { run_tree_emulated(tree); }

std::optional<GpuDevice> current_device() { return std::nullopt; }

std::string why_no_device() { return "the emulator is no device"; }

}  // namespace speclab

using namespace speclab;

namespace {

speclab_verify_batch as_c(const VerifyBatch& batch) {
  speclab_verify_batch c{};
  c.struct_size = sizeof c;
  c.requests = batch.requests;
  c.gamma = batch.gamma;
  c.vocab = batch.vocab;
  c.target_dtype = static_cast<std::int32_t>(batch.target.dtype);
  c.draft_dtype = static_cast<std::int32_t>(batch.draft.dtype);
  c.method = static_cast<std::int32_t>(batch.rule.method);
  c.residual = static_cast<std::int32_t>(batch.rule.residual);
  c.lenience = batch.rule.lenience;
  c.target = {batch.target.data, batch.target.request_stride, batch.target.row_stride};
  c.draft = {batch.draft.data, batch.draft.request_stride, batch.draft.row_stride};
  const auto options = [](const RowOptions& from) {
    return speclab_row_options{from.temperature.data, from.cutoff.data, from.log_sum_exp.data};
  };
  c.target_options = options(batch.target_options);
  c.draft_options = options(batch.draft_options);
  c.drafted = batch.drafted.data;
  c.lengths = batch.lengths;
  c.addresses = reinterpret_cast<const speclab_address*>(batch.addresses);
  c.uniforms = batch.uniforms;
  c.accepted = batch.accepted;
  c.next = batch.next;
  c.flags = batch.flags;
  return c;
}

struct alignas(256) Workspace {
  std::array<unsigned char, 1 << 16> bytes{};
};

speclab_status run(const speclab_verify_batch& batch) {
  const auto workspace = std::make_unique<Workspace>();
  std::size_t needed = 0;
  REQUIRE(speclab_verify_workspace_bytes(&batch, &needed) == speclab_ok);
  REQUIRE(needed <= sizeof(Workspace));
  return speclab_verify(&batch, workspace.get(), needed, nullptr);
}

}  // namespace

TEST_CASE("a batch through the C interface is decided as the same batch in C++") {
  const VerifyRule rules[] = {{KernelRule::token},
                              {KernelRule::lenient, 0.5, Residual::literal},
                              {KernelRule::lenient, 0.5, Residual::target},
                              {KernelRule::block}};
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    std::vector<std::vector<Token>> results;
    for (const VerifyRule& rule : rules) {
      LogitBatch logits({.requests = 40, .gamma = 3, .vocab = 50, .dtype = dtype, .padding = 6}, 5);
      logits.batch.rule = rule;
      std::vector<float> hot(40 * 4, 1.5F);
      std::vector<float> cut(40 * 3, -4.0F);
      std::vector<std::int32_t> lengths(40, 3);
      lengths[3] = 1;
      lengths[4] = 9;
      logits.batch.target_options.temperature = hot.data();
      logits.batch.draft_options.cutoff = cut.data();
      logits.batch.lengths = lengths.data();
      run_emulated(Implementation::fused, logits.batch);
      const auto accepted = logits.accepted;
      const auto next = logits.next;
      const auto flags = logits.flags;
      logits.accepted.assign(40, -7);
      logits.next.assign(40, -7);
      logits.flags.assign(40, 77);

      CHECK(run(as_c(logits.batch)) == speclab_ok);
      CHECK(logits.accepted == accepted);
      CHECK(logits.next == next);
      CHECK(logits.flags == flags);
      CHECK(logits.flags[4] == speclab_length_out_of_range);
      results.push_back(next);
    }
    // If a field of a rule got lost, two of these results would be equal.
    for (std::size_t i = 0; i < results.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) CHECK(results[i] != results[j]);
    }
  }
}

TEST_CASE("on the CPU the definition decides, or the emulated kernels") {
  // Some requests end in each flag that both report: for ids outside the vocabulary, an invalid row, a
  // drafted token without draft probability, a length out of range.
  for (const KernelRule rule : {KernelRule::token, KernelRule::block}) {
    LogitBatch logits({.requests = 60, .gamma = 3, .vocab = 50}, 7);
    logits.batch.rule.method = rule;
    std::vector<std::int32_t> lengths(60, 3);
    lengths[4] = -1;
    logits.batch.lengths = lengths.data();
    logits.drafted[5 * 3] = -1;
    logits.drafted[6 * 3 + 1] = 50;
    const auto all = [&] { return std::vector{logits.accepted, logits.next}; };
    run_emulated(Implementation::fused, logits.batch);
    const auto results = all();
    const auto flags = logits.flags;
    const auto reference = verify_reference(logits.batch);
    const auto batch = as_c(logits.batch);

    logits.next.assign(60, -7);
    CHECK(speclab_verify_on_cpu(&batch, 1) == speclab_ok);
    CHECK(all() == results);
    CHECK(logits.flags == flags);
    logits.next.assign(60, -7);
    logits.flags.assign(60, 77);
    CHECK(speclab_verify_on_cpu(&batch, 0) == speclab_ok);
    for (std::size_t i = 0; i < 60; ++i) {
      CHECK(logits.accepted[i] == reference[i].accepted);
      CHECK(logits.next[i] == reference[i].next);
      if (reference[i].margin > 1e-5) CHECK(logits.flags[i] == flags[i]);
    }
    CHECK(logits.flags[4] == speclab_length_out_of_range);
    CHECK((logits.flags[5] & speclab_token_out_of_range) != 0);
    CHECK(std::count(logits.flags.begin(), logits.flags.end(), 0U) > 40);
  }
  LogitBatch logits({}, 5);
  auto batch = as_c(logits.batch);
  batch.accepted = batch.next;
  CHECK(speclab_verify_on_cpu(&batch, 0) == speclab_invalid_argument);
  CHECK(std::string(speclab_last_error()).find("overlaps") != std::string::npos);
}

TEST_CASE("what engines have arrives: layouts, formats, ties, masks, seeds, bonus tokens and logarithms") {
  constexpr std::int32_t requests = 24;
  constexpr std::int32_t positions = 4;
  constexpr std::int32_t vocab = 50;
  LogitBatch logits({.requests = requests, .gamma = 3, .vocab = vocab}, 5);
  VerifyBatch batch = logits.batch;
  std::vector<float> log_probabilities(requests * positions);
  std::vector<float> log_sum_exps(requests * positions);
  batch.log_probabilities = log_probabilities.data();
  batch.log_sum_exps = log_sum_exps.data();
  std::vector<Bf16> draft;
  for (const float logit : logits.draft) draft.push_back(from_float<Bf16>(logit));
  std::vector<std::int32_t> counts;
  std::vector<std::int32_t> slot;
  std::vector<std::int32_t> place;
  for (std::int32_t i = 0; i <= requests; ++i) counts.push_back(i * 3);
  for (std::int32_t i = 0; i < requests; ++i) slot.push_back((i + 5) % requests);
  for (std::int32_t i = 0; i < vocab; ++i) place.push_back((i + 3) % vocab);
  const std::vector<float> numbers(requests * positions, 0.5F);
  const std::vector<std::int32_t> most(requests, 3);
  const std::vector<float> temperatures{0, 1, 2};
  const std::vector<std::uint32_t> mask{0xffff7fffU, 0x3ffffU};
  const std::vector<std::uint64_t> seeds(requests, 77);
  const std::vector<std::int64_t> places(requests, std::int64_t{9} << 32U | 4);
  const std::vector<Token> bonus(requests, 11);

  const speclab_verify_batch plain = as_c(batch);
  const auto decided = [&](const auto& change) {
    VerifyBatch changed = batch;
    speclab_verify_batch c = plain;
    c.log_probabilities = log_probabilities.data();
    c.log_sum_exps = log_sum_exps.data();
    change(changed, c);
    const auto results = [&] {
      std::vector<std::uint32_t> all;
      for (const auto value : logits.accepted) all.push_back(static_cast<std::uint32_t>(value));
      for (const auto value : logits.next) all.push_back(static_cast<std::uint32_t>(value));
      for (const float value : log_probabilities) all.push_back(bits_of_float(value));
      for (const float value : log_sum_exps) all.push_back(bits_of_float(value));
      std::fill(logits.next.begin(), logits.next.end(), -7);
      return all;
    };
    run_emulated(Implementation::fused, changed);
    const auto expected = results();
    CHECK(run(c) == speclab_ok);
    CHECK(results() == expected);
    CHECK(speclab_verify_on_cpu(&c, 1) == speclab_ok);
    CHECK(results() == expected);
    // The definition's logarithms agree to within rounding.
    CHECK(speclab_verify_on_cpu(&c, 0) == speclab_ok);
    const auto defined = results();
    for (std::size_t i = 0; i < defined.size(); ++i) {
      if (i < 2 * requests) {
        CHECK(defined[i] == expected[i]);
        continue;
      }
      const float found = float_of_bits(expected[i]);
      const float wanted = float_of_bits(defined[i]);
      CHECK(
          (found == wanted || std::abs(found - wanted) < 1e-4F || (std::isnan(found) && std::isnan(wanted))));
    }
    return expected;
  };
  using Change = std::function<void(VerifyBatch&, speclab_verify_batch&)>;
  const auto view = [](const auto& of) {
    return speclab_view{of.data, of.index, of.request_stride, of.row_stride};
  };
  const Change changes[] = {
      [](VerifyBatch&, speclab_verify_batch&) {},
      [&](VerifyBatch& b, speclab_verify_batch& c) { b.target.index = c.target_index = slot.data(); },
      [&](VerifyBatch& b, speclab_verify_batch& c) { b.draft.index = c.draft_index = slot.data(); },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.draft.data = c.draft.data = draft.data();
        b.draft.dtype = Dtype::bf16;
        c.draft_dtype = speclab_bf16;
      },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.target.kind = RowKind::probabilities;
        c.target_kind = speclab_probabilities;
        b.target.data = c.target.data = numbers.data();
        b.target.request_stride = c.target.request_stride = 0;
        b.target.row_stride = c.target.row_stride = 1;
        b.requests = c.requests = 1;
        b.gamma = c.gamma = 0;
      },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.draft.kind = RowKind::probabilities;
        c.draft_kind = speclab_probabilities;
        b.draft.data = c.draft.data = numbers.data();
        b.requests = c.requests = 1;
        b.gamma = c.gamma = 1;
      },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.target_options.temperature = {temperatures.data(), nullptr, 0, 1};
        c.target_temperature = view(b.target_options.temperature);
        b.gamma = c.gamma = 2;
        b.ties = Ties::lowest;
        c.ties = speclab_ties_lowest;
      },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.draft_vocab = c.draft_vocab = 40;
        b.draft_place = c.draft_place = place.data();
      },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.mask = {mask.data(), nullptr, 0, 0};
        c.mask = view(b.mask);
      },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.cumulative = c.cumulative = counts.data();
        b.cumulative_extra = c.cumulative_extra = 1;
      },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.addresses = nullptr;
        c.addresses = nullptr;
        b.seeds = {seeds.data(), slot.data(), 1, 0};
        b.positions = {places.data(), slot.data(), 1, 0};
        c.seeds = view(b.seeds);
        c.positions = view(b.positions);
      },
      [&](VerifyBatch& b, speclab_verify_batch& c) { b.bonus = c.bonus = bonus.data(); },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.drafted = {logits.drafted.data(), nullptr, 3, 0};
        c.drafted_view = view(b.drafted);
        c.drafted = nullptr;
      },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.target_options.cutoff = {numbers.data(), slot.data(), 1, 0};
        c.target_cutoff = view(b.target_options.cutoff);
      },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.top_k = {most.data(), slot.data(), 1, 0};
        c.top_k = view(b.top_k);
      },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.top_p = {numbers.data(), slot.data(), 1, 0};
        c.top_p = view(b.top_p);
      },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.min_p = {numbers.data(), slot.data(), 1, 0};
        c.min_p = view(b.min_p);
      },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.target_options.log_sum_exp = {numbers.data(), slot.data(), 1, 0};
        c.target_log_sum_exp = view(b.target_options.log_sum_exp);
      },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.draft_options.temperature = {numbers.data(), slot.data(), 1, 0};
        c.draft_temperature = view(b.draft_options.temperature);
      },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.draft_options.cutoff = {numbers.data(), slot.data(), 1, 0};
        c.draft_cutoff = view(b.draft_options.cutoff);
      },
      [&](VerifyBatch& b, speclab_verify_batch& c) {
        b.draft_options.log_sum_exp = {numbers.data(), slot.data(), 1, 0};
        c.draft_log_sum_exp = view(b.draft_options.log_sum_exp);
      },
  };
  std::vector<std::vector<std::uint32_t>> results;
  for (const Change& change : changes) results.push_back(decided(change));
  // If a field got lost, its results would equal the first ones.
  for (std::size_t i = 1; i < results.size(); ++i) {
    CAPTURE(i);
    CHECK(results[i] != results[0]);
  }
  speclab_verify_batch reserved = plain;
  reserved.reserved = 1;
  std::size_t bytes = 0;
  CHECK(speclab_verify_workspace_bytes(&reserved, &bytes) == speclab_invalid_argument);
}

TEST_CASE("mistakes become a status and a sentence of the thread's own") {
  LogitBatch logits({}, 5);
  speclab_verify_batch batch = as_c(logits.batch);
  std::size_t bytes = 0;
  CHECK(speclab_verify_workspace_bytes(nullptr, &bytes) == speclab_invalid_argument);
  CHECK(std::string(speclab_last_error()).find("batch is null") == 0);
  CHECK(speclab_verify_workspace_bytes(&batch, nullptr) == speclab_invalid_argument);
  CHECK(std::string(speclab_last_error()).find("bytes is null") == 0);
  batch.gamma = 257;
  CHECK(speclab_verify(&batch, nullptr, 0, nullptr) == speclab_invalid_argument);
  CHECK(std::string(speclab_last_error()) == "gamma is 257: 0 to 256 are allowed");
  std::thread([] { CHECK(std::string(speclab_last_error()).empty()); }).join();

  batch.gamma = logits.batch.gamma;
  launch_failure = "x.cu:1: cudaLaunchKernelEx: out of resources";
  CHECK(run(batch) == speclab_cuda_error);
  CHECK(std::string(speclab_last_error()) == launch_failure);
  launch_failure = nullptr;
  CHECK(run(batch) == speclab_ok);

  CHECK(speclab_device_name() == nullptr);
  CHECK(std::string(speclab_last_error()) == "the emulator is no device");
  CHECK(std::string(speclab_implementation_name(0)) == "fused");
  CHECK(speclab_implementation_name(-1) == nullptr);
  CHECK(speclab_implementation_name(99) == nullptr);
}

TEST_CASE("a structure of another version is understood or refused") {
  LogitBatch logits({}, 5);
  struct Newer {
    speclab_verify_batch known;
    const void* added;
  } newer{as_c(logits.batch), nullptr};
  newer.known.struct_size = sizeof newer;
  CHECK(run(newer.known) == speclab_ok);
  newer.added = &newer;
  std::size_t bytes = 0;
  CHECK(speclab_verify_workspace_bytes(&newer.known, &bytes) == speclab_invalid_argument);
  CHECK(std::string(speclab_last_error()).find("a field of a newer header was set") != std::string::npos);
  newer.known.struct_size = 0;
  CHECK(speclab_verify_workspace_bytes(&newer.known, &bytes) == speclab_invalid_argument);
  CHECK(std::string(speclab_last_error()).find("struct_size is 0") == 0);
  // Reading further would leave the caller's memory.
  for (const std::size_t size : {std::size_t{4097}, std::size_t{1} << 40U, ~std::size_t{0}}) {
    newer.known.struct_size = size;
    CHECK(speclab_verify_workspace_bytes(&newer.known, &bytes) == speclab_invalid_argument);
    CHECK(std::string(speclab_last_error()).find("no version has more than 4096") != std::string::npos);
  }
}

TEST_CASE("trees through the C interface: as in C++, on the stand-in for a GPU and on the CPU") {
  const std::vector<std::int32_t> parents{-1, -1, 0, 0, 1};
  for (const Drafting how :
       {Drafting::without_replacement, Drafting::independent, Drafting::chosen, Drafting::traversed}) {
    TreeLogits logits({.requests = 12, .vocab = 60, .distance = 0.8}, parents, how, 71);
    logits.drafted_at(2, 0) = 60;
    std::vector<Token> tokens(12 * 6);
    std::vector<std::int32_t> counts(12);
    logits.batch.tokens = tokens.data();
    logits.batch.counts = counts.data();
    logits.run();
    const auto path = logits.path;
    const auto next = logits.next;
    const auto flags = logits.flags;
    const auto expected_tokens = tokens;
    const auto expected_counts = counts;

    speclab_verify_batch batch = as_c(logits.batch);
    batch.tokens = tokens.data();
    batch.counts = counts.data();
    speclab_tree_batch tree{};
    tree.struct_size = sizeof tree;
    tree.batch = &batch;
    tree.parents = {parents.data(), nullptr, 0, 1};
    tree.siblings = how == Drafting::independent ? speclab_independent : speclab_without_replacement;
    tree.path = logits.path.data();
    tree.tree_method = how == Drafting::traversed ? speclab_traversal : speclab_recursive_rejection;
    for (const int emulate : {-1, 0, 1}) {
      CAPTURE(emulate);
      std::fill(logits.path.begin(), logits.path.end() - 1, -5);
      std::fill(tokens.begin(), tokens.end(), -5);
      REQUIRE((emulate < 0 ? speclab_verify_tree(&tree, nullptr)
                           : speclab_verify_tree_on_cpu(&tree, emulate)) == speclab_ok);
      CHECK(logits.path == path);
      CHECK(logits.next == next);
      CHECK(logits.flags == flags);
      CHECK(tokens == expected_tokens);
      CHECK(counts == expected_counts);
    }
    // With a workspace rows are summed before the walk.
    const auto workspace = std::make_unique<Workspace>();
    std::size_t needed = 0;
    REQUIRE(speclab_verify_tree_workspace_bytes(&tree, &needed) == speclab_ok);
    REQUIRE(needed > 0);
    REQUIRE(needed <= sizeof(Workspace));
    tree.workspace = workspace.get();
    tree.workspace_bytes = needed;
    for (const bool on_cpu : {false, true}) {
      workspace->bytes.fill(0);
      std::fill(logits.path.begin(), logits.path.end() - 1, -5);
      REQUIRE((on_cpu ? speclab_verify_tree_on_cpu(&tree, 1) : speclab_verify_tree(&tree, nullptr)) ==
              speclab_ok);
      CHECK(std::any_of(workspace->bytes.begin(), workspace->bytes.begin() + std::ptrdiff_t(needed),
                        [](unsigned char byte) { return byte != 0; }));
      CHECK(logits.path == path);
      CHECK(logits.next == next);
    }
    tree.workspace_bytes = needed - 1;
    CHECK(speclab_verify_tree(&tree, nullptr) == speclab_invalid_argument);
    CHECK(std::string(speclab_last_error()).find("workspace_bytes is") != std::string::npos);
    // The caller's header has no workspace, and an older one no tree methods.
    tree.struct_size = 104;
    REQUIRE(speclab_verify_tree(&tree, nullptr) == speclab_ok);
    CHECK(logits.path == path);
    if (how == Drafting::without_replacement) {
      tree.struct_size = 96;
      tree.tree_method = 77;
      REQUIRE(speclab_verify_tree_on_cpu(&tree, 0) == speclab_ok);
      CHECK(logits.path == path);
      tree.tree_method = speclab_recursive_rejection;
    }
    tree.struct_size = sizeof tree;
    tree.workspace = nullptr;
    // Each field of the structure arrives.
    const std::vector<std::int32_t> rows{4, 3, 2, 1, 0};
    tree.draft_row = {rows.data(), nullptr, 0, 1};
    tree.draft_rows = 1;
    REQUIRE(speclab_verify_tree_on_cpu(&tree, 0) == speclab_ok);
    CHECK((logits.flags[0] == speclab_invalid_tree) == (how != Drafting::chosen));
    CHECK((logits.flags == flags) == (how == Drafting::chosen));
  }
}

TEST_CASE("trees through the C interface: mistakes are told") {
  TreeLogits logits({.requests = 2, .vocab = 20}, {-1, -1, 0}, Drafting::without_replacement, 72);
  speclab_verify_batch batch = as_c(logits.batch);
  speclab_tree_batch tree{};
  tree.struct_size = sizeof tree;
  tree.batch = &batch;
  tree.parents = {logits.parents.data(), nullptr, 0, 1};
  const auto refused = [&](const char* words) {
    for (const bool on_cpu : {false, true}) {
      CHECK((on_cpu ? speclab_verify_tree_on_cpu(&tree, 0) : speclab_verify_tree(&tree, nullptr)) ==
            speclab_invalid_argument);
      CHECK(std::string(speclab_last_error()).find(words) != std::string::npos);
    }
  };
  REQUIRE(speclab_verify_tree_on_cpu(&tree, 0) == speclab_ok);
  tree.parents = {};
  refused("parents is null");
  tree.parents = {logits.parents.data(), nullptr, 0, 1};
  tree.siblings = 2;
  refused("siblings is 2");
  tree.siblings = speclab_independent;
  tree.tree_method = speclab_traversal;
  refused("without replacement, not independent");
  tree.siblings = 0;
  tree.tree_method = 2;
  refused("tree_method is 2: 0 to 1");
  tree.tree_method = 0;
  tree.reserved = 1;
  refused("reserved is 1");
  tree.reserved = 0;
  batch.method = speclab_block;
  refused("rule.method of the batch must be token");
  batch.method = speclab_token;
  batch.struct_size = 215;
  refused("sizeof(speclab_verify_batch)");
  batch.struct_size = sizeof batch;
  tree.batch = nullptr;
  refused("batch is null");
  tree.batch = &batch;
  tree.struct_size = 88;
  refused("sizeof(speclab_tree_batch) is needed, 96 or more");
  CHECK(speclab_verify_tree(nullptr, nullptr) == speclab_invalid_argument);
  CHECK(std::string(speclab_last_error()) == "tree is null: a speclab_tree_batch is needed");
}
