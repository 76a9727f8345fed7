#include "kernels/verify/check_batch.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <string>

#include "kernels/verify/verify.hpp"

using namespace speclab;

namespace {

/// Returns made-up numbers for device pointers: code that reads them crashes the test. Each field has a
/// region, with room for 8 requests, gamma 4 and vocab 100 in any format.
template <class T>
T* region(std::uintptr_t index) {
  return reinterpret_cast<T*>((index + 1) << 20U);
}

struct Call {
  Implementation implementation = Implementation::fused;
  VerifyBatch batch;
  void* workspace = region<void>(20);
  std::size_t workspace_bytes = std::size_t{1} << 20U;

  std::string error() const {
    return batch_error(implementation, batch, workspace, workspace_bytes).value_or("");
  }
};

Call good() {
  Call call;
  VerifyBatch& batch = call.batch;
  batch.requests = 8;
  batch.gamma = 4;
  batch.vocab = 100;
  batch.target = {region<float>(0), Dtype::f32, 500, 100};
  batch.draft = {region<float>(1), Dtype::f32, 400, 100};
  batch.drafted = region<Token>(2);
  batch.uniforms = region<double>(3);
  batch.accepted = region<std::int32_t>(4);
  batch.next = region<Token>(5);
  batch.flags = region<std::uint32_t>(6);
  return call;
}

template <class T>
T* shifted(T* pointer, std::uintptr_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(pointer) + bytes);
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("a good batch has no error") {
  CHECK(good().error() == "");

  const std::function<void(Call&)> changes[] = {
      [](Call& c) { c.batch.gamma = 0, c.batch.drafted = nullptr, c.batch.target.request_stride = 100; },
      [](Call& c) { c.batch.draft = {}; },
      [](Call& c) { c.batch.flags = nullptr; },
      [](Call& c) { c.batch.uniforms = nullptr, c.batch.addresses = region<RandomAddress>(3); },
      [](Call& c) {
        c.batch.rule = {KernelRule::lenient, 0.25, Residual::literal};
      },
      [](Call& c) { c.batch.rule.method = KernelRule::block; },
      // Constants and lenience that are not used may have any value.
      [](Call& c) { c.batch.rule.lenience = c.batch.rule.sigmoid_alpha = c.batch.rule.sigmoid_beta = 0; },
      // Rows may be padded, and requests may lie within positions.
      [](Call& c) { c.batch.target.row_stride = 128, c.batch.target.request_stride = 4 * 128 + 100; },
      [](Call& c) { c.batch.draft.request_stride = 100, c.batch.draft.row_stride = 800; },
      // Strides that are not used may have any value.
      [](Call& c) { c.batch.requests = 1, c.batch.target.request_stride = -1; },
      [](Call& c) { c.batch.gamma = 1, c.batch.draft.row_stride = 0; },
      [](Call& c) {
        c.batch.requests = 1, c.batch.drafted = {c.batch.drafted.data, nullptr, -5, 0};
      },
      [](Call& c) { c.batch.target.dtype = c.batch.draft.dtype = Dtype::bf16; },
      [](Call& c) { c.batch.target.dtype = Dtype::f16, c.batch.draft = {}; },
      [](Call& c) { c.batch.target.dtype = Dtype::f16, c.batch.target.request_stride = 500; },
      // Flattened rows may be shared by requests; a given bonus token needs no row.
      [](Call& c) { c.batch.target.request_stride = 100, c.batch.target.index = region<std::int32_t>(7); },
      [](Call& c) { c.batch.target.request_stride = 400, c.batch.bonus = region<Token>(7); },
      [](Call& c) { c.batch.target.data = shifted(c.batch.target.data, 4); },
      // Inputs may share memory, and outputs may be adjacent.
      [](Call& c) { c.batch.draft.data = c.batch.target.data; },
      [](Call& c) { c.batch.next = c.batch.accepted + 8; },
      [](Call& c) { c.batch.requests = 0, c.batch.target.data = nullptr, c.workspace = nullptr; },
  };
  for (const auto& change : changes) {
    Call call = good();
    change(call);
    CHECK(call.error() == "");
  }
}

TEST_CASE("every mistake is found, named, and told with its value") {
  struct Mistake {
    const char* message;  ///< part of the message
    std::function<void(Call&)> make;
  };
  const Mistake mistakes[] = {
      {"implementation is 99", [](Call& c) { c.implementation = static_cast<Implementation>(99); }},
      {"requests is -1: 0 to 2147483647", [](Call& c) { c.batch.requests = -1; }},
      {"gamma is -1: 0 to 256", [](Call& c) { c.batch.gamma = -1; }},
      {"gamma is 257: 0 to 256", [](Call& c) { c.batch.gamma = 257; }},
      {"gamma is 65: 0 to 64 are allowed by block verification",
       [](Call& c) { c.batch.gamma = 65, c.batch.rule.method = KernelRule::block; }},
      {"vocab is 0: 1 to 2097152", [](Call& c) { c.batch.vocab = 0; }},
      {"vocab is 2097153", [](Call& c) { c.batch.vocab = max_vocab + 1; }},
      {"requests is 2147483647: with gamma 4",
       [](Call& c) { c.batch.requests = std::numeric_limits<std::int32_t>::max(); }},
      {"target.dtype is 3", [](Call& c) { c.batch.target.dtype = static_cast<Dtype>(3); }},
      {"draft.dtype is -1", [](Call& c) { c.batch.draft.dtype = static_cast<Dtype>(-1); }},
      {"cluster: takes logits of one format",
       [](Call& c) { c.implementation = Implementation::cluster, c.batch.draft.dtype = Dtype::bf16; }},
      {"draft_vocab is 101: 0 to 100", [](Call& c) { c.batch.draft_vocab = 101; }},
      {"ties is 2", [](Call& c) { c.batch.ties = static_cast<Ties>(2); }},
      {"draft.kind is 5", [](Call& c) { c.batch.draft.kind = static_cast<RowKind>(5); }},
      {"target.kind is probabilities, and target_options are given",
       [](Call& c) {
         c.batch.target.kind = RowKind::probabilities;
         c.batch.target_options.temperature = region<float>(7);
       }},
      {"target.kind is probabilities, and mask is given",
       [](Call& c) {
         c.batch.target.kind = RowKind::probabilities;
         c.batch.mask = {region<std::uint32_t>(7), nullptr, 0, 0};
       }},
      {"ties is lowest, and target_options have temperature and log_sum_exp",
       [](Call& c) {
         c.batch.ties = Ties::lowest;
         c.batch.target_options.temperature = c.batch.target_options.log_sum_exp = region<float>(7);
       }},
      {"target.kind is probabilities, and top_k, top_p or min_p are given: the rows must already be 0",
       [](Call& c) {
         c.batch.target.kind = RowKind::probabilities;
         c.batch.top_p = region<float>(7);
       }},
      {"target_options.log_sum_exp and top_k, top_p or min_p are given",
       [](Call& c) { c.batch.min_p = c.batch.target_options.log_sum_exp = region<float>(7); }},
      {"cluster: takes cut-off logits, but does not compute them from top-k, top-p or min-p",
       [](Call& c) {
         c.implementation = Implementation::cluster;
         c.batch.top_k = region<std::int32_t>(7);
       }},
      {"wagner-sigmoid: takes cut-off logits, but does not compute them from top-k, top-p or min-p",
       [](Call& c) {
         c.implementation = Implementation::wagner_sigmoid;
         c.batch.top_k = region<std::int32_t>(7);
       }},
      {"cumulative_extra is 2", [](Call& c) { c.batch.cumulative_extra = 2; }},

      {"rule.method is 3", [](Call& c) { c.batch.rule.method = static_cast<KernelRule>(3); }},
      {"rule.residual is 7", [](Call& c) { c.batch.rule.residual = static_cast<Residual>(7); }},
      {"rule.lenience is 0:",
       [](Call& c) {
         c.batch.rule = {KernelRule::lenient, 0};
       }},
      {"rule.lenience is 1.5:",
       [](Call& c) {
         c.batch.rule = {KernelRule::lenient, 1.5};
       }},
      {"rule.lenience is nan",
       [](Call& c) {
         c.batch.rule = {KernelRule::lenient, not_a_number};
       }},

      {"rule.sigmoid_alpha is 3 and rule.sigmoid_beta 3",
       [](Call& c) {
         c.implementation = Implementation::wagner_sigmoid;
         c.batch.rule.sigmoid_alpha = c.batch.rule.sigmoid_beta = 3;
       }},
      {"rule.sigmoid_beta inf",
       [](Call& c) {
         c.implementation = Implementation::wagner_sigmoid;
         c.batch.rule.sigmoid_beta = std::numeric_limits<double>::infinity();
       }},

      {"target.data is null", [](Call& c) { c.batch.target.data = nullptr; }},
      {"drafted is null", [](Call& c) { c.batch.drafted = nullptr; }},
      {"accepted is null", [](Call& c) { c.batch.accepted = nullptr; }},
      {"next is null", [](Call& c) { c.batch.next = nullptr; }},
      {"addresses, uniforms and seeds are null", [](Call& c) { c.batch.uniforms = nullptr; }},
      {"addresses and uniforms are both given",
       [](Call& c) { c.batch.addresses = region<RandomAddress>(7); }},
      {"seeds are given besides addresses or uniforms",
       [](Call& c) { c.batch.seeds = region<std::uint64_t>(7); }},
      {"positions is null: both are needed",
       [](Call& c) { c.batch.uniforms = nullptr, c.batch.seeds = region<std::uint64_t>(7); }},
      {"lengths and cumulative are both given",
       [](Call& c) { c.batch.lengths = c.batch.cumulative = region<std::int32_t>(7); }},
      {"mask has no strides: give them in words; a row has 4",
       [](Call& c) { c.batch.mask = region<std::uint32_t>(7); }},
      {"draft.data is null: draft_options are given",
       [](Call& c) { c.batch.draft = {}, c.batch.draft_options.cutoff = region<float>(7); }},

      {"target.row_stride is 99, but a row has vocab = 100", [](Call& c) { c.batch.target.row_stride = 99; }},
      {"draft.row_stride is -100", [](Call& c) { c.batch.draft.row_stride = -100; }},
      {"draft.request_stride is 0", [](Call& c) { c.batch.draft.request_stride = 0; }},
      // There is room for gamma rows instead of gamma + 1, a fault that two other libraries had.
      {"target.request_stride is 400 and target.row_stride 100",
       [](Call& c) { c.batch.target.request_stride = 400; }},
      {"request_stride of 500 or more", [](Call& c) { c.batch.target.request_stride = 499; }},
      {"more memory than there can be",
       [](Call& c) { c.batch.target.request_stride = std::numeric_limits<std::int64_t>::max(); }},
      {"drafted.row_stride is -4: 0 to ",
       [](Call& c) {
         c.batch.drafted = {c.batch.drafted.data, nullptr, 4, -4};
       }},
      {"target_options.temperature.request_stride is 4611686018427387904: 0 to 18014398509481984",
       [](Call& c) {
         c.batch.target_options.temperature = {region<float>(7), nullptr, std::int64_t{1} << 62, 0};
       }},
      {"mask.row_stride is -9223372036854775808",
       [](Call& c) {
         c.batch.mask = {region<std::uint32_t>(7), nullptr, 4, INT64_MIN};
       }},
      {"top_k.row_stride is 9223372036854775807",
       [](Call& c) {
         c.batch.top_k = {region<std::int32_t>(7), region<std::int32_t>(8), 1, INT64_MAX};
       }},
      // The last request's entry lies before the first one's, in the output.
      {"draft_options.cutoff.request_stride is -1",
       [](Call& c) {
         c.batch.draft_options.cutoff = {reinterpret_cast<const float*>(c.batch.next) + 8, nullptr, -1, 0};
       }},
      {"beyond the address space",
       [](Call& c) { c.batch.target.data = reinterpret_cast<const void*>(~std::uintptr_t{0} - 255); }},

      {"workspace is null", [](Call& c) { c.workspace = nullptr; }},
      {"workspace_bytes is 255", [](Call& c) { c.workspace_bytes = 255; }},
      {"workspace is 0x1500080: a multiple of 256", [](Call& c) { c.workspace = region<char>(20) + 128; }},
      {"target.data is 0x100002: a multiple of 4",
       [](Call& c) { c.batch.target.data = shifted(c.batch.target.data, 2); }},
      {"draft.data is 0x200001: a multiple of 2",
       [](Call& c) {
         c.batch.target.dtype = c.batch.draft.dtype = Dtype::f16;
         c.batch.draft.data = shifted(c.batch.draft.data, 1);
       }},
      {"drafted is 0x300002", [](Call& c) { c.batch.drafted = shifted(c.batch.drafted.data, 2); }},
      {"uniforms is 0x400004: a multiple of 8",
       [](Call& c) { c.batch.uniforms = shifted(c.batch.uniforms, 4); }},
      {"accepted is 0x500001", [](Call& c) { c.batch.accepted = shifted(c.batch.accepted, 1); }},
      {"next is 0x600003", [](Call& c) { c.batch.next = shifted(c.batch.next, 3); }},
      {"flags is 0x700002", [](Call& c) { c.batch.flags = shifted(c.batch.flags, 2); }},
      {"lengths is 0x800002", [](Call& c) { c.batch.lengths = shifted(region<const std::int32_t>(7), 2); }},
      {"target_options.temperature is 0x800002",
       [](Call& c) { c.batch.target_options.temperature = shifted(region<const float>(7), 2); }},
      {"draft_options.log_sum_exp is 0x800002",
       [](Call& c) { c.batch.draft_options.log_sum_exp = shifted(region<const float>(7), 2); }},

      {"accepted (0x500000 to 0x500020) overlaps next (0x50001c to 0x50003c)",
       [](Call& c) { c.batch.next = c.batch.accepted + 7; }},
      {"tokens is 0x900002", [](Call& c) { c.batch.tokens = shifted(region<Token>(8), 2); }},
      {"log_sum_exps is 0x900002", [](Call& c) { c.batch.log_sum_exps = shifted(region<float>(8), 2); }},
      {"draft_place is 0x900002", [](Call& c) { c.batch.draft_place = shifted(region<std::int32_t>(8), 2); }},
      {"top_k is 0x900002", [](Call& c) { c.batch.top_k = shifted(region<std::int32_t>(8), 2); }},
      {"top_p is 0x900002", [](Call& c) { c.batch.top_p = shifted(region<float>(8), 2); }},
      {"overlaps min_p",
       [](Call& c) { c.batch.min_p = reinterpret_cast<const float*>(c.batch.accepted) - 39; }},
      {"overlaps bonus", [](Call& c) { c.batch.bonus = c.batch.accepted; }},
      {"overlaps cumulative", [](Call& c) { c.batch.cumulative = c.batch.accepted - 8; }},
      {"overlaps mask",
       [](Call& c) {
         c.batch.mask = {reinterpret_cast<const std::uint32_t*>(c.batch.accepted) - 3, nullptr, 0, 0};
       }},
      {"overlaps counts",
       [](Call& c) { c.batch.tokens = region<Token>(8), c.batch.counts = region<std::int32_t>(8); }},
      {"overlaps flags", [](Call& c) { c.batch.flags = region<std::uint32_t>(5); }},
      {"overlaps drafted", [](Call& c) { c.batch.next = region<Token>(2) + 31; }},
      {"overlaps lengths", [](Call& c) { c.batch.lengths = c.batch.accepted; }},
      {"overlaps uniforms",
       [](Call& c) { c.batch.flags = reinterpret_cast<std::uint32_t*>(region<double>(3) + 39); }},
      // The output overlaps the last logit of the last row.
      {"overlaps target.data", [](Call& c) { c.batch.next = region<Token>(0) + 8 * 500 - 1; }},
      {"overlaps draft.data", [](Call& c) { c.workspace = region<char>(1) + 12544; }},
      {"overlaps workspace", [](Call& c) { c.batch.accepted = region<std::int32_t>(20) + 1; }},
      {"overlaps target_options.cutoff",
       [](Call& c) { c.batch.target_options.cutoff = reinterpret_cast<const float*>(c.batch.next); }},
  };
  for (const Mistake& mistake : mistakes) {
    Call call = good();
    mistake.make(call);
    const std::string error = call.error();
    CAPTURE(mistake.message);
    CAPTURE(error);
    CHECK(error.find(mistake.message) != std::string::npos);
    CHECK_THROWS_AS(verify(call.batch, call.workspace, call.workspace_bytes, nullptr, call.implementation),
                    std::invalid_argument);
  }
}

TEST_CASE("the workspace that is asked for is the one that will do") {
  Call call = good();
  for (const KernelRule method : {KernelRule::token, KernelRule::block}) {
    call.batch.rule.method = method;
    call.workspace_bytes = verify_workspace_bytes(call.batch);
    CHECK(call.error() == "");
    --call.workspace_bytes;
    CHECK(call.error().find("this batch needs " + std::to_string(call.workspace_bytes + 1)) !=
          std::string::npos);
  }
  call.batch.vocab = 0;
  CHECK_THROWS_AS(verify_workspace_bytes(call.batch), std::invalid_argument);
}
