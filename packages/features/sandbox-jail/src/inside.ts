/**
 * The first program inside a jail. firejail takes at most 128 arguments of 4 KiB, and parses some of its options anywhere among
 * them. So the command does not go on its command line but through descriptor 3, which also reports that the command began.
 */
import type { Confinement } from "@svc/contract";
import { type ConfinedCommand, shellWord } from "@svc/kit/process";

/** Written to descriptor 3 right before the command begins. If it is missing, firejail did not get that far. */
export const BEGAN = "began\n";

/**
 * For `/bin/sh -c`. In a container, or in another sandbox, firejail runs what it is given without confining it, and says it went
 * well. So before anything else: is process 1 firejail, can nothing gain privileges, is there a filter of system calls?
 */
const ENTRY = `
read -r first </proc/1/comm && [ "$first" = firejail ] || exit 1
while read -r name value; do
  case $name in
    NoNewPrivs:) [ "$value" = 1 ] || exit 1 ;;
    Seccomp:) [ "$value" = 2 ] || exit 1 ;;
  esac
done </proc/self/status
eval "$(cat <&3)"
`;

/** The command for firejail. To run as another user, root of the jail has the capabilities to switch and then drop them for good. */
export const entryOf = ({ user }: Confinement): string[] => [
  ...(user && process.getuid?.() === 0
    ? [
        "setpriv",
        `--reuid=${user.uid}`,
        `--regid=${user.gid}`,
        "--clear-groups",
        "--inh-caps=-all",
        "--ambient-caps=-all",
        "--bounding-set=-all",
        "--",
      ]
    : []),
  "/bin/sh",
  "-c",
  ENTRY,
];

/** The content of descriptor 3: a shell line that becomes the command. */
export function lineOf({ words, folder, env }: ConfinedCommand, { limits }: Confinement): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  // env(1) takes what has a "=" in it for one more variable.
  const program = words[0].includes("=") ? ["/bin/sh", "-c", 'exec "$@"', "sh", ...words] : words;
  const start = ["env", "-i", ...variables, ...program];
  return [
    `cd -- ${shellWord(folder)}`,
    "ulimit -c 0",
    // Below the hard limit, so that the kernel says what it was: SIGXCPU before SIGKILL.
    ...(limits.cpuSecs === undefined ? [] : [`ulimit -S -t ${limits.cpuSecs}`]),
    `printf '${BEGAN.trimEnd()}\\n' >&3`,
    "exec 3>&-",
    `exec ${start.map(shellWord).join(" ")}`,
  ].join(" && ");
}
