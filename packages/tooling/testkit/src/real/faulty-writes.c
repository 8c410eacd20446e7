/*
 * Preloaded into a program under test. Counts the calls that change files below FAULT_ROOT, and at call FAULT_AT kills the
 * process before the call is made: `kill -9` at every boundary, without a race. With FAULT_ERRNO_FILE each such call fails
 * with the errno in that file, as on a disk that became read-only or broke; 0 lets calls through. FAULT_COUNT_FILE gets a
 * character for each: "s" for what waits for the disk, "." for the others.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int calls;
static _Thread_local char kind = '.';

static int fault(void) {
  const char *file = getenv("FAULT_ERRNO_FILE");
  char text[16] = {0};
  int fd = file ? (int)syscall(SYS_openat, AT_FDCWD, file, O_RDONLY) : -1;
  if (fd < 0) return 0;
  syscall(SYS_read, fd, text, sizeof text - 1);
  syscall(SYS_close, fd);
  return atoi(text);
}

/* Whether the call must fail; errno is set then, and left alone else. */
static int step(const char *path) {
  const char *root = getenv("FAULT_ROOT"), *at = getenv("FAULT_AT"), *count = getenv("FAULT_COUNT_FILE");
  char whole[8200], cwd[4096];
  int before = errno;
  if (!root || !path) return 0;
  if (path[0] != '/' && getcwd(cwd, sizeof cwd)) {
    snprintf(whole, sizeof whole, "%s/%s", cwd, path);
    path = whole;
  }
  const char *held = "/proc/self/fd/", *rest = strncmp(path, held, strlen(held)) ? 0 : strchr(path + strlen(held), '/');
  if (rest) {
    char link[64];
    snprintf(link, sizeof link, "%.*s", (int)(rest - path), path);
    ssize_t length = readlink(link, cwd, sizeof cwd - 1);
    if (length > 0) {
      snprintf(whole, sizeof whole, "%.*s%s", (int)length, cwd, rest);
      path = whole;
    }
  }
  if (strncmp(path, root, strlen(root)) != 0) return errno = before, 0;
  int n = atomic_fetch_add(&calls, 1) + 1;
  if (count) {
    int fd = (int)syscall(SYS_openat, AT_FDCWD, count, O_WRONLY | O_CREAT | O_APPEND, 0600);
    syscall(SYS_write, fd, &kind, 1);
    syscall(SYS_close, fd);
  }
  if (at && n == atoi(at)) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
  }
  int failure = fault();
  errno = failure ? failure : before;
  return failure != 0;
}

static int step_at(int fd, const char *name) {
  char link[64], path[8200];
  int before = errno;
  ssize_t length = 0;
  if (name && name[0] == '/') return step(name);
  if (fd == AT_FDCWD) return step(name);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  length = readlink(link, path, 4096);
  errno = before;
  /* Pipes and events have names that are no paths. */
  if (length <= 0 || path[0] != '/') return 0;
  snprintf(path + length, sizeof path - (size_t)length, "%s%s", name ? "/" : "", name ? name : "");
  return step(path);
}

/* A name that comes to be, or a file that is emptied; on a read-only disk every open for writing. */
static int opens(const char *path, int flags) {
  struct stat found;
  int before = errno, makes = (flags & O_TRUNC) || ((flags & O_CREAT) && stat(path, &found) < 0);
  int writes = (flags & O_ACCMODE) != O_RDONLY && fault() == EROFS;
  errno = before;
  return (makes || writes) && step(path);
}

#define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)
#define ON_FD(type, name, parameters, ...) type name parameters { REAL(name); return step_at(fd, 0) ? -1 : real(__VA_ARGS__); }
#define ON_SYNC(name) int name(int fd) { REAL(name); kind = 's'; int failed = step_at(fd, 0); kind = '.'; return failed ? -1 : real(fd); }
#define ON_PATH(name, path, parameters, ...) int name parameters { REAL(name); return step(path) ? -1 : real(__VA_ARGS__); }

ON_FD(ssize_t, write, (int fd, const void *bytes, size_t size), fd, bytes, size)
ON_FD(ssize_t, pwrite, (int fd, const void *bytes, size_t size, off_t at), fd, bytes, size, at)
ON_FD(ssize_t, pwrite64, (int fd, const void *bytes, size_t size, off64_t at), fd, bytes, size, at)
ON_FD(ssize_t, writev, (int fd, const struct iovec *parts, int count), fd, parts, count)
ON_SYNC(fsync)
ON_SYNC(fdatasync)
ON_FD(int, ftruncate, (int fd, off_t size), fd, size)
ON_FD(int, ftruncate64, (int fd, off64_t size), fd, size)
ON_FD(int, fchmod, (int fd, mode_t mode), fd, mode)
ON_PATH(rename, to, (const char *from, const char *to), from, to)
ON_PATH(link, to, (const char *from, const char *to), from, to)
ON_PATH(symlink, to, (const char *from, const char *to), from, to)
ON_PATH(unlink, path, (const char *path), path)
ON_PATH(remove, path, (const char *path), path)
ON_PATH(rmdir, path, (const char *path), path)
ON_PATH(mkdir, path, (const char *path, mode_t mode), path, mode)
ON_PATH(chmod, path, (const char *path, mode_t mode), path, mode)

int unlinkat(int fd, const char *path, int flags) {
  REAL(unlinkat);
  return step_at(fd, path) ? -1 : real(fd, path, flags);
}

int access(const char *path, int mode) {
  REAL(access);
  return (mode & W_OK) && fault() == EROFS && step(path) ? -1 : real(path, mode);
}

#define OPEN(name)                                          \
  int name(const char *path, int flags, ...) {              \
    REAL(name);                                             \
    va_list rest;                                           \
    va_start(rest, flags);                                  \
    mode_t mode = va_arg(rest, mode_t);                     \
    va_end(rest);                                           \
    return opens(path, flags) ? -1 : real(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

/* libuv copies files by number. */
long syscall(long number, ...) {
  REAL(syscall);
  long part[6];
  va_list rest;
  va_start(rest, number);
  for (int at = 0; at < 6; at += 1) part[at] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_copy_file_range && step_at((int)part[2], 0)) return -1;
  return real(number, part[0], part[1], part[2], part[3], part[4], part[5]);
}
