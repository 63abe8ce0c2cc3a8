// Fused functions on a device, in .cu files: the same source text as tt::fuse, whose kernels nvcc compiles with the program. Arrays on the device are values:
// a copy copies, on the device.
//   tt::cuda::Array<float, 64, 10> w = tt::cuda::to_device(w_on_host);
//   auto step = tt::cuda::fuse([](auto& w, auto x) { w -= 0.1f * x; return tt::sum(w * w); });
//   tt::Array<float> loss = step(w, x).to_host();
// Flags: nvcc -std=c++20 --expt-relaxed-constexpr --fmad=false; with them the bits are the CPU's.
#pragma once
#include "tt/backends/static_device.hpp"
#include "tt/expr/fuse.hpp"

namespace tt::cuda {

/// An Array whose elements are in the memory of a device: contiguous, row-major. Extents are those of the type or, for tt::dyn, those of the Array it was made
/// from.
template <Element T, std::int64_t... E>
class Array {
 public:
  using value_type = T;
  using Host = tt::Array<T, E...>;
  using Extents = typename Host::Extents;
  static constexpr int rank = Host::rank;
  static constexpr DType dtype = dtype_of<T>;
  static constexpr bool is_static = Host::is_static;

  /// Zeros on device 0; for static extents only.
  Array() requires(is_static) : Array(Host()) {}
  /// Copies the elements to the device; waits until the host's memory has been read, not for the device.
  explicit Array(const Host& host) {
    std::int64_t shape[rank > 0 ? rank : 1] = {};
    for (int k = 0; k < rank; ++k) shape[k] = host.extent(k);
    allocate(shape);
    if (size_ > 0) device_->check(device_->driver().to_device(memory_, host.data(), bytes(), device_->stream()), "cuMemcpyHtoD");
  }
  /// Elements are not initialised.
  Array(Uninitialized, const std::int64_t* shape) { allocate(shape); }
  Array(const Array& o) {
    allocate(o.shape_);
    if (size_ > 0) device_->check(device_->driver().copy(memory_, o.memory_, bytes(), device_->stream()), "cuMemcpyDtoD");
  }
  Array(Array&& o) noexcept { swap(o); }
  Array& operator=(Array o) noexcept {
    swap(o);
    return *this;
  }
  ~Array() {
    if (memory_) device_->free(memory_, bytes());
  }
  void swap(Array& o) noexcept {
    std::swap(device_, o.device_);
    std::swap(memory_, o.memory_);
    std::swap(size_, o.size_);
    std::swap(shape_, o.shape_);
  }

  /// The elements on the host; waits for the device.
  Host to_host() const {
    Host host = [&] {
      if constexpr (is_static) return Host();
      else return Host(Uninitialized{}, shape_);
    }();
    if (size_ > 0) {
      device_->activate();
      device_->check(device_->driver().to_host(host.data(), memory_, bytes(), device_->stream()), "cuMemcpyDtoH");
      device_->check(device_->driver().synchronize_stream(device_->stream()), "cuStreamSynchronize");
    }
    return host;
  }
  /// A device pointer, for kernels.
  T* data() { return reinterpret_cast<T*>(memory_); }
  const T* data() const { return reinterpret_cast<const T*>(memory_); }
  std::int64_t size() const { return size_; }
  std::int64_t extent(int k) const { return shape_[k]; }
  Device& device() const { return *device_; }

 private:
  Device* device_ = nullptr;
  DevicePointer memory_ = 0;
  std::int64_t size_ = 0, shape_[rank > 0 ? rank : 1] = {};

  std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }
  void allocate(const std::int64_t* shape) {
    device_ = &Device::get(0);
    size_ = 1;
    for (int k = 0; k < rank; ++k) size_ *= shape_[k] = shape[k];
    memory_ = device_->allocate(bytes() > 0 ? bytes() : 1);
  }
};
template <class T, std::int64_t... E>
Array<T, E...> to_device(const tt::Array<T, E...>& a) {
  return Array<T, E...>(a);
}

/// Kind of parameter structs whose members are Arrays on a device.
struct arrays {
  template <class T, std::int64_t... E>
  using type = Array<T, E...>;
};
template <ParameterStruct S>
rebind_kind<arrays, S> to_device(const S& host) {
  rebind_kind<arrays, S> on_device;
  for_each_member([](auto& d, const auto& h) { d = to_device(h); }, on_device, host);
  return on_device;
}
template <ParameterStruct S>
rebind_kind<tt::arrays, S> to_host(const S& on_device) {
  rebind_kind<tt::arrays, S> host;
  for_each_member([](auto& h, const auto& d) { h = d.to_host(); }, host, on_device);
  return host;
}

template <class F>
struct Fused;
template <class F>
constexpr Fused<F> fuse(F);

}  // namespace tt::cuda

