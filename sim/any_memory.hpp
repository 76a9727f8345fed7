// Holds, as one type, the per-sequence memory of any drafter or policy.
#pragma once

#include <cassert>
#include <memory>
#include <typeinfo>

namespace speclab {

/// A memory that is empty until its owner first uses it. Copies are independent; assigning a memory to one of
/// the same type reuses its buffers.
class AnyMemory {
 public:
  AnyMemory() = default;
  AnyMemory(const AnyMemory& other) : held_(other.held_ ? other.held_->copy() : nullptr) {}
  AnyMemory(AnyMemory&&) noexcept = default;
  AnyMemory& operator=(const AnyMemory& other) {
    const Base* given = other.held_.get();
    if (held_ && given && held_->type() == given->type()) {
      held_->assign(*given);
    } else {
      held_ = given ? given->copy() : nullptr;
    }
    return *this;
  }
  AnyMemory& operator=(AnyMemory&&) noexcept = default;
  ~AnyMemory() = default;

  /// Returns the memory, which is default-constructed at first use. Every call must name the same type.
  template <class T>
  T& as() {
    if (!held_) held_ = std::make_unique<Held<T>>();
    assert(held_->type() == typeid(T));
    return static_cast<Held<T>&>(*held_).value;
  }

 private:
  struct Base {
    Base() = default;
    Base(const Base&) = default;
    Base& operator=(const Base&) = default;
    virtual ~Base() = default;
    virtual std::unique_ptr<Base> copy() const = 0;
    virtual void assign(const Base& other) = 0;
    virtual const std::type_info& type() const = 0;
  };
  template <class T>
  struct Held final : Base {
    T value{};
    std::unique_ptr<Base> copy() const override { return std::make_unique<Held>(*this); }
    void assign(const Base& other) override { value = static_cast<const Held&>(other).value; }
    const std::type_info& type() const override { return typeid(T); }
  };

  std::unique_ptr<Base> held_;
};

}  // namespace speclab
