/**
 * Process 1 of a container: it starts the command and, when that has ended, writes down what the engine does not tell: that it
 * began at all, and which limit its control groups saw reached. With it ends everything that is left.
 */

/** Where it writes, inside. */
export const REPORT = "/run/svc-report";

/**
 * For `/bin/sh -c`, with the command as its arguments. Only what a shell has built in, since nobody knows the image.
 * Both versions of control groups: https://docs.kernel.org/admin-guide/cgroup-v2.html and cgroup-v1/memory.html.
 * The empty variables are docker's proxies, see arguments.ts.
 */
export const ENTRY = `
unset HTTP_PROXY HTTPS_PROXY FTP_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy ftp_proxy no_proxy all_proxy
echo began >${REPORT} || exit 125
"$@"
code=$?
for file in memory.events memory/memory.oom_control pids.events pids/pids.events; do
  [ -r /sys/fs/cgroup/$file ] && while read -r name count; do
    case $name in
      oom_kill) echo "memoryMb $count" ;;
      max) echo "\${file%%.*} $count" ;;
    esac
  done </sys/fs/cgroup/$file >>${REPORT}
done
echo ended >>${REPORT}
exit $code
`;

export interface Report {
  readonly began: boolean;
  /** The command came to an end of its own. */
  readonly ended: boolean;
  readonly limit?: "memoryMb" | "pids";
}

/** A command may write into it as well: what it says of limits is a hint for a person. */
export function readReport(text: string): Report {
  const lines = text.split("\n");
  const reached = (name: string): boolean => lines.some((line) => new RegExp(`^${name} [1-9][0-9]*$`).test(line));
  return {
    began: lines.includes("began"),
    ended: lines.includes("ended"),
    ...(reached("memoryMb")
      ? { limit: "memoryMb" as const }
      : reached("pids") || reached("pids/pids")
        ? { limit: "pids" as const }
        : {}),
  };
}
