// The picture of a training run: its curve, and a page of test digits with what the network says.
#pragma once
#include <algorithm>
#include <cmath>

#include "csv.hpp"
#include "svg.hpp"

namespace digits {

/// What a run leaves behind.
struct History {
  std::vector<double> step_loss;
  std::vector<double> loss;      ///< of every epoch: the mean over its steps
  std::vector<double> accuracy;  ///< after every epoch, on the test digits, in percent

  int epochs() const { return static_cast<int>(loss.size()); }
};

namespace detail {

inline constexpr double page_width = 1200, margin = 72;
inline constexpr Point plot_from{margin + 48, 208}, plot_to{page_width - margin - 60, 480};
inline constexpr int digit_rows = 6, digit_columns = 12;
inline constexpr double digits_top = 616, cell = 8, image = side * cell, row_pitch = 112;
inline constexpr double page_height = digits_top + digit_rows * row_pitch + 28;

inline constexpr const char* style = R"(
text{font-family:Inter,"Helvetica Neue",Helvetica,Arial,"Liberation Sans",sans-serif}
text{fill:#5d6670;font-size:15px}
.page{fill:#fdfcfa}
.title{font-size:32px;font-weight:700;fill:#1c242c}
.heading{font-size:19px;font-weight:700;fill:#1c242c}
.subtitle{font-size:17px}
.to-the-right{text-anchor:end}.middle{text-anchor:middle}
.grid{stroke:#e6e3dd}.axis{stroke:#a9b0b6}
.loss{fill:#2a5d8f}.accuracy{fill:#c2621b}
.loss-axis{fill:#2a5d8f;text-anchor:end}
.loss-title{fill:#2a5d8f;font-weight:700}
.accuracy-title{fill:#c2621b;font-weight:700;text-anchor:end}
.loss-end,.accuracy-end{font-weight:700;text-anchor:end}
.loss-end,.accuracy-end{stroke:#fdfcfa;stroke-width:5;stroke-linejoin:round;paint-order:stroke}
.loss-end{fill:#2a5d8f}.accuracy-end{fill:#c2621b}
.steps,.loss-line,.accuracy-line{fill:none;stroke-linejoin:round;stroke-linecap:round}
.steps{stroke:#2a5d8f;stroke-opacity:.22}
.loss-line{stroke:#2a5d8f;stroke-width:2.5}.accuracy-line{stroke:#c2621b;stroke-width:2.5}
.paper{fill:#fff;stroke:#dcd9d2}
.paper-wrong{fill:#fff;stroke:#c0272d;stroke-width:2}
.ink{shape-rendering:crispEdges}
.right-answer,.wrong-answer{font-size:19px;font-weight:700;text-anchor:middle}
.right-answer{fill:#2a7a3f}.wrong-answer{fill:#c0272d}
.truth{font-size:13px;fill:#c0272d;text-anchor:middle}
)";

/// A value's place between two others, as 0..1.
inline double part(double value, double from, double to) {
  return std::clamp((value - from) / (to - from), 0.0, 1.0);
}
inline double between(double from, double to, double t) { return from + (to - from) * t; }

/// 1, 3 or 10 times a power of ten that is next to a positive value: below it, or above.
inline double round_to_1_or_3(double value, bool up) {
  double power = std::pow(10.0, std::floor(std::log10(value)));
  const double digit = value / power;
  if (up) return power * (digit <= 1 ? 1 : digit <= 3 ? 3 : 10);
  return power * (digit >= 3 ? 3 : 1);
}

/// Where losses (left axis, logarithmic), accuracies (right axis) and epochs lie.
struct Axes {
  double least_loss, most_loss, least_accuracy, accuracy_step;
  int epochs;

  explicit Axes(const History& h) : epochs(h.epochs()) {
    const auto [least, most] = std::minmax_element(h.step_loss.begin(), h.step_loss.end());
    least_loss = round_to_1_or_3(std::max(*least, 1e-6), false);
    most_loss = round_to_1_or_3(std::max(*most, 2 * least_loss), true);
    const double lowest = *std::min_element(h.accuracy.begin(), h.accuracy.end());
    const int range = lowest < 50 ? 20 : 10;
    least_accuracy = std::min(90.0, std::floor(lowest / range) * range);
    accuracy_step = 100 - least_accuracy <= 20 ? 5 : range;
  }
  double x(double epoch) const { return between(plot_from.x, plot_to.x, epoch / epochs); }
  double loss_y(double loss) const {
    const double t =
        part(std::log(std::max(loss, 1e-9)), std::log(least_loss), std::log(most_loss));
    return between(plot_to.y, plot_from.y, t);
  }
  double accuracy_y(double percent) const {
    return between(plot_to.y, plot_from.y, part(percent, least_accuracy, 100));
  }
};

inline void draw_axes(Svg& svg, const Axes& axes) {
  const double left = plot_from.x, right = plot_to.x, bottom = plot_to.y;
  for (double loss = axes.least_loss; loss <= axes.most_loss * 1.01;
       loss = round_to_1_or_3(loss * 1.5, true)) {
    const double y = axes.loss_y(loss);
    svg.line({left, y}, {right, y}, "grid");
    char label[32];
    std::snprintf(label, sizeof label, "%.3g", loss);
    svg.text(left - 14, y + 5, "loss-axis", label);
  }
  for (double percent = axes.least_accuracy; percent <= 100; percent += axes.accuracy_step) {
    const double y = axes.accuracy_y(percent);
    svg.line({right, y}, {right + 6, y}, "axis");
    svg.text(right + 14, y + 5, "accuracy", number(percent) + " %");
  }
  svg.line({left, bottom}, {right, bottom}, "axis");
  int apart = 1;  // 1, 2, 5, 10, ... so that there are at most 8 of them
  for (int k = 1; apart * 8 < axes.epochs; ++k) apart = k % 3 == 2 ? apart / 2 * 5 : apart * 2;
  for (int epoch = 0; epoch <= axes.epochs; epoch += apart) {
    svg.line({axes.x(epoch), bottom}, {axes.x(epoch), bottom + 6}, "axis");
    svg.text(axes.x(epoch), bottom + 26, "middle", std::to_string(epoch));
  }
  svg.text((left + right) / 2, bottom + 52, "middle", "epoch");
}

inline void draw_curves(Svg& svg, const History& h) {
  const Axes axes(h);
  draw_axes(svg, axes);
  svg.text(margin, plot_from.y - 26, "loss-title", "training loss (log scale)");
  svg.text(page_width - margin, plot_from.y - 26, "accuracy-title", "accuracy on test digits");

  // A long run is drawn with means of neighbouring steps.
  const std::size_t steps = h.step_loss.size(), group = steps / 2000 + 1;
  std::vector<Point> points;
  for (std::size_t k = 0; k + group <= steps; k += group) {
    double sum = 0;
    for (std::size_t j = k; j < k + group; ++j) sum += h.step_loss[j];
    const double middle = static_cast<double>(k) + static_cast<double>(group) / 2;
    points.push_back({axes.x(middle / static_cast<double>(steps) * axes.epochs),
                      axes.loss_y(sum / static_cast<double>(group))});
  }
  svg.polyline(points, "steps");

  const auto curve = [&](const std::vector<double>& values, const char* look, double shift,
                         auto height) {
    points.clear();
    for (std::size_t k = 0; k < values.size(); ++k)
      points.push_back({axes.x(static_cast<double>(k) + shift), height(values[k])});
    svg.polyline(points, look);
    return points.back();
  };
  const Point loss_end = curve(h.loss, "loss-line", 0.5, [&](double v) { return axes.loss_y(v); });
  const Point accuracy_end =
      curve(h.accuracy, "accuracy-line", 1, [&](double v) { return axes.accuracy_y(v); });
  svg.circle(loss_end, 4, "loss");
  svg.circle(accuracy_end, 4, "accuracy");
  char last_loss[32];
  std::snprintf(last_loss, sizeof last_loss, "%.2g", h.loss.back());
  svg.text(loss_end.x + 4, loss_end.y - 14, "loss-end", last_loss);
  char last_accuracy[32];
  std::snprintf(last_accuracy, sizeof last_accuracy, "%.1f %%", h.accuracy.back());
  svg.text(accuracy_end.x + 4, accuracy_end.y + 24, "accuracy-end", last_accuracy);
}

/// The ink of one image: for each grey a path of runs along its rows.
inline void draw_image(Svg& svg, double left, double top, const std::uint8_t* image_pixels) {
  for (int level = 1; level <= darkest; ++level) {
    std::string d;
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        const int first = x;
        while (x < side && image_pixels[y * side + x] == level) ++x;
        if (x > first)
          d += 'M' + number(left + first * cell) + ' ' + number(top + y * cell) + 'h' +
               number((x - first) * cell) + 'v' + number(cell) + 'h' + number((first - x) * cell) +
               'z';
      }
    if (d.empty()) continue;
    char fill[40];
    const int grey = 255 - level * 230 / darkest;
    std::snprintf(fill, sizeof fill, "class=\"ink\" fill=\"#%02x%02x%02x\"", grey, grey, grey);
    svg.path(d, fill);
  }
}

inline void draw_digit(Svg& svg, double left, double top, const std::uint8_t* image_pixels,
                       int predicted, int truth) {
  const bool right = predicted == truth;
  const double middle = left + image / 2;
  svg.rect(left - 2, top - 2, image + 4, image + 4, right ? "paper" : "paper-wrong");
  draw_image(svg, left, top, image_pixels);
  if (right) {
    svg.text(middle, top + image + 25, "right-answer", std::to_string(predicted));
  } else {
    svg.text(middle - 14, top + image + 25, "wrong-answer", std::to_string(predicted));
    svg.text(middle + 13, top + image + 24, "truth", "is " + std::to_string(truth));
  }
}

}  // namespace detail

/// `predicted` holds a class for each digit of `test`; `subtitle` is a line of facts.
inline void draw_picture(const std::string& path, const History& history, const Digits& test,
                         const std::vector<int>& predicted, const std::string& subtitle) {
  using namespace detail;
  Svg svg(page_width, page_height, "Learning to read handwritten digits", style);
  svg.text(margin, 92, "title", "Learning to read handwritten digits");
  svg.text(margin, 124, "subtitle", subtitle);
  draw_curves(svg, history);

  std::vector<int> order, right;
  for (int k = 0; k < test.count(); ++k)
    (predicted.data()[k] == test.label_at(k) ? right : order).push_back(k);
  const std::size_t mistakes = order.size();
  order.insert(order.end(), right.begin(), right.end());
  const int shown = std::min(digit_rows * digit_columns, test.count());
  svg.text(margin, digits_top - 36, "heading", "What it reads in digits it has never seen");
  svg.text(page_width - margin, digits_top - 36, "to-the-right",
           "its answer below each; first its " + std::to_string(mistakes) + " mistakes in " +
               std::to_string(test.count()) + ", with the right class");
  const double pitch = (page_width - 2 * margin - image) / (digit_columns - 1);
  for (int k = 0; k < shown; ++k) {
    const int digit = order.data()[k];
    draw_digit(svg, margin + pitch * (k % digit_columns),
               digits_top + row_pitch * (k / digit_columns), test.image_at(digit),
               predicted.data()[digit], test.label_at(digit));
  }
  svg.save(path);
}

}  // namespace digits
