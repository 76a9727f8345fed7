// The rows of pairs of models, which do not depend on the rule, for several rules at once.
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

/// Rows are made by the first that asks for them and shared by those that ask while somebody has them. Those
/// made last are kept, so that pairs of the same models need not be alive at one time. The models outlive
/// them.
class SharedRows {
 public:
  /// Of two tables, two n-gram models, or two of these through sampling options. Throws ModelError as
  /// FastPair does.
  template <class Rows, class ModelOfKind>
  std::shared_ptr<const Rows> get(const ModelOfKind& target, const ModelOfKind& draft) {
    const std::scoped_lock lock(mutex_);
    auto& known = std::get<Known<Rows>>(known_)[{&target, &draft}];
    std::shared_ptr<const Rows> rows = known.lock();
    if (!rows) {
      last_.reset();  // before others take memory, too
      known = rows = std::make_shared<const Rows>(target, draft);
    }
    last_ = rows;
    return rows;
  }
  /// Drops what nobody has.
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
