// The base of classes with virtual functions.
#pragma once

namespace speclab {

/// An object that is used through a pointer to a base, and so is destroyed through it and never copied.
class Polymorphic {
 public:
  Polymorphic() = default;
  Polymorphic(const Polymorphic&) = delete;
  Polymorphic& operator=(const Polymorphic&) = delete;
  virtual ~Polymorphic() = default;
};

}  // namespace speclab
