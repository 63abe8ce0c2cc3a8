// Saves and loads the parameters of a model, in one file of NumPy's .npz format:
//   tt::save("mlp.npz", mlp);   tt::load("mlp.npz", mlp);
// In Python: numpy.load("mlp.npz")["layers.0.weight"]; tt::load reads files of numpy.savez("mlp.npz", **arrays). Names are those of the
// struct's members (core/reflect.hpp).
#pragma once
#include "tt/core/file_path.hpp"
#include "tt/core/reflect.hpp"
#include "tt/io/npz.hpp"

namespace tt {

/// A parameter struct whose leaves are Arrays.
template <class S>
concept ParametersOfArrays =
    ParameterStruct<S> &&
    std::same_as<typename detail::kind_of<std::remove_cvref_t<S>>::type, arrays>;

/// Writes all parameters; throws tt::Error naming the path when that fails.
template <ParametersOfArrays S>
void save(FilePath path, const S& parameters) {
  detail::NpzWriter out(path);
  named_parameters(parameters, [&](auto name, const auto& a) { out.add(name.c_str(), a); });
  out.finish();
}

/// Reads all parameters. The file must hold exactly these names, dtypes and shapes, in any order; otherwise tt::Error is thrown and
/// `parameters` is unchanged. Needs memory for a second set.
template <ParametersOfArrays S>
void load(FilePath path, S& parameters) {
  const detail::NpzReader in(path);
  Vec<int> used(in.entries().size(), 0);
  S loaded{};
  named_parameters(loaded, [&]<class A>(auto name, A& a) {
    const int k = in.find(name.c_str());
    if (k < 0) in.fail(Text(name.c_str()) << ": is missing; the struct has it, the file has not.");
    used[k] = 1;
    a = in.read<A>(k);
  });
  for (int k = 0; k < used.size(); ++k)
    if (!used[k])
      in.fail(Text(in.entries()[k].name) << ": is not expected; the file has it, the struct has not.");
  parameters = static_cast<S&&>(loaded);
}

}  // namespace tt
