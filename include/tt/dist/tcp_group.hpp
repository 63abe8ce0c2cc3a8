// A group of processes that are connected with each other by TCP, of one machine or of several. Nothing that is sent is encrypted: for networks that are trusted.
//   tt::distributed::init_process_group("tcp://10.0.0.1:29500", rank, world_size);      rank 0 runs on that host
//   tt::distributed::init_process_group("env://");      MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE, as torchrun and others set them
#pragma once
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tt/dist/group.hpp"

namespace tt::distributed {

struct TcpOptions {
  int rank = -1, world_size = -1;
  double timeout = 300;  ///< seconds that a rank waits for another
};

namespace detail {

[[noreturn]] inline void tcp_error(const Text& what, SourceLine at, bool by_system = true) {
  Text t = Text("tt::distributed: ") << what;
  if (by_system) t << " (" << std::strerror(errno) << ")";
  TT_THROW(Error(t << "." << at));
}

class Socket {
 public:
  explicit Socket(int fd = -1) : fd_(fd) {}
  Socket(Socket&& s) noexcept : fd_(std::exchange(s.fd_, -1)) {}
  Socket& operator=(Socket&& s) noexcept {
    std::swap(fd_, s.fd_);
    return *this;
  }
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

/// The address of a socket, as it is sent between ranks.
struct Address {
  sockaddr_storage bytes{};
  socklen_t length = sizeof(bytes);
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }
  void set_port(in_port_t network_order) {
    if (bytes.ss_family == AF_INET6) reinterpret_cast<sockaddr_in6&>(bytes).sin6_port = network_order;
    else reinterpret_cast<sockaddr_in&>(bytes).sin_port = network_order;
  }
  /// All addresses of this machine, with the same port.
  Address any() const {
    Address a = *this;
    if (bytes.ss_family == AF_INET6) reinterpret_cast<sockaddr_in6&>(a.bytes).sin6_addr = in6addr_any;
    else reinterpret_cast<sockaddr_in&>(a.bytes).sin_addr.s_addr = htonl(INADDR_ANY);
    return a;
  }
  in_port_t port() const {
    return bytes.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bytes).sin6_port : reinterpret_cast<const sockaddr_in&>(bytes).sin_port;
  }
};

class TcpGroup final : public ProcessGroup {
  using Clock = std::chrono::steady_clock;