namespace tt::detail {

template <class T, std::int64_t... E>
struct Argument<cuda::Array<T, E...>> : Argument<Array<T, E...>> {};

/// Makes the result of a function on a device.
template <class P, int First, class R>
struct DeviceResult;
template <class P, int First>
struct DeviceResult<P, First, Sym> {
  template <class A>
  struct OnDevice;
  template <class T, std::int64_t... E>
  struct OnDevice<Array<T, E...>> {
    using type = cuda::Array<T, E...>;
  };
  using Type = typename OnDevice<typename ResultMaker<P, First, Sym>::Type>::type;
  static constexpr int count = 1;
  static Type make(const SymbolValues& symbols) {
    constexpr Shape s = interface_of<P>.output[First].shape;
    std::int64_t shape[max_rank] = {};
    for (int k = 0; k < s.rank; ++k) shape[k] = s[k].value(symbols);
    return Type(Uninitialized{}, shape);
  }
};
template <class P, int First, class... R>
struct DeviceResult<P, First, std::tuple<R...>> {
  static constexpr int count = (0 + ... + DeviceResult<P, 0, R>::count);
  static auto make(const SymbolValues& s) { return all(s, std::index_sequence_for<R...>{}); }
  template <std::size_t... I>
  static auto all(const SymbolValues& s, std::index_sequence<I...>) {
    return std::make_tuple(DeviceResult<P, First + sum_before<DeviceResult<P, 0, R>::count...>(I), R>::make(s)...);
  }
};
template <class P, int First, class A, class B>
struct DeviceResult<P, First, std::pair<A, B>> : DeviceResult<P, First, std::tuple<A, B>> {};

/// Device addresses of a call's arguments and results; scalars are copied to the device.
template <int Externals, int Numbers>
struct DeviceBindings {
  void* external[Externals > 0 ? Externals : 1];
  std::size_t bytes[Externals > 0 ? Externals : 1];
  std::int64_t extent[max_symbols] = {};
  int count = 0, dynamic = 0, number = 0;
  cuda::DeviceMemory numbers{cuda::Device::get(0), 8 * Numbers};

  template <class A>
  void add(const A& a) {
    if constexpr (std::is_arithmetic_v<A>) {
      cuda::Device& d = cuda::Device::get(0);
      const cuda::DevicePointer at = numbers.begin() + static_cast<unsigned>(8 * number++);
      d.check(d.driver().to_device(at, &a, sizeof a, d.stream()), "cuMemcpyHtoD");
      bytes[count] = sizeof a;
      external[count++] = reinterpret_cast<void*>(at);
    } else if constexpr (requires { typename A::Host; }) {
      bytes[count] = static_cast<std::size_t>(a.size()) * sizeof(typename A::value_type);
      external[count++] = const_cast<void*>(static_cast<const void*>(a.data()));
      for (int k = 0; k < A::rank; ++k)
        if (A::Extents::value[k] == dyn) extent[dynamic++] = a.extent(k);
    } else if constexpr (ParameterStruct<A>) {
      for_each_member([&](const auto& leaf) { add(leaf); }, a);
    } else {
      std::apply([&](const auto&... x) { (add(x), ...); }, a);
    }
  }
};
struct DeviceCopies {
  static void* make(const void* from, std::size_t bytes) {
    cuda::Device& d = cuda::Device::get(0);
    const cuda::DevicePointer to = d.allocate(bytes);
    d.check(d.driver().copy(to, reinterpret_cast<std::uintptr_t>(from), bytes, d.stream()), "cuMemcpyDtoD");
    return reinterpret_cast<void*>(to);
  }
  static void release(void* p, std::size_t bytes) { cuda::Device::get(0).free(reinterpret_cast<std::uintptr_t>(p), bytes); }
};

/// A model whose plan is for a device: threads read transposed operands with strides, without a materialised copy.
template <class Model>
struct DeviceModel : Model {
  static constexpr Transposed transposed = Transposed::as_it_lies;
};

}  // namespace tt::detail

namespace tt::cuda {

template <class F>
struct Fused {
  template <class... A>
  using ProgramFor =
      tt::detail::DeviceModel<tt::detail::Program<tt::detail::FunctionModel<F, tt::detail::Argument<std::remove_cvref_t<A>>...>>>;

  /// Arguments are Arrays on the device, numbers, and parameter structs of kind cuda::arrays. Returns at once; the results are complete when the device's
  /// stream has come so far.
  template <class... A>
  auto operator()(A&&... a) const {
    using P = ProgramFor<A...>;
    using H = Compiled<P>;
    if constexpr (tt::detail::no_mistake<H>()) {
      constexpr bool updates_only_variables = tt::detail::updates_are_possible<P, A...>();
      static_assert(updates_only_variables,
                    "tt: the function updates a parameter in place, but this argument is const or "
                    "temporary");
      using Returned = typename tt::detail::FunctionModel<F, tt::detail::Argument<std::remove_cvref_t<A>>...>::Result;
      constexpr int inputs = (0 + ... + tt::detail::leaf_count<std::remove_cvref_t<A>>());
      constexpr int dynamic = (0 + ... + tt::detail::dynamic_count<std::remove_cvref_t<A>>());
      constexpr int numbers = (0 + ... + static_cast<int>(std::is_arithmetic_v<std::remove_cvref_t<A>>));
      tt::detail::DeviceBindings<H::plan.externals, numbers> b;
      (b.add(a), ...);
      SymbolValues values;
      if constexpr (dynamic > 0) tt::detail::bind_symbols(tt::detail::Symbols<P, dynamic>::rules, b.extent, values);
      const tt::detail::SeparatedInputs<P, inputs, tt::detail::DeviceCopies> separated(b);
      if constexpr (std::is_void_v<Returned>) {
        run_static(plan_codes<H>(), Device::get(0), b.external, values);
      } else {
        auto result = tt::detail::DeviceResult<P, 0, Returned>::make(values);
        b.add(result);
        run_static(plan_codes<H>(), Device::get(0), b.external, values);
        return result;
      }
    }
  }
};

/// A function compiled at compile time, for a device; see the head of this file.
template <class F>
constexpr Fused<F> fuse(F) {
  tt::detail::require_captureless<F>();
  return {};
}

}  // namespace tt::cuda
