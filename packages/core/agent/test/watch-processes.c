/*
 * watch-processes LOG PROGRAM ARGS...: runs a program and writes a line into LOG for every program that it or a descendant
 * becomes: `exec <path>`. Ends with the program's code.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void note(int log, pid_t pid) {
  char name[64], path[4096], line[4200];
  snprintf(name, sizeof name, "/proc/%d/exe", pid);
  ssize_t length = readlink(name, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = 0;
  int size = snprintf(line, sizeof line, "exec %s\n", path);
  if (write(log, line, (size_t)size) < 0) exit(98);
}

int main(int count, char **words) {
  if (count < 3) return 99;
  int log = open(words[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) return 97;
  pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    execvp(words[2], words + 2);
    _exit(127);
  }
  int status = 0, code = 0;
  waitpid(child, &status, 0);
  long events = PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, child, 0, events) != 0) return 96;
  ptrace(PTRACE_CONT, child, 0, 0);
  for (;;) {
    pid_t pid = waitpid(-1, &status, __WALL);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) return code;
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (pid == child) code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      continue;
    }
    int event = status >> 16, stopped = WSTOPSIG(status);
    if (event == PTRACE_EVENT_EXEC) note(log, pid);
    /* A stop that belongs to tracing is not the program's own. */
    int isOwn = event == 0 && stopped != SIGTRAP && stopped != SIGSTOP;
    ptrace(PTRACE_CONT, pid, 0, isOwn ? stopped : 0);
  }
}
