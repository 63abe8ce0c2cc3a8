// Networks as a user writes them, each a loss of weights and inputs: residual, depthwise and U-shaped convolutions, transformers (images, words with a mask, rotary
// places and grouped heads), recurrent cells, graphs, an autoencoder, volume rendering, experts, causal convolutions, a spatial transformer, contrastive losses, a scan.
// tests/data/record_networks.py has the same in PyTorch, and wrote their losses and gradients there to tests/data/networks.txt.
#pragma once
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <tt/tt.hpp>

namespace networks {

using tt::Tensor;

/// The weights of a network, in the order in which it asks for them.
struct Weights {
  const std::vector<Tensor>& list;
  std::size_t next = 0;
  const Tensor& take() { return list[next++]; }
};

inline Tensor lin(Weights& p, const Tensor& x, bool bias = true) {
  const Tensor& w = p.take();
  return bias ? tt::linear(x, w, p.take()) : tt::linear(x, w);
}
inline Tensor bn(Weights& p, const Tensor& x) {
  const Tensor &w = p.take(), &b = p.take();
  return tt::batch_norm(x, {}, {}, w, b, true);
}
inline Tensor conv(Weights& p, const Tensor& x, int s = 1, int pad = 0, int g = 1, bool bias = false) {
  const Tensor& w = p.take();
  const tt::Conv2dOptions o{.stride = s, .padding = pad, .groups = g};
  return bias ? tt::conv2d(x, w, p.take(), o) : tt::conv2d(x, w, o);
}
inline Tensor ln(Weights& p, const Tensor& x) {
  const Tensor &w = p.take(), &b = p.take();
  return tt::layer_norm(x, {x.size(-1)}, w, b);
}
inline Tensor rms(Weights& p, const Tensor& x) { return tt::rms_norm(x, {x.size(-1)}, p.take(), 1e-5); }
inline Tensor block(Weights& p, Tensor x, int s, bool skip) {
  Tensor y = tt::relu(bn(p, conv(p, x, s, 1)));
  y = bn(p, conv(p, y, 1, 1));
  if (skip) x = bn(p, conv(p, x, s, 0));
  return tt::relu(y + x);
}
inline Tensor resnet(Weights& p, const std::vector<Tensor>& a) {
  Tensor x = tt::relu(bn(p, conv(p, a[0], 2, 3)));
  x = tt::max_pool2d(x, {.kernel_size = 3, .stride = 2, .padding = 1});
  x = block(p, x, 1, false);
  x = block(p, x, 2, true);
  x = block(p, x, 2, true);
  x = tt::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
  return tt::cross_entropy(lin(p, x), a[1], {}, -100, tt::Reduction::mean, 0.1);
}
inline Tensor mobilenet(Weights& p, const std::vector<Tensor>& a) {
  Tensor x = tt::hardswish(bn(p, conv(p, a[0], 2, 1)));
  int stride[] = {2, 1, 2};
  for (int k = 0; k < 3; ++k) {
    const Tensor in = x;
    Tensor y = tt::hardswish(bn(p, conv(p, x)));
    y = tt::relu6(bn(p, conv(p, y, stride[k], 1, static_cast<int>(y.size(1)))));
    Tensor q = tt::mean(y, {2, 3}, true);
    q = tt::relu(conv(p, q, 1, 0, 1, true));
    y = y * tt::hardsigmoid(conv(p, q, 1, 0, 1, true));
    y = bn(p, conv(p, y));
    x = k == 1 ? y + in : y;
  }
  return tt::cross_entropy(lin(p, x.mean({2, 3})), a[1]);
}
inline Tensor gn(Weights& p, const Tensor& x) {
  const Tensor &w = p.take(), &b = p.take();
  return tt::group_norm(x, 4, w, b);
}
inline Tensor rb(Weights& p, const Tensor& x, bool change) {
  Tensor y = conv(p, tt::silu(gn(p, x)), 1, 1, 1, true);
  y = conv(p, tt::silu(gn(p, y)), 1, 1, 1, true);
  return y + (change ? conv(p, x) : x);
}
inline Tensor unet(Weights& p, const std::vector<Tensor>& in) {
  Tensor x = conv(p, in[0], 1, 1);
  Tensor a = rb(p, x, false), b = rb(p, tt::avg_pool2d(a, {.kernel_size = 2}), true), c = rb(p, tt::max_pool2d(b, {.kernel_size = 2}), false);
  Tensor u = tt::conv_transpose2d(c, p.take(), {}, {2});
  u = rb(p, tt::cat({u, b}, 1), true);
  u = tt::interpolate(u, {}, {2.0, 2.0}, "bilinear", false);
  u = rb(p, tt::cat({u, a}, 1), true);
  return tt::smooth_l1_loss(conv(p, u, 1, 0, 1, true), in[1]);
}
inline Tensor attn(Weights& p, const Tensor& x, int h, const Tensor& mask = {}, bool causal = false) {
  const auto B = x.size(0), T = x.size(1), D = x.size(2);
  const auto qkv = lin(p, x).reshape({B, T, 3, h, D / h}).permute({2, 0, 3, 1, 4}).unbind(0);
  const Tensor y = tt::scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], mask, 0.0, causal);
  return lin(p, y.transpose(1, 2).reshape({B, T, D}));
}
inline Tensor vit(Weights& p, const std::vector<Tensor>& a) {
  Tensor x = conv(p, a[0], 8, 0, 1, true).flatten(2).transpose(1, 2);
  x = tt::cat({p.take().expand({x.size(0), -1, -1}), x}, 1);
  x = x + p.take();
  for (int k = 0; k < 2; ++k) {
    x = x + attn(p, ln(p, x), 4);
    x = x + lin(p, tt::gelu(lin(p, ln(p, x))));
  }
  return tt::cross_entropy(lin(p, ln(p, x).select(1, 0)), a[1]);
}
inline Tensor bert(Weights& p, const std::vector<Tensor>& a) {
  const Tensor& e = p.take();
  Tensor x = tt::embedding(a[0], e) + p.take();
  x = ln(p, x);
  Tensor m = (a[1] == 0).unsqueeze(1).unsqueeze(1);
  m = tt::zeros(m.shape()).masked_fill(m, -1e9);
  for (int k = 0; k < 2; ++k) {
    x = ln(p, x + attn(p, x, 4, m));
    x = ln(p, x + lin(p, tt::gelu_tanh(lin(p, x))));
  }
  const Tensor labels = tt::where(a[0].remainder(5) == 0, -100, a[2]);
  return tt::cross_entropy(tt::matmul(x, e.t()).reshape({-1, 50}), labels.reshape({-1}), {}, -100);
}
inline Tensor rope(const Tensor& x) {
  const auto T = x.size(-2), D = x.size(-1);
  const Tensor f = 1.0 / tt::pow(10000.0, tt::arange(0, D, 2).to(tt::DType::f32) / D);
  const Tensor a = tt::outer(tt::arange(T).to(tt::DType::f32), f), c = a.cos(), s = a.sin();
  const Tensor x1 = x.slice(-1, 0, D, 2), x2 = x.slice(-1, 1, D, 2);
  return tt::stack({x1 * c - x2 * s, x1 * s + x2 * c}, -1).flatten(-2);
}
inline Tensor gpt(Weights& p, const std::vector<Tensor>& a) {
  const auto B = a[0].size(0), T = a[0].size(1);
  const Tensor& e = p.take();
  Tensor x = tt::embedding(a[0], e);
  for (int k = 0; k < 2; ++k) {
    Tensor y = rms(p, x);
    Tensor q = lin(p, y, false).reshape({B, T, 4, 8}).transpose(1, 2);
    Tensor kk = lin(p, y, false).reshape({B, T, 2, 8}).transpose(1, 2);
    Tensor v = lin(p, y, false).reshape({B, T, 2, 8}).transpose(1, 2);
    y = tt::scaled_dot_product_attention(rope(q), rope(kk), v, {}, 0, true, {}, true);
    x = x + lin(p, y.transpose(1, 2).reshape({B, T, 32}), false);
    y = rms(p, x);
    Tensor gate = tt::silu(lin(p, y, false)), up = lin(p, y, false);
    x = x + lin(p, gate * up, false);
  }
  x = rms(p, x);
  const Tensor logits = tt::linear(x, e);
  return tt::cross_entropy(logits.slice(1, 0, -1).reshape({-1, 50}), a[0].slice(1, 1).reshape({-1})) + 0 * a[1].sum();
}
inline Tensor lstm(Weights& p, const std::vector<Tensor>& a) {
  const Tensor x = tt::embedding(a[0], p.take());
  const auto B = x.size(0), T = x.size(1);
  Tensor h = tt::zeros({B, 24}), c = tt::zeros({B, 24});
  const Tensor &wi = p.take(), &wh = p.take(), &b = p.take();
  std::vector<Tensor> outs;
  for (int k = 0; k < T; ++k) {
    const auto g = (tt::linear(x.select(1, k), wi, b) + tt::linear(h, wh)).chunk(4, 1);
    c = tt::sigmoid(g[1]) * c + tt::sigmoid(g[0]) * tt::tanh(g[2]);
    h = tt::sigmoid(g[3]) * tt::tanh(c);
    outs.push_back(h);
  }
  const Tensor y = tt::stack(outs, 1).amax(1);
  return tt::binary_cross_entropy_with_logits(lin(p, y).squeeze(1), a[1].to(tt::DType::f32));
}
inline Tensor gnn(Weights& p, const std::vector<Tensor>& a) {
  Tensor x = a[0];
  const Tensor &src = a[1], &dst = a[2];
  const auto n = x.size(0);
  for (int o : {16, 8}) {
    const Tensor h = lin(p, x, false), m = tt::zeros({n, o}).index_add(0, dst, h.index_select(0, src));
    const Tensor d = tt::zeros({n}).index_add(0, dst, tt::ones({src.size(0)}));
    x = tt::elu(m / d.clamp(1, tt::none).unsqueeze(1) + lin(p, x));
    Tensor s = tt::leaky_relu((x.index_select(0, src) * x.index_select(0, dst)).sum(1), 0.2);
    s = s - s.max().detach();
    const Tensor es = s.exp(), z = tt::zeros({n}).scatter_add(0, dst, es), w = es / z.gather(0, dst);
    x = tt::zeros({n, o}).scatter_add(0, dst.unsqueeze(1).expand({-1, o}), w.unsqueeze(1) * x[src]);
  }
  return tt::nll_loss(tt::log_softmax(x, 1), a[3]);
}
inline Tensor vae(Weights& p, const std::vector<Tensor>& a) {
  Tensor h = tt::leaky_relu(conv(p, a[0], 2, 1, 1, true), 0.2);
  h = tt::leaky_relu(conv(p, h, 2, 1, 1, true), 0.2).flatten(1);
  const Tensor mu = lin(p, h), lv = lin(p, h), z = mu + tt::exp(0.5 * lv) * a[1];
  Tensor y = tt::relu(lin(p, z)).view({-1, 16, 4, 4});
  const Tensor &w1 = p.take(), &b1 = p.take(), &w2 = p.take(), &b2 = p.take();
  y = tt::relu(tt::conv_transpose2d(y, w1, b1, {2}, {1}));
  y = tt::sigmoid(tt::conv_transpose2d(y, w2, b2, {2}, {1}));
  const auto B = a[0].size(0);
  const Tensor kl = -0.5 * tt::sum(1 + lv - mu.pow(2) - lv.exp()) / B;
  return tt::binary_cross_entropy(y, a[0].sigmoid(), {}, tt::Reduction::sum) / B + kl;
}
inline Tensor nerf(Weights& p, const std::vector<Tensor>& a) {
  const Tensor& x = a[0];
  const auto B = x.size(0);
  const Tensor f = tt::pow(2.0, tt::arange(4).to(tt::DType::f32));
  Tensor e = (x.unsqueeze(-1) * f).flatten(-2);
  e = tt::cat({x, e.sin(), e.cos()}, -1);
  Tensor h = e;
  for (int k = 0; k < 3; ++k) h = tt::relu(lin(p, k == 2 ? tt::cat({h, e}, -1) : h));
  const Tensor sg = tt::softplus(lin(p, h).squeeze(-1)), c = tt::sigmoid(lin(p, h)), al = 1 - tt::exp(-sg * 0.1);
  const Tensor tr = tt::cumprod(tt::cat({tt::ones({B, 1}), 1 - al + 1e-10}, 1), 1).slice(1, 0, -1), w = al * tr;
  return tt::mse_loss((w.unsqueeze(-1) * c).sum(1), a[1]) + 0.01 * w.std(1).mean();
}
inline Tensor moe(Weights& p, const std::vector<Tensor>& a) {
  const Tensor &x = a[0], g = lin(p, x);
  const auto [v, i] = tt::topk(g, 2, -1);
  const Tensor w = tt::zeros_like(g).scatter(-1, i, tt::softmax(v, -1));
  const Tensor &w1 = p.take(), &w2 = p.take();
  const Tensor h = tt::gelu(tt::einsum("bd,edh->beh", {x, w1}));
  Tensor y = tt::einsum("beh,ehd->bed", {h, w2});
  y = tt::einsum("bed,be->bd", {y, w});
  const Tensor aux = (tt::softmax(g, -1).mean(0) * (w > 0).to(tt::DType::f32).mean(0)).sum() * 4;
  return tt::huber_loss(y, a[1]) + 0.01 * aux;
}
inline Tensor wavenet(Weights& p, const std::vector<Tensor>& a) {
  Tensor x = tt::conv1d(tt::pad(a[0], {1, 0}), p.take()), skip;
  for (int d : {1, 2, 4, 8}) {
    const Tensor y = tt::pad(x, {d, 0});
    const Tensor &w1 = p.take(), &b1 = p.take(), &w2 = p.take(), &b2 = p.take();
    const Tensor z = tt::tanh(tt::conv1d(y, w1, b1, {1}, {0}, {d})) * tt::sigmoid(tt::conv1d(y, w2, b2, {1}, {0}, {d}));
    const Tensor s = tt::conv1d(z, p.take());
    skip = skip.defined() ? skip + s : s;
    x = x + tt::conv1d(z, p.take());
  }
  return tt::cross_entropy(tt::conv1d(tt::relu(skip), p.take()), a[1]);
}
inline Tensor stn(Weights& p, const std::vector<Tensor>& a) {
  const Tensor l = tt::max_pool2d(tt::relu(conv(p, a[0], 1, 1, 1, true)), {.kernel_size = 2});
  const Tensor th = lin(p, l.flatten(1)) * 0.1 + tt::tensor({1.0, 0.0, 0.0, 0.0, 1.0, 0.0});
  const Tensor g = tt::affine_grid(th.view({-1, 2, 3}), a[0].shape(), false);
  Tensor y = tt::grid_sample(a[0], g);
  y = tt::relu(conv(p, y, 2, 0, 1, true));
  return tt::multi_margin_loss(lin(p, y.flatten(1)), a[1]);
}
inline Tensor metric(Weights& p, const std::vector<Tensor>& a) {
  const Tensor z0 = tt::relu(lin(p, a[0])), z = tt::normalize(lin(p, z0), 2, 1);
  Tensor s = tt::matmul(z, z.t()) / 0.2;
  const auto n = z.size(0);
  const Tensor m = tt::eye(n, tt::DType::boolean);
  s = s.masked_fill(m, -INFINITY);
  const Tensor pos = (a[1].unsqueeze(1) == a[1].unsqueeze(0)) && !m;
  Tensor lp = s - tt::logsumexp(s, 1, true);
  lp = tt::where(pos, lp, 0.0);
  const Tensor l1 = -(lp.sum(1) / pos.sum(1).clamp(1, tt::none)).mean();
  const Tensor d = tt::cdist(z, z);
  const Tensor l2 = tt::relu(d - 0.5)[pos].mean();
  return l1 + l2;
}
inline Tensor ssm(Weights& p, const std::vector<Tensor>& a) {
  const Tensor& x = a[0];
  const auto B = x.size(0), T = x.size(1), D = x.size(2);
  const Tensor A = -tt::exp(p.take()), dt = tt::softplus(lin(p, x)), Bm = lin(p, x), C = lin(p, x);
  Tensor h = tt::zeros({B, D, 4});
  std::vector<Tensor> ys;
  const Tensor dA = tt::exp(dt.unsqueeze(-1) * A), dB = dt.unsqueeze(-1) * Bm.unsqueeze(2) * x.unsqueeze(-1);
  for (int k = 0; k < T; ++k) {
    h = dA.select(1, k) * h + dB.select(1, k);
    ys.push_back((h * C.select(1, k).unsqueeze(1)).sum(-1));
  }
  return (tt::stack(ys, 1) + x * p.take() - a[1]).abs().mean();
}

