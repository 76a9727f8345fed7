// Inputs at the edges of what is allowed, and beyond: each a request or a few, with what has to come of it.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>

#include "experiments/bench/kernel_result.hpp"
#include "experiments/kernel_check/kernel_check.hpp"

namespace speclab {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_logit = std::numeric_limits<float>::quiet_NaN();
constexpr std::int32_t drafts = 3;
constexpr std::int32_t odd_vocab = 11;
constexpr MadeLogits usual_logits{3, 2, 1};

using Results = std::vector<RequestResult>;

/// Arrays that options point to.
struct Room {
  std::vector<float> temperature;
  std::vector<float> cutoff;
  std::vector<float> target_sums;
  std::vector<float> draft_sums;
  std::vector<std::int32_t> lengths;
};

struct Edge {
  std::string name;
  BenchShape shape{1, drafts, odd_vocab, Dtype::f32};
  std::function<void(RequestBatch&, Room&)> prepare;
  std::function<bool(const Results&)> holds;  ///< besides agreement with the reference
};

void same_rows(RequestBatch& host) {
  for (Token id = 0; id < host.shape().vocab; ++id) {
    for (std::int32_t i = 0; i < drafts; ++i) {
      host.set_target(0, i, id, static_cast<float>(id % 5));
      host.set_draft(0, i, id, static_cast<float>(id % 5));
    }
  }
}

/// All probability of a row on some ids.
void only(const std::function<void(Token, float)>& set, std::int32_t vocab,
          const std::function<bool(Token)>& has_probability) {
  for (Token id = 0; id < vocab; ++id) set(id, has_probability(id) ? static_cast<float>(id % 3) : -infinity);
}

float log_sum_exp(const std::vector<float>& row) {
  double sum = 0;
  for (const float logit : row) sum += std::exp(static_cast<double>(logit));
  return static_cast<float>(std::log(sum));
}

bool invalid(const RequestResult& result) {
  return result.next == invalid_token && (result.flags & flag_invalid_row) != 0;
}

std::vector<Edge> edges() {
  const std::vector<double> low{0, 0, 0, 0.5};
  std::vector<Edge> all;
  const auto add = [&](std::string name, std::function<void(RequestBatch&, Room&)> prepare,
                       std::function<bool(const Results&)> holds,
                       BenchShape shape = {1, drafts, odd_vocab, Dtype::f32}) {
    all.push_back({std::move(name), shape, std::move(prepare), std::move(holds)});
  };
  add(
      "target = draft: everything is accepted",
      [](RequestBatch& host, Room&) {
        same_rows(host);
        host.set_uniforms(0, {0.999, 0.999, 0.999, 0.3});
      },
      [](const Results& found) { return found[0].accepted == drafts; });
  add(
      "zero residual at u = 1: the target is sampled, and a flag is set",
      [](RequestBatch& host, Room&) {
        same_rows(host);
        host.set_uniforms(0, {1, 1, 1, 0.3});
      },
      [](const Results& found) {
        return found[0].accepted == 0 && found[0].next >= 0 && (found[0].flags & flag_zero_residual) != 0;
      });
  add(
      "disjoint distributions at u = 0: nothing is accepted",
      [low](RequestBatch& host, Room&) {
        host.make(usual_logits);
        only([&](Token id, float z) { host.set_target(0, 0, id, z); }, odd_vocab,
             [](Token id) { return id % 2 == 0; });
        only([&](Token id, float z) { host.set_draft(0, 0, id, z); }, odd_vocab,
             [](Token id) { return id % 2 == 1; });
        host.drafted(0, 0) = 3;
        host.set_uniforms(0, low);
      },
      [](const Results& found) {
        return found[0].accepted == 0 && found[0].next >= 0 && found[0].next % 2 == 0;
      });
  add(
      "one-hot target elsewhere: it is emitted",
      [low](RequestBatch& host, Room&) {
        host.make(usual_logits);
        only([&](Token id, float z) { host.set_target(0, 0, id, z); }, odd_vocab,
             [](Token id) { return id == 7; });
        host.drafted(0, 0) = 2;
        host.set_uniforms(0, low);
      },
      [](const Results& found) { return found[0].accepted == 0 && found[0].next == 7; });
  add(
      "one-hot target on the draft: it is accepted",
      [](RequestBatch& host, Room&) {
        host.make(usual_logits);
        only([&](Token id, float z) { host.set_target(0, 0, id, z); }, odd_vocab,
             [](Token id) { return id == 7; });
        host.drafted(0, 0) = 7;
        host.set_uniforms(0, {0.999, 0.5, 0.5, 0.5});
      },
      [](const Results& found) { return found[0].accepted >= 1; });
  add(
      "a draft that the target gives no mass is rejected at u = 0",
      [low](RequestBatch& host, Room&) {
        host.make(usual_logits);
        host.set_target(0, 0, host.drafted(0, 0), -infinity);
        host.set_uniforms(0, low);
      },
      [](const Results& found) { return found[0].accepted == 0 && found[0].next >= 0; });
  add(
      "a draft that the draft gives no mass is rejected and counted",
      [low](RequestBatch& host, Room&) {
        host.make(usual_logits);
        host.set_draft(0, 0, host.drafted(0, 0), -infinity);
        host.set_uniforms(0, low);
      },
      [](const Results& found) {
        return found[0].accepted == 0 && (found[0].flags & flag_zero_draft_probability) != 0;
      });
  for (const Token id : {-1, odd_vocab, std::numeric_limits<Token>::max()}) {
    add(
        fmt::format("drafted id {} is rejected and counted", id),
        [id, low](RequestBatch& host, Room&) {
          host.make(usual_logits);
          host.drafted(0, 0) = id;
          host.set_uniforms(0, low);
        },
        [](const Results& found) {
          return found[0].accepted == 0 && (found[0].flags & flag_token_out_of_range) != 0;
        });
  }
  for (const float bad : {nan_logit, infinity}) {
    for (const bool of_target : {true, false}) {
      add(
          fmt::format("{} in a {} row: no id, a flag", std::isnan(bad) ? "NaN" : "+inf",
                      of_target ? "target" : "draft"),
          [bad, of_target](RequestBatch& host, Room&) {
            host.make(usual_logits);
            if (of_target) {
              host.set_target(0, 0, 4, bad);
            } else {
              host.set_draft(0, 0, 4, bad);
            }
            host.drafted(0, 0) = 5;
          },
          [](const Results& found) { return invalid(found[0]); });
    }
  }
  add(
      "a target row without mass: no id, a flag",
      [](RequestBatch& host, Room&) {
        host.make(usual_logits);
        only([&](Token id, float z) { host.set_target(0, 0, id, z); }, odd_vocab,
             [](Token) { return false; });
      },
      [](const Results& found) { return invalid(found[0]); });
  add(
      "NaN behind a rejection does no harm",
      [low](RequestBatch& host, Room&) {
        host.make(usual_logits);
        host.set_target(0, 0, host.drafted(0, 0), -infinity);
        host.set_target(0, 2, 1, nan_logit);
        host.set_uniforms(0, low);
      },
      [](const Results& found) { return found[0].accepted == 0 && found[0].next >= 0; });
  for (const double u : {0.0, 1.0}) {
    add(
        fmt::format("u = {} picks the {} id with mass", u, u == 0 ? "first" : "last"),
        [u](RequestBatch& host, Room&) {
          only([&](Token id, float z) { host.set_target(0, 0, id, z); }, odd_vocab,
               [](Token id) { return id >= 2 && id <= 8; });
          host.set_uniforms(0, {u});
        },
        [u](const Results& found) { return found[0].accepted == 0 && found[0].next == (u == 0 ? 2 : 8); },
        {1, 0, odd_vocab, Dtype::f32});
  }
  add(
      "gamma = 0", [](RequestBatch& host, Room&) { host.make(usual_logits); },
      [](const Results& found) { return found[0].accepted == 0 && found[0].next >= 0; },
      {5, 0, odd_vocab, Dtype::f32});
  add(
      "ragged lengths, and lengths out of range",
      [](RequestBatch& host, Room& room) {
        host.make(usual_logits);
        room.lengths = {0, 1, 2, 3, -1, 4};
        host.batch.lengths = room.lengths.data();
      },
      [](const Results& found) {
        for (std::size_t i = 0; i < 4; ++i) {
          if (found[i].accepted > static_cast<std::int32_t>(i) || found[i].next < 0) return false;
        }
        const auto refused = [](const RequestResult& result) {
          return result.next == invalid_token && (result.flags & flag_length_out_of_range) != 0;
        };
        return refused(found[4]) && refused(found[5]);
      },
      {6, drafts, odd_vocab, Dtype::f32});
  for (const std::int32_t vocab : {1, 2, 3, 257, 8191, 8193}) {
    add(
        fmt::format("V = {}", vocab), [](RequestBatch& host, Room&) { host.make(usual_logits); },
        [](const Results&) { return true; }, {4, drafts, vocab, Dtype::f32});
  }
  add(
      "drafts that were certain",
      [](RequestBatch& host, Room&) {
        host.make(usual_logits);
        host.batch.draft.data = nullptr;
      },
      [](const Results&) { return true; }, {8, drafts, odd_vocab, Dtype::f32});
  add(
      "temperatures, 0 among them, and cut-offs",
      [](RequestBatch& host, Room& room) {
        host.make(usual_logits);
        for (int i = 0; i < 4 * (drafts + 1); ++i) {
          room.temperature.push_back(static_cast<float>(i % 4) * 0.5F);
          room.cutoff.push_back(i % 3 == 0 ? -1.0F : -infinity);
        }
        host.batch.target_options = {room.temperature.data(), room.cutoff.data(), nullptr};
        host.batch.draft_options = {nullptr, room.cutoff.data(), nullptr};
      },
      [](const Results&) { return true; }, {4, drafts, odd_vocab, Dtype::f32});
  add(
      "sums that came with the logits",
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
          if (i < drafts) room.draft_sums.push_back(log_sum_exp(draft));
          if (i < drafts) host.drafted(0, i) = 2 + i;
        }
        host.batch.target_options.log_sum_exp = room.target_sums.data();
        host.batch.draft_options.log_sum_exp = room.draft_sums.data();
      },
      [](const Results&) { return true; });
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
        KernelCheckRow row{"edge: " + edge.name, info.name, dtype, CheckOutcome::left_out, ""};
        if (const auto why = unsupported_reason(info.implementation, host.batch)) {
          row.detail = *why;
          rows.push_back(std::move(row));
          continue;
        }
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
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

}  // namespace speclab
