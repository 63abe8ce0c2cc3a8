#include <tt/tt.hpp>

#include <tt/io/safetensors.hpp>

int main() {
  try {
    (void)tt::safetensors::load_file("");
  } catch (const tt::Error&) {
    return 0;
  }
  return 1;
}
