// Node ranges, and value ranges, of branch and loop bodies during recording; nodes after a body may not read them, as the body may not have
// run, or have run many times.
//   regions.open(capture, nodes, values);   ...   regions.close(values, true);   regions.take(1)[0].begin
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "tt/core/vec.hpp"

namespace tt {
namespace jit {

class BodyRegions {
 public:
  struct Region {
    std::uint64_t capture = 0;             ///< number that marks the Tensors made in it
    int begin = 0, first = 0;              ///< nodes from `begin` on, values from `first` on
    Vec<int> inputs = {}, outputs = {};    ///< nodes
  };

  void open(std::uint64_t capture, int begin, int first) { open_.push_back({capture, begin, first}); }
  bool any_open() const { return !open_.empty(); }
  Region& current() { return open_.back(); }
  const Region& current() const { return open_.back(); }
  bool is_open(std::uint64_t capture) const {
    bool any = false;
    for (const Region& r : open_) any = any || r.capture == capture;
    return any;
  }
  /// `end`: one past its last value. `keep`: take() will ask for it.
  void close(int end, bool keep) {
    const int first = open_.back().first;
    while (!left_.empty() && left_.back().first >= first) left_.pop_back();  // nested bodies
    left_.push_back({first, end});
    over_.push_back(open_.back().capture);
    if (keep) closed_.push_back(std::move(open_.back()));
    open_.pop_back();
  }
  /// The bodies recorded last.
  std::vector<Region> take(int count) {
    std::vector<Region> last(closed_.end() - count, closed_.end());
    closed_.erase(closed_.end() - count, closed_.end());  // resize() may grow, of which g++ 12 warns at -O3
    return last;
  }
  bool any_left() const { return !left_.empty(); }
  /// Was this value made in a body that is closed?
  bool is_left(int value) const {
    std::size_t first = 0, end = left_.size();  // finds the last range that begins no later
    while (first < end) {
      const std::size_t middle = (first + end) / 2;
      if (left_[middle].first <= value) first = middle + 1;
      else end = middle;
    }
    return first > 0 && value < left_[first - 1].second;
  }
  /// Is the body closed that was recorded under this number?
  bool is_over(std::uint64_t capture) const {
    bool over = false;
    for (const std::uint64_t c : over_) over = over || (capture && c == capture);
    return over;
  }

 private:
  std::vector<Region> open_, closed_;
  std::vector<std::pair<int, int>> left_;  ///< values of closed bodies, in order
  std::vector<std::uint64_t> over_;
};

}  // namespace jit
}  // namespace tt
