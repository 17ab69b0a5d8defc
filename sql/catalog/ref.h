#pragma once

#include <cstdint>
#include <utility>

namespace pinwheel::sql {

/// Base of objects that several sessions of one process share through Ref. The count is not atomic: a process
/// has one thread.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

 private:
  template <class T>
  friend class Ref;
  mutable std::uint32_t references_ = 0;
};

/// Shared ownership of an immutable RefCounted object; may be null.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(const T* object) noexcept : object_{object} {
    if (object_ != nullptr) ++object_->references_;
  }
  Ref(const Ref& other) noexcept : Ref{other.object_} {}
  Ref(Ref&& other) noexcept : object_{std::exchange(other.object_, nullptr)} {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr && --object_->references_ == 0) delete object_;
  }

  const T* get() const noexcept { return object_; }
  const T* operator->() const noexcept { return object_; }
  const T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  const T* object_ = nullptr;
};

}  // namespace pinwheel::sql
