// Inputs at the edges of what is allowed, and beyond: each a request or a few, with what has to come of it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>

#include "experiments/kernel_lab/kernel_check.hpp"

namespace speclab {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_logit = std::numeric_limits<float>::quiet_NaN();
constexpr std::int32_t drafts = 3;
constexpr std::int32_t odd_vocab = 11;
constexpr MadeLogits edge_logits{3, 2, 1};

using Results = std::vector<RequestResult>;

/// Arrays that options point to.
struct Room {
  std::vector<float> temperature;
  std::vector<float> cutoff;
  std::vector<float> target_sums;
  std::vector<float> draft_sums;
  std::vector<std::int32_t> lengths;
  std::vector<std::int32_t> top_k;
  std::vector<float> top_p;
  std::vector<float> min_p;
};

struct Edge {
  std::string name;
  std::function<void(RequestBatch&, Room&)> prepare;
  std::function<bool(const Results&)> holds;  ///< besides agreement with the reference
  BenchShape shape{1, drafts, odd_vocab, Dtype::f32};
};

/// Usual logits, but for what `change` does.
template <class Change>
auto usual(const Change& change) {
  return [change](RequestBatch& host, Room& room) {
    host.make(edge_logits);
    if constexpr (std::is_invocable_v<Change, RequestBatch&, Room&>) {
      change(host, room);
    } else {
      change(host);
    }
  };
}
constexpr auto nothing_more = [](RequestBatch&) {};

/// The same rows of target and draft, with these uniforms.
auto same_rows(const std::vector<double>& uniforms) {
  return [uniforms](RequestBatch& host, Room&) {
    for (Token id = 0; id < host.shape().vocab; ++id) {
      for (std::int32_t i = 0; i < drafts; ++i) {
        host.set_target(0, i, id, static_cast<float>(id % 5));
        host.set_draft(0, i, id, static_cast<float>(id % 5));
      }
    }
    host.set_uniforms(0, uniforms);
  };
}

/// All probability of a logit at the first position on some ids.
template <class HasProbability>
void only(RequestBatch& host, void (RequestBatch::*set)(std::int32_t, std::int32_t, Token, float),
          const HasProbability& has_probability) {
  for (Token id = 0; id < odd_vocab; ++id) {
    (host.*set)(0, 0, id, has_probability(id) ? static_cast<float>(id % 3) : -infinity);
  }
}

float log_sum_exp(const std::vector<float>& row) {
  double sum = 0;
  for (const float logit : row) sum += std::exp(static_cast<double>(logit));
  return static_cast<float>(std::log(sum));
}

bool anything(const Results&) { return true; }
bool rejected(const Results& found) { return found[0].accepted == 0 && found[0].next >= 0; }
bool invalid(const Results& found) {
  return found[0].next == invalid_token && (found[0].flags & flag_invalid_row) != 0;
}
auto rejected_with(VerifyFlag flag) {
  return [flag](const Results& found) { return found[0].accepted == 0 && (found[0].flags & flag) != 0; };
}

std::vector<Edge> edges() {
  const std::vector<double> low{0, 0, 0, 0.5};
  std::vector<Edge> all;
  all.push_back({"target = draft: everything is accepted", same_rows({0.999, 0.999, 0.999, 0.3}),
                 [](const Results& found) { return found[0].accepted == drafts; }});
  all.push_back(
      {"zero residual at u = 1: the target is sampled, and a flag is set", same_rows({1, 1, 1, 0.3}),
       [](const Results& found) { return rejected(found) && rejected_with(flag_zero_residual)(found); }});
  all.push_back({"disjoint distributions at u = 0: nothing is accepted", usual([low](RequestBatch& host) {
                   only(host, &RequestBatch::set_target, [](Token id) { return id % 2 == 0; });
                   only(host, &RequestBatch::set_draft, [](Token id) { return id % 2 == 1; });
                   host.drafted(0, 0) = 3;
                   host.set_uniforms(0, low);
                 }),
                 [](const Results& found) { return rejected(found) && found[0].next % 2 == 0; }});
  all.push_back({"one-hot target elsewhere: it is emitted", usual([low](RequestBatch& host) {
                   only(host, &RequestBatch::set_target, [](Token id) { return id == 7; });
                   host.drafted(0, 0) = 2;
                   host.set_uniforms(0, low);
                 }),
                 [](const Results& found) { return found[0].accepted == 0 && found[0].next == 7; }});
  all.push_back({"one-hot target on the draft: it is accepted", usual([](RequestBatch& host) {
                   only(host, &RequestBatch::set_target, [](Token id) { return id == 7; });
                   host.drafted(0, 0) = 7;
                   host.set_uniforms(0, {0.999, 0.5, 0.5, 0.5});
                 }),
                 [](const Results& found) { return found[0].accepted >= 1; }});
  all.push_back({"a draft that the target gives no mass is rejected at u = 0",
                 usual([low](RequestBatch& host) {
                   host.set_target(0, 0, host.drafted(0, 0), -infinity);
                   host.set_uniforms(0, low);
                 }),
                 rejected});
  all.push_back({"a draft that the draft gives no mass is rejected and counted",
                 usual([low](RequestBatch& host) {
                   host.set_draft(0, 0, host.drafted(0, 0), -infinity);
                   host.set_uniforms(0, low);
                 }),
                 rejected_with(flag_zero_draft_probability)});
  for (const Token id : {-1, odd_vocab, std::numeric_limits<Token>::max()}) {
    all.push_back({fmt::format("drafted id {} is rejected and counted", id),
                   usual([id, low](RequestBatch& host) {
                     host.drafted(0, 0) = id;
                     host.set_uniforms(0, low);
                   }),
                   rejected_with(flag_token_out_of_range)});
  }
  for (const float bad : {nan_logit, infinity}) {
    for (const bool of_target : {true, false}) {
      all.push_back({fmt::format("{} in a {} row: no id, a flag", std::isnan(bad) ? "NaN" : "+inf",
                                 of_target ? "target" : "draft"),
                     usual([bad, set = of_target ? &RequestBatch::set_target
                                                 : &RequestBatch::set_draft](RequestBatch& host) {
                       (host.*set)(0, 0, 4, bad);
                       host.drafted(0, 0) = 5;
                     }),
                     invalid});
    }
  }
  all.push_back({"a target row without mass: no id, a flag", usual([](RequestBatch& host) {
                   only(host, &RequestBatch::set_target, [](Token) { return false; });
                 }),
                 invalid});
  all.push_back({"NaN behind a rejection does no harm", usual([low](RequestBatch& host) {
                   host.set_target(0, 0, host.drafted(0, 0), -infinity);
                   host.set_target(0, 2, 1, nan_logit);
                   host.set_uniforms(0, low);
                 }),
                 rejected});
  for (const double u : {0.0, 1.0}) {
    all.push_back(
        {fmt::format("u = {} picks the {} id with mass", u, u == 0 ? "first" : "last"),
         [u](RequestBatch& host, Room&) {
           only(host, &RequestBatch::set_target, [](Token id) { return id >= 2 && id <= 8; });
           host.set_uniforms(0, {u});
         },
         [u](const Results& found) { return found[0].accepted == 0 && found[0].next == (u == 0 ? 2 : 8); },
         {1, 0, odd_vocab, Dtype::f32}});
  }
  all.push_back({"gamma = 0", usual(nothing_more), rejected, {5, 0, odd_vocab, Dtype::f32}});
  all.push_back({"ragged lengths, and lengths out of range",
                 usual([](RequestBatch& host, Room& room) {
                   room.lengths = {0, 1, 2, 3, -1, 4};
                   host.batch.lengths = room.lengths.data();
                 }),
                 [](const Results& found) {
                   for (std::size_t i = 0; i < 4; ++i) {
                     if (found[i].accepted > static_cast<std::int32_t>(i) || found[i].next < 0) return false;
                   }
                   return std::all_of(found.begin() + 4, found.end(), [](const RequestResult& result) {
                     return result.next == invalid_token && (result.flags & flag_length_out_of_range) != 0;
                   });
                 },
                 {6, drafts, odd_vocab, Dtype::f32}});
  for (const std::int32_t vocab : {1, 2, 3, 257, 8191, 8193}) {
    all.push_back(
        {fmt::format("V = {}", vocab), usual(nothing_more), anything, {4, drafts, vocab, Dtype::f32}});
  }
  all.push_back({"drafts that were certain",
                 usual([](RequestBatch& host) { host.batch.draft.data = nullptr; }),
                 anything,
                 {8, drafts, odd_vocab, Dtype::f32}});
  all.push_back({"temperatures, 0 among them, and cut-offs",
                 usual([](RequestBatch& host, Room& room) {
                   for (int i = 0; i < 4 * (drafts + 1); ++i) {
                     room.temperature.push_back(static_cast<float>(i % 4) * 0.5F);
                     room.cutoff.push_back(i % 3 == 0 ? -1.0F : -infinity);
                   }
                   host.batch.target_options = {room.temperature.data(), room.cutoff.data(), nullptr};
                   host.batch.draft_options = {nullptr, room.cutoff.data(), nullptr};
                 }),
                 anything,
                 {4, drafts, odd_vocab, Dtype::f32}});
  // Both of some tiles and of less than one.
  for (const std::int32_t vocab : {odd_vocab, 20001}) {
    all.push_back({fmt::format("top-k, top-p and min-p of each row, V = {}", vocab),
                   usual([](RequestBatch& host, Room& room) {
                     for (int i = 0; i < 8 * (drafts + 1); ++i) {
                       room.top_k.push_back(i % 5 == 0 ? 0 : 1 << i % 13);
                       room.top_p.push_back(i % 3 == 0 ? 1.0F : 0.9F);
                       room.min_p.push_back(i % 4 == 0 ? 0.05F : 0.0F);
                     }
                     host.batch.top_k = room.top_k.data();
                     host.batch.top_p = room.top_p.data();
                     host.batch.min_p = room.min_p.data();
                   }),
                   [](const Results& found) {
                     return std::all_of(found.begin(), found.end(),
                                        [](const RequestResult& result) { return result.next >= 0; });
                   },
                   {8, drafts, vocab, Dtype::f32}});
  }
  all.push_back({"top-p out of range: no id, a flag", usual([](RequestBatch& host, Room& room) {
                   room.top_p = {1.5F};
                   host.batch.top_p = {room.top_p.data(), nullptr, 0, 0};
                 }),
                 invalid});
  all.push_back({"sums that came with the logits",
                 [](RequestBatch& host, Room& room) {
                   for (std::int32_t i = 0; i <= drafts; ++i) {
                     std::vector<float> target;
                     std::vector<float> draft;
                     for (Token id = 0; id < odd_vocab; ++id) {
                       // Whole numbers: every format has them.
                       target.push_back(static_cast<float>((id * 3 + i) % 5));
                       draft.push_back(static_cast<float>((id * 2 + i) % 5));
                       host.set_target(0, i, id, target.back());
                       if (i < drafts) host.set_draft(0, i, id, draft.back());
                     }
                     room.target_sums.push_back(log_sum_exp(target));
                     if (i == drafts) break;
                     room.draft_sums.push_back(log_sum_exp(draft));
                     host.drafted(0, i) = 2 + i;
                   }
                   host.batch.target_options.log_sum_exp = room.target_sums.data();
                   host.batch.draft_options.log_sum_exp = room.draft_sums.data();
                 },
                 anything});
  return all;
}

}  // namespace

