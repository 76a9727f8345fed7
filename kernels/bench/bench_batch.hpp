// Places the batch of a measurement in memory of its own, on a device or on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels/bench/bench_method.hpp"

namespace speclab {

/// A batch, and the arrays that `make_inputs` needs to fill it.
struct BenchBatch {
  TreeBatch tree;
  /// The arrays of DraftPlan; chains have them, too.
  const std::int32_t* parents = nullptr;
  const std::int32_t* draft_row = nullptr;
  const std::int32_t* rank = nullptr;
  const std::int32_t* row_position = nullptr;
  std::int32_t draft_rows = 0;  ///< entries of `row_position`
  /// The target's logits, then the draft's: BenchBytes::logits() bytes.
  const unsigned char* logits = nullptr;
};

/// Memory of the host, for `place_batch`.
class HostMemory {
 public:
  /// Returns room for `count` elements, filled with zeros and aligned to 16 bytes.
  template <class T>
  T* room(std::size_t count) {
    kept_.push_back(std::make_unique<Piece[]>(count * sizeof(T) / sizeof(Piece) + 1));
    return reinterpret_cast<T*>(kept_.back().get());
  }
  template <class T>
  void put(T* to, const T* from, std::size_t count) {
    if (count > 0) std::memcpy(to, from, count * sizeof(T));
  }
  template <class T>
  void fetch(T* to, const T* from, std::size_t count) const {
    if (count > 0) std::memcpy(to, from, count * sizeof(T));
  }

 private:
  struct alignas(16) Piece {
    unsigned char bytes[16];
  };
  std::vector<std::unique_ptr<Piece[]>> kept_;
};

/// Returns a batch with room for results and for the logits and tokens that `make_inputs` fills. `addresses`
/// has one entry for each request. `Memory` has the interface of HostMemory and must outlive the batch.
template <class Memory>
BenchBatch place_batch(Memory& memory, const BenchShape& shape, const std::vector<RandomAddress>& addresses) {
  const auto copy = [&memory]<class T>(const std::vector<T>& values) {
    T* const place = memory.template room<T>(values.size());
    memory.put(place, values.data(), values.size());
    return place;
  };
  const auto requests = static_cast<std::size_t>(shape.requests);
  const auto nodes = static_cast<std::size_t>(shape.gamma);
  const BenchBytes bytes = bench_bytes(shape, {});
  const DraftPlan plan = draft_plan(shape);
  const Filters& filters = info_of(shape.workload).filters;
  BenchBatch placed;
  placed.tree = shape_batch(shape);
  placed.parents = copy(plan.tree.parents());
  placed.draft_row = copy(plan.draft_row);
  placed.rank = copy(plan.rank);
  placed.row_position = copy(plan.row_position);
  placed.draft_rows = static_cast<std::int32_t>(plan.row_position.size());
  auto* const logits = memory.template room<unsigned char>(bytes.logits());
  placed.logits = logits;
  TreeBatch& tree = placed.tree;
  VerifyBatch& batch = tree.batch;
  batch.target.data = logits;
  if (!batch.certain_drafts()) batch.draft.data = logits + bytes.draft_at();
  batch.drafted = memory.template room<Token>(requests * nodes);
  batch.addresses = copy(addresses);
  batch.accepted = memory.template room<std::int32_t>(requests);
  batch.next = memory.template room<Token>(requests);
  batch.flags = memory.template room<std::uint32_t>(requests);
  if (batch.top_k != nullptr) batch.top_k.data = copy(std::vector<std::int32_t>{filters.top_k});
  if (batch.top_p != nullptr) batch.top_p.data = copy(std::vector<float>{static_cast<float>(filters.top_p)});
  if (batch.min_p != nullptr) batch.min_p.data = copy(std::vector<float>{static_cast<float>(filters.min_p)});
  if (tree.parents != nullptr) tree.parents.data = placed.parents;
  if (tree.draft_row != nullptr) tree.draft_row.data = placed.draft_row;
  if (tree.path != nullptr) tree.path = memory.template room<std::int32_t>(requests * nodes);
  return placed;
}

/// Copies the results that a run has left in `memory` to the host.
template <class Memory>
BenchResults fetch_results(const Memory& memory, const TreeBatch& tree) {
  const auto requests = static_cast<std::size_t>(tree.batch.requests);
  BenchResults results{
      tree.batch.gamma, std::vector<std::int32_t>(requests), std::vector<Token>(requests), {}};
  memory.fetch(results.accepted.data(), tree.batch.accepted, requests);
  memory.fetch(results.next.data(), tree.batch.next, requests);
  if (tree.path != nullptr) {
    results.path.resize(requests * static_cast<std::size_t>(tree.batch.gamma));
    memory.fetch(results.path.data(), tree.path, results.path.size());
  }
  return results;
}

/// Copies the inputs of `requests` to host memory, as a batch of these requests alone.
template <class Memory>
BenchBatch fetch_inputs(HostMemory& host, const Memory& memory, const BenchShape& shape,
                        const BenchBatch& from, const std::vector<std::int32_t>& requests,
                        const std::vector<RandomAddress>& addresses) {
  BenchShape smaller = shape;
  smaller.requests = static_cast<std::int32_t>(requests.size());
  BenchBatch part = place_batch(host, smaller, addresses);
  const auto fetch_rows = [&](const LogitRows& to, const LogitRows& rows) {
    const auto bytes = static_cast<std::size_t>(rows.request_stride * dtype_bytes(rows.dtype));
    for (std::size_t i = 0; i < requests.size(); ++i) {
      memory.fetch(
          static_cast<unsigned char*>(const_cast<void*>(to.data)) + i * bytes,
          static_cast<const unsigned char*>(rows.data) + static_cast<std::size_t>(requests[i]) * bytes,
          bytes);
    }
  };
  const VerifyBatch& batch = from.tree.batch;
  fetch_rows(part.tree.batch.target, batch.target);
  if (!batch.certain_drafts()) fetch_rows(part.tree.batch.draft, batch.draft);
  const auto nodes = static_cast<std::size_t>(shape.gamma);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    memory.fetch(const_cast<Token*>(part.tree.batch.drafted.data) + i * nodes,
                 batch.drafted.data + static_cast<std::size_t>(requests[i]) * nodes, nodes);
  }
  return part;
}

}  // namespace speclab
