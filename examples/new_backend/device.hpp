// The simulated NPU as a device of the library's: its memory and queue behind a DeviceApi, five ops of its own, programs for every other
// graph that it can take, and the CPU for the rest.
//   const tt::Device npu = npu::attach();   tt::Tensor y = x.to(npu) + 1;   y.cpu();
#pragma once
#include <algorithm>
#include <array>
#include <tt/dispatch/device_fallback.hpp>

#include "assembler.hpp"
#include "queue.hpp"
#include "units.hpp"

namespace npu {

/// What the chip did.
struct Counts {
  std::atomic<std::int64_t> native = 0;     ///< calls of its five ops
  std::atomic<std::int64_t> programs = 0;   ///< graphs assembled, once for each of their sizes
  std::atomic<std::int64_t> refused = 0;    ///< graphs that are not for it
  std::atomic<std::int64_t> runs = 0;       ///< of assembled programs
  std::atomic<std::int64_t> kernels = 0;    ///< run in these
};

// [chip]
struct Chip {
  Arena arena{std::size_t{64} << 20};
  Queue queue;
  Counts counts;
  std::mutex busy;              ///< of what follows
  std::string longest_listing;  ///< of the longest kernel assembled so far
  std::size_t longest = 0;
  static Chip& get() {
    static Chip* const chip = new Chip;  // Tensors with static storage may end after everything else
    return *chip;
  }
};
/// The stream that this thread submits to.
inline thread_local int stream = 0;
class StreamGuard {
 public:
  explicit StreamGuard(int s) : before_(std::exchange(stream, s)) {}
  StreamGuard(const StreamGuard&) = delete;
  ~StreamGuard() { stream = before_; }

 private:
  int before_;
};
// [/chip]

// [memory]
inline void check_index(int index) {
  if (index != 0) throw tt::Error(tt::Text("npu: there is no chip ") << index << ": there is one.");
}
inline void* allocate(int index, std::size_t bytes) {
  check_index(index);
  Chip& chip = Chip::get();
  if (void* p = chip.arena.allocate(bytes, stream)) return p;
  chip.queue.synchronize();  // blocks come back when the commands before them have run
  if (void* p = chip.arena.allocate(bytes, stream)) return p;
  throw tt::Error(tt::Text("npu: not enough memory: ") << static_cast<std::int64_t>(bytes) << " bytes asked for, "
                  << chip.arena.stats().allocated << " of " << chip.arena.stats().reserved << " in use.");
}
/// In the order of the stream that it was allocated for: what was submitted there may still use the block.
inline void free(int, void* p, std::size_t bytes) noexcept {
  Chip& chip = Chip::get();
  chip.queue.submit(chip.arena.stream_of(p), [p, bytes] { Chip::get().arena.free(p, bytes); });
}
// [/memory]
// [copy]
inline void copy(void* to, tt::Device to_device, const void* from, tt::Device from_device, std::size_t bytes, bool) {
  Chip& chip = Chip::get();
  CopyCounts& copies = chip.arena.copies;
  const auto size = static_cast<std::int64_t>(bytes);
  if (from_device.type == tt::DeviceType::cpu) {  // what leaves the host has left when this returns
    const auto* begin = static_cast<const std::byte*>(from);
    copies.to_device += 1, copies.bytes_in += size;
    chip.queue.submit(stream, [to, elements = std::vector<std::byte>(begin, begin + bytes)] {
      std::copy(elements.begin(), elements.end(), Chip::get().arena.inside(to));
    });
  } else if (to_device.type == tt::DeviceType::cpu) {
    copies.from_device += 1, copies.bytes_out += size;
    chip.queue.submit(stream, [=] { std::copy_n(Chip::get().arena.inside(from), bytes, static_cast<std::byte*>(to)); });
    chip.queue.synchronize(stream);
  } else {
    copies.inside += 1;
    chip.queue.submit(stream, [=] { std::copy_n(Chip::get().arena.inside(from), bytes, Chip::get().arena.inside(to)); });
  }
}
inline constexpr tt::DeviceApi api{
    .count = [] { return 1; },
    .allocate = &allocate,
    .free = &free,
    .copy = &copy,
    .synchronize = [](int) { Chip::get().queue.synchronize(); },
    .stream = [](int) { return reinterpret_cast<void*>(static_cast<std::intptr_t>(stream)); },
    .stats = [](int) { return Chip::get().arena.stats(); },
};
// [/copy]

// [program]
/// What the library runs instead of the CPU's program of a graph.
class Program {
 public:
  Program(tt::Graph g, const char* name) : graph_(std::move(g)), name_(name) {
    for (int k = 0; k < graph_.inputs.size(); ++k) may_be_on_host_.set(k);
  }
  void run(int, const tt::ProgramArguments& arguments, const tt::SymbolValues& sizes) {
    const std::shared_ptr<const Assembly> code = assembly(sizes);
    std::vector<void*> operands(arguments.external, arguments.external + externals());
    const std::size_t room = code->scratch_bytes + sizeof(std::uint64_t) * operands.size();
    auto* const scratch = static_cast<std::byte*>(allocate(0, room));
    std::vector<Number> numbers;  // single elements that lie in host memory travel with the command
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (!arguments.is_on_host(static_cast<int>(k))) continue;
      Number n{scratch + code->scratch_bytes + sizeof(std::uint64_t) * k, {}, bytes_of(k)};
      std::copy_n(static_cast<const std::byte*>(operands[k]), n.count, n.bytes);
      operands[k] = n.to;
      numbers.push_back(n);
    }
    for (const std::size_t at : code->scratch) operands.push_back(scratch + at);
    Chip::get().queue.submit(stream, [code, operands, numbers] {
      for (const Number& n : numbers) std::copy_n(n.bytes, n.count, Chip::get().arena.inside(n.to));
      for (const Kernel& k : code->kernels) Units(Chip::get().arena, operands).run(k);
    });
    free(0, scratch, room);
    ++Chip::get().counts.runs;
    Chip::get().counts.kernels += static_cast<std::int64_t>(code->kernels.size());
    ++runs_;
  }
  const tt::BitSet& may_be_on_host() const { return may_be_on_host_; }
  tt::Text report() const {
    return tt::Text("npu: ") << name_.c_str() << " ran " << runs_.load() << (runs_.load() == 1 ? " time" : " times");
  }
  // [/program]

