#include "kernels/lab/kernel_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/distribution/number.hpp"
#include "experiments/base/format/config_error.hpp"
#include "experiments/base/page/cells.hpp"
#include "experiments/base/support/csv.hpp"
#include "experiments/base/support/printable.hpp"

namespace speclab {

namespace {

constexpr std::array<std::int32_t, 9> request_axis{1, 2, 4, 8, 16, 32, 64, 128, 256};
/// Vocabularies of Llama 2 and Mistral 7B, Llama 3, Qwen 2.5, Gemma.
constexpr std::array<std::int32_t, 4> vocab_axis{32000, 128256, 151936, 256000};
constexpr std::int32_t max_requests = 1 << 20;

std::optional<std::int32_t> whole_number(const std::string& word, std::int32_t least, std::int32_t most) {
  const auto value = parsed<std::int32_t>(word);
  return value && least <= *value && *value <= most ? value : std::nullopt;
}

/// Adds a point unless it is there.
void add_point(std::vector<KernelPoint>& points, BenchShape shape, Dtype dtype, double alpha) {
  shape.dtype = dtype;
  const KernelPoint point{shape, alpha};
  if (std::ranges::find(points, point) == points.end()) points.push_back(point);
}

BenchShape with(BenchShape shape, std::int32_t BenchShape::*which, std::int32_t value) {
  shape.*which = value;
  return shape;
}

void add_axes(const KernelSweep& sweep, KernelWorkload workload, std::vector<KernelPoint>& points) {
  const BenchShape centre{32, info_of(workload).centre_gamma, 128256, Dtype::bf16, workload};
  const std::span<const std::int32_t> gamma_axis = info_of(workload).gammas;
  constexpr double centre_alpha = 0.7;
  const bool has_centre = std::ranges::find(sweep.alphas, centre_alpha) != sweep.alphas.end();
  const double alpha = has_centre ? centre_alpha : sweep.alphas.front();
  const Dtype leading = sweep.dtypes.front();
  for (const Dtype dtype : sweep.dtypes) {
    for (const std::int32_t requests : request_axis)
      add_point(points, with(centre, &BenchShape::requests, requests), dtype, alpha);
  }
  for (const std::int32_t gamma : gamma_axis)
    add_point(points, with(centre, &BenchShape::gamma, gamma), leading, alpha);
  for (const std::int32_t vocab : vocab_axis)
    add_point(points, with(centre, &BenchShape::vocab, vocab), leading, alpha);
  for (const std::int32_t requests : {request_axis.front(), request_axis.back()}) {
    for (const std::int32_t gamma : {gamma_axis.front(), gamma_axis.back()}) {
      for (const std::int32_t vocab : {vocab_axis.front(), vocab_axis.back()})
        add_point(points, {requests, gamma, vocab, leading, workload}, leading, alpha);
    }
  }
  for (const Dtype dtype : sweep.dtypes) {
    for (const double each : sweep.alphas) add_point(points, centre, dtype, each);
  }
}

}  // namespace

std::vector<KernelPoint> sweep_points(const KernelSweep& sweep) {
  std::vector<KernelPoint> points;
  for (const KernelWorkload workload : sweep.workloads) {
    if (sweep.kind == SweepKind::axes) {
      add_axes(sweep, workload, points);
      continue;
    }
    const std::int32_t gamma = info_of(workload).centre_gamma;
    std::vector<BenchShape> sizes = sweep.sizes;
    if (sweep.kind == SweepKind::fast)
      sizes = {{1, gamma, 32000, Dtype::bf16}, {32, gamma, 128256, Dtype::bf16}};
    for (BenchShape& size : sizes) {
      size.workload = workload;
      for (const Dtype dtype : sweep.dtypes) {
        for (const double alpha : sweep.alphas) add_point(points, size, dtype, alpha);
      }
    }
  }
  return points;
}

std::vector<BenchShape> parse_sizes(const std::string& text) {
  std::vector<BenchShape> sizes;
  for (const std::string& part : split(text, ';')) {
    const std::vector<std::string> words = split(part, ',');
    std::array<std::optional<std::int32_t>, 3> numbers;
    if (words.size() == numbers.size()) {
      numbers = {whole_number(words[0], 1, max_requests), whole_number(words[1], 0, max_drafted),
                 whole_number(words[2], 1, max_vocab)};
    }
    if (!numbers[0] || !numbers[1] || !numbers[2]) {
      throw UsageError(
          "--sizes \"{}\": expected requests,gamma,vocabulary, such as 32,4,128256, with 1 to {} requests, gamma 0 to {} and a vocabulary of 1 to {}; ';' separates several sizes",
          part, max_requests, max_drafted, max_vocab);
    }
    sizes.push_back({*numbers[0], *numbers[1], *numbers[2], Dtype::bf16});
  }
  return sizes;
}

std::vector<Dtype> parse_dtypes(const std::string& text) {
  constexpr std::array known{Dtype::bf16, Dtype::f32, Dtype::f16};
  std::vector<std::string> names;
  for (const Dtype dtype : known) names.push_back(dtype_name(dtype));
  std::vector<Dtype> dtypes;
  for (const std::size_t place : parse_names("--dtype", text, names, false)) dtypes.push_back(known[place]);
  return dtypes;
}

std::vector<double> parse_alphas(const std::string& text) {
  constexpr double least = 0.05;
  constexpr double most = 0.99;
  std::vector<double> alphas;
  for (const std::string& word : split(text, ',')) {
    const auto value = number_in(word);
    if (!value || !(*value >= least && *value <= most))
      throw UsageError("--alpha \"{}\": expected numbers from {} to {}, such as .3,.7,.9", word, least, most);
    alphas.push_back(*value);
  }
  return alphas;
}

bool runs_on(int capability, const char* name, int needed) {
  if (needed <= capability) return true;
  const auto version = [](int number) { return fmt::format("{}.{}", number / 10, number % 10); };
  print_error(fmt::format("{} is left out: it needs compute capability {}, and this device has {}", name,
                          version(needed), version(capability)));
  return false;
}

std::vector<std::size_t> parse_names(const std::string& option, const std::string& text,
                                     const std::vector<std::string>& known, bool with_all) {
  std::vector<std::string> allowed = known;
  if (with_all) allowed.insert(allowed.begin(), "all");
  std::vector<std::size_t> places;
  for (const std::string& word : with_all&& text == "all" ? known : split(text, ',')) {
    const auto found = std::ranges::find(known, word);
    if (found == known.end()) throw UsageError("{} \"{}\"{}", option, word, suggestion(word, allowed));
    const auto place = static_cast<std::size_t>(found - known.begin());
    if (std::ranges::find(places, place) == places.end()) places.push_back(place);
  }
  return places;
}

std::vector<KernelWorkload> parse_workloads(const std::string& option, const std::string& text) {
  std::vector<KernelWorkload> chosen;
  for (const KernelWorkloadInfo& info : parse_named(option, text, kernel_workloads()))
    chosen.push_back(info.workload);
  return chosen;
}

std::string shape_text(const BenchShape& shape) {
  const bool usual = shape.workload == KernelWorkload::chains;
  return fmt::format("{}B = {}, gamma = {}, V = {}, {}",
                     usual ? "" : fmt::format("{}, ", info_of(shape.workload).name), shape.requests,
                     shape.gamma, grouped(static_cast<std::uint64_t>(shape.vocab)), dtype_name(shape.dtype));
}

}  // namespace speclab
