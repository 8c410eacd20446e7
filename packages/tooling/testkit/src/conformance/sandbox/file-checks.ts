/** Files: nothing outside is read or written, by no way around. */
import { existsSync, openSync, closeSync, readFileSync, rmSync, statSync, symlinkSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Check } from "../../check.ts";
import { type Attack, attackCheck } from "./attack.ts";
import type { SandboxBench } from "./subject.ts";
import type { World } from "./world.ts";

export function fileChecks(bench: SandboxBench): Check[] {
  const attack = (name: string, what: Attack): Check => attackCheck(bench, name, what);
  const isRoot = process.getuid?.() === 0 && bench.who.user === undefined;
  return [
    attack("$SVC_HOME around the workspace can't be read", {
      script: `print slurp($ARGV[0])`,
      args: ({ home }) => [join(home, "canary")],
    }),
    attack("a hidden folder (~/.ssh) can't be read", {
      script: `print slurp($ARGV[0])`,
      args: ({ keys }) => [join(keys, "canary")],
    }),
    attack("a folder that nobody handed over can't be read", {
      script: `print slurp($ARGV[0])`,
      args: ({ outside }) => [join(outside, "canary")],
    }),
    attack("nothing beside a readable or writable folder can be read", {
      script: `print slurp($ARGV[0])`,
      args: ({ readable }) => [join(readable, "..", "beside", "canary")],
    }),
    attack("by a symbolic link out of the workspace nothing can be read, made outside or inside", {
      script: `print slurp("there/canary"); symlink($ARGV[0], "here"); print slurp("here/canary"); chdir "here"; print slurp("canary")`,
      args: ({ workspace, outside }) => (symlinkSync(outside, join(workspace, "there")), [outside]),
    }),
    attack("by /proc/self/root, the root of other processes and their folders nothing can be read", {
      script: `for my $p ("self", "1", "thread-self", $ARGV[1], getppid(), (map { m,(\\d+)$, } glob "/proc/[0-9]*")) {
        print slurp("/proc/$p/$_$ARGV[0]") for "root", "task/$p/root", "cwd/../../../../../../../../.."; }
        chroot("/proc/1/root") and print slurp($ARGV[0]);
        chdir ".." for 1 .. 40; print slurp("." . $ARGV[0])`,
      args: ({ home }) => [join(home, "canary"), String(process.pid)],
    }),
    attack("no open file of the daemon is handed down", {
      script: `for my $n (3 .. 1023) { my $f = "/proc/self/fd/$n"; print slurp("$f/canary"), -f $f ? slurp($f) : "";
        my %given = map { $_ => 1 } split /,/, $ARGV[1]; open(my $h, "<&=", $n) and !$given{$n} and print "open: $n ", readlink($f), "\\n" }
        for my $f (map { "/proc/$ARGV[0]/fd/$_" } 0 .. 400) { print slurp($f) if -f $f }`,
      args: () => [String(process.pid), handedDown().join()],
      scene: ({ outside }) => heldOpen(join(outside, "canary")),
      gotThrough: ({ opened, result }) => /open: /.test(result.stdout) || result.stdout.includes(opened.world.secret),
      // The descriptors of this process are closed on exec, and only its own user may look at them.
      provable: isRoot,
    }),
    attack("files outside can't be written, removed, renamed, truncated, linked or changed", {
      script: `my ($dir) = @ARGV; spit("$dir/new"); spit("$dir/canary", ">>"); truncate("$dir/canary", 0); rename("$dir/canary", "$dir/gone");
        unlink("$dir/canary"); chmod(0, "$dir/canary"); mkdir("$dir/sub"); utime(1, 1, "$dir/canary"); symlink("x", "$dir/sym"); chmod(0700, $dir)`,
      args: ({ outside }) => [outside],
      gotThrough: ({ opened }) => isChanged(opened.world, opened.world.outside),
    }),
    attack("nor can those in $SVC_HOME", {
      script: `my ($dir) = @ARGV; spit("$dir/new"); unlink("$dir/canary"); rename("$dir/workspace", "$dir/other")`,
      args: ({ home }) => [home],
      gotThrough: ({ opened: { world } }) => isChanged(world, world.home) || !existsSync(world.workspace),
    }),
    attack("by a symbolic link out of the workspace nothing can be written", {
      script: `spit("there/new"); symlink($ARGV[0], "here"); spit("here/new2"); spit("here/canary"); spit("file")`,
      args: ({ workspace, outside }) => {
        symlinkSync(outside, join(workspace, "there"));
        symlinkSync(join(outside, "new3"), join(workspace, "file"));
        return [outside];
      },
      gotThrough: ({ opened }) => isChanged(opened.world, opened.world.outside),
    }),
    attack("no hard link to a file outside can be made", {
      script: `link($ARGV[0], "linked") and print slurp("linked"); syscall($ARGV[1], -100, $ARGV[0], -100, "linked2", 0x400); print slurp("linked2")`,
      args: ({ outside }) => [join(outside, "canary"), String(LINKAT)],
      gotThrough: ({ opened: { world }, result }) =>
        result.stdout.includes(world.secret) || statSync(join(world.outside, "canary")).nlink > 1,
    }),
    attack("nothing is left in temporary and shared folders of the machine", {
      script: `spit("$_/$ARGV[0]") for "/tmp", "/var/tmp", "/dev/shm", "/run", "/var/lock"`,
      args: ({ secret }) => [`svc-${secret}`],
      gotThrough: ({ opened: { world } }) => leftovers(`svc-${world.secret}`),
    }),
    attack("nothing is written into the system, and nothing made into a program of it", {
      script: `spit("$_/$ARGV[0]") for "/", "/etc", "/usr/local/bin", "/usr/bin", "/var/lib", "/opt", "/root", $ARGV[1]`,
      args: ({ secret }) => [`svc-${secret}`, homedir()],
      gotThrough: ({ opened: { world } }) => leftovers(`svc-${world.secret}`),
      provable: isRoot,
    }),
    attack("the system's secrets can't be read: /etc/shadow, the homes of people", {
      script: `for (@ARGV) { my $t = slurp($_); print unpack("H*", $t), "\\n" }`,
      args: () => privateFiles(),
      gotThrough: ({ result }) =>
        privateFiles().some((file) => result.stdout.split("\n").includes(readFileSync(file).toString("hex"))),
      provable: isRoot,
    }),
    attack("what the config makes readable can be read", {
      script: `print slurp("$ARGV[0]/notes")`,
      args: ({ readable }) => [readable],
      gotThrough: ({ result }) => result.stdout === "notes\n",
      allowed: true,
    }),
    attack("and not written", {
      script: `spit("$ARGV[0]/new"); spit("$ARGV[0]/notes", ">>")`,
      args: ({ readable }) => [readable],
      gotThrough: ({ opened: { world } }) =>
        existsSync(join(world.readable, "new")) || readFileSync(join(world.readable, "notes"), "utf8") !== "notes\n",
    }),
    attack("what the config makes writable can be read and written", {
      script: `print slurp("$ARGV[0]/notes"); spit("$ARGV[0]/new")`,
      args: ({ writable }) => [writable],
      gotThrough: ({ opened: { world }, result }) =>
        result.stdout === "notes\n" && existsSync(join(world.writable, "new")),
      allowed: true,
    }),
    attack("a path of the config that is not there is not made", {
      script: `print -e $_ ? "there" : "missing" for @ARGV`,
      asked: { readable: ["/var/tmp/svc-never-there/r"], writable: ["/var/tmp/svc-never-there/w"] },
      args: () => ["/var/tmp/svc-never-there/r", "/var/tmp/svc-never-there/w"],
      gotThrough: ({ result }) => result.stdout === "missingmissing" && !existsSync("/var/tmp/svc-never-there"),
      allowed: true,
    }),
  ];
}

