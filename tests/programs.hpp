// Programs as users of other fields write them: diffusion, flows, Gaussian processes, filters, integrators, simulations, pricing, kinematics, clustering, sequence models,
// transport, reinforcement learning, detection, image and signal processing. As in networks.hpp; bench and data are the same.
#pragma once
#include "networks.hpp"

namespace networks {

using List = std::vector<Tensor>;

inline Tensor diffusion(Weights& p, const List& in) {
  const Tensor &x0 = in[0], &noise = in[1], &t = in[2], &w1 = p.take(), &w2 = p.take();
  const Tensor betas = tt::linspace(1e-2, 0.2, 20), ab = tt::cumprod(1 - betas, 0)[t];
  const Tensor xt = ab.sqrt().unsqueeze(1) * x0 + (1 - ab).sqrt().unsqueeze(1) * noise;
  const Tensor f = tt::exp(-std::log(100.0) * tt::arange(2) / 2), a = t.unsqueeze(1).to(tt::DType::f32) * f, emb = tt::cat({a.sin(), a.cos()}, 1);
  const Tensor h = tt::mish(tt::linear(tt::cat({xt, emb}, 1), w1));
  return (tt::linear(h, w2) - noise).pow(2).mean(1).mul(1 / (1 - ab + 0.1)).mean();
}
inline Tensor flow(Weights& p, const List& in) {
  const Tensor w = p.take() + tt::eye(4);
  const Tensor &b = p.take(), &s = p.take(), &t = p.take();
  const Tensor y = tt::matmul(in[0], w.t()) + b, ld = tt::linalg::slogdet(w).logabsdet;
  const auto parts = y.chunk(2, 1);
  const Tensor ls = tt::tanh(tt::matmul(parts[0], s)), c = parts[1] * ls.exp() + tt::matmul(parts[0], t);
  const Tensor z = tt::cat({parts[0], c}, 1);
  return -(-0.5 * z.square().sum(1) - 2 * std::log(2 * M_PI) + ld + ls.sum(1)).mean();
}
inline Tensor gaussian_process(Weights& p, const List& in) {
  const Tensor &x = in[0], &y = in[1];
  const Tensor l = p.take().exp();
  const Tensor& s = p.take();
  const Tensor d = tt::cdist(x, x).square(), K = tt::exp(-0.5 * d / l.square()) + (s.exp() + 0.1) * tt::eye(x.size(0));
  const Tensor L = tt::linalg::cholesky(K), a = tt::cholesky_solve(y.unsqueeze(1), L);
  return 0.5 * y.dot(a.squeeze(1)) + L.diagonal().log().sum();
}
inline Tensor kalman(Weights& p, const List& in) {
  const Tensor& z = in[0];
  const Tensor F = p.take() + tt::eye(3);
  const Tensor& H = p.take();
  const Tensor q = tt::softplus(p.take()), r = tt::softplus(p.take()) + 0.1;
  Tensor m = tt::zeros({3}), P = tt::eye(3), nll = tt::zeros({});
  for (int k = 0; k < z.size(0); ++k) {
    m = F.mv(m);
    P = F.mm(P).mm(F.t()) + tt::diag(q);
    const Tensor S = H.mm(P).mm(H.t()) + tt::diag(r), v = z[k] - H.mv(m), K = tt::linalg::solve(S, H.mm(P)).t();
    nll = nll + 0.5 * (v.dot(tt::linalg::solve(S, v)) + tt::logdet(S));
    m = m + K.mv(v);
    P = (tt::eye(3) - K.mm(H)).mm(P);
  }
  return nll / z.size(0);
}
inline Tensor neural_ode(Weights& p, const List& in) {
  const Tensor &w1 = p.take(), &w2 = p.take();
  const auto f = [&](const Tensor& u) { return tt::matmul(tt::tanh(tt::matmul(u, w1.t())), w2.t()); };
  Tensor x = in[0];
  const double h = 0.1;
  for (int k = 0; k < 8; ++k) {
    const Tensor k1 = f(x), k2 = f(x + h / 2 * k1), k3 = f(x + h / 2 * k2), k4 = f(x + h * k3);
    x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return x.norm(2, {1}).mean();
}
inline Tensor heat(Weights& p, const List& in) {
  const Tensor a = tt::sigmoid(p.take());
  const Tensor& k = p.take();
  Tensor u = in[0];
  for (int step = 0; step < 6; ++step) {
    const Tensor lap = tt::roll(u, {1}, {1}) + tt::roll(u, {-1}, {1}) + tt::roll(u, {1}, {2}) + tt::roll(u, {-1}, {2}) - 4 * u;
    u = u + 0.2 * a * lap + tt::conv2d(tt::pad(u.unsqueeze(1), {1, 1, 1, 1}, tt::PadMode::circular), k.unsqueeze(0).unsqueeze(0)).select(1, 0);
    u = u.clone();
    u.select(1, 0) = 0;
    u.select(1, -1) = 1;
  }
  return u.square().mean() + u.select(1, 3).select(1, 3).sum();
}
inline Tensor option(Weights& p, const List& in) {
  const Tensor s = 100 * tt::exp(p.take()), vol = tt::softplus(p.take());
  const double r = 0.05, dt = 1.0 / 16;
  const Tensor path = s * tt::exp(tt::cumsum((r - 0.5 * vol.square()) * dt + vol * std::sqrt(dt) * in[0], 1));
  const Tensor asian = tt::relu(path.mean(1) - 100), knocked = (path.max(1).values < 150).to(tt::DType::f32), look = path.max(1).values - path.min(1).values;
  return std::exp(-r) * (asian * knocked + 0.1 * look).mean() / 100;
}
inline Tensor arm(Weights& p, const List& in) {
  const Tensor& q = p.take();
  const Tensor l = tt::softplus(p.take()), z = tt::zeros({}), o = tt::ones({});
  Tensor T = tt::eye(3);
  List points;
  for (int k = 0; k < 4; ++k) {
    const Tensor c = tt::cos(q[k]), s = tt::sin(q[k]);
    const Tensor R = tt::stack({tt::stack({c, -s, l[k] * c}), tt::stack({s, c, l[k] * s}), tt::stack({z, z, o})});
    T = tt::matmul(T, R);
    points.push_back(T.slice(0, 0, 2).select(1, 2));
  }
  const Tensor d = tt::stack(points);
  return (d[-1] - in[0]).square().sum() + 0.1 * tt::relu(0.5 - (d.slice(0, 1) - d.slice(0, 0, -1)).norm(2, {1})).sum() + 0.01 * q.square().sum();
}
inline Tensor nbody(Weights& p, const List& in) {
  Tensor x = in[0], v = in[1];
  const Tensor m = p.take().exp();
  const double h = 0.05;
  for (int k = 0; k < 3; ++k) {
    const Tensor d = x.unsqueeze(0) - x.unsqueeze(1), r2 = d.square().sum(-1) + 0.1;
    v = v + h * (d * (m / r2.pow(1.5)).unsqueeze(-1)).sum(1);
    x = x + h * v;
  }
  const Tensor e = 0.5 * (m * v.square().sum(1)).sum(), d = x.unsqueeze(0) - x.unsqueeze(1), r = (d.square().sum(-1) + 0.1).sqrt(), iu = tt::triu_indices(8, 8, 1);
  return e - (m[iu[0]] * m[iu[1]] / r.index({iu[0], iu[1]})).sum();
}
inline Tensor kmeans(Weights& p, const List& in) {
  const Tensor& x = in[0];
  Tensor c = p.take();
  for (int k = 0; k < 3; ++k) {
    const Tensor a = tt::cdist(x, c).argmin(1), n = tt::zeros({4}).index_add(0, a, tt::ones({x.size(0)})), s = tt::zeros({4, 2}).index_add(0, a, x);
    c = tt::where((n > 0).unsqueeze(1), 0.5 * c + 0.5 * s / n.clamp_min(1).unsqueeze(1), c);
  }
  return -tt::logsumexp(-(x.unsqueeze(1) - c.unsqueeze(0)).square().sum(-1), 1).mean();
}
inline Tensor crf(Weights& p, const List& in) {
  const Tensor &e = in[0], &tags = in[1], &t = p.take(), &s = p.take();
  Tensor a = s + e.select(1, 0), score = s[tags.select(1, 0)] + e.select(1, 0).gather(1, tags.slice(1, 0, 1)).select(1, 0);
  for (int k = 1; k < e.size(1); ++k) {
    a = tt::logsumexp(a.unsqueeze(2) + t.unsqueeze(0), 1) + e.select(1, k);
    score = score + t.index({tags.select(1, k - 1), tags.select(1, k)}) + e.select(1, k).gather(1, tags.slice(1, k, k + 1)).squeeze(1);
  }
  return (tt::logsumexp(a, 1) - score).mean();
}
inline Tensor viterbi(Weights& p, const List& in) {
  const Tensor &e = in[0], &t = p.take();
  Tensor a = e.select(1, 0);
  List back;
  for (int k = 1; k < e.size(1); ++k) {
    const auto best = (a.unsqueeze(2) + t.unsqueeze(0)).max(1);
    a = best.values + e.select(1, k);
    back.push_back(best.indices);
  }
  const auto best = a.max(1);
  List path{best.indices};
  for (std::size_t k = back.size(); k-- > 0;) path.push_back(back[k].gather(1, path.back().unsqueeze(1)).select(1, 0));
  return best.values.mean() + 0.01 * tt::stack(path, 1).to(tt::DType::f32).mean();
}
inline Tensor sinkhorn(Weights& p, const List& in) {
  const Tensor &x = in[0], &y = in[1], C = tt::cdist(tt::matmul(x, p.take()), y).square();
  const auto n = x.size(0);
  Tensor f = tt::zeros({n}), g = tt::zeros({n});
  const double eps = 0.5, la = -std::log(8.0);
  for (int k = 0; k < 10; ++k) {
    f = -eps * tt::logsumexp((g.unsqueeze(0) - C) / eps + la, 1);
    g = -eps * tt::logsumexp((f.unsqueeze(1) - C) / eps + la, 0);
  }
  return (tt::exp((f.unsqueeze(1) + g.unsqueeze(0) - C) / eps + 2 * la) * C).sum();
}
inline Tensor dqn(Weights& p, const List& in) {
  const Tensor &w1 = p.take(), &w2 = p.take(), &r = in[2];
  const auto q = [](const Tensor& x, const Tensor& u, const Tensor& v) { return tt::linear(tt::relu(tt::linear(x, u)), v); };
  const Tensor qa = q(in[0], w1, w2).gather(1, in[1].unsqueeze(1)).squeeze(1);
  Tensor y;
  {
    const tt::NoGrad off;
    const Tensor best = q(in[3], w1, w2).argmax(1, true), tq = q(in[3], w1 * 0.9, w2 * 0.9).gather(1, best).squeeze(1);
    y = r + 0.99 * tq * (r > -0.5);
  }
  return tt::smooth_l1_loss(qa, y);
}
inline Tensor ppo(Weights& p, const List& in) {
  const Tensor lp = tt::log_softmax(tt::linear(in[0], p.take()), 1), l = lp.gather(1, in[1].unsqueeze(1)).select(1, 0), ratio = tt::exp(l - tt::logsigmoid(in[3]));
  const Tensor adv = (in[2] - in[2].mean()) / (in[2].std() + 1e-8);
  return -tt::minimum(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean() - 0.01 * (-(lp.exp() * lp).sum(1)).mean();
}
inline Tensor spectral(Weights& p, const List& in) {
  const Tensor& w = p.take();
  Tensor u = p.take().detach(), v;
  {
    const tt::NoGrad off;
    for (int k = 0; k < 3; ++k) {
      v = tt::normalize(w.t().mv(u), 2, 0);
      u = tt::normalize(w.mv(v), 2, 0);
    }
  }
  const Tensor sigma = u.dot(w.mv(v));
  return tt::leaky_relu(tt::linear(in[0], w / sigma), 0.1).square().mean() + 0.1 * tt::linalg::matrix_norm(w, 2);
}
inline Tensor capsule(Weights& p, const List& in) {
  const Tensor uh = tt::einsum("bif,ijgf->bijg", {in[0], p.take()});
  Tensor b = tt::zeros({in[0].size(0), 6, 3}), v;
  for (int k = 0; k < 3; ++k) {
    const Tensor c = tt::softmax(b, 2), s = (c.unsqueeze(-1) * uh).sum(1), n = s.square().sum(-1, true);
    v = n / (1 + n) * s / tt::sqrt(n + 1e-7);
    if (k < 2) b = b + (uh * v.unsqueeze(1)).sum(-1);
  }
  return v.norm(2, {-1}).sum(1).mean();
}
inline Tensor perceptual(Weights& p, const List& in) {
  const Tensor &x = in[0], &w = p.take();
  const auto f = [&](const Tensor& t) { return tt::relu(tt::conv2d(t, w, {.padding = 1})); };
  const auto g = [&](const Tensor& t) {
    const Tensor h = f(t);
    return tt::einsum("bchw,bdhw->bcd", {h, h}) / (h.size(1) * h.size(2) * h.size(3));
  };
  const Tensor tv = (x.slice(2, 1) - x.slice(2, 0, -1)).abs().mean() + (x.slice(3, 1) - x.slice(3, 0, -1)).abs().mean();
  return tt::mse_loss(f(x), f(in[1])) + 10 * tt::mse_loss(g(x), g(in[1])) + 0.1 * tv;
}
inline Tensor detection(Weights& p, const List& in) {
  const Tensor b = tt::linear(in[0], p.take()), c = tt::sigmoid(b.slice(1, 0, 2)), wh = b.slice(1, 2).clamp(-1, 1).exp() * 0.3;
  const Tensor a = tt::cat({c - wh / 2, c + wh / 2}, 1), g = tt::cat({in[1].slice(1, 0, 2).sigmoid() - 0.15, in[1].slice(1, 2).sigmoid() + 0.15}, 1);
  const Tensor lt = tt::maximum(a.slice(1, 0, 2).unsqueeze(1), g.slice(1, 0, 2).unsqueeze(0)), rb = tt::minimum(a.slice(1, 2).unsqueeze(1), g.slice(1, 2).unsqueeze(0));
  const Tensor inter = (rb - lt).clamp_min(0).prod(-1);
  const auto area = [](const Tensor& t) { return (t.select(1, 2) - t.select(1, 0)) * (t.select(1, 3) - t.select(1, 1)); };
  const auto m = (inter / (area(a).unsqueeze(1) + area(g).unsqueeze(0) - inter + 1e-6)).max(1);
  return (1 - m.values).mean() + tt::smooth_l1_loss(a, g[m.indices]);
}
inline Tensor alibi(Weights& p, const List& in) {
  const auto B = in[0].size(0), T = in[0].size(1), D = in[0].size(2);
  const auto qkv = tt::linear(in[0], p.take()).reshape({B, T, 3, 2, D / 2}).permute({2, 0, 3, 1, 4});
  const Tensor pos = tt::arange(T), bias = -(pos.unsqueeze(1) - pos.unsqueeze(0)).abs().to(tt::DType::f32) * tt::tensor({0.5, 0.25}).unsqueeze(1).unsqueeze(1);
  Tensor s = tt::matmul(qkv[0], qkv[1].transpose(-2, -1)) / tt::sqrt(tt::full({}, D / 2)) + bias;
  s = s.masked_fill(tt::ones({T, T}, tt::DType::boolean).triu(1), -INFINITY);
  return tt::matmul(tt::softmax(s, -1), qkv[2]).square().mean();
}
inline Tensor quantile_loss(Weights& p, const List& in) {
  const Tensor q = tt::tensor({0.1, 0.5, 0.9}), f = tt::linear(in[0], p.take()), e = in[1].unsqueeze(1) - f;
  return tt::max(q * e, (q - 1) * e).mean() + 0.1 * tt::quantile(f.select(1, 1), 0.75) + 0.1 * f.select(1, 2).median() + 0.01 * f.sort(0).values.slice(0, 2, -2).std({0}).sum();
}
inline Tensor filters(Weights& p, const List& in) {
  const Tensor &x = in[0], &k = p.take(), &b = p.take();
  const Tensor y = tt::conv1d(tt::pad(x.unsqueeze(1), {2, 2}, tt::PadMode::reflect), k).select(1, 0), m = y.unfold(1, 8, 4).mean(-1);
  Tensor e = tt::zeros({x.size(0)});
  List out;
  for (int t = 0; t < m.size(1); ++t) {
    e = tt::sigmoid(b[0]) * e + (1 - tt::sigmoid(b[0])) * m.select(1, t);
    out.push_back(e);
  }
  const Tensor z = tt::stack(out, 1);
  return z.diff(1, 1).square().mean() + tt::hardtanh(z * b[1]).mean() + z.logcumsumexp(1).mean() * b[2].tanh();
}
inline Tensor particles(Weights& p, const List& in) {
  const Tensor &x = in[0], v = tt::matmul(x, p.take()).tanh(), cell = ((x + 2) * 2).floor().to(tt::DType::i64).clamp(0, 7), idx = cell.select(1, 0) * 8 + cell.select(1, 1);
  const Tensor d = tt::zeros({64}).scatter_add(0, idx, tt::ones({x.size(0)})), mom = tt::zeros({64, 2}).index_add(0, idx, v), mean = mom / d.clamp_min(1).unsqueeze(1);
  return (v - mean[idx]).square().sum(1).mean() + 0.01 * d.square().mean() + mean.norm();
}
inline Tensor pagerank(Weights& p, const List& in) {
  const Tensor &src = in[0], &dst = in[1], w = p.take().exp();
  const int n = 12;
  const Tensor out = tt::zeros({n}).index_put({src}, w, true);
  Tensor r = tt::full({n}, 1.0 / n);
  for (int k = 0; k < 8; ++k) r = 0.15 / n + 0.85 * tt::zeros({n}).index_add(0, dst, r[src] * w / out[src]);
  return (r * tt::log(r + 1e-9)).sum() + r.topk(3).values.sum();
}

}  // namespace networks