std::vector<KernelCheckRow> check_edges(const KernelCheckOptions& options) {
  const BatchRunner runner = runner_of(options.place);
  std::vector<KernelCheckRow> rows;
  for (const ImplementationInfo& info : options.implementations) {
    if (!info.exact) continue;
    for (const Dtype dtype : options.dtypes) {
      for (const Edge& edge : edges()) {
        BenchShape shape = edge.shape;
        shape.dtype = dtype;
        RequestBatch host(shape, 13);
        Room room;
        edge.prepare(host, room);
        KernelCheckRow& row = rows.emplace_back(unchecked_row("edge: " + edge.name, info, host.batch));
        if (!row.detail.empty()) continue;
        const Results found = host.run(runner, info.implementation);
        // A length out of range is for the flags to say: the reference leaves such requests alone.
        const bool agrees = host.batch.lengths != nullptr ||
                            decision_agreement(info.implementation, host.batch, found).different == 0;
        const bool right = agrees && edge.holds(found);
        row.outcome = right ? CheckOutcome::passed : CheckOutcome::failed;
        if (!right) {
          row.detail = fmt::format("accepted {}, next {}, flags {}{}", found[0].accepted, found[0].next,
                                   found[0].flags, agrees ? "" : "; not what the reference decides");
        }
      }
    }
  }
  return rows;
}

}  // namespace speclab
