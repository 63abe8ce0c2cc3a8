// Programs of other fields, eager on the tape and compiled, against what PyTorch 2.15 gives for the same weights and inputs (tests/programs.hpp).
#include "network_check.hpp"
#include "programs.hpp"

TEST_CASE("programs of physics and geometry agree with PyTorch, eager and compiled") {
  networks::check<networks::neural_ode>("neural_ode");
  networks::check<networks::heat>("heat");
  networks::check<networks::arm>("arm");
  networks::check<networks::nbody>("nbody");
  networks::check<networks::particles>("particles");
}
TEST_CASE("programs of inference and pricing agree with PyTorch, eager and compiled") {
  networks::check<networks::gaussian_process>("gaussian_process");
  networks::check<networks::kalman>("kalman");
  networks::check<networks::flow>("flow");
  networks::check<networks::option>("option");
  networks::check<networks::quantile_loss>("quantile_loss");
  networks::check<networks::kmeans>("kmeans");
  networks::check<networks::sinkhorn>("sinkhorn");
}
TEST_CASE("programs of sequences, graphs and decisions agree with PyTorch, eager and compiled") {
  networks::check<networks::crf>("crf");
  networks::check<networks::viterbi>("viterbi");
  networks::check<networks::pagerank>("pagerank");
  networks::check<networks::dqn>("dqn");
  networks::check<networks::ppo>("ppo");
  networks::check<networks::alibi>("alibi");
  networks::check<networks::filters>("filters");
}
TEST_CASE("programs of images agree with PyTorch, eager and compiled") {
  networks::check<networks::diffusion>("diffusion");
  networks::check<networks::spectral>("spectral");
  networks::check<networks::capsule>("capsule");
  networks::check<networks::perceptual>("perceptual");
  networks::check<networks::detection>("detection");
}
