// Shares the rows of a pair of models between several rules; they do not depend on the rule.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "sim/fast/ngram_rows.hpp"
#include "sim/fast/table_rows.hpp"
#include "sim/fast/truncated_rows.hpp"

namespace speclab {

/// Rows are made at the first request and shared while any caller holds them. The last made rows are kept,
/// for later pairs of the same models. The models must outlive them.
class SharedRows {
 public:
  /// Returns the rows of two tables, two n-gram models, or two n-gram models with sampling options. Throws
  /// ModelError as FastPair does.
  template <class Rows, class ModelOfKind>
  std::shared_ptr<const Rows> get(const ModelOfKind& target, const ModelOfKind& draft) {
    const std::scoped_lock lock(mutex_);
    auto& known = std::get<Known<Rows>>(known_)[{&target, &draft}];
    std::shared_ptr<const Rows> rows = known.lock();
    if (!rows) {
      last_.reset();  // frees memory before new rows are made
      known = rows = std::make_shared<const Rows>(target, draft);
    }
    last_ = rows;
    return rows;
  }
  /// Drops rows that nobody else holds.
  void let_go() {
    const std::scoped_lock lock(mutex_);
    last_.reset();
  }

 private:
  template <class Rows>
  using Known = std::map<std::pair<const void*, const void*>, std::weak_ptr<const Rows>>;

  std::mutex mutex_;
  std::shared_ptr<const void> last_;
  std::tuple<Known<TableRows>, Known<NgramRows>, Known<TruncatedRows>> known_;
};

}  // namespace speclab
