// The compiled build of autograd/: the tape and its engine.
#define TT_BUILD TT_PART_autograd
#include "tt/autograd/checkpoint.hpp"
#include "tt/autograd/dual.hpp"
#include "tt/autograd/engine.hpp"
#include "tt/autograd/joint_node.hpp"
#include "tt/autograd/modes.hpp"
#include "tt/autograd/to_device.hpp"