 private:
  struct Number {
    void* to;
    std::byte bytes[8];
    std::size_t count;
  };
  tt::Graph graph_;
  std::string name_;
  tt::BitSet may_be_on_host_;
  std::atomic<std::int64_t> runs_ = 0;
  std::mutex busy_;
  std::vector<std::pair<tt::SymbolValues, std::shared_ptr<const Assembly>>> known_;

  std::size_t bytes_of(std::size_t input) const { return static_cast<std::size_t>(tt::size_of(graph_[graph_.inputs[static_cast<int>(input)]].dtype)); }
  std::ptrdiff_t externals() const {
    std::ptrdiff_t n = graph_.inputs.size();
    for (const int into : graph_.donated) n += into < 0;
    return n;
  }
  std::shared_ptr<const Assembly> assembly(const tt::SymbolValues& sizes) {
    const std::lock_guard lock(busy_);
    for (const auto& [of, code] : known_)
      if (of == sizes) return code;
    auto fresh = std::make_shared<const Assembly>(Assembler(graph_, sizes).assemble());
    Chip& chip = Chip::get();
    ++chip.counts.programs;
    const std::lock_guard of_chip(chip.busy);
    for (const Kernel& k : fresh->kernels)
      if (k.code.size() > chip.longest) chip.longest = k.code.size(), chip.longest_listing = listing(k);
    if (known_.size() == 16) known_.erase(known_.begin());
    known_.emplace_back(sizes, fresh);
    return fresh;
  }
};

// [maker]
inline tt::DeviceProgram* make_program(const tt::Graph& graph, const char* name, const tt::ProgramOptions&) {
  tt::Graph g = written_out(graph);
  if (Assembler::accepts(g)) return new tt::DeviceProgram(new Program(std::move(g), name));
  ++Chip::get().counts.refused;
  return nullptr;
}
// [/maker]

