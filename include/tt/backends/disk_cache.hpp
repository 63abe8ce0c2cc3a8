// A cache of compiled kernels on disk, for later processes. Objects are named by a hash of their bytes, and beside each is its text; an
// entry names the object that holds the kernels of a program.
//   <hash of the object>.so, .c     several programs may share one; for a device .cubin, .cu
//   <key of the program>.entry      hash and size of its object
// A file is written under a temporary name and renamed, so readers see all of it or nothing, and an object that a process has loaded is
// never written to. Before an object is loaded its bytes are compared with the entry; a file that does not match (torn, foreign, tampered
// with) is treated as missing.
#pragma once
#include <stdio.h>
#include <time.h>

#include <bit>
#include <cerrno>
#include <compare>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tt/backends/private_folder.hpp"
#include "tt/config.hpp"
#include "tt/core/text.hpp"

namespace tt {

/// 128 bits that tell texts apart; not secure against deliberate collisions.
struct ContentHash {
  std::uint64_t high = 0, low = 0;

  static constexpr ContentHash of(const char* bytes, std::int64_t size) {
    std::uint64_t a = 0x243f6a8885a308d3u, b = 0x13198a2e03707344u ^ static_cast<std::uint64_t>(size);
    for (std::int64_t i = 0; i < size; i += 8) {
      std::uint64_t w = 0;
      if (!std::is_constant_evaluated() && std::endian::native == std::endian::little && i + 8 <= size)
        std::memcpy(&w, bytes + i, 8);
      else
        for (int k = 0; k < 8 && i + k < size; ++k)
          w |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i + k])) << (8 * k);
      a = (a ^ w) * 0x9e3779b97f4a7c15u;
      a ^= a >> 32;
      b = (b + w) * 0xc2b2ae3d27d4eb4fu;
      b ^= b >> 29;
    }
    return {mix(a + b), mix(b ^ (a << 1 | a >> 63))};
  }
  static constexpr ContentHash of(const Text& t) { return of(t.begin(), t.size()); }
  constexpr Text hex() const {
    Text t;
    for (std::uint64_t v : {high, low})
      for (int k = 60; k >= 0; k -= 4) t << "0123456789abcdef"[v >> k & 15];
    return t;
  }
  friend constexpr auto operator<=>(const ContentHash&, const ContentHash&) = default;
  friend constexpr bool operator==(const ContentHash&, const ContentHash&) = default;  // nvcc 13 does not derive == from <=>

 private:
  static constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
  }
};
static_assert(!(ContentHash::of("ab", 2) == ContentHash::of("ab\0", 3)));

class DiskCache {
 public:
  /// Of the file format, and of the calling convention of kernels. Entries of another version are not read.
  static constexpr std::uint64_t version = 2;
  /// When the folder holds more, it is trimmed to three quarters of this.
  static constexpr std::int64_t default_capacity = 64 << 20;

  /// The endings of the files of an object and of its text.
  struct Endings {
    const char *object = ".so", *text = ".c";
  };
  static constexpr Endings device{".cubin", ".cu"};

  DiskCache() = default;
  explicit DiskCache(const Text& folder, Endings endings, std::int64_t capacity = default_capacity) : DiskCache(folder, capacity) {
    endings_ = endings;
  }
  explicit DiskCache(const Text& folder, std::int64_t capacity = default_capacity);
  /// $TT_CACHE_DIR, else $XDG_CACHE_HOME/tt, else ~/.cache/tt; empty if there is none of these.
  static Text default_folder();

  /// Empty: nothing is kept on disk, and why() says why.
  const Text& folder() const { return folder_; }
  const Text& why() const { return why_; }

  enum class Found { nothing, object, rejected };
  /// Finds the path of the object with a program's kernels, ready to be loaded.
  Found find(const ContentHash& key, Text& path) const;
  /// Keeps an object and its text; returns the object's path, or nothing if they cannot be written.
  Text keep_object(const char* object, std::int64_t size, const Text& text) const;
  /// Records that a program's kernels are in an object that is kept.
  bool keep_entry(const ContentHash& key, const char* object, std::int64_t size) const;
  /// Removes an object that turned out not to be loadable.
  void remove_object(const char* object, std::int64_t size) const {
    const ContentHash hash = ContentHash::of(object, size);
    unlink(path(hash, endings_.object).c_str());
    unlink(path(hash, endings_.text).c_str());
  }
  /// Removes the least recently used files, if there are too many bytes.
  void trim() const;

  /// Reads a file that belongs to this user and that others cannot write to.
  static bool read_file(const char* path, Vec<char>& bytes);

 private:
  Text folder_, why_;
  std::int64_t capacity_ = default_capacity;
  Endings endings_;

  struct Entry {
    std::uint64_t magic = 0x7974'6e65'2d74'7421u, version = DiskCache::version;
    ContentHash key, object;
    std::uint64_t size = 0, check = 0;

    std::uint64_t sum() const {
      return ContentHash::of(reinterpret_cast<const char*>(this), offsetof(Entry, check)).low;
    }
  };
  Text path(const ContentHash& hash, const char* ending) const {
    return Text(folder_) << '/' << hash.hex() << ending;
  }
  bool publish(const Text& path, const void* bytes, std::int64_t size) const;
};

#if TT_DEFINES(backends)

TT_INLINE Text DiskCache::default_folder() {
  const auto variable = [](const char* name) {
    const char* value = secure_getenv(name);
    return value && *value ? value : nullptr;
  };
  if (const char* own = variable("TT_CACHE_DIR")) return own;
  if (const char* base = variable("XDG_CACHE_HOME")) return Text(base) << "/tt";
  if (const char* home = variable("HOME")) return Text(home) << "/.cache/tt";
  return {};
}