/// A line of tests/data/networks.txt: what weights and inputs are made of, and what PyTorch gives for them.
struct Case {
  std::string name;
  double loss = 0;
  std::vector<double> gradient;  ///< of each weight: the sum of absolute values
  std::vector<Tensor> weights, inputs;
};
/// Numbers that are the same everywhere: from -1/2 to 1/2, of a counter and a seed.
inline double number(std::uint32_t k, std::uint32_t seed) {
  std::uint32_t h = (k + 1) * 2654435761u ^ seed * 40503u;
  h ^= h >> 16;
  h *= 2246822519u;
  h ^= h >> 13;
  return h / 4294967296.0 - 0.5;
}
inline Case read_case(const std::string& line) {
  std::istringstream in(line);
  Case c;
  int weights = 0, inputs = 0;
  in >> c.name >> c.loss >> weights >> inputs;
  std::uint32_t seed = 0;
  const auto tensor = [&](double scale, double offset, std::int64_t below) {
    int rank = 0;
    in >> rank;
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(rank));
    std::int64_t n = 1;
    for (std::int64_t& s : sizes) in >> s, n *= s;
    ++seed;
    Tensor t = tt::empty(std::span<const std::int64_t>(sizes), below > 0 ? tt::DType::i64 : tt::DType::f32);
    for (std::int64_t k = 0; k < n; ++k) {
      const double v = number(static_cast<std::uint32_t>(k), seed);
      if (below > 0) t.elements<std::int64_t>()[static_cast<std::size_t>(k)] = static_cast<std::int64_t>((v + 0.5) * static_cast<double>(below));
      else t.elements<float>()[static_cast<std::size_t>(k)] = static_cast<float>(v * scale + offset);
    }
    return t;
  };
  for (int k = 0; k < weights; ++k) {
    double scale = 0, offset = 0, gradient = 0;
    in >> gradient >> scale >> offset;
    c.gradient.push_back(gradient);
    c.weights.push_back(tensor(scale, offset, 0));
  }
  for (int k = 0; k < inputs; ++k) {
    std::int64_t below = 0;
    in >> below;
    c.inputs.push_back(tensor(2, 0, below));
  }
  return c;
}

}  // namespace networks
