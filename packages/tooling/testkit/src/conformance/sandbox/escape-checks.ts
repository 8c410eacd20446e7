/** Other processes, and the kernel's ways of making a system of one's own: nothing outside is seen, stopped or entered. */
import { setImmediate as soon } from "node:timers/promises";
import type { Check } from "../../check.ts";
import { type Attack, attackCheck } from "./attack.ts";
import type { Opened } from "./open.ts";
import type { SandboxBench } from "./subject.ts";
import { type Victim, victimOf } from "./victim.ts";
import type { World } from "./world.ts";

export function escapeChecks(bench: SandboxBench): Check[] {
  if (process.platform !== "linux") return [];
  const isRoot = process.getuid?.() === 0 && bench.who.user === undefined;
  const attack = (name: string, what: Attack<Victim>): Check =>
    attackCheck(bench, name, {
      scene: ({ secret }) => victimOf(bench.who, secret),
      args: (_world, { pid }) => [String(pid)],
      ...what,
    });
  const died = async ({ scene }: { scene: Victim }): Promise<boolean> => {
    // The signal was sent; the news of it comes by the event loop.
    for (let turn = 0; turn < 50 && scene.isAlive(); turn += 1) await soon();
    return !scene.isAlive();
  };
  const own = (name: string, what: Attack): Check => attackCheck(bench, name, what);
  return [
    attack("no process outside can be killed", {
      script: `kill 9, $ARGV[0]; select undef, undef, undef, 0.1`,
      gotThrough: died,
    }),
    attack("nor traced", {
      // PTRACE_SEIZE and PTRACE_ATTACH, then PTRACE_KILL by way of a detach with a signal.
      script: `my ($pid, $n) = ($ARGV[0], ${PTRACE}); syscall($n, 16, $pid + 0, 0, 0) == 0 and (select(undef, undef, undef, 0.2),
        syscall($n, 17, $pid + 0, 0, 9)); select undef, undef, undef, 0.1`,
      gotThrough: died,
      provable: isRoot,
    }),
    attack("its environment, its memory and its command line stay its own", {
      script: `print slurp("/proc/$ARGV[0]/environ"); open(my $m, "<", "/proc/$ARGV[0]/mem") and print "memory: open\\n"`,
      gotThrough: ({ opened, result }) =>
        result.stdout.includes(opened.world.secret) || /memory: open/.test(result.stdout),
      provable: isRoot,
    }),
    attack("nor does the daemon's environment get out", {
      script: `print slurp("/proc/$ARGV[0]/environ")`,
      args: () => [String(process.pid)],
      gotThrough: ({ result }) =>
        Object.keys(process.env).some((name) => result.stdout.includes(`${name}=`) && name !== "_"),
      provable: isRoot,
    }),
    own("there is no terminal to type into (TIOCSTI)", {
      script: `for my $f ("/dev/tty", "/dev/console", "/dev/pts/0", "/dev/tty1", "/proc/self/fd/0", "/proc/self/fd/1") {
        open(my $t, "+<", $f) or next; ioctl($t, 0x5412, my $c = "x") and print "typed into $f\\n" }`,
      gotThrough: ({ result }) => /typed/.test(result.stdout),
      provable: false,
    }),
    own("a user namespace of one's own leads nowhere: no mount comes off, nothing hidden appears", {
      script: NAMESPACES,
      args: (world) => [world.home, world.outside, world.keys, world.workspace],
      gotThrough: seen,
    }),
    own("no new namespace can be made: the kernel gives its creator capabilities in it", {
      script: `syscall(${UNSHARE}, $_) == 0 and print "made: $_\\n" for 0x10000000, 0x10020000, 0x50000000`,
      gotThrough: ({ result }) => /made: /.test(result.stdout),
      // Some systems refuse it to everybody.
      provable: false,
    }),
    own("mounting is refused, and so is taking the cover off", {
      // Without a sandbox in a mount namespace of its own: this machine keeps its mounts.
      script: `my ($m, $root, $proc, $at) = (${MOUNT}, "/", "proc", "mnt");
        syscall(${UNSHARE}, 0x00020000) == 0 and syscall($m, 0, $root, 0, 0x4000 | 0x40000, 0); for my $p (@ARGV) { syscall(${UMOUNT}, $p, 2); syscall(${UMOUNT}, $p, 0); }
        mkdir "mnt"; syscall($m, $proc, $at, $proc, 0, 0) == 0 and print "mounted: ", slurp("mnt/1/root$ARGV[0]/canary");
        for my $dev (glob "/dev/[svx]d* /dev/nvme*") { open(my $d, "<", $dev) and print "device: $dev\\n" }
        print slurp("$_/canary") for @ARGV; spit("$ARGV[1]/canary", ">>")`,
      args: (world) => [world.home, world.outside, world.keys],
      gotThrough: ({ opened, result }) => seen({ opened, result }) || /device:/.test(result.stdout),
    }),
    own("no namespace of an outside process can be entered", {
      script: `for my $p (1, getppid(), $ARGV[1]) { for my $n ("user", "mnt", "net", "pid") {
        open(my $f, "<", "/proc/$p/ns/$n") or next; syscall(${SETNS}, fileno($f), 0) } } print slurp($ARGV[0])`,
      args: (world) => [`${world.outside}/canary`, String(process.pid)],
    }),
    own("the kernel's own interfaces are closed: modules, memory, sysctl, cgroups, core_pattern", {
      script: `for my $f ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/dev/mem", "/dev/kmsg",
          "/sys/kernel/uevent_helper", "/proc/sys/fs/binfmt_misc/register", glob "/sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/tasks") {
        sysopen(my $h, $f, 2) and print "open: $f\\n" }`,
      gotThrough: ({ result }) => /open: /.test(result.stdout),
      provable: isRoot,
    }),
  ];
}

const arm = process.arch === "arm64";
const PTRACE = arm ? 117 : 101;
const MOUNT = arm ? 40 : 165;
const UMOUNT = arm ? 39 : 166;
const UNSHARE = arm ? 97 : 272;
const SETNS = arm ? 268 : 308;
const GETUID = arm ? 174 : 102;

/** CLONE_NEWUSER and CLONE_NEWNS; then whatever root of that namespace may try. Without them, just looking. */
const NAMESPACES = `my $uid = syscall(${GETUID});
if (syscall(${UNSHARE}, 0x10000000 | 0x00020000) == 0) {
  spit("/proc/self/setgroups"); if (open(my $m, ">", "/proc/self/uid_map")) { print $m "0 $uid 1\\n"; close $m }
  for my $p (reverse @ARGV, map { (split)[1] } split /\\n/, slurp("/proc/self/mounts")) { syscall(${UMOUNT}, $p, 2) }
  for my $p (@ARGV) { syscall(${MOUNT}, $p, $p, 0, 0x1000 | 0x20, 0); }
}
print slurp("$_/canary") for @ARGV; spit("$ARGV[1]/canary", ">>");`;

const seen = ({ opened, result }: { opened: Opened; result: { stdout: string } }): boolean =>
  result.stdout.includes(opened.world.secret) || hasGrown(opened.world);

const hasGrown = (world: World): boolean => world.canaryOutside() !== world.secret;