 public:
  TcpGroup(const std::string& host, const std::string& port, const TcpOptions& o, SourceLine at)
      : ProcessGroup(o.rank, o.world_size), timeout_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(o.timeout))), peer_(static_cast<std::size_t>(o.world_size)) {
    if (size() == 1) return;
    const std::vector<Address> first = resolved(host, port, at);
    const Clock::time_point end = Clock::now() + timeout_;
    if (rank() == 0) gather(listener(is_loopback(host) ? first.front() : first.front().any(), at), end, at);
    else join(first, end, at);
  }

  void exchange(const SendParts& send, const ReceiveParts& receive, SourceLine at) override {
    if (failed_) tcp_error(Text("the group has stopped in an error before"), at, false);
    failed_ = true;  // until it has ended well
    const auto own = static_cast<std::size_t>(rank());
    if (send[own].size() != receive[own].size()) refuse_bytes(rank(), send[own].size(), receive[own].size(), at);
    if (!send[own].empty()) std::memcpy(receive[own].data(), send[own].data(), send[own].size());
    std::vector<Transfer> transfers(peer_.size());
    for (std::size_t k = 0; k < peer_.size(); ++k) transfers[k].bytes = send[k].size();
    Clock::time_point last = Clock::now();
    std::vector<pollfd> waiting;
    std::vector<std::size_t> of;
    for (;;) {
      waiting.clear();
      of.clear();
      for (std::size_t k = 0; k < peer_.size(); ++k) {
        if (k == own) continue;
        const Transfer& t = transfers[k];
        const short events = static_cast<short>((t.sent < sizeof(std::uint64_t) + send[k].size() ? POLLOUT : 0) | (t.received < sizeof(std::uint64_t) + receive[k].size() ? POLLIN : 0));
        if (events == 0) continue;
        waiting.push_back({peer_[k].fd(), events, 0});
        of.push_back(k);
      }
      if (waiting.empty()) break;
      wait(waiting, last + timeout_, static_cast<int>(of.front()), at);
      for (std::size_t w = 0; w < waiting.size(); ++w) {
        const std::size_t k = of[w];
        if ((waiting[w].revents & POLLOUT) != 0) write_some(static_cast<int>(k), transfers[k], send[k], at);
        if ((waiting[w].revents & (POLLIN | POLLHUP | POLLERR)) != 0) read_some(static_cast<int>(k), transfers[k], receive[k], at);
      }
      last = Clock::now();
    }
    failed_ = false;
  }

 private:
  /// The number of bytes goes ahead of them.
  struct Transfer {
    std::uint64_t bytes = 0, announced = 0;
    std::size_t sent = 0, received = 0;
  };
  struct Hello {
    char magic[4] = {'t', 't', 'd', '1'};
    std::int32_t rank = 0, size = 0;
    Address listens{};
  };

  Clock::duration timeout_;
  std::vector<Socket> peer_;  ///< by rank; none for the own
  bool failed_ = false;

  static bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }
  static std::vector<Address> resolved(const std::string& host, const std::string& port, SourceLine at) {
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    if (const int e = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); e != 0)
      tcp_error(Text("no address of '") << host.c_str() << ":" << port.c_str() << "' (" << ::gai_strerror(e) << ")", at, false);
    std::vector<Address> all;
    for (const addrinfo* i = found; i; i = i->ai_next) {
      std::memcpy(&all.emplace_back().bytes, i->ai_addr, i->ai_addrlen);
      all.back().length = i->ai_addrlen;
    }
    ::freeaddrinfo(found);
    return all;
  }
  static Socket made(const Address& a, SourceLine at) {
    Socket s(::socket(a.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!s) tcp_error(Text("no socket"), at);
    return s;
  }
  static Socket listener(Address a, SourceLine at) {
    Socket s = made(a, at);
    const int yes = 1;
    ::setsockopt(s.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (::bind(s.fd(), a.get(), a.length) != 0 || ::listen(s.fd(), SOMAXCONN) != 0) tcp_error(Text("cannot listen, as rank 0 does at the address of the group and others at theirs"), at);
    return s;
  }
  void wait(std::vector<pollfd>& waiting, Clock::time_point end, int for_rank, SourceLine at) const {
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
      const int ready = ::poll(waiting.data(), waiting.size(), left > 0 ? static_cast<int>(left < 1 << 30 ? left + 1 : 1 << 30) : 0);
      if (ready > 0) return;
      if (ready < 0 && errno != EINTR) tcp_error(Text("cannot wait"), at);
      if (ready == 0 && left <= 0) tcp_error(Text("rank ") << rank() << " has waited too long for " << (for_rank < 0 ? Text("the others") : Text("rank ") << for_rank) << ". Do all ranks run, and make the same calls?", at, false);
    }
  }
  void write_some(int k, Transfer& t, std::span<const std::byte> part, SourceLine at) const {
    const std::size_t head = sizeof(t.bytes);
    const bool in_head = t.sent < head;
    const void* from = in_head ? static_cast<const void*>(reinterpret_cast<const char*>(&t.bytes) + t.sent) : part.data() + (t.sent - head);
    const ssize_t n = ::send(peer_[static_cast<std::size_t>(k)].fd(), from, in_head ? head - t.sent : part.size() - (t.sent - head), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR) tcp_error(Text("rank ") << k << " is gone", at);
    if (n > 0) t.sent += static_cast<std::size_t>(n);
  }
  void read_some(int k, Transfer& t, std::span<std::byte> part, SourceLine at) const {
    const std::size_t head = sizeof(t.announced);
    const bool in_head = t.received < head;
    void* to = in_head ? static_cast<void*>(reinterpret_cast<char*>(&t.announced) + t.received) : part.data() + (t.received - head);
    const ssize_t n = ::recv(peer_[static_cast<std::size_t>(k)].fd(), to, in_head ? head - t.received : part.size() - (t.received - head), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) tcp_error(Text("rank ") << k << " is gone", at, n < 0);
    t.received += static_cast<std::size_t>(n);
    if (in_head && t.received == head && t.announced != part.size()) refuse_bytes(k, t.announced, part.size(), at);
  }

  /// Sends or receives one object as a whole, between two that are being connected.
  template <class T>
  void send_all(const Socket& s, const T& object, Clock::time_point end, SourceLine at) const {
    for (std::size_t done = 0; done < sizeof(T);) {
      std::vector<pollfd> waiting{{s.fd(), POLLOUT, 0}};
      wait(waiting, end, -1, at);
      const ssize_t n = ::send(s.fd(), reinterpret_cast<const char*>(&object) + done, sizeof(T) - done, MSG_NOSIGNAL);
      if (n < 0 && errno != EINTR) tcp_error(Text("a rank is gone while the group connects"), at);
      if (n > 0) done += static_cast<std::size_t>(n);
    }
  }
  /// false: the other side is gone, or says nothing until `end`.
  template <class T>
  static bool receive(const Socket& s, T& object, Clock::time_point end) {
    for (std::size_t done = 0; done < sizeof(T);) {
      pollfd waiting{s.fd(), POLLIN, 0};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
      if (left < 0 || ::poll(&waiting, 1, static_cast<int>(std::min<long long>(left + 1, 1 << 30))) < 0) return false;
      const ssize_t n = ::recv(s.fd(), reinterpret_cast<char*>(&object) + done, sizeof(T) - done, MSG_DONTWAIT);
      if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) return false;
      if (n > 0) done += static_cast<std::size_t>(n);
    }
    return true;
  }
  void keep(int from, Socket s) {
    const int yes = 1;
    ::setsockopt(s.fd(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    peer_[static_cast<std::size_t>(from)] = std::move(s);
  }
  /// Takes connections of this many higher ranks; gives where they listen. Somebody else's connection, which says nothing in time or something else, is closed.
  std::vector<Address> accept_peers(const Socket& listening, int count, Clock::time_point end, SourceLine at) {
    std::vector<Address> listens(peer_.size());
    while (count > 0) {
      std::vector<pollfd> waiting{{listening.fd(), POLLIN, 0}};
      wait(waiting, end, -1, at);
      Address from;
      Socket s(::accept4(listening.fd(), from.get(), &from.length, SOCK_CLOEXEC));
      Hello hello;
      if (!s || !receive(s, hello, std::min(end, Clock::now() + std::chrono::seconds(2))) || std::memcmp(hello.magic, Hello{}.magic, sizeof(hello.magic)) != 0) continue;
      const auto k = static_cast<std::size_t>(hello.rank);
      if (hello.size != size() || hello.rank <= rank() || hello.rank >= size() || peer_[k])
        tcp_error(Text("rank ") << hello.rank << " of " << hello.size << " connects to a group of " << size() << (hello.size == size() ? ", where it is already" : ""), at, false);
      from.set_port(hello.listens.port());
      listens[k] = from;
      keep(hello.rank, std::move(s));
      --count;
    }
    return listens;
  }
  /// Rank 0: all others connect to it; then it tells each where the others listen.
  void gather(const Socket& listening, Clock::time_point end, SourceLine at) {
    const std::vector<Address> listens = accept_peers(listening, size() - 1, end, at);
    for (std::size_t to = 1; to < peer_.size(); ++to)
      for (std::size_t k = 1; k < to; ++k) send_all(peer_[to], listens[k], end, at);
  }
  /// One attempt, of a second at most.
  static Socket attempted(Address to, SourceLine at) {
    Socket s = made(to, at);
    ::fcntl(s.fd(), F_SETFL, O_NONBLOCK);
    if (::connect(s.fd(), to.get(), to.length) != 0) {
      pollfd waiting{s.fd(), POLLOUT, 0};
      int failure = 0;
      socklen_t length = sizeof(failure);
      if (errno != EINPROGRESS || ::poll(&waiting, 1, 1000) <= 0 || ::getsockopt(s.fd(), SOL_SOCKET, SO_ERROR, &failure, &length) != 0 || failure != 0) return Socket();
    }
    ::fcntl(s.fd(), F_SETFL, 0);
    return s;
  }
  Socket connected(const std::vector<Address>& to, int peer, Clock::time_point end, SourceLine at) const {
    for (;;) {
      for (const Address& a : to)
        if (Socket s = attempted(a, at)) return s;
      if (Clock::now() >= end) tcp_error(Text("rank ") << rank() << " cannot connect to rank " << peer << " in time", at, false);
      ::usleep(20000);
    }
  }
  void join(const std::vector<Address>& first, Clock::time_point end, SourceLine at) {
    Socket s = connected(first, 0, end, at);
    Hello hello;
    hello.rank = rank();
    hello.size = size();
    Address own;
    ::getsockname(s.fd(), own.get(), &own.length);
    own.set_port(0);
    const Socket listening = listener(own, at);
    ::getsockname(listening.fd(), hello.listens.get(), &hello.listens.length);
    send_all(s, hello, end, at);
    for (int k = 1; k < rank(); ++k) {
      Address there;
      if (!receive(s, there, end)) tcp_error(Text("rank ") << rank() << " has no word from rank 0 while the group connects", at, false);
      Socket to = connected({there}, k, end, at);
      send_all(to, hello, end, at);
      keep(k, std::move(to));
    }
    keep(0, std::move(s));
    accept_peers(listening, size() - 1 - rank(), end, at);
  }
};

inline std::string environment(const char* name, SourceLine at) {
  const char* value = std::getenv(name);
  if (!value) tcp_error(Text("env:// needs the variable ") << name, at, false);
  return value;
}
inline int whole_number(const std::string& text, const char* what, SourceLine at) {
  char* end = nullptr;
  const long n = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != 0 || n < 0 || n > 1 << 20) tcp_error(Text(what) << " is '" << text.c_str() << "', no number", at, false);
  return static_cast<int>(n);
}

}  // namespace detail

