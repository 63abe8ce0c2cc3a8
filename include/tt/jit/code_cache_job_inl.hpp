// Definitions of jit/code_cache_inl.hpp: how a program becomes jobs, and the key of each.
#pragma once
#include "tt/jit/code_cache_inl.hpp"

namespace tt {

/// Equal kernels have one text.
inline int CodeCache::Job::instructions_of(const Plan& plan, int kernel) {
  const Kernel& k = plan.kernels[kernel];
  return k.code == kernel ? k.segment[2 * k.sweeps + 1] - k.segment[0] : 0;
}

inline Vec<std::shared_ptr<CodeCache::Job>> CodeCache::Job::all_of(Target program, const char* name, const TierOptions& options) {
  const Plan& plan = *program.plan;
  const auto target = std::make_shared<const Target>(static_cast<Target&&>(program));
  Vec<std::shared_ptr<Job>> all;
  for (int next = 0; next < plan.kernels.size();) {
    const auto job = std::make_shared<Job>();
    job->target = target;
    job->part = all.size();
    job->first = next;
    while (next < plan.kernels.size()) {
      const int further = instructions_of(plan, next);
      // No job has only kernels without a text of their own: there would be nothing to compile.
      if (job->instructions > 0 && further > 0 && job->instructions + further > most_instructions_in_one_text) break;
      job->instructions += further;
      job->last = ++next;
    }
    job->name = identifier(name);
    job->folder = options.cache_dir ? Text(options.cache_dir) : DiskCache::default_folder();
    job->milliseconds = options.compiler_milliseconds > 0 ? options.compiler_milliseconds : backend::compiler_milliseconds;
    all.push_back(job);
  }
  return all;
}

/// Emits its text, of which the key is made, once.
inline void CodeCache::Job::identify() {
  if (!compiler_identity.empty()) return;
  compiler_identity = compiler.identity();
  key = key_of(emit_c(Vec<NamedPlan>{kernels()}, target->has_fma), compiler_identity);
  const Text hex = key.hex();
  name << '_';
  for (int k = 0; k < 16; ++k) name << hex[k];
}

inline Text CodeCache::Job::identifier(const char* name) {
  Text t;
  for (const char* c = name; *c; ++c) {
    const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
    if (t.empty() && !letter) t << '_';
    t << (letter || (*c >= '0' && *c <= '9') ? *c : '_');
  }
  return t << (t.empty() ? "kernel" : "");
}

/// Lines of comments are left out: they say which line a kernel comes from.
inline ContentHash CodeCache::Job::key_of(const Text& text, const Text& compiler) {
  static const Text& features = *new const Text(backend::cpu_features());  // threads may ask while the process ends
  Text t;
  t << "version " << DiskCache::version << '\n' << features << '\n' << compiler << '\n';
  for (const char* line = text.begin(); line < text.end();) {
    const char* end = line;
    while (end < text.end() && *end != '\n') ++end;
    if (end - line < 2 || line[0] != '/' || line[1] != '*') t.append(line, static_cast<int>(end - line));
    t << '\n';
    line = end + 1;
  }
  return ContentHash::of(t);
}

}  // namespace tt
