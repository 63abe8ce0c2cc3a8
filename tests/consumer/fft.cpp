#include <tt/tt.hpp>

#include <tt/dispatch/fft.hpp>

int main() { return tt::fft::rfft(tt::ones({8})).numel() == 10 ? 0 : 1; }