/// A member of a group of processes; waits until all are there. `where`: tcp://host:port, with port a number, or env://.
/// Throws Error when not all ranks come in time, or one has another world_size.
inline std::shared_ptr<ProcessGroup> connect_group(std::string_view where, TcpOptions o = {}, SourceLine at = here()) {
  std::string host, port;
  if (where == "env://") {
    host = detail::environment("MASTER_ADDR", at);
    port = detail::environment("MASTER_PORT", at);
    if (o.rank < 0) o.rank = detail::whole_number(detail::environment("RANK", at), "RANK", at);
    if (o.world_size < 0) o.world_size = detail::whole_number(detail::environment("WORLD_SIZE", at), "WORLD_SIZE", at);
  } else {
    constexpr std::string_view tcp = "tcp://";
    const std::size_t colon = where.rfind(':');
    if (!where.starts_with(tcp) || colon < tcp.size() || colon == where.npos)
      detail::tcp_error(Text("where the group meets is tcp://host:port or env://, and not '") << std::string(where).c_str() << "'", at, false);
    host = where.substr(tcp.size(), colon - tcp.size());
    port = where.substr(colon + 1);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);  // IPv6
  }
  detail::whole_number(port, "the port", at);
  if (o.world_size < 1 || o.rank < 0 || o.rank >= o.world_size)
    detail::tcp_error(Text("rank ") << o.rank << " of a world_size of " << o.world_size, at, false);
  return std::make_shared<detail::TcpGroup>(host, port, o, at);
}
/// The same for all collectives of this process.
inline void init_process_group(std::string_view where, TcpOptions o = {}, SourceLine at = here()) { init_process_group(connect_group(where, o, at)); }
inline void init_process_group(std::string_view where, int rank, int world_size, SourceLine at = here()) { init_process_group(where, TcpOptions{.rank = rank, .world_size = world_size}, at); }

}  // namespace tt::distributed
