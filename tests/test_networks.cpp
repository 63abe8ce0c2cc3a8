// Whole networks, eager on the tape and compiled, against what PyTorch 2.15 gives for the same weights and inputs (tests/networks.hpp).
#include "network_check.hpp"

TEST_CASE("networks of images agree with PyTorch, eager and compiled") {
  networks::check<networks::resnet>("resnet");
  networks::check<networks::mobilenet>("mobilenet");
  networks::check<networks::unet>("unet");
  networks::check<networks::vit>("vit");
  networks::check<networks::stn>("stn");
  networks::check<networks::vae>("vae");
}
TEST_CASE("networks of words and sequences agree with PyTorch, eager and compiled") {
  networks::check<networks::bert>("bert");
  networks::check<networks::gpt>("gpt");
  networks::check<networks::lstm>("lstm");
  networks::check<networks::wavenet>("wavenet");
  networks::check<networks::ssm>("ssm");
}
TEST_CASE("networks of graphs, rays, experts and pairs agree with PyTorch, eager and compiled") {
  networks::check<networks::gnn>("gnn");
  networks::check<networks::nerf>("nerf");
  networks::check<networks::moe>("moe");
  networks::check<networks::metric>("metric");
}
