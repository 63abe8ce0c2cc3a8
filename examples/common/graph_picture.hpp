// A graph as a picture: its text for Graphviz, and an SVG where `dot` is installed. By hand:
//   dot -Tsvg digits_out/graph.dot >digits_out/graph.svg
#pragma once
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <tt/graph/print.hpp>

namespace examples {

/// Writes folder/name.dot and folder/name.svg; false where `dot` is missing or fails, and no SVG is left then.
inline bool draw_graph(const std::filesystem::path& folder, const std::string& name, const tt::Graph& graph) {
  const std::string text = (folder / (name + ".dot")).string(), picture = (folder / (name + ".svg")).string();
  std::ofstream out(text, std::ios::binary);
  out << tt::to_dot(graph).c_str();
  out.close();
  if (!out) throw std::runtime_error(text + ": cannot be written");

  std::string words[] = {"dot", "-Tsvg", "-o", picture, text};
  char* arguments[6] = {};
  for (int k = 0; k < 5; ++k) arguments[k] = words[k].data();
  pid_t process = 0;
  int status = -1;
  const bool drawn = posix_spawnp(&process, "dot", nullptr, nullptr, arguments, environ) == 0 &&
                     waitpid(process, &status, 0) == process && status == 0;
  if (!drawn) std::filesystem::remove(picture);
  return drawn;
}

}  // namespace examples
