// Tests how threads load their ids of rows that begin anywhere: values, and numbers of loads.
#include "kernels/verify/tile_shape.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "kernels/simt/emulator.hpp"
#include "kernels/verify/weights.hpp"

using namespace speclab;

namespace {

template <class Row>
struct CopyArgs {
  Row row;
  float* logits;  ///< [tiles, threads, held]
};

/// Writes the logits that threads hold.
template <class Row>
struct CopyTiles : simt::KernelOf<CopyArgs<Row>, tile_threads, 1> {
  static constexpr const char* name = "copy tiles";

  SPECLAB_DEVICE void operator()(const CopyArgs<Row>& args) const {
    const auto tile = static_cast<std::int32_t>(simt::block_index());
    const auto mine = whole_tile(args.row, tile);
    for (int i = 0; i < held; ++i)
      args.logits[(tile * tile_threads + simt::thread_index()) * held + i] = mine.logit(i);
  }
};

struct Copied {
  std::vector<float> logits;
  std::uint64_t loads = 0;
};

template <class Row>
Copied copied(const Row& row, std::int32_t vocab) {
  const std::int32_t tiles = tiles_of(vocab);
  Copied result{std::vector<float>(static_cast<std::size_t>(tiles * tile_size), 7), 0};
  simt::EmulatedExecutor executor;
  executor.run<CopyTiles<Row>>(simt::launch_of<CopyTiles<Row>>(tiles), {row, result.logits.data()});
  result.loads = executor.load_count();
  return result;
}

/// Returns the expected loads: a step of `width` ids takes one (in a shifted row two) if its vectors lie
/// within the row; otherwise each id takes one.
std::uint64_t expected_loads(std::int32_t vocab, std::int32_t shift, std::int32_t width) {
  std::uint64_t loads = 0;
  for (std::int32_t first = 0; first < vocab; first += width) {
    const std::int32_t left = vocab - first;
    const bool held_by_vectors = shift == 0 ? left >= width : first > 0 && left >= 2 * width - shift;
    loads += static_cast<std::uint64_t>(held_by_vectors ? shift == 0 ? 1 : 2 : left < width ? left : width);
  }
  return loads;
}

template <class T>
T logit_of(std::int32_t id) {
  return from_float<T>(static_cast<float>(id % 251) - static_cast<float>(id / 251 % 7) * 16);
}

/// Checks a row of each shift against the row that is aligned. `row_at(data, vocab)` makes it.
template <class T, class RowAt>
void check_shifts(std::int32_t width, const RowAt& row_at) {
  for (const std::int32_t vocab : {1, 7, 8, 9, 15, 17, 30, 8191, 8192, 8193, 8200, 16390}) {
    std::vector<float> expected;
    for (std::int32_t shift = 0; shift < width; ++shift) {
      CAPTURE(vocab);
      CAPTURE(shift);
      // The memory ends with the row, which a sanitizer watches.
      std::vector<T> memory(static_cast<std::size_t>(vocab) + 16 / sizeof(T) +
                            static_cast<std::size_t>(shift));
      std::size_t begin = static_cast<std::size_t>(shift);
      while (reinterpret_cast<std::uintptr_t>(memory.data() + begin - shift) % 16 != 0) ++begin;
      memory.resize(begin + static_cast<std::size_t>(vocab));
      for (std::int32_t id = 0; id < vocab; ++id)
        memory[begin + static_cast<std::size_t>(id)] = logit_of<T>(id);
      const Copied found = copied(row_at(memory.data() + begin, vocab), vocab);
      if (shift == 0) expected = found.logits;
      CHECK(found.logits == expected);
      CHECK(found.loads == expected_loads(vocab, shift, width));
    }
    float sum = 0;
    float of_ids = 0;
    for (const float logit : expected) sum += logit > -INFINITY ? logit : 0;
    for (std::int32_t id = 0; id < vocab; ++id) of_ids += to_float(logit_of<T>(id));
    CHECK(sum == of_ids);
  }
}

template <class T>
void check_any(Dtype dtype) {
  check_shifts<T>(4, [dtype](const T* data, std::int32_t vocab) {
    AnyRow row;
    row.data = data;
    row.dtype = dtype;
    row.vocab = row.own_vocab = vocab;
    row.scale = {1, -INFINITY};
    return row;
  });
}
template <class T>
void check_format() {
  check_shifts<T>(TileShape<T>::width, [](const T* data, std::int32_t vocab) {
    return LogitRow<T>{data, vocab, {1, -INFINITY}};
  });
}

}  // namespace

TEST_CASE("threads hold the same ids in a shifted row; a step takes two loads, not one per id") {
  check_format<float>();
  check_format<Bf16>();
  check_format<F16>();
  check_any<float>(Dtype::f32);
  check_any<Bf16>(Dtype::bf16);
  check_any<F16>(Dtype::f16);
}
