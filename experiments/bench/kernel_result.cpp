#include "experiments/bench/kernel_result.hpp"
#include "experiments/config/result_fields.hpp"

#include <utility>

namespace speclab {

namespace {

const std::vector<std::pair<std::string, Dtype>>& dtype_names() {
  static const std::vector<std::pair<std::string, Dtype>> names{
      {"bf16", Dtype::bf16}, {"f32", Dtype::f32}, {"f16", Dtype::f16}};
  return names;
}

const Typed<KernelShape>& shape_type() {
  static const auto type =
      result_object<KernelShape>("shape", {{"requests", &KernelShape::requests},
                                           {"gamma", &KernelShape::gamma},
                                           {"vocab", &KernelShape::vocab},
                                           {"dtype", &KernelShape::dtype, dtype_type()}});
  return type;
}

const Typed<KernelSize>& size_type() {
  static const auto type =
      result_object<KernelSize>("size", {{"alpha", &KernelSize::alpha}}, inherited<KernelSize>(shape_type()));
  return type;
}

const Typed<VerificationRow>& verification_type() {
  using Row = VerificationRow;
  static const auto cache = choice<CacheMode>({{"hot", CacheMode::hot}, {"flushed", CacheMode::flushed}});
  static const auto kind = choice<MethodKind>({{"implementation", MethodKind::implementation},
                                               {"ceiling", MethodKind::ceiling},
                                               {"floor", MethodKind::floor}});
  static const auto type = result_object<Row>("verification",
                                              {{"realised_alpha", &Row::realised_alpha},
                                               {"accepted", &Row::accepted},
                                               {"cache", &Row::cache, cache},
                                               {"method", &Row::method},
                                               {"kind", &Row::kind, kind},
                                               {"repetitions", &Row::repetitions},
                                               {"median_us", &Row::median_us},
                                               {"p99_us", &Row::p99_us},
                                               {"bytes", &Row::bytes},
                                               {"gb_per_s", &Row::gb_per_s},
                                               {"of_copy", &Row::of_copy},
                                               {"times_baseline", &Row::times_baseline},
                                               {"times_wagner-exact", &Row::times_wagner_exact},
                                               {"times_wagner-sigmoid", &Row::times_wagner_sigmoid},
                                               {"total_variation", &Row::total_variation}},
                                              inherited<Row>(size_type()));
  return type;
}

const Typed<KernelDevice>& device_type() {
  using Device = KernelDevice;
  static const auto type =
      result_object<Device>("device", {{"name", &Device::name},
                                       {"capability", &Device::capability},
                                       {"multiprocessors", &Device::multiprocessors},
                                       {"memory_bytes", &Device::memory_bytes},
                                       {"l2_bytes", &Device::l2_bytes},
                                       {"highest_clock_mhz", &Device::highest_clock_mhz},
                                       {"highest_memory_clock_mhz", &Device::highest_memory_clock_mhz},
                                       {"driver_cuda", &Device::driver_cuda},
                                       {"runtime_cuda", &Device::runtime_cuda}});
  return type;
}

const Typed<LeftOut>& left_out_type() {
  static const auto type = result_object<LeftOut>(
      "left out", {{"size", &LeftOut::size}, {"method", &LeftOut::method}, {"why", &LeftOut::why}});
  return type;
}

const Typed<MethodLayout>& method_type() {
  static const auto launch =
      result_object<LaunchRow>("launch", {{"kernel", &LaunchRow::kernel},
                                          {"blocks", &LaunchRow::blocks},
                                          {"threads", &LaunchRow::threads},
                                          {"cluster", &LaunchRow::cluster},
                                          {"dynamic_shared", &LaunchRow::dynamic_shared},
                                          {"early", &LaunchRow::early}});
  static const auto type =
      result_object<MethodLayout>("method", {{"method", &MethodLayout::method},
                                             {"left_out", &MethodLayout::left_out},
                                             {"launches", &MethodLayout::launches, launch},
                                             {"workspace_bytes", &MethodLayout::workspace_bytes},
                                             {"bytes_read", &MethodLayout::bytes_read},
                                             {"bytes_written", &MethodLayout::bytes_written},
                                             {"bound_us", &MethodLayout::bound_us},
                                             {"problems", &MethodLayout::problems}});
  return type;
}

const Typed<DryPoint>& point_type() {
  static const auto type = result_object<DryPoint>("point",
                                                   {{"tensor_bytes", &DryPoint::tensor_bytes},
                                                    {"device_bytes", &DryPoint::device_bytes},
                                                    {"past_32_bits", &DryPoint::past_32_bits},
                                                    {"fits", &DryPoint::fits},
                                                    {"methods", &DryPoint::methods, method_type()}},
                                                   inherited<DryPoint>(size_type()));
  return type;
}

const Typed<EmulatedRow>& emulated_type() {
  using Row = EmulatedRow;
  static const auto type = result_object<Row>("emulated",
                                              {{"method", &Row::method},
                                               {"left_out", &Row::left_out},
                                               {"loaded_bytes", &Row::loaded_bytes},
                                               {"counted_bytes", &Row::counted_bytes},
                                               {"agreed", &Row::agreed},
                                               {"within_band", &Row::within_band},
                                               {"different", &Row::different}},
                                              inherited<Row>(shape_type()));
  return type;
}

}  // namespace

const char* words(CacheMode mode) { return mode == CacheMode::hot ? "hot" : "flushed"; }

KernelShape kernel_shape(const BenchShape& shape) {
  return {shape.requests, shape.gamma, shape.vocab, shape.dtype};
}

KernelSize kernel_size(const BenchShape& shape, double alpha) { return {kernel_shape(shape), alpha}; }

std::string dtype_name(Dtype dtype) {
  for (const auto& [name, known] : dtype_names()) {
    if (known == dtype) return name;
  }
  return "";
}

const Typed<Dtype>& dtype_type() {
  static const auto type = choice<Dtype>(dtype_names());
  return type;
}

const Typed<KernelReportHead>& kernel_report_head_type() {
  using Head = KernelReportHead;
  static const auto kind = choice<KernelReportKind>(
      {{"measurement", KernelReportKind::measurement}, {"dry run", KernelReportKind::dry_run}});
  static const auto type = result_object<Head>("head", {{"suite", &Head::suite},
                                                        {"kind", &Head::kind, kind},
                                                        {"version", &Head::version},
                                                        {"command", &Head::command}});
  return type;
}

const Typed<KernelReport>& kernel_report_type() {
  using Report = KernelReport;
  static const auto type =
      result_object<Report>("bench kernels",
                            {{"machine", &Report::machine},
                             {"device", &Report::device, device_type()},
                             {"clocks_before", &Report::clocks_before},
                             {"clocks_after", &Report::clocks_after},
                             {"repetitions", &Report::repetitions},
                             {"verification", &Report::verification, verification_type()},
                             {"left_out", &Report::left_out, left_out_type()},
                             {"partial", &Report::partial},
                             {"failures", &Report::failures}},
                            inherited<Report>(kernel_report_head_type()));
  return type;
}

const Typed<DryRunReport>& dry_run_type() {
  using Report = DryRunReport;
  static const auto type = result_object<Report>("dry run of bench kernels",
                                                 {{"assumed_memory_gib", &Report::memory_gib},
                                                  {"assumed_bandwidth_gbs", &Report::bandwidth_gbs},
                                                  {"points", &Report::points, point_type()},
                                                  {"emulated", &Report::emulated, emulated_type()},
                                                  {"configurations", &Report::configurations},
                                                  {"left_out", &Report::left_out},
                                                  {"problems", &Report::problems}},
                                                 inherited<Report>(kernel_report_head_type()));
  return type;
}

}  // namespace speclab
