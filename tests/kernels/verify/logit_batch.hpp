// Makes random batches of logits for tests of verification kernels.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/random/random_source.hpp"
#include "kernels/verify/reference.hpp"

namespace speclab {

struct LogitShape {
  std::int32_t requests = 8;
  std::int32_t gamma = 3;
  std::int32_t vocab = 100;
  Dtype dtype = Dtype::f32;
  double spread = 3;      ///< approximate standard deviation of logits
  double distance = 1.5;  ///< standard deviation of the draft's logits minus the target's
  std::int32_t padding = 0;
};

/// A batch in host memory with room for its results. Drafted tokens are drawn from the draft's rows. It must
/// not be copied, because the batch points into it.
class LogitBatch {
 public:
  LogitBatch(const LogitShape& shape, std::uint64_t seed) : shape_(shape) {
    const std::int64_t stride = shape.vocab + shape.padding;
    const auto rows = static_cast<std::size_t>(shape.requests) * static_cast<std::size_t>(shape.gamma + 1);
    const auto drafts = static_cast<std::size_t>(shape.requests) * static_cast<std::size_t>(shape.gamma);
    target.assign(rows * static_cast<std::size_t>(stride), 0);
    draft.assign(drafts * static_cast<std::size_t>(stride), 0);
    for (std::int32_t request = 0; request < shape.requests; ++request) {
      for (std::int32_t i = 0; i <= shape.gamma; ++i) fill(seed, request, i, stride);
    }
    batch.requests = shape.requests;
    batch.gamma = shape.gamma;
    batch.vocab = shape.vocab;
    for (std::int32_t request = 0; request < shape.requests; ++request) {
      addresses.push_back({seed, static_cast<std::uint32_t>(request), 7});
    }
    drafted.resize(drafts);
    accepted.resize(static_cast<std::size_t>(shape.requests));
    next.resize(accepted.size());
    flags.resize(accepted.size());
    batch.addresses = addresses.data();
    batch.drafted = drafted.data();
    batch.accepted = accepted.data();
    batch.next = next.data();
    batch.flags = flags.data();
    store();
    draw();
  }
  LogitBatch(const LogitBatch&) = delete;
  LogitBatch& operator=(const LogitBatch&) = delete;

  float& target_logit(std::int32_t request, std::int32_t position, Token id) {
    return target[static_cast<std::size_t>(
        (std::int64_t{request} * (shape_.gamma + 1) + position) * (shape_.vocab + shape_.padding) + id)];
  }
  float& draft_logit(std::int32_t request, std::int32_t position, Token id) {
    return draft[static_cast<std::size_t>(
        (std::int64_t{request} * shape_.gamma + position) * (shape_.vocab + shape_.padding) + id)];
  }

  /// Writes the logits to where the batch points, in its format; must be called after they were changed.
  void store() {
    const std::int64_t stride = shape_.vocab + shape_.padding;
    const auto keep = [&](const std::vector<float>& from,
                          std::vector<std::uint32_t>& scratch) -> const void* {
      scratch.assign(from.size() + 4, 0);
      auto* const bytes = reinterpret_cast<unsigned char*>(scratch.data());
      for (std::size_t i = 0; i < from.size(); ++i) {
        if (shape_.dtype == Dtype::f32) {
          reinterpret_cast<float*>(bytes)[i] = from[i];
        } else {
          reinterpret_cast<std::uint16_t*>(bytes)[i] =
              shape_.dtype == Dtype::bf16 ? from_float<Bf16>(from[i]).bits : from_float<F16>(from[i]).bits;
        }
      }
      return bytes;
    };
    batch.target = {keep(target, target_room), shape_.dtype, stride * (shape_.gamma + 1), stride};
    batch.draft = {keep(draft, draft_room), shape_.dtype, stride * shape_.gamma, stride};
  }

  /// Draws the drafted tokens anew.
  void draw() {
    for (std::int32_t request = 0; request < shape_.requests; ++request) {
      for (std::int32_t i = 0; i < shape_.gamma; ++i) {
        const std::vector<double> row = probabilities(batch, false, request, i);
        const RandomAddress at = addresses[static_cast<std::size_t>(request)];
        SampledRandomSource random = sampled_random_source(at.seed, at.trial, at.round);
        drafted[static_cast<std::size_t>(request * shape_.gamma + i)] =
            random.categorical({Use::draft, static_cast<std::uint16_t>(i)}, Row{row.data(), shape_.vocab});
      }
    }
  }

  VerifyBatch batch;
  std::vector<float> target;
  std::vector<float> draft;
  std::vector<std::uint32_t> target_room;
  std::vector<std::uint32_t> draft_room;
  std::vector<Token> drafted;
  std::vector<RandomAddress> addresses;
  std::vector<std::int32_t> accepted;
  std::vector<Token> next;
  std::vector<std::uint32_t> flags;

 private:
  void fill(std::uint64_t seed, std::int32_t request, std::int32_t position, std::int64_t stride) {
    const auto row = static_cast<std::uint32_t>(request * (shape_.gamma + 1) + position);
    Philox stream(seed, Site{row, 0, Draw{Use::world, 0}});
    // Sums of three uniforms are near enough to a normal distribution.
    const auto bell = [&] {
      return 2 * (open_unit(stream()) + open_unit(stream()) + open_unit(stream()) - 1.5);
    };
    for (Token id = 0; id < stride; ++id) {
      const bool padded = id >= shape_.vocab;
      const double logit = shape_.spread * bell();
      const double other = logit + shape_.distance * bell();
      // Code that reads the padding gets NaN.
      constexpr float absurd = std::numeric_limits<float>::quiet_NaN();
      target_logit(request, position, id) = padded ? absurd : static_cast<float>(logit);
      if (position < shape_.gamma) {
        draft_logit(request, position, id) = padded ? absurd : static_cast<float>(other);
      }
    }
  }

  LogitShape shape_;
};

}  // namespace speclab
