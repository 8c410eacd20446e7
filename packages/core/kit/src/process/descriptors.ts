/**
 * Descriptors that a child process would inherit beside stdin, stdout and stderr. Node marks its own descriptors close-on-exec,
 * and at start inherited ones up to about number 16; a service manager, a shell or a container engine may have left more open.
 * https://man7.org/linux/man-pages/man5/proc_pid_fdinfo.5.html
 */
import { closeSync, openSync, readSync, readdirSync } from "node:fs";

/**
 * Numbers without close-on-exec that Node did not see to. Linux alone tells the flags; elsewhere the list is empty, and on macOS libuv starts
 * programs with `POSIX_SPAWN_CLOEXEC_DEFAULT`.
 */
export function inheritableDescriptors(): number[] {
  if (process.platform !== "linux") return [];
  let names: string[];
  try {
    names = readdirSync(FDINFO);
  } catch {
    return []; // no /proc
  }
  const chunk = Buffer.allocUnsafe(128);
  return names.map(Number).filter((fd) => fd > NODE_MARKED && isInheritable(fd, chunk));
}

/** At start Node's `uv_disable_stdio_inheritance` marks 3 to 15 unconditionally, then goes on to the first free number. */
const NODE_MARKED = 15;

const FDINFO = "/proc/self/fdinfo";
const O_CLOEXEC = 0o2000000;

function isInheritable(fd: number, chunk: Buffer): boolean {
  let info: number;
  try {
    info = openSync(`${FDINFO}/${fd}`, "r");
  } catch {
    return false; // the descriptor that read the folder
  }
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(chunk.toString("latin1", 0, readSync(info, chunk)))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    return false; // another thread of this process has closed it meanwhile
  } finally {
    closeSync(info);
  }
}

/**
 * For `sh -c`: closes open descriptors from 3 up except `keep`, then runs `script` with the same arguments. Exits with 126 if it
 * can't: dash can't redirect two-digit descriptors, and leaves those to bash.
 */
export function withoutDescriptors(script: string, keep: readonly number[] = []): string {
  const inBash = closing(keep, script, NO_WAY);
  return closing(keep, script, `[ -x /bin/bash ] && exec /bin/bash -c ${shellWord(inBash)} "$0" "$@"\n${NO_WAY}`);
}

const NO_WAY = `echo "svc: descriptors of the service are open, and /bin/sh can't close them: install bash" >&2; exit 126`;

/** `PATH=`: dash takes the number for the name of a program. The folder that the shell itself reads is closed already. */
const closing = (keep: readonly number[], script: string, otherwise: string): string => `high=
for fd in 3 4 5 6 7 8 9 /proc/self/fd/* /dev/fd/*; do
  fd=\${fd##*/}
  case $fd in
    ${["[0-2]", ...keep].join("|")}) ;;
    [3-9]) eval "exec $fd<&-" ;;
    [1-9]*[0-9]) high="$high $fd" ;;
  esac
done
if [ "$high" ]; then
  if [ "$BASH_VERSION" ] || (PATH=/dev/null; for fd in $high; do eval "exec $fd<&-"; done) 2>/dev/null; then
    for fd in $high; do eval "exec $fd<&-"; done
  else
    ${otherwise}
  fi
fi
unset fd high
${script}`;

/**
 * A word for a line of the shell. POSIX.1-2017, Shell Command Language 2.2.2: between single quotes every character but the quote
 * itself is itself.
 */
export const shellWord = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