TT_INLINE DiskCache::DiskCache(const Text& folder, std::int64_t capacity) : capacity_(capacity) {
  if (folder.empty()) why_ << "no folder is named: set TT_CACHE_DIR?";
  else if (folder[0] != '/') why_ << folder << " is not an absolute path";
  else if (const Text wrong = backend::make_private_folder(folder); !wrong.empty())
    why_ << folder << ' ' << wrong << ". It must be this user's, and neither it nor what it lies in one that others can write to: chmod go-w?";
  else folder_ = folder;
}

TT_INLINE bool DiskCache::read_file(const char* path, Vec<char>& bytes) {
  const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat s;
  bool fine = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() &&
              (s.st_mode & (S_IWGRP | S_IWOTH)) == 0 && s.st_size < default_capacity;
  if (fine) {
    bytes = Vec<char>(static_cast<int>(s.st_size), '\0');
    for (ssize_t done = 0; fine && done < s.st_size;) {
      const ssize_t n = read(fd, bytes.begin() + done, static_cast<std::size_t>(s.st_size - done));
      fine = n > 0;
      done += n;
    }
    futimens(fd, nullptr);  // marks it as used for trim()
  }
  close(fd);
  return fine;
}

TT_INLINE DiskCache::Found DiskCache::find(const ContentHash& key, Text& object) const {
  if (folder_.empty()) return Found::nothing;
  Vec<char> bytes;
  Text entry_path = path(key, ".entry");
  if (access(entry_path.c_str(), F_OK) != 0) return Found::nothing;
  Entry e;
  if (!read_file(entry_path.c_str(), bytes) || bytes.size() != static_cast<int>(sizeof e)) return Found::rejected;
  std::memcpy(static_cast<void*>(&e), bytes.begin(), sizeof e);
  if (e.magic != Entry().magic || e.version != version || !(e.key == key) || e.check != e.sum()) return Found::rejected;
  object = path(e.object, endings_.object);
  if (access(object.c_str(), F_OK) != 0) return Found::nothing;  // trimmed
  if (!read_file(object.c_str(), bytes) || static_cast<std::uint64_t>(bytes.size()) != e.size ||
      !(ContentHash::of(bytes.begin(), bytes.size()) == e.object))
    return Found::rejected;
  return Found::object;
}

TT_INLINE bool DiskCache::publish(const Text& to, const void* bytes, std::int64_t size) const {
  static unsigned count = 0;
  timespec now;  // two machines, or containers, may share a folder and have equal process numbers
  clock_gettime(CLOCK_REALTIME, &now);
  Text name(to), temporary(folder_);
  temporary << "/tmp-" << getpid() << '-' << now.tv_sec << '-' << now.tv_nsec << '-'
            << __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  if (!backend::write_new_file(temporary.c_str(), bytes, static_cast<std::size_t>(size))) return false;
  if (rename(temporary.c_str(), name.c_str()) == 0) return true;
  Text aside(temporary);  // a folder with the object's name is foreign: it is moved out of the way
  aside << "-0";
  if (errno == EISDIR && rename(name.c_str(), aside.c_str()) == 0) {
    rmdir(aside.c_str());
    if (rename(temporary.c_str(), name.c_str()) == 0) return true;
  }
  unlink(temporary.c_str());
  return false;
}

TT_INLINE Text DiskCache::keep_object(const char* object, std::int64_t size, const Text& text) const {
  if (folder_.empty()) return {};
  const ContentHash hash = ContentHash::of(object, size);
  if (!publish(path(hash, endings_.object), object, size)) return {};
  publish(path(hash, endings_.text), text.begin(), text.size());
  return path(hash, endings_.object);
}

TT_INLINE bool DiskCache::keep_entry(const ContentHash& key, const char* object, std::int64_t size) const {
  Entry e;
  e.key = key;
  e.object = ContentHash::of(object, size);
  e.size = static_cast<std::uint64_t>(size);
  e.check = e.sum();
  return publish(path(key, ".entry"), &e, sizeof e);
}

/// Is this a file of this cache: 32 hexadecimal digits and an ending, or a temporary name?
inline bool is_entry(const char* name) {
  if (std::strncmp(name, "tmp-", 4) == 0) return name[4 + std::strspn(name + 4, "0123456789-")] == '\0';
  const std::size_t digits = std::strspn(name, "0123456789abcdef");
  const char* ending = name + digits;
  bool known = false;
  for (const char* of_ours : {".entry", ".so", ".c", ".cubin", ".cu"}) known = known || std::strcmp(ending, of_ours) == 0;
  return digits == 32 && known;
}
TT_INLINE void DiskCache::trim() const {
  struct File {
    Text name;
    std::int64_t size = 0, time = 0;
  };
  Vec<File> files;
  std::int64_t total = 0;
  Text folder(folder_);
  DIR* const d = folder.empty() ? nullptr : opendir(folder.c_str());
  if (!d) return;
  while (const dirent* e = readdir(d)) {
    struct stat s;
    if (!is_entry(e->d_name) || fstatat(dirfd(d), e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode)) continue;
    files.push_back({Text(e->d_name), s.st_size, s.st_mtim.tv_sec});
    total += s.st_size;
  }
  for (bool removed = total > capacity_; removed && total > capacity_ / 4 * 3;) {
    int oldest = -1;
    for (int i = 0; i < files.size(); ++i)
      if (files[i].size >= 0 && (oldest < 0 || files[i].time < files[oldest].time)) oldest = i;
    removed = oldest >= 0;
    if (!removed) break;
    unlinkat(dirfd(d), files[oldest].name.c_str(), 0);
    total -= files[oldest].size;
    files[oldest].size = -1;
  }
  closedir(d);
}

#endif

}  // namespace tt