// [native]
/// Dense f32 of one shape on the chip; what else a call may hold is for programs.
inline bool is_plain(const tt::Call& c) {
  for (int k = 0; k < c.arguments; ++k)
    if (c[k].dtype() != tt::DType::f32 || !c[k].is_contiguous() || !(c[k].device() == c[0].device()) || !(c[k].impl().shape == c[0].impl().shape))
      return false;
  return true;
}
inline void submit(Kernel kernel, std::vector<void*> operands) {
  ++Chip::get().counts.native;
  Chip::get().queue.submit(stream, [k = std::move(kernel), o = std::move(operands)] { Units(Chip::get().arena, o).run(k); });
}
inline Sizes shape_of(const tt::Tensor& t) {
  Sizes s;
  for (int k = 0; k < t.dim(); ++k) s.push_back(t.size(k));
  return s;
}
/// add, sub, mul and relu: a program of instructions, written by hand.
inline void elementwise_kernel(tt::Call& c, void* context) {
  if (!is_plain(c)) return tt::run_without_kernel(c);
  const auto& code = *static_cast<const std::vector<Instruction>*>(context);
  c.result[0] = tt::Tensor(tt::DType::f32, c[0].impl().shape, c[0].device());
  Kernel k{.grid = shape_of(c[0]), .code = code, .registers = static_cast<int>(code.size()), .result = code.back().to, .to = c.arguments};
  std::vector<void*> operands;
  for (int i = 0; i < c.arguments; ++i) {
    k.places.push_back({.operand = i, .dense = true});
    operands.push_back(c[i].impl().data);
  }
  operands.push_back(c.result[0].impl().data);
  submit(std::move(k), std::move(operands));
}
// [/native]
inline void matmul_kernel(tt::Call& c, void*) {
  const auto fits = [&](const tt::Tensor& t) { return t.dtype() == tt::DType::f32 && t.dim() == 2 && t.is_contiguous() && t.device() == c[0].device(); };
  if (!fits(c[0]) || !fits(c[1]) || !(c[0].impl().shape[1] == c[1].impl().shape[0])) return tt::run_without_kernel(c);
  const Sizes a = shape_of(c[0]), b = shape_of(c[1]);
  c.result[0] = tt::Tensor(tt::DType::f32, {c[0].impl().shape[0], c[1].impl().shape[1]}, c[0].device());
  Kernel k{.kind = Kernel::product, .grid = {a[0], b[1]}, .to = 2, .a_shape = a, .b_shape = b};
  k.places = {{.operand = 0, .shape = a, .strides = {a[1], 1}}, {.operand = 1, .shape = b, .strides = {b[1], 1}}};
  submit(std::move(k), {c[0].impl().data, c[1].impl().data, c.result[0].impl().data});
}
// [attach]
inline tt::Device attach() {
  const tt::Device npu = tt::register_device("npu", &api);
  tt::set_graph_program_maker(npu.type, &make_program);
  tt::set_cpu_fallback(npu);
  tt::register_all_ops();
  static const auto binary = [](Code code) {
    return std::vector<Instruction>{{.code = Code::load, .to = 0, .bits = 0}, {.code = Code::load, .to = 1, .bits = 1}, {.code = code, .to = 2, .a = 0, .b = 1}};
  };
  static std::vector<Instruction> add = binary(Code::add), sub = binary(Code::sub), mul = binary(Code::mul);
  static std::vector<Instruction> relu = {{.code = Code::load, .to = 0},
                                          {.code = Code::immediate, .to = 1},
                                          {.code = Code::less_equal, .to_type = tt::DType::boolean, .to = 2, .a = 0, .b = 1},
                                          {.code = Code::select, .to = 3, .a = 2, .b = 1, .c = 0}};
  tt::Dispatcher& all = tt::Dispatcher::get();
  all.find("add").set_kernel(tt::backend_key(npu), &elementwise_kernel, &add);
  all.find("sub").set_kernel(tt::backend_key(npu), &elementwise_kernel, &sub);
  all.find("mul").set_kernel(tt::backend_key(npu), &elementwise_kernel, &mul);
  all.find("relu").set_kernel(tt::backend_key(npu), &elementwise_kernel, &relu);
  all.find("matmul").set_kernel(tt::backend_key(npu), &matmul_kernel);
  return npu;
}
// [/attach]

}  // namespace npu
