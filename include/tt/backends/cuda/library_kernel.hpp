// A kernel that is a product (of matrices, or of weights and windows), computed by a library together with its epilogue, if that is a
// bias, relu, both or nothing. For other epilogues or layouts of the result, the library's sums go to work memory, and a second launch
// computes the kernel's epilogue. Own tiles compute kernels that a library cannot, and calls whose operands lack the alignment for which
// the library's algorithm was chosen.
#pragma once
#include "tt/backends/cuda/device.hpp"
#include "tt/backends/cuda/library_settings.hpp"
#include "tt/plan/plan.hpp"

namespace tt::cuda {

/// The kinds of kernels that libraries compute; an index of Program's counters.
enum class LibraryWork : unsigned char { product, convolution };

class LibraryKernel {
 public:
  static constexpr int alignment = 16;  ///< in bytes, required of every operand
  explicit LibraryKernel(LibraryWork w) : work_(w) {}
  LibraryKernel(const LibraryKernel&) = delete;
  virtual ~LibraryKernel() = default;
  LibraryWork work() const { return work_; }
  /// Must the epilogue be launched afterwards, on sums at the begin of the work memory?
  bool leaves_sums() const { return sums_ > 0; }
  /// Bytes of work memory.
  std::size_t memory() const { return sums_ + workspace(); }
  /// `operand`: the addresses of the kernel's operands. False if they are not aligned: nothing was computed.
  bool run(Device& device, const std::uint64_t* operand, DevicePointer memory) const { return compute(device, operand, memory, memory + sums_); }

 protected:
  /// Makes the result so many elements in the work memory.
  void leave_sums(std::int64_t elements, DType d) { sums_ = (static_cast<std::size_t>(elements * size_of(d)) + 255) / 256 * 256; }

 private:
  LibraryWork work_;
  std::size_t sums_ = 0;
  virtual std::size_t workspace() const = 0;
  virtual bool compute(Device& device, const std::uint64_t* operand, DevicePointer sums, DevicePointer workspace) const = 0;
};

namespace detail {

/// The position of a matrix, image or bias among a kernel's operands.
struct OperandPlace {
  int operand = -1;
  std::int64_t offset = 0;  ///< elements
  std::uint64_t address(const std::uint64_t* operands, DType d, std::uint64_t otherwise = 0) const {
    return operand < 0 ? otherwise : operands[operand] + static_cast<std::uint64_t>(offset * size_of(d));
  }
};
inline void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }
/// Libraries count elements in ints.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 31;
/// The scale factors that libraries multiply by: 1 and 0 of a dtype.
inline const void* one_of(DType d) {
  static constexpr double f64 = 1;
  static constexpr float f32 = 1;
  return d == DType::f64 ? static_cast<const void*>(&f64) : &f32;
}
inline const void* zero_of(DType d) {
  static constexpr double f64 = 0;
  static constexpr float f32 = 0;
  return d == DType::f64 ? static_cast<const void*>(&f64) : &f32;
}

/// Recognises the function of a product's epilogue by following the values of its registers.
class EpilogueReader {
 public:
  /// `is_bias(access)`: does a load read a bias that the library can add?
  template <class AnyPlan, class IsBias>
  constexpr EpilogueReader(const AnyPlan& plan, const Kernel& k, const IsBias& is_bias) {
    for (int i = k.segment[0]; i < k.segment[2]; ++i) {
      const Instruction& x = plan.instructions[i];
      if (x.op == Op::store) {
        ++stores_;
        stored_as_ = of(x.dtype, x.a);
        store = x.access;
        continue;
      }
      if (x.result < 0) continue;
      const bool loads_bias = x.op == Op::load && x.dtype == k.dtype && (bias < 0 || bias == x.access) && is_bias(plan.accesses[x.access]);
      if (loads_bias) bias = x.access;
      set(x.dtype, x.result, loads_bias ? a_bias : value_of(x));
    }
    if (bias < 0 || store < 0) return;
    const auto memory = [&](int access) { return plan.bindings[k.first_binding + plan.accesses[access].buffer]; };
    const int from = memory(bias), to = memory(store);  // a library may write the result before it reads the bias
    if (from == to || (plan.buffers[from].external >= 0 && plan.buffers[from].external == plan.buffers[to].external)) stored_as_ = other;
  }
  int store = -1, bias = -1;  ///< accesses
  /// Does it store the sum, with a bias, relu, both or neither?
  constexpr bool is_known() const { return stores_ == 1 && (stored_as_ == sum || adds_bias() || applies_relu()); }
  constexpr bool adds_bias() const { return stored_as_ == biased || stored_as_ == biased_relu; }
  constexpr bool applies_relu() const { return stored_as_ == relu || stored_as_ == biased_relu; }

 private:
  enum Value : char { other, zero, sum, a_bias, biased, sum_not_above, biased_not_above, relu, biased_relu };
  struct Register {
    DType dtype;
    int number;
    Value value;
  };
  int stores_ = 0;
  Value stored_as_ = other;
  Vec<Register> known_;
  constexpr Value of(DType d, int number) const {
    for (const Register& r : known_)
      if (r.dtype == d && r.number == number) return r.value;
    return other;
  }
  constexpr void set(DType d, int number, Value v) {
    for (Register& r : known_)
      if (r.dtype == d && r.number == number) {
        r.value = v;
        return;
      }
    known_.push_back({d, number, v});
  }
  constexpr Value value_of(const Instruction& x) const {
    switch (x.op) {
      case Op::constant: return x.bits == 0 ? zero : other;
      case Op::accumulator: return sum;
      case Op::add: {
        const Value l = of(x.dtype, x.a), r = of(x.dtype, x.b);
        return (l == sum && r == a_bias) || (l == a_bias && r == sum) ? biased : other;
      }
      case Op::le:  // relu is where(x <= 0, 0, x)
        if (of(x.from, x.b) != zero) return other;
        return of(x.from, x.a) == sum ? sum_not_above : of(x.from, x.a) == biased ? biased_not_above : other;
      case Op::where: {
        if (of(x.dtype, x.b) != zero) return other;
        const Value mask = of(DType::boolean, x.a), otherwise = of(x.dtype, x.c);
        return mask == sum_not_above && otherwise == sum ? relu : mask == biased_not_above && otherwise == biased ? biased_relu : other;
      }
      default: return other;
    }
  }
};

/// Why a library does not compute the described operation; empty if it may. Opens the library if needed.
template <class Library, class Description, class Settings>
Text why_own_tiles(const Description& p, const Settings& settings) {
  if (p.refused) return Text(p.refused);
  if (p.multiply_adds() < static_cast<double>(settings.smallest)) return Text("fewer multiply-adds than ") << settings.smallest;
  return Library::get().why_not();
}

/// May an operand be passed by value (see launch_list.hpp)? A library only reads device memory.
template <class AnyPlan>
constexpr bool is_single(const AnyPlan& plan, const Kernel& k, int operand) {
  return operand >= 0 && plan.buffers[plan.bindings[k.first_binding + operand]].size == Extent(1);
}

}  // namespace detail
}  // namespace tt::cuda
