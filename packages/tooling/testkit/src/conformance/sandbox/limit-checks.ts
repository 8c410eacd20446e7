/** Limits: what goes beyond is stopped, and `ExecResult.limit` says which one it was. */
import type { SandboxLimit, SandboxLimits } from "@svc/contract";
import { type Check, demand } from "../../check.ts";
import { openIn, said } from "./open.ts";
import type { SandboxBench } from "./subject.ts";

export function limitChecks(bench: SandboxBench): Check[] {
  const { subject, who } = bench;
  const unenforced = subject.unenforced?.(who) ?? [];
  const checks: Record<SandboxLimit, Check[]> = {
    pids: [
      limited(
        bench,
        "pids",
        "a fork bomb is stopped, and told",
        { pids: PIDS },
        FORK_BOMB,
        (out) => numberIn(out) < PIDS + 1,
      ),
      limited(
        bench,
        "pids",
        "one that hides its children is stopped too",
        { pids: PIDS },
        HIDDEN_BOMB,
        (out) => numberIn(out) < PIDS + 1,
      ),
      unlimited(bench, "some children are no bomb", { pids: PIDS }, `for (1 .. 5) { fork or (sleep 1, exit) } print 1`),
    ],
    memoryMb: [
      limited(
        bench,
        "memoryMb",
        "a program that takes too much memory is stopped, and told",
        { memoryMb: 128 },
        HOG,
        (out) => numberIn(out) < 160,
      ),
      unlimited(bench, "one that takes less is not", { memoryMb: 256 }, `my $m = "x" x 50_000_000; print length $m`),
    ],
    cpuSecs: [
      limited(
        bench,
        "cpuSecs",
        "one that computes for too long is stopped, and told",
        { cpuSecs: 1 },
        `1 while 1`,
        () => true,
      ),
    ],
  };
  return (Object.keys(checks) as SandboxLimit[]).flatMap((limit) => (unenforced.includes(limit) ? [] : checks[limit]));
}

const PIDS = 32;

/** Bounded, so that a sandbox that does not hold it costs a moment and not the machine: 300 children. */
const FORK_BOMB = `my $n = 0; for (1 .. 300) { my $p = fork; defined $p or last; $p or (sleep(20), exit); $n++; } my $why = $!;
print "$n\\n"; $n < 300 and print STDERR "fork: $why\\n"; exit($n < 300)`;

/** Each child leaves its parent, so that what counts children counts nothing. */
const HIDDEN_BOMB = `pipe(my $r, my $w); for (1 .. 300) { my $p = fork; defined $p or last; if (!$p) { my $q = fork; defined $q or (syswrite($w, "e"), exit);
    $q and (syswrite($w, "o"), exit); close $r; sleep 20; exit } waitpid $p, 0; sysread($r, my $c, 1); $c eq "o" ? $n++ : last }
my $why = "Resource temporarily unavailable"; print $n + 0, "\\n"; $n < 300 and print STDERR "fork: $why\\n"; exit($n < 300)`;

/** Takes 8 MiB at a time, up to 1 GiB, and writes to each page of it. */
const HOG = `my @m; for my $n (1 .. 128) { push @m, "x" x 8_388_608; print $n * 8, "\\n" }`;

/** The last number that it printed. */
const numberIn = (text: string): number => Number(text.trim().split("\n").at(-1) || 0);

function limited(
  bench: SandboxBench,
  limit: SandboxLimit,
  name: string,
  limits: SandboxLimits,
  script: string,
  held: (stdout: string) => boolean,
): Check {
  return {
    name: `${limit}: ${name}`,
    async run() {
      await using opened = await openIn(bench, "confined", { limits });
      const result = await opened.perl(script);
      demand(held(result.stdout), `it got beyond the limit: ${said(result)}`);
      demand(result.exitCode !== 0, `it went well: ${said(result)}`);
      demand(result.limit === limit, `the end is not told: ${said(result)}`);
      const after = await opened.exec({ command: "echo well" });
      demand(
        after.stdout === "well\n" && after.limit === undefined,
        `the next command suffers from it: ${said(after)}`,
      );
    },
  };
}

function unlimited(bench: SandboxBench, name: string, limits: SandboxLimits, script: string): Check {
  return {
    name: `${Object.keys(limits).join()}: ${name}`,
    async run() {
      await using opened = await openIn(bench, "confined", { limits });
      const result = await opened.perl(script);
      demand(result.exitCode === 0 && result.limit === undefined, said(result));
    },
  };
}
