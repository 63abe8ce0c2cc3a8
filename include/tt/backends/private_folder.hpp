// Folders whose files may be loaded and run: only this user and root can put a file there, or another folder in its place.
#pragma once
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>

#include "tt/core/text.hpp"

namespace tt::backend {

/// Are the folder and all its ancestors owned by this user or root, and not writable by others? Sticky directories (/tmp) are accepted
/// as ancestors, as others cannot rename entries in them. Returns the reason why not, or nothing.
inline Text untrusted_part(const char* path) {
  char real[PATH_MAX];
  if (!realpath(path, real)) return "is not there";
  const auto said = [&](const char* what) { return Text("lies in ") << real << ", which " << what; };
  for (int end = 0, at = 0;; ++at) {
    if (real[at] != '/' && real[at] != '\0') continue;
    const bool last = real[at] == '\0';
    end = at == 0 ? 1 : at;
    const char kept = real[end];
    real[end] = '\0';
    struct stat s;
    if (lstat(real, &s) != 0 || !S_ISDIR(s.st_mode)) return said("is no folder");
    if (s.st_uid != 0 && s.st_uid != geteuid()) return said("is another user's");
    if ((s.st_mode & (S_IWGRP | S_IWOTH)) && !(s.st_mode & S_ISVTX)) return said("others can write to");
    real[end] = kept;
    if (last) return {};
  }
}

/// Is the folder owned by this user, writable by nobody else, and in a trusted place? Others may read it. Returns the reason why not, or nothing.
inline Text not_private(const char* path) {
  struct stat s;
  if (lstat(path, &s) != 0) return "cannot be made";
  if (S_ISLNK(s.st_mode)) return "is a link";
  if (!S_ISDIR(s.st_mode)) return "is no folder";
  if (s.st_uid != geteuid()) return "is another user's";
  if (const int rights = static_cast<int>(s.st_mode & 0777); rights & (S_IWGRP | S_IWOTH))
    return Text("has mode 0") << (rights >> 6) << (rights >> 3 & 7) << (rights & 7) << ", so that others can write to it";
  return untrusted_part(path);
}
inline bool is_private_folder(const char* path) { return not_private(path).empty(); }

/// Makes a private folder and its ancestors. Returns the reason why it is not private, or nothing.
inline Text make_private_folder(const Text& path) {
  Text part(path);
  if (is_private_folder(part.c_str())) return {};
  part = Text();
  for (int i = 0; i <= path.size(); ++i) {
    if ((i == path.size() || path[i] == '/') && i > 0) mkdir(part.c_str(), 0700);
    if (i < path.size()) part << path[i];
  }
  return not_private(part.c_str());
}

/// A new folder below $TMPDIR or /tmp, removed with its files at destruction.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const char* base = getenv("TMPDIR");
    Text wanted(base && *base ? base : "/tmp");
    wanted << "/tt-XXXXXX";
    Vec<char> name(wanted.size() + 1, '\0');
    for (int i = 0; i < wanted.size(); ++i) name[i] = wanted[i];
    if (!mkdtemp(name.begin())) return;
    path_ = Text(name.begin());
    if (!is_private_folder(name.begin())) {
      rmdir(name.begin());
      path_ = Text();
    }
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    if (path_.empty() || kept_) return;
    if (DIR* folder = opendir(path_.c_str())) {
      while (const dirent* e = readdir(folder)) unlinkat(dirfd(folder), e->d_name, 0);
      closedir(folder);
    }
    rmdir(path_.c_str());
  }
  /// Empty: no folder could be made.
  const Text& path() const { return path_; }
  Text file(const char* name) const { return Text(path_) << '/' << name; }
  void keep() { kept_ = true; }

 private:
  Text path_;
  bool kept_ = false;
};

/// Writes a new file, readable by this user only.
inline bool write_new_file(const char* path, const void* bytes, std::size_t size) {
  const int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return false;
  const char* p = static_cast<const char*>(bytes);
  const char* const end = p + size;
  while (p < end) {
    const ssize_t n = write(fd, p, static_cast<std::size_t>(end - p));
    if (n <= 0) break;
    p += n;
  }
  const bool fine = close(fd) == 0 && p == end;
  if (!fine) unlink(path);
  return fine;
}

}  // namespace tt::backend
