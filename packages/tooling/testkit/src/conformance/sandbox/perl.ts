/**
 * The program that attacks: Perl, which makes any system call, brought along with its loader and libraries so that it runs in
 * a container without any of them, too. A tool that is missing inside would read as one that was stopped.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";

/** Words that run `script` with `args` (`@ARGV`), where `bring` put Perl. */
export const perl = (workspace: string, script: string, args: readonly string[] = []): [string, ...string[]] => [
  ...perlWords(workspace),
  "-e",
  PRELUDE + script,
  ...args,
];

/** Words that start Perl, where `bring` put it. */
export function perlWords(workspace: string): [string, ...string[]] {
  if (process.platform !== "linux") return ["/usr/bin/perl"];
  const box = join(workspace, BOX);
  return [join(box, basename(loader())), "--library-path", box, join(box, "perl")];
}

const BOX = ".box";

/** It says that it began: what says nothing never ran. It ends by itself, whatever becomes of the test. */
const PRELUDE = String.raw`$| = 1; alarm 60; print "began\n";
use constant LINUX => $^O eq "linux";
sub inet4 { LINUX ? pack("S n C4 x8", 2, $_[0], 127, 0, 0, 1) : pack("C C n C4 x8", 16, 2, $_[0], 127, 0, 0, 1) }
sub local_path { LINUX ? pack("S a*", 1, "$_[0]\0") : pack("C C a*", 106, 1, $_[0] . "\0" x (104 - length $_[0])) }
sub slurp { open(my $f, "<", $_[0]) or return ""; local $/; my $t = <$f>; defined $t ? $t : "" }
sub spit { open(my $f, $_[1] || ">", $_[0]) or return 0; print $f "svc was here\n"; close $f }
`;

/** Puts Perl into a workspace. */
export function bring(workspace: string): void {
  if (process.platform !== "linux") return;
  const box = join(workspace, BOX);
  mkdirSync(box, { mode: 0o755 });
  for (const file of ["/usr/bin/perl", ...libraries()]) copyFileSync(file, join(box, basename(file)));
}

/** ldd(1) names each library, and the loader by its path alone. */
function libraries(): string[] {
  const lines = execFileSync("ldd", ["/usr/bin/perl"], { encoding: "utf8" }).split("\n");
  return lines.flatMap((line) => /(?:=> |^\s+)(\/\S+) \(/.exec(line)?.[1] ?? []);
}

function loader(): string {
  const found = libraries().find((file) => basename(file).startsWith("ld-"));
  if (found === undefined) throw new Error("/usr/bin/perl has no loader: ldd(1) names none");
  return found;
}
