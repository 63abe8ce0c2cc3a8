// A few shapes as SVG text. Coordinates are pixels from the top left; a look is a class of the
// style sheet.
//   digits::Svg svg(1200, 800, "Digits", style);
//   svg.text(64, 80, "title", "Digits");
//   svg.save("a.svg");
#pragma once
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace digits {

/// At most two decimals, none that are zero.
inline std::string number(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", value);
  std::string s = text;
  while (s.back() == '0') s.pop_back();
  if (s.back() == '.') s.pop_back();
  return s == "-0" ? "0" : s;
}

struct Point {
  double x, y;
};

class Svg {
 public:
  Svg(double width, double height, const std::string& title, const std::string& style) {
    const std::string size = number(width) + ' ' + number(height);
    body_ = R"(<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 )" + size +
            R"(" width=")" + number(width) + R"(" height=")" + number(height) + "\">\n<title>" +
            escaped(title) + "</title>\n<style>" + style + "</style>\n";
    rect(0, 0, width, height, "page");
  }
  void rect(double x, double y, double width, double height, const char* look) {
    shape("rect", look, {{"x", x}, {"y", y}, {"width", width}, {"height", height}});
  }
  void line(Point a, Point b, const char* look) {
    shape("line", look, {{"x1", a.x}, {"y1", a.y}, {"x2", b.x}, {"y2", b.y}});
  }
  void circle(Point at, double radius, const char* look) {
    shape("circle", look, {{"cx", at.x}, {"cy", at.y}, {"r", radius}});
  }
  void polyline(const std::vector<Point>& points, const char* look) {
    std::string d;
    for (const Point& p : points) d += (d.empty() ? 'M' : 'L') + number(p.x) + ' ' + number(p.y);
    path(d, std::string("class=\"") + look + '"');
  }
  void path(const std::string& d, const std::string& attributes) {
    body_ += "<path " + attributes + " d=\"" + d + "\"/>\n";
  }
  void text(double x, double y, const char* look, std::string_view words) {
    body_ += "<text class=\"" + std::string(look) + "\" x=\"" + number(x) + "\" y=\"" + number(y) +
             "\">" + escaped(words) + "</text>\n";
  }
  void save(const std::string& path) const {
    std::ofstream out(path, std::ios::binary);
    out << body_ << "</svg>\n";
    if (!out.flush()) throw std::runtime_error(path + ": cannot be written");
  }

 private:
  struct Attribute {
    const char* name;
    double value;
  };
  void shape(const char* kind, const char* look, std::initializer_list<Attribute> attributes) {
    body_ += '<' + std::string(kind) + " class=\"" + look + '"';
    for (const Attribute& a : attributes)
      body_ += ' ' + std::string(a.name) + "=\"" + number(a.value) + '"';
    body_ += "/>\n";
  }
  static std::string escaped(std::string_view words) {
    std::string s;
    for (const char c : words) {
      if (c == '&') s += "&amp;";
      else if (c == '<') s += "&lt;";
      else s += c;
    }
    return s;
  }

  std::string body_;
};

}  // namespace digits
