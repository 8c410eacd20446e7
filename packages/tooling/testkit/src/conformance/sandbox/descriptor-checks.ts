/** What the daemon was started with: descriptors from 3 up and its limit of core files. A command gets neither. */
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import koffi from "koffi";
import { type Check, demand } from "../../check.ts";
import { openIn, said } from "./open.ts";
import type { SandboxBench } from "./subject.ts";

export function descriptorChecks(bench: SandboxBench): Check[] {
  if (process.platform !== "linux") return [];
  const both = (name: string, run: (how: "confined" | "unconfined") => Promise<string>): Check => ({
    name,
    async run() {
      const bare = await run("unconfined");
      demand(bare !== "", "the check proves nothing here: without a sandbox it does not get through either");
      const found = await run("confined");
      demand(found === "", `it gets through: ${found}`);
    },
  });
  return [
    both("no descriptor that the daemon inherited is handed down: files, folders, sockets", async (how) => {
      // Before the session: some start what becomes the command when they open.
      using planted = plant();
      await using opened = await openIn(bench, how);
      const result = await opened.perl(USE_ALL, [String(HIGHEST + 100)]);
      return [/open: /.test(result.stdout) ? said(result) : "", ...planted.traces(result.stdout)].join(" ").trim();
    }),
    both("a command that crashes leaves no core file, whatever the daemon's limit is", async (how) => {
      using _limit = coreFilesAllowed();
      await using opened = await openIn(bench, how);
      const result = await opened.exec({ command: "ulimit -H -c; ulimit -S -c; (kill -SEGV $(sh -c 'echo $PPID'))" });
      const files = readdirSync(opened.world.workspace).filter((name) => name.startsWith("core"));
      return result.stdout === "0\n0\n" && files.length === 0 ? "" : `${files.join()} ${said(result)}`;
    }),
  ];
}

/** Those below are this process's own; the first free number from each of these on is taken. */
const NUMBERS = [20, 100, 1000];
const HIGHEST = 1000;

interface Planted extends Disposable {
  /** What a command did with them, as words; none: nothing. */
  traces(stdout: string): string[];
}

/** Node opens everything close-on-exec: `F_DUPFD` does not. */
function plant(): Planted {
  const folder = realpathSync(mkdtempSync("/var/tmp/svc-planted-"));
  const secret = randomUUID();
  writeFileSync(join(folder, "canary"), secret, { mode: 0o600 });
  writeFileSync(join(folder, "written"), "", { mode: 0o600 });
  const pair = new Int32Array(2);
  demand(libc().socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) === 0, "no socket pair");
  const [near = -1, far = -1] = pair;
  const own = [
    openSync(join(folder, "canary"), "r"),
    openSync(join(folder, "written"), "r+"),
    openSync(folder, "r"),
    far,
  ];
  const inherited = own.flatMap((fd) => NUMBERS.map((from) => libc().fcntl(fd, F_DUPFD, from)));
  return {
    traces: (stdout) => [
      ...(stdout.includes(secret) ? ["read"] : []),
      ...(readFileSync(join(folder, "written"), "utf8") === "" ? [] : ["written"]),
      ...(libc().recv(near, Buffer.alloc(8), 8, MSG_DONTWAIT) > 0 ? ["sent"] : []),
    ],
    [Symbol.dispose]() {
      for (const fd of [...own, ...inherited, near]) closeSync(fd);
      rmSync(folder, { recursive: true });
    },
  };
}

const arm = process.arch === "arm64";
const [READ, WRITE, FCNTL, OPENAT] = arm ? [63, 64, 25, 56] : [0, 1, 72, 257];

/** Every number: not blocking, then written to, read, and used as a folder to open something in. */
const USE_ALL = `for my $n (3 .. $ARGV[0]) {
  syscall(${FCNTL}, $n, 1, 0) < 0 and next;
  print "open: $n\\n";
  syscall(${FCNTL}, $n, 4, 04000);
  my ($out, $name) = ("svc was here", "canary");
  syscall(${WRITE}, $n, $out, length $out);
  my $in = syscall(${OPENAT}, $n, $name, 0);
  for my $from ($n, $in) { my $text = "\\0" x 64; my $got = syscall(${READ}, $from, $text, 64); $got > 0 and print substr($text, 0, $got), "\\n" }
}`;

/** Like a shell after `ulimit -S -c unlimited`. */
function coreFilesAllowed(): Disposable {
  const before = new BigUint64Array(2);
  demand(libc().getrlimit(RLIMIT_CORE, before) === 0, "getrlimit(2) fails");
  libc().setrlimit(RLIMIT_CORE, BigUint64Array.of(before[1]!, before[1]!));
  return { [Symbol.dispose]: () => void libc().setrlimit(RLIMIT_CORE, before) };
}

const F_DUPFD = 0;
const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_CLOEXEC = 0o2000000;
const SOCK_NONBLOCK = 0o4000;
const MSG_DONTWAIT = 0x40;
const RLIMIT_CORE = 4;

interface Libc {
  fcntl(fd: number, command: number, value: number): number;
  socketpair(domain: number, type: number, protocol: number, pair: Int32Array): number;
  recv(fd: number, into: Buffer, length: number, flags: number): number;
  getrlimit(resource: number, limit: BigUint64Array): number;
  setrlimit(resource: number, limit: BigUint64Array): number;
}

let loaded: Libc | undefined;

function libc(): Libc {
  if (loaded) return loaded;
  const library = koffi.load(null);
  return (loaded = {
    fcntl: library.func("int fcntl(int fd, int command, int value)"),
    socketpair: library.func("int socketpair(int domain, int type, int protocol, _Out_ void *pair)"),
    recv: library.func("int64_t recv(int fd, void *into, size_t length, int flags)"),
    getrlimit: library.func("int getrlimit(int resource, void *limit)"),
    setrlimit: library.func("int setrlimit(int resource, const void *limit)"),
  } as unknown as Libc);
}
