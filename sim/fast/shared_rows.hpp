// Shares the rows of a pair of models between several rules; they do not depend on the rule.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "sim/fast/row_draws.hpp"

namespace speclab {

/// Rows are made at the first request and shared while any caller holds them. The last made rows are kept,
/// for later pairs of the same models. The models must outlive them.
class SharedRows {
 public:
  /// Returns the rows of two tables, two n-gram models, or two n-gram models with sampling options. Throws
  /// ModelError as FastPair does.
  template <class Rows, class ModelOfKind>
  std::shared_ptr<const PairRows> get(const ModelOfKind& target, const ModelOfKind& draft) {
    const std::scoped_lock lock(mutex_);
    auto& known = known_[{&target, &draft}];
    last_ = known.lock();  // where there are none, frees memory before new rows are made
    if (!last_) known = last_ = std::make_shared<const Rows>(target, draft);
    return last_;
  }
  /// Drops rows that nobody else holds.
  void let_go() {
    const std::scoped_lock lock(mutex_);
    last_.reset();
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const PairRows> last_;
  std::map<std::pair<const void*, const void*>, std::weak_ptr<const PairRows>> known_;  ///< by models
};

}  // namespace speclab
