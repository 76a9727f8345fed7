#include "experiments/bench/kernel_result.hpp"

#include <utility>

namespace speclab {

namespace {

constexpr double many = 9.2e18;

const std::vector<std::pair<std::string, Dtype>>& dtype_names() {
  static const std::vector<std::pair<std::string, Dtype>> names{
      {"bf16", Dtype::bf16}, {"f32", Dtype::f32}, {"f16", Dtype::f16}};
  return names;
}

/// Every key that is not for an optional value has to be there.
std::vector<Field> all_required(std::vector<Field> fields) {
  for (Field& field : fields) field.required = !field.optional();
  return fields;
}

const Typed<KernelShape>& shape_type() {
  static const auto type =
      object<KernelShape>("shape", "The shape of a batch.",
                          {integer_field<&KernelShape::requests>("requests", 0, many, "Sequences."),
                           integer_field<&KernelShape::gamma>("gamma", 0, many, "Drafted tokens a request."),
                           integer_field<&KernelShape::vocab>("vocab", 0, many, "Tokens."),
                           field<&KernelShape::dtype>("dtype", dtype_type(), "Of the logits.")});
  return type;
}

const Typed<KernelSize>& size_type() {
  static const auto type = object<KernelSize>(
      "size", "A size at which something is measured.",
      joined(inherited<KernelSize>(shape_type()),
             {field<&KernelSize::alpha>("alpha", any_number(), "Overlap of target and draft.")}));
  return type;
}

const Typed<VerificationRow>& verification_type() {
  using Row = VerificationRow;
  static const auto cache = choice<CacheMode>({{"hot", CacheMode::hot}, {"flushed", CacheMode::flushed}});
  static const auto kind = choice<MethodKind>({{"implementation", MethodKind::implementation},
                                               {"ceiling", MethodKind::ceiling},
                                               {"floor", MethodKind::floor}});
  static const auto type = object<Row>(
      "verification", "One method at one size.",
      all_required(joined(
          inherited<Row>(size_type()),
          {field<&Row::realised_alpha>("realised_alpha", any_number(), "Overlap of the made rows."),
           field<&Row::accepted>("accepted", any_number(), "Tokens a request, mean."),
           field<&Row::cache>("cache", cache, "The second-level cache before."),
           field<&Row::method>("method", text(), "Its name."),
           field<&Row::kind>("kind", kind, "What the method is."),
           integer_field<&Row::repetitions>("repetitions", 0, many, "Measured."),
           field<&Row::median_us>("median_us", any_number(), "Microseconds."),
           field<&Row::p99_us>("p99_us", any_number(), "Microseconds."),
           field<&Row::bytes>("bytes", any_number(), "That the method has to move."),
           field<&Row::gb_per_s>("gb_per_s", any_number(), "Of these bytes."),
           field<&Row::of_copy>("of_copy", any_number(), "Over the rate of the faster copy."),
           field<&Row::times_baseline>("times_baseline", any_number(), "The baseline's time over this."),
           field<&Row::times_wagner_exact>("times_wagner-exact", any_number(), "Its time over this."),
           field<&Row::times_wagner_sigmoid>("times_wagner-sigmoid", any_number(), "Its time over this."),
           field<&Row::total_variation>("total_variation", any_number(),
                                        "Of the first token to the target.")})));
  return type;
}

const Typed<KernelDevice>& device_type() {
  using Device = KernelDevice;
  static const auto type = object<Device>(
      "device", "The GPU.",
      {field<&Device::name>("name", text(), "Name."),
       field<&Device::capability>("capability", text(), "Compute capability."),
       integer_field<&Device::multiprocessors>("multiprocessors", 0, many, "Count."),
       integer_field<&Device::memory_bytes>("memory_bytes", 0, many, "Of its memory."),
       integer_field<&Device::l2_bytes>("l2_bytes", 0, many, "Of the second-level cache."),
       integer_field<&Device::highest_clock_mhz>("highest_clock_mhz", 0, many, "Of the multiprocessors."),
       integer_field<&Device::highest_memory_clock_mhz>("highest_memory_clock_mhz", 0, many, "Of memory."),
       field<&Device::driver_cuda>("driver_cuda", text(), "Newest CUDA that the driver supports."),
       field<&Device::runtime_cuda>("runtime_cuda", text(), "CUDA of this program.")});
  return type;
}

const Typed<LeftOut>& left_out_type() {
  static const auto type = object<LeftOut>("left out", "What was not measured.",
                                           {field<&LeftOut::size>("size", text(), "The size."),
                                            field<&LeftOut::method>("method", text(), "The method, or all."),
                                            field<&LeftOut::why>("why", text(), "The reason.")});
  return type;
}

const Typed<MethodLayout>& method_type() {
  static const auto launch = object<LaunchRow>(
      "launch", "One launch of a kernel.",
      {field<&LaunchRow::kernel>("kernel", text(), "Its name."),
       integer_field<&LaunchRow::blocks>("blocks", 0, many, "Of threads."),
       integer_field<&LaunchRow::threads>("threads", 0, many, "Of a block."),
       integer_field<&LaunchRow::cluster>("cluster", 0, many, "Blocks that share memory."),
       integer_field<&LaunchRow::dynamic_shared>("dynamic_shared", 0, many, "Bytes of a block."),
       field<&LaunchRow::early>("early", boolean(), "May start before the kernel before has ended.")});
  static const auto type = object<MethodLayout>(
      "method", "One implementation at one size.",
      {field<&MethodLayout::method>("method", text(), "Its name."),
       field<&MethodLayout::left_out>("left_out", text(), "Why it cannot run here."),
       field<&MethodLayout::launches>("launches", list(launch), "Kernels."),
       integer_field<&MethodLayout::workspace_bytes>("workspace_bytes", 0, many, "Scratch."),
       field<&MethodLayout::bytes_read>("bytes_read", any_number(), "That it has to read."),
       field<&MethodLayout::bytes_written>("bytes_written", any_number(), "That it has to write."),
       field<&MethodLayout::bound_us>("bound_us", any_number(), "Bytes over the assumed bandwidth."),
       field<&MethodLayout::problems>("problems", list(text()), "What is invalid.")});
  return type;
}

const Typed<DryPoint>& point_type() {
  static const auto type = object<DryPoint>(
      "point", "One size.",
      joined(inherited<DryPoint>(size_type()),
             {integer_field<&DryPoint::tensor_bytes>("tensor_bytes", 0, many, "Of the logits."),
              integer_field<&DryPoint::device_bytes>("device_bytes", 0, many, "Of everything."),
              field<&DryPoint::past_32_bits>("past_32_bits", boolean(), "Elements of the target's logits."),
              field<&DryPoint::fits>("fits", boolean(), "Into the assumed memory."),
              field<&DryPoint::methods>("methods", list(method_type()), "Implementations.")}));
  return type;
}

const Typed<EmulatedRow>& emulated_type() {
  using Row = EmulatedRow;
  static const auto type =
      object<Row>("emulated", "A small batch run in the emulator.",
                  joined(inherited<Row>(shape_type()),
                         {field<&Row::method>("method", text(), "The implementation."),
                          field<&Row::left_out>("left_out", text(), "Why it cannot run here."),
                          integer_field<&Row::loaded_bytes>("loaded_bytes", 0, many, "Asked for by threads."),
                          field<&Row::counted_bytes>("counted_bytes", any_number(), "That it has to read."),
                          integer_field<&Row::agreed>("agreed", 0, many, "Decisions as the reference's."),
                          integer_field<&Row::within_band>(
                              "within_band", 0, many, "Decisions that single precision may make either way."),
                          integer_field<&Row::different>("different", 0, many, "Other decisions.")}));
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
  static const auto type = object<Head>("head", "What a file holds.",
                                        {required(field<&Head::suite>("suite", text(), "\"kernels\".")),
                                         required(field<&Head::kind>("kind", kind, "Measured or not.")),
                                         field<&Head::version>("version", text(), "Of speclab."),
                                         field<&Head::command>("command", text(), "What was typed.")});
  return type;
}

const Typed<KernelReport>& kernel_report_type() {
  using Report = KernelReport;
  static const auto type = object<Report>(
      "bench kernels", "The speed of verification kernels.",
      joined(inherited<Report>(kernel_report_head_type()),
             {field<&Report::machine>("machine", text(), "Processor, cores and system."),
              required(field<&Report::device>("device", device_type(), "The GPU.")),
              field<&Report::clocks_before>("clocks_before", text(), "By nvidia-smi."),
              field<&Report::clocks_after>("clocks_after", text(), "By nvidia-smi."),
              integer_field<&Report::repetitions>("repetitions", 0, many, "Of every method."),
              required(field<&Report::verification>("verification", list(verification_type()), "Rows.")),
              field<&Report::left_out>("left_out", list(left_out_type()), "What was not measured."),
              field<&Report::partial>("partial", boolean(), "Interrupted."),
              integer_field<&Report::failures>("failures", 0, many, "Sizes at which CUDA failed.")}));
  return type;
}

const Typed<DryRunReport>& dry_run_type() {
  using Report = DryRunReport;
  static const auto type = object<Report>(
      "dry run of bench kernels", "What can be known without a GPU.",
      joined(inherited<Report>(kernel_report_head_type()),
             {field<&Report::memory_gib>("assumed_memory_gib", any_number(), "Of the device."),
              field<&Report::bandwidth_gbs>("assumed_bandwidth_gbs", any_number(), "Of copies."),
              field<&Report::points>("points", list(point_type()), "Sizes."),
              field<&Report::emulated>("emulated", list(emulated_type()), "Runs in the emulator."),
              integer_field<&Report::configurations>("configurations", 0, many, "Checked."),
              integer_field<&Report::left_out>("left_out", 0, many, "Sizes that do not fit."),
              integer_field<&Report::problems>("problems", 0, many, "What is invalid.")}));
  return type;
}

}  // namespace speclab