/** linkat(2), which can follow a symbolic link (AT_SYMLINK_FOLLOW). */
const LINKAT = process.arch === "arm64" ? 37 : 265;

const isChanged = ({ secret }: World, folder: string): boolean => {
  const canary = join(folder, "canary");
  if (!existsSync(canary) || readFileSync(canary, "utf8") !== secret) return true;
  const { mode, mtimeMs } = statSync(canary);
  const names = readdirSync(folder).filter((name) => name !== "workspace");
  return (
    (mode & 0o777) !== 0o666 ||
    mtimeMs < 10_000 ||
    names.join() !== "canary" ||
    (statSync(folder).mode & 0o777) !== 0o777
  );
};

/** Where it was found it is removed: without a sandbox it is left there on purpose. */
function leftovers(name: string): boolean {
  const folders = ["/tmp", "/var/tmp", "/dev/shm", "/run", "/var/lock", "/", "/etc", "/usr/local/bin", "/usr/bin"];
  const found = [...folders, "/var/lib", "/opt", "/root", homedir()]
    .map((folder) => join(folder, name))
    .filter(existsSync);
  for (const file of found) rmSync(file, { force: true });
  return found.length > 0;
}

/** Some that are there, for a user who may read them. */
function privateFiles(): string[] {
  const named = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers"];
  const entries = existsSync(homedir()) ? readdirSync(homedir(), { withFileTypes: true }) : [];
  const own = entries.flatMap((entry) => (entry.isFile() ? [join(homedir(), entry.name)] : []));
  return [...named, ...own.slice(0, 10)].filter((file) => {
    try {
      return readFileSync(file).byteLength > 0 && statSync(file).size < 10_000;
    } catch {
      return false;
    }
  });
}

/** Descriptors that the test's own parents left open for every child: no daemon's. fdinfo's flags lack O_CLOEXEC (proc(5)). */
function handedDown(): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/fdinfo").filter((name) => {
    try {
      const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, "utf8"))?.[1] ?? "0";
      return (Number.parseInt(flags, 8) & 0o2000000) === 0;
    } catch {
      return false; // the one that read the folder
    }
  });
}

function heldOpen(file: string): AsyncDisposable {
  const descriptor = openSync(file, "r");
  return { [Symbol.asyncDispose]: async () => closeSync(descriptor) };
}
