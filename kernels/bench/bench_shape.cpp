#include "kernels/bench/make_inputs.hpp"

namespace speclab {

namespace {

/// Something that is not null.
alignas(16) constexpr unsigned char somewhere[16] = {};

template <class T>
T* anything() {
  return const_cast<T*>(reinterpret_cast<const T*>(somewhere));
}

}  // namespace

VerifyBatch shape_batch(const BenchShape& shape) {
  const std::int64_t row = shape.vocab;
  VerifyBatch batch;
  batch.requests = shape.requests;
  batch.gamma = shape.gamma;
  batch.vocab = shape.vocab;
  batch.target = {somewhere, shape.dtype, row * (shape.gamma + 1), row};
  batch.draft = {somewhere, shape.dtype, row * shape.gamma, row};
  batch.drafted = anything<const Token>();
  batch.addresses = anything<const RandomAddress>();
  batch.accepted = anything<std::int32_t>();
  batch.next = anything<Token>();
  batch.flags = anything<std::uint32_t>();
  return batch;
}

BenchBytes bench_bytes(const BenchShape& shape, const std::vector<Implementation>& implementations) {
  constexpr std::uint64_t vector = 16;
  const auto requests = static_cast<std::uint64_t>(shape.requests);
  const auto gamma = static_cast<std::uint64_t>(shape.gamma);
  const std::uint64_t row =
      static_cast<std::uint64_t>(shape.vocab) * static_cast<std::uint64_t>(dtype_bytes(shape.dtype));
  BenchBytes bytes;
  bytes.target = requests * (gamma + 1) * row;
  bytes.draft = requests * gamma * row;
  bytes.copied = bytes.logits() / 2 / vector * vector;
  bytes.small = requests * (gamma * sizeof(Token) + sizeof(RandomAddress) + 3 * sizeof(std::int32_t));
  for (const Implementation each : implementations) {
    bytes.workspaces += layout_of(each, shape_batch(shape)).workspace_bytes;
  }
  return bytes;
}

void make_inputs_emulated(const BenchShape& shape, const MadeLogits& how, void* target, void* draft,
                          Token* drafted) {
  make_inputs(simt::EmulatedExecutor(), shape, how, target, draft, drafted);
}

}  // namespace speclab
