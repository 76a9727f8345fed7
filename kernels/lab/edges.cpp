// Checks inputs at and beyond the bounds of what is allowed: each edge is one request or a few, with the
// result that must follow.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "kernels/lab/kernel_check.hpp"
#include "kernels/lab/made_overlap.hpp"

namespace speclab {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_logit = std::numeric_limits<float>::quiet_NaN();
constexpr std::int32_t drafts = 3;
constexpr std::int32_t odd_vocab = 11;
constexpr MadeLogits edge_logits{3, 2, 1};

using Results = std::vector<RequestResult>;

struct Edge {
  std::string name;
  std::function<void(RequestBatch&)> prepare;  ///< changes a batch made of `edge_logits`
  /// Returns whether the results are right, apart from agreement with the reference.
  std::function<bool(const Results&)> holds;
  std::vector<double> uniforms = {};  ///< of the first request; empty: random numbers
  BenchShape shape{1, drafts, odd_vocab};
};

void nothing_more(RequestBatch&) {}

void same_rows(RequestBatch& host) {
  for (Token id = 0; id < odd_vocab; ++id) {
    for (std::int32_t i = 0; i < drafts; ++i) {
      for (const bool of_target : {true, false}) host.set(of_target, 0, i, id, static_cast<float>(id % 5));
    }
  }
}

/// Leaves probability at the first position only on some ids.
template <class HasProbability>
void only(RequestBatch& host, bool of_target, const HasProbability& has_probability) {
  for (Token id = 0; id < odd_vocab; ++id)
    host.set(of_target, 0, 0, id, has_probability(id) ? static_cast<float>(id % 3) : -infinity);
}

/// Gives the target all probability on id 7, and drafts `drafted`.
auto one_hot(Token drafted) {
  return [drafted](RequestBatch& host) {
    only(host, true, [](Token id) { return id == 7; });
    host.drafted(0, 0) = drafted;
  };
}

auto drafted_logit(bool of_target, float logit) {
  return [=](RequestBatch& host) { host.set(of_target, 0, 0, host.drafted(0, 0), logit); };
}

bool anything(const Results&) { return true; }
bool rejected(const Results& found) { return found[0].accepted == 0 && found[0].next >= 0; }
bool invalid(const Results& found) {
  return found[0].next == invalid_token && (found[0].flags & flag_invalid_row) != 0;
}
auto rejected_with(VerifyFlag flag) {
  return [flag](const Results& found) { return found[0].accepted == 0 && (found[0].flags & flag) != 0; };
}
auto rejected_for(Token id) {
  return [id](const Results& found) { return found[0].accepted == 0 && found[0].next == id; };
}

/// Uniforms that decide position 0 with u = 0.
const std::vector<double> low{0, 0, 0, 0.5};

/// Edges of rows in which only some ids have probability, or target and draft are equal or disjoint.
std::vector<Edge> edges_of_mass() {
  return {{"target = draft: everything is accepted",
           same_rows,
           [](const Results& found) { return found[0].accepted == drafts; },
           {0.999, 0.999, 0.999, 0.3}},
          {"zero residual at u = 1: the target is sampled, and a flag is set",
           same_rows,
           [](const Results& found) { return rejected(found) && rejected_with(flag_zero_residual)(found); },
           {1, 1, 1, 0.3}},
          {"disjoint distributions at u = 0: nothing is accepted",
           [](RequestBatch& host) {
             only(host, true, [](Token id) { return id % 2 == 0; });
             only(host, false, [](Token id) { return id % 2 == 1; });
             host.drafted(0, 0) = 3;
           },
           [](const Results& found) { return rejected(found) && found[0].next % 2 == 0; }, low},
          {"one-hot target elsewhere: it is emitted", one_hot(2), rejected_for(7), low},
          {"one-hot target on the draft: it is accepted",
           one_hot(7),
           [](const Results& found) { return found[0].accepted >= 1; },
           {0.999, 0.5, 0.5, 0.5}},
          {"a drafted token of target probability 0 is rejected at u = 0", drafted_logit(true, -infinity),
           rejected, low},
          {"a drafted token of draft probability 0 is rejected and counted", drafted_logit(false, -infinity),
           rejected_with(flag_zero_draft_probability), low}};
}

/// Inputs that are invalid: ids out of range, NaN, infinite logits.
std::vector<Edge> broken_inputs() {
  std::vector<Edge> all;
  for (const Token id : {-1, odd_vocab, std::numeric_limits<Token>::max()}) {
    all.push_back({fmt::format("drafted id {} is rejected and counted", id),
                   [id](RequestBatch& host) { host.drafted(0, 0) = id; },
                   rejected_with(flag_token_out_of_range), low});
  }
  for (const float bad : {nan_logit, infinity}) {
    for (const bool of_target : {true, false}) {
      all.push_back({fmt::format("{} in a {} row: no id, a flag", std::isnan(bad) ? "NaN" : "+inf",
                                 of_target ? "target" : "draft"),
                     [bad, of_target](RequestBatch& host) {
                       host.set(of_target, 0, 0, 4, bad);
                       host.drafted(0, 0) = 5;
                     },
                     invalid});
    }
  }
  all.push_back({"a target row that sums to 0: no id, a flag",
                 [](RequestBatch& host) { only(host, true, [](Token) { return false; }); }, invalid});
  all.push_back({"NaN after a rejection does no harm",
                 [](RequestBatch& host) {
                   drafted_logit(true, -infinity)(host);
                   host.set(true, 0, 2, 1, nan_logit);
                 },
                 rejected, low});
  return all;
}

std::vector<Edge> edges_of_shapes() {
  std::vector<Edge> all;
  for (const double u : {0.0, 1.0}) {
    all.push_back(
        {fmt::format("u = {} picks the {} id of positive probability", u, u == 0 ? "first" : "last"),
         [](RequestBatch& host) { only(host, true, [](Token id) { return id >= 2 && id <= 8; }); },
         rejected_for(u == 0 ? 2 : 8),
         {u},
         {1, 0, odd_vocab}});
  }
  all.push_back({"gamma = 0", nothing_more, rejected, {}, {5, 0, odd_vocab}});
  all.push_back({"ragged lengths, and lengths out of range",
                 [](RequestBatch& host) {
                   host.batch.lengths = host.keep(std::vector<std::int32_t>{0, 1, 2, 3, -1, 4});
                 },
                 [](const Results& found) {
                   for (std::size_t i = 0; i < 4; ++i) {
                     if (found[i].accepted > static_cast<std::int32_t>(i) || found[i].next < 0) return false;
                   }
                   return std::all_of(found.begin() + 4, found.end(), [](const RequestResult& result) {
                     return result.next == invalid_token && (result.flags & flag_length_out_of_range) != 0;
                   });
                 },
                 {},
                 {6, drafts, odd_vocab}});
  for (const std::int32_t vocab : {1, 2, 3, 257, 8191, 8193})
    all.push_back({fmt::format("V = {}", vocab), nothing_more, anything, {}, {4, drafts, vocab}});
  return all;
}

std::vector<Edge> edges_of_options() {
  std::vector<Edge> all;
  all.push_back({"certain drafts",
                 [](RequestBatch& host) { host.batch.draft.data = nullptr; },
                 anything,
                 {},
                 {8, drafts, odd_vocab}});
  all.push_back({"temperatures (0 among them) and cut-offs",
                 [](RequestBatch& host) {
                   std::vector<float> temperature;
                   std::vector<float> cutoff;
                   for (int i = 0; i < 4 * (drafts + 1); ++i) {
                     temperature.push_back(static_cast<float>(i % 4) * 0.5F);
                     cutoff.push_back(i % 3 == 0 ? -1.0F : -infinity);
                   }
                   host.batch.target_options.temperature = host.keep(temperature);
                   host.batch.target_options.cutoff = host.batch.draft_options.cutoff = host.keep(cutoff);
                 },
                 anything,
                 {},
                 {4, drafts, odd_vocab}});
  // One vocabulary of several tiles, and one of less than a tile.
  for (const std::int32_t vocab : {odd_vocab, 20001}) {
    all.push_back({fmt::format("top-k, top-p and min-p of each row, V = {}", vocab),
                   [](RequestBatch& host) {
                     std::vector<std::int32_t> top_k;
                     std::vector<float> top_p;
                     std::vector<float> min_p;
                     for (int i = 0; i < 8 * (drafts + 1); ++i) {
                       top_k.push_back(i % 5 == 0 ? 0 : 1 << i % 13);
                       top_p.push_back(i % 3 == 0 ? 1.0F : 0.9F);
                       min_p.push_back(i % 4 == 0 ? 0.05F : 0.0F);
                     }
                     host.batch.top_k = host.keep(top_k);
                     host.batch.top_p = host.keep(top_p);
                     host.batch.min_p = host.keep(min_p);
                   },
                   [](const Results& found) {
                     return std::all_of(found.begin(), found.end(),
                                        [](const RequestResult& result) { return result.next >= 0; });
                   },
                   {},
                   {8, drafts, vocab}});
  }
  all.push_back({"top-p out of range: no id, a flag",
                 [](RequestBatch& host) {
                   host.batch.top_p = {host.keep(std::vector<float>{1.5F}), nullptr, 0, 0};
                 },
                 invalid});
  all.push_back({"log-sum-exps given with the logits",
                 [](RequestBatch& host) {
                   for (const bool of_target : {true, false}) {
                     std::vector<float> sums;
                     for (std::int32_t i = 0; i < host.batch.positions_of(of_target); ++i) {
                       std::vector<double> row;
                       for (Token id = 0; id < odd_vocab; ++id) {
                         // Every format represents these integers exactly.
                         row.push_back((id * (of_target ? 3 : 2) + i) % 5);
                         host.set(of_target, 0, i, id, static_cast<float>(row.back()));
                       }
                       sums.push_back(static_cast<float>(log_sum_exp(row)));
                       if (i < drafts) host.drafted(0, i) = 2 + i;
                     }
                     (of_target ? host.batch.target_options : host.batch.draft_options).log_sum_exp =
                         host.keep(sums);
                   }
                 },
                 anything});
  return all;
}

std::vector<Edge> edges() {
  std::vector<Edge> all = edges_of_mass();
  for (const auto& more : {broken_inputs(), edges_of_shapes(), edges_of_options()})
    all.insert(all.end(), more.begin(), more.end());
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
        host.make(edge_logits);
        edge.prepare(host);
        if (!edge.uniforms.empty()) host.set_uniforms(edge.uniforms);
        KernelCheckRow& row = rows.emplace_back(unchecked_row("edge: " + edge.name, info, host.batch));
        if (!row.detail.empty()) continue;
        const Results found = host.run(runner, info.implementation);
        // Flags report a length out of range; the reference skips such requests.
        const bool agrees = host.batch.lengths != nullptr ||
                            decision_agreement(info.implementation, host.batch).different == 0;
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
