#include "kernels/verify/check_batch.hpp"

#include <algorithm>
#include <cstdio>

#include "kernels/verify/check_parts.hpp"

namespace speclab {

namespace {

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

Error rule_error(Implementation implementation, const VerifyRule& rule) {
  if (Error error = range_error("rule.method", static_cast<std::int64_t>(rule.method), 0, 2))
    return *error + " (token, lenient, block)";
  if (Error error = range_error("rule.residual", static_cast<std::int64_t>(rule.residual), 0, 2))
    return *error + " (target_minus_draft, literal, target)";
  if (rule.method == KernelRule::lenient && !(rule.lenience > 0 && rule.lenience <= 1)) {
    return "rule.lenience is " + decimal(rule.lenience) +
           ": above 0 and at most 1 is allowed, and 1 is no lenience";
  }
  if (implementation == Implementation::wagner_sigmoid) {
    const double width = rule.sigmoid_beta - rule.sigmoid_alpha;
    // The condition in parentheses is also false for infinite and NaN constants.
    if (!(width > 0 && width - width == 0)) {
      return "rule.sigmoid_alpha is " + decimal(rule.sigmoid_alpha) + " and rule.sigmoid_beta " +
             decimal(rule.sigmoid_beta) + ": finite numbers are allowed, alpha below beta";
    }
  }
  return std::nullopt;
}

}  // namespace

Error shape_error(Implementation implementation, const VerifyBatch& batch) {
  if (Error error = rule_error(implementation, batch.rule)) return error;
  const auto known = implementations();
  if (std::none_of(known.begin(), known.end(),
                   [&](const ImplementationInfo& info) { return info.implementation == implementation; })) {
    std::string names;
    for (const ImplementationInfo& info : known) {
      names += (names.empty() ? "" : ", ") + std::to_string(static_cast<int>(info.implementation)) + " " +
               info.name;
    }
    return "implementation is " + std::to_string(static_cast<int>(implementation)) + ": there are " + names;
  }
  if (Error error = field_error(batch)) return error;
  if (const auto reason = unsupported_reason(implementation, batch))
    return std::string(known[static_cast<std::size_t>(implementation)].name) + ": " + *reason;
  for (const simt::Launch& launch : layout_of(implementation, batch).launches) {
    if (Error error = launch_error(batch, launch)) return error;
  }
  return std::nullopt;
}

Error batch_error(Implementation implementation, const VerifyBatch& batch, const void* workspace,
                  std::size_t workspace_bytes) {
  if (Error error = shape_error(implementation, batch)) return error;
  if (batch.requests == 0) return std::nullopt;
  if (Error error = array_error(batch, batch.gamma)) return error;
  const std::size_t needed = layout_of(implementation, batch).workspace_bytes;
  if (needed > 0 && workspace == nullptr)
    return "workspace is null: " + std::to_string(needed) + " bytes are needed";
  if (workspace_bytes < needed) {
    return "workspace_bytes is " + std::to_string(workspace_bytes) + ": this batch needs " +
           std::to_string(needed);
  }
  return memory_error(memory_of(batch, batch.gamma, workspace, needed));
}

Error batch_error(Implementation implementation, const VerifyBatch& batch) {
  if (Error error = shape_error(implementation, batch)) return error;
  if (batch.requests == 0) return std::nullopt;
  if (Error error = array_error(batch, batch.gamma)) return error;
  return memory_error(memory_of(batch, batch.gamma, nullptr, 0));
}

}  // namespace speclab
